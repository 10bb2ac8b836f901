"""The rewritten kernels are right on every target that can be chosen, and any other is refused by name.

The simulator's card is a gfx1100; the instructions of the other targets are the same, what differs is where a launch
puts its workgroup's numbers (LLVM: FeatureUserSGPRInit16Bug of gfx1100 and gfx1102) and what the compiler makes of it.
"""

import struct

import numpy as np
import pytest

from hipgemm.build import build
from hipgemm.kernels import LADDER
from hipgemm.problem import Problem
from isa.sim.card import Card
from isa.toolchain import ARCHS, UnsupportedArch


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("kernel", ["kernel6", "kernel7", "kernel8"])
def test_a_rewritten_kernel_is_right_for_each_target(kernel: str, arch: str) -> None:
    row, problem, card = LADDER[kernel], Problem(128, 256, 24, 1.5, -0.5), Card()
    made = build(row, arch=arch)
    code = made.code_object()
    assert code.arch == arch
    drawn = problem.matrices()
    addresses = [card.memory.allocate(x.nbytes) for x in drawn]
    for address, x in zip(addresses, drawn, strict=True):
        memory(address, x.shape)[:] = x
    kernarg = struct.pack("<QQQiiiff", *addresses, problem.m, problem.n, problem.k, problem.alpha, problem.beta)
    loaded = card.load(made.hsaco.read_bytes()).kernels[kernel]
    card.launch(loaded, row.grid(problem.m, problem.n), row.block, kernarg)
    verdict = problem.judge(*drawn, memory(addresses[2], drawn[2].shape))
    assert verdict.correct, verdict


def memory(address: int, shape: tuple[int, ...]) -> np.ndarray:
    """Device memory of the simulated card, which is the host's at the same address."""
    interface = {"data": (address, False), "shape": shape, "typestr": "<f4", "version": 3}
    return np.asarray(type("Memory", (), {"__array_interface__": interface})())


@pytest.mark.parametrize("arch", ["gfx1030", "gfx1150", "gfx1151", "gfx1200", "gfx942"])
def test_any_other_target_is_refused_by_name(arch: str) -> None:
    with pytest.raises(UnsupportedArch, match=arch):
        build("kernel8", arch=arch)
