"""The search for each shape: from all kernels to the few whose time is known with a band.

1. Every kernel of the space gets a bound and a guess (`bounds`). The `candidates` with the smallest guess go on, with
   narrow and with wide global loads.
2. In that order they get the quick mode of the model, or three launches of a card; one whose bound is above the best
   time found so far cannot win and is left out: that is sound.
3. The best get the model's estimate of the whole launch, and the best of those its ensemble. On a card the
   best take turns, 16 launches each.

Each result is in the journal before the next job is handed out, and what is in the journal is not asked for again: a
search that is stopped goes on where it was.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field

from hipgemm.kernels import SizeError, rung
from hipgemm.tuning import bounds, space, trial
from hipgemm.tuning.bounds import Bound
from hipgemm.tuning.journal import Journal
from hipgemm.tuning.pool import Pool
from hipgemm.tuning.shapes import Shape
from hipgemm.tuning.table import Entry, Timed
from hipgemm.tuning.trial import Job, Outcome, Target
from isa.errors import IsaError
from isa.gemm.names import name_of
from isa.gemm.parameters import Parameters
from isa.timing.cards import card

CANDIDATES = 500
ESTIMATED, FULL = 6, 3
"""How many go on to the estimate of the whole, and to the ensemble or the card's last round. Of fewer candidates than
ESTIMATED none is estimated."""
_LATER = 1.06
"""How much later each next kernel comes that is like one before it."""
Tell = Callable[[str, int, int], None]
"""Told (what is being done, how much of it, of how much)."""


@dataclass(frozen=True)
class Found:
    """entry: for the table. considered: kernels with a guess, of which not all are candidates; tried: those that the
    model or the card saw; excluded: candidates that their bounds excluded, or that refuse the shape."""

    entry: Entry
    considered: int
    tried: int
    excluded: int

    @property
    def shape(self) -> Shape:
        return self.entry.shape


@dataclass(frozen=True)
class _Candidate:
    kernel: str
    bound: Bound


def candidates(shape: Shape, target: Target, most: int) -> tuple[list[_Candidate], int]:
    """(Those to try, in order, how many there are in all). IsaError where there is none."""
    on = card(target.card)

    def bound(p: Parameters, vgprs: int) -> Bound | None:
        return bounds.bound(p, vgprs, shape, on, target.clock_mhz)

    about = [(p, bound(p, space.about_vgprs(p))) for p in space.kernels(shape.trans) if space.timeable(p, shape)]
    ranked = sorted(((b.guess, name_of(p), p) for p, b in about if b is not None), key=lambda row: row[:2])
    # Kernels that differ in lanes or loads alone are nearly the same: the first of each come first.
    alike: Counter[tuple[int, ...]] = Counter()
    spread = []
    for guess, _, plain in ranked:
        core = tuple(getattr(plain, field) for field in space.VALUES if field != "lane_rows")
        for p in dict.fromkeys((space.widest(plain), plain)):
            spread.append((guess * _LATER ** alike[core], name_of(p), p))
            alike[core] += 1
    # Guesses of kernels whose workgroups stay and of others are not to be compared: they take turns.
    kinds: dict[bool, list[_Candidate]] = {False: [], True: []}
    for _, name, p in sorted(spread, key=lambda row: row[:2]):
        vgprs = space.vgprs(p) if len(kinds[p.stream_k]) < most else None
        exact = None if vgprs is None else bound(p, vgprs)
        if exact is not None:
            kinds[p.stream_k].append(_Candidate(name, exact))
    turns = itertools.zip_longest(kinds[False], kinds[True])
    found = [c for turn in turns for c in turn if c is not None][:most]
    if not found:
        raise IsaError(f"no generated kernel computes {shape}")
    return found, len(ranked)


def search(shape: Shape, target: Target, pool: Pool, journal: Journal, tell: Tell, most: int = CANDIDATES) -> Found:
    """The best kernels for a shape. IsaError where none could be timed."""
    first, considered = candidates(shape, target, most)
    asked = _Asked(shape, target, pool, journal, tell)
    if target.device is None:
        ranked = asked.each("quick", first)
        tried, excluded = len(ranked), len(first) - len(ranked)
        if most >= ESTIMATED:
            ranked = asked.each("estimate", ranked[:ESTIMATED])
        ranked = asked.each("full", ranked[: min(FULL, 1 + most // 4)])
    else:
        ranked = asked.each("timed", first)
        tried, excluded = len(ranked), len(first) - len(ranked)
        ranked = asked.together("repeated", ranked[:FULL])
    if not ranked:
        raise IsaError(f"no kernel could be timed for {shape}", got="; ".join(sorted(asked.refusals)[:3]))
    timed = tuple(_timed(r.outcome) for r in ranked)
    if target.device is None:
        entry = Entry(shape, target.card, target.clock_mhz, "predicted", timed, considered, tried)
    else:
        entry = Entry(shape, ranked[0].outcome.on, None, "measured", timed, considered, tried)
    return Found(entry, considered, tried, excluded)


def _timed(o: Outcome) -> Timed:
    assert o.seconds is not None
    low, high = (o.seconds if end is None else end for end in (o.low, o.high))
    return Timed(o.kernel, 1e6 * o.seconds, 1e6 * low, 1e6 * high, o.limit)


@dataclass(frozen=True)
class _Ranked:
    kernel: str
    bound: Bound
    outcome: Outcome


@dataclass
class _Asked:
    """Jobs of one shape: from the journal if it has them, else from the pool into the journal."""

    shape: Shape
    target: Target
    pool: Pool
    journal: Journal
    tell: Tell
    refusals: set[str] = field(default_factory=set)

    def each(self, level: str, these: Sequence[_Candidate | _Ranked]) -> list[_Ranked]:
        """One job a kernel, in this order; fastest first, without those that have no time. A kernel that its bound
        excludes is not asked for."""
        found: list[_Ranked] = []
        best = math.inf
        waiting: dict[Future[list[Outcome]], _Candidate | _Ranked] = {}
        done = 0

        def take(c: _Candidate | _Ranked, outcome: Outcome) -> None:
            nonlocal best, done
            done += 1
            if outcome.seconds is None:
                self.refusals.add(outcome.why)
            else:
                found.append(_Ranked(c.kernel, c.bound, outcome))
                best = min(best, outcome.seconds)
            self.tell(f"{self.shape}: {level}, best {1e6 * best:.1f} us", done, len(these))

        def collect(futures: set[Future[list[Outcome]]]) -> None:
            for future in [f for f in waiting if f in futures]:  # a set has no order
                c = waiting.pop(future)
                (outcome,) = future.result()
                self.journal.add(outcome, self.shape, level, self.target)
                take(c, outcome)

        try:
            for c in these:
                if c.bound.seconds > best:
                    done += 1
                    continue
                known = self.journal.find(c.kernel, self.shape, level, self.target)
                if known is not None:
                    take(c, known)
                    continue
                if not self._reachable(c.kernel):
                    continue
                job = Job((c.kernel,), self.shape, level, self.target)
                waiting[self.pool.executor.submit(trial.run, job)] = c
                if len(waiting) >= 2 * self.pool.size:
                    collect(wait(waiting, return_when=FIRST_COMPLETED).done)
            while waiting:
                collect(wait(waiting, return_when=FIRST_COMPLETED).done)
        except KeyboardInterrupt:
            running = {f for f in waiting if not f.cancel()}
            collect(wait(running).done)
            raise
        return sorted(found, key=lambda r: (r.outcome.seconds or 0.0, r.kernel))

    def together(self, level: str, these: Sequence[_Ranked]) -> list[_Ranked]:
        """All in one job, by turns."""
        names = tuple(sorted(r.kernel for r in these))
        known = [self.journal.find(name, self.shape, level, self.target) for name in names]
        outcomes = [o for o in known if o is not None]
        if len(outcomes) < len(names):
            self.tell(f"{self.shape}: {level}", 0, len(names))
            outcomes = self.pool.executor.submit(trial.run, Job(names, self.shape, level, self.target)).result()
            for outcome in outcomes:
                self.journal.add(outcome, self.shape, level, self.target)
        by_name = {r.kernel: r for r in these}
        self.refusals |= {o.why for o in outcomes if o.seconds is None}
        found = [_Ranked(o.kernel, by_name[o.kernel].bound, o) for o in outcomes if o.seconds is not None]
        return sorted(found, key=lambda r: (r.outcome.seconds or 0.0, r.kernel))

    def _reachable(self, kernel: str) -> bool:
        try:
            rung(kernel).check_size(self.shape.m, self.shape.n, self.shape.k)
        except SizeError:
            return False
        return True
