"""Sizes from descriptions against LLVM's: every form of every entry, and every instruction of the kernels."""

import pytest
from assembly import cases
from forms import forms

from hipgemm.kernels.build import build
from isa.asm.encoding import size_of
from isa.asm.parse import parse, parse_instruction
from isa.instructions import table
from isa.object.code_object import disassemble
from isa.targets import target


@pytest.mark.parametrize("arch", ["gfx1100", "gfx1201"])
def test_every_form_has_the_size_that_llvm_gives_it(arch: str) -> None:
    found, _ = cases(forms(arch=arch))
    there = {key for key, desc in table().items() if desc.exists_on(target(arch))}
    unformed = {key for key in there if key.startswith(("v_dot2acc_f32", "s_barrier_", "s_get_barrier"))}
    assert {case.form.key for case in found} >= there - unformed
    wrong = []
    for case in found:
        lines = [line for line in case.form.text.replace("{label}", "L").split("\n") if not line.endswith(":")]
        # As it was written, and as LLVM writes it.
        for line, inst in zip(lines, case.instructions[:-1], strict=True):
            for given in (parse_instruction(line, target=target(arch)), inst):
                if size_of(given) != inst.size:
                    wrong.append(f"{given}: {size_of(given)}, {inst.size} as LLVM has it")
    assert not wrong, "\n".join([f"{len(wrong)}", *wrong[:80]])


@pytest.mark.parametrize("name", ["kernel1", "kernel8", "kernel9", pytest.param("kernel10", marks=pytest.mark.slow)])
def test_a_kernel_lies_where_llvm_puts_it(name: str) -> None:
    built = build(name)
    program, code = parse(built.assembly.read_text()), built.code_object()
    kernel = code.kernel(name)
    # Without s_nop 0, which compilers also put where a loop is aligned.
    rows = [row for row in disassemble(code.code(name), kernel.descriptor.entry) if row[2] != "s_nop 0"]
    text = [inst for _, inst in program.kernel(name).instructions() if str(inst) != "s_nop 0"]
    assert [size_of(inst) for inst in text] == [size for _, size, _ in rows][: len(text)]
    assert {word for _, _, word in rows[len(text) :]} <= {"s_code_end"}


def test_a_wrong_size_would_be_seen() -> None:
    """What tells encodings apart: each of these differs from its neighbour by one word."""
    sizes = {"v_add_f32 v0, v1, v2": 4, "v_add_f32_e64 v0, v1, v2": 8, "v_add_f32 v0, v1, s2": 8,
             "v_add_f32 v0, 1.5, v2": 8, "v_add_f32 v0, 1.0, v2": 4, "v_add_f32 v0, -0.0, v2": 8,
             "v_add_f32_e64 v0, v1, v2 clamp": 8, "v_add_f32 v0, v1, v2 clamp": 8, "s_add_u32 s0, s0, f@rel32@lo+4": 8,
             "v_mov_b32_dpp v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf": 8, "s_branch f": 4,
             "v_dual_mov_b32 v0, 7 :: v_dual_mov_b32 v1, 0x65": 12, "v_max_f64 v[0:1], v[2:3], v[4:5]": 8}  # fmt: skip
    assert {text: size_of(parse_instruction(text)) for text in sizes} == sizes
