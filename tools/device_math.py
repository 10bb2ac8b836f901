"""Errors of the device mathematics in ULPs: each function runs on the simulated card over an array of edges and random
numbers, of half over all that there are, and is held against MPFR (by gmpy2) at 160 bits.

An error is |got - exact| / ulp(exact), the ULP that of the type at the exact value, denormals' below the normal range;
an infinity counts as the power of two that is one past the largest number. Zeros must have MPFR's sign, and NaN and
infinity must come where they are exact. Bounds are HIP's, https://rocm.docs.amd.com/projects/HIP/en/latest/reference/math_api.html
("Maximum error bounds"), over the whole domain of a function and not only the range of HIP's own test; where HIP gives
none, a bound of this project.

MPFR judges the edges and those of the random numbers whose errors are the largest against a quicker reference, which
has 10 bits more than the type: C's long double, for float the double function, for an inverse a step of Newton's method
from the result. Where none is known it judges all.

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
from hipgemm.kernels.files import read_kernel
from hipgemm.kernels.stages import compiled
from isa import toolchain

PRECISION = 160
Reference = Callable[..., Any]
TYPES: dict[str, Any] = {"float": np.float32, "double": np.float64, "half": np.float16}
FORMS = {"float": (24, 128, -149), "double": (53, 1024, -1074), "half": (11, 16, -24)}
"""Digits of each, and the exponents of the power of two beyond its largest number and of its smallest one."""


@dataclass(frozen=True)
class Function:
    """called: the call in HIP, `{f}` where float's name has an f, `{t}` its type, of x, y, z. bounds: of float and
    double, in ULPs. ranges: where half of the random numbers are, one pair an argument; the others are of any bits.
    absolute: an error of that many ULPs of 1 is right, too (near zeros of functions that HIP gives no bound). inside:
    all numbers are in the ranges. fast: of the errors the one counts that is largest in absolute terms, as in HIP's own
    measurements: for the forms that give up precision."""

    name: str
    called: str
    exact: Reference
    bounds: tuple[float, float]
    ranges: tuple[tuple[float, float], ...] = ((-10, 10),)
    absolute: float = 0
    types: tuple[str, ...] = ("float", "double")
    inside: bool = False
    fast: bool = False

    @property
    def arity(self) -> int:
        return len(self.ranges)


def _whole(rounded: Reference) -> Reference:
    return lambda x: gmpy2.copy_sign(mpfr(rounded(x)), x) if gmpy2.is_finite(x) else x


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


def _scaled_erfc(x: Any) -> Any:
    if not gmpy2.is_finite(x) or x > mpfr(2) ** 60:
        return 1 / (x * gmpy2.sqrt(gmpy2.const_pi())) if x > 0 else mpfr("inf") if x < 0 else x
    return gmpy2.exp(x * x) * gmpy2.erfc(x) if x < 100 else _erfcx_series(x)


def _erfcx_series(x: Any) -> Any:
    total, term = mpfr(1), mpfr(1)
    for k in range(1, 12):
        term *= -(2 * k - 1) / (2 * x * x)
        total += term
    return total / (x * gmpy2.sqrt(gmpy2.const_pi()))


def _inverse_erfc(p: Any) -> Any:
    """Newton's method on the logarithm of the smaller tail."""
    if not 0 < p < 2:
        return mpfr("inf") if p == 0 else -mpfr("inf") if p == 2 else mpfr("nan")
    if p == 1:
        return mpfr(0)
    with gmpy2.context(gmpy2.get_context(), precision=3 * PRECISION):
        tail = p if p < 1 else 2 - p
        log = gmpy2.log(tail)
        y, half = gmpy2.sqrt(-log) if tail < 0.1 else mpfr(0), gmpy2.sqrt(gmpy2.const_pi()) / 2
        for _ in range(100):
            at = gmpy2.erfc(y)
            step = (gmpy2.log(at) - log) * at * gmpy2.exp(y * y) * half
            y += step
            if abs(step) <= abs(y) * mpfr(2) ** -PRECISION:
                break
        return y if p < 1 else -y


