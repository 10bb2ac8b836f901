"""Matrices whose elements are less than a dword: what a register holds is described byte by byte.

A *byte* is a number: below 256 a constant, else `256 + place` of a byte of A, counted along its rows, and from `_B` on
of one of B, counted along its columns. A word of constants has the name of that constant (`names`); any other word of
known bytes packs four of these numbers of 28 bits and a tag into the 128 bits of a name, so that nothing is lost and
bytes may be taken out again. A term that happens to bear the tag would be read as bytes that it is not: then it differs
from what the definition says, but for chance.

**Products.** RDNA3's matrix units add `4 / element` products, of i4 eight, at a time in ascending k, each step a term
of one word of a row of A, one of a column of B, and the sum before (`dot`). RDNA4's add four products of 16 bits at a
time, a step of two words, in the order of `QUADS`; integers are summed in any order. A step from 0 whose words are 0 is
0. So the
definition's sum of K products begins with as many zeros as make whole words, as the kernel's does with as many as make
whole K blocks.

**Zeros.** A workgroup at an edge of C stores alpha * sum + beta * 0 where beta is 0, which is alpha * sum but for the
sign of a zero: here both are one term.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isa.prove.definition.names import BYTES_TAG, ZERO, Names, add, fma, is_zero, leaves, mul, term

BYTES = {"f32": 4, "f16": 2, "bf16": 2, "i8": 1, "i4": 1, "fp8": 1, "bf8": 1}
"""Of an element, by the type of A and B; of i4, which lies in pairs along k, of a pair."""
PACK = {"i4": 2}
"""Steps of k that such an element holds, where it is not one."""
INTEGERS = "i8", "i4"
FLOAT_BYTES = "fp8", "bf8"
Bytes = NDArray[np.uint64]
"""Numbers of bytes, (4, ...) of words or (bytes, ...) of memory."""
_CONSTANTS, _B = 256, 1 << 27
FIRST_OF_B = _B
ELSEWHERE, UNKNOWN = _B - 1, _B - 2
"""Stand for all bytes that are not held (`launch.Part`), and that are not known for every K (`launch.OPEN`)."""
_KINDS, _SECONDS = (dict(zip(BYTES, half.T, strict=True)) for half in np.split(leaves(3, 2 * len(BYTES)), 2, axis=1))
QUADS = {
    2: tuple((word, word % 2) for word in (0, 1, 4, 5, 2, 3, 6, 7)),
    1: tuple((word, 0) for word in (0, 4, 1, 5, 2, 6, 3, 7)),
}
"""RDNA4's order, by the bytes of an element: of 8 words along k, which two products of bytes share, those that are
added, and which half of a step of four products each is."""
_BETWEEN = np.uint64(0xF0000000F0000000)
ZERO_BYTE = 0x0C
"""What `v_perm_b32` takes for a byte of 0."""
_28, _32, _56 = np.uint64(28), np.uint64(32), np.uint64(56)
_ONE = np.uint64(0x3F800000)
_EIGHTS = np.uint64(8) * np.arange(4, dtype=np.uint64)


def packed(found: Bytes) -> Names:
    """The names of words of four bytes each, the lowest first: (2, ...) of (4, ...)."""
    low, high = found[0] | found[1] << _32, found[2] | found[3] << _28 | BYTES_TAG << _56
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
    return np.where(constant, low >> _EIGHTS.reshape(shape) & np.uint64(255), parts), constant | (
        (high >> _56 == BYTES_TAG) & (low & _BETWEEN == 0)
    )


def dot(kind: str, x: Names, y: Names, z: Names, half: int | None = None) -> Names:
    """z and the products of two words' elements, as a matrix unit adds them. kind: of the elements. half: of a step of
    two words the first or the second (`QUADS`); sums of integers are in any order then."""
    if half is not None and kind in INTEGERS:
        with np.errstate(over="ignore"):
            return np.where(is_zero(x) & is_zero(y), z, z + term(f"products of {kind}", mul(x, y)))
    return fma(x, y, z, (_SECONDS if half else _KINDS)[kind])


def number_of(kind: str) -> ctypes.Array[ctypes.c_uint64]:
    """What distinguishes a product of these elements, for C."""
    return (ctypes.c_uint64 * 2)(*map(int, _KINDS[kind].ravel()))


def _zero(x: Names) -> NDArray[np.bool_]:
    """The constants 0 and, as a float, -0."""
    found: NDArray[np.bool_] = (x[0] & np.uint64(0x7FFFFFFF) == 0) & (x[1] == 0)
    return found


def _mul(x: Names, y: Names) -> Names:
    found = np.where(_zero(x) & _zero(y), ZERO, mul(x, y))
    return np.where(_one(x), y, np.where(_one(y), x, found))


def _fma(x: Names, y: Names, z: Names) -> Names:
    found = np.where(_zero(z), _mul(x, y), fma(x, y, z))
    return np.where(_zero(x) & _zero(y), z, found)


def _one(x: Names) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = (x[0] == _ONE) & (x[1] == 0)
    return found


SIGNLESS: dict[str, Callable[..., Names]] = {"mul": _mul, "fma": _fma}
"""Float operations, a zero of which may have the other sign: x * y + 0 is x * y, 0 * 0 + z is z, and 1 * x is x."""


def added(x: Names, y: Names) -> Names:
    """A sum of integers, of which 0 is none."""
    return np.where(is_zero(x), y, np.where(is_zero(y), x, add(x, y)))


def multiplied(x: Names, y: Names) -> Names:
    """A product of integers, by 0 a 0."""
    return np.where(is_zero(x) | is_zero(y), ZERO, mul(x, y))


INTEGER_TERMS: dict[str, Callable[..., Names]] = {"v_mul_lo_u32": multiplied, "v_add_nc_u32": added}
"""Of which one operand at least is no number."""


@dataclass(frozen=True)
class NarrowMatrix:
    """A, or B.

    first:   number of its first byte. lines: rows of A, columns of B; held: which of them are (see `launch.Part`).
    k:       elements of a line; element: bytes of one.
    along_k: consecutive k lie side by side in memory.
    pitch:   elements from one line of memory to the next; the matrix has `width` of them.
    """

    first: int
    lines: int
    held: range
    k: int
    element: int
    along_k: bool
    pitch: int

    @staticmethod
    def of(matrix: str, lines: int, held: range, k: int, factor: str, along_k: bool, pitch: int = 0) -> NarrowMatrix:
        """pitch: 0 where lines stand one after the other."""
        first, element = _CONSTANTS if matrix == "A" else _B, BYTES[factor]
        assert len(held) * k * element < UNKNOWN - _CONSTANTS
        return NarrowMatrix(first, lines, held, k, element, along_k, pitch or max(1, k if along_k else lines))

    @property
    def width(self) -> int:
        return self.k if self.along_k else self.lines

    @property
    def bytes(self) -> int:
        count = self.lines if self.along_k else self.k
        return ((count - 1) * self.pitch + self.width) * self.element if count and self.width else 0

    @property
    def held_bytes(self) -> int:
        return len(self.held) * self.k * self.element

    def words(self, order: NDArray[np.int64] | None = None) -> Names:
        """Of its lines along k, (2, lines that are held, words); zeros first where k is no whole words. order: of the
        elements, where it is another."""
        each = 4 // self.element
        count = -(-self.k // each)
        place = np.arange(4 * count).reshape(count, 4) - (each * count - self.k) * self.element
        line = np.array(self.held, np.int64)[:, None, None]
        step = place // self.element
        numbers = self.number(line, step if order is None else order[step], place % self.element)
        return packed(np.moveaxis(np.where(place < 0, np.uint64(0), numbers), 2, 0))

    def find(self, names: Names) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Of words that lie along k: the line, counted among those that are held, and k of the first element; -1 for
        other words."""
        found, _ = unpacked(names)
        place = found.astype(np.int64) - self.first
        line, byte = np.divmod(place[0], max(1, self.k * self.element))
        good = (place == place[0] + np.arange(4).reshape(4, *[1] * (place.ndim - 1))).all(axis=0)
        good &= (line >= 0) & (line < len(self.held)) & (byte % self.element == 0)
        good &= (names[1] != 0) & (byte + 4 <= self.k * self.element)
        return np.where(good, line, -1), np.where(good, byte // self.element, -1)

    def word(self, line: NDArray[np.int64], k: NDArray[np.int64]) -> Names:
        """The names of words that `find` says this of; what lies before the first k is 0."""
        byte = np.arange(4).reshape(4, *[1] * line.ndim)
        at = k + byte // self.element
        numbers = self.number(line + self.held.start, at, byte % self.element)
        return packed(np.where(at < 0, np.uint64(0), numbers))

    def number(self, line: NDArray[np.int64], k: NDArray[np.int64], byte: NDArray[np.int64] | np.int64) -> Bytes:
        """Of a byte of an element."""
        number = self.first + ((line - self.held.start) * self.k + k) * self.element + byte
        held = (line >= self.held.start) & (line < self.held.stop)
        found: Bytes = np.where(held, number, ELSEWHERE).astype(np.uint64)
        return found


@dataclass(frozen=True)
class NarrowPlaces:
    """Where the matrices of one kind lie in memory, one of each launch of a kernel: fields of NarrowMatrix, the lines
    that are held by the first and the one after the last."""

    first: int
    element: int
    along_k: bool
    top: NDArray[np.int64]
    bottom: NDArray[np.int64]
    k: NDArray[np.int64]
    pitch: NDArray[np.int64]
    width: NDArray[np.int64]
    bytes: NDArray[np.int64]

    @staticmethod
    def of(matrices: Sequence[NarrowMatrix]) -> NarrowPlaces:
        numbers = [(m.held.start, m.held.stop, m.k, m.pitch, m.width, m.bytes) for m in matrices]
        one = matrices[0]
        return NarrowPlaces(one.first, one.element, one.along_k, *np.array(numbers, np.int64).T)

    def holds(self, mine: NDArray[np.intp], place: NDArray[np.int64], count: int) -> NDArray[np.bool_]:
        """Whether so many bytes from these on, (waves, lanes), are the matrix's. mine: of each wave its launch."""
        pitch, width = self.pitch[mine][:, None], self.width[mine][:, None]
        good: NDArray[np.bool_] = (place >= 0) & (place + count <= self.bytes[mine][:, None])
        if (pitch != width).any():
            good &= (pitch == width) | (place % (pitch * self.element) + count <= width * self.element)
        return good

    def at(self, mine: NDArray[np.intp], place: NDArray[np.int64]) -> Bytes:
        """What lies at these bytes of memory, (..., waves, lanes)."""
        top, bottom, k, pitch = (x[mine][:, None] for x in (self.top, self.bottom, self.k, self.pitch))
        number = place // self.element
        outer = number // pitch
        inner = number - outer * pitch
        line, step = (outer, inner) if self.along_k else (inner, outer)
        found = self.first + ((line - top) * k + step - number) * self.element + place
        held: Bytes = np.where((line >= top) & (line < bottom), found, ELSEWHERE).astype(np.uint64)
        return held
