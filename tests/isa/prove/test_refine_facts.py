"""Translation validation with facts of launches: what holds for the launches that they admit is proved, and not where
they admit one launch more; what is wrong by one round, one step or one summand is not."""

import pytest

from isa.asm.parse import parse
from isa.prove.proof import Argument, Facts, Proof
from isa.prove.refine import validate

START = """k:
	s_load_b128 s[4:7], s[0:1], 0x0
	s_load_b32 s8, s[0:1], 0x10
	v_lshlrev_b32_e32 v1, 2, v0
	v_mov_b32_e32 v3, 0
	s_mov_b32 s9, 0
	s_waitcnt lgkmcnt(0)
"""
END = """	global_store_b32 v1, v3, s[6:7]
	s_endpgm
.Lfunc_end0:
	.amdhsa_kernel k
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_next_free_vgpr 16
		.amdhsa_next_free_sgpr 24
	.end_amdhsa_kernel
"""
TEST = """	s_add_i32 s9, s9, 1
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v3, v3, v6
	s_cmp_lt_u32 s9, s8
	s_cbranch_scc1 .Lloop
"""
WIDE = f"""	v_add_co_u32 v4, vcc_lo, s4, v1
	v_add_co_ci_u32_e64 v5, null, s5, 0, vcc_lo
.Lloop:
	global_load_b32 v6, v[4:5], off
	v_add_co_u32 v4, vcc_lo, 0x1000, v4
	v_add_co_ci_u32_e64 v5, null, 0, v5, vcc_lo
{TEST}"""
SHORT = f"""	v_mov_b32_e32 v7, v1
.Lloop:
	global_load_b32 v6, v7, s[4:5]
	v_add_nc_u32_e32 v7, 0x1000, v7
{TEST}"""
MOST = 1 << 20
"""Rounds after which 4 * 127 + 0x1000 * (rounds - 1) still fits in 32 bits."""
WRONG = {
    "another step": (("0x1000, v7", "0x1004, v7"),),
    "a round more": (("s_cmp_lt_u32", "s_cmp_le_u32"),),
    "a round less": (("	v_mov_b32_e32 v7, v1\n", "	v_mov_b32_e32 v7, v1\n	s_mov_b32 s9, 1\n"),),
    "it begins a step later": (("v_mov_b32_e32 v7, v1", "v_add_nc_u32_e32 v7, 0x1000, v1"),),
    "it moves before the load": (
        ("	v_add_nc_u32_e32 v7, 0x1000, v7\n", ""), (".Lloop:\n", ".Lloop:\n	v_add_nc_u32_e32 v7, 0x1000, v7\n"),
    ),
    "it counts by two": (("s_add_i32 s9, s9, 1", "s_add_i32 s9, s9, 2"),),
    "another limit": (("s_cmp_lt_u32 s9, s8", "s_cmp_lt_u32 s9, s4"),),
}  # fmt: skip


def facts(most: int = MOST, **more: object) -> Facts:
    return Facts(arguments=(Argument("n", 16, multiple=1, minimum=1, maximum=most),), block=128, **more)  # type: ignore[arg-type]


def judged(old: str, new: str, known: Facts, start: str = START) -> Proof:
    return validate(
        *(parse(start + text + END, f"{name}.s").kernel() for text, name in ((old, "old"), (new, "new"))), known
    )


@pytest.mark.parametrize("signed", [False, True])
def test_an_offset_that_does_not_wrap_in_all_rounds(signed: bool) -> None:
    new = SHORT.replace("s_cmp_lt_u32", "s_cmp_lt_i32") if signed else SHORT
    assert judged(WIDE, new, facts()).proved
    assert judged(new, WIDE, facts()).proved
    assert not judged(WIDE, new, facts(MOST + 1)).proved
    assert not judged(WIDE, new, Facts()).proved


@pytest.mark.parametrize("fault", WRONG)
def test_a_wrong_loop_is_not_proved(fault: str) -> None:
    text = SHORT
    for old, new in WRONG[fault]:
        assert old in text
        text = text.replace(old, new, 1)
    assert not judged(WIDE, text, facts()).proved


def test_rounds_that_end_where_a_counter_is_just_the_limit() -> None:
    """By steps of 1 it comes there; by steps of 2 it may pass it, and then the offset wraps."""
    old, new = (text.replace("s_cmp_lt_u32", "s_cmp_lg_u32") for text in (WIDE, SHORT))
    assert judged(old, new, facts()).proved
    old, new = (text.replace("s_add_i32 s9, s9, 1", "s_add_i32 s9, s9, 2") for text in (old, new))
    assert not judged(old, new, facts()).proved