def _inverse_erf(x: Any) -> Any:
    if x == 0 or abs(x) > 1 or gmpy2.is_nan(x):
        return x if x == 0 else mpfr("nan")
    with gmpy2.context(gmpy2.get_context(), precision=1300):
        a = abs(x)
        if a < mpfr(2) ** -60:
            y = a * gmpy2.sqrt(gmpy2.const_pi()) / 2
        else:
            with gmpy2.context(gmpy2.get_context(), precision=3 * PRECISION):
                y = _inverse_erfc(1 - a)
        return gmpy2.copy_sign(y, x)


def _normcdf(x: Any) -> Any:
    return gmpy2.erfc(-x / gmpy2.sqrt(mpfr(2))) / 2


def _inverse_normcdf(p: Any) -> Any:
    with gmpy2.context(gmpy2.get_context(), precision=2 * PRECISION):
        return -_inverse_erfc(2 * p) * gmpy2.sqrt(mpfr(2))


def _gamma(x: Any) -> Any:
    return mpfr("nan") if x < 0 and gmpy2.is_integer(x) else gmpy2.gamma(x)


def _log_gamma(x: Any) -> Any:
    return mpfr("inf") if gmpy2.is_infinite(x) or (x <= 0 and gmpy2.is_integer(x)) else gmpy2.lgamma(x)[0]


def _modified(order: int, x: Any) -> Any:
    """The Bessel functions I by their power series."""
    if not gmpy2.is_finite(x) or abs(x) > 800:
        return x if gmpy2.is_nan(x) else mpfr("inf") if order == 0 or x > 0 else -mpfr("inf")
    term = total = x / 2 if order else mpfr(1)
    for k in range(1, 3000):
        term *= x * x / 4 / (k * (k + order))
        total += term
        if abs(term) <= abs(total) * mpfr(2) ** -PRECISION:
            break
    return total


# What C's library has for x86's 80 bits, by NumPy: within one or two units of the last of 64 bits.
QUICK: dict[str, Callable[..., Any]] = {
    name: getattr(np, name)
    for name in "exp exp2 expm1 log log2 log10 log1p sqrt cbrt sin cos tan sinh cosh tanh hypot".split()
} | {
    "pow": np.power,
    "exp10": lambda x: np.power(np.longdouble(10), x),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "rcbrt": lambda x: 1 / np.cbrt(x),
    "rhypot": lambda x, y: 1 / np.hypot(x, y),
    **{f"a{name}": getattr(np, f"arc{name}") for name in "sin cos tan tan2 sinh cosh tanh".split()},
    "norm3d": lambda x, y, z: np.hypot(np.hypot(x, y), z),
    "rnorm3d": lambda x, y, z: 1 / np.hypot(np.hypot(x, y), z),
    "norm4d": lambda x, y, z: np.hypot(np.hypot(x, y), np.hypot(x, z)),
    "rnorm4d": lambda x, y, z: 1 / np.hypot(np.hypot(x, y), np.hypot(x, z)),
    "sincos": np.sin,
    "powi": lambda x, n: np.power(x, np.trunc(n)),
}
# What a function inverts, and by how much that grows. One step of Newton's method from a result that is right to a few
# units doubles its digits.
INVERSES: dict[str, tuple[Reference, Reference]] = {
    "erfinv": (gmpy2.erf, lambda y: 2 * gmpy2.exp(-y * y) / gmpy2.sqrt(gmpy2.const_pi())),
    "erfcinv": (gmpy2.erfc, lambda y: -2 * gmpy2.exp(-y * y) / gmpy2.sqrt(gmpy2.const_pi())),
    "normcdfinv": (_normcdf, lambda y: gmpy2.exp(-y * y / 2) / gmpy2.sqrt(2 * gmpy2.const_pi())),
}
JUDGED = 4096  # so many of the random numbers, at least


