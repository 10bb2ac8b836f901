"""Translation validation of addresses: a pointer of each lane that moves, against a base in SGPRs that moves.

The rewritten text is written by hand. Each wrong one leaves out, or does otherwise, one thing that the address needs.
"""

import pytest

from isa.asm.parse import parse
from isa.prove.refine import validate

HEAD = """
k:
	s_load_b128 s[4:7], s[0:1], 0x0
	s_load_b64 s[10:11], s[0:1], 0x10
	v_lshlrev_b32_e32 v2, 2, v0
	v_mov_b32_e32 v3, 0
	s_movk_i32 s8, 7
	v_mov_b32_e32 v6, 0
	s_waitcnt lgkmcnt(0)
"""
TAIL = """
.Lend:
	global_store_b32 v2, v3, s[6:7]
	s_endpgm
.Lfunc_end0:
	.amdhsa_kernel k
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_next_free_vgpr 16
		.amdhsa_next_free_sgpr 24
	.end_amdhsa_kernel
"""
SOME_LANES = """	v_cmp_gt_u32_e32 vcc_lo, 20, v0
	s_and_saveexec_b32 s12, vcc_lo
	s_cbranch_execz .Lend
"""
OLD = """	v_add_co_u32 v4, vcc_lo, s4, v2
	v_add_co_ci_u32_e64 v5, null, s5, 0, vcc_lo
.Lloop:
	global_load_b32 v1, v[4:5], off offset:8
	v_add_co_u32 v4, vcc_lo, v4, s10
	v_add_co_ci_u32_e64 v5, null, s11, v5, vcc_lo
	s_add_i32 s8, s8, -1
	s_cmp_lg_u32 s8, 0
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v3, v3, v1
	s_cbranch_scc1 .Lloop
"""
NEW = """	s_mov_b64 s[16:17], s[4:5]
.Lloop:
	global_load_b32 v1, v2, s[16:17] offset:8
	s_add_u32 s16, s16, s10
	s_addc_u32 s17, s17, s11
	s_add_i32 s8, s8, -1
	s_cmp_lg_u32 s8, 0
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v3, v3, v1
	s_cbranch_scc1 .Lloop
"""
WRONG = {
    "it begins elsewhere": ("s[4:5]\n", "s[6:7]\n"),
    "its high word begins elsewhere": ("s_mov_b64 s[16:17], s[4:5]", "s_mov_b32 s16, s4\n\ts_mov_b32 s17, s6"),
    "it moves by something else": ("s16, s16, s10", "s16, s16, s11"),
    "its high word does not move": ("\ts_addc_u32 s17, s17, s11\n", ""),
    "a carry is lost": ("s_addc_u32 s17, s17, s11", "s_add_u32 s17, s17, s11"),
    "it moves before": ("\tglobal_load_b32 v1, v2, s[16:17] offset:8\n\ts_add_u32 s16, s16, s10\n"
                        "\ts_addc_u32 s17, s17, s11\n",
                        "\ts_add_u32 s16, s16, s10\n\ts_addc_u32 s17, s17, s11\n"
                        "\tglobal_load_b32 v1, v2, s[16:17] offset:8\n"),
    "another lane's part": ("v1, v2, s[16:17]", "v1, v0, s[16:17]"),
    "a lane's part that moves": ("\ts_cmp_lg_u32", "\tv_add_nc_u32_e32 v2, 4, v2\n\ts_cmp_lg_u32"),
    "another offset": ("offset:8", "offset:12"),
}  # fmt: skip


def proved(old: str, new: str, before: str = "") -> bool:
    first, second = (parse(HEAD + before + body + TAIL, name) for body, name in ((old, "old.s"), (new, "new.s")))
    return validate(first.kernel(), second.kernel()).proved


@pytest.mark.parametrize("before", ["", SOME_LANES], ids=["all lanes", "some lanes"])
def test_a_base_that_moves(before: str) -> None:
    assert proved(OLD, NEW, before)


@pytest.mark.parametrize("fault", WRONG)
def test_a_wrong_one_is_not_proved(fault: str) -> None:
    old, new = WRONG[fault]
    assert NEW.count(old) == 1
    assert not proved(OLD, NEW.replace(old, new), SOME_LANES)


def test_a_base_moves_for_lanes_that_have_left_too() -> None:
    """Each lane reads behind where it has left: the base is further than that."""
    leave = ("\ts_cbranch_scc1", "\tv_cmpx_lt_f32_e32 0, v1\n\ts_cbranch_execz .Lout\n\ts_cbranch_scc1")
    behind = ".Lout:\n\ts_mov_b32 exec_lo, s13\n\tglobal_load_b32 v1, {}\n\ts_waitcnt vmcnt(0)\n"
    behind += "\tv_add_f32_e32 v3, v3, v1\n"
    keep = "\ts_mov_b32 s13, exec_lo\n"
    old = keep + OLD.replace(*leave) + behind.format("v[4:5], off")
    assert proved(old, old)
    assert not proved(old, keep + NEW.replace(*leave) + behind.format("v2, s[16:17]"))


def test_an_offset_of_64_bits_that_moves() -> None:
    """What is added to a pointer in each round: high and low word in registers that are no neighbours."""
    _, _, body = OLD.partition(".Lloop:\n")
    moved = body.replace("v4, vcc_lo, v4", "v9, vcc_lo, v9").replace("v5, null, s11, v5", "v7, null, s11, v7")
    add = "\tv_add_co_u32 v4, vcc_lo, s4, v9\n\tv_add_co_ci_u32_e64 v5, null, s5, v7, vcc_lo\n"
    old = "\tv_mov_b32_e32 v9, v2\n\tv_mov_b32_e32 v7, 0\n.Lloop:\n" + add + moved
    sums = "\ts_add_u32 s18, s16, s4\n\ts_addc_u32 s19, s17, s5\n"
    new = (
        NEW.replace("s[4:5]\n", "0\n").replace(".Lloop:\n", ".Lloop:\n" + sums).replace("v2, s[16:17]", "v2, s[18:19]")
    )
    assert proved(old, new)
    assert not proved(old, new.replace("s18, s16, s4", "s18, s16, s5"))
