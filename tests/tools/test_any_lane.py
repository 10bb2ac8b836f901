"""One lane in place of another: where all would store the same, and twins of it where they would not."""

import pytest

from isa.asm.parse import parse, parse_line
from tools.mutation.peephole_equivalence import Local

SOURCE = """
k:
	s_load_b128 s[4:7], s[0:1], 0x0
	s_mov_b32 s30, exec_lo
	v_mov_b32_e32 v9, v0
	v_mov_b32_e32 v0, 3
	v_lshrrev_b32_e32 v1, 5, v9
	v_lshlrev_b32_e32 v2, 2, v1
	v_mov_b32_e32 v3, 0
	s_waitcnt lgkmcnt(0)
	s_mov_b32 exec_lo, 1
	global_store_b32 v2, v3, s[4:5]
	s_mov_b32 exec_lo, s30
	global_store_b32 v9, v3, s[6:7]
	s_endpgm
.Lfunc_end0:
	.amdhsa_kernel k
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
	.end_amdhsa_kernel
"""


def same(text: str, mask: str, threads: int = 128) -> bool:
    program = parse(text, "k.s")
    number = next(n for n, line in enumerate(program.lines) if line.text == "\ts_mov_b32 exec_lo, 1")
    changed = parse_line(f"\ts_mov_b32 exec_lo, {mask}", "k.s", number).instruction
    assert changed is not None
    return Local(program.kernel("k"), {}, threads).same(number, changed) is not None


@pytest.mark.parametrize("mask", ["2", "0x80000000"])
def test_any_lane_does(mask: str) -> None:
    assert same(SOURCE, mask)


@pytest.mark.parametrize("mask", ["0", "3", "-1"])
def test_none_and_several_are_another_matter(mask: str) -> None:
    assert not same(SOURCE, mask)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("v_lshrrev_b32_e32 v1, 5, v9", "v_lshrrev_b32_e32 v1, 4, v9"),
        ("v_lshrrev_b32_e32 v1, 5, v9", "v_lshrrev_b32_e32 v1, 5, v8"),  # nobody knows what it holds
        ("v_mov_b32_e32 v9, v0", "v_mul_u32_u24_e32 v9, 7, v0"),
        ("v_mov_b32_e32 v9, v0\n\tv_mov_b32_e32 v0, 3", "v_mov_b32_e32 v0, v5\n\tv_mov_b32_e32 v9, v0"),
        ("v_mov_b32_e32 v3, 0", "v_mov_b32_e32 v3, v9"),
        ("v_mov_b32_e32 v3, 0", "v_cndmask_b32_e32 v3, v1, v2, vcc_lo"),
        ("v_mov_b32_e32 v3, 0", "v_mbcnt_lo_u32_b32 v3, s30, v1"),
        ("v_mov_b32_e32 v3, 0", "v_mov_b32_dpp v3, v1 row_shr:1 row_mask:0xf bank_mask:0xf"),
        ("v_mov_b32_e32 v3, 0", "s_mov_b32 exec_lo, 4\n\tv_mov_b32_e32 v3, 0\n\ts_mov_b32 exec_lo, s30"),
        ("global_store_b32 v2, v3, s[4:5]", "global_atomic_add_u32 v2, v3, s[4:5]"),
        ("global_store_b32 v2, v3, s[4:5]", "global_load_b32 v7, v2, s[4:5]"),
        ("global_store_b32 v2, v3, s[4:5]", "v_mov_b32_e32 v9, v2"),
        ("s_mov_b32 exec_lo, s30", "s_mov_b32 exec_lo, 7"),
        ("s_mov_b32 exec_lo, s30", "s_nop 0"),
    ],
)
def test_twins(old: str, new: str) -> None:
    assert SOURCE.count(old) == 1
    assert not same(SOURCE.replace(old, new), "2")


def test_a_workgroup_with_half_a_wave() -> None:
    assert not same(SOURCE, "0x80000000", threads=48)
