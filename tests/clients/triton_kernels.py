"""Triton kernels of many kinds on the simulated card, each against NumPy. Run by tools/clients.py; alone:

    hipgemm simulate -- python tests/clients/triton_kernels.py --json out.json [--only WORD]

A case launches kernels and returns what they gave beside what NumPy gives, with how far apart the two may be: in units
of the last place of the result's type, of a magnitude that is the result's own, or for sums the sum of the magnitudes
of their terms. What is written: whether each is right, the predicted time of its launches, and the faults that lint
finds in the code objects of Triton's cache. Under `simulate --check` each launch is checked, and no time is known.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import triton
import triton.language as tl
from hipgemm_triton import tensor
from triton.language.extra import libdevice

BF16, E4M3, E5M2 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
CASES: dict[str, Callable[[], Any]] = {}
KINDS: dict[str, str] = {}
"""By case; each stands below the call of `kind` that names it."""
NOW = [""]


def kind(name: str) -> None:
    NOW[0] = name


def case(function: Callable[..., Any], name: str = "") -> Callable[..., Any]:
    title = (name or function.__name__).strip("_").replace("_", " ")
    CASES[title], KINDS[title] = function, NOW[0]
    return function


def cases(function: Callable[..., None], **each: Any) -> None:
    """A case for each name: what the function is called with, a dict at the end by name."""
    for name, given in each.items():
        *words, last = given if isinstance(given, tuple) else (given,)
        more = last if isinstance(last, dict) else {}
        case(partial(function, *words, *([] if more else [last]), **more), name)


def near(got: np.ndarray, want: Any, units: float = 0, of: Any = None) -> None:
    """Each element within `units` units of the last place of its type, of magnitude `of` (else its own)."""
    want64 = np.asarray(want, np.float64)
    got64 = got.astype(np.float64)
    assert got64.shape == want64.shape, (got64.shape, want64.shape)
    if units == 0:
        wrong = ~((got64 == want64) | (np.isnan(got64) & np.isnan(want64)))
    else:
        info = ml_dtypes.finfo(got.dtype)
        scale = np.abs(want64) if of is None else np.asarray(of, np.float64)
        bound = units * (float(info.eps) * scale + float(info.smallest_subnormal))
        wrong = ~((np.abs(got64 - want64) <= bound) | (got64 == want64) | (np.isnan(got64) & np.isnan(want64)))
    if wrong.any():
        at = tuple(int(i[0]) for i in np.nonzero(wrong))
        raise AssertionError(f"{int(wrong.sum())} of {wrong.size} wrong, first {at}: {got64[at]!r}, not {want64[at]!r}")


RNG = np.random.default_rng(15)


def normal(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return RNG.standard_normal(shape).astype(dtype)


def ints(low: int, high: int, *shape: int, dtype: Any = np.int32) -> np.ndarray:
    return RNG.integers(low, high, shape, dtype=dtype)


kind("elementwise")


@triton.jit
def add_kernel(x, y, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i, i < n) + tl.load(y + i, i < n), i < n)


def _add(dtype: Any, wide: Any = np.float64) -> None:
    x, y = normal(1000, dtype=dtype), normal(1000, dtype=dtype)
    o = np.zeros_like(x)
    add_kernel[(4,)](x, y, o, 1000, B=256)
    near(o, (x.astype(wide) + y.astype(wide)).astype(dtype))


cases(_add, add_fp32=np.float32, add_fp16=np.float16, add_bf16=(BF16, np.float32), add_fp64=np.float64)


@case
def add_int8_wraps() -> None:
    x, y = ints(-128, 128, 999, dtype=np.int8), ints(-128, 128, 999, dtype=np.int8)
    o = np.zeros_like(x)
    add_kernel[(4,)](x, y, o, 999, B=256)
    near(o, x + y)


@triton.jit
def map_kernel(x, o, n, OP: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, i < n)
    if OP == "exp":
        v = tl.exp(v)
    elif OP == "log":
        v = tl.log(v)
    elif OP == "sin":
        v = tl.sin(v)
    elif OP == "cos":
        v = tl.cos(v)
    elif OP == "sqrt":
        v = tl.sqrt_rn(v)
    elif OP == "rsqrt":
        v = tl.rsqrt(v)
    elif OP == "erf":
        v = tl.erf(v)
    elif OP == "tanh":
        v = libdevice.tanh(v)
    elif OP == "floor":
        v = tl.floor(v) + tl.ceil(v)
    elif OP == "sigmoid":
        v = tl.sigmoid(v)
    elif OP == "gelu":
        v = 0.5 * v * (1 + tl.erf(v * 0.70710678118654752))
    elif OP == "pow":
        v = libdevice.pow(v, tl.full(v.shape, 1.5, v.dtype))
    elif OP == "atan":
        v = libdevice.atan(v)
    elif OP == "cast":
        v = v
    tl.store(o + i, v.to(o.dtype.element_ty), i < n)


def _map(
    op: str, units: float, want: Callable[[Any], Any], given: Callable[[Any], Any] = lambda v: v, of: Any = None,
    dtype: Any = np.float32,
) -> None:  # fmt: skip
    """given: the arguments of normal numbers; want, of: of the arguments in fp64."""
    x = given(normal(1000 if dtype is np.float32 else 500, dtype=dtype))
    o, wide = np.zeros_like(x), x.astype(np.float64)
    map_kernel[(triton.cdiv(x.size, 256),)](x, o, x.size, OP=op, B=256)
    near(o, want(wide), units, of(wide) if callable(of) else of)


erf = np.vectorize(math.erf)
cases(
    _map,
    exp=("exp", 3 + 16, np.exp, lambda v: v * 4),  # 2 units of exp2, and its argument rounded once
    log=("log", 4, np.log, lambda v: np.abs(v) + 0.1, lambda x: np.abs(np.log(x)) + 0.1),
    sin=("sin", 4, np.sin, lambda v: v * 100, 1),
    cos=("cos", 4, np.cos, lambda v: v * 100, 1),
    sqrt_rounded_right=("sqrt", 0, lambda x: np.sqrt(x.astype(np.float32)), np.abs),
    rsqrt=("rsqrt", 2, lambda x: 1 / np.sqrt(x), lambda v: np.abs(v) + 0.01),
    erf=("erf", 16, erf),
    erf_fp64=("erf", 16, erf, {"dtype": np.float64}),
    tanh=("tanh", 16, np.tanh, {"of": 1}),
    floor_and_ceil=("floor", 0, lambda x: np.floor(x) + np.ceil(x), lambda v: v * 10),
    sigmoid=("sigmoid", 16, lambda x: 1 / (1 + np.exp(-x)), lambda v: v * 3),
    gelu=("gelu", 16, lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2))), {"of": np.abs}),
    pow_fp64=("pow", 8, lambda x: x**1.5, np.abs, {"dtype": np.float64}),
    atan=("atan", 8, np.arctan, lambda v: v * 3),
)


def _cast(source: Any, to: Any) -> None:
    x = normal(1024, dtype=source)
    o = np.zeros(1024, to)
    map_kernel[(4,)](x, o, 1024, OP="cast", B=256)
    want = x.astype(np.float32).astype(to)
    near(o, want)


cases(
    _cast, cast_fp32_to_bf16=(np.float32, BF16), cast_bf16_to_fp16=(BF16, np.float16),
    cast_fp8e5_to_fp32=(E5M2, np.float32), cast_fp8e4nv_to_fp32=(E4M3, np.float32),
    cast_fp16_to_fp8e5=(np.float16, E5M2), cast_fp32_to_fp8e4nv=(np.float32, E4M3),
)  # fmt: skip


@triton.jit
def integer_kernel(x, y, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i, i < n)
    b = tl.load(y + i, i < n, other=1)
    tl.store(o + i, a // b, i < n)
    tl.store(o + n + i, a % b, i < n)
    tl.store(o + 2 * n + i, (a << 3) ^ (b >> 2) | (a & b), i < n)
    tl.store(o + 3 * n + i, tl.where(a > b, a, -b) + tl.minimum(a, b) * tl.maximum(a, b), i < n)


def _c_division(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    quotient = np.abs(x) // np.abs(y) * np.sign(x) * np.sign(y)
    return quotient, x - quotient * y


def _integers(dtype: Any) -> None:
    x, y = ints(-5000, 5000, 500, dtype=dtype), ints(1, 70, 500, dtype=dtype)
    o = np.zeros((4, 500), dtype)
    integer_kernel[(1,)](x, y, o, 500, B=512)
    quotient, rest = _c_division(x, y)
    want = [quotient, rest, (x << 3) ^ (y >> 2) | (x & y), np.where(x > y, x, -y) + np.minimum(x, y) * np.maximum(x, y)]
    assert np.array_equal(o, np.stack(want).astype(dtype))


cases(_integers, integers_of_32_bits=np.int32, integers_of_64_bits=np.int64, integers_of_16_bits=np.int16)


@triton.jit
def umulhi_kernel(x, y, o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, tl.umulhi(tl.load(x + i), tl.load(y + i)))


@case
def high_half_of_products() -> None:
    x, y = ints(0, 1 << 32, 256, dtype=np.uint32), ints(0, 1 << 32, 256, dtype=np.uint32)
    o = np.zeros_like(x)
    umulhi_kernel[(1,)](x, y, o, B=256)
    assert np.array_equal(o, (x.astype(np.uint64) * y >> np.uint64(32)).astype(np.uint32))


@triton.jit
def nan_kernel(x, y, o, B: tl.constexpr):
    i = tl.arange(0, B)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(o + i, tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL))
    tl.store(o + B + i, tl.minimum(a, b))
    tl.store(o + 2 * B + i, tl.clamp(a, -1.0, 1.0))


@case
def nan_and_extremes() -> None:
    x, y = normal(256), normal(256)
    x[::7], y[::5] = np.nan, np.nan
    o = np.zeros((3, 256), np.float32)
    nan_kernel[(1,)](x, y, o, B=256)
    near(o[0], np.maximum(x, y))
    near(o[1], np.fmin(x, y))
    there = ~np.isnan(x)
    near(o[2][there], np.clip(x, -1, 1)[there])


kind("moving data")


@triton.jit
def transpose_kernel(x, o, m, n, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    c = tl.program_id(1) * B + tl.arange(0, B)
    v = tl.load(x + r[:, None] * n + c[None, :], (r[:, None] < m) & (c[None, :] < n))
    tl.store(o + c[:, None] * m + r[None, :], tl.trans(v), (c[:, None] < n) & (r[None, :] < m))


@case
def transpose() -> None:
    x = normal(50, 70)
    o = np.zeros((70, 50), np.float32)
    transpose_kernel[(2, 3)](x, o, 50, 70, B=32)
    near(o, x.T)


@triton.jit
def gather_kernel(x, index, o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, tl.load(x + tl.load(index + i)))


@case
def load_by_index() -> None:
    x, index = normal(1000), ints(0, 1000, 256, dtype=np.int64)
    o = np.zeros(256, np.float32)
    gather_kernel[(1,)](x, index, o, B=256)
    near(o, x[index])


@triton.jit
def lane_gather_kernel(x, index, o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, tl.gather(tl.load(x + i), tl.load(index + i), 0))


@case
def gather_in_registers() -> None:
    x, index = normal(256), ints(0, 256, 256)
    o = np.zeros(256, np.float32)
    lane_gather_kernel[(1,)](x, index, o, B=256)
    near(o, x[index])


@triton.jit
def scatter_kernel(x, index, o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + tl.load(index + i), tl.load(x + i))


@case
def scatter() -> None:
    x, index = normal(256), RNG.permutation(256).astype(np.int32)
    o, want = np.zeros(256, np.float32), np.zeros(256, np.float32)
    scatter_kernel[(1,)](x, index, o, B=256)
    want[index] = x
    near(o, want)


@triton.jit
def shape_kernel(x, y, o, p, q, B: tl.constexpr):
    i = tl.arange(0, B)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(o + tl.arange(0, 2 * B), tl.interleave(a, b))
    even, odd = tl.split(tl.reshape(a, (B // 2, 2)))
    tl.store(p + tl.arange(0, B // 2), even - odd)
    tl.store(q + i, tl.flip(b, 0))


@case
def interleave_split_flip() -> None:
    x, y = normal(256), normal(256)
    o, p, q = np.zeros(512, np.float32), np.zeros(128, np.float32), np.zeros(256, np.float32)
    shape_kernel[(1,)](x, y, o, p, q, B=256)
    near(o, np.stack([x, y], 1).ravel())
    near(p, x[::2] - x[1::2])
    near(q, y[::-1])


@triton.jit
def permute_kernel(x, o, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    a, b, c = tl.arange(0, A), tl.arange(0, B), tl.arange(0, C)
    v = tl.load(x + a[:, None, None] * B * C + b[None, :, None] * C + c[None, None, :])
    out = o + c[:, None, None] * A * B + a[None, :, None] * B + b[None, None, :]
    tl.store(out, tl.permute(v, (2, 0, 1)))


@case
def permute_of_three() -> None:
    x = normal(4, 16, 8)
    o = np.zeros((8, 4, 16), np.float32)
    permute_kernel[(1,)](x, o, 4, 16, 8)
    near(o, x.transpose(2, 0, 1))


@triton.jit
def descriptor_kernel(x, o, m, n, BM: tl.constexpr, BN: tl.constexpr):
    source = tl.make_tensor_descriptor(x, shape=[m, n], strides=[n, 1], block_shape=[BM, BN])
    sink = tl.make_tensor_descriptor(o, shape=[m, n], strides=[n, 1], block_shape=[BM, BN])
    at = [tl.program_id(0) * BM, tl.program_id(1) * BN]
    sink.store(at, source.load(at) * 2)


@case
def tensor_descriptors() -> None:
    x = normal(40, 80)
    o = np.zeros_like(x)
    descriptor_kernel[(2, 3)](x, o, 40, 80, BM=32, BN=32)
    near(o, x * 2)


@triton.jit
def strided_kernel(x, o, sm, sn, M: tl.constexpr, N: tl.constexpr):
    r, c = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    tl.store(o + r * N + c, tl.load(x + r * sm + c * sn, r > c, other=-1.0))


@case
def strided_with_another_value() -> None:
    whole = normal(64, 200)
    x = whole[::2, 5:133:4]
    o = np.zeros((32, 32), np.float32)
    strided_kernel[(1,)](x, o, x.strides[0] // 4, x.strides[1] // 4, M=32, N=32)
    near(o, np.where(np.tri(32, 32, -1) > 0, x, -1))


@triton.jit
def embedding_kernel(table, ids, o, D: tl.constexpr):
    row = tl.load(ids + tl.program_id(0))
    d = tl.arange(0, D)
    tl.store(o + tl.program_id(0) * D + d, tl.load(table + row * D + d))


@case
def embedding() -> None:
    table, ids = normal(100, 64, dtype=np.float16), ints(0, 100, 20, dtype=np.int64)
    o = np.zeros((20, 64), np.float16)
    embedding_kernel[(20,)](table, ids, o, D=64)
    near(o, table[ids])


kind("reductions")


@triton.jit
def reduce_kernel(x, o, n, OP: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    r, c = tl.arange(0, M), tl.arange(0, N)
    other = -float("inf") if OP == "max" or OP == "argmax" else 0
    v = tl.load(x + r[:, None] * n + c[None, :], c[None, :] < n, other=other)
    if OP == "sum":
        tl.store(o + r, tl.sum(v.to(o.dtype.element_ty), 1))
    elif OP == "max":
        tl.store(o + r, tl.max(v, 1))
    elif OP == "argmax":
        tl.store(o + r, tl.argmax(v, 1))
    elif OP == "xor":
        tl.store(o + r, tl.xor_sum(v, 1))
    elif OP == "columns":
        tl.store(o + c, tl.sum(v, 0), c < n)


def _reduce(op: str, x: Callable[[], np.ndarray], out: Any, want: Callable[[Any], Any], units: float = 0) -> None:
    """units: of the sums of magnitudes."""
    given = x()
    o = np.zeros(given.shape[op == "columns"], out)
    reduce_kernel[(1,)](given, o, given.shape[1], OP=op, M=given.shape[0], N=triton.next_power_of_2(given.shape[1]))
    wide = given if given.dtype.kind == "i" else given.astype(np.float64)
    assert units or np.array_equal(o, want(wide))
    if units:
        near(o, want(wide), units, of=np.abs(wide).sum(int(op != "columns")))


cases(
    _reduce,
    sum_of_rows=("sum", lambda: normal(16, 200), np.float32, lambda x: x.sum(1), 8),
    sum_of_rows_bf16=("sum", lambda: normal(16, 200, dtype=BF16), np.float32, lambda x: x.sum(1), 8),
    sum_of_rows_fp64=("sum", lambda: normal(16, 100, dtype=np.float64), np.float64, lambda x: x.sum(1), 16),
    sum_of_columns=("columns", lambda: normal(32, 64), np.float32, lambda x: x.sum(0), 8),
    sum_of_int64=("sum", lambda: ints(-(1 << 40), 1 << 40, 16, 64, dtype=np.int64), np.int64, lambda x: x.sum(1)),
    maximum_of_rows=("max", lambda: normal(16, 100), np.float32, lambda x: x.max(1)),
    # With equals: the first counts.
    argmax_of_rows=("argmax", lambda: ints(-9, 9, 16, 100).astype(np.float32), np.int32, lambda x: x.argmax(1)),
    exclusive_or_of_rows=(
        "xor", lambda: ints(-(1 << 31), 1 << 31, 16, 128), np.int32, lambda x: np.bitwise_xor.reduce(x, 1),
    ),
)  # fmt: skip


@triton.jit
def _welford(mean_a, m2_a, n_a, mean_b, m2_b, n_b):
    n = n_a + n_b
    d = mean_b - mean_a
    share = tl.where(n == 0, 0.0, n_b / n)
    return mean_a + d * share, m2_a + m2_b + d * d * n_a * share, n


@triton.jit
def welford_kernel(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + tl.program_id(0) * N + i)
    mean, m2, n = tl.reduce((v, tl.zeros_like(v), tl.full([N], 1.0, tl.float32)), 0, _welford)
    tl.store(o + 2 * tl.program_id(0), mean)
    tl.store(o + 2 * tl.program_id(0) + 1, m2 / n)


@case
def mean_and_variance_by_welford() -> None:
    x = normal(8, 512) + 100
    o = np.zeros((8, 2), np.float32)
    welford_kernel[(8,)](x, o, N=512)
    near(o[:, 0], x.mean(1, dtype=np.float64), 8)
    near(o[:, 1], x.var(1, dtype=np.float64), 64, of=101)


@triton.jit
def logsumexp_kernel(x, o, n, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + tl.program_id(0) * n + i, i < n, other=-float("inf"))
    top = tl.max(v, 0)
    tl.store(o + tl.program_id(0), top + tl.log(tl.sum(tl.exp(v - top), 0)))


@case
def logsumexp() -> None:
    x = normal(8, 300) * 5
    o = np.zeros(8, np.float32)
    logsumexp_kernel[(8,)](x, o, 300, N=512)
    near(o, np.log(np.exp(x.astype(np.float64)).sum(1)), 8, of=20)


kind("scans, sorts, histograms")


@triton.jit
def _recurrence(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def scan_kernel(x, y, o, OP: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    v = tl.load(x + at)
    if OP == "cumsum":
        v = tl.cumsum(v, 1)
    elif OP == "reverse":
        v = tl.cumsum(v, 1, reverse=True)
    elif OP == "cumprod":
        v = tl.cumprod(v, 1)
    elif OP == "recurrence":
        _, v = tl.associative_scan((tl.load(y + at), v), 1, _recurrence)
    tl.store(o + at, v)


def _scan(op: str, x: np.ndarray, y: np.ndarray | None = None) -> np.ndarray:
    o = np.zeros_like(x)
    scan_kernel[(1,)](x, x if y is None else y, o, OP=op, M=x.shape[0], N=x.shape[1])
    return o


@case
def cumulative_sum() -> None:
    x = normal(8, 256)
    near(_scan("cumsum", x), x.astype(np.float64).cumsum(1), 16, of=np.abs(x).cumsum(1))


@case
def cumulative_sums_of_integers() -> None:
    x = ints(-1000, 1000, 4, 512)
    assert np.array_equal(_scan("cumsum", x), x.cumsum(1))
    assert np.array_equal(_scan("reverse", x), x[:, ::-1].cumsum(1)[:, ::-1])


@case
def cumulative_product() -> None:
    x = 1 + normal(4, 128) * 0.1
    near(_scan("cumprod", x), x.astype(np.float64).cumprod(1), 128)


@case
def linear_recurrence() -> None:
    x, decay = normal(4, 256), RNG.random((4, 256), np.float32)
    want, h, size, s = np.zeros((4, 256)), np.zeros(4), np.zeros((4, 256)), np.zeros(4)
    for t in range(256):
        h, s = decay[:, t] * h + x[:, t], decay[:, t] * s + np.abs(x[:, t])
        want[:, t], size[:, t] = h, s
    near(_scan("recurrence", x, decay), want, 32, of=size)


@triton.jit
def sort_kernel(x, o, DOWN: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(o + at, tl.sort(tl.load(x + at), descending=DOWN))


@case
def sort() -> None:
    x = normal(2, 128)
    o = np.zeros_like(x)
    sort_kernel[(1,)](x, o, DOWN=False, M=2, N=128)
    near(o, np.sort(x, 1))


@case
def sort_downwards_int32() -> None:
    x = ints(-1000, 1000, 2, 64)
    o = np.zeros_like(x)
    sort_kernel[(1,)](x, o, DOWN=True, M=2, N=64)
    assert np.array_equal(o, np.sort(x, 1)[:, ::-1])


@triton.jit
def topk_kernel(x, o, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    r = tl.arange(0, M)[:, None]
    tl.store(o + r * K + tl.arange(0, K)[None, :], tl.topk(tl.load(x + r * N + tl.arange(0, N)[None, :]), K))


@case
def top_of_rows() -> None:
    x = normal(4, 64)
    o = np.zeros((4, 8), np.float32)
    topk_kernel[(1,)](x, o, M=4, N=64, K=8)
    near(o, np.sort(x, 1)[:, :-9:-1])


@triton.jit
def histogram_kernel(x, o, N: tl.constexpr, B: tl.constexpr):
    tl.store(o + tl.arange(0, B), tl.histogram(tl.load(x + tl.arange(0, N)), B))


@case
def histogram() -> None:
    x = ints(0, 64, 512)
    o = np.zeros(64, np.int32)
    histogram_kernel[(1,)](x, o, N=512, B=64)
    assert np.array_equal(o, np.bincount(x, minlength=64))


kind("softmax, norms, losses")


@triton.jit
def softmax_kernel(x, o, n, N: tl.constexpr):
    i, row = tl.arange(0, N), tl.program_id(0) * n
    v = tl.load(x + row + i, i < n, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, 0))
    tl.store(o + row + i, (e / tl.sum(e, 0)).to(o.dtype.element_ty), i < n)


def softmaxed(x: np.ndarray) -> np.ndarray:
    e = np.exp(x.astype(np.float64) - x.astype(np.float64).max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def _softmax(dtype: Any, units: float) -> None:
    x = normal(6, 333, dtype=dtype)
    o = np.zeros_like(x)
    softmax_kernel[(6,)](x, o, 333, N=512)
    near(o, softmaxed(x), units)


cases(_softmax, softmax_fp32=(np.float32, 16), softmax_fp16=(np.float16, 1), softmax_bf16=(BF16, 1))


@triton.jit
def online_softmax_kernel(x, o, n, B: tl.constexpr):
    row = tl.program_id(0) * n
    top, total = -float("inf"), 0.0
    for at in range(0, n, B):
        i = at + tl.arange(0, B)
        v = tl.load(x + row + i, i < n, other=-float("inf"))
        new = tl.maximum(top, tl.max(v, 0))
        total = total * tl.exp(top - new) + tl.sum(tl.exp(v - new), 0)
        top = new
    for at in range(0, n, B):
        i = at + tl.arange(0, B)
        v = tl.load(x + row + i, i < n, other=-float("inf"))
        tl.store(o + row + i, tl.exp(v - top) / total, i < n)


@case
def softmax_in_one_pass() -> None:
    x = normal(4, 1000)
    o = np.zeros_like(x)
    online_softmax_kernel[(4,)](x, o, 1000, B=256)
    near(o, softmaxed(x), 32)


@triton.jit
def softmax_backward_kernel(y, dy, dx, n, N: tl.constexpr):
    i, row = tl.arange(0, N), tl.program_id(0) * n
    p, g = tl.load(y + row + i, i < n, other=0.0), tl.load(dy + row + i, i < n, other=0.0)
    tl.store(dx + row + i, p * (g - tl.sum(p * g, 0)), i < n)


@case
def softmax_backwards() -> None:
    y, dy = softmaxed(normal(4, 100)).astype(np.float32), normal(4, 100)
    dx = np.zeros_like(y)
    softmax_backward_kernel[(4,)](y, dy, dx, 100, N=128)
    y64 = y.astype(np.float64)
    near(dx, y64 * (dy - (y64 * dy).sum(1, keepdims=True)), 16, of=y64 * 4)


@triton.jit
def cross_entropy_kernel(x, label, loss, n, N: tl.constexpr):
    i, row = tl.arange(0, N), tl.program_id(0)
    v = tl.load(x + row * n + i, i < n, other=-float("inf"))
    top = tl.max(v, 0)
    right = tl.load(x + row * n + tl.load(label + row))
    tl.store(loss + row, tl.log(tl.sum(tl.exp(v - top), 0)) + top - right)


@case
def cross_entropy() -> None:
    x, label = normal(10, 200), ints(0, 200, 10, dtype=np.int64)
    loss = np.zeros(10, np.float32)
    cross_entropy_kernel[(10,)](x, label, loss, 200, N=256)
    near(loss, -np.log(softmaxed(x)[np.arange(10), label]), 16, of=10)


@triton.jit
def layer_norm_kernel(x, w, b, y, mean_at, rstd_at, n, N: tl.constexpr):
    i, row = tl.arange(0, N), tl.program_id(0)
    v = tl.load(x + row * n + i, i < n, other=0.0)
    mean = tl.sum(v, 0) / n
    d = tl.where(i < n, v - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(d * d, 0) / n + 1e-5)
    tl.store(mean_at + row, mean)
    tl.store(rstd_at + row, rstd)
    tl.store(y + row * n + i, d * rstd * tl.load(w + i, i < n) + tl.load(b + i, i < n), i < n)


@triton.jit
def layer_norm_dx_kernel(dx, dy, dw, db, x, w, mean_at, rstd_at, lock, n, GROUPS: tl.constexpr, N: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, N)
    mask = i < n
    group = row % GROUPS
    v = tl.load(x + row * n + i, mask, other=0.0)
    g = tl.load(dy + row * n + i, mask, other=0.0)
    rstd = tl.load(rstd_at + row)
    xhat = tl.where(mask, (v - tl.load(mean_at + row)) * rstd, 0.0)
    wdy = tl.where(mask, tl.load(w + i, mask, other=0.0) * g, 0.0)
    c1, c2 = tl.sum(xhat * wdy, 0) / n, tl.sum(wdy, 0) / n
    tl.store(dx + row * n + i, (wdy - (xhat * c1 + c2)) * rstd, mask)
    part_w, part_b = g * xhat, g
    count = lock + GROUPS + group
    while tl.atomic_cas(lock + group, 0, 1) == 1:
        pass
    if tl.load(count) == 0:
        tl.atomic_xchg(count, 1)
    else:
        part_w += tl.load(dw + group * n + i, mask, other=0.0)
        part_b += tl.load(db + group * n + i, mask, other=0.0)
    tl.store(dw + group * n + i, part_w, mask)
    tl.store(db + group * n + i, part_b, mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock + group, 0)


@triton.jit
def layer_norm_dwdb_kernel(part, out, m, n, BM: tl.constexpr, BN: tl.constexpr):
    c = tl.program_id(0) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for at in range(0, m, BM):
        r = at + tl.arange(0, BM)
        total += tl.load(part + r[:, None] * n + c[None, :], (r[:, None] < m) & (c[None, :] < n), other=0.0)
    tl.store(out + c, tl.sum(total, 0), c < n)


def _layer_norm(m: int, n: int) -> tuple[np.ndarray, ...]:
    x, w, b = normal(m, n), normal(n), normal(n)
    y, mean, rstd = np.zeros_like(x), np.zeros(m, np.float32), np.zeros(m, np.float32)
    layer_norm_kernel[(m,)](x, w, b, y, mean, rstd, n, N=triton.next_power_of_2(n))
    return x, w, b, y, mean, rstd


@case
def layer_norm() -> None:
    x, w, b, y, _, _ = _layer_norm(8, 200)
    x64 = x.astype(np.float64)
    hat = (x64 - x64.mean(1, keepdims=True)) / np.sqrt(x64.var(1, keepdims=True) + 1e-5)
    near(y, hat * w + b, 16, of=np.abs(hat * w) + np.abs(b) + 1)


@case
def layer_norm_backwards_with_its_lock() -> None:
    m, n, groups = 24, 100, 4
    x, w, _, _, mean, rstd = _layer_norm(m, n)
    dy, dx = normal(m, n), np.zeros((m, n), np.float32)
    dw, db = np.zeros((groups, n), np.float32), np.zeros((groups, n), np.float32)
    lock = np.zeros(2 * groups, np.int32)
    layer_norm_dx_kernel[(m,)](dx, dy, dw, db, x, w, mean, rstd, lock, n, GROUPS=groups, N=128)
    sums = np.zeros((2, n), np.float32)
    layer_norm_dwdb_kernel[(1,)](dw, sums[0], groups, n, BM=4, BN=128)
    layer_norm_dwdb_kernel[(1,)](db, sums[1], groups, n, BM=4, BN=128)
    hat = (x.astype(np.float64) - mean[:, None]) * rstd[:, None]
    wdy = w.astype(np.float64) * dy
    want = (wdy - hat * (hat * wdy).mean(1, keepdims=True) - wdy.mean(1, keepdims=True)) * rstd[:, None]
    near(dx, want, 64, of=np.abs(wdy).max() * 4)
    near(sums[0], (dy * hat).sum(0), 32, of=np.abs(dy * hat).sum(0))
    near(sums[1], dy.astype(np.float64).sum(0), 32, of=np.abs(dy).sum(0))


@triton.jit
def rms_norm_kernel(x, w, y, n, N: tl.constexpr):
    i, row = tl.arange(0, N), tl.program_id(0) * n
    v = tl.load(x + row + i, i < n, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(v * v, 0) / n + 1e-6)
    tl.store(y + row + i, (v * scale * tl.load(w + i, i < n).to(tl.float32)).to(y.dtype.element_ty), i < n)


@case
def rms_norm_bf16() -> None:
    x, w = normal(5, 300, dtype=BF16), normal(300, dtype=BF16)
    y = np.zeros_like(x)
    rms_norm_kernel[(5,)](x, w, y, 300, N=512)
    x64 = x.astype(np.float64)
    near(y, x64 / np.sqrt((x64**2).mean(1, keepdims=True) + 1e-6) * w.astype(np.float64), 1)


kind("random numbers")


def philox(seed: int, offsets: np.ndarray) -> np.ndarray:
    """Philox 4x32-10 of the counters (offset, 0, 0, 0): its first word."""
    mask = np.uint64(0xFFFFFFFF)
    c = [offsets.astype(np.uint64), *(np.zeros(offsets.size, np.uint64) for _ in range(3))]
    k0, k1 = np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32)
    for _ in range(10):
        p, q = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(q >> np.uint64(32)) ^ c[1] ^ k0, q & mask, (p >> np.uint64(32)) ^ c[3] ^ k1, p & mask]
        k0, k1 = (k0 + np.uint64(0x9E3779B9)) & mask, (k1 + np.uint64(0xBB67AE85)) & mask
    return c[0].astype(np.uint32)


def uniform(words: np.ndarray) -> np.ndarray:
    signed = words.view(np.int32)
    return np.where(signed < 0, -signed.astype(np.int64) - 1, signed) * np.float32(4.6566127342e-10)


@triton.jit
def dropout_kernel(x, keep, o, n, p, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v, kept = tl.load(x + i, i < n), tl.load(keep + i, i < n)
    tl.store(o + i, tl.where(kept, v / (1 - p), 0.0), i < n)


@case
def dropout_by_a_mask() -> None:
    x, keep = normal(700), RNG.random(700) > 0.5
    o = np.zeros_like(x)
    dropout_kernel[(3,)](x, keep, o, 700, 0.5, B=256)
    near(o, np.where(keep, x * 2, 0))


@triton.jit
def seeded_dropout_kernel(x, o, n, p, seed, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    kept = tl.rand(seed, i) > p
    tl.store(o + i, tl.where(kept, tl.load(x + i, i < n) / (1 - p), 0.0), i < n)


@case
def dropout_by_a_seed() -> None:
    x = normal(700)
    o = np.zeros_like(x)
    seeded_dropout_kernel[(3,)](x, o, 700, 0.25, 123, B=256)
    keep = uniform(philox(123, np.arange(700))) > np.float32(0.25)
    near(o, np.where(keep, x.astype(np.float64) / 0.75, 0), 3)


@triton.jit
def random_kernel(o, p, seed, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, tl.randint(seed, i))
    tl.store(p + i, tl.randn(seed, i))


@case
def random_numbers() -> None:
    o, p = np.zeros(512, np.int32), np.zeros(512, np.float32)
    random_kernel[(1,)](o, p, 77, B=512)
    assert np.array_equal(o.view(np.uint32), philox(77, np.arange(512)))
    assert abs(p.mean()) < 0.2
    assert 0.85 < p.std() < 1.15


kind("atomics")


@triton.jit
def atomic_kernel(x, o, n, OP: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, i < n)
    if OP == "add":
        tl.atomic_add(o + i % 16, v, i < n)
    elif OP == "max":
        tl.atomic_max(o + i % 16, v, i < n)
    elif OP == "min":
        tl.atomic_min(o + i % 16, v, i < n)
    elif OP == "or":
        tl.atomic_or(o + i % 16, v, i < n)
    elif OP == "xor":
        tl.atomic_xor(o + i % 16, v, i < n)
    elif OP == "and":
        tl.atomic_and(o + i % 16, v, i < n)


def _atomic(x: Callable[[], np.ndarray], **each: tuple[Any, Any]) -> None:
    """each: by operation what the sums start with, and NumPy's."""
    given = x()
    for op, (start, numpys) in each.items():
        o = np.full(16, start, given.dtype)
        atomic_kernel[(4,)](given, o, given.size, OP=op, B=256)
        assert np.array_equal(o, numpys.reduce(given.reshape(-1, 16), 0))


