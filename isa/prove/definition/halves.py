"""Words of two 16-bit elements: what a register holds is described half by half.

A *half* is a number of 60 bits: below 2^16 a constant, from 2^59 on the name of 16 bits that are made of a term: an
element of C, a float rounded to it, half of a word. A word of two constants is a constant; any other word packs both
and a tag into the 128 bits of a name, so that halves may be taken out again. A term that happens to bear the tag gives
other halves than the definition says, but for chance. Two halves that differ have different names but for a chance of
2^-59.

A dword's halves, moved as a whole, remain what they are: `v_perm_b32`, shifts by 16, masks of one half.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isa.prove.definition import narrow
from isa.prove.definition.names import HALVES_TAG, Names, term

Halves = NDArray[np.uint64]
_MADE = np.uint64(1 << 59)
_HALF, _BELOW = np.uint64(0xFFFF), np.uint64((1 << 59) - 1)
_4, _5, _7, _16, _56, _60 = (np.uint64(n) for n in (4, 5, 7, 16, 56, 60))
_LOW_60 = np.uint64((1 << 60) - 1)
_ENTRY = np.uint64(0xA6 << 48 | 1)
"""The second half of the names of elements as memory holds them."""


def made(operation: str, *operands: Names) -> Halves:
    """16 bits that an operation makes of terms."""
    low, high = term(operation, *operands)
    found: Halves = (low >> _5 ^ high >> _7) & _BELOW | _MADE
    return found


def rounded(kind: str, x: Names) -> Halves:
    """An f32 as f16, or what is left of it as bf16 where it was rounded before; 0 is 0."""
    found = made("round to f16", x) if kind == "f16" else split(x)[1]
    return np.where(x.any(axis=0), found, np.uint64(0))


def dot(kind: str, x: Names, y: Names, z: Names, half: int | None = None) -> Names:
    """`narrow.dot` where sums have 16 bits, too: z and the result are halves, as `alone` has them."""
    found = narrow.dot(kind, x, y, z, half)
    return alone(np.where(found.any(axis=0), made("sum of 16 bits", found), np.uint64(0)))


def alone(half: Halves) -> Names:
    """A half by itself, in the form of a name; 0 is 0."""
    return np.stack((half, half))


def widened(kind: str, half: Halves) -> Names:
    """As f32: +0 is 0."""
    if kind == "bf16":
        return packed(np.zeros_like(half), half)
    names = term("widen f16", alone(half))
    return np.where(half == 0, np.uint64(0), names)


def packed(low: Halves, high: Halves) -> Names:
    """The word of two halves."""
    constant = (low <= _HALF) & (high <= _HALF)
    first, second = low | high << _60, high >> _4 | HALVES_TAG << _56
    return np.stack((np.where(constant, low | high << _16, first), np.where(constant, np.uint64(0), second)))


def split(word: Names) -> tuple[Halves, Halves]:
    """Its low and its high half."""
    low, high = word
    number, known = high == 0, high >> _56 == HALVES_TAG
    found = []
    for i, (constant, of_two) in enumerate(
        ((low & _HALF, low & _LOW_60), (low >> _16 & _HALF, low >> _60 | (high << _4 & _LOW_60)))
    ):
        other = made(("low half", "high half")[i], word)
        found.append(np.where(number, constant, np.where(known, of_two, other)))
    return found[0], found[1]


def entries(half: Halves) -> Names:
    """As memory holds them, an element each."""
    return np.stack((half, np.full_like(half, _ENTRY)))


def of_entries(names: Names) -> Halves:
    """What memory holds; of what is no element 16 unknown bits."""
    found: Halves = np.where(names[1] == _ENTRY, names[0], names[0] & _BELOW | _MADE)
    return found
