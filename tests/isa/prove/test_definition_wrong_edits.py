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

from .edits import faults

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
EDITS = faults("definition/unplanned")


@pytest.mark.parametrize("what", EDITS)
def test_what_nobody_planned(what: str) -> None:
    where, pattern, new = EDITS[what]
    name, number, part = where.split()
    assert refused(name, edited(name, pattern, new.replace("; ", r"\n\t"))[int(number)], (part,))
