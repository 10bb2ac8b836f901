"""Exact arithmetic for `isa.semantics.reference.values`: sums rounded to odd, fractions rounded once, functions in
f64."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

_Array = Any
DTYPES: dict[str, Any] = {
    "b1": np.bool_, "u8": np.uint8, "i8": np.int8, "u16": np.uint16, "i16": np.int16, "u32": np.uint32,
    "i32": np.int32, "u64": np.uint64, "i64": np.int64, "f16": np.float16, "f32": np.float32, "f64": np.float64,
}  # fmt: skip


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "rcp": lambda x: 1.0 / x,
    "rsq": lambda x: 1.0 / np.sqrt(x),
    "exp2": np.exp2,
    "log2": np.log2,
}


def odd_sum(a: _Array, b: _Array, rounding: int) -> _Array:
    """a + b in f64, rounded to odd where it is not exact."""
    total = np.asarray(a + b)
    part = total - a
    error = (a - (total - part)) + (b - part)
    inexact = np.isfinite(total) & np.isfinite(error) & (error != 0) & ((total.view(np.uint64) & np.uint64(1)) == 0)
    nudged = np.nextafter(total, np.where(error > 0, np.inf, -np.inf))
    result = np.where(inexact, nudged, total)
    if rounding == 2:  # towards -inf an exact zero from numbers of different sign is -0
        result = np.where((result == 0) & (np.signbit(a) != np.signbit(b)), -0.0, result)
    return result


def round_fraction(exact: Fraction, type_: str, rounding: int) -> Any:
    """An exact number as a float of `type_`, rounded once."""
    dtype = DTYPES[type_]
    mantissa, lowest, top = {"f16": (11, -24, 65504.0), "f32": (24, -149, 3.4028234663852886e38)}.get(
        type_, (53, -1074, 1.7976931348623157e308)
    )
    if exact == 0:
        return dtype(0.0)
    magnitude = abs(exact)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if Fraction(2) ** exponent > magnitude:
        exponent -= 1
    grid = Fraction(2) ** max(exponent - mantissa + 1, lowest)
    steps, rest = divmod(magnitude, grid)
    away = rounding == (2 if exact < 0 else 1)
    if (rounding == 0 and (rest * 2 > grid or (rest * 2 == grid and steps % 2))) or (away and rest):
        steps += 1
    result = steps * grid
    overflow = math.inf if rounding == 0 or away else top
    number = overflow if result > Fraction(top) else float(result)
    return dtype(-number if exact < 0 else number)


def fraction_operation(a: float, b: float, kind: str, rounding: int) -> Fraction | float:
    if not (math.isfinite(a) and math.isfinite(b)) or (kind == "div" and b == 0):
        with np.errstate(all="ignore"):
            function = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}[kind]
            return float(function(np.float64(a), np.float64(b)))
    if kind == "sub":
        b, kind = -b, "add"
    if kind == "add":
        exact = Fraction(a) + Fraction(b)
        if exact == 0:
            same = math.copysign(1, a) == math.copysign(1, b)
            return a if same else -0.0 if rounding == 2 else 0.0
        return exact
    exact = Fraction(a) * Fraction(b) if kind == "mul" else Fraction(a) / Fraction(b)
    return exact if exact else math.copysign(0.0, math.copysign(1, a) * math.copysign(1, b))


def fraction_fma(a: float, b: float, c: float, rounding: int) -> Fraction | float:
    if not all(map(math.isfinite, (a, b, c))):
        if math.isfinite(a) and math.isfinite(b):
            return c + 0.0  # a signalling NaN becomes quiet
        with np.errstate(all="ignore"):
            return float(np.float64(a) * np.float64(b) + np.float64(c))
    product = Fraction(a) * Fraction(b)
    if product == 0 or product + Fraction(c) == 0:
        sign = math.copysign(1, a) * math.copysign(1, b)
        if product == 0 and c != 0:
            return Fraction(c)
        return c if product == 0 and math.copysign(1, c) == sign else -0.0 if rounding == 2 else 0.0
    return product + Fraction(c)


def directed_root(x: float, near: float, type_: str, rounding: int) -> Any:
    dtype = DTYPES[type_]
    result = dtype(near)
    if not math.isfinite(near) or near == 0:
        return result
    square = Fraction(float(result)) ** 2
    if rounding == 1 and square < Fraction(x):
        return np.nextafter(result, dtype(np.inf))
    if rounding in (2, 3) and square > Fraction(x):
        return np.nextafter(result, dtype(0))
    return result
