"""Figures of the shipped table: what the cycle model says of its kernels at many shapes, beside kernel 8 with padding.

Kernel 8 takes multiples of 128, 128 and 8. For other shapes it is given what `hipgemm.sgemm(kernel="kernel8")` does: A
and B are copied into padded ones where they do not fit, the padded product is computed, and C is copied out of it; each
of these launches is timed by the model and all are added. Allocation and launch overhead are counted for neither side.
"""

from __future__ import annotations

import statistics
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hipgemm.kernels.ladder import STRIDED_COPY, rung
from hipgemm.pool import pool
from hipgemm.product.sgemm import COPY_BLOCK, COPY_GRID_Y
from hipgemm.tuning import shapes, trial
from hipgemm.tuning.choose import choose
from hipgemm.tuning.shapes import Shape
from hipgemm.tuning.trial import TrialTarget

if TYPE_CHECKING:
    from isa.timing.machine.cards import Card
    from isa.timing.model.ensemble import Timing
    from isa.timing.model.predict import TimedLaunch

LISTS = Path(shapes.__file__).with_name("lists")
BASELINE = "kernel8"
_ELSEWHERE = 0x7F30_0000_0000, 0x7F40_0000_0000
Step = Callable[[str], None]


@dataclass(frozen=True)
class Figure:
    """A shape, the kernel that sgemm takes and its time. baseline_s: of kernel 8 with its padding, None if not asked;
    copies: how many of them."""

    shape: Shape
    kernel: str
    timing: Timing
    baseline_s: float | None = None
    copies: int = 0

    @property
    def tflops(self) -> float:
        return self.shape.flops / self.timing.time_s / 1e12

    @property
    def peak_share(self) -> float:
        return self.tflops * 1e12 / self.timing.card.peak_flops(self.timing.clock_mhz)

    @property
    def speed_up(self) -> float:
        assert self.baseline_s is not None
        return self.baseline_s / self.timing.time_s


def listed(name: str) -> list[Shape]:
    """The shapes of one of the lists that came with the package."""
    return shapes.load(str(LISTS / f"{name}.txt"))


def figures(wanted: Sequence[Shape], on: Card, *, baseline: bool, step: Step, jobs: int = 1) -> list[Figure]:
    """One for each shape, by the default tables, from so many processes. What was predicted before comes from the disk,
    so that who was stopped goes on."""
    with pool("local", jobs) as workers:
        asked = [workers.executor.submit(figure, shape, on, baseline) for shape in wanted]
        found = []
        for shape, future in zip(wanted, asked, strict=True):
            step(f"{shape}")
            found.append(future.result())
    return found


def figure(shape: Shape, on: Card, baseline: bool) -> Figure:
    """Of one shape."""
    target = TrialTarget(on.name, on.clock_mhz)
    kernel = choose(shape, on.name).kernel
    timing = trial.launch(kernel, shape, target).timing()
    base, copies = padded(shape, target, on) if baseline else (None, 0)
    return Figure(shape, kernel, timing, base, copies)


def geometric_mean(found: Sequence[Figure]) -> float:
    """Of the speed-ups."""
    return statistics.geometric_mean(f.speed_up for f in found)


def padded(shape: Shape, target: TrialTarget, on: Card) -> tuple[float, int]:
    """(seconds of kernel 8 with its copies, how many copies)."""
    m, n, k = shape.m, shape.n, shape.k
    row = rung(BASELINE)
    rows, columns, depth = (-(-x // t) * t for x, t in zip((m, n, k), row.tile, strict=True))
    seconds = trial.launch(BASELINE, Shape(rows, columns, depth), target).timing().time_s
    copies = [
        (small, large)
        for small, large in (((m, k), (rows, depth)), ((k, n), (depth, columns)))
        if small != large
    ]  # fmt: skip
    if (m, n) != (rows, columns):
        copies.append(((rows, columns), (m, n)))
    return seconds + sum(_copy(source, goal, on).timing().time_s for source, goal in copies), len(copies)


def _copy(source: tuple[int, int], goal: tuple[int, int], on: Card) -> TimedLaunch:
    """A dense matrix into a dense one of another size, as hipgemm.product.sgemm.strided_copy launches it."""
    from hipgemm.kernels.build import build
    from isa.timing.model import predict

    width, height, _ = COPY_BLOCK
    grid = -(-goal[1] // width), min(-(-goal[0] // height), COPY_GRID_Y), 1
    # The part of the larger one that both have, row by row of each.
    rows, columns = (min(a, b) for a, b in zip(source, goal, strict=True))
    kernarg = struct.pack(
        "<QqqiiQqqiif", _ELSEWHERE[0], source[1], 1, rows, columns, _ELSEWHERE[1], goal[1], 1, goal[0], goal[1], 1.0
    )
    built = build(STRIDED_COPY, arch=on.arch)
    return predict.TimedLaunch(built.code_object(), STRIDED_COPY.name, grid, COPY_BLOCK, kernarg, on)
