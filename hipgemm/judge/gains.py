"""Gains: the cycle model with one cause of lost time taken away -> what that would save, and what to change.

Each of ABLATIONS says which instructions a cause concerns, takes it away from the launch, the code or the machine that
the model simulates, and the launch is simulated again, as it was, by one run of parts of it
(`isa.timing.model.estimate`). A gain is the part of the time that this saves; gains do not add up. Where a cause lies
in several lines of the source, it is taken away of each of the costliest of them alone, too.

    cause                       what is simulated in its place
    LDS bank conflicts          each access takes the cycles that its width takes
    access not coalesced        each access touches only the lines that hold what its lanes ask for; accesses that
                                touched one sector in turn find as much of their own in it
    spills, indexed arrays      scratch is never read or written
    waits too early             s_waitcnt is the instruction before each that needs what it waits for, for that alone
    divergence                  lanes that take one path are together in waves: each wave takes that of one of its
                                lanes
    unpaired instructions       the second of two that could issue as one takes no VALU
    register banks              operands take no cycles of their own
    occupancy                   the limit is not there, others are
    few workgroups, tail        the work of all workgroups is spread over all units evenly
    strides of powers of two    lines are spread evenly over the slices of L2 and the channels of memory
    narrow access               address unit and request path take what 16 bytes a lane would take of them

Others are bounds, since no change to a kernel takes a unit away: `Gain.bound`, "at most".

Limits: coalesced access is that of a kernel that asks for as many bytes. Divergence is seen where branches skip what no
lane takes, in workgroups of `_PATHS` waves and more, of kernels that are followed without their data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from hipgemm.judge.limits import (
    COALESCED,
    Counts,
    conflict_cycles,
    counts,
    free_cycles,
    lds_positions,
    scattered_lines,
)
from isa.passes.schedule import dual_issue
from isa.timing.model import caches, ensemble, estimate
from isa.timing.native import engine_abi

if TYPE_CHECKING:
    from isa.timing.model.run import Prepared
    from isa.timing.native.engine_abi import Recorded
    from isa.timing.trace.trace import Trace

LEAST = 0.02
"""A gain that is shown: below it the order of waves decides."""
_LINES = 3
_AHEAD = 6
"""Instructions among which the other half of a pair is sought."""
_PATHS = 4
"""Waves whose lanes stand for all paths."""


@dataclass(frozen=True)
class Gain:
    """name: of the cause; part: of the time that is saved without it; bound: no change to a kernel takes it away whole;
    places: the costliest lines first, each with its own part; advice: what to change, "" where the name says it."""

    name: str
    part: float
    bound: bool
    places: tuple[tuple[str, float], ...]
    advice: str


@dataclass(frozen=True)
class Ablation:
    """weigh: what the cause costs by instruction, in any unit, all 0 where there is none; take: the launch without it
    at these instructions; advise: what to change there."""

    name: str
    weigh: Callable[[Prepared, Counts], np.ndarray]
    take: Callable[[Prepared, np.ndarray], Prepared | None]
    advise: Callable[[Prepared, Counts, np.ndarray], str]
    bound: bool = False
    everywhere: bool = False
    """It has no lines."""


def gains(ready: Prepared, clock_mhz: float, names: Sequence[str], budget: int = ensemble.QUICK) -> list[Gain]:
    """Those worth saying, the largest first, bounds after the others. names: of the kernel's instructions."""
    n = counts(ready)

    def cycles(made: Prepared) -> float:
        return estimate.play(made, clock_mhz, estimate.excerpts(made, budget)).cycles

    def saved(made: Prepared) -> float:
        return 1 - cycles(made) * (_mean(ready) / made.first if made.first else 1.0) / whole

    whole = cycles(ready)

    found = []
    for ablation in ABLATIONS:
        weights = ablation.weigh(ready, n)
        if not weights.any() or (made := ablation.take(ready, weights > 0)) is None:
            continue
        if (part := saved(made)) < LEAST:
            continue
        places = () if ablation.everywhere else tuple(_places(ablation, ready, weights, names, part, saved))
        found.append(Gain(ablation.name, part, ablation.bound, places, ablation.advise(ready, n, weights > 0)))
    return sorted(found, key=lambda g: (g.bound, -g.part))


