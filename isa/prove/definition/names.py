"""Terms as names: a 128-bit name stands for an expression over matrix elements, alpha, beta and constants.

A name is two uint64, kept as planes: arrays have shape (2, ...). A constant, which is any integer and any float that no
element went into, is its own 32 bits: (bits, 0). Every other term has a name whose second half is not 0, made from the
operation and the names of its operands by multiplication and shifts modulo 2^64, each half with constants of its own.
So two terms that are the same have the same name, and two that differ have different ones but for chance: 2^-128 for a
pair, about 2^-70 for all pairs of ten million terms.

The highest byte of the name of a word of which more is known says so: `BYTES_TAG`, `HALVES_TAG`. No `term` bears them.

What has one name although it was written in two ways: a product whose factors change places, and fma(+0, +0, +0),
which is +0.
"""

from __future__ import annotations

import struct
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Names = NDArray[np.uint64]
MASK32 = np.uint64(0xFFFFFFFF)
BYTES_TAG, HALVES_TAG = np.uint64(0xA5), np.uint64(0xA6)
"""Of `narrow` and of `halves`."""
_32, _29, _56, _63 = (np.uint64(n) for n in (32, 29, 56, 63))


def _constants(count: int) -> list[Names]:
    """Odd numbers without a pattern, (2, 1, 1) each: splitmix64 of 1, 2, 3, ... (Steele, Lea, Flood, 2014)."""
    found = []
    for i in range(count):
        pair = []
        for half in (1, 2):
            z = (2 * i + half) * 0x9E3779B97F4A7C15 & (1 << 64) - 1
            z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & (1 << 64) - 1
            z = (z ^ z >> 27) * 0x94D049BB133111EB & (1 << 64) - 1
            pair.append((z ^ z >> 31) | 1)
        found.append(np.array(pair, np.uint64).reshape(2, 1, 1))
    return found


_FACTOR, _FMA, _MUL, _ADD, _SUM, _LEAF, _SPREAD, _TERM = _constants(8)
ZERO = np.zeros((2, 1, 1), np.uint64)
NUMBERS = _FACTOR, _FMA, _MUL, _ADD, _SUM
"""What terms of factors, `fma`, `mul` and `add` are made by, the last of both summands."""


def leaves(tag: int, count: int) -> Names:
    """Names of `count` things that differ from each other and from those of all other tags, (2, count), to be read
    only. The first ones are the same for any count."""
    return _leaves(tag, max(1 << 10, 1 << (count - 1).bit_length()))[:, :count]


@lru_cache(32)
def _leaves(tag: int, count: int) -> Names:
    with np.errstate(over="ignore"):
        h: Names = (np.arange(count, dtype=np.uint64) + (np.uint64(tag) << np.uint64(48)))[None, :] + _LEAF[:, :, 0]
        for multiplier in (_SPREAD, _LEAF):
            h *= multiplier[:, :, 0]
            h ^= h >> _29
            h *= _SPREAD[:, :, 0]
            h ^= h >> _32
    h.flags.writeable = False
    return h


def _like(constant: Names, x: Names) -> Names:
    """A constant of both planes, with as many dimensions as x."""
    found: Names = constant.reshape(2, *[1] * (x.ndim - 1))
    return found


def _factors(x: Names, y: Names) -> Names:
    factor = _like(_FACTOR, x)
    h = x + factor
    return h * (y + factor)


def is_zero(x: Names) -> NDArray[np.bool_]:
    """Where +0, or no bit, is named."""
    found: NDArray[np.bool_] = (x[0] | x[1]) == 0
    return found


def fma(x: Names, y: Names, z: Names, kind: Names | None = None) -> Names:
    """x * y + z, rounded once. Shapes broadcast after the planes. kind: a number that another such operation has."""
    h = _factors(x, y)
    h = np.add(h, z, out=h if h.shape == z.shape else None)
    h *= _like(_FMA, h)
    h ^= h >> _32
    if kind is not None:
        h ^= _like(kind, h)
    if not (x[1].all() or y[1].all()):
        nothing = is_zero(x) & is_zero(y)
        if nothing.any():
            np.copyto(h, np.uint64(0), where=nothing & is_zero(z))
    return h


def mul(x: Names, y: Names) -> Names:
    """x * y, rounded."""
    h = _factors(x, y)
    h ^= h >> _29
    h *= _like(_MUL, h)
    h ^= h >> _32
    return h


def add(x: Names, y: Names) -> Names:
    """x + y, rounded."""
    h = (x + _SUM) * (y + _SUM)
    h ^= h >> _29
    h *= _ADD
    h ^= h >> _32
    return h


def term(operation: str, *operands: Names) -> Names:
    """Any other operation, its operands in order."""
    h = _seed(operation).reshape(2, *[1] * (operands[0].ndim - 1))
    spread, factor = (x.reshape(h.shape) for x in (_SPREAD, _TERM))
    with np.errstate(over="ignore"):
        for x in operands:
            h = (h ^ h >> _29) * factor + x
        h = (h ^ h >> _32) * spread
        h = (h ^ h >> _29) * factor
        found: Names = h ^ h >> _32
    tag = found[1] >> _56
    found[1] ^= ((tag == BYTES_TAG) | (tag == HALVES_TAG)).astype(np.uint64) << _63
    return found


@lru_cache
def _seed(operation: str) -> Names:
    found: Names = leaves(4, 1)[:, 0] * np.uint64(
        int.from_bytes(operation.encode(), "little") % ((1 << 61) - 1) * 2 + 1
    )
    return found


def sum_of(*operands: Names) -> Names:
    """The sum of integers, modulo 2^32, of which one is none; in any order."""
    return _unordered("sum", *operands)


def either(*operands: Names) -> Names:
    """The bits that are in one of them; in any order."""
    return _unordered("or", *operands)


def _unordered(operation: str, *operands: Names) -> Names:
    first, *others = (term(operation, x) for x in operands)
    with np.errstate(over="ignore"):
        for x in others:
            first = first + x
    return term(operation, first)


def number(value: float) -> Names:
    """A constant float, (2, 1, 1)."""
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return np.array([bits, 0], np.uint64).reshape(2, 1, 1)
