"""Launches in which workgroups take different control-flow paths, as in stream-K kernels.

The usual trace follows one workgroup and moves its addresses for the others. Of a kernel that asks how far other
workgroups are (`slicing.Slice.polling`), `apart` looks at the paths of all workgroups of one unit (a CU or WGP): of
those that have most workgroups the one in the middle; where all workgroups are on the chip at once, the longest of that
one and the last two, which are likely to put the last pieces together. Those that take the path of workgroup 0 follow
it, their addresses moved as between it and the last of them (the far corner of the grid takes another path and says
nothing); each of the others is followed by itself, from its first instruction to its last.

Where a unit is first full of workgroups that take the path of workgroup 0, the caches are played with these. Else the
beginnings of all workgroups that the chip holds at first are: `BEGINNING` accesses of each wave, side by side.

Limits: the unit stands for all; branches that ask how far others are fall through; of the caches, later parts of a
launch are taken to be as its beginning.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from isa.analysis.cfg import Cfg
from isa.timing.trace import slicing, tracer
from isa.timing.trace.trace import Apart, Trace
from isa.timing.trace.tracer import TracedLaunch

BEGINNING = 256


def apart(cfg: Cfg, launch: TracedLaunch, found: Trace, units: int, slots: int) -> Trace:
    """`found`, or what follows workgroups that differ. units: of the card; slots: workgroups that one holds."""
    if found.exact or not slicing.polling(cfg):
        return found
    last = (found.workgroups - 1) % units
    chosen = {last // 2} if found.workgroups > units * slots else {last // 2, max(0, last - 1), last}
    sides = {unit: range(unit, found.workgroups, units) for unit in chosen}
    near = [n for n in (1, found.grid[0]) if n < found.workgroups]
    first, *seen = tracer.paths(cfg, launch, (0, *(n for side in (near, *sides.values()) for n in side)))
    probes = [n for n in near if seen.pop(0) == first]  # beside workgroup 0 and below it
    paths_of = {unit: [seen.pop(0) for _ in side] for unit, side in sides.items()}
    unit = max(sides, key=lambda unit: sum(map(len, paths_of[unit])))
    mine, paths = sides[unit], paths_of[unit]
    differ = [n for n, path in zip(mine, paths, strict=True) if path != first]
    shift, exact = found.shift, True
    if alike := [n for n in mine if n not in differ]:
        shift, _, exact = tracer.shifts(cfg, launch, (*probes, alike[-1]))
    recorded = tracer.follow(cfg, launch, (0, *differ))
    record = np.cumsum([n in differ for n in mine]) * np.array([n in differ for n in mine])
    beginnings = None
    if len(alike) < slots:
        beginnings = tracer.follow(cfg, launch, range(min(found.workgroups, units * slots)), BEGINNING)
    unit_apart = Apart(np.array(mine), record, beginnings, np.array([0, *differ]))
    return replace(found, recorded=recorded, shift=shift, exact=exact, apart=unit_apart)
