"""Bits that may be 1, held against what the reference engine makes of random numbers; and what must be known."""

import random

import numpy as np
import pytest

from isa.analysis import cfg, multiples
from isa.analysis.cfg import Cfg
from isa.asm.parse import parse
from isa.asm.program import Kernel
from isa.registers import v
from isa.semantics.execute import execute
from isa.sim.run.interpret import AddressedCode, Buffers, Wave

FORMS = """v_add_nc_u32_e32 D, A, B
v_sub_nc_u32_e32 D, A, B
v_subrev_nc_u32_e32 D, 3, B
v_and_b32_e32 D, N, B
v_or_b32_e32 D, A, B
v_xor_b32_e32 D, A, B
v_lshlrev_b32_e32 D, S, B
v_lshrrev_b32_e32 D, S, B
v_lshl_add_u32 D, A, S, B
v_lshl_or_b32 D, A, S, B
v_add_lshl_u32 D, A, B, S
v_and_or_b32 D, A, B, C
v_bfe_u32 D, A, S, 10
v_mul_lo_u32 D, A, B
v_mul_u32_u24_e32 D, A, B
v_mul_i32_i24_e32 D, A, B
v_mad_u32_u24 D, A, B, C
v_mad_i32_i24 D, A, 12, C
v_add3_u32 D, A, B, C
v_or3_b32 D, A, B, C
v_xad_u32 D, A, B, C
v_bfi_b32 D, A, B, C
v_bfe_i32 D, A, S, 10
v_alignbit_b32 D, A, B, S
v_ashrrev_i32_e32 D, S, B
v_not_b32_e32 D, B
v_min_u32_e32 D, A, B
v_max_i32_e32 D, A, B
v_mul_hi_u32 D, A, B
v_perm_b32 D, A, B, N
v_pk_add_u16 D, A, B
v_cvt_f32_u32_e32 D, B
v_add_nc_u16 D.l, A.l, B.h
v_bcnt_u32_b32 D, A, B
v_mov_b32_dpp D, A row_shr:1 row_mask:0xf bank_mask:0x5
v_mov_b32_e32 D, N""".splitlines()


def code(lines: list[str]) -> Cfg:
    program = parse("k:\n" + "".join(f"\t{line}\n" for line in [*lines, "s_endpgm"]))
    return cfg.of_kernel(Kernel(program, "k", 0, len(program.lines), {}, {}))


def written(chance: random.Random) -> list[str]:
    rows = []
    for _ in range(14):
        text = chance.choice(FORMS)
        number = chance.choice(("0x3fc", "12", "0xff00ff00", "64"))
        for letter in "DABC":
            text = text.replace(letter, f"v{chance.randrange(1 if letter == 'D' else 0, 6)}", 1)
        rows.append(text.replace("N", number).replace("S", str(chance.choice((0, 2, 4, 7, 20)))))
    return rows


def test_no_other_bit_is_ever_set() -> None:
    chance = random.Random(5)
    known = 0
    for _ in range(60):
        lines = written(chance)
        flow = code(lines)
        found = multiples.analyse(flow, 0x3FF)
        start = {n: [chance.getrandbits(10 if n == 0 else 32) for _ in range(32)] for n in range(6)}
        wave = Wave(AddressedCode([], 0), Buffers(), bytearray(), sgprs={}, vgprs=start)
        for inst in flow.instructions[:-1]:
            execute(wave, inst)
        for n in range(6):
            ones = found.ones(len(flow) - 1, v(n))
            assert not (np.asarray(wave.vgprs[n], np.uint64) & np.uint64(ones ^ 0xFFFFFFFF)).any(), (
                n,
                hex(ones),
                lines,
            )
            known += ones < 0xFFFFFFFF
    assert known > 100


@pytest.mark.parametrize(
    ("lines", "ones"),
    [
        (["v_bfe_u32 v1, v0, 10, 10", "v_lshlrev_b32_e32 v1, 2, v1"], 0xFFC),
        (["v_and_b32_e32 v1, 31, v0", "v_lshlrev_b32_e32 v1, 7, v1", "v_or_b32_e32 v1, 4, v1"], 0xF84),
        (["v_and_b32_e32 v1, 12, v0", "v_add_nc_u32_e32 v1, 4, v1"], 0x1C),
        (["v_and_b32_e32 v1, 12, v0", "v_sub_nc_u32_e32 v1, v1, v0"], 0xFFFFFFFF),
    ],
)
def test_what_is_known(lines: list[str], ones: int) -> None:
    flow = code(lines)
    assert multiples.analyse(flow, (1 << 20) - 1).ones(len(lines), v(1)) == ones
