"""Launches whose workgroups do not all do the same: a trace -> one in which the busiest unit (a CU or WGP) has its own
mix of them. Three kinds, a function each; the trace of any other launch stays as it is.

`unequal`: loops make other numbers of iterations (`isa.timing.trace.iterations`), or some workgroups have nothing to
do. One workgroup of each path is recorded whole, and stands for all of that path, its addresses moved; the caches are
played with the path of each workgroup of the chip. Addresses move by even distances with places
(`isa.timing.trace.places`) where some workgroups of the unit show that they do; else each workgroup's are its own
(`isa.timing.workgroups.addresses`). Where no number of iterations differs nothing is done: at the edges of a grid masks
differ, and with them branches.

`dealt`: tiles are dealt out in an order of the kernel's own, such as rows of tiles in groups that share what L2 holds
(Triton's GROUP_M, `isa.gemm.matrix.order`), so that addresses do not go in straight lines with x, y and z. The first
wave of each workgroup is followed through its first FIRST_ACCESSES accesses, and places are taken from where these lie
(`places.axes_of`): of a matrix product, the rows and columns of tiles, however they are numbered. Workgroups with small
places then show, followed whole, how all other instructions move, and the far corner and the one in the middle whether
that is so.

`apart`: kernels that ask how far other workgroups are (`slicing.Slice.polling`), such as stream-K ones, whose
workgroups take different paths. The unit is the one in the middle of those that have most workgroups; where all
workgroups are on the chip at once, the longest of that one and the last two, which are likely to put the last pieces
together. Workgroups that take the path of workgroup 0 follow it, their addresses moved as between it and the last of
them (the far corner of the grid takes another path and says nothing); each of the others is followed by itself, from
its first instruction to its last. Where a unit is first full of workgroups that take the path of workgroup 0, the
caches are played with these, else with the beginnings of all workgroups that the chip holds at first: `BEGINNING`
accesses of each wave, side by side.

`busiest`: a workgroup waits until a unit has room, in the order of their numbers. At first each unit gets one in turn,
then each a second one, until all are full; from then on whoever ends makes room for the next. The load of a workgroup
is what it issues, and a place in a unit works at one pace. So equal workgroups come to unit `number mod units`, as
elsewhere in the model.

Limits. The unit stands for all: each has its share of the bandwidth after L0 until the busiest one ends, and the pace
of a place is the same whatever runs beside it. `Trace.exact` is false where not every workgroup's path was followed,
which `unequal` does for PATHS paths of INSTRUCTIONS instructions in all (others follow the one whose number of
instructions is nearest), and `dealt` not at the edges. `dealt` keeps the grid's axes for more than MOST workgroups,
where first addresses need more than three axes, and where the probes disagree: the last workgroup's first lane may read
the last row in place of one after it. In `apart` branches that ask how far others are fall through, and later parts of
a launch find the caches as its beginning does.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from isa.analysis.cfg import Cfg
from isa.timing.trace import iterations, slicing, tracer
from isa.timing.trace.iterations import Paths
from isa.timing.trace.places import Triple, axes_of, in_grid
from isa.timing.trace.trace import Apart, Iterations, Moves, Recorder, Trace
from isa.timing.trace.tracer import Follower, TracedLaunch
from isa.timing.workgroups.addresses import First, needed

PATHS = 64
INSTRUCTIONS = 20_000_000
_SHOW = 16
"""Workgroups of the unit that show whether addresses move evenly."""
_TOGETHER = 4096


def unequal(cfg: Cfg, launch: TracedLaunch, found: Trace, units: int, slots: int) -> Trace:
    """`found`, or where iterations differ what the module's docstring says. units: of the card; slots: workgroups that
    one holds."""
    if found.apart or slicing.polling(cfg):
        return found
    paths = iterations.paths_of(cfg, launch)

    def recorded(numbers: np.ndarray) -> Recorder:
        run = Follower(cfg, launch, [int(n) for n in numbers], len(numbers))
        run.go()
        return run.recorder

    made = None if paths is None else by_paths(cfg, found, paths, recorded, units, slots)
    return found if made is None else _moved(cfg, launch, made, units, slots)


def by_paths(
    cfg: Cfg, found: Trace, paths: Paths, recorded: Callable[[np.ndarray], Recorder], units: int, slots: int
) -> Trace | None:
    """With the unit's own workgroups, which `recorded` records by their numbers; None where no iterations differ."""
    if not _differ(cfg, found.grid, paths):
        return None
    issued = paths.instructions(cfg)
    mine, share = busiest(issued[paths.kind], units, slots)
    kinds, instead = _recorded(paths, mine, issued)
    base, every = paths.first[kinds], np.searchsorted(kinds, instead[paths.kind])
    recorder = recorded(base)
    apart = Apart(mine, every[mine], None, base, every, _of_main_loop(cfg, paths, issued, share))
    whole = paths.all_ and len(kinds) == len(paths.first)
    return replace(
        found, recorded=recorder.finish(), costliest=recorder.costliest, spaces=dict(recorder.spaces), apart=apart,
        exact=whole, moves=None, on=recorder.on,
    )  # fmt: skip


