"""What the texts call and do not define, from the ISA guide's prose: see each function.

Conversions from floats to integers cut off towards zero and saturate, a NaN becomes 0 (RDNA3 ISA guide 16.8,
V_CVT_I32_F32). Transcendental functions are the exact value, rounded once: computed in f64 and rounded, which differs
from that once in some 2**28 operands for f32.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable

from pcode import floats
from pcode.floats import FINITE, INFINITE, NAN, AnyZero, Exact
from pcode.values import Value, cast, flag, integer, rounded

Function = Callable[..., Value]
FUNCTIONS: dict[str, Function] = {}


def _function(name: str) -> Callable[[Function], Function]:
    def keep(f: Function) -> Function:
        FUNCTIONS[name] = f
        return f

    return keep


def _float(name: str, f: Callable[[Exact], Exact]) -> None:
    FUNCTIONS[name] = lambda a: rounded(a.kind, a.width, f(a.exact))


# --- questions


def _quiet(a: Value) -> bool:
    return bool(a.bits & a.form.quiet)


FUNCTIONS["isNAN"] = lambda a: flag(a.is_nan)
FUNCTIONS["isQuietNAN"] = lambda a: flag(a.is_nan and _quiet(a))
FUNCTIONS["isSignalNAN"] = lambda a: flag(a.is_nan and not _quiet(a))
FUNCTIONS["isDENORM"] = lambda a: flag(a.form.is_denormal(a.bits))
FUNCTIONS["isEven"] = lambda a: flag(a.exact[0] == FINITE and floats.integer(a.exact) % 2 == 0)
FUNCTIONS["oppositeZeros"] = lambda a, b: flag({a.bits, b.bits} == {0, a.form.sign})
FUNCTIONS["sign"] = lambda a: Value("U", 1, a.bits >> a.width - 1)


@_function("cvtToQuietNAN")
def _(a: Value) -> Value:
    return Value(a.kind, a.width, a.bits | a.form.quiet)


@_function("exponent")
def _(a: Value) -> Value:
    """The exponent's field, with its bias."""
    form = a.form
    return integer("I", 32, (a.bits & form.sign - 1) >> form.mantissa)


# --- numbers. The excuses' own words: alignedDot2, exactFma, oppositeZeros, rndne, rsqrt, sin2pi, cos2pi, flushed,
# predecessor.

_float("trunc", floats.truncated)
_float("floor", floats.whole)
_float("rndne", floats.nearest)
_float("fract", lambda x: floats.add(x, floats.negated(floats.whole(x))))
_float("sqrt", floats.root)
_float("rsqrt", lambda x: floats.divide(floats.from_int(1), floats.root(x)))
FUNCTIONS["abs"] = lambda a: Value(a.kind, a.width, a.bits & a.form.sign - 1, a.loose)


FUNCTIONS["flushed"] = lambda a: Value(a.kind, a.width, a.bits & a.form.sign) if a.form.is_denormal(a.bits) else a
FUNCTIONS["predecessor"] = lambda a: Value(a.kind, a.width, a.bits - 1)


@_function("exactFma")
def _(a: Value, b: Value, c: Value) -> Value:
    """a b + c, not rounded yet."""
    return Value("R", 0, floats.add(floats.multiply(a.exact, b.exact), c.exact))


@_function("alignedDot2")
def _(a0: Value, b0: Value, a1: Value, b1: Value, c: Value) -> Value:
    """a0 b0 + a1 b1 + c as a gfx1100 adds: exact products, terms cut to a common grid, one rounding.

    The grid lies 24 bits below the greater product (by its factors' exponents as encoded) or 26 below the addend. A
    term of the other sign than the addend's counts as the complement of its size, even a zero. bf16 and f32 have no
    denormals, a result that vanishes is +0, and a bf16 result is the upper half of an f32's.
    """
    if c.kind == "BF":
        whole = FUNCTIONS["alignedDot2"](a0, b0, a1, b1, cast(c, "F", 32))
        return cast(whole, "BF", 16) if whole.loose else Value("BF", 16, whole.bits >> 16)
    flush = FUNCTIONS["flushed"]
    factors = [(x.exact if a0.kind == "F" else flush(x).exact) for x in (a0, b0, a1, b1)]
    addend = c.exact if c.width == 16 else flush(c).exact
    products = [floats.multiply(*factors[:2]), floats.multiply(*factors[2:])]
    if any(kind != FINITE for kind, *_ in (*products, addend)):
        return rounded(c.kind, c.width, floats.add(floats.add(*products), addend))
    _, negative, size, low = addend
    encoded = low + 10 if c.width == 16 else low + size.bit_length() - 1
    grids = [encoded - 26] if size or c.width == 16 else []
    grids += [e + 2 * a0.form.mantissa - 24 for _, _, m, e in products if m]
    if not any(m for _, _, m, _ in (*products, addend)):
        return rounded(c.kind, c.width, (FINITE, 0, 0, 0))
    grid, total = max(grids), 0
    for _, sign, m, e in (*products, addend):
        units = m << e - grid if e >= grid else m >> grid - e
        total += units if sign == negative else ~units
    sign = int(negative ^ (total < 0)) if total else 0
    found = rounded(c.kind, c.width, (FINITE, sign, abs(total), grid))
    none = found.bits & 0x7F800000 == 0 if c.width == 32 else found.bits == 0x8000
    return Value("F", c.width, 0) if none else found


@_function("fma")
def _(a: Value, b: Value, c: Value) -> Value:
    return rounded(a.kind, a.width, floats.add(floats.multiply(a.exact, b.exact), c.exact))


