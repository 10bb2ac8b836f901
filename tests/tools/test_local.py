"""Whether a changed instruction does the same at all sizes: what is seen, and what must not be."""

import pytest

from isa.asm.parse import parse, parse_line
from tools.mutation.peephole_equivalence import Local

SOURCE = """
k:
	s_mov_b32 s21, exec_lo
	s_load_b128 s[4:7], s[0:1], 0x18
	v_lshrrev_b32_e32 v1, 7, v0
	v_lshrrev_b32_e32 v2, 5, v0
	s_waitcnt lgkmcnt(0)
	v_mul_u32_u24_e32 v3, 0x200, v1
	s_lshl_b32 s8, s5, 2
	s_mul_hi_u32 s9, 8, s8
	s_mul_hi_u32 s10, 8, s7
	s_mov_b32 exec_lo, 1
	v_mov_b32_e32 v4, 0
	s_mov_b32 exec_lo, -1
	v_lshlrev_b32_e32 v5, 2, v4
	s_mov_b32 exec_lo, s21
.LBB0_1:
	s_mul_hi_u32 s11, 8, s12
	s_add_u32 s12, s12, 1
	s_cmp_lt_u32 s12, s4
	s_cbranch_scc1 .LBB0_1
	v_dual_fmac_f32 v6, v8, v11 :: v_dual_fmac_f32 v7, v9, v10
	v_sub_f32_e32 v12, v8, v9
	ds_store_b32 v1, v3
	s_mov_b32 s13, 0
	s_mov_b32 s14, 0
	s_mov_b32 s15, 5
	s_cmp_lt_u32 s12, s4
	s_cbranch_scc1 .LBB0_2
	s_mul_i32 s13, s12, 3
	s_add_u32 s14, s13, 3
.LBB0_2:
	s_cmp_gt_u32 s14, s13
	s_cbranch_scc0 .LBB0_3
	s_sub_u32 s16, s14, s13
	v_mov_b32_e32 v13, s16
	s_mov_b32 s14, s13
	s_branch .LBB0_2
.LBB0_3:
	s_cmp_gt_u32 s15, 4
	s_cselect_b32 s17, s12, s4
	s_mov_b32 s18, 1
	s_cmp_lt_u32 s12, 7
	s_cbranch_scc1 .LBB0_4
	s_mov_b32 s18, 1
.LBB0_4:
	v_mov_b32_e32 v14, s18
	s_cmp_lt_u32 s17, s4
	s_cbranch_scc1 .LBB0_2
	s_mov_b32 s19, 7
	v_cmp_gt_u32_e32 vcc_lo, 0x80, v0
	v_cndmask_b32_e32 v2, v2, v12, vcc_lo
	s_mov_b32 s22, s4
	s_mov_b32 s23, 0
	s_lshl_b64 s[22:23], s[22:23], 2
	s_mov_b32 s24, s5
	s_mov_b32 s25, 0
	s_lshl_b64 s[24:25], s[24:25], 10
	s_add_u32 s9, s9, s23
	s_add_u32 s9, s22, s25
	s_add_u32 s9, s9, s24
	v_add3_u32 v15, v5, v12, v13
	v_add_nc_u32_e32 v15, v15, v14
	v_add3_u32 v16, v6, v7, v2
	s_add_u32 s20, s9, s10
	s_add_u32 s20, s20, s11
	v_add_nc_u32_e32 v16, s20, v16
	ds_store_b64 v15, v[15:16]
	s_endpgm
.Lfunc_end0:
	.amdhsa_kernel k
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
	.end_amdhsa_kernel
"""
PROGRAM = parse(SOURCE, "k.s")


