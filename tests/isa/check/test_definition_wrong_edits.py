"""Edits of kernels 9 and 10 that only large matrices, or some edges, tell from the original: none is proved.

`hipgemm prove kernel9 --assembly edited.s` asks the same (`proving.generated`). What it proves although it was changed
is shown to be the same for all sizes by something else (`isa.check.local`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import pytest

from hipgemm import proving
from hipgemm.kernels import LADDER
from isa.check.definition import prove
from isa.check.equivalence import Proof
from isa.check.local import Local
from isa.emit import emit
from isa.gemm.generate import generate
from isa.parse import parse

KERNELS = ("kernel9", "kernel10")


@cache
def text_of(name: str) -> str:
    p = LADDER[name].parameters
    assert p is not None
    return emit(generate(p, name))


def edited(name: str, pattern: str, new: str) -> Iterator[str]:
    """The kernel with one match of a pattern rewritten, for each match."""
    text = text_of(name)
    for match in re.finditer(pattern, text):
        if (put := match.expand(new)) != match[0]:
            yield text[: match.start()] + put + text[match.end() :]


def proof_of(name: str, text: str) -> Proof:
    return proving.generated(LADDER[name], parse(text, "edited.s"))


def is_same(name: str, text: str) -> bool:
    """Whether the one instruction that was changed does what it did, at all sizes."""
    original = parse(text_of(name), "edited.s")
    local = Local(original.kernel(name), *proving.bounds(LADDER[name]))
    changed = parse(text, "edited.s")
    ((number, inst),) = (
        (number, after.instruction)
        for number, (before, after) in enumerate(zip(original.lines, changed.lines, strict=True))
        if before.text != after.text
    )
    return inst is not None and local.same(number, inst) is not None


# --- edge masks
SOME = [n if n % 5 == 0 else pytest.param(n, marks=pytest.mark.slow) for n in range(32)]


@pytest.mark.parametrize("number", SOME)
@pytest.mark.parametrize("name", KERNELS)
def test_each_mask_of_the_edges_matters(name: str, number: int) -> None:
    """A lane has columns j and j + 32, four of them side by side: 16 of the 128 numbers of columns do for all masks."""
    (text,) = list(edited(name, r"\ts_and_b32 exec_lo, .*\n", ""))[number : number + 1]
    few = [launch for launch in proving.edges(LADDER[name]) if launch.k and launch.n % 32 < 4]
    proof = prove(parse(text, "edited.s"), name, few, whole=False, explain=False)
    assert proof.verdict == "different", str(proof)


# --- 64-bit bases
WIDE = {
    "a shift of both halves becomes one of the low half": (r"s_lshl_b64 s\[(\d+):\d+\], s\[\d+:\d+\], 2", r"s_lshl_b32 s\1, s\1, 2"),
    "a high half becomes 0": (r"s_mul_hi_u32 (s\d+), .*", r"s_mov_b32 \1, 0"),
    "a high half is that of a square": (r"s_mul_hi_u32 (s\d+), (s\d+), s\d+", r"s_mul_hi_u32 \1, \2, \2"),
}  # fmt: skip
