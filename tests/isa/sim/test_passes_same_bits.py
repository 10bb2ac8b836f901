"""Passes on kernels that use what they change, run on the simulated card: what comes out is the same, bit for bit."""

import ctypes
import struct
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from isa import toolchain
from isa.asm.emit import emit
from isa.asm.parse import parse
from isa.asm.program import Program
from isa.passes import run_pipeline
from isa.prove.refine import validate
from isa.sim.run.card import Card

sys.path.insert(0, str(Path(__file__).parent))
import programs

FLOATS = 1024
LOADS = """	s_load_b64 s[0:1], s[0:1], 0x0
	v_lshlrev_b32_e32 v0, 4, v0
	s_waitcnt lgkmcnt(0)
	global_load_b32 v1, v0, s[0:1] offset:4
	global_load_b32 v3, v0, s[0:1]
	v_add_nc_u32_e32 v2, 8, v0
	s_waitcnt vmcnt(0)
	ds_store_b32 v0, v3
	ds_store_b32 v0, v1 offset:4
	scratch_store_b32 off, v3, off offset:12
	ds_store_b32 v2, v3
	v_add_f32_e32 v4, v1, v3
	scratch_store_b32 off, v4, off offset:8
	v_xor_b32_e32 v5, 0x90, v0
	s_waitcnt lgkmcnt(0)
	s_barrier
	ds_load_b32 v6, v5
	s_waitcnt lgkmcnt(0)
	v_mul_f32_e32 v7, v6, v1
	ds_load_b32 v6, v5 offset:4
	s_waitcnt lgkmcnt(0)
	v_fmac_f32_e32 v7, v6, v3
	v_add_nc_u32_e32 v5, 8, v5
	ds_load_b32 v6, v5
	scratch_load_b32 v8, off, off offset:8
	scratch_load_b32 v9, off, off offset:12
	s_waitcnt vmcnt(1) lgkmcnt(0)
	v_fmac_f32_e32 v7, v6, v8
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v9, v9, v7
	global_store_b32 v0, v7, s[0:1]
	global_store_b32 v0, v9, s[0:1] offset:4
	s_endpgm
"""


def floats(program: Program) -> NDArray[np.float32]:
    """What a kernel leaves of numbers by chance, with 64 work-items."""
    card = Card()
    image = toolchain.find().code_object(emit(program))
    data = np.random.default_rng(3).standard_normal(FLOATS, dtype=np.float32)
    at = card.memory.allocate(data.nbytes)
    ctypes.memmove(at, data.ctypes.data, data.nbytes)
    card.launch(card.load(image).kernels["test"], (1, 1, 1), (64, 1, 1), struct.pack("<Q", at))
    ctypes.memmove(data.ctypes.data, at, data.nbytes)
    return data


ROUNDS = """	s_load_b64 s[0:1], s[0:1], 0x0
	v_lshlrev_b32_e32 v0, 2, v0
	v_mov_b32_e32 v4, 0
	s_waitcnt lgkmcnt(0)
	s_load_b32 s4, s[0:1], 0x0
	v_mov_b32_e32 v5, v0
	s_waitcnt lgkmcnt(0)
	s_bfe_u32 s4, s4, 0x40004
	s_or_b32 s4, s4, COUNT
.Lloop:
	global_load_b32 v1, v5, s[0:1]
	global_load_b32 v2, v5, s[0:1] offset:256
	s_add_i32 s4, s4, -1
	v_add_nc_u32_e32 v5, 4, v5
	s_cmp_eq_u32 s4, 0
	s_waitcnt vmcnt(0)
	v_fma_f32 v4, v4, v1, v2
	s_cbranch_scc0 .Lloop
	s_barrier
	global_store_b32 v0, v4, s[0:1]
	s_endpgm
"""
POINTERS = """	s_load_b64 s[0:1], s[0:1], 0x0
	v_lshlrev_b32_e32 v0, 2, v0
	v_mov_b32_e32 v3, 0
	s_mov_b32 s4, 5
	s_movk_i32 s6, 0x100
	s_mov_b32 s7, 0
	s_waitcnt lgkmcnt(0)
	v_add_co_u32 v1, vcc_lo, s0, v0
	v_add_co_ci_u32_e64 v2, null, s1, 0, vcc_lo
	s_mov_b32 s9, s0
	s_mov_b32 s10, s1
.Lloop:
	v_add_co_u32 v6, vcc_lo, s9, v0
	v_add_co_ci_u32_e64 v7, null, s10, 0, vcc_lo
	global_load_b32 v4, v[1:2], off offset:4
	global_load_b32 v5, v[6:7], off
	v_add_co_u32 v1, vcc_lo, v1, s6
	v_add_co_ci_u32_e64 v2, null, s7, v2, vcc_lo
	s_add_u32 s9, s9, 16
	s_addc_u32 s10, s10, 0
	s_add_i32 s4, s4, -1
	s_cmp_eq_u32 s4, 0
	s_waitcnt vmcnt(0)
	v_fma_f32 v3, v4, v5, v3
	s_cbranch_scc0 .Lloop
	s_barrier
	global_store_b32 v0, v3, s[0:1]
	s_endpgm
"""


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