def _differ(cfg: Cfg, grid: Triple, paths: Paths) -> bool:
    """Whether the iterations of a loop do, or some workgroup that is not at the grid's far border has nothing to do
    where others have."""
    heads = paths.visits[:, :, [loop.header for loop in cfg.loops]]
    if np.any(heads != heads[0]):
        return True
    accessing = [any(cfg.instructions[i].desc.access for i in block.range) for block in cfg.blocks]
    busy = np.any(paths.visits[:, :, accessing] > 0, axis=(1, 2))
    inner = np.all(in_grid(grid, np.arange(len(paths.kind))) < np.maximum(1, np.array(grid) - 1), axis=1)
    return len(np.unique(busy[paths.kind[inner]])) > 1


def _recorded(paths: Paths, mine: np.ndarray, issued: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(the paths to be recorded, ascending; for each path the one that stands for it). Those of the unit come first; of
    too many those are taken whose numbers of instructions are spread evenly among them."""
    own = np.unique(paths.kind[mine])
    others = np.setdiff1d(np.arange(len(issued)), own)
    room, most = PATHS, INSTRUCTIONS
    parts = []
    for kinds in (own, others):
        count = min(len(kinds), room, int(most * len(kinds) / max(issued[kinds].sum(), 1)))
        count = max(count, int(kinds is own))
        by_load = kinds[np.argsort(issued[kinds], kind="stable")]
        parts.append(by_load[np.linspace(0, len(by_load) - 1, count).astype(int)])
        room, most = room - count, most - int(issued[parts[-1]].sum())
    chosen = np.sort(np.concatenate(parts))
    nearest = np.abs(issued[:, None] - issued[chosen]).argmin(axis=1)
    nearest[chosen] = np.arange(len(chosen))
    return chosen, chosen[nearest]


def _of_main_loop(cfg: Cfg, paths: Paths, issued: np.ndarray, share: float) -> Iterations:
    """Of the loop whose iterations move most instructions."""
    counts = np.bincount(paths.kind, minlength=len(issued))
    name, each, most = "", issued / paths.visits.shape[1], 0.0
    for loop in cfg.loops:
        size = sum(len(cfg.blocks[b].range) for b in loop.blocks)
        made = paths.visits[:, :, loop.header].mean(axis=1)
        if size * np.ptp(made) > most:
            begins = cfg.instructions[cfg.blocks[loop.header].start]
            name, each, most = f"+{begins.address or 0:#x}", made, size * float(np.ptp(made))
    mean = float(np.average(each, weights=counts))
    sample = None if paths.all_ else paths.followed
    return Iterations(name, float(each.min()), float(each.max()), mean, share, sample)


def _moved(cfg: Cfg, launch: TracedLaunch, made: Trace, units: int, slots: int) -> Trace:
    """With `Moves` where addresses do not move evenly."""
    apart = made.apart
    assert apart is not None
    assert apart.every is not None
    base = apart.base
    show = apart.numbers[np.linspace(0, len(apart.numbers) - 1, min(_SHOW, len(apart.numbers))).astype(int)]
    show = show[show != base[apart.every[show]]]
    if not len(show):
        return made
    few = First(cfg, launch, np.concatenate([show, base]), np.arange(launch.waves))
    at, lanes = few.absolute(), few.each_lanes()
    theirs = 1 + len(show) + apart.every[show]
    both = (lanes[1 : 1 + len(show)] != 0) & (lanes[theirs] != 0)
    there, here = made.moved(show), made.moved(base[apart.every[show]])
    moved = (there.distances - here.distances)[np.arange(len(show))[:, None, None], there.column[None]] << 5
    if np.all((at[1 : 1 + len(show)] - at[theirs] == moved) | ~both):
        return made
    numbers = np.union1d(needed(made.workgroups, units, slots), np.concatenate([apart.numbers, base]))
    every = np.flatnonzero(few.probed)
    size = max(1, _TOGETHER // launch.waves)
    parts = []
    for begin in range(0, len(numbers), size):
        some = numbers[begin : begin + size]
        first = First(cfg, launch, some, np.arange(launch.waves))
        parts.append(np.where(first.each_lanes() != 0, first.absolute(), 0)[1:, :, every])
    distances = np.concatenate(parts).reshape(len(numbers), -1)
    # Where a workgroup does not come to what the recording that it follows does, it is taken to be there.
    of_base = distances[np.searchsorted(numbers, base[apart.every[numbers]])]
    distances = np.where(distances == 0, of_base, distances)
    columns, column = np.unique(np.column_stack([0 * distances[:, :1], distances >> 5]), axis=1, return_inverse=True)
    column = column.reshape(-1)
    wide = np.full((launch.waves, len(cfg)), column[0])
    wide[:, every] = column[1:].reshape(launch.waves, -1)
    return replace(made, moves=Moves(numbers, np.ascontiguousarray(columns), np.ascontiguousarray(wide)))


def dealt_out(load: np.ndarray, units: int, slots: int) -> np.ndarray:
    """int64[workgroups]: the unit of each. load[workgroups]; slots: places of a unit."""
    free = [(0.0, slot, unit) for slot in range(slots) for unit in range(units)]
    where = np.zeros(len(load), np.int64)
    for number, amount in enumerate(load.tolist()):
        at, slot, unit = free[0]
        where[number] = unit
        heapq.heapreplace(free, (at + amount, slot, unit))
    return where


def busiest(load: np.ndarray, units: int, slots: int) -> tuple[np.ndarray, float]:
    """(the workgroups of the unit with the most to do, in order; what units have to do on average over that)."""
    where = dealt_out(load, units, slots)
    sums = np.bincount(where, load, minlength=units)
    unit = int(sums.argmax())
    return np.flatnonzero(where == unit), float(sums.mean() / max(sums[unit], 1))


FIRST_ACCESSES = 64
MOST = 1 << 17


def dealt(cfg: Cfg, launch: TracedLaunch, found: Trace) -> Trace:
    """`found`, or the same with places that are not those of the grid."""
    if found.straight or found.workgroups > MOST or slicing.polling(cfg):
        return found
    first = tracer.first_addresses(cfg, launch, range(found.workgroups), FIRST_ACCESSES)
    places = axes_of(addresses - addresses[0] for addresses in first.values())
    if places is None:
        return found
    probes = [0, *_near(places), len(places) - 1, len(places) // 2]
    shift, straight, exact = tracer.shifts(cfg, launch, list(dict.fromkeys(probes)), places)
    return replace(found, shift=shift, places=places, straight=True, exact=exact) if straight else found


def _near(places: np.ndarray) -> list[int]:
    """For each axis the workgroup nearest to 0 on it, or beside an axis that has one."""
    chosen: list[int] = []
    order = np.argsort(np.abs(places).sum(axis=1), kind="stable")
    for axis in np.flatnonzero(places.any(axis=0)):
        others = np.delete(places, axis, axis=1)[order]
        apart = np.where(places[order, axis] != 0, np.abs(others).sum(axis=1), np.iinfo(np.int64).max)
        chosen.append(int(order[apart.argmin()]))
    return chosen


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
