"""The whole pipeline for every rung: built, launched through hip-python on the simulated card, held to float64."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from hipgemm.kernels.ladder import LADDER
from hipgemm.launch.gemm import launch_of
from hipgemm.launch.problem import Problem
from hipgemm.measure.measure import measure

SIZES = [(128, 256, 64), (256, 256, 256), (384, 128, 64)]
SCALARS = [(1.0, 0.0), (1.5, -0.5), (0.0, 1.0)]
# In the fast run each shape and each pair of scalars once.
ALL = [
    pytest.param(shape, *scalars, marks=[] if i == j else pytest.mark.slow)
    for i, shape in enumerate(SIZES) for j, scalars in enumerate(SCALARS)
]  # fmt: skip
Shape = tuple[int, int, int]


def run(kernel: str, shape: Shape, alpha: float, beta: float) -> NDArray[np.float32]:
    """C, after the check that `hipgemm run` makes; with beta 0 it held NaN before."""
    measured = measure(LADDER[kernel], Problem(*shape, alpha=alpha, beta=beta), device="simulated")
    assert measured.result.correct, measured.result
    assert measured.result.simulated
    assert measured.result.time_kind == "predicted"
    return measured.c


@pytest.mark.parametrize(("shape", "alpha", "beta"), ALL, ids=str)
def test_every_rung_is_right_and_the_rewritten_ones_equal_kernel_5(shape: Shape, alpha: float, beta: float) -> None:
    """Bit for bit; where only the sum counts, all rungs do."""
    c = {kernel: run(kernel, shape, alpha, beta) for kernel in LADDER}
    work = launch_of(LADDER["kernel10"], *shape).work
    assert work is not None
    whole = all(len(work.parts(tile)) == 1 for tile in range(work.tiles))
    alike = LADDER.keys() if beta == 0 else ("kernel6", "kernel7", "kernel8", "kernel9", "kernel10")
    for kernel in alike if whole else [name for name in alike if name != "kernel10"]:
        assert c[kernel].tobytes() == c["kernel5"].tobytes(), kernel
    assert whole or shape != SIZES[0], "too short to be split"


@pytest.mark.parametrize("kernel", ["kernel1", "kernel9", "kernel10"])
@pytest.mark.parametrize("shape", [(1, 1, 1), (17, 33, 5), (100, 7, 64)], ids=str)
def test_kernels_that_take_any_size(kernel: str, shape: Shape) -> None:
    run(kernel, shape, 1.5, -0.5)


@pytest.mark.slow
@pytest.mark.parametrize(("alpha", "beta"), SCALARS)
@pytest.mark.parametrize("kernel", LADDER)
def test_at_1024(kernel: str, alpha: float, beta: float) -> None:
    run(kernel, (1024, 1024, 1024), alpha, beta)


def test_kernel_8_at_1024() -> None:
    run("kernel8", (1024, 1024, 1024), 1.5, -0.5)


@pytest.mark.slow
@pytest.mark.parametrize(("alpha", "beta"), SCALARS)
def test_kernel_8_at_4096(alpha: float, beta: float) -> None:
    run("kernel8", (4096, 4096, 4096), alpha, beta)
