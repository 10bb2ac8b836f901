"""Predicted time of a launch: a kernel's code object -> time and causes; nothing runs, and nothing is read from arrays,
unless the path is to be that of workgroups that are run.

The path of a launch from workgroups that are run on the simulated card, for kernels whose path or addresses depend
on data (`isa.timing.trace.recording`): with arrays that somebody gave, or that a launch was recorded with.

The arrays lie one after another in one piece of memory, each at the beginning of a page, so that what the caches do
does not depend on where this process got it. Limits: those of
`isa.timing.trace.recording`: four workgroups are run, one is played.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from hipgemm.kernels.ladder import Gemm
from hipgemm.launch.gemm import gemm
from hipgemm.launch.launch import Launch
from hipgemm.launch.problem import Problem
from isa.analysis.resources import occupancy
from isa.display import Shown
from isa.errors import IsaError
from isa.registers import LANES
from isa.targets import target
from isa.timing.model import predict
from isa.timing.model import run as model
from isa.timing.model.ensemble import Timing
from isa.timing.trace.slicing import DependsOnData
from isa.timing.trace.tracer import BUDGET
from isa.timing.workgroups.unequal import by_paths

if TYPE_CHECKING:
    from hipgemm.judge.gains import Gain
    from hipgemm.judge.memory_use import MemoryUse
    from hipgemm.judge.timeline import Line, Timeline
    from hipgemm.kernels.build import Linked
    from isa.object.code_object import CodeObject
    from isa.timing.machine.cards import Card, CardFile
    from isa.timing.model.as_measured import AsMeasured
    from isa.timing.model.ensemble import Timing
    from isa.timing.model.predict import TimedLaunch

_FIRST, _APART = 0x7F00_0000_0000, 0x10_0000_0000
"""Where arrays would lie: only distances matter, and a card aligns allocations to pages."""


@dataclass(frozen=True, repr=False)
class Prediction(Shown):
    """A kernel's launch, and what the cycle model says of it. use: what it moves, as_measured: what events would show,
    gains, lines: what changes would save, and what waves spend at each instruction, where that was asked for; guards:
    as `conditions` gives them; ran: as `followed` gives it."""

    kernel: str
    launch: Launch
    timing: Timing
    use: MemoryUse | None = None
    as_measured: AsMeasured | None = None
    guards: tuple[str, ...] = ()
    ran: str = ""
    gains: tuple[Gain, ...] = ()
    lines: tuple[Line, ...] = ()

    @property
    def tflops(self) -> float | None:
        """2 m n k operations of each product in the predicted time, where the launch is a GEMM's."""
        p = self.launch.problem
        return None if p is None else 2.0 * p.batch * p.m * p.n * p.k / self.timing.time_s / 1e12

    @property
    def peak_share(self) -> float | None:
        """Of the card's peak at this clock: dual-issue fp32, or of the matrix units where they multiply."""
        peak = self.use.peak if self.use else self.timing.card.peak_flops(self.timing.clock_mhz)
        return None if self.tflops is None else self.tflops * 1e12 / peak


def predicted(
    made: Linked, launch: Launch, on: Card, clock_mhz: float | None = None, *, bank_rule: str | None = None,
    run: bool | None = None, warm: bool = False, calibrated: CardFile | None = None, load: str | None = None,
    overhead_us: float = 0.0, above_boost: bool = False, numbers: Mapping[str, float] | None = None,
    budget: int | None = None, advise: bool = False,
) -> tuple[TimedLaunch, Prediction]:  # fmt: skip
    """A launch of a kernel whose code is there, and all that is predicted of it. load, overhead_us, above_boost: what
    `isa.timing.model.as_measured` takes, if events are asked for; numbers, budget: as of `timed`; advise: with what
    changes would save (`hipgemm.judge.gains`), and what is spent where. Raises what `timed` does."""
    from hipgemm.judge import gains, timeline
    from hipgemm.judge.memory_use import memory_use, named
    from isa.timing.model.as_measured import as_measured

    startable(made)
    ready, ran = followed(
        made, launch, on, run, bank_rule=bank_rule, warm=warm, calibrated=calibrated, numbers=numbers, budget=budget
    )
    with errors_placed(made):
        timing, cfg = ready.timing(clock_mhz), ready.prepared.cfg
    places = made.places(cfg.instructions)
    where = named(cfg, places)
    guards = conditions(timing, cfg.instructions, where)
    events = as_measured(timing, load, overhead_us, above_boost=above_boost) if load or overhead_us else None
    use = memory_use(ready.prepared, timing, where)
    saved = gains.gains(ready.prepared, timing.clock_mhz, where) if advise else ()
    lines = timeline.profile(ready.prepared, timing.clock_mhz, places) if advise else ()
    return ready, Prediction(made.name, launch, timing, use, events, guards, ran, tuple(saved), lines)