def _fast(name: str, called: str, exact: Reference, bound: float, *ranges: tuple[float, float]) -> Function:
    return Function(name, called, exact, (bound, bound), ranges, types=("float",), inside=True, fast=True)


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
    Function("erf", "erf{f}(x)", gmpy2.erf, (4, 4), ((-4, 4),)),
    Function("erfc", "erfc{f}(x)", gmpy2.erfc, (2, 2), ((-6, 27),)),
    Function("erfcx", "erfcx{f}(x)", _scaled_erfc, (5, 5), ((-6, 30),)),
    Function("erfinv", "erfinv{f}(x)", _inverse_erf, (3, 3), ((-1, 1),)),
    Function("erfcinv", "erfcinv{f}(x)", lambda p: _inverse_erfc(p), (3, 3), ((0, 2),)),
    Function("normcdf", "normcdf{f}(x)", _normcdf, (3, 3), ((-30, 6),)),
    Function("normcdfinv", "normcdfinv{f}(x)", _inverse_normcdf, (3, 3), ((0, 1),)),
    Function("tgamma", "tgamma{f}(x)", _gamma, (6, 6), ((-40, 36),)),
    Function("lgamma", "lgamma{f}(x)", _log_gamma, (4, 2), ((0, 20),), inside=True),
    Function("lgamma_below", "lgamma{f}(x)", _log_gamma, (4, 2), ((-30, 0),), absolute=1, inside=True),
    Function("j0", "j0{f}(x)", gmpy2.j0, (6, 6), ((-40, 40),), absolute=1),
    Function("j1", "j1{f}(x)", gmpy2.j1, (6, 6), ((-40, 40),), absolute=1),
    Function("y0", "y0{f}(x)", gmpy2.y0, (6, 6), ((0, 40),), absolute=1),
    Function("y1", "y1{f}(x)", gmpy2.y1, (6, 6), ((0, 40),), absolute=1),
    # By recurrence, so the bound is of some 40 steps.
    Function(
        "jn",
        "jn{f}((int)y, x)",
        lambda x, n: gmpy2.jn(int(float(n)), x),
        (64, 64),
        ((-40, 40), (-30, 30)),
        2,
        inside=True,
    ),
    Function(
        "yn",
        "yn{f}((int)y, x)",
        lambda x, n: gmpy2.yn(int(float(n)), x),
        (64, 64),
        ((0, 40), (-30, 30)),
        2,
        inside=True,
    ),
    Function("cyl_bessel_i0", "cyl_bessel_i0{f}(x)", lambda x: _modified(0, x), (6, 6), ((-90, 90),)),
    Function("cyl_bessel_i1", "cyl_bessel_i1{f}(x)", lambda x: _modified(1, x), (6, 6), ((-90, 90),)),
    Function("norm4d", "norm4d{f}(x, y, z, x)", lambda x, y, z: _norm(x, y, z, x), (2, 2), ((-10, 10),) * 3),
    Function("rnorm4d", "rnorm4d{f}(x, y, z, x)", lambda x, y, z: 1 / _norm(x, y, z, x), (2, 1), ((-10, 10),) * 3),
    Function(
        "powi", "powi{f}(x, (int)y)", lambda x, n: x ** mpfr(int(float(n))), (1, 1), ((-10, 10), (-40, 40)), inside=True
    ),
    Function(
        "sincos",
        "([&] { {t} s, c; sincos{f}(x, &s, &c); return s; })()",
        gmpy2.sin,
        (1, 1),
        ((-3, 3),),
        inside=True,
    ),
    Function("fabs", "fabs{f}(x)", abs, (0, 0)),
    Function("ceil", "ceil{f}(x)", _whole(gmpy2.ceil), (0, 0)),
    Function("floor", "floor{f}(x)", _whole(gmpy2.floor), (0, 0)),
    Function("trunc", "trunc{f}(x)", _whole(gmpy2.trunc), (0, 0)),
    Function("round", "round{f}(x)", _whole(gmpy2.rint_round), (0, 0)),
    Function("rint", "rint{f}(x)", _whole(gmpy2.rint), (0, 0)),
    Function("nearbyint", "nearbyint{f}(x)", _whole(gmpy2.rint), (0, 0)),
    Function("llrint", "({t})llrint{f}(x)", lambda x: mpfr(gmpy2.rint(x)) + 0, (0, 0), ((-1e6, 1e6),), inside=True),
    Function(
        "lround", "({t})lround{f}(x)", lambda x: mpfr(gmpy2.rint_round(x)) + 0, (0, 0), ((-1e6, 1e6),), inside=True
    ),
    Function("fdim", "fdim{f}(x, y)", lambda x, y: mpfr(0) if x <= y else x - y, (0, 0), ((-10, 10), (-3, 3))),
    Function(
        "fmax",
        "fmax{f}(x, y)",
        lambda x, y: y if gmpy2.is_nan(x) or x < y or (x == y and gmpy2.is_signed(x)) else x,
        (0, 0),
        ((-10, 10), (-3, 3)),
        inside=True,
    ),
    Function("fma", "fma{f}(x, y, z)", lambda x, y, z: gmpy2.fma(x, y, z), (0, 0), ((-100, 100), (-10, 10), (-10, 10))),
    Function("logb", "logb{f}(x)", lambda x: mpfr(gmpy2.frexp(x)[0] - 1), (0, 0), ((1e-6, 1e6),), inside=True),
    Function(
        "ldexp",
        "ldexp{f}(x, (int)y)",
        lambda x, n: x * mpfr(2) ** int(float(n)),
        (0, 0),
        ((-10, 10), (-200, 200)),
        inside=True,
    ),
    _fast("fast_sin", "__sinf(x)", gmpy2.sin, 18, (-3.14159, 3.14159)),
    # HIP's 4 is of its own samples: by the same formula, v_cos_f32 of a product with 1 / 2 pi, it is up to 8 near 2.09.
    _fast("fast_cos", "__cosf(x)", gmpy2.cos, 8, (-3.14159, 3.14159)),
    _fast("fast_exp", "__expf(x)", gmpy2.exp, 6, (-10, 10)),
    _fast("fast_exp10", "__exp10f(x)", gmpy2.exp10, 18, (-4, 4)),
    _fast("fast_log", "__logf(x)", gmpy2.log, 2, (1e-6, 1e6)),
    _fast("fast_log2", "__log2f(x)", gmpy2.log2, 1, (1e-6, 1e6)),
    _fast("fast_log10", "__log10f(x)", gmpy2.log10, 2, (1e-6, 1e6)),
    _fast("fast_pow", "__powf(x, y)", lambda x, y: x**y, 1, (0, 4), (-2, 2)),
] + [
    Function(f"h{name}", f"h{name}(x)", exact, (1, 1), types=("half",))
    for name, exact in {
        "exp": gmpy2.exp, "exp2": gmpy2.exp2, "exp10": gmpy2.exp10, "log": gmpy2.log, "log2": gmpy2.log2,
        "log10": gmpy2.log10, "sin": gmpy2.sin, "cos": gmpy2.cos, "sqrt": gmpy2.sqrt, "rcp": lambda x: 1 / x,
        "rsqrt": lambda x: 1 / gmpy2.sqrt(x), "ceil": _whole(gmpy2.ceil), "floor": _whole(gmpy2.floor),
        "tanh": gmpy2.tanh, "trunc": _whole(gmpy2.trunc), "rint": _whole(gmpy2.rint),
    }.items()
]  # fmt: skip