def _places(
    ablation: Ablation, ready: Prepared, weights: np.ndarray, names: Sequence[str], part: float,
    saved: Callable[[Prepared], float],
) -> Iterator[tuple[str, float]]:  # fmt: skip
    """(line, what the cause there alone takes), of the costliest."""
    lines: dict[str, list[int]] = {}
    for i in np.flatnonzero(weights).tolist():
        lines.setdefault(line_of(names[i]), []).append(i)
    costly = sorted(lines, key=lambda line: -weights[lines[line]].sum())[:_LINES]
    for line in costly:
        which = np.zeros(len(weights), bool)
        which[lines[line]] = True
        made = None if len(lines) == 1 else ablation.take(ready, which)
        yield line, part if made is None else saved(made)


def line_of(name: str) -> str:
    """What instructions of one line of the source have in common: "x.hip:7" of "x.hip:7 (x.s:25)"."""
    return name.partition(" (")[0]


def _concerned(ready: Prepared, which: np.ndarray | bool = True) -> np.ndarray:
    return np.ones(len(ready.code.kind)) * which


def _scaled(name: str, factor: float) -> Callable[[Prepared, np.ndarray], Prepared]:
    """The machine with one number changed."""
    return lambda ready, _: _with_number(ready, name, ready.numbers[name] * factor)


def _with_number(ready: Prepared, name: str, value: float) -> Prepared:
    return replace(ready, numbers={**ready.numbers, name: value})


def _silent(*_: object) -> str:
    return ""


def _played_again(ready: Prepared, trace: Trace) -> Prepared:
    """With the shares of caches that these addresses give. Where their lines lie is made up: they crowd no more than
    they did."""
    served = caches.served(
        trace, ready.code, ready.card, ready.numbers, cu_mode=ready.resources.cu_mode, slots=ready.occupancy.workgroups,
        scratch=ready.resources.scratch_sectors,
    )  # fmt: skip
    level = caches.levels(served.found, caches.arrays(trace.recorded, ready.code))
    return replace(
        ready, trace=trace, level=level, remembered=served.remembered,
        crowding=min(ready.crowding, served.crowding),
        channel_crowding=min(ready.channel_crowding, served.channel_crowding),
    )  # fmt: skip


def _code(ready: Prepared, **arrays: np.ndarray) -> Prepared:
    return replace(ready, code=ready.code._replace(**arrays))


# --- LDS


def _unconflicting(ready: Prepared, which: np.ndarray) -> Prepared:
    recorded = ready.trace.recorded
    free = np.array([free_cycles(inst, ready.trace.wave.lanes) for inst in ready.cfg.instructions])
    at = lds_positions(recorded, ready.code)
    lds = np.where(which[at] & (free[at] > 0), np.minimum(recorded.lds, free[at]), recorded.lds)
    return replace(ready, trace=replace(ready.trace, recorded=recorded._replace(lds=lds)))


def _padded(ready: Prepared, n: Counts, which: np.ndarray) -> str:
    from hipgemm.judge.memory_use import lds_rows

    pads = [f"{pad} bytes after each {row}" for row, pad in lds_rows(ready) if pad]
    return f"pad rows of LDS by {pads[0]}" if pads else "another order of LDS, as by XOR of row and column"


# --- memory


