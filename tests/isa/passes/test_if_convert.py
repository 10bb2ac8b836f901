"""Code under EXEC as selections: random kernels before and after on the reference engine, and wrong ones the validator
does not prove."""

import random
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from isa.asm.parse import parse
from isa.asm.program import Program
from isa.passes import run_pipeline
from isa.prove.refine import validate
from isa.semantics.execute import execute
from isa.sim.run.interpret import AddressedCode, Buffers, Wave

FOOTER = (Path(__file__).parent / "footer.s").read_text()
BEGIN = "k:\n" + "".join(f"\tv_add_nc_u32_e32 v{n}, {n}, v0\n" for n in range(1, 7))
END = "".join(f"\tglobal_store_b32 v0, v{n}, s[0:1] offset:{4 * n}\n" for n in range(1, 8)) + "\ts_endpgm\n"
COMPARES = ("v_cmpx_gt_u32_e32 {a}, v{b}", "v_cmpx_ngt_f32_e64 v{a}, -v{b}", "v_cmpx_eq_u32_e32 v{a}, v{b}")
WORK = ("v_mov_b32_e32 v{d}, v{a}", "v_mov_b32_e32 v{d}, 0x123", "v_add_nc_u32_e32 v{d}, v{a}, v{b}",
        "v_mov_b32_e32 v{d}, s2", "v_xor_b32_e32 v{d}, v{a}, v{b}",
        "v_sub_f32_e64 v{d}, |v{a}|, -v{b}", "v_cndmask_b32_e64 v{d}, v{a}, v{b}, s3",
        "v_mov_b32_e32 v{d}, v{b}", "s_add_i32 s2, s2, 1")  # fmt: skip


def source(seed: int) -> str:
    """A kernel whose lanes take two ways, once within the other perhaps; s4 keeps a mask that is read in the end."""
    pick = random.Random(seed)

    def numbers() -> dict[str, int]:
        return {key: pick.randint(1, 6) for key in "abd"}

    def work(depth: int) -> list[str]:
        lines = [pick.choice(WORK).format(**numbers()) for _ in range(pick.randint(1, 4))]
        return lines + (ways(depth + 1) if depth < 2 and pick.random() < 0.3 else [])

    def ways(depth: int) -> list[str]:
        kept = f"s{5 + depth}"
        out = [f"s_mov_b32 {kept}, exec_lo", pick.choice(COMPARES).format(**numbers()),
               f"s_xor_b32 {kept}, exec_lo, {kept}", *work(depth)]  # fmt: skip
        out += ["s_mov_b32 s4, exec_lo"] if pick.random() < 0.3 else []
        if pick.random() < 0.5:
            return [*out, f"s_or_saveexec_b32 {kept}, {kept}",
                    *work(depth)[:1], f"s_xor_b32 exec_lo, exec_lo, {kept}", *work(depth),
                    f"s_or_b32 exec_lo, exec_lo, {kept}"]  # fmt: skip
        return [*out, f"s_or_b32 exec_lo, exec_lo, {kept}"]

    rows = ["s_mov_b32 s4, 0", *ways(0), *ways(0), "v_cndmask_b32_e64 v7, 0, 1, s4"]
    return BEGIN + "".join(f"\t{row}\n" for row in rows) + END + FOOTER


@cache
def converted(seed: int) -> tuple[Program, Program]:
    program = parse(source(seed))
    *_, (_, made) = run_pipeline(program, "if-convert")
    return program, made


def left(program: Program, lanes: int, v0: Sequence[int] = range(32)) -> tuple[np.ndarray, int]:
    """What a wave leaves in v1 to v7, before it stores them, and how often EXEC was written."""
    rows = [inst for _, inst in program.kernel().instructions() if inst.desc.access is None]
    wave = Wave(AddressedCode([], 0), Buffers(), bytearray(), exec_=lanes, sgprs={2: 9, 3: 0x0F0F55AA}, vgprs={0: v0})
    with np.errstate(all="ignore"):
        for inst in rows:
            execute(wave, inst)
    return wave.vgprs[1:8].copy(), sum("exec_lo" in map(str, inst.writes()) for inst in rows)


def test_the_same_lanes_hold_the_same() -> None:
    """Of 24 random kernels, all lanes on and some off, each proved; and most of them changed."""
    changed = 0
    for seed in range(24):
        program, made = converted(seed)
        for lanes in (0xFFFFFFFF, 0x00FF3333):
            (before, _), (after, _) = left(program, lanes), left(made, lanes)
            assert (before == after).all(), seed
        changed += left(made, 1)[1] < left(program, 1)[1]
    assert changed > 9


@pytest.mark.parametrize("seed", range(12))
def test_what_comes_out_is_proved(seed: int) -> None:
    program, made = converted(seed)
    proof = validate(program.kernel(), made.kernel())
    assert proof.proved, str(proof)


def wrong(made: Program) -> list[Program]:
    """Each selection the wrong way around, each comparison another one, each instruction left out."""
    found = []
    for number, line in enumerate(made.lines):
        inst = line.instruction
        if inst is None or not inst.desc.is_valu:
            continue
        text = line.text
        if inst.desc.name == "v_cndmask_b32" and inst.operands[1] != inst.operands[2]:
            to, a, b, mask = inst.operands
            text = f"\tv_cndmask_b32_e64 {to}, {b}, {a}, {mask}"
        elif inst.desc.is_compare:
            text = text.replace("ngt", "gt") if "ngt" in text else text.replace("eq", "ne").replace("_gt_u", "_le_u")
        elif inst.desc.name != "v_mov_b32":
            text = "\ts_nop 0"
        if text != line.text:
            lines = [row.text for row in made.lines]
            lines[number] = text
            found.append(parse("\n".join(lines)))
    return found


def test_wrong_ones_are_not_proved() -> None:
    """Each mutant that leaves something else in a lane, by the reference engine, the validator refuses."""
    refused = 0
    for seed in (1, 3):
        program, made = converted(seed)
        for mutant in wrong(made):
            if any((left(program, lanes)[0] != left(mutant, lanes)[0]).any() for lanes in (0xFFFFFFFF, 0x00FF3333)):
                assert not validate(program.kernel(), mutant.kernel()).proved
                refused += 1
    assert refused > 8
