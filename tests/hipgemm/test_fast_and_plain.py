"""On every rung the fast version of the code, the plain one, and code for other host processors leave the same bits."""

from functools import cache

import numpy as np
import programs
import pytest

from hipgemm.kernels.build import build, image
from hipgemm.kernels.ladder import LADDER, rung
from hipgemm.launch.gemm import launch_of
from isa.errors import IsaError
from isa.semantics.float_mode import FloatMode
from isa.semantics.reference.values import NumpyValue
from isa.sim.ir.jit import LEVELS, HostTarget
from isa.sim.run.card import Card

M, N, K = 256, 128, 64
QUICK = ("kernel1", "kernel2", "kernel3", "kernel4", "kernel5", "kernel8")  # 6 and 7 are on the way from 5 to 8
SMALL = "gemm_64x64x8_4x4_l4_g2_s2_nn"
"""A kernel as 9, whose code is translated in a tenth of the time."""


def runs_here(cpu: str) -> bool:
    try:
        HostTarget(cpu).check_host()
    except IsaError:
        return False
    return True


@cache
def matrices() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A, B and C with infinities, denormals and zeros of both signs among the elements of A, and NaNs of all kinds,
    also of A and of B in one product."""
    random = np.random.default_rng(5)
    a, b, c = (random.standard_normal(shape, dtype=np.float32) for shape in ((M, K), (K, N), (M, N)))
    a[::7, 3] = np.resize(np.array([np.inf, -np.inf, 1e-40, -0.0, 0.0, 3e38, -1e-45, 1.0], np.float32), a[::7, 3].size)
    b[3, ::5] = 0
    for matrix, count in ((a, 40), (b, 20), (c, 40)):
        bits = random.integers(0x7F800001, 0x80000000, count) | random.integers(0, 2, count) << 31
        matrix.view(np.uint32).reshape(-1)[random.integers(0, matrix.size, count)] = bits
    a.view(np.uint32)[17, 40], b.view(np.uint32)[40, :64] = 0xFF812345, np.arange(0x7FC00100, 0x7FC00140)
    return a, b, c


@cache
def product(kernel: str, cpu: str = "native", fast: bool = True, alpha: float = 1.5, beta: float = -0.5) -> bytes:
    """C = alpha A B + beta C."""
    card, row = Card(cpu=cpu, capacity=1 << 26), rung(kernel)
    places = programs.put(card, *matrices())
    code = image(row) if row.parameters else build(kernel).hsaco.read_bytes()
    loaded = card.load(code).kernels[kernel]
    launch = launch_of(row, M, N, K, cus=1)  # so few that no tile is done in pieces
    kernarg = launch.kernarg(places, alpha, beta, card.memory.allocate(launch.workspace_bytes or 1))
    report = card.launch(loaded, launch.grid, launch.block, kernarg, fast=fast)
    assert not report.plain, "the fast version ran from end to end, or the plain one alone"
    return programs.held(places[2], matrices()[2]).tobytes()


@pytest.mark.parametrize(
    "kernel", [SMALL, *(k if k in QUICK else pytest.param(k, marks=pytest.mark.slow) for k in LADDER)]
)
def test_the_plain_version(kernel: str) -> None:
    assert product(kernel) == product(kernel, fast=False)


@pytest.mark.parametrize("cpu", LEVELS)
@pytest.mark.parametrize(
    "kernel", ["kernel2", *(pytest.param(k, marks=pytest.mark.slow) for k in ("kernel1", "kernel5", "kernel8"))]
)
def test_other_processors(kernel: str, cpu: str) -> None:
    if not runs_here(cpu):
        pytest.skip(f"this machine cannot run code for {cpu}")
    assert product(kernel, cpu) == product(kernel)


@pytest.mark.parametrize("kernel", LADDER)
def test_each_nan_is_the_one_that_the_reference_gives(kernel: str) -> None:
    a, b, _ = matrices()
    mode = FloatMode()
    total = NumpyValue("f32", np.zeros((M, N), np.float32), mode)
    for k in range(K):
        row, column = (NumpyValue("f32", np.broadcast_to(x, (M, N)), mode) for x in (a[:, k : k + 1], b[k : k + 1]))
        total = row.fma(column, total)
    want = (total * 1.0).a.view(np.uint32)
    got = np.frombuffer(product(kernel, alpha=1.0, beta=0.0), np.uint32).reshape(M, N)
    swapped = np.isnan(a) @ np.isnan(b)  # both are NaNs: which one is the first is the kernel's affair
    assert np.isnan(want.view(np.float32)).mean() > 0.3
    assert np.array_equal(want[~swapped], got[~swapped])
    assert swapped.any()
    assert set(got[swapped] & 0x3FFFFF) <= {0x12345, *range(0x100, 0x140), *(want[swapped] & 0x3FFFFF)}
