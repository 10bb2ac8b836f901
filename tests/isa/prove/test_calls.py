"""Kernels with calls against copies of which the functions differ: followed where that can be, else named."""

from __future__ import annotations

import pytest

from isa.asm.parse import parse
from isa.asm.program import Kernel
from isa.prove.refine import validate

TEXT = """\
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.text
	.p2align	2
	.type	twice,@function
twice:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	v_cmp_gt_u32_e32 vcc_lo, 7, v1
	s_cbranch_vccz .LBB0_2
	v_lshlrev_b32_e32 v2, 1, v1
	v_add_nc_u32_e32 v1, v2, v1
.LBB0_2:
	v_add_nc_u32_e32 v1, 3, v1
	s_setpc_b64 s[30:31]
.Lfunc_end0:
	.size	twice, .Lfunc_end0-twice
	.p2align	2
	.type	outer,@function
outer:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	s_mov_b64 s[20:21], s[30:31]
	v_xor_b32_e32 v1, 5, v1
	s_getpc_b64 s[6:7]
	s_add_u32 s6, s6, twice@rel32@lo+4
	s_addc_u32 s7, s7, twice@rel32@hi+12
	s_swappc_b64 s[30:31], s[6:7]
	s_setpc_b64 s[20:21]
.Lfunc_end1:
	.size	outer, .Lfunc_end1-outer
	.p2align	8
	.type	k,@function
k:
	s_load_b64 s[2:3], s[0:1], 0x0
	v_lshlrev_b32_e32 v0, 2, v0
	s_getpc_b64 s[4:5]
	s_add_u32 s4, s4, twice@rel32@lo+4
	s_addc_u32 s5, s5, twice@rel32@hi+12
	s_waitcnt lgkmcnt(0)
	global_load_b32 v1, v0, s[2:3]
	s_swappc_b64 s[30:31], s[4:5]
	s_swappc_b64 s[30:31], s[4:5]
	s_getpc_b64 s[8:9]
	s_add_u32 s8, s8, outer@rel32@lo+4
	s_addc_u32 s9, s9, outer@rel32@hi+12
	s_swappc_b64 s[30:31], s[8:9]
	global_store_b32 v0, v1, s[2:3]
	s_endpgm
.Lfunc_end2:
	.size	k, .Lfunc_end2-k
	.section	.rodata,"a",@progbits
	.p2align	6
	.amdhsa_kernel k
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 32
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_count 15
	.end_amdhsa_kernel
"""


def kernel(*edits: tuple[str, str], of: str = TEXT) -> Kernel:
    for old, new in edits:
        assert old in of
        of = of.replace(old, new)
    return parse(of, "k.s").kernel("k")


REGISTERS = ("v_lshlrev_b32_e32 v2, 1, v1", "v_lshlrev_b32_e32 v3, 1, v1"), ("v1, v2, v1", "v1, v1, v3")
KEPT = [("s[20:21]", "s[22:23]")]
TAIL = [("\ts_swappc_b64 s[30:31], s[6:7]\n\ts_setpc_b64 s[20:21]\n", "\ts_setpc_b64 s[6:7]\n")]
XOR, CALL = "\tv_xor_b32_e32 v1, 5, v1\n", "\ts_swappc_b64 s[30:31], s[6:7]\n"
ORDER = [(XOR, ""), (CALL, XOR + CALL)]


@pytest.mark.parametrize("edits", [REGISTERS, KEPT, TAIL, ORDER])
def test_functions_that_do_the_same(edits: list[tuple[str, str]]) -> None:
    proof = validate(kernel(), kernel(*edits))
    assert proof.proved, proof.statement


UNEQUAL = "conditions were not found equal"


@pytest.mark.parametrize(
    ("edits", "why"),
    [
        ([("v1, 3, v1", "v1, 4, v1")], UNEQUAL),
        ([("vcc_lo, 7, v1", "vcc_lo, 6, v1")], UNEQUAL),
        ([("twice:\n\ts_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)\n", "twice:\n")], "load"),
        ([("\ts_mov_b64 s[20:21], s[30:31]\n", "")], "a return"),
        ([("v1, 3, v1", "v1, 3, v1\n\ts_mov_b64 s[30:31], s[2:3]")], "a return"),
        ([("v1, 3, v1", "v1, 3, v1\n\ts_mov_b32 s4, 0")], "twice: s[4:5] may hold another address"),
    ],
)
def test_functions_that_do_not(edits: list[tuple[str, str]], why: str) -> None:
    proof = validate(kernel(), kernel(*edits))
    assert not proof.proved
    assert why in f"{proof.statement} {proof.difference and proof.difference.what}"


@pytest.mark.parametrize(
    ("edits", "why"),
    [
        ([("s6, twice", "s6, outer"), ("s7, twice", "s7, outer")], "cannot follow"),
        ([("s_add_u32 s8, s8, outer@rel32@lo+4\n\ts_addc_u32 s9, s9, outer@rel32@hi+12",
           "s_load_b64 s[8:9], s[2:3], 0x8\n\ts_waitcnt lgkmcnt(0)")], "the address is not known"),
    ],
)  # fmt: skip
def test_calls_that_are_not_followed(edits: list[tuple[str, str]], why: str) -> None:
    proof = validate(kernel(*edits), kernel(*edits))
    assert not proof.proved
    assert why in proof.statement


def test_the_address_of_a_function_that_differs() -> None:
    """Who reads it may call it."""
    store = "\tglobal_store_b32 v0, v1, s[2:3]\n"
    kept, other = (
        (store, f"\tv_mov_b32_e32 v2, {what}\n\tglobal_store_b64 v0, v[1:2], s[2:3]\n") for what in ("s4", "s2")
    )
    assert validate(kernel(other), kernel(other, *REGISTERS)).proved
    assert not validate(kernel(kept), kernel(kept, *REGISTERS)).proved
