"""Edits of kernels 9 and 10 that only large matrices, or some edges, tell from the original: none is proved.

`hipgemm prove kernel9 --assembly edited.s` asks all of what `proving.generated` does; a test asks the part that knows.
Edits that change nothing at any size are listed apart, each with its reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipgemm.judge import proving
from hipgemm.kernels.ladder import LADDER
from isa.asm.emit import emit
from isa.asm.parse import parse
from isa.gemm.vector.generate import generate
from isa.prove.definition import prove

KERNELS = ("kernel9", "kernel10")


@cache
def text_of(name: str) -> str:
    p = LADDER[name].parameters
    assert p is not None
    return emit(generate(p, name))


@cache
def edited(name: str, pattern: str, new: str) -> tuple[str, ...]:
    """The kernel with one match of a pattern rewritten, for each match that this changes."""
    text = text_of(name)
    matches = [match for match in re.finditer(pattern, text) if match.expand(new) != match[0]]
    assert matches
    return tuple(text[: match.start()] + match.expand(new) + text[match.end() :] for match in matches)


PARTS = ("sizes", "far", "every", "edges")


def refused(name: str, text: str, parts: Iterable[str] = PARTS) -> str:
    """What the first of these parts of the proof says that does not go through; "" where all do."""
    row, program = LADDER[name], parse(text, "edited.s")
    launches = {"sizes": proving.launches, "far": proving.far_pieces, "edges": proving.edges}
    for part in parts:
        if part == "every":
            small = proving.launches(row)[1:2]
            proof = prove(program, name, small, whole=False, every=proving.every(row))
        elif found := launches[part](row):
            proof = prove(program, name, found, whole=False, explain=False)
        else:
            continue
        if not proof.proved:
            return str(proof)
    return ""


# --- edge masks
SOME = [n if n % 13 == 0 else pytest.param(n, marks=pytest.mark.slow) for n in range(32)]


@pytest.mark.parametrize("number", SOME)
@pytest.mark.parametrize("name", KERNELS)
def test_each_mask_of_the_edges_matters(name: str, number: int) -> None:
    """A lane has columns j and j + 32, four of them side by side: 16 of the 128 numbers of columns do for all masks."""
    text = edited(name, r"\ts_and_b32 exec_lo, .*\n", "")[number]
    few = [launch for launch in proving.edges(LADDER[name]) if launch.k and launch.n % 32 < 4]
    proof = prove(parse(text, "edited.s"), name, few, whole=False, explain=False)
    assert proof.verdict == "different", str(proof)


# --- 64-bit bases
SHIFT = r"s_lshl_b64 s\[(\d+):\d+\], s\[\d+:\d+\], 2", r"s_lshl_b32 s\1, s\1, 2"
HIGH = r"s_mul_hi_u32 (s\d+), .*", r"s_mov_b32 \1, 0"
SQUARE = r"s_mul_hi_u32 (s\d+), (s\d+), s\d+", r"s_mul_hi_u32 \1, \2, \2"
CARRY = r"s_addc_u32 (s\d+), (s\d+), (\S+)", r"s_add_u32 \1, \2, \3"
SAME = {
    ("kernel9", SHIFT): {1}, ("kernel9", HIGH): {1, 2, 4}, ("kernel9", SQUARE): {1, 3},
    ("kernel10", SHIFT): {1}, ("kernel10", HIGH): {3, 5, 6, 16}, ("kernel10", SQUARE): {4, 8},
}  # fmt: skip
"""Edits that change nothing: high halves that are 0 at all sizes."""
FAST = {
    ("kernel9", SHIFT): {0: "every", 2: "every"}, ("kernel9", HIGH): {0: "every", 3: "every"},
    ("kernel9", SQUARE): {2: "every"}, ("kernel9", CARRY): {8: "every", 48: "sizes"}, ("kernel10", SHIFT): {0: "every"},
    ("kernel10", HIGH): {4: "far", 13: "far", 14: "far", 15: "every"},
}  # fmt: skip
"""Of each kind of edit, some, with the part of the proof that knows."""
COUNT = {SHIFT: (3, 3), HIGH: (5, 17), SQUARE: (4, 9), CARRY: (49, 81)}
WIDE = [
    pytest.param(name, edit, number, fast.get(number), marks=[] if number in fast else pytest.mark.slow)
    for edit, counts in COUNT.items()
    for name, count in zip(KERNELS, counts, strict=True)
    for fast in (FAST.get((name, edit), {}),)
    for number in sorted(set(range(count)) - SAME.get((name, edit), set()))
]


@pytest.mark.parametrize(("name", "edit", "number", "part"), WIDE)
def test_each_high_half_and_carry_matters(name: str, edit: tuple[str, str], number: int, part: str | None) -> None:
    texts = edited(name, *edit)
    assert len(texts) == COUNT[edit][KERNELS.index(name)]
    assert refused(name, texts[number], (part,) if part else PARTS)


def test_a_column_s_offset_of_b_has_no_high_half() -> None:
    """So the first of these edits of each kernel changes nothing: B's tile begins at its first column, of 4 bytes."""
    assert all(4 * LADDER[name].largest[1] < 1 << 32 for name in KERNELS)


