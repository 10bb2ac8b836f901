"""Matrices whose elements are less than a dword: what a register holds is told byte by byte.

A *byte* is a number: below 256 a constant, else `256 + place` of a byte of A, counted along its rows, and from `_B` on
of one of B, counted along its columns. A word of constants has the name of that constant (`names`); any other word of
known bytes packs four of these numbers of 28 bits and a tag into the 128 bits of a name, so that nothing is lost and
bytes may be taken out again. A term that happens to bear the tag would be read as bytes that it is not: then it differs
from what the definition says, but for chance.

**Products.** A matrix unit adds `4 / element` products at a time in ascending k, each step a term of one word of a row
of A, one of a column of B, and the sum before (`dot`). A step from 0 whose words are 0 is 0. So the definition's sum of
K products begins with as many zeros as make whole words, as the kernel's does with as many as make whole K blocks.

**Zeros.** A workgroup at an edge of C stores alpha * sum + beta * 0 where beta is 0, which is alpha * sum but for the
sign of a zero: here both are one term.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from isa.check.spec_proof.names import ZERO, Names, add, fma, leaves, mul

if TYPE_CHECKING:
    from isa.check.spec_proof.launch import SymbolicLaunch

BYTES = {"f32": 4, "f16": 2, "bf16": 2, "i8": 1}
"""Of an element, by the type of A and B."""
Bytes = NDArray[np.uint64]
"""Numbers of bytes, (4, ...) of words or (bytes, ...) of memory."""
_CONSTANTS, _B = 256, 1 << 27
_ELSEWHERE = _B - 1
"""Stands for all bytes that are not held (`launch.Part`)."""
_KINDS = dict(zip(BYTES, leaves(3, len(BYTES)).T, strict=True))
_TAG = np.uint64(0xA5)
_28, _32, _56 = np.uint64(28), np.uint64(32), np.uint64(56)
_EIGHTS = np.uint64(8) * np.arange(4, dtype=np.uint64)


def packed(found: Bytes) -> Names:
    """The names of words of four bytes each, the lowest first: (2, ...) of (4, ...)."""
    low, high = found[0] | found[1] << _32, found[2] | found[3] << _28 | _TAG << _56
    constant = (found < _CONSTANTS).all(axis=0)
    bits = (found << _EIGHTS.reshape(4, *[1] * (found.ndim - 1))).sum(axis=0, dtype=np.uint64)
    return np.stack((np.where(constant, bits, low), np.where(constant, np.uint64(0), high)))


def unpacked(names: Names) -> tuple[Bytes, NDArray[np.bool_]]:
    """The bytes of words, (4, ...), and which are words of known bytes."""
    low, high = names
    constant = high == 0
    shape = (4, *[1] * low.ndim)
    mine = np.uint64(0xFFFFFFFF), np.uint64((1 << 28) - 1)
    parts = np.stack((low & mine[0], low >> _32, high & mine[1], high >> _28 & mine[1]))
    return np.where(constant, low >> _EIGHTS.reshape(shape) & np.uint64(255), parts), constant | (high >> _56 == _TAG)


def dot(kind: str, x: Names, y: Names, z: Names) -> Names:
    """z and the products of two words' elements, as a matrix unit adds them. kind: of the elements."""
    found = fma(x, y, z)
    of = _KINDS[kind].reshape(2, *[1] * (found.ndim - 1))
    return np.where(found.any(axis=0), found ^ of, found)


def _zero(x: Names) -> NDArray[np.bool_]:
    """The constants 0 and, as a float, -0."""
    return (x[0] & np.uint64(0x7FFFFFFF) == 0) & (x[1] == 0)


def _mul(x: Names, y: Names) -> Names:
    return np.where(_zero(x) & _zero(y), ZERO, mul(x, y))


def _fma(x: Names, y: Names, z: Names) -> Names:
    return np.where(_zero(z), mul(x, y), fma(x, y, z))


SIGNLESS: dict[str, Callable[..., Names]] = {"mul": _mul, "fma": _fma}
"""Float operations, a zero of which may have the other sign: x * y + 0 is x * y."""


def added(x: Names, y: Names) -> Names:
    """A sum of integers, of which 0 is none."""
    return np.where(~x.any(axis=0), y, np.where(~y.any(axis=0), x, add(x, y)))


def multiplied(x: Names, y: Names) -> Names:
    """A product of integers, by 0 a 0."""
    return np.where(~x.any(axis=0) | ~y.any(axis=0), ZERO, mul(x, y))


INTEGER_TERMS: dict[str, Callable[..., Names]] = {"v_mul_lo_u32": multiplied, "v_add_nc_u32": added}
"""Of which one operand at least is no number."""


def words(launch: SymbolicLaunch) -> tuple[Names, Names]:
    """The words of A's rows along k, (2, rows, words), and of B's columns, (2, words, columns), as far as they are
    held."""
    element = BYTES[launch.factor]
    each = 4 // element
    count = -(-launch.k // each)

    def grouped(matrix: str, lines: range) -> Names:
        """(2, lines, words)"""
        place = np.arange(each * count)[:, None] * element + np.arange(element)  # zeros first
        k = (place - (each * count - launch.k) * element).reshape(count, 4)
        line = np.array(lines, np.int64)[:, None, None]
        numbers = _number(launch, matrix, line, k // element, k % element)
        return packed(np.moveaxis(np.where(k < 0, np.uint64(0), numbers), 2, 0))

    return grouped("A", launch.rows), grouped("B", launch.columns).swapaxes(1, 2)


def _number(
    launch: SymbolicLaunch, matrix: str, line: NDArray[np.int64], k: NDArray[np.int64], byte: NDArray[np.int64]
) -> Bytes:
    """Of a byte of an element in a row of A, or a column of B."""
    held, first = (launch.rows, _CONSTANTS) if matrix == "A" else (launch.columns, _B)
    element = BYTES[launch.factor]
    assert len(held) * launch.k * element < _ELSEWHERE - _CONSTANTS
    number = first + ((line - held.start) * launch.k + k) * element + byte
    found: Bytes = np.where((line >= held.start) & (line < held.stop), number, _ELSEWHERE).astype(np.uint64)
    return found


def size(launch: SymbolicLaunch, matrix: str) -> int:
    """Bytes of A or B."""
    return {"A": launch.m, "B": launch.n}[matrix] * launch.k * BYTES[launch.factor]


def at(launch: SymbolicLaunch, matrix: str, place: NDArray[np.int64]) -> Bytes:
    """The bytes that lie at these places of A or B."""
    element = BYTES[launch.factor]
    number, byte = np.divmod(place, element)
    lines, along = (launch.m, not launch.trans_a) if matrix == "A" else (launch.n, launch.trans_b)
    outer, inner = np.divmod(number, max(1, launch.k if along else lines))
    line, k = (outer, inner) if along else (inner, outer)
    return _number(launch, matrix, line, k, byte)
