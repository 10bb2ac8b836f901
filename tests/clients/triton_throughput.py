"""How long Triton kernels of 2^30 multiply-adds take to simulate, against NumPy's sgemm of as many, by processor time.
Run by tools/clients.py and tools/bench_sim.py; alone:

    hipgemm simulate -- python tests/clients/triton_throughput.py --json out.json

Two are products on the matrix units, of f16 and of bf16, one is a polynomial of halves by packed FMAs; all are held
against NumPy.
A figure is the median of launches after the native code has settled, over the median of NumPy's products.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import triton
import triton.language as tl

N, STEPS = 1024, 1024
WARM, LAUNCHES, PRODUCTS = 4, 5, 15


@triton.jit
def product(a, b, c, N, bf16: tl.constexpr, M: tl.constexpr, K: tl.constexpr):
    rows, columns = tl.program_id(0) * M + tl.arange(0, M), tl.program_id(1) * M + tl.arange(0, M)
    along = tl.arange(0, K)
    at_a, at_b = a + rows[:, None] * N + along[None, :], b + along[:, None] * N + columns[None, :]
    sums = tl.zeros((M, M), tl.float32)
    for _ in range(0, N, K):
        x, y = tl.load(at_a), tl.load(at_b)
        if bf16:
            x, y = x.to(tl.bfloat16, bitcast=True), y.to(tl.bfloat16, bitcast=True)
        sums = tl.dot(x, y, sums)
        at_a += K
        at_b += K * N
    tl.store(c + rows[:, None] * N + columns[None, :], sums)


@triton.jit
def polynomial(x, y, out, steps: tl.constexpr, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    factor, term = tl.load(x + at), tl.load(y + at)
    value = tl.zeros((B,), tl.float16)
    for _ in range(steps):
        value = value * factor + term
    tl.store(out + at, value)


def seconds(work: Callable[[], object], times: int) -> float:
    """The median of so many turns."""
    turns = []
    for _ in range(times):
        start = time.process_time()
        work()
        turns.append(time.process_time() - start)
    return statistics.median(turns)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", required=True)
    rng = np.random.default_rng(0)
    halves = rng.standard_normal((2, N, N)).astype(np.float16)
    words = rng.standard_normal((2, N, N)).astype(np.float32).view(np.uint32) >> 16
    factors, bits = (halves, words.astype(np.int16)), words << 16
    c = np.zeros((2, N, N), np.float32)
    x, y = (rng.random((2, N * N)) * 0.5).astype(np.float16)
    out = np.zeros(N * N, np.float16)
    wide = halves.astype(np.float32), bits.view(np.float32)

    def multiply(which: int) -> None:
        product[(N // 64, N // 64)](*factors[which], c[which], N, bf16=which, M=64, K=32, num_warps=4)

    launches = {
        "a product of f16 by WMMA": lambda: multiply(0),
        "a product of bf16 by WMMA": lambda: multiply(1),
        "a polynomial of f16 by packed FMAs": lambda: polynomial[(N,)](x, y, out, STEPS, B=N, num_warps=4),
    }
    sgemm = seconds(lambda: wide[0][0] @ wide[0][1], PRODUCTS)
    rows = []
    for case, launch in launches.items():
        seconds(launch, WARM)
        rows.append({"case": case, "times_numpy": seconds(launch, LAUNCHES) / sgemm})
    # x is below 1/2, so that the sum has settled long before its last step; subnormal terms are rounded to 2^-24.
    wanted = y.astype(np.float64) / (1 - x.astype(np.float64))
    products = [np.allclose(own, a @ b, atol=1e-3) for own, (a, b) in zip(c, wide, strict=True)]
    right = *products, np.allclose(out, wanted, rtol=2**-8, atol=2**-20)
    with open(parser.parse_args().json, "w") as file:
        json.dump([{**row, "right": bool(ok)} for row, ok in zip(rows, right, strict=True)], file)


main()
