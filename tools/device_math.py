"""Errors of the device mathematics in ULPs: each function runs on the simulated card over an array of edges and random
numbers, and is held against MPFR (by gmpy2) at 160 bits.

An error is |got - exact| / ulp(exact), the ULP that of the type at the exact value, denormals' below the normal range;
an infinity counts as the power of two that is one past the largest number. Zeros must have MPFR's sign, and NaN and
infinity must come where they are exact. Bounds are HIP's, https://rocm.docs.amd.com/projects/HIP/en/latest/reference/math_api.html
("Maximum error bounds"), over the whole domain of a function and not only the range of HIP's own test; where HIP gives
none, a bound of this project.

    python -m tools.device_math [--count N] [NAME...]       a line a function and type: the largest error, and where
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gmpy2
import numpy as np
from gmpy2 import mpfr

import hipgemm

PRECISION = 160
Reference = Callable[..., Any]
TYPES: dict[str, Any] = {"float": np.float32, "double": np.float64}


@dataclass(frozen=True)
class Function:
    """called: the call in HIP, `{f}` where float's name has an f, of x, y, z. bounds: of float and double, in ULPs.
    ranges: where half of the random numbers are, one pair an argument; the others are of any bits. absolute: an error
    of that many ULPs of 1 is right, too (near zeros of functions that HIP gives no bound). inside: all numbers are in
    the ranges."""

    name: str
    called: str
    exact: Reference
    bounds: tuple[float, float]
    ranges: tuple[tuple[float, float], ...] = ((-10, 10),)
    absolute: float = 0
    types: tuple[str, ...] = ("float", "double")
    inside: bool = False

    @property
    def arity(self) -> int:
        return len(self.ranges)


def _rounded(x: Any, to: Callable[[float], float]) -> Any:
    return mpfr(to(float(x))) if gmpy2.is_finite(x) else x


def _pown(x: Any, n: Any) -> Any:
    return x ** int(n)


def _norm(*parts: Any) -> Any:
    if any(gmpy2.is_infinite(p) for p in parts):
        return mpfr("inf")
    return gmpy2.sqrt(sum((p * p for p in parts), mpfr(0)))


def _pi_times(function: Callable[[Any], Any], sine: bool) -> Callable[[Any], Any]:
    def exact(x: Any) -> Any:
        if not gmpy2.is_finite(x):
            return mpfr("nan")
        turned = gmpy2.fmod(x, 2)
        if gmpy2.is_integer(turned * 2):  # exactly 0 or 1
            n = int(turned * 2) % 4
            sign = gmpy2.copy_sign(mpfr(0), x)
            return (sign, mpfr(1), sign, mpfr(-1))[n] if sine else mpfr((1, 0, -1, 0)[n])
        return function(turned * gmpy2.const_pi(PRECISION))

    return exact


TRIG = ((-10, 10),)
FUNCTIONS = [
    Function("exp", "exp{f}(x)", gmpy2.exp, (1, 1), ((-104, 90),)),
    Function("exp2", "exp2{f}(x)", gmpy2.exp2, (1, 1), ((-150, 130),)),
    Function("exp10", "exp10{f}(x)", gmpy2.exp10, (1, 1), ((-46, 40),)),
    Function("expm1", "expm1{f}(x)", gmpy2.expm1, (1, 1), ((-20, 90),)),
    Function("log", "log{f}(x)", gmpy2.log, (2, 1), ((0, 3),)),
    Function("log2", "log2{f}(x)", gmpy2.log2, (1, 1), ((0, 3),)),
    Function("log10", "log10{f}(x)", gmpy2.log10, (2, 1), ((0, 3),)),
    Function("log1p", "log1p{f}(x)", gmpy2.log1p, (1, 1), ((-1, 3),)),
    Function("pow", "pow{f}(x, y)", lambda x, y: x**y, (1, 1), ((0, 4), (-80, 80))),
    Function("sqrt", "sqrt{f}(x)", gmpy2.sqrt, (1, 1), ((0, 100),)),
    Function("rsqrt", "rsqrt{f}(x)", lambda x: 1 / gmpy2.sqrt(x), (1, 1), ((0, 100),)),
    Function("cbrt", "cbrt{f}(x)", gmpy2.cbrt, (2, 1), ((-100, 100),)),
    Function("rcbrt", "rcbrt{f}(x)", lambda x: 1 / gmpy2.cbrt(x), (1, 1), ((-100, 100),)),
    Function("sin", "sin{f}(x)", gmpy2.sin, (1, 1), TRIG),
    Function("cos", "cos{f}(x)", gmpy2.cos, (1, 1), TRIG),
    Function("tan", "tan{f}(x)", gmpy2.tan, (1, 1), TRIG),
    Function("sinpi", "sinpi{f}(x)", _pi_times(gmpy2.sin, True), (2, 2), ((-3, 3),)),
    Function("cospi", "cospi{f}(x)", _pi_times(gmpy2.cos, False), (1, 2), ((-3, 3),)),
    Function("asin", "asin{f}(x)", gmpy2.asin, (2, 1), ((-1, 1),)),
    Function("acos", "acos{f}(x)", gmpy2.acos, (1, 1), ((-1, 1),)),
    Function("atan", "atan{f}(x)", gmpy2.atan, (2, 1), ((-10, 10),)),
    Function("atan2", "atan2{f}(x, y)", gmpy2.atan2, (1, 1), ((-4, 4), (-2, 2))),
    Function("sinh", "sinh{f}(x)", gmpy2.sinh, (1, 1), ((-90, 90),)),
    Function("cosh", "cosh{f}(x)", gmpy2.cosh, (1, 1), ((-90, 90),)),
    Function("tanh", "tanh{f}(x)", gmpy2.tanh, (2, 1), ((-10, 10),)),
    Function("asinh", "asinh{f}(x)", gmpy2.asinh, (1, 1), ((-10, 10),)),
    Function("acosh", "acosh{f}(x)", gmpy2.acosh, (1, 1), ((1, 100),)),
    Function("atanh", "atanh{f}(x)", gmpy2.atanh, (1, 1), ((-1, 1),)),
    Function("hypot", "hypot{f}(x, y)", gmpy2.hypot, (1, 1), ((-10, 10), (0, 10))),
    Function("rhypot", "rhypot{f}(x, y)", lambda x, y: 1 / gmpy2.hypot(x, y), (1, 1), ((-10, 10), (0, 10))),
    Function("norm3d", "norm3d{f}(x, y, z)", _norm, (1, 1), ((-10, 10),) * 3),
    Function("rnorm3d", "rnorm3d{f}(x, y, z)", lambda *a: 1 / _norm(*a), (1, 1), ((-10, 10),) * 3),
    Function("fmod", "fmod{f}(x, y)", gmpy2.fmod, (0, 0), ((-100, 100), (-3, 3))),
    Function("remainder", "remainder{f}(x, y)", gmpy2.remainder, (0, 0), ((-100, 100), (-3, 3))),
]


def source(f: Function) -> str:
    """Kernels float_NAME and double_NAME, of three arrays and one for the results."""
    parts = ["#include <hip/hip_runtime.h>\n"]
    for type_ in f.types:
        called = f.called.replace("{f}", "f" if type_ == "float" else "")
        parts.append(
            f'extern "C" __global__ void {type_}_{f.name}(const {type_} *a, const {type_} *b, const {type_} *c, '
            f"{type_} *r, int n) {{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i >= n) return;\n"
            f"    {type_} x = a[i], y = b[i], z = c[i];\n    r[i] = {called};\n}}\n"
        )
    return "".join(parts)


def edges(type_: str) -> np.ndarray:
    """Numbers at which functions go wrong, with their neighbours and of both signs."""
    T = TYPES[type_]
    info = np.finfo(T)
    near: list[Any] = [
        info.smallest_subnormal,
        info.tiny,
        info.max,
        info.eps,
        1 / info.eps,
        0.25,
        0.5,
        0.75,
        1,
        1.5,
        2,
        3,
    ]
    near += [4, 10, 100, 1e5, 2**15, 2**16, 2**28, 2**31, 2**33, 2**63, 0.41421356, 0.70710678, 4 / 3]
    near += [k * np.pi / 4 for k in (1, 2, 3, 4, 5, 6, 8, 100, 10**5, 10**9)]
    near += [
        np.log(2) / 2,
        np.log(2),
        np.log(float(info.max)),
        -np.log(float(info.tiny)),
        103.97,
        745.13,
        127,
        128,
        149,
    ]
    near += [1023, 1024, 1074, 38.5, 308.25, 44.85, 323.3, 20, 22, 30, 88.7, 709.78, 171.62, 35.04, 27.2, 5.9]
    near += [16367173 * 2.0**72 if type_ == "float" else 6381956970095103 * 2.0**797]  # nearest to a multiple of pi / 2
    middle = np.array([x for x in near if x <= float(info.max)], T)
    with np.errstate(over="ignore"):
        all_ = np.concatenate([middle, np.nextafter(middle, T(np.inf)), np.nextafter(middle, T(0)), T([0, np.inf])])
    return np.concatenate([all_, -all_, T([np.nan])])


def inputs(f: Function, type_: str, count: int, seed: int = 1) -> list[np.ndarray]:
    """Edges (of two arguments all pairs of them) and as many random numbers, an array an argument."""
    T = TYPES[type_]
    random = np.random.default_rng(seed)
    some = edges(type_)
    if f.inside:
        some = some[(some >= f.ranges[0][0]) & (some <= f.ranges[0][1])]
    if f.arity == 1:
        fixed = [some]
    else:
        some = some[:: 1 if count > 50000 else 5]
        fixed = [grid.ravel() for grid in np.meshgrid(*[some[:: 1 if f.arity == 2 else 9]] * f.arity)]
    made = []
    for (low, high), edge in zip(f.ranges, fixed, strict=True):
        within = random.uniform(low, high, count).astype(T)
        bits = (
            random.integers(0, 2**32, count, np.uint32)
            if T is np.float32
            else random.integers(0, 2**64, count, np.uint64)
        )
        chosen = np.where(random.random(count) < (1.0 if f.inside else 0.5), within, bits.view(T))
        near = (random.random(count) < 0.05) & (not f.inside)
        steps = random.integers(-60, 3, count).astype(T)
        chosen = np.where(near, np.sign(within) * (random.integers(0, 2, count) + np.exp2(steps)).astype(T), chosen)
        made.append(np.concatenate([edge, chosen.astype(T)]))
    return made


def exact(f: Function, arguments: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The results as hi + lo, of float64, times 2^-scale."""
    count = len(arguments[0])
    hi, lo, scale = np.zeros(count), np.zeros(count), np.zeros(count, int)
    with gmpy2.context(gmpy2.get_context(), precision=PRECISION, emin=-100000, emax=100000):
        with np.errstate(invalid="ignore"):  # NaNs that signal
            wide = [a.astype(np.float64).tolist() for a in arguments]
        for i, values in enumerate(zip(*wide, strict=True)):
            result = f.exact(*map(mpfr, values))
            if result != 0 and gmpy2.is_finite(result) and not 1e-280 < abs(result) < 1e280:
                scale[i] = 400 if abs(result) < 1 else -400
                result *= mpfr(2) ** int(scale[i])
            hi[i] = high = float(result)
            lo[i] = float(result - high) if abs(high) < np.inf else 0
    return hi, lo, scale