SUM = {"add": (0, np.add)}
BITS = {"or": (0, np.bitwise_or), "xor": (0, np.bitwise_xor), "and": (-1, np.bitwise_and)}
cases(
    _atomic,
    atomic_add_fp32=(lambda: ints(-100, 100, 1024).astype(np.float32), SUM),
    atomic_add_fp64=(lambda: ints(-100, 100, 1024).astype(np.float64), SUM),
    atomic_add_fp16=(lambda: ints(-8, 8, 1024).astype(np.float16), SUM),
    atomic_add_int64=(lambda: ints(-(1 << 40), 1 << 40, 1024, dtype=np.int64), SUM),
    atomic_maximum_fp32=(lambda: normal(1024), {"max": (-np.inf, np.maximum)}),
    atomic_minimum_int32=(lambda: ints(-1000, 1000, 1024), {"min": (5000, np.minimum)}),
    atomic_bits=(lambda: ints(0, 1 << 31, 1024), BITS),
)


@triton.jit
def spin_lock_kernel(lock, total, places):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    now = tl.load(total, volatile=True)
    tl.store(places + tl.program_id(0), now)
    tl.store(total, now + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@case
def a_lock_of_compare_and_swap() -> None:
    lock, total, places = np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(40, np.int32)
    spin_lock_kernel[(40,)](lock, total, places)
    assert total[0] == 40
    assert sorted(places) == list(range(40))


kind("matrix products")


@triton.jit
def matmul_kernel(
    a, b, c, m, n, k, sam, sak, sbk, sbn, scm, scn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT: tl.constexpr, RELU: tl.constexpr, ACC: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), ACC)
    for at in range(tl.program_id(2) * BK, k, BK * SPLIT):
        ks = at + tl.arange(0, BK)
        left = tl.load(a + rows[:, None] * sam + ks[None, :] * sak, (rows[:, None] < m) & (ks[None, :] < k), other=0.0)
        right = tl.load(b + ks[:, None] * sbk + cols[None, :] * sbn, (ks[:, None] < k) & (cols[None, :] < n), other=0.0)
        total = tl.dot(left, right, total, input_precision="ieee", out_dtype=ACC)
    if RELU:
        total = tl.where(total > 0, total, 0.01 * total)
    at = c + rows[:, None] * scm + cols[None, :] * scn
    inside = (rows[:, None] < m) & (cols[None, :] < n)
    if SPLIT == 1:
        tl.store(at, total.to(c.dtype.element_ty), inside)
    else:
        tl.atomic_add(at, total.to(c.dtype.element_ty), inside)


