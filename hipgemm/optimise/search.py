"""`hipgemm opt FILE`: the passes for any kernel in the order and with the options of the lowest predicted time.

In: a program, one of its kernels, a clock. Out: `Optimised`: the program with that kernel rewritten, and what each step
gave. The search is greedy. In each round

1. the best program so far gets other registers, or another shape, by each row of `REGISTERS`;
2. it is reordered by each pass of `hipgemm.optimise.by_block.ORDERS`, and each of these by the `_BEST` of them, those
   first that are best already: what is cheap is tried before the budget is spent;
3. in the best of them each block gets the order that suits it (`hipgemm.optimise.by_block`), and `rename-banks`
   follows.

Cheap predictions (one run) rank these; of the first `_ASKED` that one is kept which the whole prediction, the median of
an ensemble, says is best, if it gains `LEAST`, of the next ones where those that gain are rejected; the search ends
when none does, or the budget is spent: by default so many candidates as take about half a minute, whatever machine
counts them, so that every machine writes the same program. Each has been verified by the pipeline, and lint finds
nothing that was not there in what is kept (races in LDS, which take longest to find, are looked for at the end, and the
step that brings one is left out). What rests on more than a pass can see (`ASSUMING`: that addresses do not wrap;
`PAD`) is tried where the caller has a proof, and kept where it holds. At the end `rename-banks` is kept where fewer
reads collide and it costs nothing.

The clock is a prediction of a launch, where one is known; else `isa.timing.model.without_launch`, which counts the same
for both texts but is no time.

Limits: the cycle model says what is better, and no card has. Gains below 1 % mean nothing (docs/timing.md). A budget in
seconds is kept by POSIX's alarm (`within`): in a process's main thread, and between two steps of Python.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, replace
from types import FrameType
from typing import Any

from hipgemm.judge.inspection.linting import lint
from hipgemm.kernels.stages import Figures, fewer, figures
from hipgemm.optimise.by_block import ORDERS, Mix
from hipgemm.optimise.clock import PAD, Clock
from isa.asm.emit import emit
from isa.asm.program import Program
from isa.display import number_of
from isa.errors import IsaError
from isa.passes import run_pipeline
from isa.timing.model.shown import assumed
from isa.timing.model.without_launch import ITERATIONS

REGISTERS = (
    "if-convert",
    "if-convert,rename-pairs",
    "cu-mode",
    "relax-barriers",
    "relax-sgpr-waits",
    "scalar-addresses",
    "rename-banks",
    "rename-pairs",
    "spread-loads",
    "unroll,spread-loads",
    "unroll",
    "widen-loads",
)
COPIES = (
    "unroll{by=8}",
    "unroll{by=8},spread-loads",
    "unroll{by=4},spread-loads",
    "unroll{by=8},widen-loads,spread-loads",
)
"""The same, where the clock counts how often loops run."""
ASSUMING = ("unroll,batch-loads{bases}", "unroll,batch-loads{bases},spread-loads", "batch-loads{bases}")
"""The same, kept only where it is proved."""
ONCE = ("if-convert",)
"""Where one leaves a program as it is, those that begin with it are not tried."""
_BEST = 2
"""How many orders each shape is tried in, beside `schedule`, which `spread-loads` makes room for."""
_ASKED = 4
"""How many programs of a round the whole prediction is asked about."""
_TRIALS = 0.8
"""Of the budget, that goes into candidates; the rest is for the whole prediction, lint and proofs of the best."""
LEAST = 0.001
"""Of the time, that a step must gain."""
_MOST = {True: 12, False: 48}
"""Candidates where no budget is given, by whether the clock follows a launch; fewer of long kernels."""
_FEWEST, _WORK = 4, 32_000
"""The least of them, and how many instructions they may have in all."""
_LAST_S = 2.0
"""How long the end's `rename-banks`, and lint of the best, may take where the budget is spent."""
OnStep = Callable[[str], None]
Same = Callable[[Program], bool]
"""Whether a program is proved to compute what the one that was given does."""


@dataclass(frozen=True)
class SearchStep:
    """A step of the search: the passes, what is counted after them, seconds."""

    passes: str
    figures: Figures
    seconds: float


@dataclass(frozen=True)
class Optimised:
    """program: the best found, the very one that was given where nothing gained. steps: from the one that was given.
    tried: how many candidates; refused: passes that do not take the kernel, and why; guards: as of the clock."""

    program: Program
    clock: str
    steps: tuple[SearchStep, ...]
    tried: int
    refused: Mapping[str, str]
    took_s: float
    guards: tuple[str, ...] = ()

    @property
    def gain(self) -> float:
        """Of the time."""
        return 1 - self.steps[-1].seconds / self.steps[0].seconds

    def to_dict(self) -> dict[str, Any]:
        """All but the program."""
        steps = [{"passes": s.passes, "seconds": s.seconds, **asdict(s.figures)} for s in self.steps]
        tried = {"tried": self.tried, "refused": dict(self.refused), "took_s": self.took_s}
        return {"clock": self.clock, "gain": self.gain, "guards": list(self.guards), "steps": steps, **tried}