@_function("mantissa")
def _(a: Value) -> Value:
    """The number scaled by a power of two into [0.5, 1), with its sign."""
    kind, sign, m, _ = a.exact
    return rounded(a.kind, a.width, (kind, sign, m, -m.bit_length()))


@_function("ldexp")
def _(a: Value, n: Value) -> Value:
    kind, sign, m, e = a.exact
    return rounded(a.kind, a.width, (kind, sign, m, e + n.number))


def _transcendental(name: str, f: Callable[[float], float]) -> None:
    def body(*arguments: Value) -> Value:
        a = arguments[-1]  # pow(2, a)
        kind, sign, *_ = a.exact
        if kind == NAN:
            return rounded(a.kind, a.width, a.exact)
        x = floats.to_float(a.exact) if kind == FINITE else (-math.inf if sign else math.inf)
        result = f(x)
        if math.isnan(result):
            return rounded(a.kind, a.width, (NAN, 0, 0, 0))
        return rounded(a.kind, a.width, floats.from_float(result))

    FUNCTIONS[name] = body


def _log2(x: float) -> float:
    return math.nan if x < 0 else -math.inf if x == 0 else math.inf if x == math.inf else math.log2(x)


def _turn(x: float, quarters: int) -> float:
    """The sine of 2 pi x + `quarters` quarters of a turn: x is reduced to an eighth before pi comes in."""
    if math.isinf(x):
        return math.nan
    within = math.fmod(x, 1.0)
    nearest = round(within * 4)
    rest = (within - nearest / 4) * 2 * math.pi + 0.0
    quadrant = (nearest + quarters) % 4
    value = math.cos(rest) if quadrant & 1 else math.sin(rest)
    return -value if quadrant & 2 else value


_transcendental("pow", lambda x: math.inf if x >= 1024 else 2.0**x)
_transcendental("log2", _log2)
_transcendental("sin", lambda x: math.nan if math.isinf(x) else math.sin(x))
_transcendental("cos", lambda x: math.nan if math.isinf(x) else math.cos(x))
_transcendental("cos2pi", lambda x: _turn(x, 1) + 0.0)
_transcendental("sine", lambda x: _turn(x, 0))


@_function("sin2pi")
def _(a: Value) -> Value:
    """Which zero stands at half turns nobody says."""
    found = FUNCTIONS["sine"](a)
    if a.exact[0] != FINITE or floats.to_float(a.exact) % 1.0 != 0.5:
        return found
    return found._replace(loose=((0, AnyZero(*dataclasses.astuple(found.form))),))


# --- conversions


def _saturated(a: Value, kind: str, width: int, number: Exact | None = None) -> Value:
    """A float as an integer of a type."""
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if kind == "I" else (0, (1 << width) - 1)
    if a.is_nan:
        return integer(kind, width, 0)
    x = a.exact if number is None else number
    if x[0] == INFINITE:
        return integer(kind, width, low if x[1] else high)
    return integer(kind, width, min(max(floats.integer(x), low), high))


def _normal(a: Value, kind: str, width: int) -> Value:
    """snorm: [-1, 1] to +-32767, unorm: [0, 1] to 65535; to the nearest even integer."""
    scale = floats.from_int((1 << width - 1) - 1 if kind == "I" else (1 << width) - 1)
    x = floats.nearest(floats.multiply(a.exact, scale))
    found = _saturated(a, kind, width, x)
    return integer(kind, width, max(found.number, 1 - (1 << width - 1))) if kind == "I" else found


def conversion(name: str) -> Function | None:
    """f32_to_i32 and its kind, by name: of a value and a rounding."""
    m = re.fullmatch(r"(?:v_cvt_)?(bf|fp|[uif])(\d+)_(?:(bf|[uif])(\d+)|to_(?:(bf|fp|[uif])(\d+)|(snorm|unorm)))", name)
    if m is None:
        return None
    if name.startswith("v_cvt_"):  # v_cvt_i16_f32: the result's type first
        kind, width = m[1].upper(), int(m[2])
        return lambda a, rounding: _saturated(a, kind, width)
    if m[7]:
        return lambda a, rounding: _normal(a, "I" if m[7] == "snorm" else "U", 16)
    from_, kind, width = m[1].upper(), m[5].upper(), int(m[6])

    def body(a: Value, rounding: int) -> Value:
        if kind in ("F", "FP", "BF"):
            return rounded(kind, width, a.exact, rounding)
        if from_ == "F":
            return _saturated(a, kind, width)
        low, high = (-(1 << width - 1), (1 << width - 1) - 1) if kind == "I" else (0, (1 << width) - 1)
        return integer(kind, width, min(max(a.number, low), high))

    return body


@_function("signext")
def _(a: Value) -> Value:
    return integer("I", 64, a.number)


@_function("signext_from_bit")
def _(a: Value, count: Value) -> Value:
    """The low `count` bits as a signed number; 0 for none."""
    n = count.number
    if n >= a.width:
        return a
    bits = a.bits & (1 << n) - 1
    return integer(a.kind, a.width, bits - (1 << n) if n and bits >> n - 1 else bits)


@_function("s_ff1_i32_b32")
def _(a: Value) -> Value:
    """The number of the lowest one."""
    return integer("I", 32, (a.bits & -a.bits).bit_length() - 1)


def two_over_pi(digits: int) -> int:
    """The first `digits` binary digits of 2 / pi after the point."""
    more = digits + 64
    one = 1 << more

    def arctan_inverse(n: int) -> int:
        total = term = one // n
        sign, k = -1, 3
        while term:
            term //= n * n
            total += sign * (term // k)
            sign, k = -sign, k + 2
        return total

    pi = 4 * (4 * arctan_inverse(5) - arctan_inverse(239))
    return ((2 << 2 * more) // pi) >> 64
