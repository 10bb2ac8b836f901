"""Run one launch on one device: arrays up, one launch that is judged, warm-up, timed launches.

The first launch is the one whose answer is compared with the reference (with beta other than 0 every launch changes C).
On a card WARM_UPS more go by unmeasured, then REPEATS launches follow each other on one stream, each between two
events; the published study shows the minimum of 16. On the simulated card one launch says everything: it computes the
same each time, and its clock is a prediction.

**Cold caches.** Launches in a row find what the one before left in the cache: 6 MB of L2 and 96 MB of L3 on Navi 31.
With `cold` there are so many sets of arrays, used in turn, that between two uses of a set at least COLD_BYTES of other
arrays pass.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hipgemm.judge.checking import faults_placed
from hipgemm.kernels.build import Linked
from hipgemm.kernels.ladder import Gemm, rung
from hipgemm.kernels.object import HasKernel, Kernel
from hipgemm.launch.gemm import gemm
from hipgemm.launch.launch import Launch
from hipgemm.launch.problem import Problem, ProblemError, Verdict
from hipgemm.measure.card.environment import Telemetry, environment
from hipgemm.measure.device import Buffer, Device
from hipgemm.measure.result import LaunchResult, Result
from isa.errors import IsaError
from isa.object import code_object

if TYPE_CHECKING:
    import numpy as np

WARM_UPS = 4
REPEATS = 16
COLD_BYTES = 2 * (96 + 6) << 20
Step = Callable[[str], None]
Start = Callable[[Sequence[Buffer], Any], None]
"""Puts one launch on a stream: (its arrays on the device, stream)."""


@dataclass(frozen=True)
class Measured:
    """A result together with the arrays that the device computed, by number: those that a reference speaks of, or all
    that are no scratch where there is none."""

    result: LaunchResult
    arrays: dict[int, np.ndarray]

    @property
    def c(self) -> np.ndarray:
        """What a GEMM computed."""
        return self.arrays[2]


@dataclass(frozen=True)
class Subject:
    """What is measured. launch: its arrays, and what must become of them; facts: of its code object, where there is
    one; the rest as in LaunchResult."""

    name: str
    start: Start
    made_by: str
    launch: Launch
    facts: code_object.DescribedKernel | None = None
    warnings: tuple[str, ...] = ()
    reference: str = ""
    free: tuple[str, ...] = ()


def run(
    kernel: str | Kernel | HasKernel,
    n: int = 4096,
    *,
    m: int | None = None,
    k: int | None = None,
    alpha: float = 1.0,
    beta: float = 0.0,
    data: str = "random",
    seed: int = 0,
    device: Device | str | None = None,
    repeats: int | None = None,
    cold: bool = False,
    step: Step | None = None,
) -> Result:
    """Build a GEMM kernel, run it, check it.

    kernel: a rung of the ladder or a generated kernel, by its name (`isa.gemm.names`); or a kernel object that is one.
    n, m, k: sizes; m and k are n if not given.
    data, seed: see hipgemm.launch.problem.
    device: "card", "card:N", "simulated", an open Device, or None for a card where there is one.
    repeats: timed launches; 16 on a card and 1 on the simulated card if not given.
    cold:   each launch starts with its matrices in no cache.
    step:   called with a description of each step.

    Raises IsaError for what cannot be run: an unknown kernel, sizes it does not take, a build or launch that fails.
    """
    problem = Problem.of(n, m, k, alpha, beta, data, seed)
    given = rung(kernel) if isinstance(kernel, str) else kernel
    row = given if isinstance(given, Kernel) else given.kernel
    if not isinstance(row, Gemm):
        raise IsaError(f"{row.title} is not known to be a GEMM", hint="hipgemm.kernel(...) calls any kernel")
    result = measure(row, problem, device=device, repeats=repeats, cold=cold, step=step).result
    assert isinstance(result, Result)
    return result


def measure(
    row: Gemm,
    problem: Problem,
    *,
    device: Device | str | None = None,
    repeats: int | None = None,
    cold: bool = False,
    step: Step | None = None,
) -> Measured:
    """As `run`, for a GEMM kernel and a problem; gives C too."""
    row.check_size(problem.m, problem.n, problem.k)
    from hipgemm.kernels.build import linked

    say = step or (lambda _: None)
    opened = device if isinstance(device, Device) else Device.open(device)
    say(f"building {row.name} for {opened.arch}")
    made = linked(row, arch=opened.arch)
    launch = gemm(row, problem, opened.cus)
    return measure_launch(made, launch, opened, repeats=repeats, cold=cold, step=step)


def measure_launch(
    made: Linked,
    launch: Launch,
    device: Device,
    *,
    repeats: int | None = None,
    cold: bool = False,
    step: Step | None = None,
    simulate: bool = False,
    tolerance: float = 0.0,
) -> Measured:
    """Run a launch of a kernel whose code is there, however it was made.

    simulate: on a card, where nothing says what its arrays must hold, hold them against what the simulated card makes
    of them, within a tolerance (`hipgemm.measure.card.reference`)."""
    facts = code_object.load(made.image, device.arch).kernel(made.name)
    launch = launch.bound(facts)
    warnings, reference = made.warnings, ""
    free: tuple[str, ...] = ()
    if simulate and not device.simulated and not launch.references and launch.arrays:
        from hipgemm.measure.card import reference as card_reference

        if step:
            step(f"running {made.name} on the simulated card, to compare")
        try:
            launch, free = card_reference.expected_of(made, launch, tolerance)
            reference = "the simulated card"
        except IsaError as error:
            warnings = (*warnings, f"not compared with the simulated card, which reports: {error.message}")
    function = device.load(made.image, made.name)

    names: dict[int, str] = {}

    def start(arrays: Sequence[Buffer], stream: Any) -> None:
        names.update((buffer.address, array.name) for buffer, array in zip(arrays, launch.arrays, strict=True))
        arguments = launch.values([x.address for x in arrays])
        device.launch(function, launch.grid, launch.block, arguments, stream=stream, dynamic_lds=launch.dynamic_lds,
                      last=launch.last)  # fmt: skip

    subject = Subject(made.name, start, made.made_by, launch, facts, warnings, reference, free)
    with faults_placed(made, names):
        measured = measure_subject(subject, device, repeats=repeats, cold=cold, step=step)
    device.unload(function)
    return measured


def measure_subject(
    subject: Subject,
    device: Device,
    *,
    repeats: int | None = None,
    cold: bool = False,
    step: Step | None = None,
) -> Measured:
    """Run, check and time anything that does on the device what a launch says."""
    import numpy as np

    wanted = (1 if device.simulated else REPEATS) if repeats is None else repeats
    if wanted < 1:
        raise ProblemError("a kernel must be launched at least once", got=f"repeats = {wanted}")
    say = step or (lambda _: None)
    launch, arrays = subject.launch, subject.launch.arrays
    compared = [r.array for r in launch.references] if launch.problem else range(len(arrays))
    used = sum(array.nbytes for array in arrays if not array.scratch)
    warm_ups = 0 if device.simulated else WARM_UPS
    with ExitStack() as stack:
        sets = [
            [stack.enter_context(device.buffer(max(array.nbytes, 4))) for array in arrays]
            for _ in range(1 + -(-COLD_BYTES // used) if cold and used else 1)
        ]  # before anything is filled, which takes long where there is no room for it
        say("drawing matrices" if launch.problem else "filling arrays")
        begins = [array.contents() for array in arrays]
        answers = {i: np.empty(arrays[i].shape, arrays[i].dtype) for i in compared if not arrays[i].scratch}
        for buffer, array in ((b, a) for buffers in sets for b, a in zip(buffers, begins, strict=True) if a.size):
            buffer.upload(array)

        def start(run: int, stream: Any) -> None:
            subject.start(sets[run % len(sets)], stream)

        say(f"running {subject.name} on {device.name}")
        began, began_cpu = time.perf_counter(), time.process_time()
        times = device.timings(start, 1)
        host_s, host_cpu_s = time.perf_counter() - began, time.process_time() - began_cpu
        for i, answer in answers.items():
            if answer.size:
                sets[0][i].download(answer)
        with Telemetry(None if device.simulated else device.pci) as seen:
            if not device.simulated:
                times.clear()
                device.timings(lambda run, stream: start(1 + run, stream), warm_ups)
            first = 1 + warm_ups
            times += device.timings(lambda run, stream: start(first + run, stream), wanted - len(times))
    say("checking the answer")
    verdicts = [reference.judge(answers[reference.array]) for reference in launch.references]
    changed = {}
    for i, answer in answers.items():
        if launch.problem is None and begins[i].nbytes == answer.nbytes > 0:
            before = begins[i].reshape(-1).view(np.uint8).reshape(answer.size, -1)
            now = answer.reshape(-1).view(np.uint8).reshape(answer.size, -1)
            changed[arrays[i].name] = int((before != now).any(axis=1).sum())
    known = [t * 1e3 for t in times if t is not None]
    known = known if len(known) == len(times) else []
    timing = {
        "time_ms": min(known, default=None),
        "mean_ms": statistics.fmean(known) if known else None,
        "runs": len(times),
        "host_ms": host_s * 1e3 if device.simulated else None,
        "host_cpu_ms": host_cpu_s * 1e3 if device.simulated else None,
        "times_ms": tuple(known),
        "deviation_ms": statistics.stdev(known) if len(known) > 1 else None,
        "warm_ups": warm_ups,
        "cold": cold,
        "clock_mhz": seen.clock_mhz,
        "power_w": seen.power_w,
    }
    return Measured(_result(subject, device, timing, verdicts, changed), answers)


def _result(
    subject: Subject, device: Device, timing: dict[str, Any], verdicts: Sequence[Verdict], changed: dict[str, int]
) -> LaunchResult:
    """timing: fields of a LaunchResult."""
    best = timing["time_ms"]
    facts, launch = subject.facts, subject.launch
    # Of several arrays, the one that is furthest off.
    at = max(range(len(verdicts)), key=lambda i: (not verdicts[i].correct, verdicts[i].wrong), default=None)
    verdict = None if at is None else verdicts[at]
    common: dict[str, Any] = {
        "kernel": subject.name,
        "arch": device.arch,
        "device": device.name,
        "simulated": device.simulated,
        **{name: getattr(verdict, name, None) for name in ("correct", "max_abs_error", "tolerance", "worst")},
        **timing,
        "band_ms": None if best is None or device.band_s is None else tuple(1e3 * end for end in device.band_s),
        "time_kind": "none" if best is None else "predicted" if device.simulated else "measured",
        **{name: getattr(facts, name, None) for name in ("vgprs", "sgprs")},
        **{name: getattr(facts and facts.descriptor, name, None) for name in ("lds_bytes", "scratch_bytes")},
        "wrong": 0 if verdict is None else verdict.wrong,
        "warnings": subject.warnings,
        "made_by": subject.made_by,
        "environment": environment(device),
    }
    if (p := launch.problem) is None:
        arrays = {array.name: (array.dtype, array.shape) for array in launch.arrays if not array.scratch}
        compared = tuple(launch.arrays[r.array].name for r in launch.references)
        wrong_in = {name: v.wrong for name, v in zip(compared, verdicts, strict=True) if v.wrong}
        return LaunchResult(
            **common, grid=launch.grid, block=launch.block, arrays=arrays, changed=changed, compared=compared,
            reference=subject.reference, free=subject.free if wrong_in else (), wrong_in=wrong_in,
            first_wrong=verdict.first if verdict else (),
        )  # fmt: skip
    asked = {name: getattr(p, name) for name in ("m", "n", "k", "alpha", "beta", "data", "seed", "batch")}
    tflops = None if best is None else p.flops / best / 1e9
    return Result(**common, **asked, types=str(p.types), tflops=tflops)