def followed(
    made: Linked, launch: Launch, on: Card, run: bool | None = None, **how: Any
) -> tuple[TimedLaunch, str]:  # fmt: skip
    """A launch whose path and addresses are known, and why they were taken from a run of it, "" where they were not.
    run: None for what depends on data alone, True in any case, False never; how: what `timed` takes. DependsOnData
    where nothing was run, or the run stopped."""
    ready = timed(made.code_object, made.name, launch, on, run=bool(run), **how)
    try:
        with errors_placed(made):
            _ = ready.prepared
    except DependsOnData as refused:
        if run is False:
            raise
        ready = timed(made.code_object, made.name, launch, on, run=True, **how)
        try:
            with errors_placed(made):
                _ = ready.prepared
        except IsaError as stopped:
            refused.hint = f"it was run with the arrays of the launch, which stopped: {stopped.message}"
            raise refused from stopped
        place = refused.user_place
        return ready, f"{refused.message} ({f'{place.file}:{place.line}' if place else made.name})"
    return ready, "--run" if run else ""


def played(
    made: Linked, launch: Launch, on: Card, clock_mhz: float | None = None, *, run: bool | None = None,
    budget: int | None = None, window: int | None = None, begin: int | None = None,
) -> tuple[Timeline, model.Prepared, str]:  # fmt: skip
    """The timeline of a launch of a kernel whose code is there; what it was played from, and why its path was taken
    from a run. run, budget: as of `followed`. Raises what that does, and `startable`."""
    from hipgemm.judge.timeline import timeline

    startable(made)
    timed, ran = followed(made, launch, on, run, budget=budget)
    ready, places = timed.prepared, made.places(timed.prepared.cfg.instructions)
    size = "" if launch.problem is None else f", N = {launch.problem.n}"
    name = f"{made.name}{size}, {on.name}"
    return timeline(ready, name, clock_mhz or on.clock_mhz, window=window, begin=begin, places=places), ready, ran


def startable(made: Linked) -> None:
    """IsaError for a kernel whose code does not fit its descriptor: no time of it is known."""
    from isa.lint import sound

    sound.checked(made.code_object if made.program is None else made.program, made.name)


def conditions(timing: Timing, instructions: Sequence[object], where: Sequence[object]) -> tuple[str, ...]:
    """Where, and which, the conditions are of which `Timing.guards` speaks. where: the kernel's instructions are."""
    return tuple(f"{where[i]}: {instructions[i]}" for i in timing.guards)


@contextmanager
def errors_placed(made: Linked) -> Iterator[None]:
    """An error at an instruction of a kernel's machine code, whose place is its number in the kernel, names its line in
    the assembly instead, and that of the source."""
    try:
        yield
    except IsaError as error:
        if (span := error.span) is not None and made.program is not None:
            if span.file == made.name and made.image:
                span = made.lines.at(made.code_object.disassembled(made.name)[span.line - 1][0])
            if span is not None and span.file == made.program.file:
                error.span, error.origin = span, made.source.get(span.line - 1)
        raise


