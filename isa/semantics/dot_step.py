"""A step of RDNA4's sums of products, V_DOT2_* and V_WMMA_*: products and an accumulator -> their sum, on any engine's
Values, in integers.

Characterised on cards (ROCm/rocm-systems, rocjitsu, gfx12_dot.h); 145 results of a Radeon AI PRO R9700 stand in the
tests. E(p) is the sum of the exponents of a product's factors, e(c) that of the accumulator.

    pair   neighbours: both exact products are cut (floor) to the grid 2**(E - 24), E the larger of the two, and added
    grid   the largest of E - 24 over all products and of max(-126, e(c)) - 26; of an f16 accumulator max(-14, e(c))
    sum    pairs and accumulator are cut (floor) to the grid and added; an accumulator that loses all its bits counts
           0, but where the grid is 2**-126 or finer a negative one counts -1
    result the sum rounded once to nearest even; a sum of 0 is +0. A bf16 result is an f32 result cut to its upper half

Denormal numbers are kept, whatever MODE says. Special values, in this order: a factor that is a NaN gives ffc00a3d;
infinity times zero, and infinities of both signs, ffc00000; a NaN as accumulator stays, quiet; then infinities as
everywhere. What the NaNs of 16-bit results are is not known from a card; they are those of an RDNA3 card.

A step takes 2 products (V_DOT2_*) or 4 (V_WMMA_*).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from isa.semantics.reference.dots import KINDS, DotKind
from isa.semantics.values import Number, Value, select

_FAR = -(1 << 12)
"""E of a product that is 0: none is as small."""


@dataclass(frozen=True)
class _Factor:
    """size: 13 bits, 2**12 is 1; exponent: an infinity's and a NaN's above any number's."""

    size: Value
    exponent: Value
    negative: Value
    infinite: Value
    nan: Value


def step(name: str, a: Sequence[Value], b: Sequence[Value], c: Value) -> Value:
    """a, b: words of two factors each, one or two of them; c and the result: bits in a word. name: of `KINDS`."""
    kind = KINDS[name]
    wide = kind.packed and kind.factor == "bf16"
    half = kind.packed and not wide
    c = c << 16 if wide else c
    pairs = [
        (_factor(kind, (x >> shift) & 0xFFFF), _factor(kind, (y >> shift) & 0xFFFF))
        for x, y in zip(a, b, strict=True)
        for shift in (0, 16)
    ]
    places = [select((x.size == 0) | (y.size == 0), _FAR, x.exponent + y.exponent) for x, y in pairs]
    sums, tops = [], []
    for i in range(0, len(pairs), 2):
        top = _larger(places[i], places[i + 1])
        parts = [_cut(_product(*pairs[n]), top - places[n]) for n in (i, i + 1)]
        sums.append(parts[0] + parts[1])
        tops.append(top)
    size, exponent, negative = _accumulator(c, half)
    grid = exponent - 26
    for top in tops:
        grid = _larger(grid, top - 24)
    total = _kept(size, grid - (exponent - 26), negative, grid)
    for part, top in zip(sums, tops, strict=True):
        total = total + _cut(part, grid - (top - 24))
    result = _rounded(total, grid, 10 if half else 23)
    result = _special(kind, pairs, c, result, half)
    return result >> 16 if wide else result


def _factor(kind: DotKind, bits: Value) -> _Factor:
    field, rest = (bits >> kind.fraction) & kind.top, bits & (1 << kind.fraction) - 1
    size = select(field == 0, rest, rest | 1 << kind.fraction) << 12 - kind.fraction
    exponent = _larger(field.bits("i32"), 1) - kind.bias
    top = field == kind.top
    return _Factor(size, exponent, (bits >> 15) == 1, top & (rest == 0), top & (rest != 0))


def _product(x: _Factor, y: _Factor) -> Value:
    """In units of 2**(E - 24), i32."""
    size = (x.size * y.size).bits("i32")
    return select(x.negative ^ y.negative, -size, size)


def _accumulator(c: Value, half: bool) -> tuple[Value, Value, Value]:
    """(size in units of 2**(e - 26), e, whether it is negative)."""
    fraction, top, bias = (10, 31, 15) if half else (23, 255, 127)
    field, rest = (c >> fraction) & top, c & (1 << fraction) - 1
    size = select(field == 0, rest, rest | 1 << fraction) << 26 - fraction
    return size.bits("i32"), _larger(field.bits("i32"), 1) - bias, ((c >> fraction) > top)


def _larger(a: Value, b: Number) -> Value:
    return select(a > b, a, b)


def _cut(a: Value, by: Value) -> Value:
    """a / 2**by, towards minus infinity; by is not negative."""
    return a >> select(by > 31, 31, by)


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
    shift = _larger((31 - fraction - size.clz().bits("i32")), least - grid)
    down = select(shift > 31, 31, _larger(shift, 1)).bits("u32")
    kept = size >> down
    rest, middle = size - (kept << down), (size & 0 | 1) << (down - 1)
    near = kept + ((rest > middle) | ((rest == middle) & ((kept & 1) == 1))).to("u32")
    up = _larger(-shift, 0).bits("u32")
    number = select(shift > 0, near, size << select(up > 31, 31, up))
    bits = ((grid + shift - least).bits("u32") << fraction) + number
    bits = select(bits > most, most, bits)
    return select(size == 0, 0, bits | (sign << (15 if fraction == 10 else 31)))


def _special(kind: DotKind, pairs: Sequence[tuple[_Factor, _Factor]], c: Value, result: Value, half: bool) -> Value:
    fraction, top_bit = (10, 1 << 15) if half else (23, 1 << 31)
    infinity = top_bit - (1 << fraction)
    up = 16 if kind.packed and not half else 0
    made, factor_nan = (kind.made_nan << up, kind.factor_nan << up)
    x, y = pairs[0]
    nan, wrong, plus, minus = x.nan & ~x.nan, x.nan & ~x.nan, c == infinity, c == infinity | top_bit
    products = [nan, nan]
    for x, y in pairs:
        nan = nan | x.nan | y.nan
        wrong = wrong | (x.infinite & (y.size == 0)) | (y.infinite & (x.size == 0))
        some, negative = x.infinite | y.infinite, x.negative ^ y.negative
        products = [products[0] | (some & ~negative), products[1] | (some & negative)]
    plus, minus = plus | products[0], minus | products[1]
    for condition, bits in (
        (plus, infinity),
        (minus, infinity | top_bit),
        (plus & minus, made),
        ((c & (top_bit - 1)) > infinity, c | 1 << fraction - 1),
        (wrong | (products[0] & products[1]), made),
        (nan, factor_nan),
    ):
        result = select(condition, bits, result)
    return result
