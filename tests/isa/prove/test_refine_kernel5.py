"""The validator on kernel 5 as the compiler writes it, at all sizes: changes that keep what it computes are proved, no
mutant is, and the difference names a line."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from isa import toolchain
from isa.asm.parse import parse
from isa.asm.program import Label, Program
from isa.passes import run_pipeline
from isa.prove.proof import Facts, Proof
from isa.prove.refine import validate
from isa.semantics.instruction import Instruction
from tools import validation_study as study

from .kernel5_facts import facts


@cache
def kernel5() -> Program:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "kernel5.s"
        sources = Path(str(files("kernels_hip")))
        include, source = sources / "include", sources / "kernel5_lds.hip"
        toolchain.find().compile(source, path, arch="gfx1100", cu_mode=True, include=include, flags=("-O3",))
        return parse(path.read_text(), "kernel5.s")


def proved(rewritten: Program, elements: int = 2**31, given: Facts | None = None) -> Proof:
    return validate(kernel5().kernel(), rewritten.kernel(), given or facts(elements))


def reordered(program: Program, seed: int, swaps: int = 4000) -> Program:
    """Neighbouring ALU instructions that do not depend on each other change places, at random."""
    kernel, lines, rng = program.kernel(), list(program.lines), random.Random(seed)
    for _ in range(swaps):
        number = rng.randrange(kernel.start, kernel.end - 1)
        a, b = lines[number].instruction, lines[number + 1].instruction
        if a is None or b is None or not (_is_alu(a) and _is_alu(b)):
            continue
        if not (a.writes() & (b.reads() | b.writes()) or a.reads() & b.writes()):
            lines[number], lines[number + 1] = lines[number + 1], lines[number]
    return program.with_lines(lines)


def renamed(program: Program, seed: int) -> Program:
    return study.renamed(program.kernel(), seed)


def _is_alu(inst: Instruction) -> bool:
    return inst.desc.body is not None and inst.desc.access is None and not inst.desc.is_branch


def inner_loop(program: Program) -> tuple[int, int]:
    """Lines of the loop that holds the FMAs: (its label, its branch)."""
    kernel = program.kernel()
    for number, inst in kernel.instructions():
        if inst.desc.is_branch:
            start = program.labels[str(inst.operands[0])]
            if start < number and any("fmac" in program.lines[i].text for i in range(start, number)):
                return start, number
    raise AssertionError("no loop of FMAs")


def unrolled(program: Program, times: int = 8) -> Program:
    """The loop of FMAs as straight text."""
    start, end = inner_loop(program)
    body = [line for line in program.lines[start + 1 : end] if not isinstance(line.node, Label)]
    return program.with_lines([*program.lines[:start], *body * times, *program.lines[end + 1 :]])


def edited(program: Program, number: int, old: str, new: str) -> Program:
    """One line with one text replaced; the text must be there."""
    lines = list(program.lines)
    text = lines[number].text
    assert old in text, f"{old!r} is not in {text!r}"
    source = "\n".join([*(line.text for line in lines[:number]), text.replace(old, new, 1)])
    source += "\n" + "\n".join(line.text for line in lines[number + 1 :]) + "\n"
    return parse(source, "mutant.s")


def find(program: Program, text: str, occurrence: int = 0, after: int = 0) -> int:
    """The line number of an occurrence of `text` in the kernel's instructions."""
    found = [n for n, _ in program.kernel().instructions() if n >= after and text in program.lines[n].text]
    return found[occurrence]


# --- what keeps the computation


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_registers_renamed_and_instructions_reordered(seed: int) -> None:
    proof = proved(renamed(reordered(kernel5(), seed), seed))
    assert proof.proved, proof
    assert "bit for bit" in proof.statement


def test_inner_loop_unrolled_by_hand() -> None:
    proof = proved(renamed(unrolled(kernel5()), 7))
    assert proof.proved, proof


def test_without_facts_equal_text_is_still_equal() -> None:
    assert proved(renamed(kernel5(), 1), given=Facts()).proved


# --- the passes


@pytest.fixture(scope="module")
def ladder() -> dict[str, Program]:
    return dict(run_pipeline(kernel5(), "bank-balance,unroll,batch-loads"))


@pytest.mark.parametrize("name", ["bank-balance", "unroll", "batch-loads"])
def test_passes_keep_what_kernel5_computes(ladder: dict[str, Program], name: str) -> None:
    limit = 2**30 if name == "batch-loads" else 2**31
    proof = proved(ladder[name], limit)
    assert proof.proved, proof
    assert "bit for bit" in proof.statement


@pytest.mark.parametrize(
    ("pipeline", "limit"),
    [
        pytest.param("unroll", 2**30, marks=pytest.mark.slow), ("unroll,batch-loads", 2**30),
        ("unroll,batch-loads{bases},pair", 2**31),
    ],
)  # fmt: skip
def test_other_legal_pipelines_too(pipeline: str, limit: int) -> None:
    """With 64-bit bases that move there is no limit but the kernel's own."""
    *_, (_, last) = run_pipeline(kernel5(), pipeline)
    proof = proved(last, limit)
    assert proof.proved, proof


def test_batched_loads_wrap_beyond_their_limit(ladder: dict[str, Program]) -> None:
    """Kernel 8's 32-bit byte offsets are too small for 2^31 elements, and the prover knows."""
    proof = proved(ladder["batch-loads"], 2**31)
    assert not proof.proved


# --- what does not


def _line(text: str, occurrence: int = 0) -> Callable[[Program], int]:
    return lambda p: find(p, text, occurrence)


