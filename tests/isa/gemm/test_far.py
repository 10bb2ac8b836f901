"""Matrices whose far rows and columns lie beyond 4 GiB: their last workgroup, run alone, in memory that is only there
where it is touched."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from launching import NAME, OneWorkgroup, draw, image, in_order

from isa.gemm.vector.parameters import Parameters
from isa.sim.run.card import Card

_SMALL = {"thread_rows": 4, "thread_columns": 4, "group": 2}
_FOUR_GIB = 2**32


def view(address: int, shape: tuple[int, int]) -> np.ndarray:
    """Device memory of the simulated card, which is the host's at the same address."""
    interface = {"data": (address, False), "shape": shape, "typestr": "<f4", "version": 3}
    return np.asarray(type("Memory", (), {"__array_interface__": interface})())


def run_last(p: Parameters, m: int, n: int, k: int, arch: str = "gfx1100") -> tuple[np.ndarray, np.ndarray]:
    """(C, what it must be) of the last workgroup's tile."""
    grid = -(-n // p.columns), -(-m // p.rows), 1
    top, left = (grid[1] - 1) * p.rows, (grid[0] - 1) * p.columns
    alpha, beta = 1.5, -0.5
    a, b, c = draw(m - top, n - left, k)
    card = Card(baseline=True)
    shapes = (k, m) if p.trans_a else (m, k), (n, k) if p.trans_b else (k, n), (m, n)
    addresses = [card.memory.allocate(4 * shape[0] * shape[1]) for shape in shapes]
    whole_a, whole_b, whole_c = map(view, addresses, shapes)
    (whole_a.T if p.trans_a else whole_a)[top:] = a
    (whole_b.T if p.trans_b else whole_b)[:, left:] = b
    whole_c[top:, left:] = c
    kernel = card.load(image(p, arch)).kernels[NAME]
    kernarg = struct.pack("<QQQiiiff", *addresses, m, n, k, alpha, beta)
    launch = OneWorkgroup(kernel, card.memory, card.target, grid, (p.threads, 1, 1), kernarg, 0, True, None)
    launch.number(launch.total - 1)
    return np.array(whole_c[top:, left:]), in_order(a, b, c, alpha, beta)


# Nothing here is skipped over: what stands at the end lies beyond 4 GiB after the start of its matrix.
CASES = {
    "far rows of A": (Parameters(32, 16, 8, lane_rows=8, **_SMALL), 2**27 + 5, 3, 9, "A"),
    "far columns of A, which lies as K x M": (
        Parameters(32, 16, 8, lane_rows=8, trans_a=True, width_a=2, **_SMALL), 2**27 - 1, 3, 9, "A",
    ),
    "far columns of B": (Parameters(4, 128, 8, lane_rows=1, **_SMALL, width_b=4), 3, 2**27 - 1, 9, "B"),
    "far rows of B, which lies as N x K": (
        Parameters(4, 128, 8, lane_rows=1, trans_b=True, **_SMALL), 3, 2**27 + 5, 9, "B",
    ),
    "far rows of C": (Parameters(4, 128, 8, lane_rows=1, **_SMALL), 12, 2**27 - 1, 3, "C"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_last_workgroup(name: str) -> None:
    p, m, n, k, far = CASES[name]
    assert all(size <= most for size, most in zip((m, n, k), p.largest, strict=True))
    assert 4 * {"A": m * k, "B": k * n, "C": m * n}[far] > _FOUR_GIB
    got, expected = run_last(p, m, n, k)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("name", ["far columns of B", "far rows of C"])
def test_the_last_workgroup_on_rdna4(name: str) -> None:
    p, m, n, k, _ = CASES[name]
    np.testing.assert_array_equal(*run_last(p, m, n, k, "gfx1201"))


def test_three_million_rows_on_rdna4() -> None:
    """C alone is larger than 4 GiB."""
    p = Parameters(64, 128, 8, lane_rows=8, thread_rows=8, thread_columns=8, group=2, width_b=4)
    np.testing.assert_array_equal(*run_last(p, 3_000_000, 400, 24, "gfx1201"))


@pytest.mark.slow
@pytest.mark.parametrize("trans_b", [False, True])
def test_lines_as_long_as_may_be(trans_b: bool) -> None:
    """A line of A, and of B where it lies along k, is so long that a tile's last one begins just below 4 GiB."""
    p = Parameters(32, 128, 16, lane_rows=8, thread_rows=4, thread_columns=8, trans_b=trans_b, width_a=4)
    k = p.largest[2]
    assert 0 <= _FOUR_GIB - 4 * k * (p.columns if trans_b else p.rows) <= 4 * p.columns
    card = Card()
    m, n = p.rows, p.columns if trans_b else 3
    shapes = (m, k), (n, k) if trans_b else (k, n), (m, n)
    addresses = [card.memory.allocate(4 * shape[0] * shape[1]) for shape in shapes]
    whole_a, whole_b, whole_c = map(view, addresses, shapes)
    a, b, _ = draw(m, n, 48)
    some = slice(k - 48, k)
    whole_a[:, some] = a
    (whole_b.T if trans_b else whole_b)[some] = b
    kernel = card.load(image(p)).kernels[NAME]
    card.launch(kernel, (1, 1, 1), (p.threads, 1, 1), struct.pack("<QQQiiiff", *addresses, m, n, k, 1.0, 0.0))
    np.testing.assert_array_equal(whole_c, in_order(a, b, np.zeros((m, n), np.float32), 1.0, 0.0))


@pytest.mark.parametrize(
    ("p", "largest"),
    [
        (Parameters(), (2**31 - 1, 2**23 - 1, 2**23 - 1)),
        (Parameters(trans_a=True, thread_columns=8), (2**27 - 1, 2**23 - 1, 2**31 - 1)),
        (Parameters(trans_a=True, trans_b=True, thread_columns=8, columns=64), (2**27 - 1, 2**23 - 1, 2**24 - 1)),
        (Parameters(4, 128, 8, lane_rows=1, thread_rows=4, thread_columns=4), (2**31 - 1, 2**27 - 1, 2**28 - 1)),
    ],
)
def test_the_largest_sizes(p: Parameters, largest: tuple[int, int, int]) -> None:
    """A tile of rows, columns or steps of k is one line after the other: 2^32 bytes of them."""
    assert p.largest == largest