def source(functions: Sequence[Function]) -> str:
    """Kernels float_NAME, double_NAME or half_NAME of each, of three arrays and one for the results."""
    parts = ["#include <hip/hip_fp16.h>\n"]
    for f, name in [(g, t) for g in functions for t in g.types]:
        type_ = "__half" if name == "half" else name
        called = f.called.replace("{f}", "f" if type_ == "float" else "").replace("{t}", type_)
        parts.append(
            f'extern "C" __global__ void {name}_{f.name}(const {type_} *a, const {type_} *b, const {type_} *c, '
            f"{type_} *r, int n) {{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i >= n) return;\n"
            f"    {type_} x = a[i], y = b[i], z = c[i];\n    r[i] = {called};\n}}\n"
        )
    return "".join(parts)


def built(functions: Sequence[Function], folder: Path) -> Path:
    """Their code object, as the compiler makes it: no pass has a say, and nothing is to be proved."""
    file, image = folder / "functions.hip", folder / "functions.hsaco"
    file.write_text(source(functions))
    tools, kernel = toolchain.find(), read_kernel(str(file))
    compiled(kernel, "gfx1100", tools, kernel.flags, folder / "functions.s")
    image.write_bytes(tools.code_object((folder / "functions.s").read_text()))
    return image


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
    if type_ == "half":
        return [np.arange(1 << 16, dtype=np.uint16).view(T)]
    random = np.random.default_rng(seed)
    some = edges(type_)
    if f.inside:
        some = some[(some >= f.ranges[0][0]) & (some <= f.ranges[0][1])]
    if f.arity == 1:
        fixed = [some]
    else:
        if count <= 50000:  # some of them, and in any case what is like no other number
            info = np.finfo(T)
            ends = [0, 1, np.inf, info.max, info.tiny, info.smallest_subnormal]
            some = some[::5] if f.inside else np.concatenate([some[::5], T(ends), -T(ends), T([np.nan])])
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
    digits, most, least = FORMS[type_]
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