def _in_loop(text: str, occurrence: int = 0) -> Callable[[Program], int]:
    return lambda p: find(p, text, occurrence, inner_loop(p)[0])


MUTANTS: dict[str, tuple[Callable[[Program], int], str, str]] = {
    # where, old text, new text
    "dropped FMA": (_in_loop("v_fmac_f32_e32"), "v_fmac_f32_e32", "; "),
    "LDS offset": (_in_loop("offset:64"), "offset:64", "offset:68"),
    "LDS stride": (_in_loop("0x210"), "0x210", "0x214"),
    "trip count": (_line("s_cmpk_lg"), "0x1000", "0xe00"),
    "loop bound": (_line("s_cmp_ge_u32"), "s_cmp_ge_u32", "s_cmp_gt_u32"),
    "clamp of the last tile": (_line("s_cmp_lt_u32"), "_lt_", "_le_"),
    "step of K": (_line("s_add_i32"), ", 8", ", 16"),
    "stride of B": (_line("s_lshl_b64"), "], 2", "], 3"),
    "where C goes": (_line("global_store_b128", 3), "offset:384", "offset:388"),
    "a barrier": (_line("s_barrier", 1), "s_barrier", "; "),
    "wait for tiles": (_line("s_waitcnt vmcnt(0)", 1), "vmcnt(0)", "vmcnt(1)"),
    "wait before a barrier": (_line("s_waitcnt lgkmcnt(0)", 3), "s_waitcnt", "; "),
    "accumulator's start": (_line("v_dual_mov_b32 v3"), ", 0", ", 1.0"),
    "alpha for beta": (_line("v_dual_mul_f32"), ", s7, ", ", s6, "),
}


QUICK = (
    "dropped FMA", "LDS stride", "trip count", "loop bound", "clamp of the last tile", "step of K", "stride of B",
)  # fmt: skip
"""Of the others' kinds `cases/edits/kernel.s` has small ones."""


@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in MUTANTS])
def test_mutants_are_not_proved(name: str) -> None:
    where, old, new = MUTANTS[name]
    line = where(kernel5())
    proof = proved(edited(kernel5(), line, old, new))
    assert not proof.proved, proof
    assert ".s:" in str(proof.difference)


def test_sources_swapped_between_the_halves_of_a_vopd() -> None:
    line = find(kernel5(), "v_dual_fmac_f32", 9, inner_loop(kernel5())[0])
    inst = kernel5().lines[line].instruction
    assert inst is not None
    assert inst.pair is not None
    x, y = str(inst.operands[1]), str(inst.pair.operands[1])
    assert x != y
    old = kernel5().lines[line].text
    proof = proved(edited(kernel5(), line, old, old.replace(x, "X").replace(y, x).replace("X", y)))
    assert not proof.proved, proof


@pytest.mark.parametrize(
    ("setting", "verdict"),
    [
        (".amdhsa_float_denorm_mode_32 3", "different"), (".amdhsa_group_segment_fixed_size 8320", "unproven"),
        (".group_segment_fixed_size: 8320", "unproven"),
    ],
)  # fmt: skip
def test_another_setting(setting: str, verdict: str) -> None:
    """Another size of LDS may be another layout, which need not change what a kernel computes."""
    line = next(i for i, x in enumerate(kernel5().lines) if setting in x.text)
    proof = proved(edited(kernel5(), line, " " + setting.split()[-1], " 1"))
    assert proof.verdict == verdict, proof
    assert f"mutant.s:{line + 1}:" in str(proof.difference)


def test_wrong_accumulator_stored() -> None:
    """Two accumulators change places after the loop."""
    start, end = inner_loop(kernel5())
    inst = next(i for line in kernel5().lines[start:end] if (i := line.instruction) and i.mnemonic == "v_fmac_f32_e32")
    other = next(i for line in kernel5().lines[start:end] if (i := line.instruction) and i.pair is not None)
    swap = f"\tv_swap_b32 {inst.operands[0]}, {other.operands[0]}"
    after = find(kernel5(), "s_cbranch_vccz", after=end)
    mutant = edited(kernel5(), after, kernel5().lines[after].text, f"{kernel5().lines[after].text}\n{swap}")
    proof = proved(mutant)
    assert not proof.proved, proof


def test_sum_in_another_order_is_said_to_be() -> None:
    """The last step of the unrolled loop first, the first last: the same products, other rounding."""
    text = unrolled(kernel5())
    p = dataclasses.replace(text, file="reversed.s")
    proof = proved(_backwards(p))
    assert proof.proved, proof
    assert "the same products, summed in another order" in proof.statement
    assert proof.difference is not None


def _backwards(p: Program) -> Program:
    """The unrolled loop with its eight LDS addresses in falling order."""
    loop, end = inner_loop(kernel5())
    body = [i for line in kernel5().lines[loop:end] if (i := line.instruction)]
    a = next(i for i in body if "0x210" in str(i))
    count = next(i for i in body if i.mnemonic == "s_addk_i32")
    lines = [line.text for line in p.lines]
    places = {str(a): ("0x210", "0xfffffdf0"), str(count): ("0x200", "0xfe00")}
    for number in range(loop, len(lines)):
        inst = p.lines[number].instruction
        if inst is not None and str(inst) in places:
            lines[number] = lines[number].replace(*places[str(inst)])
    start = f"\tv_add_nc_u32_e32 {a.operands[0]}, 0xe70, {a.operands[0]}\n\ts_movk_i32 {count.operands[0]}, 0xe00"
    lines[loop - 1] += "\n" + start
    return parse("\n".join(lines) + "\n", p.file)
