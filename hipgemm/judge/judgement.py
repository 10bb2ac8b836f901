"""Judgement of a kernel: a kernel's code and a launch -> right or wrong, findings, registers and time, in one object.

For programs that write kernels: an agent, an autotuner, continuous integration. Each part is what the verb of its name
says: the answer of `run`, the findings of `lint` and `check`, the numbers of `inspect`, the prediction of `time`. The
launch runs on the simulated card under the sanitizer, so that a fault of the kernel is a finding and not an error.

What cannot be had is null with a reason: a time of a kernel whose path nobody can follow, an answer that is compared
with nothing. A kernel that lint refuses to start (its descriptor does not fit its code) is not run.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hipgemm.judge.checking import Schedules, checked
from hipgemm.judge.inspection import Inspection, inspect
from hipgemm.judge.inspection.linting import lint
from hipgemm.judge.predict import Prediction, predicted
from hipgemm.kernels.source_lines import together, with_origins
from hipgemm.measure.device import Device
from hipgemm.measure.measure import measure_launch
from isa.asm.program import Program
from isa.errors import Finding, IsaError
from isa.lint import sound
from isa.sim.run.faults import BudgetSpent, KernelFault

if TYPE_CHECKING:
    from hipgemm.kernels.build import Linked
    from hipgemm.launch.launch import Launch
    from hipgemm.measure.result import LaunchResult
    from isa.timing.machine.cards import Card

NOT_COMPARED = "nothing says what it must compute: --expect FILE.npy or --reference FILE.py"


@dataclass(frozen=True)
class Judgement:
    """What is known of a kernel. findings: of lint and of check; result: of a launch, None where it did not end;
    untimed: why there is no prediction."""

    kernel: str
    findings: tuple[Finding, ...]
    inspection: Inspection
    result: LaunchResult | None
    prediction: Prediction | None
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


def judged(made: Linked, launch: Launch, on: Card, schedules: Schedules) -> Judgement:
    """Judges a launch of a kernel whose code is there, for a card of the cycle model. Raises IsaError for a launch that
    is not the kernel's."""
    launch = launch.bound(made.facts)
    given = made.program or made.code_object
    found = with_origins(lint(given, made.kernel.title, made.name), lambda: made.source)
    found = together(found, given) if isinstance(given, Program) else found
    seen = inspect(given, made.kernel.title, made.name)
    if sound.of_start(given, made.name):
        return Judgement(made.name, tuple(found), seen, None, None, "its descriptor does not fit its code")
    found += checked(made, launch, schedules)
    result = None
    if not any(f.id == "RUN001" for f in found):
        with suppress(KernelFault, BudgetSpent):  # which is a finding
            result = measure_launch(made, launch, Device.open("simulated", card=on.name)).result
    try:
        prediction, why = predicted(made, launch, on, advise=True)[1], ""
    except IsaError as error:
        prediction, why = None, error.message
    return Judgement(made.name, tuple(found), seen, result, prediction, why)


def as_object(judgement: Judgement, findings: list[dict[str, Any]], guidance: list[str]) -> dict[str, Any]:
    """As JSON has it. findings, guidance: as the command line has them."""
    r, seen, p = judgement.result, judgement.inspection, judgement.prediction
    answer = None
    if r is not None:
        answer = {
            "compared": list(getattr(r, "compared", ())) or (["C"] if r.correct is not None else []),
            "wrong": r.wrong, "max_abs_error": r.max_abs_error, "tolerance": r.tolerance,
            "first_wrong": [_element(place) for place in (r.first_wrong or ((r.worst,) if r.worst else ()))],
        }  # fmt: skip
    time = None
    if p is not None:
        t = p.timing
        time = {
            "kind": "predicted", "card": t.card.name, "clock_mhz": t.clock_mhz, "time_ms": 1e3 * t.time_s,
            "low_ms": 1e3 * t.low_s, "high_ms": 1e3 * t.high_s, "causes": t.causes,
        }  # fmt: skip
    return {
        "kernel": judgement.kernel,
        "good": judgement.good,
        "right": judgement.right,
        "why_not_compared": NOT_COMPARED if judgement.right is None else None,
        "answer": answer,
        "faults": judgement.faults,
        "findings": findings,
        "resources": {
            "vgprs": seen.vgprs, "sgprs": seen.sgprs, "lds": seen.lds, "scratch": seen.scratch,
            "waves_per_simd": seen.occupancy.waves, "limited_by": list(seen.occupancy.binding),
        },
        "time": time,
        "why_no_time": judgement.untimed or None,
        "guidance": guidance,
    }  # fmt: skip


def _element(place: tuple[float, ...]) -> dict[str, Any]:
    *index, got, expected = place
    return {"index": [int(i) for i in index], "got": _number(got), "expected": _number(expected)}


def _number(value: float) -> float | str:
    return value if value - value == 0 else str(value)
