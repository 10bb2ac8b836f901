"""The search for each shape: from all kernels to the few whose time is known with a band.

1. Every kernel of the space gets a guess (`bounds`), with narrow and with wide global loads. Those that come first
   (`order`) are candidates, up to a number that the caller names.
2. They get an estimate of the model, or three launches of a card, in rounds: what a round finds orders what is left.
   A candidate whose bound is above the best time of the rounds before cannot win and is left out: that is sound.
   On the matrix units (`matrix_field`) kernels are fewer, and the ensemble's median takes the estimate's place.
3. The best get the model's ensemble. On a card the best take turns, 16 launches each. A kernel that is chosen for the
   shape today is among the last, whatever is thought of it before: so a search never puts a slower one in its place.

Each result is in the journal before the next job is handed out, and what is in the journal is not asked for again: a
search that is stopped goes on where it was.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field

from hipgemm.kernels.ladder import SizeError, rung
from hipgemm.pool import Pool
from hipgemm.tuning import bounds, space, trial
from hipgemm.tuning.bounds import Bound, Candidate
from hipgemm.tuning.journal import Journal
from hipgemm.tuning.matrix_field import MatrixField
from hipgemm.tuning.shapes import Shape
from hipgemm.tuning.table import Entry, Timed
from hipgemm.tuning.trial import Job, TrialOutcome, TrialTarget
from hipgemm.tuning.trial_order import Lesson, Order, first
from isa.errors import IsaError
from isa.gemm.names import name_of
from isa.gemm.vector.parameters import Parameters
from isa.timing.machine.cards import card

CANDIDATES = 500
FULL = 3
"""How many go on to the ensemble or the card's last round."""
_ROUND, _ROUNDS = 8, 8
"""Candidates between two looks at what is known by now: so many, or this part of all."""
_NEAR = 1.02
"""How many times slower than the best of the level before a kernel may be that goes on to the ensemble."""
Tell = Callable[[str, int, int], None]
"""Told (what is being done, how much of it, of how much)."""


@dataclass(frozen=True)
class Found:
    """entry: for the table. considered: kernels with a guess, of which not all are candidates; tried: those that the
    model or the card saw; excluded: candidates that their bounds excluded, or that do not take the shape. lesson: for
    the shapes that are searched after it."""

    entry: Entry
    considered: int
    tried: int
    excluded: int
    lesson: Lesson

    @property
    def shape(self) -> Shape:
        return self.entry.shape


class Field:
    """The candidates of a shape, in the order in which they are tried. level: of trials of all of them by the model.
    IsaError where there is none."""

    level = "estimate"
    """From parts of a launch. Where the parts are no guide to the whole, and the time is below what the kernel needs at
    the least, it would drive all others out: such a time is not believed."""

    def __init__(self, shape: Shape, target: TrialTarget, lessons: Sequence[Lesson] = ()) -> None:
        self.shape, self.target, self.on = shape, target, card(target.card)
        guesses = []
        for plain in space.kernels(shape.trans):
            guess = self._bound(plain, space.about_vgprs(plain)) if space.timeable(plain, shape) else None
            if guess is not None:
                guesses += [(p, guess.guess) for p in dict.fromkeys((space.widest(plain), plain))]
        self.considered = len(guesses)
        known = [(p, b.guess) for p in first(shape, target.card, lessons) if (b := self._exact(p)) is not None]
        self.order = Order(known, guesses, lessons)

    def next(self, most: int, times: Mapping[str, float]) -> list[Candidate]:
        """So many of those that were not given yet. times: seconds of kernels by name."""
        found: list[Candidate] = []
        for p in self.order.next(times):
            if (exact := self._exact(p)) is not None:
                found.append(Candidate(name_of(p), exact))
            if len(found) == most:
                break
        return found

    def named(self, kernels: Sequence[str]) -> list[Candidate]:
        """Those that can be timed here."""
        return bounds.candidates(kernels, lambda p: self._exact(p) if isinstance(p, Parameters) else None)

    def lesson(self, times: Mapping[str, float]) -> Lesson:
        """For the shapes that are searched after this one."""
        return self.order.lesson(self.shape, times)

    def _exact(self, p: Parameters) -> Bound | None:
        vgprs = space.vgprs(p) if space.timeable(p, self.shape) else None
        return None if vgprs is None else self._bound(p, vgprs)

    def _bound(self, p: Parameters, vgprs: int) -> Bound | None:
        return bounds.bound(p, vgprs, self.shape, self.on, self.target.clock_mhz)


