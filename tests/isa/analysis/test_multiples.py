"""Bits that may be 1, held against what the reference engine makes of random numbers; and what must be known."""

import random

import numpy as np
import pytest
from texts import texts

from isa.analysis import cfg, multiples
from isa.analysis.cfg import Cfg
from isa.asm.parse import parse
from isa.asm.program import Kernel
from isa.registers import v
from isa.semantics.execute import execute
from isa.sim.run.interpret import AddressedCode, Buffers, Wave

FORMS = texts(__file__)[0].splitlines()


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
