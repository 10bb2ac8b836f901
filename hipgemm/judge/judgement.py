"""Judgement of a kernel: a kernel's code and a launch -> right or wrong, findings, registers and time, in one object.

For programs that write kernels: an agent, an autotuner, continuous integration. Each part is what the verb of its name
says: the answer of `run`, the findings of `lint` and `check`, the numbers of `inspect`, the prediction of `time`. The
launch runs on the simulated card under the sanitizer, so that a fault of the kernel is a finding and not an error.

What cannot be had is null with a reason: a time of a kernel whose path nobody can follow, an answer that is compared
with nothing. A kernel that lint refuses to start (its descriptor does not fit its code) is not run.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from hipgemm.judge import kept
from hipgemm.judge.checking import Schedules, checked
from hipgemm.kernels.source_lines import in_source
from hipgemm.measure.device import Device
from hipgemm.measure.measure import measure_launch
from isa.errors import Finding, IsaError, Related, SourceLine, Span
from isa.sim.run.faults import BudgetSpent, KernelFault

if TYPE_CHECKING:
    from hipgemm.kernels.build import Linked
    from hipgemm.launch.launch import Launch
    from hipgemm.measure.result import LaunchResult
    from isa.timing.machine.cards import Card

NOT_COMPARED = "nothing says what it must compute: --expect FILE.npy or --reference FILE.py"


@dataclass(frozen=True)
class Resources:
    """What a wave or workgroup takes, by the descriptor; bytes of lds and scratch."""

    vgprs: int
    sgprs: int
    lds: int
    scratch: int
    waves_per_simd: float
    limited_by: tuple[str, ...]


@dataclass(frozen=True)
class Looked:
    """What is known of a kernel without its launch. advice: on its occupancy; starts: whether a card can start it."""

    findings: tuple[Finding, ...]
    resources: Resources
    advice: tuple[str, ...]
    starts: bool


@dataclass(frozen=True)
class Predicted:
    """The time of a launch by the cycle model. causes: of waiting, shares of all cycles; guidance: what limits it and
    what would help, in sentences; ran: as of a `hipgemm.judge.predict.Prediction`."""

    card: str
    clock_mhz: float
    time_ms: float
    low_ms: float
    high_ms: float
    causes: Mapping[str, float]
    guidance: tuple[str, ...]
    ran: str


@dataclass(frozen=True)
class Judgement:
    """What is known of a kernel. findings: of lint and of check; result: of a launch, None where it did not end;
    untimed: why there is no time."""

    kernel: str
    findings: tuple[Finding, ...]
    resources: Resources
    advice: tuple[str, ...]
    result: LaunchResult | None
    time: Predicted | None
    untimed: str = ""

    @property
    def faults(self) -> int:
        return sum(finding.severity == "fault" for finding in self.findings)

    @property
    def right(self) -> bool | None:
        """Whether it ended with the expected answer; None where nothing was expected. Faults are told apart: a race may
        leave the answer right."""
        return False if self.result is None else self.result.correct

    @property
    def good(self) -> bool:
        """Right as far as anybody can say, and without a fault."""
        return self.right is not False and not self.faults

    @property
    def guidance(self) -> tuple[str, ...]:
        """What limits the kernel, and what would help, in sentences."""
        return (*(self.time.guidance if self.time else ()), *self.advice)


def judged(made: Linked, launch: Launch, on: Card, schedules: Schedules) -> Judgement:
    """Judges a launch of a kernel whose code is there, for a card of the cycle model. Raises IsaError for a launch that
    is not the kernel's."""
    launch = launch.bound(made.facts)
    seen = kept.of_code(
        made.made_of, ["looked"], lambda: _looked(made), (Looked, Resources, Finding, Related, Span, SourceLine)
    )
    said = made.name, seen.findings, seen.resources, seen.advice
    if not seen.starts:
        return Judgement(*said, None, None, "its descriptor does not fit its code")
    found = checked(made, launch, schedules)
    result = None
    if not any(f.id == "RUN001" for f in found):
        with suppress(KernelFault, BudgetSpent):  # which is a finding
            result = measure_launch(made, launch, Device.open("simulated", card=on.name)).result
    time, why = None, ""
    arguments = launch.kernarg(made.facts, range(len(launch.arrays)))
    asked = ("time", launch.grid, launch.block, launch.dynamic_lds, launch.last, arguments, on)
    try:
        time = kept.of_code(
            made.made_of, asked, lambda: _predicted(made, launch, on), (Predicted,), lambda time: not time.ran
        )
    except IsaError as error:
        why = error.message
    return Judgement(made.name, (*seen.findings, *found), seen.resources, seen.advice, result, time, why)


def _looked(made: Linked) -> Looked:
    from hipgemm.judge.inspection import inspect
    from hipgemm.judge.inspection.linting import lint
    from isa.lint import sound

    given = made.program or made.code_object
    found = in_source(lint(given, made.kernel.title, made.name), given, lambda: made.source)
    seen = inspect(given, made.kernel.title, made.name)
    fits = seen.occupancy
    takes = Resources(seen.vgprs, seen.sgprs, seen.lds, seen.scratch, fits.waves, tuple(fits.binding))
    return Looked(tuple(found), takes, tuple(fits.advice), not sound.of_start(given, made.name))


def _predicted(made: Linked, launch: Launch, on: Card) -> Predicted:
    from hipgemm.judge.predict import predicted
    from hipgemm.report.timing import guidance

    found = predicted(made, launch, on, advise=True)[1]
    t = found.timing
    band = 1e3 * t.time_s, 1e3 * t.low_s, 1e3 * t.high_s
    return Predicted(t.card.name, t.clock_mhz, *band, t.causes, tuple(guidance(found, ())), found.ran)


def as_object(judgement: Judgement, findings: list[dict[str, Any]]) -> dict[str, Any]:
    """As JSON has it. findings: as the command line has them."""
    r, time = judgement.result, None
    answer = None
    if r is not None:
        answer = {
            "compared": list(getattr(r, "compared", ())) or (["C"] if r.correct is not None else []),
            "wrong": r.wrong, "max_abs_error": r.max_abs_error, "tolerance": r.tolerance,
            "first_wrong": [_element(place) for place in (r.first_wrong or ((r.worst,) if r.worst else ()))],
        }  # fmt: skip
    if judgement.time is not None:
        time = {"kind": "predicted", **asdict(judgement.time)}
        del time["guidance"], time["ran"]
    return {
        "kernel": judgement.kernel,
        "good": judgement.good,
        "right": judgement.right,
        "why_not_compared": NOT_COMPARED if judgement.right is None else None,
        "answer": answer,
        "faults": judgement.faults,
        "findings": findings,
        "resources": {**asdict(judgement.resources), "limited_by": list(judgement.resources.limited_by)},
        "time": time,
        "why_no_time": judgement.untimed or None,
        "guidance": list(judgement.guidance),
    }


def _element(place: tuple[float, ...]) -> dict[str, Any]:
    *index, got, expected = place
    return {"index": [int(i) for i in index], "got": _number(got), "expected": _number(expected)}


def _number(value: float) -> float | str:
    return value if value - value == 0 else str(value)
