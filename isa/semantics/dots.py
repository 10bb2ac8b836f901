"""Sums of products, V_DOT2_* and V_WMMA_*: products and an accumulator -> their sum, on any engine's Values.

The products are exact, but what is added is aligned and cut before. E(p) is the sum of the exponents of a product's
factors as they are encoded (at least 1, without bias), e(c) that of the accumulator.

**RDNA3**, two products (characterised on cards: ROCm/rocm-systems, issue 12056 and rocjitsu's gfx11_dot2.h; a W7900's
results stand in the tests):

    grid   the largest of E(p) - 24 and e(c) - 26, over the terms that are not 0; an f16 accumulator always counts
    sum    of each term's size in units of 2**grid, the rest cut off; where its sign is not c's, minus that, minus one
           (the complement instead of the negative, and so for a zero as well)
    result the sum, times c's sign, rounded once to nearest even; no term at all, or a result of 0, is +0

f32 results below the smallest normal number are +0, decided after the rounding; f16 results may be denormal. Denormal
bf16 and f32 operands are zeros, denormal f16 operands are not. bf16 results are f32 results cut to their upper half.

**RDNA4**, two products (V_DOT2_*) or four (V_WMMA_*; ROCm/rocm-systems, rocjitsu, gfx12_dot.h; 145 results of a Radeon
AI PRO R9700 stand in the tests):

    pair   neighbours: both exact products are cut (floor) to the grid 2**(E - 24), E the larger of the two, and added
    grid   the largest of E - 24 over all products and of max(-126, e(c)) - 26; of an f16 accumulator max(-14, e(c))
    sum    pairs and accumulator are cut (floor) to the grid and added; an accumulator that loses all its bits counts
           0, but where the grid is 2**-126 or finer a negative one counts -1
    result the sum rounded once to nearest even; a sum of 0 is +0. A bf16 result is an f32 result cut to its upper half

Denormal numbers are kept. What the NaNs of 16-bit results are is not known from a card; they are those of RDNA3.

MODE says nothing of either. Special values, in this order: a factor that is a NaN gives ffc00a3d; infinity times zero,
and infinite products of both signs, ffc00000; a NaN as accumulator stays, quiet; then infinities as everywhere.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from isa.semantics.values import RDNA4_SUMS, Value, select

_FAR = -(1 << 12)
"""The exponent of what is 0: none is as small."""


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


@dataclass(frozen=True)
class _Factor:
    """size: 13 bits; place: of its last one, an infinity's and a NaN's above any number's; sign: a word's first bit."""

    size: Value
    place: Value
    sign: Value
    infinite: Value
    nan: Value


_Pair = tuple[_Factor, _Factor]


def step(name: str, a: Sequence[Value], b: Sequence[Value], c: Value) -> Value:
    """a, b: words of two factors each, one of them or, on RDNA4, two; c and the result: bits in a word. name: of
    `KINDS`, with RDNA4_SUMS where it adds as RDNA4 does."""
    kind, rdna4 = KINDS[name.removesuffix(RDNA4_SUMS)], name.endswith(RDNA4_SUMS)
    wide = kind.packed and kind.factor == "bf16"  # worked on as f32
    half = kind.packed and not wide
    c = c << 16 if wide else c
    pairs = [
        (_factor(kind, x >> shift, rdna4), _factor(kind, y >> shift, rdna4))
        for x, y in zip(a, b, strict=True)
        for shift in (0, 16)
    ]
    result = _special(kind, pairs, c, (_rdna4 if rdna4 else _rdna3)(pairs, c, half), half)
    return result >> 16 if wide else result


def _factor(kind: DotKind, word: Value, denormals: bool) -> _Factor:
    """The lower half of a word. denormals: of bf16, whether they are kept."""
    field, rest = (word >> kind.fraction) & kind.top, word & (1 << kind.fraction) - 1
    tiny = rest if denormals or kind.factor == "f16" else 0
    size = select(field == 0, tiny, rest | 1 << kind.fraction) << 12 - kind.fraction
    place = field.bits("i32").larger(1) - (kind.bias + 12)
    top = field == kind.top
    return _Factor(size, place, word << 16, top & (rest == 0), top & (rest != 0))


def _product(x: _Factor, y: _Factor) -> tuple[Value, Value]:
    """Its size, i32, and the place of that's last bit, E - 24."""
    size = ((x.size & 0x3FFF) * (y.size & 0x3FFF)).bits("i32")  # which lets LLVM multiply halves
    return size, select((x.size == 0) | (y.size == 0), _FAR, x.place + y.place)


def _accumulator(c: Value, half: bool) -> tuple[Value, Value, Value]:
    """(size, the place of its last bit, e - 26, a word whose first bit is the sign)."""
    fraction, top, bias = (10, 31, 15) if half else (23, 255, 127)
    field, rest = (c >> fraction) & top, c & (1 << fraction) - 1
    size = select(field == 0, rest, rest | 1 << fraction) << 26 - fraction
    return size.bits("i32"), field.bits("i32").larger(1) - (bias + 26), (c << 16 if half else c)


