"""The time of a long launch from parts of it: fewer trips of its loops, fewer rounds of workgroups.

The time T of a unit is nearly linear in the instructions x that a workgroup issues in its steady loops, and, with x
fixed, in the number w of its workgroups, if w is changed by whole rounds (multiples of the slots) of workgroups that
are alike, so that the last, partial round stays what it is, and workgroups that differ are always there. `excerpts`
takes two loop lengths and two numbers of workgroups, `play` the four runs; along x, then along w, a straight line
through two of them gives the whole:

    E(w) = T(x2, w) + (X - x2) (T(x2, w) - T(x1, w)) / (x2 - x1)
    T(X, W) = E(w2) + (W - w2) (E(w2) - E(w1)) / (w2 - w1)

What is left out is never more than the budget asks for: a launch that fits is played whole, one with few rounds keeps
them all. The same straight lines go through every figure of a run: its causes, the levels that served it.

Error: kernels 1 to 9 at 4096 and 5, 8 and 9 at 8192 against runs that played everything, oldest wave first and greedy
then oldest: docs/timing.md. Greedy then next drifts slowly from one lock of phases into another and is off by up to
7 %.

A trace with fewer iterations: loops cut to a share of their trips, for runs that need not play the whole.

Of each wave's path the outermost loops with at least `LEAST` trips keep the first of them and the last one; loops with
fewer are left whole and their inner loops looked at instead. Prologue, epilogue and everything between loops stay. So
the work that is left out is that of steady loops (`shortened`).

Limits: what differs from trip to trip (addresses, a prefetch that only some trips make) is taken from the trips that
stay. Waves of a workgroup that make different numbers of trips are cut each by the same share, so that a loop with a
barrier must be left by all its waves in the same trip, as the hardware asks too.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from isa.analysis.cfg import Cfg
from isa.timing.model import run as model
from isa.timing.model.run import Prepared, Run
from isa.timing.native import engine_abi
from isa.timing.native.engine_abi import OLDEST, Code, Recorded

_SHORT, _LONG = 8, 32
"""Trips of a loop that the two lengths keep at least."""
_FEWER = 4
"""How many times shorter the short one is."""
_ROUNDS = 6
"""Full rounds that are played at least where rounds are left out, and half as many. One round at least is of workgroups
that are alike."""


class Excerpts(NamedTuple):
    """What is played of a launch. lengths: recordings, the longer first; firsts: workgroups, more of them first; one of
    each where nothing is left out."""

    lengths: tuple[Recorded, ...]
    firsts: tuple[int, ...]


def excerpts(ready: Prepared, budget: int) -> Excerpts:
    """Parts of about `budget` instructions, all runs together; more where the least that is sound has more."""
    whole = ready.trace.recorded
    count = len(ready.work().record)
    slots = max(1, ready.occupancy.workgroups)
    if ready.instructions * count <= budget:
        return Excerpts((whole,), (count,))
    firsts: tuple[int, ...] = (count,)
    fewer = _ROUNDS // 2 * slots
    needed = max(_ROUNDS * slots, fewer + slots + ready.differing)
    if count >= needed + 2 * slots:
        more = count - (count - needed) // slots * slots
        firsts = more, more - fewer
    each = budget / sum(firsts)
    if ready.instructions <= each:
        return Excerpts((whole,), firsts)

    def cut(share: float, least: int) -> Recorded:
        return shortened(ready.cfg, ready.code, whole, share, least)

    least = _issues(ready, cut(0, _SHORT))
    share = max(0.0, (each - 2 * least) / (1 + 1 / _FEWER) / max(1, ready.instructions - least))
    long, short = cut(share, _LONG), cut(share / _FEWER, _SHORT)
    if _issues(ready, long) == _issues(ready, short):
        return Excerpts((whole,), firsts)
    return Excerpts((long, short), firsts)


def beginning(ready: Prepared, rounds: int, trips: int) -> Prepared:
    """The first rounds of workgroups, with at most `trips` trips of each steady loop: to be compared with itself."""
    count = min(len(ready.work().record), rounds * max(1, ready.occupancy.workgroups))
    return _only(ready, shortened(ready.cfg, ready.code, ready.trace.recorded, 0, trips), count)


def play(ready: Prepared, clock_mhz: float, parts: Excerpts, member: tuple[int, int] = (OLDEST, 0)) -> Run:
    """One run of the whole launch by its parts; `Run.played` is the share of its instructions that was issued."""
    whole = len(ready.work().record)
    runs = {
        (i, w): model.run(_only(ready, recorded, w), clock_mhz, member)
        for i, recorded in enumerate(parts.lengths)
        for w in parts.firsts
    }
    if len(runs) == 1 and parts.lengths[0] is ready.trace.recorded and parts.firsts[0] == whole:
        return runs[0, whole]
    lengths = [_issues(ready, recorded) for recorded in parts.lengths]
    by_first = [
        _line([_figures(runs[i, w]) for i in range(len(lengths))], lengths, ready.instructions) for w in parts.firsts
    ]
    total = _line(by_first, [_load(ready, w) for w in parts.firsts], _load(ready, whole))
    issued = sum(x * w for x in lengths for w in parts.firsts)
    return _run(total, runs[0, parts.firsts[0]], issued / (ready.instructions * whole))


def _only(ready: Prepared, recorded: Recorded, first: int | None) -> Prepared:
    return replace(ready, trace=replace(ready.trace, recorded=recorded), first=first)


def _issues(ready: Prepared, recorded: Recorded) -> int:
    """Instructions of a workgroup of this recording."""
    return _only(ready, recorded, None).instructions


def _load(ready: Prepared, first: int) -> int:
    """So many workgroups, by what they issue where they are unequal."""
    apart = ready.trace.apart
    if apart is None or apart.iterations is None:
        return first
    return _only(ready, ready.trace.recorded, first).instructions * first


def _line(values: list[np.ndarray], at: list[int], where: int) -> np.ndarray:
    """The straight line through two points, or the one point."""
    if len(values) == 1:
        return values[0]
    found: np.ndarray = values[0] + (where - at[0]) * (values[0] - values[1]) / (at[0] - at[1])
    return found


def _figures(run: Run) -> np.ndarray:
    """All that adds up over a run, one after the other."""
    return np.concatenate([[run.cycles, run.resident], list(run.causes.values()), run.lines])


def _run(figures: np.ndarray, like: Run, played: float) -> Run:
    """The inverse."""
    figures = np.maximum(figures, 0)
    causes, lines = np.split(figures[2:].round().astype(np.int64), [len(like.causes)])
    by_cause = dict(zip(like.causes, causes.tolist(), strict=True))
    return replace(
        like,
        cycles=float(figures[0]),
        resident=float(figures[1]),
        played=min(1.0, played),
        causes=by_cause,
        lines=lines,
    )


LEAST = 8
"""Trips below which a loop is left whole."""


def shortened(cfg: Cfg, code: Code, recorded: Recorded, share: float, least: int = LEAST) -> Recorded:
    """`recorded` with about `share` of the trips of its loops, but at least `least` of each. code: as it is played."""
    stays = np.concatenate(
        [
            _kept(cfg, recorded.blocks[first:last], share, least)
            for first, last in zip(recorded.block_at[:-1], recorded.block_at[1:], strict=True)
        ]
    )
    lds, lds_at = _accesses(code, recorded, stays, (engine_abi.LDS_LOAD, engine_abi.LDS_STORE), recorded.lds_at)
    memory, mem_at = _accesses(code, recorded, stays, (engine_abi.LOAD, engine_abi.STORE), recorded.mem_at)
    counts = np.diff(recorded.sector_at)
    return Recorded(
        block_at=_sums(stays, recorded.block_at),
        blocks=recorded.blocks[stays],
        lds_at=lds_at,
        lds=recorded.lds[lds],
        mem_at=mem_at,
        sector_at=np.concatenate([[0], np.cumsum(counts[memory])]),
        sectors=recorded.sectors[np.repeat(memory, counts)],
    )


def _kept(cfg: Cfg, path: np.ndarray, share: float, least: int) -> np.ndarray:
    """bool[visits]: which of a wave's visits of blocks stay."""
    stays = np.ones(len(path), bool)
    open_ = np.ones(len(path), bool)  # not within a loop that was cut
    for loop in cfg.loops:  # outer before inner
        inside = np.isin(path, list(loop.blocks)) & open_
        edges = np.flatnonzero(np.diff(np.concatenate([[0], inside.view(np.int8), [0]])))
        for first, last in zip(edges[::2], edges[1::2], strict=True):
            trips = first + np.flatnonzero(path[first:last] == loop.header)
            wanted = max(least, math.ceil(share * len(trips)))
            if len(trips) < LEAST:
                continue
            open_[first:last] = False
            if wanted < len(trips):
                stays[trips[wanted - 1] : trips[-1]] = False
    return stays


def _accesses(
    code: Code, recorded: Recorded, stays: np.ndarray, kinds: tuple[int, int], at: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(bool[accesses] those of the visits that stay, where each wave's begin)."""
    each = np.add.reduceat(np.isin(code.kind, kinds), code.block_first[:-1])
    kept = np.repeat(stays, each[recorded.blocks])
    return kept, _sums(kept, at)


def _sums(stays: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Where each wave's begin among those that stay."""
    found: np.ndarray = np.concatenate([[0], np.cumsum(stays)])[at].astype(np.int64)
    return found
