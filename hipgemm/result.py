"""What one run of one kernel gave. A figure that is not known is None, never invented."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from isa.display import Shown


def flops(m: int, n: int, k: int) -> int:
    """Operations of C = alpha A B + beta C as the published study counts them: 2MNK + 3MN."""
    return 2 * m * n * k + 3 * m * n


@dataclass(frozen=True, repr=False)
class Result(Shown):
    """One run, checked. Times are milliseconds of one launch.

    device:    what the device says of itself; simulated: whether it is the simulated card.
    tolerance: the largest bound of any element (see hipgemm.problem); each element is held to its own.
    max_abs_error: None where the answer holds a NaN or an infinity.
    wrong, worst: how many elements are beyond their bounds, and (row, column, got, expected) of the worst.
    time_kind: "measured" (events on a card), "predicted" (cycle model) or "none".
    band_ms:   of a prediction: the ends of its band over arbitration policies and machine numbers (docs/timing.md).
    time_ms, mean_ms: minimum and mean of `runs` launches.
    tflops:    (2MNK + 3MN) / time_ms.
    vgprs, sgprs, lds_bytes, scratch_bytes: as the code object's metadata and descriptor state them; None for a library.
    host_ms:   what the launch took this machine, on the simulated card.
    warnings:  what the build had to say, such as that the compiler spilled.
    made_by:   the compiler of a kernel; the library, with its version, of kernel0.
    times_ms:  each timed launch, in order; deviation_ms: their sample standard deviation, None for a single one.
    warm_ups:  launches before the timed ones.
    cold:      each launch found its matrices in no cache (see hipgemm.measure).
    clock_mhz, power_w: lowest, mean and highest reading of the card while it ran, None where nothing could be read.
    environment: see hipgemm.environment.
    """

    kernel: str
    m: int
    n: int
    k: int
    alpha: float
    beta: float
    data: str
    seed: int
    arch: str
    device: str
    simulated: bool
    correct: bool
    max_abs_error: float | None
    tolerance: float
    time_ms: float | None
    mean_ms: float | None
    runs: int
    time_kind: str
    tflops: float | None
    vgprs: int | None
    sgprs: int | None
    lds_bytes: int | None
    scratch_bytes: int | None
    host_ms: float | None = None
    wrong: int = 0
    worst: tuple[int, int, float, float] | None = None
    warnings: tuple[str, ...] = ()
    made_by: str = ""
    times_ms: tuple[float, ...] = ()
    deviation_ms: float | None = None
    warm_ups: int = 0
    cold: bool = False
    clock_mhz: tuple[float, float, float] | None = None
    power_w: tuple[float, float, float] | None = None
    environment: dict[str, str] = field(default_factory=dict)
    band_ms: tuple[float, float] | None = None

    @property
    def flops(self) -> int:
        """2MNK + 3MN, as the published study counts."""
        return flops(self.m, self.n, self.k)

    def to_dict(self) -> dict[str, Any]:
        """All fields, as JSON can hold them: a NaN or infinity in `worst` becomes text."""
        fields = asdict(self)
        if self.worst is not None:
            fields["worst"] = [x if x - x == 0 else str(x) for x in self.worst]
        return fields

    def to_json(self) -> str:
        """One JSON object on one line."""
        return json.dumps(self.to_dict(), allow_nan=False)

    def rows(self) -> list[tuple[str, str]]:
        """The table that `repr` shows: what, and its value with unit."""
        where = f"{self.device} ({self.arch})"
        rows = [
            ("device", where),
            ("C", f"{self.m} x {self.n} = {self.alpha:g} A B + {self.beta:g} C, K = {self.k}, {self.data} data"),
            ("answer", self._answer()),
            ("time", self._time()),
        ]
        if self.host_ms is not None:
            rows.append(("simulated in", f"{self.host_ms / 1e3:.2f} s"))
        if self.vgprs is not None:
            registers = f"{self.vgprs} VGPRs, {self.sgprs} SGPRs, {self.lds_bytes} bytes of LDS"
            registers += f", {self.scratch_bytes} bytes of scratch" if self.scratch_bytes else ""
            rows.append(("uses", registers))
        rows += [("made by", self.made_by)] if self.made_by else []
        for what, unit, readings in (("clock", "MHz", self.clock_mhz), ("power", "W", self.power_w)):
            if readings is not None:
                lowest, mean, highest = readings
                rows.append((what, f"{mean:.0f} {unit} in the mean, {lowest:.0f} to {highest:.0f}"))
        rows += [("warning", text) for text in self.warnings]
        return rows

    def _answer(self) -> str:
        error = "not finite" if self.max_abs_error is None else f"{self.max_abs_error:.3g}"
        text = f"largest error {error}, tolerance {self.tolerance:.3g}"
        if self.correct:
            return f"correct: {text}"
        text = f"WRONG in {self.wrong} of {self.m * self.n} elements: {text}"
        if self.worst:
            row, column, got, expected = self.worst
            text += f"; C[{row}, {column}] is {got:.9g}, expected {expected:.9g}"
        return text

    def _time(self) -> str:
        if self.time_ms is None or self.tflops is None:
            why = "the simulated card has no cycle model for this launch" if self.simulated else "too short for events"
            return f"not known: {why}"
        band = "" if self.band_ms is None else " ({:.4f} to {:.4f})".format(*self.band_ms)
        text = f"{self.time_ms:.4f} ms {self.time_kind}{band}, {self.tflops:.2f} TFLOP/s"
        if self.runs > 1 and self.mean_ms is not None:
            spread = "" if self.deviation_ms is None else f" ± {self.deviation_ms:.4f}"
            text += f" (best of {self.runs}, mean {self.mean_ms:.4f}{spread} ms)"
        text += ", caches cold" if self.cold else ""
        return text

    def __repr__(self) -> str:
        rows = self.rows()
        width = max(len(what) for what, _ in rows)
        return "\n".join([self.kernel, *(f"  {what:<{width}}  {value}" for what, value in rows)])
