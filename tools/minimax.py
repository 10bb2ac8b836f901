"""Minimax polynomials of the device mathematics: functions on intervals -> `kernels_hip/include/ocml/polynomials.h`.

Each fit is found by Remez' exchange at 80 digits (E. Remez, Comptes rendus 199, 1934): a polynomial whose error is
equal and of alternating sign at degree + 2 points; those points move to the extremes of the error until it is level. A
fit has a degree for float and one for double; its coefficients are rounded to double.

Limits: functions that are smooth on their interval; absolute error, as it matters for corrections of known terms.

    python -m tools.minimax         writes the header
    python -m tools.minimax NAME    says the error of one fit at both degrees
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mpmath import mp, mpf

HEADER = Path(__file__).parents[1] / "kernels_hip/include/ocml/polynomials.h"
DIGITS = 80
_TOP = """\
// Written by tools/minimax.py: minimax polynomials by Remez' exchange. __poly_NAME(x): approximates the function of its
// comment on its interval, with at most the absolute errors of the comment (float, double) before rounding.
#pragma once

namespace __own_math {
"""


@dataclass(frozen=True)
class Fit:
    """says: the function in words; degrees: for float and for double."""

    name: str
    says: str
    function: Callable[[mpf], mpf]
    low: mpf
    high: mpf
    degrees: tuple[int, int]


def _fits() -> list[Fit]:
    quarter, half_ln2 = mp.pi / 4, mp.log(2) / 2
    at = mpf(4)  # where t = 0 of erfcx

    def scaled_erfc(t: mpf) -> mpf:
        if t == 1:
            return 2 / mp.sqrt(mp.pi)
        x = at * (1 + t) / (1 - t)
        # erfc and exp both leave the range of the interval's end; the asymptotic series is exact enough there
        if x > 40:
            total, term = mpf(1), mpf(1)
            for k in range(1, 60):
                term *= -(2 * k - 1) / (2 * x * x)
                total += term
                if abs(term) < mpf(10) ** (-DIGITS):
                    break
            return (1 + 2 * x) * total / (x * mp.sqrt(mp.pi))
        return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)

    def inverse_erfc(p: mpf) -> mpf:
        y = mpf(0)
        for _ in range(200):  # Newton's method on the logarithm, which is concave
            tail = mp.erfc(y)
            step = (mp.log(tail) - mp.log(p)) * tail * mp.exp(y * y) * mp.sqrt(mp.pi) / 2
            y += step
            if abs(step) < mpf(10) ** -30:
                break
        return y

    def center(w: mpf) -> mpf:
        x = mp.sqrt(-mp.expm1(-w))
        return inverse_erfc(1 - x) / x

    def tail(v: mpf) -> mpf:
        return inverse_erfc(mp.exp(-1 / (v * v))) * v

    z = mpf(10) ** -20
    return [
        Fit("exp", "(exp(x) - 1 - x - x^2/2) / x^3", lambda x: (mp.expm1(x) - x - x * x / 2) / x**3,
            -half_ln2, half_ln2 + z, (4, 10)),
        Fit("atanh", "(atanh(s)/s - 1 - x/3) / x^2, x = s^2", lambda x: (mp.atanh(mp.sqrt(x)) / mp.sqrt(x) - 1 - x / 3)
            / x**2, z, (3 - 2 * mp.sqrt(2)) ** 2 * mpf("1.01"), (3, 7)),
        Fit("sin", "(sin(s)/s - 1) / x, x = s^2", lambda x: (mp.sin(mp.sqrt(x)) / mp.sqrt(x) - 1) / x,
            z, quarter**2 * mpf("1.01"), (3, 6)),
        Fit("cos", "(cos(s) - 1 + x/2) / x^2, x = s^2", lambda x: (mp.cos(mp.sqrt(x)) - 1 + x / 2) / x**2,
            z, quarter**2 * mpf("1.01"), (2, 5)),
        Fit("atan", "(atan(s)/s - 1) / x, x = s^2", lambda x: (mp.atan(mp.sqrt(x)) / mp.sqrt(x) - 1) / x,
            z, (mp.sqrt(2) - 1) ** 2 * mpf("1.01"), (5, 13)),
        Fit("asin", "(asin(s)/s - 1) / x, x = s^2", lambda x: (mp.asin(mp.sqrt(x)) / mp.sqrt(x) - 1) / x,
            z, mpf("0.2525"), (5, 12)),
        Fit("erf", "erf(s)/s - 2/sqrt(pi), over x = s^2", lambda x: (mp.erf(mp.sqrt(x)) / mp.sqrt(x)
            - 2 / mp.sqrt(mp.pi)) / x, z, mpf(1), (6, 11)),
        Fit("tanh", "(tanh(s)/s - 1) / x, x = s^2", lambda x: (mp.tanh(mp.sqrt(x)) / mp.sqrt(x) - 1) / x,
            z, mpf("0.4"), (5, 13)),
        Fit("log2_erfc", "log2(erfc(x))", lambda x: mp.log(mp.erfc(x), 2), mpf(1), mpf(4), (7, 20)),
        Fit("erfcx", "(1 + 2 s) erfcx(s) - 1, x = (s - 4) / (s + 4)", lambda t: scaled_erfc(t) - 1,
            mpf(-1), mpf(1), (13, 24)),
        Fit("erfinv", "erfinv(s)/s, x = -log(1 - s^2)", center, z, mpf(4), (4, 4)),
        Fit("erfcinv", "erfcinv(p) x, x = 1 / sqrt(-log(p))", tail, mpf("0.03"), mpf("0.72"), (6, 6)),
    ]  # fmt: skip


def remez(fit: Fit, degree: int) -> tuple[list[mpf], mpf]:
    """Coefficients, of x^0 first, and the largest error."""
    n = degree + 2
    middle, half = (fit.high + fit.low) / 2, (fit.high - fit.low) / 2
    points = [middle - half * mp.cos(mp.pi * i / (n - 1)) for i in range(n)]
    grid = [middle - half * mp.cos(mp.pi * mpf(i) / (24 * n)) for i in range(24 * n + 1)]
    values = [fit.function(x) for x in grid]
    coefficients: list[mpf] = []
    for _ in range(12):
        left = mp.matrix(n, n)
        for row, x in enumerate(points):
            u = (x - middle) / half
            for column in range(n - 1):
                left[row, column] = u**column
            left[row, n - 1] = (-1) ** row
        solved = mp.lu_solve(left, mp.matrix([fit.function(x) for x in points]))
        coefficients = [solved[i] for i in range(n - 1)]
        errors = [v - _value(coefficients, (x - middle) / half) for x, v in zip(grid, values, strict=True)]
        extremes: list[int] = []  # of each run of one sign, the largest
        for i, error in enumerate(errors):
            if extremes and (error > 0) == (errors[extremes[-1]] > 0):
                if abs(error) > abs(errors[extremes[-1]]):
                    extremes[-1] = i
            else:
                extremes.append(i)
        while len(extremes) > n:
            extremes.pop(0 if abs(errors[extremes[0]]) < abs(errors[extremes[-1]]) else -1)
        if len(extremes) < n:
            break
        points = [grid[i] for i in extremes]
        if max(map(abs, errors)) < abs(solved[n - 1]) * mpf("1.02"):
            break
    return _shifted(coefficients, middle, half), max(map(abs, errors))


def _value(coefficients: list[mpf], x: mpf) -> mpf:
    total = mpf(0)
    for c in reversed(coefficients):
        total = total * x + c
    return total


def _shifted(coefficients: list[mpf], middle: mpf, half: mpf) -> list[mpf]:
    """In x, of a polynomial in (x - middle) / half."""
    made = [mpf(0)] * len(coefficients)
    for c in reversed(coefficients):
        made = [(made[i - 1] if i else mpf(0)) / half - made[i] * middle / half for i in range(len(made))]
        made[0] += c
    return made


def text() -> str:
    """The header."""
    mp.dps = DIGITS
    parts = [_TOP]
    for fit in _fits():
        both = [remez(fit, degree) for degree in fit.degrees]
        lists = [", ".join(float(c).hex() for c in reversed(found)) for found, _ in both]
        errors = ", ".join(mp.nstr(error, 2) for _, error in both)
        parts.append(
            f"// {fit.says}, x from {mp.nstr(fit.low, 6)} to {mp.nstr(fit.high, 6)}; {errors}\n"
            f"template <class T> __own T __poly_{fit.name}(T x) {{\n"
            + _wrapped("    if constexpr (sizeof(T) == 4) return __horner(x, ", lists[0])
            + _wrapped("    else return __horner(x, ", lists[1])
            + "}\n"
        )
    return "".join([*parts, "} // namespace __own_math\n"])


def _wrapped(begin: str, words: str) -> str:
    lines = [begin]
    for word in (words + ");").split(" "):
        if len(lines[-1]) + len(word) > 118:
            lines[-1] = lines[-1].rstrip()
            lines.append("        ")
        lines[-1] += word + " "
    return "".join(line.rstrip() + "\n" for line in lines)


def main() -> None:
    mp.dps = DIGITS
    if names := sys.argv[1:]:
        for fit in _fits():
            if fit.name in names:
                for degree in fit.degrees:
                    print(fit.name, degree, mp.nstr(remez(fit, degree)[1], 3))
    else:
        HEADER.write_text(text())


if __name__ == "__main__":
    main()
