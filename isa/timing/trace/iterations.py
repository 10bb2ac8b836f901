"""Iterations of loops: a kernel and its launch -> how often each workgroup runs each loop.

Causal attention, triangular products, batches of several lengths: how many iterations a workgroup makes depends on
where it is. The slice that decides the path (`isa.timing.trace.slicing`) shows which workgroup ids matter: each value
of those ids' axes is followed, all workgroups side by side, with no address computed; the others change nothing. Where
that would cost more than `WORK`, as of grids of a million workgroups, a stratified sample is followed, and each other
workgroup is taken for the one in front of it in the sample.

Two workgroups have one path here if each wave visits each block as often.

Limits: of the order in which blocks are visited nothing is kept.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from isa.analysis import regset
from isa.analysis.cfg import Cfg
from isa.registers import Reg
from isa.timing.trace import places
from isa.timing.trace.trace import PathRecorder
from isa.timing.trace.tracer import Follower, TracedLaunch, code_of

WORK = 2_000_000_000, 200_000_000
"""Operations of lanes, of about a nanosecond each, that it may cost to follow paths; the latter where the first FEW are
alike."""
FEW = 64
_TOGETHER = 1 << 13
"""Waves that are followed side by side."""


@dataclass(frozen=True)
class Paths:
    """kind[workgroups]: which path each takes. Of each path visits[kinds, waves, blocks] and, first[kinds], the first
    workgroup that was seen to take it. followed: how many workgroups show them all, and whether that is `all_`."""

    kind: np.ndarray
    first: np.ndarray
    visits: np.ndarray
    followed: int
    all_: bool

    @classmethod
    def of(cls, numbers: np.ndarray, visits: np.ndarray, like: np.ndarray, all_: bool) -> Paths:
        """From those that were followed, ascending. like[workgroups]: a number, of which the greatest followed one that
        is not above it shows the path."""
        rows = np.ascontiguousarray(visits.reshape(len(numbers), -1))
        row = rows.view(f"V{rows.itemsize * rows.shape[1]}").reshape(-1)
        _, first, kind = np.unique(row, return_index=True, return_inverse=True)
        before = np.searchsorted(numbers, like, side="right") - 1
        return cls(kind.reshape(-1)[before], numbers[first], visits[first], len(numbers), all_)

    def instructions(self, cfg: Cfg) -> np.ndarray:
        """int64[kinds]: that a workgroup issues."""
        lengths = np.array([len(block.range) for block in cfg.blocks], np.int64)
        return np.asarray((self.visits.astype(np.int64) @ lengths).sum(axis=1))


def paths_of(cfg: Cfg, launch: TracedLaunch) -> Paths | None:
    """None where all workgroups take one path, whatever their numbers are. IsaError as of
    `isa.timing.trace.tracer.trace`."""
    entry = code_of(cfg, launch, paths=True).part.entry
    live = [
        entry & regset.mask([Reg("s", n) for a, n, *_ in launch.workgroup_sgprs if a == axis]) != 0 for axis in "xyz"
    ]
    sizes = np.where(live, launch.grid, 1)
    count = int(sizes.prod())
    if count == 1:
        return None
    strides = np.array([1, sizes[0], sizes[0] * sizes[1]])
    steps = np.array([1, launch.grid[0], launch.grid[0] * launch.grid[1]])

    def numbers(chosen: np.ndarray) -> np.ndarray:
        return np.asarray((chosen[:, None] // strides % sizes) @ steps)

    few = spread(count, FEW)
    seen, cost = _visits(cfg, launch, numbers(few))
    each = max(1, cost // len(few))
    affordable = WORK[int((seen == seen[0]).all())] // each
    rest = np.setdiff1d(spread(count, max(len(few), affordable)), few)
    parts, chosen = [seen], [few]
    size = max(1, _TOGETHER // launch.waves)
    for begin in range(0, len(rest), size):
        chosen.append(rest[begin : begin + size])
        parts.append(_visits(cfg, launch, numbers(chosen[-1]))[0])
    at = np.concatenate(chosen)
    order = np.argsort(at)
    visits, at = np.concatenate(parts)[order], at[order]
    like = places.in_grid(launch.grid, np.arange(math.prod(launch.grid))) % sizes @ strides
    found = Paths.of(at, visits, like, len(at) == count)
    return replace(found, first=numbers(found.first))


def spread(count: int, chosen: int) -> np.ndarray:
    """About so many of `count` numbers, ascending: the first, the last, and `places.parts`."""
    return np.union1d(places.parts(count, min(count, chosen)), [0, count - 1])


def _visits(cfg: Cfg, launch: TracedLaunch, numbers: Sequence[int] | np.ndarray) -> tuple[np.ndarray, int]:
    """(int32[workgroups, waves, blocks], operations of lanes that it took)."""
    run = _Counting(cfg, launch, [int(n) for n in numbers])
    run.go()
    assert isinstance(run.recorder, _Counter)
    return run.recorder.visits.reshape(len(numbers), launch.waves, len(cfg.blocks)), run.recorder.cost


class _Counting(Follower):
    """Follows paths and nothing else."""

    def __init__(self, cfg: Cfg, launch: TracedLaunch, numbers: list[int]) -> None:
        super().__init__(cfg, launch, numbers, len(numbers))
        self.code = code_of(cfg, launch, paths=True)
        self.recorder = _Counter(cfg, launch.waves * len(numbers))
        needed = self.code.part.needed.items()
        operations = np.array([0] * len(cfg), np.int64)
        for position, inst in needed:
            operations[position] = launch.lanes if inst.desc.is_vector else 1
        self.recorder.operations = [int(operations[block.start : block.end].sum()) for block in cfg.blocks]


class _Counter(PathRecorder):
    def __post_init__(self) -> None:
        super().__post_init__()
        self.visits = np.zeros((self.waves, len(self.cfg.blocks)), np.int32)
        self.operations = [1] * len(self.cfg.blocks)
        self.cost = 0

    def enter(self, waves: np.ndarray, index: int, on: Sequence[np.ndarray] = ()) -> None:
        self.visits[waves, index] += 1
        self.cost += len(waves) * self.operations[index]