TRITON_TYPE = {np.float32: tl.float32, np.int32: tl.int32, np.float64: tl.float64}


def multiply(a: np.ndarray, b: np.ndarray, c: np.ndarray, acc: Any = np.float32, **more: Any) -> None:
    (m, k), n = a.shape, b.shape[1]
    options = {"BM": 32, "BN": 32, "BK": 32, "SPLIT": 1, "RELU": False, "ACC": TRITON_TYPE[acc], **more}
    strides = [s // x.itemsize for x in (a, b, c) for s in x.strides]
    grid = (triton.cdiv(m, options["BM"]), triton.cdiv(n, options["BN"]), options["SPLIT"])
    matmul_kernel[grid](a, b, c, m, n, k, *strides, **options)


def product(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """In float64, and the sums of magnitudes."""
    x, y = a.astype(np.float64), b.astype(np.float64)
    return x @ y, np.abs(x) @ np.abs(y)


def held(a: np.ndarray, b: np.ndarray, c: np.ndarray, units: float) -> None:
    want, size = product(a, b)
    near(c, want, units, of=size)


def _matmul(dtype: Any, out: Any, units: float, m: int = 64, n: int = 64, k: int = 64, **more: Any) -> None:
    a, b, c = normal(m, k, dtype=dtype), normal(k, n, dtype=dtype), np.zeros((m, n), out)
    multiply(a, b, c, **more)
    held(a, b, c, units)


cases(
    _matmul,
    matmul_fp32=(np.float32, np.float32, 64, 50, 70, 65),
    matmul_fp16=(np.float16, np.float32, 64),
    matmul_fp16_to_fp16=(np.float16, np.float16, 1, 50, 40, 96),
    matmul_bf16=(BF16, np.float32, 64),
    matmul_bf16_large_tile=(BF16, BF16, 1, 128, 128, {"BM": 64, "BN": 64, "num_warps": 4}),
    matmul_fp64=(np.float64, np.float64, 64, 32, 32, {"acc": np.float64}),
    matmul_fp8e5=(E5M2, np.float32, 64),
    matmul_fp8e4nv=(E4M3, np.float32, 64),
    matmul_split_over_k=(np.float16, np.float32, 128, 64, 64, 256, {"SPLIT": 4}),
    matmul_two_stages_eight_waves=(
        np.float16, np.float32, 128, 64, 128, 128, {"BM": 64, "BN": 64, "num_warps": 8, "num_stages": 3},
    ),
)  # fmt: skip


@case
def matmul_int8() -> None:
    a, b = ints(-128, 128, 64, 64, dtype=np.int8), ints(-128, 128, 64, 64, dtype=np.int8)
    c = np.zeros((64, 64), np.int32)
    multiply(a, b, c, acc=np.int32)
    assert np.array_equal(c, a.astype(np.int32) @ b.astype(np.int32))


@case
def matmul_of_transposed() -> None:
    a, b, c = normal(64, 64, dtype=np.float16).T, normal(64, 64, dtype=np.float16).T, np.zeros((64, 64), np.float32)
    multiply(a, b, c)
    held(a, b, c, 64)


@case
def matmul_with_leaky_relu() -> None:
    a, b, c = normal(64, 32, dtype=np.float16), normal(32, 64, dtype=np.float16), np.zeros((64, 64), np.float16)
    multiply(a, b, c, RELU=True)
    want, size = product(a, b)
    near(c, np.where(want > 0, want, 0.01 * want), 1, of=size)


@triton.jit
def grouped_kernel(addresses, sizes, GROUPS: tl.constexpr, B: tl.constexpr, PROGRAMS: tl.constexpr):
    tile, first = tl.program_id(0), 0
    for g in range(GROUPS):
        m, n, k = tl.load(sizes + 3 * g), tl.load(sizes + 3 * g + 1), tl.load(sizes + 3 * g + 2)
        tiles = tl.cdiv(m, B) * tl.cdiv(n, B)
        a = tl.load(addresses + 3 * g).to(tl.pointer_type(tl.float16))
        b = tl.load(addresses + 3 * g + 1).to(tl.pointer_type(tl.float16))
        c = tl.load(addresses + 3 * g + 2).to(tl.pointer_type(tl.float32))
        while tile >= first and tile < first + tiles:
            rows = (tile - first) // tl.cdiv(n, B) * B + tl.arange(0, B)
            cols = (tile - first) % tl.cdiv(n, B) * B + tl.arange(0, B)
            total = tl.zeros((B, B), tl.float32)
            for at in range(0, k, B):
                ks = at + tl.arange(0, B)
                inside = (rows[:, None] < m) & (ks[None, :] < k)
                left = tl.load(a + rows[:, None] * k + ks[None, :], inside, other=0.0)
                inside = (ks[:, None] < k) & (cols[None, :] < n)
                total += tl.dot(left, tl.load(b + ks[:, None] * n + cols[None, :], inside, other=0.0))
            tl.store(c + rows[:, None] * n + cols[None, :], total, (rows[:, None] < m) & (cols[None, :] < n))
            tile += PROGRAMS
        first += tiles


@case
def matmul_grouped() -> None:
    shapes = [(40, 32, 64), (64, 64, 32), (16, 100, 48)]
    groups = [
        (normal(m, k, dtype=np.float16), normal(k, n, dtype=np.float16), np.zeros((m, n), np.float32))
        for m, n, k in shapes
    ]
    addresses = np.array([[tensor(x).data_ptr() for x in g] for g in groups], np.int64)
    grouped_kernel[(3,)](addresses, np.array(shapes, np.int32), GROUPS=3, B=32, PROGRAMS=3)
    for a, b, c in groups:
        held(a, b, c, 64)


@triton.jit
def batched_kernel(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    z, m, n, k = tl.program_id(0), tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    left = tl.load(a + z * M * K + m[:, None] * K + k[None, :])
    right = tl.load(b + z * K * N + k[:, None] * N + n[None, :])
    tl.store(c + z * M * N + m[:, None] * N + n[None, :], tl.dot(left, right, out_dtype=tl.float32))


@case
def matmul_batched() -> None:
    a, b, c = normal(3, 16, 32, dtype=BF16), normal(3, 32, 16, dtype=BF16), np.zeros((3, 16, 16), np.float32)
    batched_kernel[(3,)](a, b, c, M=16, N=16, K=32)
    held(a, b, c, 32)


@triton.jit
def persistent_kernel(a, b, c, n, B: tl.constexpr, PROGRAMS: tl.constexpr):
    across = n // B
    for tile in range(tl.program_id(0), across * across, PROGRAMS):
        rows, cols = tile // across * B + tl.arange(0, B), tile % across * B + tl.arange(0, B)
        total = tl.zeros((B, B), tl.float32)
        for at in range(0, n, B):
            ks = at + tl.arange(0, B)
            total = tl.dot(tl.load(a + rows[:, None] * n + ks), tl.load(b + ks[:, None] * n + cols), total)
        tl.store(c + rows[:, None] * n + cols, total)


@case
def matmul_persistent() -> None:
    a, b, c = normal(96, 96, dtype=np.float16), normal(96, 96, dtype=np.float16), np.zeros((96, 96), np.float32)
    persistent_kernel[(4,)](a, b, c, 96, B=32, PROGRAMS=4)
    held(a, b, c, 96)


@triton.jit
def gemv_kernel(a, x, y, n, B: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((B,), tl.float32)
    for at in range(0, n, B):
        i = at + tl.arange(0, B)
        total += tl.load(a + row * n + i, i < n, other=0.0).to(tl.float32) * tl.load(x + i, i < n, other=0.0)
    tl.store(y + row, tl.sum(total, 0))


@case
def gemv_fp16() -> None:
    a, x, y = normal(20, 700, dtype=np.float16), normal(700), np.zeros(20, np.float32)
    gemv_kernel[(20,)](a, x, y, 700, B=256)
    want, size = product(a, x[:, None])
    near(y, want[:, 0], 16, of=size[:, 0])


@triton.jit
def int4_kernel(a, q, scale, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    words = tl.load(q + (k[:, None] // 8) * N + n[None, :])
    nibble = ((words >> (4 * (k[:, None] % 8))) & 15) - 8
    right = (nibble.to(tl.float32) * tl.load(scale + n)[None, :]).to(tl.float16)
    tl.store(c + m[:, None] * N + n[None, :], tl.dot(tl.load(a + m[:, None] * K + k[None, :]), right))


@case
def matmul_by_four_bit_weights() -> None:
    a, values, scale = normal(16, 64, dtype=np.float16), ints(0, 16, 64, 32), np.abs(normal(32)) + 0.1
    words = (values.reshape(8, 8, 32).astype(np.uint32) << (4 * np.arange(8, dtype=np.uint32))[None, :, None]).sum(1)
    c = np.zeros((16, 32), np.float32)
    int4_kernel[(1,)](a, words.astype(np.uint32).view(np.int32), scale, c, M=16, N=32, K=64)
    want, size = product(a, ((values - 8).astype(np.float32) * scale).astype(np.float16))
    near(c, want, 64, of=size)


kind("attention")


@triton.jit
def attention_kernel(q, k, v, o, lse, t, scale, CAUSAL: tl.constexpr, B: tl.constexpr, D: tl.constexpr):
    rows, d = tl.program_id(0) * B + tl.arange(0, B), tl.arange(0, D)
    head = tl.program_id(1) * t * D
    query = tl.load(q + head + rows[:, None] * D + d[None, :])
    top = tl.full([B], -float("inf"), tl.float32)
    total, out = tl.zeros([B], tl.float32), tl.zeros([B, D], tl.float32)
    end = (tl.program_id(0) + 1) * B if CAUSAL else t
    for at in range(0, end, B):
        cols = at + tl.arange(0, B)
        s = tl.dot(query, tl.trans(tl.load(k + head + cols[:, None] * D + d[None, :]))) * scale
        if CAUSAL:
            s = tl.where(rows[:, None] >= cols[None, :], s, -float("inf"))
        new = tl.maximum(top, tl.max(s, 1))
        p, shrink = tl.exp(s - new[:, None]), tl.exp(top - new)
        total = total * shrink + tl.sum(p, 1)
        values = tl.load(v + head + cols[:, None] * D + d[None, :])
        out = tl.dot(p.to(values.dtype), values, out * shrink[:, None])
        top = new
    tl.store(o + head + rows[:, None] * D + d[None, :], (out / total[:, None]).to(o.dtype.element_ty))
    tl.store(lse + tl.program_id(1) * t + rows, top + tl.log(total))


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool) -> tuple[np.ndarray, np.ndarray]:
    s = q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1) / math.sqrt(q.shape[2])
    if causal:
        s = np.where(np.tri(*s.shape[1:]) > 0, s, -np.inf)
    return softmaxed(s) @ v.astype(np.float64), np.log(np.exp(s).sum(-1))


def _attend(dtype: Any, causal: bool) -> None:
    q, k, v = (normal(2, 64, 32, dtype=dtype) for _ in range(3))
    o, lse = np.zeros_like(q), np.zeros((2, 64), np.float32)
    attention_kernel[(2, 2)](q, k, v, o, lse, 64, 1 / math.sqrt(32), CAUSAL=causal, B=32, D=32)
    want, total = attention(q, k, v, causal)
    near(o, want, 3, of=np.abs(v.astype(np.float64)).max())
    near(lse, total, 256, of=np.abs(total) + 4)


cases(_attend, flash_attention_fp16=(np.float16, False), flash_attention_bf16_causal=(BF16, True))


@triton.jit
def attention_backward_kernel(q, k, v, do, lse, delta, dq, dk, dv, scale, T: tl.constexpr, D: tl.constexpr):
    t, d = tl.arange(0, T), tl.arange(0, D)
    at = tl.program_id(0) * T * D + t[:, None] * D + d[None, :]
    query, key, value, grad = tl.load(q + at), tl.load(k + at), tl.load(v + at), tl.load(do + at)
    p = tl.exp(tl.dot(query, tl.trans(key)) * scale - tl.load(lse + tl.program_id(0) * T + t)[:, None])
    ds = p * (tl.dot(grad, tl.trans(value)) - tl.load(delta + tl.program_id(0) * T + t)[:, None]) * scale
    tl.store(dv + at, tl.dot(tl.trans(p.to(grad.dtype)), grad))
    tl.store(dk + at, tl.dot(tl.trans(ds.to(query.dtype)), query))
    tl.store(dq + at, tl.dot(ds.to(key.dtype), key))


@case
def flash_attention_backwards() -> None:
    q, k, v, do = (normal(2, 32, 16, dtype=np.float16) for _ in range(4))
    want_o, lse = attention(q, k, v, False)
    delta = (want_o * do.astype(np.float64)).sum(-1)
    dq, dk, dv = (np.zeros((2, 32, 16), np.float32) for _ in range(3))
    attention_backward_kernel[(2,)](
        q, k, v, do, lse.astype(np.float32), delta.astype(np.float32), dq, dk, dv, 0.25, T=32, D=16
    )
    x, y, z, g = (m.astype(np.float64) for m in (q, k, v, do))
    p = softmaxed(x @ y.transpose(0, 2, 1) / 4)
    ds = p * (g @ z.transpose(0, 2, 1) - delta[..., None]) / 4
    half = 2.0**13  # p and ds are rounded to fp16 before the last products
    near(dv, p.transpose(0, 2, 1) @ g, half, of=p.transpose(0, 2, 1) @ np.abs(g))
    near(dk, ds.transpose(0, 2, 1) @ x, 2 * half, of=np.abs(ds).transpose(0, 2, 1) @ np.abs(x))
    near(dq, ds @ y, 2 * half, of=np.abs(ds) @ np.abs(y))


@triton.jit
def decode_kernel(q, k, v, table, o, t, scale, PAGE: tl.constexpr, D: tl.constexpr):
    head, d = tl.program_id(0), tl.arange(0, D)
    query = tl.load(q + head * D + d).to(tl.float32)
    top, total, out = -float("inf"), 0.0, tl.zeros([D], tl.float32)
    for page in range(0, tl.cdiv(t, PAGE)):
        rows = tl.load(table + page) * PAGE + tl.arange(0, PAGE)
        there = page * PAGE + tl.arange(0, PAGE) < t
        keys = tl.load(k + rows[:, None] * D + d[None, :], there[:, None], other=0.0).to(tl.float32)
        s = tl.where(there, tl.sum(query[None, :] * keys, 1) * scale, -float("inf"))
        new = tl.maximum(top, tl.max(s, 0))
        p, shrink = tl.exp(s - new), tl.exp(top - new)
        values = tl.load(v + rows[:, None] * D + d[None, :], there[:, None], other=0.0).to(tl.float32)
        out = out * shrink + tl.sum(p[:, None] * values, 0)
        total = total * shrink + tl.sum(p, 0)
        top = new
    tl.store(o + head * D + d, out / total)


@case
def paged_attention() -> None:
    q, k, v = normal(4, 32, dtype=np.float16), normal(96, 32, dtype=np.float16), normal(96, 32, dtype=np.float16)
    table, o = np.array([3, 0, 5, 1], np.int32), np.zeros((4, 32), np.float32)
    decode_kernel[(4,)](q, k, v, table, o, 60, 1 / math.sqrt(32), PAGE=16, D=32)
    rows = (table[:, None] * 16 + np.arange(16)).ravel()[:60]
    near(o, attention(q[None], k[rows][None], v[rows][None], False)[0][0], 64, of=4)


kind("other")


@triton.jit
def rope_kernel(x, cos, sin, o, D: tl.constexpr):
    t, i = tl.program_id(0), tl.arange(0, D // 2)
    a, b = tl.load(x + t * D + i), tl.load(x + t * D + D // 2 + i)
    c, s = tl.load(cos + t * (D // 2) + i), tl.load(sin + t * (D // 2) + i)
    tl.store(o + t * D + i, a * c - b * s)
    tl.store(o + t * D + D // 2 + i, b * c + a * s)


@case
def rotary_embedding() -> None:
    x, angle = normal(10, 64), np.outer(np.arange(10), 1 / 10000 ** (np.arange(32) / 32)).astype(np.float32)
    c, s, o = np.cos(angle), np.sin(angle), np.zeros((10, 64), np.float32)
    rope_kernel[(10,)](x, c, s, o, D=64)
    a, b = x[:, :32].astype(np.float64), x[:, 32:].astype(np.float64)
    near(o, np.concatenate([a * c - b * s, b * c + a * s], 1), 2, of=4)


@triton.jit
def swiglu_kernel(x, y, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, i < n).to(tl.float32)
    tl.store(o + i, (v * tl.sigmoid(v) * tl.load(y + i, i < n)).to(o.dtype.element_ty), i < n)


@case
def swiglu_fp16() -> None:
    x, y = normal(900, dtype=np.float16), normal(900, dtype=np.float16)
    o = np.zeros_like(x)
    swiglu_kernel[(4,)](x, y, o, 900, B=256)
    x64 = x.astype(np.float64)
    near(o, x64 / (1 + np.exp(-x64)) * y.astype(np.float64), 1)


@triton.jit
def adam_kernel(p, g, m, v, step, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    mask = i < n
    grad = tl.load(g + i, mask)
    first = 0.9 * tl.load(m + i, mask) + 0.1 * grad
    second = 0.999 * tl.load(v + i, mask) + 0.001 * grad * grad
    tl.store(m + i, first, mask)
    tl.store(v + i, second, mask)
    tl.store(p + i, tl.load(p + i, mask) - step * first / (tl.sqrt(second) + 1e-8), mask)


@case
def adam_in_place() -> None:
    p, g, m, v = normal(500), normal(500), normal(500), np.abs(normal(500))
    old = p.astype(np.float64)
    first, second = (
        0.9 * m.astype(np.float64) + 0.1 * g,
        0.999 * v.astype(np.float64) + 0.001 * g.astype(np.float64) ** 2,
    )
    adam_kernel[(2,)](p, g, m, v, 0.01, 500, B=256)
    near(m, first, 4, of=np.abs(first) + np.abs(g))
    near(p, old - 0.01 * first / (np.sqrt(second) + 1e-8), 8, of=np.abs(old) + 1)


@triton.jit
def convolution_kernel(x, w, o, h, wd, C: tl.constexpr, K: tl.constexpr, B: tl.constexpr):
    at, kc = tl.program_id(0) * B + tl.arange(0, B), tl.arange(0, K)
    oy, ox = at // (wd - 2), at % (wd - 2)
    c = tl.arange(0, C)
    total = tl.zeros((B, K), tl.float32)
    there = at < (h - 2) * (wd - 2)
    for tap in range(9):
        pixel = (oy + tap // 3) * wd + ox + tap % 3
        left = tl.load(x + pixel[:, None] * C + c[None, :], there[:, None], other=0.0)
        total = tl.dot(left, tl.load(w + (tap * C + c[:, None]) * K + kc[None, :]), total)
    tl.store(o + at[:, None] * K + kc[None, :], total, there[:, None])


@case
def convolution_as_a_product() -> None:
    x, w, o = (
        normal(10, 12, 16, dtype=np.float16),
        normal(3, 3, 16, 16, dtype=np.float16),
        np.zeros((8, 10, 16), np.float32),
    )
    convolution_kernel[(3,)](x, w, o, 10, 12, C=16, K=16, B=32)
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), (3, 3), (0, 1))
    near(o, np.einsum("yxcab,abck->yxk", windows, w.astype(np.float64)), 64, of=200)


@triton.jit
def mandelbrot_kernel(o, width, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    cx, cy = (i % width).to(tl.float32) * 0.0625 - 1.5, (i // width).to(tl.float32) * 0.0625 - 1.0
    x, y, count = tl.zeros((B,), tl.float32), tl.zeros((B,), tl.float32), tl.zeros((B,), tl.int32)
    for _ in range(20):
        inside = x * x + y * y <= 4.0
        x, y = tl.where(inside, x * x - y * y + cx, x), tl.where(inside, 2.0 * x * y + cy, y)
        count += inside.to(tl.int32)
    tl.store(o + i, count)


@case
def mandelbrot() -> None:
    o = np.zeros(1024, np.int32)
    mandelbrot_kernel[(4,)](o, 32, B=256)
    c = (np.arange(1024) % 32) * 0.0625 - 1.5 + 1j * ((np.arange(1024) // 32) * 0.0625 - 1.0)
    z, count = np.zeros(1024, complex), np.zeros(1024, int)
    for _ in range(20):
        inside = np.abs(z) <= 2
        z = np.where(inside, z * z + c, z)
        count += inside
    assert (o != count).mean() < 0.01  # points on the edge, where fp32 and fp64 part


@triton.jit
def collatz_kernel(x, steps):
    n, count = tl.load(x + tl.program_id(0)), 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
    tl.store(steps + tl.program_id(0), count)


@case
def a_while_loop() -> None:
    x, steps = np.arange(1, 33, dtype=np.int64), np.zeros(32, np.int32)
    collatz_kernel[(32,)](x, steps)

    def count(n: int) -> int:
        return 0 if n == 1 else 1 + count(n // 2 if n % 2 == 0 else 3 * n + 1)

    assert steps.tolist() == [count(int(n)) for n in x]


@triton.jit
def jacobi_kernel(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    inner = (i > 0) & (i < n - 1)
    middle = 0.5 * (tl.load(x + i - 1, inner, other=0.0) + tl.load(x + i + 1, inner, other=0.0))
    tl.store(o + i, tl.where(inner, middle, tl.load(x + i, i < n)), i < n)


@case
def stencil() -> None:
    x = normal(600)
    o = np.zeros_like(x)
    jacobi_kernel[(3,)](x, o, 600, B=256)
    near(o, np.concatenate([x[:1], (x[:-2] + x[2:]) * np.float32(0.5), x[-1:]]))


@triton.jit
def assembly_kernel(x, o, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.inline_asm_elementwise("v_bfrev_b32 $0, $1", "=v,v", [tl.load(x + i)], tl.int32, True, 1)
    tl.store(o + i, v)


@case
def inline_assembly() -> None:
    x, o = ints(0, 1 << 31, 128), np.zeros(128, np.int32)
    assembly_kernel[(1,)](x, o, B=128)
    assert [int(f"{w:032b}"[::-1], 2) for w in x] == o.view(np.uint32).tolist()


@triton.jit(noinline=True)
def _called(a, b, o):
    tl.store(o, a * b + 1)


@triton.jit
def call_kernel(x, y, o):
    i = tl.program_id(0)
    _called(tl.load(x + i), tl.load(y + i), o + i)


@case
def a_function_that_is_called() -> None:
    x, y, o = ints(-99, 99, 20), ints(-99, 99, 20), np.zeros(20, np.int32)
    call_kernel[(20,)](x, y, o)
    assert np.array_equal(o, x * y + 1)


@triton.jit
def print_kernel(x, B: tl.constexpr):
    tl.device_print("value ", tl.load(x + tl.arange(0, B)))


@case
def device_print() -> None:
    import ctypes
    import os
    import tempfile

    with tempfile.TemporaryFile() as out:
        sys.stdout.flush()
        kept = os.dup(1)
        os.dup2(out.fileno(), 1)
        try:
            print_kernel[(1,)](np.arange(5, 133, dtype=np.int32), B=128)
            sys.stdout.flush()
            ctypes.CDLL(None).fflush(None)
        finally:
            os.dup2(kept, 1)
            os.close(kept)
        out.seek(0)
        lines = out.read().decode().splitlines()
    assert sorted({int(line.rsplit(" ", 1)[1]) for line in lines}) == list(range(5, 133)), lines[:5]
    assert all("value" in line and "pid (0, 0, 0)" in line for line in lines), lines[:5]


@triton.autotune(configs=[triton.Config({"B": b}, num_warps=w) for b, w in ((64, 1), (1024, 4))], key=["n"])
@triton.jit
def tuned_kernel(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i, i < n) * 3, i < n)


@case
def autotune_by_the_simulated_clock() -> None:
    x = normal(4096)
    o = np.zeros_like(x)
    tuned_kernel[lambda meta: (triton.cdiv(4096, meta["B"]),)](x, o, 4096)
    near(o, x * 3)


# --- the run ---------------------------------------------------------------------------------------------------------


def run(name: str, runtime: Any) -> dict[str, Any]:
    """What is to be said of a case."""
    runtime.timing_asked = True
    before, faults, began = len(runtime.timed), getattr(runtime.card, "faults", 0), time.perf_counter()
    row: dict[str, Any] = {"case": name, "kind": KINDS[name]}
    try:
        CASES[name]()
        row["right"] = True
    except Exception as error:
        traceback.print_exc()
        row["right"] = f"{type(error).__name__}: {error}".splitlines()[0]
    row["seconds"] = time.perf_counter() - began
    reports = runtime.timed[before:]
    times = [getattr(r, "time_s", None) for r in reports]
    row["launches"], row["faults"] = len(reports), getattr(runtime.card, "faults", 0) - faults
    row["microseconds"] = None if None in times or not times else sum(times) * 1e6
    return row


def lint_of(folder: str) -> list[dict[str, Any]]:
    """The rules that each code object in Triton's cache breaks; notes are left out."""
    from pathlib import Path

    from hipgemm.judge.inspection.linting import lint
    from isa.object import code_object

    found = []
    for file in sorted(Path(folder).glob("*/*.hsaco")):
        findings = lint(code_object.load(file.read_bytes()), file.name)
        found.append({"kernel": file.stem, "faults": [f.id for f in findings if f.severity == "fault"]})
    return found


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", required=True)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    triton.runtime.driver.active.get_current_device()
    tensor(np.zeros(1)).data_ptr()
    from hipgemm import simulated_hip

    runtime = simulated_hip.runtime()
    rows = []
    for name in CASES:
        if asked.only in name:
            rows.append(run(name, runtime))
            print(json.dumps(rows[-1]), flush=True)
    linted = [] if hasattr(runtime.card, "faults") else lint_of(triton.knobs.cache.dir)
    with open(asked.json, "w") as out:
        json.dump({"triton": triton.__version__, "cases": rows, "lint": linted}, out, indent=1)
    return int(any(row["right"] is not True for row in rows))


if __name__ == "__main__":
    sys.exit(main())