@given(st.integers(0, 2**32 - 1), st.integers(1, 2**32 - 1))
def test_a_quotient_is_corrected_once_at_most(number: int, divisor: int) -> None:
    """number * (2^32 - divisor * by) / divisor / 2^32 is what the product is too small by, and below 1: the factor in
    brackets is the divisor at most."""
    by = (2**32 - 1) // divisor
    assert number // divisor - (number * by >> 32) in (0, 1)


# --- what nobody planned
UNPLANNED = r"""
kernel9 7 edges, an edge is asked with less or equal
    v_cmp_gt_i32_e64
    v_cmp_ge_i32_e64
kernel9 5 sizes, a column's mask comes from what is left of the rows
    (v_cmp_gt_i32_e64 s\d+), s27
    \1, s26
kernel9 0 sizes, an edge of 127 rows is none
    s_cmp_lt_i32 s26, 128
    s_cmp_lt_i32 s26, 127
kernel9 0 sizes, only one row is an edge
    s_cmp_lt_i32 s26, 128
    s_cmp_eq_u32 s26, 1
kernel9 0 edges, an edge of 77 columns is none
    s_cmp_lt_i32 s27, 128
    s_cmp_eq_u32 s27, 77; s_cselect_b32 s60, 128, s27; s_cmp_lt_i32 s60, 128
kernel9 0 every, a workgroup's row in 15 bits
    s_mul_i32 s17, s15, 128
    s_and_b32 s17, s15, 0x7fff; s_mul_i32 s17, s17, 128
kernel9 0 every, a workgroup's column in 15 bits
    s_mul_i32 s18, s14, 128
    s_and_b32 s18, s14, 0x7fff; s_mul_i32 s18, s18, 128
kernel9 0 every, a tile's first row times N in 31 bits
    s_mul_i32 s26, s17, s13
    s_mul_i32 s26, s17, s13; s_and_b32 s26, s26, 0x7fffffff
kernel9 0 every, a tile's first row times K in 31 bits
    s_mul_i32 s26, s17, s14
    s_mul_i32 s26, s17, s14; s_and_b32 s26, s26, 0x7fffffff
kernel9 0 every, far tiles of C lie one row lower
    s_mul_i32 s26, s17, s13
    s_lshr_b32 s60, s17, 20; s_min_u32 s60, s60, 1; s_add_u32 s17, s17, s60; s_mul_i32 s26, s17, s13
kernel9 0 every, a tile's first column carries, but nowhere to
    s_addc_u32 s27, s27, 0
    s_add_u32 s27, s27, 0
kernel9 0 sizes, it carries where it does not
    s_addc_u32 s27, s27, 0
    s_add_u32 s27, s27, 1
kernel9 0 sizes, the high half of an address is 0
    s_addc_u32 s5, s9, s27
    s_addc_u32 s5, s9, s27; s_mov_b32 s5, 0
kernel9 0 sizes, an odd K lacks one step more
    s_and_b32 s20, s20, 7
    s_and_b32 s20, s20, 7; s_and_b32 s60, s14, 1; s_add_u32 s20, s20, s60
kernel9 0 every, a first K block lacks 2 instead of 1
    s_and_b32 s20, s20, 7
    s_and_b32 s20, s20, 7; s_cmp_eq_u32 s20, 1; s_cselect_b32 s20, 2, s20
kernel9 0 every, one K block less from K = 2^22 on
    s_lshr_b32 s19, s19, 3
    s_lshr_b32 s19, s19, 3; s_lshr_b32 s60, s14, 22; s_sub_u32 s19, s19, s60
kernel9 0 sizes, an element's product with beta is rounded last
    v_mul_f32_e32 v4, s16, v4\n\tv_fmac_f32_e32 v4, s15, v112
    v_mul_f32_e32 v200, s15, v112; v_fma_f32 v4, s16, v4, v200
kernel10 1 sizes, lane 1 counts and lane 0 is asked
    s_mov_b32 exec_lo, 1
    s_mov_b32 exec_lo, 2
kernel10 0 sizes, a range that begins after the line is not empty
    s_cmp_gt_u32 s69, s68
    s_cmp_lg_u32 s69, s68
kernel10 0 sizes, the lesser of both is taken in the division
    s_cselect_b32 s28, s65, 0
    s_cselect_b32 s28, 0, s65
kernel10 0 every, M in 22 bits
    s_sub_i32 s26, s12, s17
    s_and_b32 s26, s12, 0x3fffff; s_sub_i32 s26, s26, s17
kernel10 0 every, rows of tiles in 23 bits
    s_mul_i32 s17, s78, 128
    s_and_b32 s78, s78, 0x7fffff; s_mul_i32 s17, s78, 128
kernel10 0 far, who comes last takes the high half of its own slot for that of the last piece
    (s_add_u32 s78, s76, s71)\n\ts_mul_hi_u32 s79, .*
    \1
"""
"""Kernel, which match, the part of the proof that knows, what it does wrong; a pattern; what stands there instead."""
LINES = UNPLANNED.strip().splitlines()
EDITS = dict(zip(LINES[::3], zip(LINES[1::3], LINES[2::3], strict=True), strict=True))


@pytest.mark.parametrize("what", EDITS)
def test_what_nobody_planned(what: str) -> None:
    pattern, new = (line.strip() for line in EDITS[what])
    name, number, part = what.partition(",")[0].split()
    assert refused(name, edited(name, pattern, new.replace("; ", r"\n\t"))[int(number)], (part,))
