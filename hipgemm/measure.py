"""Run one kernel on one device: matrices up, one launch that is judged, warm-up, timed launches.

The first launch is the one whose answer is compared with the reference (with beta other than 0 every launch changes C).
On a card WARM_UPS more go by unmeasured, then REPEATS launches follow each other on one stream, each between two
events; the published study shows the minimum of 16. On the simulated card one launch says everything: it computes the
same each time, and its clock is a prediction.

**Cold caches.** Launches in a row find what the one before left in the cache: 6 MB of L2 and 96 MB of L3 on Navi 31.
With `cold` there are so many sets of A, B and C, used in turn, that between two uses of a set at least COLD_BYTES of
other matrices pass.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hipgemm import launch
from hipgemm.device import Buffer, Device
from hipgemm.environment import environment
from hipgemm.kernels import Gemm, rung
from hipgemm.problem import Problem, ProblemError, Verdict
from hipgemm.result import Result
from hipgemm.telemetry import Telemetry
from isa.object import code_object
from isa.object.code_object import Kernel

if TYPE_CHECKING:
    import numpy as np

WARM_UPS = 4
REPEATS = 16
COLD_BYTES = 2 * (96 + 6) << 20
Step = Callable[[str], None]
Start = Callable[[Sequence[Buffer], Any], None]
"""Puts one GEMM on a stream: (A, B and C on the device, stream)."""


@dataclass(frozen=True)
class Measured:
    """A result together with the C that the device computed."""

    result: Result
    c: np.ndarray


@dataclass(frozen=True)
class Subject:
    """What is measured. `facts`: of its code object, where there is one; `transposed`: whether it reads A as K x M, and
    B as N x K; the rest as in Result."""

    name: str
    start: Start
    made_by: str
    facts: Kernel | None = None
    warnings: tuple[str, ...] = ()
    transposed: tuple[bool, bool] = (False, False)


def run(
    kernel: str,
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
    """Build a kernel of the ladder, run it, check it.

    kernel: "kernel1" to "kernel9", or a generated kernel by its name in isa.gemm.names.
    n, m, k: sizes; m and k are n if not given.
    data, seed: see hipgemm.problem.
    device: "card", "card:N", "simulated", an open Device, or None for a card where there is one.
    repeats: timed launches; 16 on a card and 1 on the simulated card if not given.
    cold:   each launch finds its matrices in no cache.
    step:   told in words what is being done.

    Raises IsaError for what cannot be run: an unknown kernel, sizes it does not take, a build or launch that fails.
    """
    problem = Problem(n if m is None else m, n, n if k is None else k, alpha, beta, data, seed)
    return measure(rung(kernel), problem, device=device, repeats=repeats, cold=cold, step=step).result


def measure(
    row: Gemm,
    problem: Problem,
    *,
    device: Device | str | None = None,
    repeats: int | None = None,
    cold: bool = False,
    step: Step | None = None,
) -> Measured:
    """As `run`, for a rung and a problem; gives C too."""
    row.check_size(problem.m, problem.n, problem.k)
    from hipgemm.build import build

    say = step or (lambda _: None)
    opened = device if isinstance(device, Device) else Device.open(device)
    say(f"building {row.name} for {opened.arch}")
    built = build(row, arch=opened.arch)
    image = built.hsaco.read_bytes()
    return measure_image(
        image,
        row,
        problem,
        opened,
        repeats=repeats,
        cold=cold,
        step=step,
        made_by=built.toolchain,
        warnings=built.warnings,
    )


def measure_image(
    image: bytes,
    row: Gemm,
    problem: Problem,
    device: Device,
    *,
    repeats: int | None = None,
    cold: bool = False,
    step: Step | None = None,
    made_by: str = "",
    warnings: tuple[str, ...] = (),
) -> Measured:
    """Run a code object that holds the rung's kernel, however it was made. `warnings` go into the result."""
    row.check_size(problem.m, problem.n, problem.k)
    facts = code_object.load(image, device.arch).kernel(row.name)
    function = device.load(image, row.name)
    sizes = problem.m, problem.n, problem.k

    def start(matrices: Sequence[Buffer], stream: Any) -> None:
        addresses = [x.address for x in matrices]
        launch.start(device, function, row, addresses, sizes, problem.alpha, problem.beta, stream=stream)

    subject = Subject(row.name, start, made_by, facts, warnings, row.transposed)
    measured = measure_subject(subject, problem, device, repeats=repeats, cold=cold, step=step)
    device.unload(function)
    return measured