def ulps(f: Function, type_: str, got: np.ndarray, hi: np.ndarray, lo: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """The error of each result; infinite where a NaN, an infinity or a zero's sign is wrong."""
    digits, most, least = (24, 128, -149) if type_ == "float" else (53, 1024, -1074)
    with np.errstate(all="ignore"):
        unit = np.clip(np.frexp(hi)[1] - scale - digits, least, most - digits)
        finite = np.where(np.isinf(got), np.copysign(1, got), got.astype(np.float64))
        value = np.where(np.isinf(got) & ~np.isinf(hi), np.ldexp(finite, most + scale), np.ldexp(finite, scale))
        apart = np.abs((value - hi) - lo)
        error = np.ldexp(apart, -(unit + scale))
        if f.absolute:
            error = np.minimum(error, np.ldexp(apart, digits - 1 - scale) / f.absolute * max(f.bounds))
        beyond = np.ldexp(np.abs(hi), -most - scale) >= 1 - 2.0 ** (-1 - digits)
        same = (np.sign(got) == np.sign(hi)) & np.isinf(got) & beyond | np.isnan(hi) & np.isnan(got)
        zero = (hi == 0) & ((got != 0) | (np.signbit(hi) != np.signbit(got)))
        return np.where(same, 0, np.where(zero | (np.isnan(hi) != np.isnan(got)), np.inf, error))


@dataclass(frozen=True)
class Worst:
    """error: in ULPs; at: the arguments; got, wanted: the result and what it should be."""

    error: float
    at: tuple[float, ...]
    got: float
    wanted: float


def measure(functions: Sequence[Function], count: int, seed: int = 1) -> Iterator[tuple[Function, str, Worst]]:
    """The worst of each function and type over the edges and `count` random arguments."""
    with tempfile.TemporaryDirectory() as folder:
        for f in functions:
            path = Path(folder) / f"{f.name}.hip"
            path.write_text(source(f))
            for type_ in f.types:
                arguments = inputs(f, type_, count, seed)
                n = len(arguments[0])
                got = np.zeros(n, TYPES[type_])
                three = [arguments[min(i, f.arity - 1)] for i in range(3)]
                hipgemm.kernel(path, f"{type_}_{f.name}")(-(-n // 256), 256, *three, got, n)
                hi, lo, scale = exact(f, arguments)
                errors = ulps(f, type_, got, hi, lo, scale)
                at = int(np.argmax(errors))
                wanted = float(np.ldexp(hi[at], -scale[at]))
                yield f, type_, Worst(float(errors[at]), tuple(float(a[at]) for a in arguments), float(got[at]), wanted)


def bound(f: Function, type_: str) -> float:
    """In ULPs; half of one where HIP says 0, which is right rounding."""
    return max(f.bounds[type_ == "double"], 0.5)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    chosen = [f for f in FUNCTIONS if not given.names or f.name in given.names]
    bad = 0
    for f, type_, worst in measure(chosen, given.count, given.seed):
        wrong = worst.error > bound(f, type_)
        bad += wrong
        at = ", ".join(value.hex() for value in worst.at)
        print(f"{'!' if wrong else ' '} {type_:6} {f.name:12} {worst.error:8.3f} of {bound(f, type_):3}  at {at}: "
              f"{worst.got!r}, exactly {worst.wanted!r}", flush=True)  # fmt: skip
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