def same(before: str, after: str) -> str | None:
    number = next(n for n, line in enumerate(PROGRAM.lines) if line.text.strip() == before)
    changed = parse_line(f"\t{after}", "k.s", number).instruction
    assert changed is not None
    # M and N at most 2^23 - 1; nothing is known of what follows.
    local = Local(PROGRAM.kernel("k"), {0x18: (1, 2**23 - 1), 0x1C: (1, 2**23 - 1)}, 128)
    return local.same(number, changed)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("v_lshrrev_b32_e32 v1, 7, v0", "v_lshrrev_b32_e32 v1, 8, v0", "leaves 0 in v1"),
        ("v_mul_u32_u24_e32 v3, 0x200, v1", "v_mul_u32_u24_e32 v3, 0x201, v1", "leaves 0 in v3"),
        ("s_mul_hi_u32 s9, 8, s8", "s_mul_hi_u32 s9, 9, s8", "leaves 0 in s9"),
        ("v_dual_fmac_f32 v6, v8, v11 :: v_dual_fmac_f32 v7, v9, v10",
         "v_dual_fmac_f32 v6, v11, v8 :: v_dual_fmac_f32 v7, v9, v10", "only factors"),
        # An empty range stays empty: it is compared only, with an end of 0 that comes along with it.
        ("s_mov_b32 s13, 0", "s_mov_b32 s13, 1",
         "leaves 1 instead of 0 in s13, and what reads it does the same with either: "
         "`s_cmp_gt_u32 s14, s13` (line 33)"),
        ("s_mov_b32 s15, 5", "s_mov_b32 s15, 6", "leaves 6 instead of 5 in s15, and what reads it"),
        ("s_mov_b32 s19, 7", "s_mov_b32 s19, exec_lo", "nothing reads what it writes, before and after"),
        ("s_mov_b32 exec_lo, s21", "s_mov_b32 exec_lo, -1", "leaves 4294967295 in exec_lo before and after"),
        ("v_cmp_gt_u32_e32 vcc_lo, 0x80, v0", "s_mov_b32 vcc_lo, -1", "leaves the same where it counts"),
        ("s_lshl_b64 s[22:23], s[22:23], 2", "s_lshl_b32 s22, s22, 2", "leaves the same where it counts"),
    ],
)  # fmt: skip
def test_the_same(before: str, after: str, said: str) -> None:
    assert (same(before, after) or "").startswith(said)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("v_lshrrev_b32_e32 v2, 5, v0", "v_lshrrev_b32_e32 v2, 6, v0"),  # not one number
        ("v_lshrrev_b32_e32 v1, 7, v0", "v_lshrrev_b32_e32 v1, 6, v0"),
        ("v_lshrrev_b32_e32 v1, 7, v0", "v_lshrrev_b32_e32 v2, 7, v0"),  # elsewhere
        ("s_mul_hi_u32 s9, 8, s8", "s_mul_hi_u32 s9, 0x81, s8"),  # not at the largest N
        ("s_mul_hi_u32 s10, 8, s7", "s_mul_hi_u32 s10, 9, s7"),  # an argument of which nothing is known
        ("v_lshlrev_b32_e32 v5, 2, v4", "v_lshlrev_b32_e32 v5, 3, v4"),  # written in one lane only
        ("s_mul_hi_u32 s11, 8, s12", "s_mul_hi_u32 s11, 9, s12"),  # counted in a loop
        ("v_dual_fmac_f32 v6, v8, v11 :: v_dual_fmac_f32 v7, v9, v10",
         "v_dual_fmac_f32 v6, v9, v11 :: v_dual_fmac_f32 v7, v8, v10"),
        ("v_sub_f32_e32 v12, v8, v9", "v_sub_f32_e32 v12, v9, v8"),
        ("ds_store_b32 v1, v3", "ds_store_b32 v1, v3 offset:4"),
        ("s_waitcnt lgkmcnt(0)", "s_waitcnt lgkmcnt(1)"),
        ("s_mov_b32 s14, 0", "s_mov_b32 s14, 1"),  # a range that is no longer empty
        ("s_mov_b32 s15, 5", "s_mov_b32 s15, 4"),  # the comparison comes out otherwise
        ("s_mov_b32 s18, 1", "s_mov_b32 s18, 2"),  # read where nothing is written in between on one way
        ("s_mov_b32 exec_lo, 1", "s_mov_b32 exec_lo, 3"),
        ("s_mov_b32 exec_lo, -1", "s_mov_b32 exec_lo, s8"),
        ("s_mov_b32 exec_lo, s21", "s_mov_b32 exec_lo, -2"),
        ("v_cmp_gt_u32_e32 vcc_lo, 0x80, v0", "v_cmp_gt_u32_e32 vcc_lo, 0x7f, v0"),
        ("s_lshl_b64 s[24:25], s[24:25], 10", "s_lshl_b32 s24, s24, 10"),  # 2^23 - 1 at most
    ],
)  # fmt: skip
def test_not_seen(before: str, after: str) -> None:
    assert same(before, after) is None


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("s_mov_b32 s19, 7", "nothing reads what it writes"),
        ("s_mov_b32 s14, 0", None),
        ("s_mov_b32 s15, 5", "leaves 5 in s15, which is there already, whatever the sizes that the kernel takes"),
        ("ds_store_b32 v1, v3", None),
        ("buffer_gl0_inv", None),
        ("s_cmp_lt_u32 s12, s4", "line 20 left the same there"),  # with which the loop ends
    ],
)
def test_what_is_needless(line: str, why: str | None) -> None:
    text = SOURCE.replace("\ts_mov_b32 s13, 0\n", "\tbuffer_gl0_inv\n\ts_mov_b32 s15, 5\n\ts_mov_b32 s13, 0\n").replace(
        "s_sub_u32 s16, s14, s13", "s_sub_u32 s16, s14, s15"
    )
    program = parse(text, "k.s")
    last = max(n for n, x in enumerate(program.lines) if x.text.strip() == line)
    assert Local(program.kernel(), {28: (1, 1000)}, 128).needless(last) == why