def _coalesced(ready: Prepared, which: np.ndarray) -> Prepared | None:
    trace, code = ready.trace, ready.code
    if trace.apart is not None and trace.apart.beginnings is not None:
        return None
    recorded = trace.recorded
    op, each = caches.positions(recorded, code), np.diff(recorded.sector_at)
    chosen = which[op] & (each > 0)
    row = np.repeat(np.arange(len(recorded.mem_at) - 1), np.diff(recorded.mem_at))
    size = np.where(chosen, np.minimum(each, 4 * code.dwords[op]), each)
    starts = np.concatenate([[0], np.cumsum(size)])
    take = np.repeat(recorded.sector_at[:-1] - starts[:-1], size) + np.arange(starts[-1])
    sectors, ratio, own = recorded.sectors[take], np.ones(len(code.kind)), np.zeros(len(code.kind), np.int64)
    for i in np.flatnonzero(which):
        mine = np.flatnonzero(chosen & (op == i))
        if not len(mine):
            continue
        first, width = recorded.sectors[recorded.sector_at[mine]], 4 * int(code.dwords[i])
        again = _times_before(row[mine], first) % max(1, 8 // int(code.dwords[i]))
        _, rank = np.unique(first * 8 + again, return_inverse=True)
        base = (int(i) + 1) << 32
        for at, place in zip(mine, rank.reshape(-1), strict=True):
            sectors[starts[at] : starts[at + 1]] = base + place * width + np.arange(size[at])
        whose = chosen & (op == i)
        before, after = recorded.sectors[np.repeat(whose, each)], sectors[np.repeat(whose, size)]
        ratio[i] = len(np.unique(before)) / len(np.unique(after))
        own[i] = len(np.unique(after)) * (code.kind[i] == engine_abi.STORE)
    made = recorded._replace(sector_at=starts, sectors=sectors)
    return _played_again(ready, _closer(replace(trace, recorded=made), ratio, own))


def _times_before(row: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Of each access how often the same wave touched the same sector before."""
    order = np.lexsort((np.arange(len(row)), first, row))
    new = np.ones(len(row), bool)
    new[1:] = (np.diff(row[order]) != 0) | (np.diff(first[order]) != 0)
    start = np.flatnonzero(new)
    found = np.empty(len(row), np.int64)
    found[order] = np.arange(len(row)) - np.repeat(start, np.diff(np.concatenate([start, [len(row)]])))
    return found


def _closer(trace: Trace, ratio: np.ndarray, own: np.ndarray) -> Trace:
    """Workgroups whose addresses lie so many times closer to each other, by instruction. own: sectors that a workgroup
    stores; no other one stores there, be it to the same sectors before."""
    moved = trace.moved(trace.moves.numbers if trace.moves else np.arange(trace.workgroups))
    distances, column = list(moved.distances.T), moved.column.copy()
    for i in np.flatnonzero(ratio > 1):
        for old in np.unique(column[:, i]):
            far = moved.distances[:, old]
            near = np.round(far / ratio[i] / 4).astype(np.int64) * 4
            near = np.where((near == 0) & (far != 0), 4 * np.sign(far), near)
            distances.append(moved.numbers * own[i] if own[i] else near)
            column[column[:, i] == old, i] = len(distances) - 1
    return replace(trace, moves=moved._replace(distances=np.ascontiguousarray(np.stack(distances, 1)), column=column))


def _crowded(ready: Prepared, n: Counts) -> np.ndarray:
    return n.lines * (ready.code.kind == engine_abi.LOAD) * (max(ready.crowding, ready.channel_crowding) > 1)


def _lines_touched(ready: Prepared, n: Counts, which: np.ndarray) -> str:
    lines, wanted = n.lines[which].sum(), (n.accesses * ready.code.dwords)[which].sum()
    each = lines / n.accesses[which].sum()
    return (
        f"an access touches {each:.1f} lines of 128 bytes where {wanted / n.accesses[which].sum():.3g} would do: let "
        "neighbouring lanes take neighbouring addresses, or go through LDS"
    )


def _scratch(ready: Prepared, n: Counts) -> np.ndarray:
    return n.lines * (ready.code.private == 1)


def _without(ready: Prepared, which: np.ndarray) -> Prepared:
    """These accesses to memory are no instructions any more."""
    kept = ~which[caches.positions(ready.trace.recorded, ready.code)]
    made = _removed(ready, which)
    return _played_again(made, replace(made.trace, recorded=_with_accesses(ready.trace.recorded, kept)))


def _with_accesses(recorded: Recorded, kept: np.ndarray) -> Recorded:
    """With some of its accesses to memory."""
    each = np.diff(recorded.sector_at)
    return recorded._replace(
        mem_at=_starts(kept)[recorded.mem_at], sector_at=_starts(each[kept]),
        sectors=recorded.sectors[np.repeat(kept, each)],
    )  # fmt: skip


def _starts(counts: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _removed(ready: Prepared, which: np.ndarray) -> Prepared:
    """Without these instructions, but for a last one of a block. Only the engine can use what comes out: `cfg` has the
    instructions as they were."""
    code = ready.code
    kept = ~which
    kept[code.block_first[1:] - 1] = True
    code = code._replace(kind=np.where(which & kept, engine_abi.INTERNAL, code.kind))
    return _rearranged(ready, code, np.flatnonzero(kept), _starts(kept)[code.block_first], code.fetch[kept])


def _rearranged(
    ready: Prepared, code: engine_abi.Code, order: np.ndarray, block_first: np.ndarray, fetch: np.ndarray
) -> Prepared:
    """Instructions in another order within their blocks, fewer, or some of them twice; accesses keep theirs."""
    trace = ready.trace

    def rows(at: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        parts = [values[at[i] : at[i + 1]] for i in order]
        return np.concatenate([[0], np.cumsum([len(p) for p in parts])]).astype(np.int64), np.concatenate(parts)

    plain = {
        name: np.ascontiguousarray(getattr(code, name)[order])
        for name in code._fields
        if name not in ("block_first", "src_at", "src", "dst_at", "dst", "fetch")
    }
    (src_at, src), (dst_at, dst) = rows(code.src_at, code.src), rows(code.dst_at, code.dst)
    made = code._replace(**plain, src_at=src_at, src=src, dst_at=dst_at, dst=dst, block_first=block_first, fetch=fetch)
    moves = trace.moves and trace.moves._replace(column=np.ascontiguousarray(trace.moves.column[:, order]))
    return replace(
        ready, code=made, level=ready.level[order], trace=replace(trace, shift=trace.shift[order], moves=moves)
    )


def _unspilled(ready: Prepared, n: Counts, which: np.ndarray) -> str:
    return (
        "fewer live values, a smaller tile or a higher __launch_bounds__ limit for spills; loops unrolled so that the "
        "indices of private arrays are constants"
    )


def _narrow(ready: Prepared, n: Counts) -> np.ndarray:
    dwords = ready.code.dwords
    return np.where((dwords < 4) & (n.lines > 0) & (n.lines <= COALESCED * n.accesses * dwords), n.accesses, 0)


def _wide(ready: Prepared, which: np.ndarray) -> Prepared:
    accesses, dwords = counts(ready).accesses[which], ready.code.dwords[which]
    each = float((accesses * dwords).sum() / accesses.sum())
    path = np.where(which, (ready.code.path * ready.code.dwords) // 4, ready.code.path)
    return _scaled("ta_lanes", 4 / each)(_code(ready, path=path), which)


# --- instructions


def _on(trace: Trace) -> np.ndarray:
    """bool[blocks, lanes]: which lanes are on in each of the recorded ones."""
    on = trace.on[:, :, None] >> np.arange(32) & 1 if trace.on is not None else np.ones((1, 1, trace.wave.lanes))
    return np.broadcast_to(on.reshape(len(on), -1), (len(trace.recorded.blocks), trace.wave.lanes)).astype(bool)


def _apart(ready: Prepared, n: Counts) -> np.ndarray:
    """Issues for lanes that are off."""
    if ready.trace.on is None or ready.trace.waves < _PATHS:
        return np.zeros(len(ready.cfg))
    visited, off = ready.trace.recorded.blocks, 1 - _on(ready.trace).mean(axis=1)
    counts, idle = (np.bincount(visited, weights, len(ready.cfg.blocks)) for weights in (None, off))
    return n.issues * np.repeat(idle / np.maximum(1, counts), np.diff(ready.code.block_first))


def _together(ready: Prepared, which: np.ndarray) -> Prepared:
    """Each wave visits only those of these blocks that one of its lanes comes to: another lane in each wave, evenly
    among them, by odd and even numbers too."""
    trace, code, r = ready.trace, ready.code, ready.trace.recorded
    row = np.repeat(np.arange(len(r.block_at) - 1), np.diff(r.block_at)) % trace.waves
    apart = trace.wave.lanes / trace.waves
    lane = (row * apart + (3 * row + 1) % max(1, int(apart))).astype(np.int64)
    chosen = np.logical_or.reduceat(which, code.block_first[:-1])[r.blocks]
    kept = ~chosen | _on(trace)[np.arange(len(r.blocks)), lane]

    def of_accesses(*kinds: int) -> np.ndarray:
        return np.repeat(kept, np.add.reduceat(np.isin(code.kind, kinds), code.block_first[:-1], dtype=int)[r.blocks])

    lds = of_accesses(engine_abi.LDS_LOAD, engine_abi.LDS_STORE)
    less = _with_accesses(r, of_accesses(engine_abi.LOAD, engine_abi.STORE))._replace(
        block_at=_starts(kept)[r.block_at], blocks=r.blocks[kept], lds_at=_starts(lds)[r.lds_at], lds=r.lds[lds]
    )
    return _played_again(ready, replace(trace, recorded=less, on=None))


def _early(ready: Prepared, n: Counts) -> np.ndarray:
    return _concerned(ready, (ready.code.kind == engine_abi.WAIT) & (n.issues > 0))


class _Owed:
    """What a wait of the block from `start` is for, and nothing has waited for since: loads of the block, and those of
    others, which may be under way when it begins. counted: of each counter, its loads."""

    def __init__(self, ready: Prepared, at: int, start: int, counted: Sequence[np.ndarray]) -> None:
        self.value = value = ready.code.wait[at]
        self.defs, self.at, self.counted, self.smem = ready.cfg.defs, at, counted, ready.code.kind == engine_abi.SMEM
        self.left = {c: int(value[c]) for c in (0, 1) if value[c] >= 0}  # may be under way, by the wait as it was
        self.mine: dict[int, list[int]] = {}
        self.todo: dict[int, list[int]] = {}
        for c, left in self.left.items():
            loads = np.flatnonzero(counted[c])
            self.mine[c] = loads[(loads >= start) & (loads < at)].tolist()
            older = loads[(loads < start) | (loads >= at)].tolist()
            self.todo[c] = older + self.mine[c][: max(0, len(self.mine[c]) - left)]

    def __bool__(self) -> bool:
        return any(self.todo.values())

    def passes(self, i: int) -> None:
        """An instruction of the block issues."""
        for c, mine in self.mine.items():
            if self.counted[c][i]:
                mine.append(i)
                self.left[c] += 1

    def takes_over(self, before: _Owed) -> bool:
        """What an earlier wait is owed, where this one waits for that too, or for nothing of that counter."""
        both = self.todo.keys() & before.todo.keys()
        if any(set(before.todo[c]) - set(self.todo[c]) for c in both):
            return False
        for c in before.todo.keys() - both:
            self.todo[c], self.mine[c], self.left[c] = before.todo[c], before.mine[c], before.left[c]
        return True

    def row(self, touched: int | None) -> np.ndarray | None:
        """The counters of a wait, now, for what is to be in these registers; touched: None for all that is left."""
        found = np.full_like(self.value, -1)
        for c, todo in self.todo.items():
            needed = [k for k, j in enumerate(todo) if touched is None or self.defs[j] & touched]
            if needed:
                mine, last = self.mine[c], todo[needed[-1]]
                found[c] = self.left[c]
                if not self.smem[mine].any():  # they come in any order
                    found[c] = max(found[c], len(mine) - (mine.index(last) + 1 if last in mine else 0))
                del todo[: needed[-1] + 1]
        return found if (found >= 0).any() else None


def _late(ready: Prepared, which: np.ndarray) -> Prepared | None:
    """Before each instruction that needs what such a wait is for, one for that alone, and for what is left before the
    block's next wait, store or end."""
    cfg, code = ready.cfg, ready.code
    kind = engine_abi
    ends = np.isin(code.kind, (kind.BARRIER, kind.BRANCH, kind.END, kind.STORE, kind.WAIT))
    counted = (code.kind == kind.LOAD) & (code.counter == 0), np.isin(code.kind, (kind.LDS_LOAD, kind.SMEM))
    chosen = which & (code.wait[:, :2] >= 0).any(axis=1) & (code.wait[:, 2] < 0)
    made: list[tuple[int, int, np.ndarray]] = []  # instruction, the one whose line of code it is in, counters
    block_first = [0]
    for block in cfg.blocks:
        owed: _Owed | None = None
        for i in block.range:
            new = _Owed(ready, i, block.start, counted) if chosen[i] else None
            if new and owed and new.takes_over(owed):
                owed = new
                continue
            if owed and (row := owed.row(None if ends[i] else cfg.uses[i] | cfg.defs[i])) is not None:
                made.append((owed.at, i, row))
            if new:
                owed = new
                continue
            made.append((i, i, code.wait[i]))
            if owed:
                owed.passes(i)
        if owed and (row := owed.row(None)) is not None:
            made.append((owed.at, block.end - 1, row))
        block_first.append(len(made))
    order, lines, wait = (np.array(column) for column in zip(*made, strict=True))
    if len(order) == len(cfg) and (order == np.arange(len(cfg))).all() and (wait == code.wait).all():
        return None
    return _code(_rearranged(ready, code, order, np.array(block_first), code.fetch[lines]), wait=wait)


def _single(ready: Prepared, n: Counts) -> np.ndarray:
    """The second of two instructions that no rule but the numbers of their registers keeps from being one."""
    cfg, found = ready.cfg, np.zeros(len(ready.cfg))
    if ready.trace.wave.halves > 1:
        return found
    for block in cfg.blocks:
        free = [i for i in block.range if n.issues[i] and dual_issue.facts(cfg.instructions[i])]
        taken: set[int] = set()
        for i in free:
            if i in taken:
                continue
            for j in (j for j in free if i < j <= i + _AHEAD and j not in taken):
                between = range(i, j)
                reads, writes = cfg.uses[j], cfg.defs[j]
                if not any((reads | writes) & cfg.defs[k] or writes & cfg.uses[k] for k in between):
                    taken |= {i, j}
                    found[j] = n.issues[j]
                    break
    return found


def _absent(ready: Prepared, which: np.ndarray) -> Prepared:
    return _removed(ready, which)


def _banks(ready: Prepared, n: Counts) -> np.ndarray:
    return n.issues * (ready.code.bank_reuse + ready.code.bank_cold)


def _spread(ready: Prepared, which: np.ndarray) -> Prepared:
    reuse, cold = (np.where(which, 0, a) for a in (ready.code.bank_reuse, ready.code.bank_cold))
    return _code(ready, bank_reuse=reuse, bank_cold=cold)


# --- the launch


def _limited(limit: str) -> Callable[[Prepared, Counts], np.ndarray]:
    def weigh(ready: Prepared, n: Counts) -> np.ndarray:
        fits = ready.occupancy
        wanted = -(-ready.trace.workgroups // ready.units)
        return _concerned(ready, limit in fits.binding and wanted > fits.workgroups)

    return weigh


def _unlimited(limit: str) -> Callable[[Prepared, np.ndarray], Prepared | None]:
    def take(ready: Prepared, _: np.ndarray) -> Prepared | None:
        fits = ready.occupancy
        groups = min(n for name, n in fits.limits.items() if name != limit)
        if groups <= fits.workgroups:
            return None
        waves = fits.waves * groups / fits.workgroups
        made = replace(ready, occupancy=replace(fits, workgroups=groups, waves=waves))
        known = ready.trace.moves is None and ready.trace.apart is None  # the addresses of more workgroups at a time
        return _played_again(made, ready.trace) if known else made

    return take


def _next_step(ready: Prepared, n: Counts, which: np.ndarray) -> str:
    return "; ".join(ready.occupancy.advice)


def _mean(ready: Prepared) -> float:
    """Workgroups of a unit, on average."""
    return ready.trace.workgroups / ready.units


def _few(ready: Prepared, n: Counts) -> np.ndarray:
    return _concerned(ready, ready.trace.apart is None and _mean(ready) < 1)


def _even(ready: Prepared, _: np.ndarray) -> Prepared:
    """Workgroups of fewer waves, one for each unit."""
    trace = ready.trace
    waves = max(1, math.ceil(_mean(ready) * trace.waves))
    recorded = trace.recorded._replace(
        block_at=trace.recorded.block_at[: waves + 1], lds_at=trace.recorded.lds_at[: waves + 1],
        mem_at=trace.recorded.mem_at[: waves + 1],
    )  # fmt: skip
    alone = replace(
        trace, waves=waves, recorded=recorded, grid=(ready.units, 1, 1), places=None, moves=None,
        shift=np.zeros_like(trace.shift),
    )  # fmt: skip
    return replace(ready, trace=alone)


def _partial(ready: Prepared, n: Counts) -> np.ndarray:
    return _concerned(ready, ready.trace.apart is None and 1 < _mean(ready) < math.ceil(_mean(ready)))


def _whole(ready: Prepared, _: np.ndarray) -> Prepared:
    """Every unit with as many workgroups as all have; `gains` adds the mean rest."""
    return replace(ready, first=math.floor(_mean(ready)))


def _at_launch(ready: Prepared, n: Counts, which: np.ndarray) -> str:
    return f"{ready.trace.workgroups} workgroups for {ready.units} units: smaller ones, or a multiple of that"


def _of_kind(*kinds: int) -> Callable[[Prepared, Counts], np.ndarray]:
    return lambda ready, n: n.issues * np.isin(ready.code.kind, kinds)


def _unwaited(ready: Prepared, which: np.ndarray) -> Prepared:
    wait = ready.code.wait.copy()
    wait[which, 0] = -1
    return _code(ready, wait=wait)


def _loads_waited_for(ready: Prepared, n: Counts) -> np.ndarray:
    return n.issues * (ready.code.wait[:, 0] >= 0)


def _halved(ready: Prepared, which: np.ndarray) -> Prepared:
    recorded = ready.trace.recorded
    lds = np.where(which[lds_positions(recorded, ready.code)], (recorded.lds + 1) // 2, recorded.lds)
    return replace(ready, trace=replace(ready.trace, recorded=recorded._replace(lds=lds)))


ABLATIONS = (
    Ablation("LDS bank conflicts", lambda r, n: conflict_cycles(r, n), _unconflicting, _padded),
    Ablation("access that is not coalesced", scattered_lines, _coalesced, _lines_touched),
    Ablation(
        "rows that meet in slices of L2 and channels of memory",
        _crowded,
        lambda ready, _: replace(ready, crowding=1.0, channel_crowding=1.0),
        lambda *_: "rows an odd multiple of 128 bytes apart, not a power of two",
        everywhere=True,
    ),
    Ablation("scratch: spills or arrays that a variable indexes", _scratch, _without, _unspilled),
    Ablation("waits that come too early", _early, _late, _silent),
    Ablation(
        "paths that lanes of a wave take in turn",
        _apart,
        _together,
        lambda *_: "let whole waves take one path: by the wave's number, not the lane's",
    ),
    Ablation("instructions that could be issued in pairs", _single, _absent, lambda *_: "v_dual_*: hipgemm opt"),
    Ablation("reads that meet in a register bank", _banks, _spread, lambda *_: "other registers: hipgemm opt"),
    Ablation("narrow access", _narrow, _wide, lambda *_: "16 bytes a lane and instruction", everywhere=True),
    Ablation("the occupancy's limit by VGPRs", _limited("VGPRs"), _unlimited("VGPRs"), _next_step, everywhere=True),
    Ablation("the occupancy's limit by LDS", _limited("LDS"), _unlimited("LDS"), _next_step, everywhere=True),
    Ablation("units without a workgroup", _few, _even, _at_launch, everywhere=True),
    Ablation("a last round that is not full", _partial, _whole, _at_launch, everywhere=True),
    Ablation("waits for loads", _loads_waited_for, _unwaited, lambda *_: "loads further ahead", bound=True),
    Ablation(
        "half of the LDS cycles",
        lambda r, n: n.lds_cycles,
        _halved,
        lambda *_: "larger register tiles",
        bound=True,
        everywhere=True,
    ),
    Ablation("barriers", _of_kind(engine_abi.BARRIER), _absent, _silent, bound=True),
    Ablation(
        "misses of the instruction cache",
        _of_kind(engine_abi.VALU),
        _scaled("icache_miss_ns", 0),
        lambda *_: "a shorter loop",
        bound=True,
        everywhere=True,
    ),
    Ablation(
        "the launch of workgroups",
        _of_kind(engine_abi.END),
        _scaled("workgroup_launch", 0),
        lambda *_: "more work in each",
        bound=True,
        everywhere=True,
    ),
)