def timed(
    code: CodeObject, name: str, launch: Launch, on: Card, *, bank_rule: str | None = None, run: bool = False,
    warm: bool = False, calibrated: CardFile | None = None, numbers: Mapping[str, float] | None = None,
    budget: int | None = None,
) -> TimedLaunch:  # fmt: skip
    """A launch of kernel `name` of a code object, to be timed. run: as workgroups that are run went; warm: it has been
    made before; calibrated: machine numbers of the card; numbers: others than these, or than the table's; budget:
    instructions that may be followed. IsaError where the arguments are not the kernel's, where addresses depend on data
    and nothing is run, and where the code does not fit its descriptor: no time of that is known."""
    from isa.lint import sound
    from isa.timing.machine import bank_rules, families
    from isa.timing.model import predict

    sound.checked(code, name)
    kernel = code.kernel(name)
    bound = launch.bound(kernel)
    kernarg = bound.kernarg(kernel, [_FIRST + i * _APART for i in range(len(bound.arrays))])
    rule = bank_rule or bank_rules.DEFAULT
    known = calibrated.values if calibrated else None
    ready = predict.TimedLaunch(
        code, name, launch.grid, launch.block, kernarg, on, launch.dynamic_lds, bank_rule=rule, warm=warm,
        numbers=families.values(on.arch, **{**(known or {}), **numbers}) if numbers else known,
        ranges=calibrated.ranges if calibrated else None, budget=budget or BUDGET,
    )  # fmt: skip
    if not run:
        return ready

    return RunTimedLaunch(**vars(ready), launch=bound)


def ready(
    code: CodeObject,
    row: Gemm,
    sizes: tuple[int, int, int],
    on: Card,
    *,
    beta: float = 0.0,
    bank_rule: str | None = None,
    batch: int = 1,
) -> TimedLaunch:
    """The same for a GEMM. sizes: M, N and K, SizeError where they are none of the kernel's; batch: products."""
    m, n, k = sizes
    problem = Problem(m, n, k, beta=beta, batch=batch)
    return timed(code, row.name, gemm(row, problem, on.cus), on, bank_rule=bank_rule)


_PAGE = 4096


@dataclass(frozen=True)
class RunTimedLaunch(predict.TimedLaunch):
    """launch: bound, with the arrays that the workgroups run on."""

    launch: Launch = field(kw_only=True)

    @functools.cached_property
    def prepared(self) -> model.Prepared:
        """Made ready for `isa.timing.model.run`. What `isa.sim.run.card.Card.launch` raises."""
        from isa.sim.run.card import Card as SimulatedCard  # what simulates is imported where something runs
        from isa.timing.trace import recording

        card = SimulatedCard()
        kernel = card.load(self.code).kernels[self.name]
        starts = list(accumulate((_pages(array.nbytes) for array in self.launch.arrays), initial=0))
        base = _pages(card.memory.allocate(starts[-1] + _PAGE))
        addresses = [base + at for at in starts[:-1]]

        def fill() -> None:
            self.launch.fill(addresses)

        fill()
        kernarg = self.launch.kernarg(kernel.facts, addresses)
        cfg = predict.cfg_of(self.code, kernel.facts)
        running = recording.Running(
            cfg, kernel, card.memory, card.target, self.grid, self.block, kernarg, self.dynamic_lds, fill,
            self.launch.last,
        )  # fmt: skip
        trace = running.traced()
        resources, lanes = predict.resources_of(kernel.facts, self.dynamic_lds), LANES * kernel.halves
        units = self.on.cus if resources.cu_mode else self.on.wgps
        fits = occupancy(
            resources.vgprs, resources.lds, lanes * trace.waves, cu_mode=resources.cu_mode,
            target=target(self.on.arch), lanes=lanes,
        )  # fmt: skip
        own = by_paths(cfg, trace, running.paths(), running.record, units, fits.workgroups)
        trace = trace if own is None else replace(own, exact=False)
        return model.prepare(cfg, trace, resources, self.on, self.numbers, self.bank_rule, self.warm, self.ranges)

    def _kept(self, what: str, clock_mhz: float | None, make: Callable[[], Timing]) -> Timing:
        return make()  # the disk knows launches by their arguments, not by what arrays hold


def _pages(size: int) -> int:
    """So many bytes in whole pages, one at least."""
    return max(-(-size // _PAGE), 1) * _PAGE
