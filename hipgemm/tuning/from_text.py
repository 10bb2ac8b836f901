"""The model's estimate of a generated kernel, for those who rank hundreds: kernel, shape, card -> seconds.

What `isa.timing.model.predict.TimedLaunch.estimate` says of the built kernel, without building it: the program is timed
as it was generated, nothing is assembled or disassembled. Sizes of instructions are then those of their kind, and the
last pass of a build, which takes apart what it seldom finds, has not run. The two agree where neither matters, which is
nearly always (`tests/hipgemm/tuning/test_from_text.py`).
"""

from __future__ import annotations

import functools

from hipgemm.kernels.ladder import rung
from hipgemm.launch.gemm import launch_of
from hipgemm.tuning.shapes import Shape
from isa.analysis import cfg as control_flow
from isa.analysis.cfg import Cfg
from isa.gemm.vector.generate import generate
from isa.gemm.vector.parameters import Parameters
from isa.gemm.vector.registers import SCALARS, Registers
from isa.timing.machine.cards import Card
from isa.timing.model import ensemble
from isa.timing.model.predict import followed
from isa.timing.model.run import Resources, prepare
from isa.timing.trace.tracer import TracedLaunch

_MATRICES = 0x7F00_0000_0000, 0x7F10_0000_0000, 0x7F20_0000_0000
_WORKSPACE, _KERNARG = 0x7F30_0000_0000, 0x10_0000_0000


def seconds(kernel: str, shape: Shape, on: Card, clock_mhz: float) -> float:
    """The time of a generated kernel. IsaError where there is no such kernel, or none for these sizes."""
    p = rung(kernel).parameters
    assert isinstance(p, Parameters)
    launch = launch_of(rung(kernel), shape.m, shape.n, shape.k, on.cus)
    cfg, vgprs = _program(kernel, p, on.arch)
    kernarg = launch.kernarg(_MATRICES, 1.0, 0.0, _WORKSPACE)
    s, resources = SCALARS, Resources(vgprs, p.lds_bytes, True)
    start = TracedLaunch(
        launch.grid,
        launch.block,
        sgprs=((s.kernarg.index, _KERNARG & 0xFFFFFFFF), (s.kernarg.index + 1, _KERNARG >> 32)),
        workgroup_sgprs=(("x", s.group_x.index), ("y", s.group_y.index)),
        item_axes=1,
        memory=((_KERNARG, kernarg + bytes(-len(kernarg) % 16)),),
    )
    return ensemble.quick(prepare(cfg, followed(cfg, start, resources, on), resources, on), clock_mhz).time_s


@functools.lru_cache(maxsize=2)
def _program(kernel: str, p: Parameters, arch: str) -> tuple[Cfg, int]:
    """Control flow and VGPRs of a kernel as it was generated."""
    program = generate(p, kernel, arch=arch)
    return control_flow.of_kernel(program.kernel(kernel)), Registers.of(p).count
