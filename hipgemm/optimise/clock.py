"""Cost functions of `opt`: a program -> the predicted time of a launch, or, where none is known, a count that is the
same for two texts of one kernel (`isa.timing.model.without_launch`)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isa.analysis import cfg
from isa.asm.program import Program
from isa.errors import IsaError

if TYPE_CHECKING:
    from hipgemm.kernels.source_lines import Source
    from hipgemm.launch.launch import Launch
    from isa.timing.machine.cards import Card
    from isa.timing.model.ensemble import Timing
    from isa.timing.model.predict import TimedLaunch

PAD = "pad-lds"
_ROWS = 2
"""How many rows of LDS are tried, of those that conflict."""
_ASKED_AGAIN = 16
"""Programs of which a launch is kept as it was followed: a round asks about its best ones again."""


@dataclass(frozen=True)
class Clock:
    """What a program costs. what: what is counted; quick, whole: seconds, of a cheap prediction and a whole one;
    iterations: whether loops run as often as they do, not as often as the text has loops; shapes: more of `ASSUMING`,
    for what it sees of a program; guards: the conditions on data in the program that was given that it takes to hold in
    all lanes (`isa.timing.trace.guards`), as `hipgemm time` names them."""

    what: str
    quick: Callable[[Program], float]
    whole: Callable[[Program], float]
    iterations: bool = True
    shapes: Callable[[Program], tuple[str, ...]] = lambda _: ()
    guards: Callable[[Program], tuple[str, ...]] = lambda _: ()


def of_launch(name: str, launch: Launch, on: Card, source: Source | None = None) -> Clock:
    """A clock by the prediction of a launch; nothing is assembled. source: gives the lines of the source of the program
    that was given, where more is known than what its text says."""
    from hipgemm.judge.memory_use import lds_rows
    from hipgemm.judge.predict import conditions, timed
    from hipgemm.kernels.source_lines import places, source_of
    from isa.object.from_text import TextCode
    from isa.object.lines import Lines

    @functools.lru_cache(_ASKED_AGAIN)
    def ready(program: Program) -> TimedLaunch:
        return timed(TextCode.of(program, on.arch), name, launch, on)

    def seconds(program: Program, how: str) -> float:
        found: Timing = getattr(ready(program), how)()
        return found.time_s

    def longer_rows(program: Program) -> tuple[str, ...]:
        """Where accesses of LDS conflict."""
        if launch.dynamic_lds:
            return ()
        rows = lds_rows(ready(program).prepared)
        return tuple(f"{PAD}{{row={row} pad={0 if pad & pad - 1 else pad}}}" for row, pad in rows[:_ROWS])

    def guards(given: Program) -> tuple[str, ...]:
        asked = ready(given)
        timing = asked.median()
        if not timing.guards:
            return ()
        instructions = asked.prepared.cfg.instructions
        origins = source() if source else source_of(given)
        return conditions(timing, instructions, places(Lines(given, asked.code), instructions, origins))

    return Clock(
        "predicted for its launch", lambda p: seconds(p, "estimate"), lambda p: seconds(p, "median"),
        shapes=longer_rows, guards=guards,
    )  # fmt: skip


def of_kernel(
    given: Program, name: str, launch: Launch | None, on: Card, why: str = "no launch", source: Source | None = None
) -> tuple[Clock, str]:
    """By the kernel's launch, and ""; where none is known, or none can be followed, without one, and why. source: as of
    `of_launch`."""
    if launch is not None:
        clock = of_launch(name, launch, on, source)
        try:
            clock.quick(given)
            return clock, ""
        except IsaError as error:
            why = error.message
    return without_launch(name, on), why


def without_launch(name: str, on: Card) -> Clock:
    """A clock where no launch is known."""
    from isa.object import metadata
    from isa.object.from_text import TextCode
    from isa.timing.model import ensemble, without_launch
    from isa.timing.model.predict import resources_of

    iterations: list[int] = []  # the first text's are every text's

    def seconds(program: Program, whole: bool) -> float:
        kernel = program.kernel(name)
        threads = min(metadata.number(kernel, ".max_flat_workgroup_size") or 256, 256)
        resources = resources_of(TextCode.of(program, on.arch).kernel(name))
        flow = cfg.of_kernel(kernel)
        if not iterations:
            iterations.append(without_launch.iterations_of(flow))
        ready = without_launch.prepare(flow, resources, threads, on, iterations[0])
        return (ensemble.predict(ready, band=False) if whole else ensemble.quick(ready)).time_s

    what = f"by the code alone: loops run up to {without_launch.ITERATIONS} iterations, without conflicts; no time"
    return Clock(what, lambda p: seconds(p, False), lambda p: seconds(p, True), iterations=False)
