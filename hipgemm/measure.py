"""Run one kernel on one device: matrices up, warm-up, timed launches, C down, compared with the reference.

On a card a kernel is launched WARM_UPS times unmeasured and REPEATS times between events, as the published study does
(it shows the minimum of 16 runs). With beta other than 0 every launch changes C, so C is uploaded afresh before the
launch whose answer is judged: that is the first one. On the simulated card one launch says everything: it computes the
same each time, and its clock is a prediction.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hipgemm.device import Device, gemm_arguments
from hipgemm.kernels import Rung, rung
from hipgemm.problem import Problem, ProblemError, Verdict
from hipgemm.result import Result
from isa import code_object
from isa.code_object import Kernel

if TYPE_CHECKING:
    import numpy as np

WARM_UPS = 4
REPEATS = 16
Step = Callable[[str], None]


@dataclass(frozen=True)
class Measured:
    """A result together with the C that the device computed."""

    result: Result
    c: np.ndarray


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
    step: Step | None = None,
) -> Result:
    """Build a kernel of the ladder, run it, check it.

    kernel: "kernel1" to "kernel8".
    n, m, k: sizes; m and k are n if not given.
    data, seed: see hipgemm.problem.
    device: "card", "simulated", an open Device, or None for a card where there is one.
    repeats: timed launches; 16 on a card and 1 on the simulated card if not given.
    step:   told in words what is being done.

    Raises IsaError for what cannot be run: an unknown kernel, sizes it does not take, a build or launch that fails.
    """
    problem = Problem(n if m is None else m, n, n if k is None else k, alpha, beta, data, seed)
    return measure(rung(kernel), problem, device=device, repeats=repeats, step=step).result


def measure(
    row: Rung,
    problem: Problem,
    *,
    device: Device | str | None = None,
    repeats: int | None = None,
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
    return measure_image(image, row, problem, opened, repeats=repeats, step=step, warnings=built.warnings)


def measure_image(
    image: bytes,
    row: Rung,
    problem: Problem,
    device: Device,
    *,
    repeats: int | None = None,
    step: Step | None = None,
    warnings: tuple[str, ...] = (),
) -> Measured:
    """Run a code object that holds the rung's kernel, however it was made. `warnings` go into the result."""
    import numpy as np

    row.check_size(problem.m, problem.n, problem.k)
    wanted = (1 if device.simulated else REPEATS) if repeats is None else repeats
    if wanted < 1:
        raise ProblemError("a kernel must be launched at least once", got=f"repeats = {wanted}")
    say = step or (lambda _: None)
    facts = code_object.load(image, device.arch).kernel(row.name)
    say("drawing matrices")
    a, b, c = problem.matrices()
    answer = np.empty_like(c)
    with ExitStack() as stack:
        buffers = [stack.enter_context(device.buffer(x.nbytes)) for x in (a, b, c)]
        for buffer, array in zip(buffers, (a, b, c), strict=True):
            buffer.upload(array)
        function = device.load(image, row.name)
        sizes = problem.m, problem.n, problem.k
        arguments = gemm_arguments(buffers, sizes, problem.alpha, problem.beta)

        def launch() -> None:
            device.launch(function, row.grid(problem.m, problem.n), row.block, arguments)

        say(f"running {row.name} on {device.name}")
        started = time.perf_counter()
        times = [device.timed(launch)]
        host_s = time.perf_counter() - started
        buffers[2].download(answer)
        if not device.simulated:
            for _ in range(WARM_UPS):
                launch()
            times.clear()
        times += [device.timed(launch) for _ in range(wanted - len(times))]
        device.unload(function)
    say("checking the answer")
    verdict = problem.judge(a, b, c, answer)
    return Measured(_result(row, problem, device, facts, times, host_s, verdict, warnings), answer)


def _result(
    row: Rung,
    problem: Problem,
    device: Device,
    facts: Kernel,
    times: list[float | None],
    host_s: float,
    verdict: Verdict,
    warnings: tuple[str, ...],
) -> Result:
    known = [t for t in times if t is not None]
    best = min(known) if known and len(known) == len(times) else None
    kind = "none" if best is None else "predicted" if device.simulated else "measured"
    return Result(
        kernel=row.name,
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
        time_ms=None if best is None else best * 1e3,
        mean_ms=None if best is None else sum(known) / len(known) * 1e3,
        runs=len(times),
        time_kind=kind,
        tflops=None if best is None else problem.flops / best / 1e12,
        vgprs=facts.vgprs,
        sgprs=facts.sgprs,
        lds_bytes=facts.descriptor.lds_bytes,
        scratch_bytes=facts.descriptor.scratch_bytes,
        host_ms=host_s * 1e3 if device.simulated else None,
        wrong=verdict.wrong,
        worst=verdict.worst,
        warnings=warnings,
    )
