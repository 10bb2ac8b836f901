"""The first K block of a piece: the text that is known, what is not, and that its bound holds."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from isa.asm.parse import parse, parse_line
from tools.mutation.peephole_equivalence import Local

HEAD = """
k:
	s_load_b64 s[4:5], s[0:1], 0x20
	s_load_b32 s6, s[0:1], 0x48
	s_waitcnt lgkmcnt(0)
	s_mov_b32 s8, s3
	s_mov_b32 s9, s2
	s_add_u32 s7, s4, 7
	s_lshr_b32 s7, s7, 3
	s_max_u32 s7, s7, 1
"""
PIECE = """
	s_cmp_gt_u32 s9, s8
	s_cbranch_scc0 .Lend
	s_sub_u32 s10, s9, 1
	s_mul_hi_u32 s11, s10, s6
	s_mul_i32 s12, s11, s7
	s_sub_u32 s12, s10, s12
	s_cmp_ge_u32 s12, s7
	s_addc_u32 s11, s11, 0
	s_mul_i32 s10, s11, s7
	s_max_u32 s12, s8, s10
	s_sub_u32 s14, s12, s10
"""
END = """
	s_cmp_eq_u32 s14, 0
	s_cbranch_scc1 .Lend
	s_sub_u32 s15, s14, 1
	s_mul_hi_u32 s16, s15, 16
	v_mov_b32_e32 v1, s16
	ds_store_b32 v0, v1
.Lend:
	s_endpgm
.Lfunc_end0:
	.amdhsa_kernel k
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
	.end_amdhsa_kernel
"""
MOST = 2**23 - 1


def bounded(text: str, reciprocals: dict[int, tuple[int, int]] | None = None, most: int = MOST) -> bool:
    """Whether s15 is seen to be below 2^28, as 16 s15 has no high half where it is."""
    program = parse(text, "k.s")
    number = next(n for n, line in enumerate(program.lines) if "s_mul_hi_u32 s16" in line.text)
    changed = parse_line("\ts_mul_hi_u32 s16, s15, 17", "k.s", number).instruction
    assert changed is not None
    known = {0x48: (0x20, 8)} if reciprocals is None else reciprocals
    return Local(program.kernel("k"), {0x20: (1, most)}, 128, known).same(number, changed) is not None


def test_the_text_is_known() -> None:
    assert bounded(HEAD + PIECE + END)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        *((f"{line}\n", "\ts_nop 0\n") for line in dict.fromkeys(PIECE.strip("\n").splitlines())),
        ("s_cmp_gt_u32 s9, s8", "s_cmp_ge_u32 s9, s8"),
        ("s_cbranch_scc0 .Lend\n\ts_sub_u32 s10", "s_cbranch_scc1 .Lend\n\ts_sub_u32 s10"),
        ("s_sub_u32 s10, s9, 1", "s_sub_u32 s10, s9, 0"),
        ("s_sub_u32 s10, s9, 1", ".Lelsewhere:\n\ts_sub_u32 s10, s9, 1"),  # which the end may branch to
        ("s_mul_hi_u32 s11, s10, s6", "s_mul_hi_u32 s11, s10, s5"),  # another argument
        ("s_max_u32 s12, s8, s10", "s_max_u32 s12, s9, s10"),
        ("s12", "s8"),  # begin is written over
        ("s_add_u32 s7, s4, 7", "s_add_u32 s7, s4, 15"),  # another divisor
        ("s_add_u32 s7, s4, 7", "s_add_u32 s7, s5, 7"),
        ("s_lshr_b32 s7, s7, 3", "s_lshr_b32 s7, s7, 2"),
        ("s_max_u32 s7, s7, 1", "s_max_u32 s7, s7, 2"),
        ("s_cmp_eq_u32 s14, 0", "s_cmp_eq_u32 s14, 1"),  # 0 - 1 is large
        ("s_cbranch_scc1 .Lend\n\ts_sub_u32 s15", "s_cbranch_scc0 .Lend\n\ts_sub_u32 s15"),
    ],
)
def test_another_text_is_not(old: str, new: str) -> None:
    text = (
        HEAD
        + PIECE
        + END.replace("s_endpgm", "s_cbranch_scc1 .Lelsewhere\n\ts_endpgm" if "where" in new else "s_endpgm")
    )
    changed = (HEAD + PIECE + END).replace(old, new) if "where" not in new else text.replace(old, new)
    assert changed != HEAD + PIECE + END
    assert not bounded(changed)


def test_the_host_must_say_what_it_is_the_reciprocal_of() -> None:
    assert not bounded(HEAD + PIECE + END, {})
    assert not bounded(HEAD + PIECE + END, {0x48: (0x20, 16)})
    assert not bounded(HEAD + PIECE + END, {0x4C: (0x20, 8)})


def test_a_size_that_wraps_when_it_is_rounded_up() -> None:
    """After 2^32 - 256 it would have no K block."""
    text = (HEAD + PIECE + END).replace("s4, 7", "s4, 0xff").replace("s7, s7, 3", "s7, s7, 8")
    assert bounded(text, {0x48: (0x20, 256)}, most=2**31)
    assert not bounded(text, {0x48: (0x20, 256)}, most=2**32 - 1)


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1), st.integers(1, 2**32 - 1))
@example(0, 2**32 - 1, 1)
@example(2**32 - 2, 2**32 - 1, 2**16 + 1)
@example(2**31, 2**32 - 1, 2**31 - 1)
def test_the_bound_holds(begin: int, end: int, d: int) -> None:
    """The text, in Python."""
    if end <= begin:
        return
    n, by, mask = end - 1, (2**32 - 1) // d, 2**32 - 1
    q = n * by >> 32
    r = n - q * d & mask
    q, r = q + (r >= d), r - d * (r >= d)
    assert (q, r) == divmod(n, d)
    assert max(begin, q * d & mask) - (q * d & mask) < d
