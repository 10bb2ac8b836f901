"""The ladder at one problem size, everything known of it together: what `hipgemm report -o` shows.

Three kinds of figures that must never be mixed up: published (the study's, another compiler's code on its own card),
predicted (this build's code, by the cycle model), measured (on a card, from records of `hipgemm bench --out`). What is
not known is None, with the reason where there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hipgemm.judge.inspection import Inspection, inspect
from hipgemm.kernels.build import build
from hipgemm.kernels.ladder import LADDER, PUBLISHED_ROCBLAS, PUBLISHED_SIZE, Published, rung
from hipgemm.launch.gemm import gemm
from hipgemm.launch.problem import Problem
from hipgemm.measure.bench import Refusal
from hipgemm.measure.measure import Step
from hipgemm.measure.result import Result, flops
from hipgemm.product import blas
from isa.asm.parse import parse
from isa.errors import IsaError

if TYPE_CHECKING:
    from hipgemm.judge.predict import Prediction
    from hipgemm.kernels.build import Build
    from isa.timing.machine.cards import Card


@dataclass(frozen=True)
class RungOverview:
    """One kernel. published: None at sizes without a published figure. why: what kept it from being built or
    predicted."""

    name: str
    title: str
    published: Published | None
    inspection: Inspection | None
    prediction: Prediction | None
    measured: Result | None
    why: str = ""


@dataclass(frozen=True)
class Overview:
    """M = N = K = n on `card` at `clock_mhz` (the predictions'). device: of the measurements, "" without any. notes:
    what a reader must know besides."""

    n: int
    card: Card
    clock_mhz: float
    toolchain: str
    device: str
    entries: tuple[RungOverview, ...]
    notes: tuple[str, ...]

    @property
    def flops(self) -> int:
        return flops(self.n, self.n, self.n)


def overview(
    n: int,
    on: Card,
    *,
    clock_mhz: float | None = None,
    kernels: Sequence[str] = tuple(LADDER),
    records: Sequence[Result | Refusal] = (),
    predict: bool = True,
    hipcc: Path | None = None,
    step: Step | None = None,
) -> Overview:
    """Builds and inspects the ladder, predicts it, and puts records beside it.

    records: those measured on a card with M = N = K = n are taken, the last of each kernel; a note counts the
    rest. IsaError where they come from more than one device.
    """
    measured, notes = _measured(records, n)
    devices = sorted({r.device for r in measured.values()})
    if len(devices) > 1:
        raise IsaError(
            "these results come from more than one device", expected="one device in a report", got=", ".join(devices)
        )
    tell = step or (lambda _: None)
    entries: list[RungOverview] = []
    coming: list[Future[Prediction] | None] = []
    toolchain = ""
    # While one kernel is played in native code, the next is built; predictions go one after the other, two cores each.
    pool = ThreadPoolExecutor(1)
    try:
        for name in kernels:
            tell(f"building {name}")
            row = rung(name)
            published = row.published if n == PUBLISHED_SIZE else None
            entry = RungOverview(name, row.title, published, None, None, measured.get(name))
            made = None
            try:
                built = build(name, arch=on.arch, hipcc=hipcc)
                program = parse(built.assembly.read_text(), built.assembly.name)
                entry, made = replace(entry, inspection=inspect(program, name)), built
                toolchain = toolchain or built.toolchain
            except IsaError as error:
                entry = replace(entry, why=error.message)
            entries.append(entry)
            coming.append(pool.submit(_predict, made, n, on, clock_mhz) if predict and made else None)
        for i, future in enumerate(coming):
            tell(f"predicting {entries[i].name}")
            try:
                entries[i] = replace(entries[i], prediction=future.result() if future else None)
            except IsaError as error:
                entries[i] = replace(entries[i], why=error.message)
    finally:
        pool.shutdown(cancel_futures=True)
    rocblas = measured.get(blas.NAME)
    if rocblas or n == PUBLISHED_SIZE:
        published = PUBLISHED_ROCBLAS if n == PUBLISHED_SIZE else None
        entries.insert(0, RungOverview(blas.NAME, "rocBLAS", published, None, None, rocblas))
    clock = clock_mhz or on.clock_mhz
    return Overview(n, on, clock, toolchain, devices[0] if devices else "", tuple(entries), tuple(notes))


def _predict(made: Build, n: int, on: Card, clock_mhz: float | None) -> Prediction:
    from hipgemm.judge.predict import Prediction, timed

    name = made.kernel.name
    launch = gemm(rung(name), Problem(n, n, n), on.cus)
    return Prediction(name, launch, timed(made.code_object(), name, launch, on).timing(clock_mhz))


def _measured(records: Sequence[Result | Refusal], n: int) -> tuple[dict[str, Result], list[str]]:
    taken = {}
    left = 0
    for r in records:
        if isinstance(r, Result) and r.time_kind == "measured" and r.m == r.n == r.k == n:
            taken[r.kernel] = r
        else:
            left += 1
    notes = []
    if left:
        what = "record is" if left == 1 else "records are"
        notes.append(f"{left} {what} left out: not measured on a card, or not at M = N = K = {n}")
    notes += [f"{r.kernel} was WRONG in {r.wrong} of {r.m * r.n} elements" for r in taken.values() if not r.correct]
    return taken, notes