def measure_subject(
    subject: Subject,
    problem: Problem,
    device: Device,
    *,
    repeats: int | None = None,
    cold: bool = False,
    step: Step | None = None,
) -> Measured:
    """Run, check and time anything that computes the problem on the device."""
    import numpy as np

    wanted = (1 if device.simulated else REPEATS) if repeats is None else repeats
    if wanted < 1:
        raise ProblemError("a kernel must be launched at least once", got=f"repeats = {wanted}")
    say = step or (lambda _: None)
    say("drawing matrices")
    drawn = problem.matrices()
    stored = problem.stored(drawn, subject.transposed)
    answer = np.empty_like(drawn[2])
    warm_ups = 0 if device.simulated else WARM_UPS
    with ExitStack() as stack:
        sets = []
        for _ in range(1 + -(-COLD_BYTES // problem.bytes) if cold else 1):
            sets.append([stack.enter_context(device.buffer(x.nbytes)) for x in drawn])
            for buffer, array in zip(sets[-1], stored, strict=True):
                buffer.upload(array)

        def launch(run: int, stream: Any) -> None:
            subject.start(sets[run % len(sets)], stream)

        say(f"running {subject.name} on {device.name}")
        began = time.perf_counter()
        times = device.timings(launch, 1)
        host_s = time.perf_counter() - began
        sets[0][2].download(answer)
        with Telemetry(None if device.simulated else device.pci) as seen:
            if not device.simulated:
                times.clear()
                device.timings(lambda run, stream: launch(1 + run, stream), warm_ups)
            first = 1 + warm_ups
            times += device.timings(lambda run, stream: launch(first + run, stream), wanted - len(times))
    say("checking the answer")
    verdict = problem.judge(*drawn, answer)
    timing = _Timing([t * 1e3 for t in times if t is not None], len(times), warm_ups, cold, host_s * 1e3, seen)
    return Measured(_result(subject, problem, device, timing, verdict), answer)


@dataclass(frozen=True)
class _Timing:
    """times_ms: of the runs whose time is known."""

    times_ms: list[float]
    runs: int
    warm_ups: int
    cold: bool
    host_ms: float
    seen: Telemetry


def _result(subject: Subject, problem: Problem, device: Device, timing: _Timing, verdict: Verdict) -> Result:
    known = timing.times_ms if len(timing.times_ms) == timing.runs else []
    best = min(known, default=None)
    facts = subject.facts
    return Result(
        kernel=subject.name,
        m=problem.m,
        n=problem.n,
        k=problem.k,
        alpha=problem.alpha,
        beta=problem.beta,
        data=problem.data,
        seed=problem.seed,
        arch=device.arch,
        device=device.name,
        simulated=device.simulated,
        correct=verdict.correct,
        max_abs_error=verdict.max_abs_error,
        tolerance=verdict.tolerance,
        time_ms=best,
        mean_ms=statistics.fmean(known) if known else None,
        runs=timing.runs,
        band_ms=None if best is None or device.band_s is None else (1e3 * device.band_s[0], 1e3 * device.band_s[1]),
        time_kind="none" if best is None else "predicted" if device.simulated else "measured",
        tflops=None if best is None else problem.flops / best / 1e9,
        vgprs=facts.vgprs if facts else None,
        sgprs=facts.sgprs if facts else None,
        lds_bytes=facts.descriptor.lds_bytes if facts else None,
        scratch_bytes=facts.descriptor.scratch_bytes if facts else None,
        host_ms=timing.host_ms if device.simulated else None,
        wrong=verdict.wrong,
        worst=verdict.worst,
        warnings=subject.warnings,
        made_by=subject.made_by,
        times_ms=tuple(known),
        deviation_ms=statistics.stdev(known) if len(known) > 1 else None,
        warm_ups=timing.warm_ups,
        cold=timing.cold,
        clock_mhz=timing.seen.clock_mhz,
        power_w=timing.seen.power_w,
        environment=environment(device),
    )
