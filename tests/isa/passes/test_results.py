"""Kernels 5 to 8 on the simulated card: right against float64, and the same bits, since no order of sums changed."""

import struct
from typing import Any

import numpy as np
import programs
import pytest
from numpy.typing import NDArray

from isa.sim.run.card import Card

SIZES = [(128, 128, 8), (128, 128, 128), (256, 256, 256), (384, 128, 64), (128, 384, 24)]
FACTORS = [(1.0, 0.0), (1.5, -0.5), (0.0, 1.0)]
Matrix = NDArray[np.float32]


class Bench:
    """One compiler's kernels 5 to 8 on one card."""

    def __init__(self, ladder: dict[str, Any]) -> None:
        self.card = Card()
        self.kernels = {name: self.card.load(rung.image).kernels["kernel5"] for name, rung in ladder.items()}

    def run(self, name: str, a: Matrix, b: Matrix, c: Matrix, alpha: float, beta: float) -> Matrix:
        """alpha * a @ b + beta * c. Any access outside of the three allocations fails the launch."""
        places = programs.put(self.card, a, b, c)
        m, n, k = a.shape[0], b.shape[1], a.shape[1]
        arguments = struct.pack("<QQQiiiff", *places, m, n, k, alpha, beta)
        self.card.launch(self.kernels[name], (n // 128, m // 128, 1), (128, 1, 1), arguments)
        out = programs.held(places[2], c)
        for place in places:
            self.card.memory.free(place)
        return out


@pytest.fixture(scope="module")
def bench(ladder: dict[str, Any]) -> Bench:
    return Bench(ladder)


@pytest.mark.parametrize(("alpha", "beta"), FACTORS)
@pytest.mark.parametrize(("m", "n", "k"), SIZES)
def test_right_and_bit_for_bit_alike(bench: Bench, m: int, n: int, k: int, alpha: float, beta: float) -> None:
    random = np.random.default_rng(m + n + k)
    a, b, c = (random.standard_normal(shape, dtype=np.float32) for shape in ((m, k), (k, n), (m, n)))
    if beta == 0:
        c[:] = np.nan  # must not come through
    expected = alpha * (a.astype(np.float64) @ b.astype(np.float64)) + (beta * c.astype(np.float64) if beta else 0)
    # Rounding of k sums and two more operations, each term at most |a| |b|.
    bound = (k + 3) * 2.0**-24 * (abs(alpha) * (np.abs(a) @ np.abs(b)) + (np.abs(beta * c) if beta else 0)) + 1e-30
    results = {name: bench.run(name, a, b, c, alpha, beta) for name in bench.kernels}
    for name, result in results.items():
        assert (np.abs(result - expected) <= bound).all(), name
        assert np.array_equal(result.view(np.uint32), results["kernel5"].view(np.uint32)), name


def test_special_values_go_the_same_way(bench: Bench) -> None:
    """Infinities, NaN, denormals and zeros of both signs in A and B."""
    random = np.random.default_rng(7)
    special = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-40, -1e-42, 3e38], np.float32)
    a, b = (
        np.where(random.random((128, 128)) < 0.01, random.choice(special, (128, 128)), 1).astype(np.float32)
        for _ in "ab"
    )
    c = np.zeros((128, 128), np.float32)
    results = [bench.run(name, a, b, c, 1.0, 0.0) for name in bench.kernels]
    assert all(np.array_equal(r, results[0], equal_nan=True) for r in results)