def search(
    shape: Shape,
    target: TrialTarget,
    pool: Pool,
    journal: Journal,
    tell: Tell,
    most: int = CANDIDATES,
    lessons: Sequence[Lesson] = (),
    chosen: Sequence[str] = (),
) -> Found:
    """The best kernels for a shape. lessons: of shapes that were searched before. chosen: kernels that are taken
    today. IsaError where none could be timed."""
    asked = _Asked(shape, target, pool, journal, tell)
    candidates = Field(shape, target, lessons) if shape.types == "f32" else MatrixField(shape, target, chosen)
    level = candidates.level if target.device is None else "timed"
    ranked: list[_Ranked] = []
    times: dict[str, float] = {}
    given = 0
    while given < most:
        some = candidates.next(min(most - given, max(_ROUND, -(-most // _ROUNDS))), times)
        if not some:
            break
        given += len(some)
        best = min(times.values(), default=math.inf)
        ranked = _sorted([*ranked, *asked.each(level, [c for c in some if c.bound.seconds <= best])])
        times = {r.kernel: r.outcome.seconds for r in ranked if r.outcome.seconds is not None}
    if not given:
        raise IsaError(f"no generated kernel computes {shape}")
    tried, excluded = len(ranked), given - len(ranked)
    today = candidates.named(chosen)
    if target.device is None:
        ranked = asked.each("full", _joined(_near(ranked, min(FULL, 1 + most // 4)), today))
    else:
        ranked = asked.together("repeated", _joined(ranked[:FULL], today))
    ranked = ranked[:FULL]
    if not ranked:
        raise IsaError(f"no kernel could be timed for {shape}", got="; ".join(sorted(asked.refusals)[:3]))
    timed = tuple(_timed(r.outcome) for r in ranked)
    if target.device is None:
        entry = Entry(shape, target.card, target.clock_mhz, "predicted", timed, candidates.considered, tried)
    else:
        outcome = ranked[0].outcome
        kind = "predicted" if outcome.predicted else "measured"
        entry = Entry(shape, outcome.on, None, kind, timed, candidates.considered, tried)
    times |= {r.kernel: r.outcome.seconds for r in ranked if r.outcome.seconds is not None}
    lesson = candidates.lesson(times)
    return Found(entry, candidates.considered, tried, excluded, lesson)


def _near(ranked: list[_Ranked], most: int) -> list[_Ranked]:
    """The first of them that take about as long as the very first."""
    seconds = [r.outcome.seconds or 0.0 for r in ranked[:most]]
    return [r for r, time in zip(ranked, seconds, strict=False) if time <= _NEAR * seconds[0]]


def _joined(these: list[_Ranked], others: list[Candidate]) -> list[Candidate | _Ranked]:
    """Each once."""
    names = [r.kernel for r in these]
    return [*these, *(c for c in others if c.kernel not in names)]


def _sorted(found: list[_Ranked]) -> list[_Ranked]:
    """Fastest first."""
    return sorted(found, key=lambda r: (r.outcome.seconds or 0.0, r.kernel))


def _timed(o: TrialOutcome) -> Timed:
    assert o.seconds is not None
    low, high = (o.seconds if end is None else end for end in (o.low, o.high))
    return Timed(o.kernel, 1e6 * o.seconds, 1e6 * low, 1e6 * high, o.limit)


@dataclass(frozen=True)
class _Ranked:
    kernel: str
    bound: Bound
    outcome: TrialOutcome


@dataclass
class _Asked:
    """Jobs of one shape: from the journal if it has them, else from the pool into the journal."""

    shape: Shape
    target: TrialTarget
    pool: Pool
    journal: Journal
    tell: Tell
    refusals: set[str] = field(default_factory=set)

    def each(self, level: str, these: Sequence[Candidate | _Ranked]) -> list[_Ranked]:
        """One job a kernel, in this order; fastest first, without those that have no time. A kernel that its bound
        excludes is not asked for."""
        found: list[_Ranked] = []
        best = math.inf
        waiting: dict[Future[list[TrialOutcome]], Candidate | _Ranked] = {}
        done = 0

        def take(c: Candidate | _Ranked, outcome: TrialOutcome) -> None:
            nonlocal best, done
            done += 1
            if outcome.seconds is None:
                self.refusals.add(outcome.why)
            elif outcome.seconds < c.bound.seconds and level == Field.level:
                self.refusals.add(f"{c.kernel}: the time from parts of the launch is below its bound")
            else:
                found.append(_Ranked(c.kernel, c.bound, outcome))
                best = min(best, outcome.seconds)
            self.tell(f"{self.shape}: {level}, best {1e6 * best:.1f} us", done, len(these))

        def collect(futures: set[Future[list[TrialOutcome]]]) -> None:
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
        return _sorted(found)

    def together(self, level: str, these: Sequence[Candidate | _Ranked]) -> list[_Ranked]:
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
        return _sorted(found)

    def _reachable(self, kernel: str) -> bool:
        try:
            rung(kernel).check_size(self.shape.m, self.shape.n, self.shape.k)
        except SizeError:
            return False
        return True
