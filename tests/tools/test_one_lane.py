"""What follows a change, run for one lane: what makes no difference in any, and twins of it that do."""

from __future__ import annotations

import pytest

from isa.asm.parse import parse, parse_line
from tools.mutation.peephole_equivalence import Local

# v2 is 0 to 7, v6 0 to 31; s10 0 to 7, an argument's last bits.
SOURCE = """
k:
	s_load_b128 s[4:7], s[0:1], 0x0
	s_load_b64 s[8:9], s[0:1], 0x18
	v_lshlrev_b32_e32 v1, 3, v0
	s_waitcnt lgkmcnt(0)
	s_and_b32 s10, s8, 7
	s_mov_b32 s30, exec_lo
	v_and_b32_e32 v2, 7, v0
	v_and_b32_e32 v6, 31, v0
	v_mov_b32_e32 v3, 0
	v_mov_b32_e32 v4, 0
	v_cmp_le_u32_e32 vcc_lo, s10, v2
	s_mov_b32 exec_lo, vcc_lo
	global_load_b32 v3, v1, s[4:5]
	s_mov_b32 exec_lo, s30 ; first
	v_mov_b32_e32 v5, 0
	v_cmp_le_u32_e32 vcc_lo, s10, v5
	s_mov_b32 exec_lo, vcc_lo
	global_load_b32 v4, v1, s[4:5] offset:4
	s_mov_b32 exec_lo, s30 ; second
	v_add_nc_u32_e32 v5, 7, v2
	v_cmp_le_u32_e32 vcc_lo, s10, v5
	s_mov_b32 exec_lo, vcc_lo
	global_load_b32 v7, v1, s[4:5] offset:8
	s_mov_b32 exec_lo, s30 ; third
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v3, v3, v4
	v_add_f32_e32 v3, v3, v7
	s_cmp_lt_i32 s9, 64
	s_cbranch_scc1 .Ledge
	global_store_b64 v1, v[3:4], s[6:7]
	s_endpgm
.Ledge:
	v_cmp_gt_i32_e64 s12, s9, v6
	s_and_b32 exec_lo, s12, s30
	global_store_b32 v1, v3, s[6:7]
	global_store_b32 v1, v4, s[6:7] offset:4
	s_endpgm
.amdhsa_kernel k
	.amdhsa_user_sgpr_count 2
	.amdhsa_user_sgpr_kernarg_segment_ptr 1
.end_amdhsa_kernel
"""


def same(before: str, after: str, *edits: tuple[str, str]) -> bool:
    """Whether nothing comes of another line, or of none, in the text with these edits."""
    text = SOURCE
    for old, new in edits:
        assert text.count(old) == 1
        text = text.replace(old, new)
    program = parse(text, "k.s")
    number = next(n for n, line in enumerate(program.lines) if line.text.strip() == before)
    local = Local(program.kernel("k"), {}, 128)
    changed = parse_line(f"\t{after}", "k.s", number).instruction
    found = local.same(number, changed) if changed is not None else local.needless(number)
    return found is not None


@pytest.mark.parametrize(
    ("before", "after", "edits", "expected"),
    [
        # The lanes that stay off are those of which the next comparison is false.
        ("s_mov_b32 exec_lo, s30 ; first", "", (), True),
        ("s_mov_b32 exec_lo, s30 ; first", "", (("v_mov_b32_e32 v5, 0", "v_mov_b32_e32 v5, 1"),), False),
        ("s_mov_b32 exec_lo, s30 ; first", "", (("s_and_b32 s10, s8, 7", "s_and_b32 s10, s8, 15"),), True),
        ("s_mov_b32 exec_lo, s30 ; second", "", (), False),
        ("s_mov_b32 exec_lo, s30 ; third", "", (), True),  # all lanes are on: 7 is the most that s10 can be
        ("s_mov_b32 exec_lo, s30 ; third", "", (("s_and_b32 s10, s8, 7", "s_and_b32 s10, s8, 15"),), False),
        ("v_add_nc_u32_e32 v5, 7, v2", "v_add_nc_u32_e32 v5, 7, v6", (), True),
        ("v_add_nc_u32_e32 v5, 7, v2", "v_add_nc_u32_e32 v5, 6, v2", (), False),
        # With just 64 left both ways store the same.
        ("s_cmp_lt_i32 s9, 64", "s_cmp_le_i32 s9, 64", (), True),
        ("s_cmp_lt_i32 s9, 64", "s_cmp_lt_i32 s9, 32", (), True),
        ("s_cmp_lt_i32 s9, 64", "s_cmp_lt_i32 s9, 31", (), False),
        ("s_cmp_lt_i32 s9, 64", "s_cmp_le_u32 s9, 64", (), False),
        ("s_cmp_lt_i32 s9, 64", "s_cmp_le_i32 s8, 64", (), False),
        ("s_cmp_lt_i32 s9, 64", "s_cmp_le_i32 s9, 64", (("s12, s9, v6", "s12, s9, v0"),), False),
        ("s_cmp_lt_i32 s9, 64", "s_cmp_le_i32 s9, 64", (("v4, s[6:7] offset:4", "v4, s[6:7] offset:8"),), False),
        ("s_cmp_lt_i32 s9, 64", "s_cmp_le_i32 s9, 64", (("v4, s[6:7] offset:4", "v3, s[6:7] offset:4"),), False),
        ("s_cmp_lt_i32 s9, 64", "s_cmp_le_i32 s9, 64", ((".Ledge:", ".Ledge:\n\ts_barrier"),), False),
    ],
)
def test_one_lane(before: str, after: str, edits: tuple[tuple[str, str], ...], expected: bool) -> None:
    assert same(before, after, *edits) == expected
