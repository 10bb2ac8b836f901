"""Dot products of a gfx1100: two products and an accumulator -> their sum, on NumPy arrays: V_DOT2_*, V_DOT2ACC_*,
V_WMMA_*.

Characterised on cards (ROCm/rocm-systems, issue 12056 and rocjitsu's gfx11_dot2.h; a W7900's results stand in the
tests): the products are exact, but the three terms are aligned and cut before they are added.

    E(p)  of a product: the sum of its factors' exponents as they are encoded (at least 1, without bias)
    E(c)  of the accumulator: the exponent of its first bit; of an f16, as it is encoded
    grid = max(E(p0) - 24, E(p1) - 24, E(c) - 26), over the terms that are not 0; an f16 accumulator always counts
    each term: its size in units of 2**grid, the rest cut off; where its sign is not c's, minus that, minus one (the
               complement instead of the negative, and so for a zero as well)
    result: the sum, times c's sign, rounded once to nearest even; no term at all, or a sum of 0, is +0

f32 results below the smallest normal number are +0, decided after the rounding; f16 results may be denormal. Denormal
bf16 and f32 operands are zeros, denormal f16 operands are not. bf16 results are f32 results cut to their upper half.
MODE says nothing here. Special values, in this order: a factor that is a NaN gives ffc00a3d; infinity times zero, and
infinite products of both signs, ffc00000; a NaN as accumulator stays, quiet; then infinities as everywhere.

A matrix product is eight such steps for each element, two k at a time, from k = 0 on; each rounds. Lane n holds row
n % 16 of A and column n % 16 of B, two k a register; lanes 16 to 31 give the odd rows of D, from their own copies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

_Array = Any
_NONE = -(1 << 20)


@dataclass(frozen=True)
class DotKind:
    """factor: f16 or bf16. packed: the accumulator and the result are of that type, too, in the low half of a word."""

    factor: str
    packed: bool

    @property
    def fraction(self) -> int:
        return 10 if self.factor == "f16" else 7

    @property
    def bias(self) -> int:
        return 15 if self.factor == "f16" else 127

    @property
    def top(self) -> int:
        """The encoded exponent of infinities and NaNs."""
        return 2 * self.bias + 1

    @property
    def factor_nan(self) -> int:
        return 0xFFC0_0A3D if not self.packed else 0xFE3D if self.factor == "f16" else 0xFFFD

    @property
    def made_nan(self) -> int:
        return 0xFFC0_0000 if not self.packed else 0xFE00 if self.factor == "f16" else 0xFFC0


KINDS = {
    "f32 f16": DotKind("f16", False),
    "f32 bf16": DotKind("bf16", False),
    "f16 f16": DotKind("f16", True),
    "bf16 bf16": DotKind("bf16", True),
}


def dot2(name: str, a: _Array, b: _Array, c: _Array) -> _Array:
    """a, b: two factors a word; c and the result: bits in a word. All u32 of one shape."""
    kind = KINDS[name]
    a, b, c = (np.asarray(x, np.int64) for x in (a, b, c))
    if kind.packed and kind.factor == "bf16":
        wide = dot2("f32 bf16", a, b, c << 16)
        return np.where(wide == KINDS["f32 bf16"].factor_nan, kind.factor_nan, wide >> 16).astype(np.uint32)
    pairs = [(_Factor.of(kind, a >> n & 0xFFFF), _Factor.of(kind, b >> n & 0xFFFF)) for n in (0, 16)]
    negative, size, c_low, c_exponent = _accumulator(kind, c)
    terms = [(size, c_low, negative)]
    grid = c_exponent - 26
    nothing = size == 0
    for x, y in pairs:
        product = x.size * y.size
        exponent = x.exponent + y.exponent
        grid = np.maximum(grid, np.where(product != 0, exponent - 24, _NONE))
        terms.append((product, exponent - 2 * kind.fraction, x.negative ^ y.negative))
        nothing &= product == 0
    total = np.zeros_like(size)
    for size, low, sign in terms:
        up, down = np.clip(low - grid, 0, 30), np.clip(grid - low, 0, 62)
        units = size << up >> down
        total += np.where(sign != negative, ~units, units)
    result = (_to_f16 if kind.packed else _to_f32)(np.where(nothing, 0, total), grid, negative)
    return _special(kind, pairs, c, result).astype(np.uint32)


@dataclass(frozen=True)
class _Factor:
    """|value| = size * 2**(exponent - bits of the fraction)."""

    size: _Array
    exponent: _Array
    negative: _Array
    infinite: _Array
    nan: _Array

    @classmethod
    def of(cls, kind: DotKind, bits: _Array) -> _Factor:
        field, rest = bits >> kind.fraction & kind.top, bits & (1 << kind.fraction) - 1
        size = np.where(field != 0, rest | 1 << kind.fraction, rest if kind.factor == "f16" else 0)
        top = field == kind.top
        return cls(size, np.maximum(field, 1) - kind.bias, bits >> 15 != 0, top & (rest == 0), top & (rest != 0))


def _accumulator(kind: DotKind, c: _Array) -> tuple[_Array, _Array, _Array, _Array]:
    """(whether negative, size, the weight of the size's lowest bit, E(c))."""
    if kind.packed:
        field, rest = c >> 10 & 31, c & 0x3FF
        exponent = np.maximum(field, 1) - 15
        return c >> 15 & 1 != 0, np.where(field != 0, rest | 0x400, rest), exponent - 10, exponent
    field = c >> 23 & 255
    size = np.where(field != 0, c & 0x7FFFFF | 0x800000, 0)
    return c >> 31 != 0, size, field - 150, np.where(field != 0, field - 127, _NONE)


def _rounded(size: _Array, shift: _Array) -> _Array:
    """size / 2**shift to nearest even; shift may be negative."""
    down = np.clip(shift, 1, 62)
    rest, half = size & (1 << down) - 1, 1 << down - 1
    kept = size >> down
    near = kept + ((rest > half) | ((rest == half) & (kept & 1 != 0)))
    return np.where(shift > 0, near, size << np.clip(-shift, 0, 30))


def _top(size: _Array) -> _Array:
    """The number of the first bit."""
    return np.frexp(size.astype(np.float64))[1] - 1


def _to_f32(total: _Array, grid: _Array, negative: _Array) -> _Array:
    size, sign = np.abs(total), ((total < 0) ^ negative).astype(np.int64) << 31
    top = _top(size)
    number = _rounded(size, top - 23)
    exponent = top + grid + (number >> 24)
    bits = np.where(exponent > 127, 0x7F800000, (exponent + 127 << 23) + (number & 0x7FFFFF) * (number >> 24 == 0))
    return np.where((size == 0) | (exponent < -126), 0, sign | bits)


def _to_f16(total: _Array, grid: _Array, negative: _Array) -> _Array:
    size, sign = np.abs(total), ((total < 0) ^ negative).astype(np.int64) << 15
    exponent = np.maximum(_top(size) + grid, -14)
    number = _rounded(size, exponent - 10 - grid)
    bits = np.minimum((exponent + 14 << 10) + number, 0x7C00)
    return np.where((size == 0) | (number == 0), 0, sign | bits)


def _special(kind: DotKind, pairs: list[tuple[_Factor, _Factor]], c: _Array, result: _Array) -> _Array:
    size, fraction = (16, 10) if kind.packed else (32, 23)
    infinity = (1 << size - 1) - (1 << fraction)
    signs = (infinity, infinity | 1 << size - 1)
    below = c & (1 << size - 1) - 1
    infinite = [(c & (1 << size) - 1) == bits for bits in signs]
    product = [np.zeros_like(infinite[0]), np.zeros_like(infinite[0])]
    wrong, nan = product[0].copy(), product[0].copy()
    for x, y in pairs:
        nan |= x.nan | y.nan
        wrong |= (x.infinite & (y.size == 0)) | (y.infinite & (x.size == 0))
        for sign in (False, True):
            product[sign] = product[sign] | ((x.infinite | y.infinite) & ((x.negative ^ y.negative) == sign))
    either = [p | i for p, i in zip(product, infinite, strict=True)]
    for condition, bits in (
        (either[0], signs[0]),
        (either[1], signs[1]),
        (either[0] & either[1], kind.made_nan),
        (below > infinity, c | 1 << fraction - 1),
        (wrong | (product[0] & product[1]), kind.made_nan),
        (nan, kind.factor_nan),
    ):
        result = np.where(condition, bits, result)
    return result


_LANES = np.arange(32)
_ROWS = 2 * np.arange(8)[:, None] + _LANES // 16 + _LANES // 16 * 16
"""For each register of D and lane, the lane that holds its row of A: one of the same half of the wave."""


def wmma(name: str, a: _Array, b: _Array, c: _Array) -> _Array:
    """Registers by lanes, u32: A, B, C and the result [8, 32]; C and the result in low halves where packed."""
    d = np.array(c, np.uint32)
    for k in range(8):
        d = dot2(name, a[k][_ROWS], np.broadcast_to(b[k], d.shape), d)
    return d


def integer_wmma(a: _Array, b: _Array, c: _Array, size: int, signed: tuple[bool, bool], clamp: bool) -> _Array:
    """Fields of `size` bits along k; A and B [2 or 4, 32]. Exact, then cut to 32 bits or, with clamp, saturated."""
    x, y = (_fields(m, size, s) for m, s in zip((a, b), signed, strict=True))
    d = np.empty((8, 32), np.uint32)
    for register in range(8):
        total = (x[:, _ROWS[register]] * y).sum(0) + np.asarray(c[register], np.uint32).view(np.int32)
        d[register] = (np.clip(total, -(2**31), 2**31 - 1) if clamp else total).astype(np.uint32)
    return d


def spread_wmma(add: Callable[..., _Array], a: _Array, b: _Array, c: _Array) -> _Array:
    """RDNA4's products: A and B [4, 32], lanes 0 to 15 with k from 0 to 7, the others with 8 to 15. add: a step, of two
    words of A, two of B and the accumulator. Its steps are k 0 to 3, 8 to 11, 4 to 7, 12 to 15."""
    columns = _LANES % 16
    d = np.array(c, np.uint32)
    for first in (0, 2):
        for half in (0, 16):
            words = [(a[w][_SPREAD + half], np.broadcast_to(b[w][columns + half], d.shape)) for w in (first, first + 1)]
            d = add([x for x, _ in words], [y for _, y in words], d)
    return d


def spread_integer(a: _Array, b: _Array, c: _Array, size: int, signed: tuple[bool, bool], clamp: bool) -> _Array:
    """The same of integers; registers of A and of B [1 or 2, 32]."""
    x, y = (_fields(m, size, s) for m, s in zip((a, b), signed, strict=True))
    total = np.asarray(c, np.uint32).view(np.int32).astype(np.int64)
    for half in (0, 16):
        total = total + (x[:, _SPREAD + half] * y[:, None, _LANES % 16 + half]).sum(0)
    return (np.clip(total, -(2**31), 2**31 - 1) if clamp else total).astype(np.uint32)


_SPREAD = np.arange(8)[:, None] + 8 * (_LANES // 16)
"""For each register of D and lane, the lower lane that holds its row of A."""


def _fields(matrix: _Array, size: int, signed: bool) -> _Array:
    """[16, 32] numbers along k."""
    words = np.asarray(matrix, np.int64)
    fields = np.concatenate([[word >> first & (1 << size) - 1 for first in range(0, 32, size)] for word in words])
    return fields - (fields >> size - 1 << size) if signed else fields
