"""Addresses, for every place that a buffer may lie at: base + offset, the base unknown, the offset a number.

A 64-bit address lies in two registers and is added to in two steps with a carry between. So there are three more kinds
of names, distinguished by their second half, each for each buffer P:

    low(P)    offset mod 2^32          the low half of P + offset
    high(P)   offset mod 2^64          the high half of P + offset
    carry(P)  offset * 2^32 + x        the carry of the low half of P + offset, plus x; borrow(P): minus x

    low(P + c) + x             = low(P + c + x), and carry(P + c, x) is left in SCC
    high(P + c) + y + that     = high(P + c + x + y * 2^32),  if both c agree in their low 32 bits

and so for differences.

Two halves make an address if they are of one buffer and agree in the low 32 bits of the offset.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isa.prove.definition.names import MASK32, Names, leaves

KINDS = (
    "A", "B", "C", "workspace", "arguments", "bias", "row_scale", "column_scale", "weight_scales", "weight_zeros",
)  # fmt: skip
_TAGS = leaves(2, 4 * len(KINDS))[1].reshape(4, -1)
LOW, HIGH, CARRY, BORROW = (dict(zip(KINDS, tags, strict=True)) for tags in _TAGS)
_WHAT = {
    int(tag): f"{part} {kind}"
    for part, tags in (
        ("the address of", LOW),
        ("the address of", HIGH),
        ("a carry in the address of", CARRY),
        ("a borrow in the address of", BORROW),
    )
    for kind, tag in tags.items()
}
_32 = np.uint64(32)


def words(kind: str, offset: int = 0) -> Names:
    """The two dwords of a pointer to this byte of a buffer, (2, 2)."""
    return np.array([[offset % (1 << 32), offset % (1 << 64)], [LOW[kind], HIGH[kind]]], np.uint64)


def describe(name: Names) -> str | None:
    """What a name of this kind is, for people; None for other names."""
    return _WHAT.get(int(name[1]))


def kind_of(names: Names, tags: dict[str, np.uint64]) -> str | None:
    """The buffer if all names have its tag."""
    first = names[1].flat[0]
    kind = next((kind for kind, tag in tags.items() if tag == first), None) if first else None
    return kind if kind is not None and (names[1] == first).all() else None


def add_low(kind: str, low: Names, x: NDArray[np.uint64], *, minus: bool = False) -> tuple[Names, Names]:
    """low(P + c) + x, or minus x, and the carry; x has 32 bits."""
    offset = low[0]
    total = (offset - x if minus else offset + x) & MASK32
    carry = offset << _32 | x
    return _named(LOW[kind], total), _named((BORROW if minus else CARRY)[kind], carry)


def add_high(kind: str, high: Names, y: NDArray[np.uint64], carry: Names, *, minus: bool = False) -> Names | None:
    """high(P + c) + y + carry, or minus both; None where the carry is not of the same address."""
    offset = high[0]
    if carry[1].any():
        if kind_of(carry, BORROW if minus else CARRY) != kind or (carry[0] >> _32 != offset & MASK32).any():
            return None
        more = (carry[0] & MASK32) + (y << _32)
    else:
        more = y + carry[0] << _32
    return _named(HIGH[kind], offset - more if minus else offset + more)


def _named(tag: np.uint64, payload: NDArray[np.uint64]) -> Names:
    return np.stack((payload, np.full_like(payload, tag)))


def address(low: Names, high: Names) -> tuple[str, NDArray[np.uint64]] | None:
    """The buffer and the offset that two halves name; None where they are no halves of one address."""
    kind = kind_of(low, LOW)
    if kind is None or kind_of(high, HIGH) != kind or (low[0] != high[0] & MASK32).any():
        return None
    return kind, high[0]
