"""The model's quick look at a generated kernel, for those who rank hundreds: kernel, shape, card -> seconds.

The program is timed as it was generated: nothing is assembled, so that sizes of instructions are those of their kind,
and the last pass of a build, which takes apart what it seldom finds, has not run. A long K is cut to 2048 steps and what
it has beyond a multiple of them, so that rows along it lie in the same sets of L0. What the workgroups of that launch do is played twice, the second time without half of the trips of the main loop; the rest
of K goes at the rate between the two. Tiles in pieces keep the number of their pieces.

How far it lies from the model's estimate of the whole: docs/tuning.md.
"""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np

from hipgemm.gemm_launch import GemmGrid, launch_of
from hipgemm.kernels import rung
from hipgemm.tuning.shapes import Shape
from isa.analysis import cfg as control_flow
from isa.analysis.cfg import Cfg
from isa.errors import IsaError
from isa.gemm.generate import generate
from isa.gemm.parameters import Parameters
from isa.gemm.registers import SCALARS, Registers
from isa.gemm.work import Work
from isa.timing import ensemble, shorten
from isa.timing.cards import Card
from isa.timing.model import Prepared, Resources, prepare
from isa.timing.predict import followed
from isa.timing.tracer import TracedLaunch

_PITCH = 2048
"""Steps of K after which rows of f32 fall into the same sets of L0 again."""
_TRIPS = 2 * shorten.LEAST
"""Trips of the main loop that a piece of a tile is left with, at least: half of them are to be cut out."""
_MATRICES = 0x7F00_0000_0000, 0x7F10_0000_0000, 0x7F20_0000_0000
_WORKSPACE, _KERNARG = 0x7F30_0000_0000, 0x10_0000_0000


def seconds(kernel: str, shape: Shape, on: Card, clock_mhz: float) -> float:
    """The time of a generated kernel. IsaError where there is no such kernel, or none for these sizes."""
    p = rung(kernel).parameters
    assert isinstance(p, Parameters)
    launch = launch_of(rung(kernel), shape.m, shape.n, shape.k, on.cus)
    short = _short(p, shape.k, launch.work)
    ready = _ready(kernel, p, _with_k(launch, p, short), on)
    time = ensemble.quick(ready, clock_mhz).time_s
    if short == shape.k:
        return time
    less, share = _half(ready)
    if not share:
        raise IsaError(f"{kernel} has no main loop to be cut at K = {short}")
    rate = max(0.0, time - ensemble.quick(less, clock_mhz).time_s) / (share * short)
    return time + rate * (shape.k - short)


def _short(p: Parameters, k: int, work: Work | None) -> int:
    """How much of K is followed: rows along it lie as before in the sets of L0. All of it where little would be left
    out."""
    pieces = -(-work.ranges // work.streamed) if work and work.streamed else 1
    least = p.depth * p.stages * _TRIPS * pieces
    short = k % _PITCH + _PITCH * max(1, -(-(least - k % _PITCH) // _PITCH))
    return short if 4 * short <= 3 * k else k


def _with_k(launch: GemmGrid, p: Parameters, k: int) -> GemmGrid:
    """A launch over fewer steps, its tiles in as many pieces as before."""
    work = replace(launch.work, blocks=max(1, -(-k // p.depth))) if launch.work else None
    return replace(launch, sizes=(*launch.sizes[:2], k), work=work)


def _ready(kernel: str, p: Parameters, launch: GemmGrid, on: Card) -> Prepared:
    """A launch followed, and its caches played, as `TimedLaunch.prepared` does from a code object."""
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
    return prepare(cfg, followed(cfg, start, resources, on), resources, on)


@functools.lru_cache(maxsize=2)
def _program(kernel: str, p: Parameters, arch: str) -> tuple[Cfg, int]:
    """Control flow and VGPRs of a kernel as it was generated."""
    program = generate(p, kernel, arch=arch)
    return control_flow.of_kernel(program.kernel(kernel)), Registers.of(p).count


def _half(ready: Prepared) -> tuple[Prepared, float]:
    """The same launch without half of the trips of its main loop, and which share of all its trips that is."""
    whole = ready.trace.recorded
    less = shorten.shortened(ready.cfg, ready.code, whole, 0.5, shorten.LEAST // 2)
    visits, left = (np.bincount(r.blocks, minlength=len(ready.cfg.blocks)) for r in (whole, less))
    most = int((visits - left).argmax())
    return replace(ready, trace=replace(ready.trace, recorded=less)), float(1 - left[most] / visits[most])