def optimise(
    program: Program,
    name: str,
    clock: Clock,
    budget_s: float | None = None,
    on_step: OnStep | None = None,
    same: Same | None = None,
    candidates: int | None = None,
    kernels: int = 1,
) -> Optimised:
    """The best program found within the budget of processor time; the clock is read at the beginning and the end beyond
    that. candidates: the budget is so many programs instead, however long they take, so that every machine finds the
    same; as many as one of so many kernels may have where there is neither. IsaError where it does not take the
    program."""
    if budget_s is None and candidates is None:
        length = sum(1 for _ in program.kernel(name).instructions())
        candidates = max(_FEWEST, min(_MOST[clock.iterations] // kernels, _WORK // max(1, length)))
    search = _Search(program, name, clock, budget_s or 0.0, on_step, same, candidates)
    began = time.process_time()
    while search.left_to_try > 0 and search.round():
        pass
    best, steps, parted = search.best, search.steps, None
    with search.within(max(search.left, min(search.budget_s, _LAST_S))):
        parted = _parted(best, name, steps, clock, search.faults)
    if parted is not None:
        best = parted[0]
        steps.append(parted[1])
        search.made.append(best)
    if best is not program and _more_faults(best, program, name):
        best, steps = search.without_faults()
    took_s = time.process_time() - began
    return Optimised(
        best, clock.what, tuple(steps), search.tried, search.refused, took_s, clock.guards(program)
    )  # fmt: skip


@dataclass(frozen=True)
class _Trial:
    """A program, the passes that made it of the best one, what the clock reads."""

    passes: str
    program: Program
    seconds: float


class _Search:
    """The best program so far, and what is known of others. made: what each step left."""

    def __init__(
        self, program: Program, name: str, clock: Clock, budget_s: float, on_step: OnStep | None, same: Same | None,
        candidates: int | None = None,
    ) -> None:  # fmt: skip
        self.now: Callable[[], float] = time.process_time
        self.within: Callable[[float], AbstractContextManager[Deadline]] = within
        self.read: dict[str, float] = {}
        if candidates is not None:
            self.now, self.within, budget_s = lambda: len(self.read), _counted, candidates / _TRIALS
        self.candidates = candidates
        self.began, self.budget_s = self.now(), budget_s
        self.best, self.name, self.clock, self.on_step, self.same = program, name, clock, on_step, same
        self.faults = _faults(program, name)
        self.refused: dict[str, str] = {}
        self.steps = [SearchStep("unchanged", figures(program, name), clock.whole(program))]
        self.made = [program]

    @property
    def left(self) -> float:
        """Seconds of the budget."""
        return self.budget_s - (self.now() - self.began)

    @property
    def left_to_try(self) -> float:
        """Of these, those for candidates."""
        return self.left - (1 - _TRIALS) * self.budget_s

    @property
    def tried(self) -> int:
        """How many candidates the clock was asked about."""
        return len(self.read)

    def round(self) -> bool:
        """Makes the best of all candidates the best program; False where none gains enough."""
        begin = _Trial("", self.best, self._seconds(self.best))
        once = self.clock.iterations and not any(COPIES[0].partition("=")[0] in step.passes for step in self.steps)
        bases, known, idle = [], {emit(self.best)}, set[str]()
        padded = any(PAD in step.passes for step in self.steps)
        assuming = ASSUMING + (() if padded else self.clock.shapes(self.best)) if self.same is not None else ()
        for registers in REGISTERS + assuming + (COPIES if once else ()):
            base = self._trial(self.best, registers) if registers.partition(",")[0] not in idle else None
            if base is None and registers == COPIES[0]:
                break
            if base is not None and (text := emit(base.program)) not in known:
                known.add(text)
                bases.append(base)
            elif registers in ONCE:
                idle.add(registers)
        orders = {order: t for order in ORDERS if (t := self._trial(self.best, order))}
        ranked = sorted(orders, key=lambda order: orders[order].seconds)
        ranked = [order for order in ranked if order in ranked[:_BEST] or order == "schedule"]
        shapes = [(begin, orders)]
        for base in sorted(bases, key=lambda t: t.seconds):
            shapes.append((base, {o: t for o in ranked if (t := self._trial(base.program, o))}))
        trials = [t for base, made in shapes for t in (base, *(_behind(base, t) for t in made.values()))]
        if self.left_to_try > 0:
            trials += self._mixed(
                *min(shapes, key=lambda shape: min(t.seconds for t in (shape[0], *shape[1].values())))
            )
        rest, again = self._different(trials), True
        while rest and again:
            most = _ASKED if self.left > 0 else 1
            asked = [replace(t, seconds=self.clock.whole(t.program)) for t in rest[:most]]
            rest, again = rest[most:], False
            for trial in sorted(asked, key=lambda t: t.seconds):
                if trial.seconds > self.steps[-1].seconds * (1 - LEAST):
                    break
                if self._kept(trial):
                    self.best = trial.program
                    self.made.append(trial.program)
                    self.steps.append(SearchStep(trial.passes, figures(trial.program, self.name), trial.seconds))
                    return True
                again = self.left > 0
        return False

    def without_faults(self) -> tuple[Program, list[SearchStep]]:
        """The steps once more, without those that bring what lint, with races in LDS, did not find before. What comes
        after such a one is made again, and kept where it still gains and needs no proof."""
        first, dropped = self.made[0], False
        best, kept = first, self.steps[:1]
        for step, made in zip(self.steps[1:], self.made[1:], strict=True):
            seconds = step.seconds
            if dropped:
                if step.passes.startswith((*ASSUMING, PAD)):
                    self.refused[step.passes] = "followed a step with findings of lint"
                    continue
                try:
                    *_, (_, made) = run_pipeline(best, step.passes, kernel=self.name)
                    seconds = self.clock.whole(made)
                except IsaError as error:
                    self.refused[step.passes] = error.message
                    continue
            if worse := _more_faults(made, first, self.name):
                self.refused[step.passes] = f"{step.passes} results in findings of lint: {worse}"
                dropped = True
            elif not dropped or seconds < kept[-1].seconds:
                best = made
                kept.append(replace(step, figures=figures(made, self.name), seconds=seconds))
        return best, kept

    def _different(self, trials: list[_Trial]) -> list[_Trial]:
        """Those of different texts, the best by the cheap prediction first."""
        found: dict[str, _Trial] = {}
        for trial in sorted(trials, key=lambda t: t.seconds):
            if trial.program is not self.best:
                found.setdefault(emit(trial.program), trial)
        return list(found.values())

    def _mixed(self, base: _Trial, orders: Mapping[str, _Trial]) -> list[_Trial]:
        """Each block in the order that suits it, and banks parted then."""
        orders = {order: t for order in ORDERS if (t := orders.get(order) or self._trial(base.program, order))}
        begin = min(orders, key=lambda order: orders[order].seconds, default="")
        if not begin or orders[begin].seconds >= base.seconds:
            begin = ""
        seconds = orders[begin].seconds if begin else base.seconds
        mix = Mix(base.program, self.name, {order: t.program for order, t in orders.items()}, begin, seconds)
        with self.within(self.left_to_try):
            mix.improve(self._seconds)
        found = []
        for passes in (mix.pipeline, f"{mix.pipeline},rename-banks".lstrip(",")):
            if passes and (trial := self._trial(base.program, passes)) is not None:
                found.append(_behind(base, trial))
        return found

    def _trial(self, program: Program, passes: str) -> _Trial | None:
        """What passes make of a program, and what it costs; None where they do not take it, or time is up."""
        if self.left_to_try <= 0 or passes in self.refused:
            return None
        if self.on_step:
            gained = 1 - self.steps[-1].seconds / self.steps[0].seconds
            self.on_step(f"{passes}, {self.tried + 1}. candidate; best so far {gained:+.1%}")
        found = None
        try:
            with self.within(self.left_to_try) as deadline:
                *_, (_, made) = run_pipeline(program, passes, kernel=self.name)
                found = _Trial(passes, made, self._seconds(made))
        except IsaError as error:
            self.refused[passes] = error.message
        if deadline.passed:
            self.refused[passes] = "not done within the budget"
        return found

    def _seconds(self, program: Program) -> float:
        """What the clock reads; once for a text. Leaves the block that is `within` the budget where it is spent."""
        text = emit(program)
        if text not in self.read:
            if self.candidates is not None and len(self.read) >= max(self.candidates, 1):
                raise _TimeUp
            self.read[text] = self.clock.quick(program)
        return self.read[text]

    def _kept(self, trial: _Trial) -> bool:
        """Whether lint finds nothing new in it, and what it assumes is proved."""
        if trial.passes in self.refused:
            return False
        with self.within(max(self.left, _LAST_S)) as deadline:
            if worse := sorted(_faults(trial.program, self.name) - self.faults):
                self.refused[trial.passes] = f"{trial.passes} results in findings of lint: {worse[0][0]}"
            elif trial.passes.startswith((*ASSUMING, PAD)) and not (self.same and self.same(trial.program)):
                self.refused[trial.passes] = "not proved to compute the same for all arguments"
            else:
                return True
        if deadline.passed:
            self.refused[trial.passes] = "not done within the budget"
        return False


def _behind(base: _Trial, trial: _Trial) -> _Trial:
    """The same with the passes before it named."""
    return replace(trial, passes=",".join(filter(None, (base.passes, trial.passes))))


def _parted(
    best: Program, name: str, steps: list[SearchStep], clock: Clock, faults: set[tuple[str, int]]
) -> tuple[Program, SearchStep] | None:
    """The program with fewer reads that collide, where that costs nothing that the clock can tell: a launch that waits
    for something else does not show what they cost in another one. Never slower than what was given."""
    last = steps[-1]
    *_, (_, made) = run_pipeline(best, "rename-banks", kernel=name)
    counted = figures(made, name)
    if not fewer(counted, last.figures) or _faults(made, name) - faults:
        return None
    seconds = clock.whole(made)
    most = min(last.seconds * (1 + LEAST / 2), steps[0].seconds)
    return (made, SearchStep("rename-banks", counted, seconds)) if seconds <= most else None


def _faults(program: Program, name: str, races: bool = False) -> set[tuple[str, int]]:
    """Lint's faults, as (rule, which one of that rule). races: with those of LDS, which take longest to find."""
    ids = [f.id for f in lint(program, program.file, name, notes=False, races=races)]
    return {(rule, n) for rule in set(ids) for n in range(ids.count(rule))}


def _more_faults(new: Program, old: Program, name: str) -> str:
    """The first fault, races in LDS among them, that was not there; "" where there is none."""
    found = _faults(new, name, races=True)
    return next((rule for rule, _ in sorted(found - _faults(old, name, races=True))), "") if found else ""


def table(found: Optimised, name: str, why: str = "") -> list[str]:
    """What the search found, as lines to print. why: no launch could be followed."""
    from hipgemm.report.timing import conditions

    first = found.steps[0]
    timed = "cycles" if why else "time"
    rows = [("step", timed, "change", "VGPRs", "instr.", "pairs", "dual", "conflicts", "WMMA on one bank")]
    for step in found.steps:
        f, loop = step.figures, step.figures.loop
        counted = loop if first.figures.loop["instructions"] else vars(f)
        share = 2 * counted["pairs"] / counted["eligible"] if counted["eligible"] else 0.0
        shown = f"{step.seconds / first.seconds:.4f}" if why else f"{1e3 * step.seconds:.4f} ms"
        rows.append((
            step.passes, shown, f"{step.seconds / first.seconds - 1:+.1%}", str(f.vgprs), str(counted["instructions"]),
            str(counted["pairs"]), f"{share:.0%}", str(counted["conflicts"]), str(counted["matrix"]),
        ))  # fmt: skip
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    out = [f"{name}: {found.clock}" + (f" ({why})" if why else "")]
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        out.append("  " + "  ".join(cells))
    tried = number_of(found.tried, "candidate")
    out.append(f"  {tried} in {found.took_s:.0f} s of processor time; counted inside loops, if there are any")
    for message in dict.fromkeys(found.refused.values()):
        out.append(f"  {'; '.join(p for p, said in found.refused.items() if said == message)}: {message}")
    if found.guards:
        out += [f"  {assumed(found.guards)}", *(f"    {one}" for one in conditions(found.guards))]
    if len(found.steps) == 1:
        out.append("  no gain: the input is unchanged")
    elif why:
        out.append(
            f"  the gain is for loops of {ITERATIONS} iterations without LDS conflicts, which is a guess: a launch "
            "(--grid, --block, --arg) tells what it is"
        )
    return out


@dataclass
class Deadline:
    """passed: whether the block was left because its time was up."""

    passed: bool = False


class _TimeUp(BaseException):
    pass


@contextmanager
def _counted(_: float) -> Iterator[Deadline]:
    """A block that `_Search._seconds` leaves when enough programs were tried, and nothing else."""
    deadline = Deadline()
    try:
        yield deadline
    except _TimeUp:
        deadline.passed = True


@contextmanager
def within(seconds: float) -> Iterator[Deadline]:
    """A block that is left when this much processor time is up, by an exception that no handler of errors catches: only
    for work without effects. It runs to its end outside of the main thread and where there is no alarm."""
    deadline, running = Deadline(), True

    def ring(_: int, __: FrameType | None) -> None:
        if running:
            raise _TimeUp

    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield deadline
        return
    before = signal.signal(signal.SIGPROF, ring)
    try:
        signal.setitimer(signal.ITIMER_PROF, max(seconds, 0.01))
        yield deadline
        running = False
    except _TimeUp:
        deadline.passed = True
    finally:
        running = False
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
