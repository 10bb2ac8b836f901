"""Binary floating point by exact integers: what a pattern means, and the pattern that an exact number rounds to.

A number is (class, sign, m, e) with class FINITE, INFINITE or NAN, and the value (-1)**sign * m * 2**e.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass

FINITE, INFINITE, NAN = range(3)
EVEN, ZERO = 0, 3
Exact = tuple[int, int, int, int]


@dataclass(frozen=True)
class Format:
    """width in bits, exponent bits, mantissa bits."""

    width: int
    exponent: int
    mantissa: int

    @property
    def bias(self) -> int:
        return (1 << self.exponent - 1) - 1

    @property
    def infinity(self) -> int:
        return ((1 << self.exponent) - 1) << self.mantissa

    @property
    def quiet(self) -> int:
        return 1 << self.mantissa - 1

    @property
    def sign(self) -> int:
        return 1 << self.width - 1

    @property
    def nan(self) -> int:
        return self.infinity | self.quiet

    @property
    def largest(self) -> int:
        return self.infinity - 1

    def is_nan(self, bits: int) -> bool:
        return bits & (self.sign - 1) > self.infinity

    def is_infinite(self, bits: int) -> bool:
        return bits & (self.sign - 1) == self.infinity

    def leaves_open(self, bits: int) -> bool:
        """Whether these bits may stand where a result is open, in this way."""
        return self.is_nan(bits)

    def is_denormal(self, bits: int) -> bool:
        return 0 < bits & (self.sign - 1) < 1 << self.mantissa


class AnyZero(Format):
    """Where a result is a zero of either sign."""

    def leaves_open(self, bits: int) -> bool:
        return bits & (self.sign - 1) == 0


class Finite(Format):
    """Without infinities (OCP E4M3): all ones are the only NaN, and what overflows."""

    infinity = nan = property(lambda self: self.sign - 1)
    largest = property(lambda self: self.sign - 2)

    def is_nan(self, bits: int) -> bool:
        return bits & (self.sign - 1) == self.nan

    def is_infinite(self, bits: int) -> bool:
        return False


F16, F32, F64 = Format(16, 5, 10), Format(32, 8, 23), Format(64, 11, 52)
BF16 = Format(16, 8, 7)
FORMATS = {("F", 16): F16, ("F", 32): F32, ("F", 64): F64, ("BF", 16): BF16, ("BF", 8): Format(8, 5, 2)}
FORMATS["FP", 8] = Finite(8, 4, 3)


def unpack(form: Format, bits: int) -> Exact:
    """What a pattern means; of a NaN m is the mantissa with its quiet bit."""
    sign = bits >> form.width - 1 & 1
    mantissa = bits & (1 << form.mantissa) - 1
    exponent = bits >> form.mantissa & (1 << form.exponent) - 1
    if form.is_nan(bits) or form.is_infinite(bits):
        return (NAN if form.is_nan(bits) else INFINITE), sign, mantissa, 0
    least = 1 - form.bias - form.mantissa
    if exponent == 0:
        return FINITE, sign, mantissa, least
    return FINITE, sign, mantissa | 1 << form.mantissa, least + exponent - 1


def pack(form: Format, number: Exact, rounding: int = EVEN) -> int:
    """The pattern that an exact number rounds to; the quiet NaN for a NaN."""
    kind, sign, m, e = number
    top = sign << form.width - 1
    if kind == NAN:
        return form.nan
    if kind == INFINITE:
        return top | form.infinity
    if m == 0:
        return top
    least = 1 - form.bias - form.mantissa
    place = max(e + m.bit_length() - form.mantissa - 1, least)
    shift = place - e
    if shift > m.bit_length() + 1:
        kept = 0
    elif shift <= 0:
        kept = m << -shift
    else:
        kept, rest = m >> shift, m & (1 << shift) - 1
        half = 1 << shift - 1
        if rounding == EVEN and (rest > half or (rest == half and kept & 1)):
            kept += 1
    # A mantissa with its leading one counts one more in the exponent's field: one that overflows goes there, too.
    bits = kept + (place - least << form.mantissa)
    if bits > form.largest:
        bits = form.infinity if rounding == EVEN else form.largest
    return top | bits


def convert(to: Format, form: Format, bits: int) -> int:
    """The number in another format; a NaN keeps sign, quiet bit and the upper payload."""
    kind, sign, m, _ = number = unpack(form, bits)
    if kind != NAN:
        return pack(to, number)
    shift = to.mantissa - form.mantissa
    moved = m << shift if shift >= 0 else m >> -shift
    return sign << to.width - 1 | to.infinity | (moved or 1)


def negated(a: Exact) -> Exact:
    return a[0], a[1] ^ 1, a[2], a[3]


def add(a: Exact, b: Exact) -> Exact:
    """a + b; a zero that two numbers cancel to is +0."""
    if NAN in (a[0], b[0]) or (a[0] == b[0] == INFINITE and a[1] != b[1]):
        return NAN, 0, 0, 0
    if INFINITE in (a[0], b[0]):
        return a if a[0] == INFINITE else b
    e = min(a[3], b[3])
    x, y = (n[2] << n[3] - e for n in (a, b))
    total = (-x if a[1] else x) + (-y if b[1] else y)
    sign = a[1] & b[1] if total == 0 else int(total < 0)
    return FINITE, sign, abs(total), e


def multiply(a: Exact, b: Exact) -> Exact:
    sign = a[1] ^ b[1]
    if NAN in (a[0], b[0]):
        return NAN, 0, 0, 0
    if INFINITE in (a[0], b[0]):
        zero = any(n[0] == FINITE and n[2] == 0 for n in (a, b))
        return (NAN, 0, 0, 0) if zero else (INFINITE, sign, 0, 0)
    return FINITE, sign, a[2] * b[2], a[3] + b[3]


_DIGITS = 200  # of a quotient or root; a last one says whether anything was cut off


def divide(a: Exact, b: Exact) -> Exact:
    sign = a[1] ^ b[1]
    if NAN in (a[0], b[0]) or (a[0] == b[0] == INFINITE):
        return NAN, 0, 0, 0
    if a[0] == INFINITE or b[0] == INFINITE:
        return (INFINITE, sign, 0, 0) if a[0] == INFINITE else (FINITE, sign, 0, 0)
    if b[2] == 0:
        return (NAN, 0, 0, 0) if a[2] == 0 else (INFINITE, sign, 0, 0)
    shift = _DIGITS + b[2].bit_length()
    quotient, rest = divmod(a[2] << shift, b[2])
    return FINITE, sign, quotient << 1 | (rest > 0), a[3] - b[3] - shift - 1


def root(a: Exact) -> Exact:
    """The square root, cut off after 200 bits with a last bit that says so."""
    kind, sign, m, e = a
    if kind == NAN or (kind == FINITE and m == 0):
        return a
    if sign:
        return NAN, 0, 0, 0
    if kind == INFINITE:
        return a
    shift = 2 * _DIGITS + (e & 1)
    kept = math.isqrt(m << shift)
    return FINITE, 0, kept << 1 | (kept * kept != m << shift), (e - shift) // 2 - 1


def order(a: Exact, b: Exact) -> int | None:
    """-1, 0, 1; None where one is a NaN."""
    if NAN in (a[0], b[0]):
        return None
    if a[0] == FINITE and b[0] == FINITE:
        e = min(a[3], b[3])
        x, y = ((-n[2] if n[1] else n[2]) << n[3] - e for n in (a, b))
        return (x > y) - (x < y)
    x, y = ((-1 if n[1] else 1) if n[0] == INFINITE else 0 for n in (a, b))
    return (x > y) - (x < y)


def whole(a: Exact) -> Exact:
    """Towards minus infinity."""
    kind, sign, m, e = a
    if kind != FINITE or e >= 0:
        return a
    kept = m >> -e
    if sign and kept << -e != m:
        kept += 1
    return FINITE, sign, kept, 0


def truncated(a: Exact) -> Exact:
    """Towards zero; the sign stays."""
    kind, sign, m, e = a
    return a if kind != FINITE or e >= 0 else (FINITE, sign, m >> -e, 0)


def nearest(a: Exact) -> Exact:
    """To the nearest integer, to the even one of two; the sign stays."""
    kind, sign, m, e = a
    if kind != FINITE or e >= 0:
        return a
    kept, rest, half = m >> -e, m & (1 << -e) - 1, 1 << -e - 1
    return FINITE, sign, kept + (rest > half or (rest == half and kept & 1)), 0


def integer(a: Exact) -> int:
    """A finite number towards zero, as an int."""
    _, sign, m, e = truncated(a)
    return -(m << e) if sign else m << e


def from_float(x: float) -> Exact:
    """A Python float, which is an f64."""
    return unpack(F64, struct.unpack("<Q", struct.pack("<d", x))[0])


def from_int(x: int) -> Exact:
    return FINITE, int(x < 0), abs(x), 0


def to_float(a: Exact) -> float:
    """The nearest f64 as a Python float."""
    return float(struct.unpack("<d", struct.pack("<Q", pack(F64, a)))[0])