AGAIN = """
k:
	s_load_b64 s[4:5], s[0:1], 0x18
	s_waitcnt lgkmcnt(0)
.LBB0_1:
	s_add_u32 s6, s4, s5
	s_mul_hi_u32 s7, s6, s5
	s_mul_i32 s6, s6, s5
	s_cmp_eq_u32 s6, 3
	s_cbranch_scc1 .LBB0_2
	s_nop 0
.LBB0_2:
	s_add_u32 s6, s4, s5
	s_mul_hi_u32 s7, s6, s5 ; again
	v_mov_b32_e32 v1, s6
	v_mov_b32_e32 v2, s7
	ds_store_b64 v0, v[1:2]
	s_sub_u32 s4, s4, 1
	s_cmp_lg_u32 s4, 0
	s_cbranch_scc1 .LBB0_1
	s_endpgm
.amdhsa_kernel k
	.amdhsa_user_sgpr_kernarg_segment_ptr 1
.end_amdhsa_kernel
"""


@pytest.mark.parametrize(
    ("old", "new", "needless"),
    [
        ("", "", True),
        ("s_nop 0", "s_mov_b32 s4, 1", False),
        ("s_nop 0", "s_mov_b32 s7, 1", False),
        ("s_nop 0", "s_endpgm", True),
        ("s_cbranch_scc1 .LBB0_1", "s_cbranch_scc1 .LBB0_2", False),  # s4 is another one then
        (
            "s_add_u32 s6, s4, s5\n\ts_mul_hi_u32 s7, s6, s5 ;",
            "s_add_u32 s6, s5, 1\n\ts_mul_hi_u32 s7, s6, s5 ;",
            False,
        ),
    ],
)
def test_what_an_instruction_before_left(old: str, new: str, needless: bool) -> None:
    program = parse(AGAIN.replace(old, new), "k.s")
    line = next(n for n, x in enumerate(program.lines) if x.text.endswith("; again"))
    assert (Local(program.kernel(), {}, 128).needless(line) is not None) == needless


MASKED = """
k:
	s_mov_b32 s9, exec_lo
	v_mov_b32_e32 v1, 0
	s_and_b32 exec_lo, s4, s5
	global_load_b32 v1, v3, s[6:7]
	s_mov_b32 exec_lo, s9
	s_waitcnt vmcnt(0)
	v_mul_f32_e32 v1, s8, v1
	v_fmac_f32_e32 v1, v4, v5
	s_and_b32 exec_lo, s4, s5
	global_store_b32 v3, v1, s[6:7]
	s_endpgm
.amdhsa_kernel k
	.amdhsa_next_free_vgpr 6
	.amdhsa_next_free_sgpr 10
.end_amdhsa_kernel
"""