def _rdna3(pairs: Sequence[_Pair], c: Value, half: bool) -> Value:
    size, place, sign = _accumulator(c, half)
    if not half:
        normal = size >= 1 << 26
        size, place = select(normal, size, 0), select(normal, place, _FAR)
    products = [_product(*pair) for pair in pairs]
    grid = products[0][1].larger(products[1][1]).larger(place)
    total = _cut(size, grid - place)
    for (x, y), (product, place) in zip(pairs, products, strict=True):
        other = (x.sign ^ y.sign ^ sign).bits("i32") >> 31
        total = total + (_cut(product, grid - place) ^ other)
    if half:
        result = _rounded(total, grid, 10) ^ ((sign >> 16) & 0x8000)
        return select((result & 0x7FFF) == 0, 0, result)
    bits = total.to("f32").bits("u32")
    size = bits & 0x7FFFFFFF
    place = (size >> 23).bits("i32") + grid
    number = select(place > 254, 0x7F800000, size + (grid.bits("u32") << 23))
    return select((place < 1) | (total == 0), 0, number | ((bits ^ sign) & 1 << 31))


def _rdna4(pairs: Sequence[_Pair], c: Value, half: bool) -> Value:
    sums = []
    products = [_product(*pair) for pair in pairs]
    for i in range(0, len(pairs), 2):
        top = products[i][1].larger(products[i + 1][1])
        parts = [
            _cut(select((x.sign ^ y.sign).bits("i32") < 0, -size, size), top - place)
            for (x, y), (size, place) in zip(pairs[i : i + 2], products[i : i + 2], strict=True)
        ]
        sums.append((parts[0] + parts[1], top))
    size, place, sign = _accumulator(c, half)
    grid = functools.reduce(lambda a, b: a.larger(b), [top for _, top in sums], place)
    total = _kept(size, grid - place, sign.bits("i32") < 0, grid)
    for part, top in sums:
        total = total + _cut(part, grid - top)
    return _rounded(total, grid, 10 if half else 23)


def _cut(a: Value, by: Value) -> Value:
    """a / 2**by, towards minus infinity; by is not negative."""
    return a >> by.bits("u32").smaller(31)


def _kept(size: Value, by: Value, negative: Value, grid: Value) -> Value:
    signed = select(negative, -size, size)
    lost = _cut(size, by) == 0
    tiny = negative & (size != 0) & (grid <= -126)
    return select(lost, -tiny.to("u32").bits("i32"), _cut(signed, by))


def _rounded(total: Value, grid: Value, fraction: int) -> Value:
    """total * 2**grid as the bits of an f32 or f16, to nearest even."""
    sign = (total < 0).to("u32")
    size = select(total < 0, -total, total).bits("u32")
    least, most = (-24, 0x7C00) if fraction == 10 else (-149, 0x7F800000)
    # Of two bits that follow each other one is left, so that the conversion rounds up to no power of two.
    near = (size & ~(size >> 1)).bits("i32").to("f32")
    first = (near.bits("u32") >> 23).bits("i32") - 127
    shift = (first - fraction).larger(least - grid)
    down = shift.larger(1).smaller(31).bits("u32")
    half = (size & 0 | 1) << (down - 1)
    rounded = (size + (half - 1) + ((size >> down) & 1)) >> down
    up = (-shift).larger(0).smaller(31).bits("u32")
    number = select(shift > 0, rounded, size << up)
    bits = (((grid + shift - least).bits("u32") << fraction) + number).smaller(most)
    return select(size == 0, 0, bits | (sign << (15 if fraction == 10 else 31)))


def _special(kind: DotKind, pairs: Sequence[_Pair], c: Value, result: Value, half: bool) -> Value:
    fraction, top_bit = (10, 1 << 15) if half else (23, 1 << 31)
    infinity = top_bit - (1 << fraction)
    up = 16 if kind.packed and not half else 0
    factors = [factor for pair in pairs for factor in pair]
    nan = _any([factor.nan for factor in factors])
    wrong = _any([(x.infinite & (y.size == 0)) | (y.infinite & (x.size == 0)) for x, y in pairs])
    infinite = [(x.infinite | y.infinite, (x.sign ^ y.sign).bits("i32")) for x, y in pairs]
    plus = _any([some & (sign >= 0) for some, sign in infinite])
    minus = _any([some & (sign < 0) for some, sign in infinite])
    wrong = wrong | (plus & minus)
    plus, minus = plus | (c == infinity), minus | (c == infinity | top_bit)
    for condition, bits in (
        (plus, infinity),
        (minus, infinity | top_bit),
        (plus & minus, kind.made_nan << up),
        ((c & (top_bit - 1)) > infinity, c | 1 << fraction - 1),
        (wrong, kind.made_nan << up),
        (nan, kind.factor_nan << up),
    ):
        result = select(condition, bits, result)
    return result


def _any(conditions: Sequence[Value]) -> Value:
    return functools.reduce(lambda a, b: a | b, conditions)
