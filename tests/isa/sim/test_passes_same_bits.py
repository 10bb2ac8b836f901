"""Passes on kernels that use what they change, run on the simulated card: what comes out is the same, bit for bit."""

import numpy as np
import programs
import pytest
from numpy.typing import NDArray
from texts import texts

from isa import toolchain
from isa.asm.emit import emit
from isa.asm.parse import parse
from isa.asm.program import Program
from isa.passes import run_pipeline
from isa.prove.refine import validate

FLOATS = 1024
LOADS, ROUNDS, POINTERS = texts(__file__)


def floats(program: Program) -> NDArray[np.float32]:
    """What a kernel leaves of numbers by chance, with 64 work-items."""
    data = np.random.default_rng(3).standard_normal(FLOATS, dtype=np.float32)
    return programs.launched(toolchain.find().code_object(emit(program)), data, block=(64, 1, 1))


def upwards(rounds: int) -> str:
    """The same with a counter that is compared with a register."""
    ends = ROUNDS.replace("s4, -1", "s4, 2").replace("s_cmp_eq_u32 s4, 0", "s_cmp_ge_i32 s4, s5")
    begin = f"	s_mov_b32 s4, 0\n	s_movk_i32 s5, {2 * rounds - 1}\n.Lloop:"
    return ends.replace("	s_or_b32 s4, s4, COUNT\n.Lloop:", begin)


CASES = [
    ("widen-loads", LOADS, "ds_load_b64 ds_store_b64 global_load_b64 global_store_b64 scratch_load_b64"),
    *(("unroll{by=4},spread-loads,schedule", ROUNDS.replace("COUNT", str(n)), "s_and_b32") for n in (1, 16, 18)),
    ("unroll{by=8}", ROUNDS.replace("COUNT", "32"), "s_and_b32"),
    ("scalar-addresses", POINTERS, "s_mov_b64"),
    ("scalar-addresses,unroll{by=4},spread-loads,schedule", POINTERS, "s_mov_b64"),
    *(("unroll{by=4},spread-loads,schedule", upwards(n), "s_cmp_ge_i32") for n in (1, 4, 9, 24)),
]


@pytest.mark.parametrize(("pipeline", "body", "expected"), CASES)
def test_same_bits(pipeline: str, body: str, expected: str) -> None:
    program = parse(programs.source(body, lds=2048, scratch=64).replace("sgpr_count: 40", "sgpr_count: 42"), "k.s")
    *_, (_, made) = run_pipeline(program, pipeline)
    assert validate(program.kernel(), made.kernel()).proved
    left = {inst.mnemonic for _, inst in made.kernel().instructions()}
    assert set(expected.split()) <= left, sorted(left)
    assert np.array_equal(floats(program).view(np.uint32), floats(made).view(np.uint32))