@pytest.mark.parametrize(
    ("old", "new", "needless"),
    [
        ("", "", True),
        ("global_store_b32 v3, v1", "global_store_b32 v1, v3", True),
        ("global_store_b32 v3, v1, s[6:7]", "s_mov_b32 exec_lo, s9\n\tglobal_store_b32 v1, v3, s[6:7]", False),
        ("v_mul_f32_e32 v1, s8, v1", "v_readlane_b32 s8, v1, 3", False),
        (
            "v_mul_f32_e32 v1, s8, v1",
            "v_wmma_f32_16x16x16_f16 v[16:23], v[1:8], v[24:31], v[16:23]\n\tv_mov_b32_e32 v1, v16",
            False,
        ),
        ("v_mul_f32_e32 v1, s8, v1", "v_cmp_gt_f32_e32 vcc_lo, s8, v1", True),
        ("v_mul_f32_e32 v1, s8, v1", "v_cmp_gt_f32_e32 vcc_lo, s8, v1\n\ts_mov_b32 s5, vcc_lo", False),
        ("s_waitcnt vmcnt(0)", "s_mov_b32 s5, -1", False),
        ("s_and_b32 exec_lo, s4, s5\n\tglobal_store", "s_and_b32 exec_lo, s5, s5\n\tglobal_store", False),
        ("s_and_b32 exec_lo, s4, s5\n\tglobal_store", "s_nop 0\n\tglobal_store", False),
        ("v_fmac_f32_e32 v1, v4, v5", "ds_store_b32 v3, v1", False),
    ],
)
def test_what_is_stored_in_no_lane(old: str, new: str, needless: bool) -> None:
    program = parse(MASKED.replace(old, new), "k.s")
    line = next(n for n, x in enumerate(program.lines) if x.text.strip() == "v_mov_b32_e32 v1, 0")
    assert (Local(program.kernel(), {}, 128).needless(line) is not None) == needless


MASKS = """
k:
	s_load_b64 s[4:5], s[0:1], 0x18
	s_mov_b32 s9, exec_lo
	v_mov_b32_e32 v2, 0
	v_lshrrev_b32_e32 v1, 5, v0
	s_waitcnt lgkmcnt(0)
	s_and_b32 s6, s4, 7
	s_mul_i32 s12, s3, 64
	s_mov_b32 s13, 0
	s_lshl_b64 s[10:11], s[12:13], 4
	v_add_nc_u32_e32 v3, 7, v1
	s_cmp_eq_u32 s4, 0
	s_cbranch_scc1 .LBB0_1
	v_cmp_le_u32_e32 vcc_lo, s6, v3
	s_mov_b32 exec_lo, vcc_lo
	ds_load_b32 v2, v1
	s_mov_b32 exec_lo, s9
	s_mov_b32 s11, 0
	v_add3_u32 v2, v2, s10, s11
	ds_store_b32 v1, v2
.LBB0_1:
	s_endpgm
.Lfunc_end0:
	.amdhsa_kernel k
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
	.end_amdhsa_kernel
"""


@pytest.mark.parametrize(
    ("line", "groups", "needless"),
    [
        ("v_mov_b32_e32 v2, 0", 1000, True),  # a load in all lanes takes its place
        ("s_mov_b32 exec_lo, vcc_lo", 1000, True),
        ("s_mov_b32 exec_lo, s9", 1000, True),
        ("s_mov_b32 s11, 0", 1000, True),  # no workgroup's number is so large
        ("s_mov_b32 s11, 0", 1 << 23, False),
        ("v_add_nc_u32_e32 v3, 7, v1", 1000, False),  # the mask depends on it
        ("s_and_b32 s6, s4, 7", 1000, False),
    ],
)
def test_a_mask_that_holds_in_all_lanes(line: str, groups: int, needless: bool) -> None:
    program = parse(MASKS, "k.s")
    number = next(n for n, x in enumerate(program.lines) if x.text.strip() == line)
    local = Local(program.kernel(), {0x18: (1, 1000)}, 128, groups=(1, groups))
    assert (local.needless(number) is not None) == needless


def test_a_mask_that_does_not_hold_in_all_lanes() -> None:
    program = parse(MASKS.replace("s_and_b32 s6, s4, 7", "s_and_b32 s6, s4, 15"), "k.s")
    lines = [line.text.strip() for line in program.lines]
    for line in ("v_mov_b32_e32 v2, 0", "s_mov_b32 exec_lo, vcc_lo", "s_mov_b32 exec_lo, s9"):
        assert Local(program.kernel(), {0x18: (1, 1000)}, 128, groups=(1, 1000)).needless(lines.index(line)) is None


RANGES = """
k:
	s_load_b64 s[4:5], s[0:1], 0x18
	s_waitcnt lgkmcnt(0)
	s_cmp_lt_u32 s4, s5
	s_cbranch_scc1 .Lend
	s_sub_u32 s6, s4, s5
	s_mul_i32 s7, s6, 9
	s_add_u32 s8, s7, s6
	v_mov_b32_e32 v1, s8
	ds_store_b32 v0, v1
.Lend:
	s_endpgm
.Lfunc_end0:
	.amdhsa_kernel k
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
	.end_amdhsa_kernel
"""


