"""On every rung the fast version of the code, the plain one, and code for other host processors leave the same bits."""

import ctypes
import struct
from functools import cache

import numpy as np
import pytest

from hipgemm.build import build
from hipgemm.kernels import LADDER
from isa.errors import IsaError
from isa.sim.card import Card
from isa.sim.jit import LEVELS, Target

M, N, K = 256, 128, 64


def runs_here(cpu: str) -> bool:
    try:
        Target(cpu).check_host()
    except IsaError:
        return False
    return True


@cache
def product(kernel: str, cpu: str = "native", fast: bool = True) -> bytes:
    """C = 1.5 A B - 0.5 C with infinities, denormals and zeros of both signs among the elements of A."""
    card, row, random = Card(cpu=cpu, capacity=1 << 26), LADDER[kernel], np.random.default_rng(5)
    a, b, c = (random.standard_normal(shape, dtype=np.float32) for shape in ((M, K), (K, N), (M, N)))
    a[::7, 3] = np.resize(np.array([np.inf, -np.inf, 1e-40, -0.0, 0.0, 3e38, -1e-45, 1.0], np.float32), a[::7, 3].size)
    places = [card.memory.allocate(x.nbytes) for x in (a, b, c)]
    for place, x in zip(places, (a, b, c), strict=True):
        ctypes.memmove(place, x.ctypes.data, x.nbytes)
    loaded = card.load(build(kernel).hsaco.read_bytes()).kernels[kernel]
    kernarg = struct.pack("<QQQiiiff", *places, M, N, K, 1.5, -0.5)
    report = card.launch(loaded, row.grid(M, N), row.block, kernarg, fast=fast)
    assert not report.plain, "the fast version ran from end to end, or the plain one alone"
    return ctypes.string_at(places[2], c.nbytes)


@pytest.mark.parametrize("kernel", LADDER)
def test_the_plain_version(kernel: str) -> None:
    assert product(kernel) == product(kernel, fast=False)


@pytest.mark.parametrize("cpu", LEVELS)
@pytest.mark.parametrize("kernel", ["kernel1", "kernel5", "kernel8"])
def test_other_processors(kernel: str, cpu: str) -> None:
    if not runs_here(cpu):
        pytest.skip(f"this machine cannot run code for {cpu}")
    ours, theirs = (np.frombuffer(product(kernel, c), np.float32) for c in ("native", cpu))
    assert np.array_equal(np.isnan(ours), np.isnan(theirs))
    assert ours[~np.isnan(ours)].tobytes() == theirs[~np.isnan(theirs)].tobytes()