def test_a_limit_that_may_change_says_nothing() -> None:
    """It is read from memory again in each round."""
    again = "	s_load_b32 s8, s[6:7], 0x0\n	s_waitcnt lgkmcnt(0)\n.Lgo:\n"
    old, new = (text.replace(".Lloop:\n", f".Lloop:\n{again}") for text in (WIDE, SHORT))
    assert judged(old, old, facts()).proved
    assert not judged(old, new, facts()).proved


WIDE_GROUP = """	s_mov_b32 s10, 0
	s_lshl_b64 s[10:11], s[2:3], 28
	s_mov_b32 s11, 0
	s_lshr_b32 s11, s2, 4
	s_lshl_b32 s10, s2, 28
	s_add_u32 s4, s4, s10
	s_addc_u32 s5, s5, s11
	global_load_b32 v3, v1, s[4:5]
	s_waitcnt vmcnt(0)
"""
SHORT_GROUP = """	s_lshl_b32 s10, s2, 28
	v_add_nc_u32_e32 v2, s10, v1
	global_load_b32 v3, v2, s[4:5]
	s_waitcnt vmcnt(0)
"""


def test_workgroups_that_there_are() -> None:
    assert judged(WIDE_GROUP, SHORT_GROUP, facts(grid=(16, 1, 1))).proved
    assert not judged(WIDE_GROUP, SHORT_GROUP, facts(grid=(17, 1, 1))).proved
    assert not judged(WIDE_GROUP, SHORT_GROUP, facts()).proved


def test_work_items_that_there_are() -> None:
    masked, plain = "	v_and_b32_e32 v3, 0x7f, v0\n", "	v_mov_b32_e32 v3, v0\n"
    assert judged(masked, plain, Facts(block=128)).proved
    assert not judged(masked, plain, Facts(block=129)).proved
    assert not judged(masked, plain, Facts()).proved


def test_lanes_that_there_are() -> None:
    """Of a block of 37 the last wave has 5."""
    all_lanes = "	v_mov_b32_e32 v3, exec_lo\n"
    ones = "	v_mov_b32_e32 v3, -1\n"
    assert judged(all_lanes, ones, Facts(block=64)).proved
    assert not judged(all_lanes, ones, Facts(block=37)).proved


PRODUCTS = """	global_load_b128 v[4:7], v1, s[4:5]
	s_waitcnt vmcnt(0)
	v_fma_f32 v3, v4, v5, 1.0
	v_fma_f32 v3, v5, v6, v3
	v_fma_f32 v3, v6, v7, v3
"""
REORDERED = {
    "turned": ("v4, v5, 1.0", "v6, v7, 1.0", "v6, v7, v3", "v4, v5, v3", True),
    "one twice": ("v4, v5, 1.0", "v6, v7, 1.0", "v6, v7, v3", "v6, v7, v3", False),
    "another factor": ("v4, v5, 1.0", "v6, v7, 1.0", "v6, v7, v3", "v4, v6, v3", False),
    "it begins elsewhere": ("v4, v5, 1.0", "v6, v7, 2.0", "v6, v7, v3", "v4, v5, v3", False),
}


@pytest.mark.parametrize("case", REORDERED)
def test_products_in_another_order(case: str) -> None:
    first, instead, last, also, same = REORDERED[case]
    head, _, tail = PRODUCTS.rpartition(last)
    proof = judged(PRODUCTS, (head + also + tail).replace(first, instead, 1), Facts())
    assert proof.proved == same
    assert not same or "summed in another order" in proof.statement


def test_a_sign_is_not_dropped() -> None:
    """A product of two sizes is an index with a sign where it may have one."""
    signed = """	s_mul_i32 s10, s8, s8
	s_ashr_i32 s11, s10, 31
	s_lshl_b64 s[10:11], s[10:11], 2
	s_add_u32 s4, s4, s10
	s_addc_u32 s5, s5, s11
	global_load_b32 v3, v1, s[4:5]
	s_waitcnt vmcnt(0)
"""
    without = signed.replace("s_ashr_i32 s11, s10, 31", "s_mov_b32 s11, 0")
    assert judged(signed, without, facts(46340)).proved
    assert not judged(signed, without, facts(46341)).proved
