"""Addresses of workgroups: a launch without even places -> the addresses of each workgroup by itself.

The usual trace takes an address to move by one distance with each axis of a workgroup's place, in the grid or in an
order of tiles that first waves show (`isa.timing.workgroups.unequal`). Kernels whose waves part before they load show
none, nor do workgroups that fill no straight lines; and one load may be of A in one wave and of B in another. Which
lines the workgroups of the chip share, and so what L1, L2 and L3 serve, follows from their addresses. `placed` gives
such a trace `Moves`: how far the addresses of each wave and instruction lie from those of workgroup 0, for each
workgroup that the model asks for.

A distance is the one between first addresses of one instruction. So only the path to each access is followed: a loop
that accesses memory is left after `TRIPS` trips, all others (which may compute where a tile lies) run to their end.
Waves whose accesses move alike in a few workgroups stand for one another in all; one of each kind is followed.

Limits: path, lanes, and what moves after a loop's first trips are those of workgroup 0. `Trace.exact` says whether the
lanes of the workgroups that were followed are those of workgroup 0, and each of its accesses was reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from isa.analysis.cfg import Block, Cfg
from isa.timing.trace.places import in_grid
from isa.timing.trace.trace import Moves, PathRecorder, Trace
from isa.timing.trace.tracer import Follower, TracedLaunch, part_of

TRIPS = 2
_TOGETHER = 4096
"""Waves that are followed side by side."""


def needed(workgroups: int, units: int, slots: int) -> np.ndarray:
    """Numbers of the workgroups whose addresses the model asks for: two rounds of the chip, its last one, and the
    workgroups of the busiest unit."""
    resident = min(workgroups, units * slots)
    rounds = np.arange(min(workgroups, 2 * resident)), np.arange(workgroups - resident, workgroups)
    return np.unique(np.concatenate([*rounds, np.arange(0, workgroups, units)]))


def placed(cfg: Cfg, launch: TracedLaunch, found: Trace, units: int, slots: int) -> Trace:
    """`found`, or where the addresses of workgroups that are not at the grid's far border do not move evenly, with
    `Moves`. units: of the card; slots: workgroups that one holds."""
    if found.exact or found.apart:
        return found
    numbers = needed(found.workgroups, units, slots)
    inner = numbers[(in_grid(found.grid, numbers) < np.maximum(1, np.array(found.grid) - 1)).all(axis=1)]
    few = inner[np.linspace(0, len(inner) - 1, 4).astype(int)]
    some = First(cfg, launch, few, np.arange(launch.waves))
    evenly = found.moved(few)
    if not some.distances[some.known & (some.distances != evenly.distances[:, evenly.column] << 5)].size:
        return found
    kinds, kind = np.unique(some.distances.swapaxes(0, 1), axis=0, return_index=True, return_inverse=True)[1:]
    each = max(1, _TOGETHER // len(kinds))
    parts = [First(cfg, launch, numbers[i : i + each], kinds) for i in range(0, len(numbers), each)]
    distances = np.concatenate([part.distances for part in parts]).reshape(len(numbers), -1)
    columns, column = np.unique(distances >> 5, axis=1, return_inverse=True)
    column = np.ascontiguousarray(column.reshape(len(kinds), len(cfg))[kind.reshape(-1)])
    exact = all(part.alike for part in (some, *parts)) and some.reached(found) and not (distances & 31).any()
    return replace(found, moves=Moves(numbers, np.ascontiguousarray(columns), column), exact=exact)


class First(Follower):
    """These waves of workgroup 0 and of others side by side, each on the short path that the module's docstring
    describes.

    distances[workgroup, wave, instruction]: bytes from workgroup 0, by the first lane that is on in the first access
    that has one; 0 where not known: it is in both. alike: all of them have the lanes of workgroup 0; first[wave,
    instruction]: these."""

    def __init__(self, cfg: Cfg, launch: TracedLaunch, numbers: Sequence[int] | np.ndarray, waves: np.ndarray) -> None:
        probes = [0, *map(int, numbers)]
        super().__init__(cfg, launch, probes, recorded=0, last=1 << 62)
        rows = launch.waves * len(probes)
        self.recorder, self.chosen = PathRecorder(cfg, rows), waves
        self.at, self.lanes = (np.zeros((rows, len(cfg)), np.int64) for _ in range(2))
        self.trips = np.zeros((rows, len(cfg.blocks)), np.int64)
        accessed = {block.index for block in cfg.blocks if self.probed[block.start : block.end].any()}
        self.exits = {a: b for loop in cfg.loops if loop.blocks & accessed for a, b in loop.exits}
        self.go()
        at, lanes = (a.reshape(len(probes), launch.waves, -1)[:, waves] for a in (self.at, self.lanes))
        self.known = (lanes[1:] & -lanes[1:] == lanes[0] & -lanes[0]) & (lanes[0] != 0)
        self.distances = np.where(self.known, at[1:] - at[:1], 0)
        self.first, self.alike = lanes[0], bool((lanes == lanes[:1]).all())

    def absolute(self) -> np.ndarray:
        """int64[1 + workgroups, waves, instructions]: byte addresses, workgroup 0's first."""
        return self.at.reshape(len(self.probes), self.launch.waves, -1)

    def each_lanes(self) -> np.ndarray:
        """The same of masks; 0 where an instruction was not reached."""
        return self.lanes.reshape(len(self.probes), self.launch.waves, -1)

    def reached(self, found: Trace) -> bool:
        """Whether workgroup 0, all of whose waves are followed, made each access on its path in `found`."""
        r = found.recorded
        for wave, (first, last) in enumerate(pairwise(r.block_at)):
            blocks = [self.cfg.blocks[b] for b in np.unique(r.blocks[first:last])]
            if any((self.first[wave] == 0)[b.start : b.end][self.probed[b.start : b.end]].any() for b in blocks):
                return False
        return True

    def _all_waves(self) -> tuple[np.ndarray, list[Any], list[Any], dict[Any, Any], list[Any]]:
        rows, v, s, f, c = super()._all_waves()
        keep = np.isin(rows % self.launch.waves, self.chosen)
        return rows[keep], *part_of(v, s, f, c, keep)

    def _leaves(self, rows: np.ndarray, where: Block) -> int | None:
        if where.index not in self.exits:
            return None
        self.trips[rows, where.index] += 1
        if self.trips[rows[0], where.index] < TRIPS:
            return None
        self.trips[rows, where.index] = 0
        return self.exits[where.index]

    def _record(
        self, block: int, positions: np.ndarray, rows: np.ndarray, addresses: np.ndarray, masks: np.ndarray
    ) -> None:
        for k in np.flatnonzero(self.probed[positions]):
            new = (self.lanes[rows, positions[k]] == 0) & (masks[k] != 0)
            lane = (masks[k][new, None] >> np.arange(32) & 1).argmax(axis=1)
            self.at[rows[new], positions[k]] = addresses[k][new, lane]
            self.lanes[rows[new], positions[k]] = masks[k][new]