def _computed(f: Function, path: Path, type_: str, arguments: Sequence[np.ndarray]) -> np.ndarray:
    n = len(arguments[0])
    got = np.zeros(n, TYPES[type_])
    three = [arguments[min(i, f.arity - 1)].astype(TYPES[type_]) for i in range(3)]
    hipgemm.kernel(path, f"{type_}_{f.name}")(-(-n // 256), 256, *three, got, n)
    return got


def _stepped(name: str, argument: np.ndarray, got: np.ndarray) -> np.ndarray:
    forward, slope = INVERSES[name]
    made = np.zeros(len(got), np.longdouble)
    with gmpy2.context(gmpy2.get_context(), precision=128, emin=-100000, emax=100000):
        for i, (x, y) in enumerate(zip(argument.tolist(), map(mpfr, got.tolist()), strict=True)):
            stepped = y - (forward(y) - x) / slope(y)
            high = float(stepped)
            made[i] = np.longdouble(high) + float(stepped - high)
    return made


def _quick(f: Function, path: Path, type_: str, arguments: Sequence[np.ndarray], got: np.ndarray) -> np.ndarray | None:
    with np.errstate(all="ignore"):
        if f.name.removeprefix("fast_") in QUICK:
            return np.asarray(QUICK[f.name.removeprefix("fast_")](*(a.astype(np.longdouble) for a in arguments)))
        if type_ == "float" and "double" in f.types:
            return _computed(f, path, "double", arguments).astype(np.longdouble)
        return _stepped(f.name, arguments[0], got) if f.name in INVERSES else None


def _judged(
    f: Function, path: Path, type_: str, arguments: Sequence[np.ndarray], got: np.ndarray, random: int
) -> np.ndarray:
    """The places of the edges, and of the last `random` arguments those that are worst by the quick reference."""
    reference = _quick(f, path, type_, arguments, got) if random > JUDGED else None
    if reference is None:
        return np.arange(len(got))
    with np.errstate(all="ignore"):
        scale = np.where(np.isfinite(reference), -np.frexp(reference)[1], 0)
        scale = np.where(abs(scale) > 900, scale, 0)
        whole = np.ldexp(reference, scale)
        hi = whole.astype(np.float64)
        lo = np.where(np.isfinite(hi), whole - hi, 0).astype(np.float64)
        rough = np.abs(got - hi) if f.fast else ulps(f, type_, got, hi, lo, scale)
    rough = np.where(np.isnan(rough), np.inf, rough)
    rough[:-random] = np.inf
    return np.flatnonzero(rough >= np.partition(rough[-random:], -JUDGED)[-JUDGED])


def measure(functions: Sequence[Function], count: int, seed: int = 1) -> Iterator[tuple[Function, str, Worst]]:
    """The worst of each function and type over the edges and `count` random arguments."""
    pairs = [(f, type_) for f in functions for type_ in f.types]
    with tempfile.TemporaryDirectory() as folder:
        image = built(functions, Path(folder))
        for f, type_ in pairs:
            arguments = inputs(f, type_, count, seed)
            got = _computed(f, image, type_, arguments)
            judged = _judged(f, image, type_, arguments, got, min(count, len(got)))
            arguments, got = [a[judged] for a in arguments], got[judged]
            hi, lo, scale = exact(f, arguments)
            errors = ulps(f, type_, got, hi, lo, scale)
            errors = np.rint(errors) if f.fast else errors
            at = int(np.argmax(np.abs(got - hi - lo) if f.fast else errors))
            with np.errstate(over="ignore"):
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
