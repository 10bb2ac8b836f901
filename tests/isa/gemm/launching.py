"""A generated GEMM kernel on the simulated card, and what it must compute, bit for bit."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Iterable, Sequence
from functools import cache

import numpy as np
import programs

from isa import toolchain
from isa.asm.emit import emit
from isa.asm.program import Program
from isa.gemm.gemv.parameters import GemvParameters
from isa.gemm.matrix.parameters import MatrixParameters
from isa.gemm.vector.generate import generate
from isa.gemm.vector.parameters import Parameters
from isa.gemm.vector.work import COUNTERS, Work
from isa.sanitize import observe
from isa.sim.run.card import Card, CompiledKernel
from isa.sim.run.launch import SimulatedLaunch

NAME = "gemm"


@cache
def program(p: Parameters | MatrixParameters | GemvParameters, arch: str = "gfx1100") -> Program:
    return generate(p, NAME, arch=arch)


@cache
def image(p: Parameters | MatrixParameters | GemvParameters, arch: str = "gfx1100") -> bytes:
    """The code object."""
    return toolchain.find().code_object(emit(program(p, arch)), arch=arch)


class OneWorkgroup(SimulatedLaunch):
    """Of a launch, one workgroup only."""

    def number(self, n: int) -> None:
        self._counter = ctypes.c_uint64(n)
        self.total = n + 1
        self.run(1)


def draw(m: int, n: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A, B and C with 23 bits after the point: products and sums of less than 64 are exact in float64."""
    rng = np.random.default_rng(m * 1009 + n * 31 + k)
    shapes = (m, k), (k, n), (m, n)
    a, b, c = ((rng.integers(-(2**23), 2**23, shape) / 2.0**23).astype(np.float32) for shape in shapes)
    return a, b, c


def launch(
    p: Parameters | MatrixParameters | GemvParameters, a: np.ndarray, b: np.ndarray, c: np.ndarray, alpha: float,
    beta: float, *, vectors: Sequence[np.ndarray] = (), check: bool = False, arch: str = "gfx1100",
) -> np.ndarray:  # fmt: skip
    """C after the kernel. a, b: as they lie in memory, but for transposition. Matrices stand at the end of their
    allocations: who reads beyond them is caught. vectors: what an epilogue takes more. check: under the sanitizer, in
    several schedules, who must find nothing."""
    (m, k), n = a.shape, b.shape[1]
    k *= getattr(p, "pack", 1)
    card = Card(baseline=True)
    addresses = programs.put(card, a.T if p.trans_a else a, b.T if p.trans_b else b, c, *vectors)
    scales = "ii" if c.dtype == np.int32 else "ff"
    kernarg = struct.pack(f"<QQQiii{scales}", *addresses[:3], m, n, k, alpha, beta)
    if vectors:
        kernarg += struct.pack(f"<4x{len(vectors)}Q", *addresses[3:])
    grid = -(-n // p.columns), -(-m // p.rows), 1
    given = card.load(image(p, arch)).kernels[NAME], grid, (p.threads, 1, 1), kernarg
    if check:
        assert [x for x in observe(card, *given).findings if x.severity != "note"] == []
    else:
        card.launch(*given)
    return programs.held(addresses[2], c)


def in_order(a: np.ndarray, b: np.ndarray, c: np.ndarray, alpha: float, beta: float) -> np.ndarray:
    """alpha A B + beta C as a chain of float32 FMAs in ascending k gives it, for matrices of `draw`; C counts only if
    beta is not 0. float64 holds each step exactly, so that rounding it once to float32 is an FMA's."""
    sums = np.zeros(c.shape, np.float32)
    for column, row in zip(a.T.astype(np.float64), b.astype(np.float64), strict=True):
        sums = (np.outer(column, row) + sums).astype(np.float32)
    scaled = np.float32(beta) * c if beta else np.float32(0)
    return (np.float64(np.float32(alpha)) * sums + scaled).astype(np.float32)


def assert_right(p: Parameters, m: int, n: int, k: int, alpha: float, beta: float, arch: str = "gfx1100") -> None:
    """Bit for bit, and so near to float64 as K sums can be. Without beta, C begins as NaNs."""
    a, b, c = draw(m, n, k)
    started = c if beta else np.full_like(c, np.nan)
    got = launch(p, a, b, started, alpha, beta, arch=arch)
    what = f"{p} at {m} x {n} x {k}, alpha {alpha}, beta {beta}"
    np.testing.assert_array_equal(got, in_order(a, b, started, alpha, beta), err_msg=what)
    real = [x.astype(np.float64) for x in (a, b, c)]
    exact = alpha * (real[0] @ real[1]) + beta * real[2]
    bound = 2.0**-24 * (k + 2) * (abs(alpha) * (np.abs(real[0]) @ np.abs(real[1])) + abs(beta))
    assert np.all(np.abs(got - exact) <= bound), what


ORDERS: dict[str, Callable[[int], Iterable[int]] | None] = {
    "side by side": None,
    "backward": lambda n: reversed(range(n)),
    "shuffled": lambda n: np.random.default_rng(n).permutation(n).tolist(),
}
"""Of the workgroups of a launch."""


def launch_split(
    card: Card, kernel: CompiledKernel, work: Work, stored: Sequence[np.ndarray],
    arguments: Callable[[Sequence[int], int], bytes], *, order: str = "side by side", launches: int = 1,
    check: bool = False,
) -> np.ndarray:  # fmt: skip
    """C, the third of what is stored, after launches of a stream-K kernel. arguments: of the addresses of what is
    stored and of the workspace, whose slots begin as NaN and whose counters are left at 0."""
    addresses = programs.put(card, *stored)
    workspace = card.memory.allocate(work.workspace_bytes)
    ctypes.memset(workspace, 0, COUNTERS)
    ctypes.memset(workspace + COUNTERS, 0xFF, work.workspace_bytes - COUNTERS)
    grid, block, kernarg = work.grid, (work.p.threads, 1, 1), arguments(addresses, workspace)
    for _ in range(launches):
        if check:
            told = observe(card, kernel, grid, block, kernarg).findings
            assert [x for x in told if x.severity != "note"] == []  # slots hold other sums in another order
        elif (chosen := ORDERS[order]) is None:
            card.launch(kernel, grid, block, kernarg)
        else:
            for i in chosen(grid[0] * grid[1]):
                OneWorkgroup(kernel, card.memory, card.target, grid, block, kernarg, 0, True, None).number(i)
    got = programs.held(addresses[2], stored[2])
    assert not any(ctypes.string_at(workspace, COUNTERS)), "counters are left at 0"
    for address in (*addresses, workspace):
        card.memory.free(address)
    return got