@pytest.mark.parametrize(
    ("old", "new", "none"),
    [
        ("", "", True),
        ("s_cmp_lt_u32", "s_cmp_le_u32", False),
        ("s_cmp_lt_u32 s4, s5", "s_cmp_lt_u32 s5, s4", False),
        ("s_cmp_lt_u32", "s_cmp_lt_i32", False),
        ("s_cbranch_scc1", "s_cbranch_scc0", False),
        ("s_sub_u32 s6, s4, s5", "s_mov_b32 s4, s9\n\ts_sub_u32 s6, s4, s5", False),
        ("s_sub_u32 s6, s4, s5", "s_sub_u32 s6, s5, s4", False),
        ("s_sub_u32 s6, s4, s5", ".Lelsewhere:\n\ts_sub_u32 s6, s4, s5\n\ts_cbranch_vccnz .Lelsewhere", False),
    ],
)
def test_no_borrow_where_a_branch_says_so(old: str, new: str, none: bool) -> None:
    text = RANGES.replace(old, new) if old else RANGES
    assert (text != RANGES) == bool(old)
    program = parse(text, "k.s")
    number = next(n for n, line in enumerate(program.lines) if "s_add_u32" in line.text)
    changed = parse_line("\ts_addc_u32 s8, s7, s6", "k.s", number).instruction
    assert changed is not None
    assert (Local(program.kernel("k"), {}, 128).same(number, changed) is not None) == none


EDGE = """
k:
	s_load_b64 s[4:5], s[0:1], 0x18
	v_and_b32_e32 v1, 15, v0
	s_waitcnt lgkmcnt(0)
	s_min_u32 s6, s4, 14
	v_add_nc_u32_e32 v2, 14, v1
	v_min_u32_e32 v3, s6, v2
	v_add_nc_u32_e32 v4, 13, v1
	v_min_u32_e32 v5, s6, v4
	v_add_nc_u32_e32 v6, 14, v1
	v_min_u32_e32 v7, s5, v6
	v_lshlrev_b32_e32 v8, 4, v1
	v_xor_b32_e32 v9, 15, v8
	v_xor_b32_e32 v10, 16, v8
	v_pk_add_f16 v11, v9, v10
	v_pk_add_f16 v12, v9, v10 neg_lo:[0,1]
	v_add3_u32 v3, v3, v5, v7
	v_add3_u32 v3, v3, v11, v12
	ds_store_b32 v0, v3
	s_endpgm
.Lfunc_end0:
	.amdhsa_kernel k
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
	.end_amdhsa_kernel
"""


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("v_add_nc_u32_e32 v2, 14, v1", "v_add_nc_u32_e32 v2, 14, v0", "a smaller number instead"),
        ("v_add_nc_u32_e32 v2, 14, v1", "v_add_nc_u32_e32 v2, 13, v1", ""),  # it may be the minimum
        ("v_add_nc_u32_e32 v4, 13, v1", "v_add_nc_u32_e32 v4, 14, v1", ""),
        ("v_add_nc_u32_e32 v6, 14, v1", "v_add_nc_u32_e32 v6, 14, v0", ""),  # of any number
        ("v_xor_b32_e32 v9, 15, v8", "v_or_b32_e32 v9, 15, v8", "no bit can be in both"),
        ("v_xor_b32_e32 v9, 15, v8", "v_and_b32_e32 v9, 15, v8", ""),
        ("v_xor_b32_e32 v10, 16, v8", "v_or_b32_e32 v10, 16, v8", ""),
        ("v_pk_add_f16 v11, v9, v10", "v_pk_add_f16 v11, v10, v9", "summands changed places"),
        ("v_pk_add_f16 v12, v9, v10 neg_lo:[0,1]", "v_pk_add_f16 v12, v10, v9 neg_lo:[0,1]", ""),
    ],
)
def test_minima_sums_and_bits(before: str, after: str, said: str) -> None:
    program = parse(EDGE, "k.s")
    number = next(n for n, line in enumerate(program.lines) if line.text.strip() == before)
    changed = parse_line(f"\t{after}", "k.s", number).instruction
    assert changed is not None
    found = Local(program.kernel(), {}, 32).same(number, changed)
    assert (said in (found or "")) if said else found is None
