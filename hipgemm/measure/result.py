"""Result of a run: what one run of one kernel gave. A figure that is not known is None, never invented."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from isa.display import Shown, number_of
from isa.gemm.matrix.parameters import FLOAT_BYTES
from isa.mangling import source_name
from isa.timing.machine import families


def flops(m: int, n: int, k: int) -> int:
    """Operations of C = alpha A B + beta C as the published study counts them: 2MNK + 3MN."""
    return 2 * m * n * k + 3 * m * n


@dataclass(frozen=True, repr=False, kw_only=True)
class LaunchResult(Shown):
    """A launch that was run. Times are milliseconds of one launch.

    grid, block: of the launch, in workgroups and work-items. arrays: name -> (dtype, shape) of those it was given;
    changed: how many elements of each array changed; compared: the arrays that there was a reference for;
    wrong_in: name -> how many elements were wrong; wrong, worst, first_wrong: of the array with most of them.
    reference: the source of the expected values, if it is the simulated card; free: instructions whose results may
    differ from it.
    device:    the device's name; simulated: whether it is the simulated card.
    correct:   None where there was no reference. tolerance: the largest bound of any element.
    max_abs_error: None where the answer contains a NaN or an infinity.
    wrong, worst: how many elements are beyond their bounds, and (indices, got, expected) of the worst; first_wrong: of
    the first few.
    time_kind: "measured" (events on a card), "predicted" (cycle model) or "none".
    band_ms:   of a prediction: the ends of its band over arbitration policies and machine numbers (docs/timing.md).
    taken_from_a_run: of a prediction whose path the launch's data decide, what does; "" for others.
    time_ms, mean_ms: minimum and mean of `runs` launches.
    tflops:    operations in time_ms, where they are known.
    vgprs, sgprs, lds_bytes, scratch_bytes: as the code object's metadata and descriptor state them; None for a library.
    host_ms, host_cpu_ms: the time that the launch took this machine, and its processors, on the simulated card.
    warnings:  of the build, such as that the compiler spilled.
    made_by:   the compiler of a kernel; the library, with its version, of kernel0.
    times_ms:  each timed launch, in order; deviation_ms: their sample standard deviation, None for a single one.
    warm_ups:  launches before the timed ones.
    cold:      each launch started with its arrays in no cache.
    clock_mhz, power_w: lowest, mean and highest reading of the card during the run, None where there is no reading.
    environment: see hipgemm.measure.card.environment.
    """

    kernel: str
    grid: tuple[int, int, int] = (1, 1, 1)
    block: tuple[int, int, int] = (1, 1, 1)
    arrays: dict[str, tuple[str, tuple[int, ...]]] = field(default_factory=dict)
    changed: dict[str, int] = field(default_factory=dict)
    compared: tuple[str, ...] = ()
    wrong_in: dict[str, int] = field(default_factory=dict)
    reference: str = ""
    free: tuple[str, ...] = ()
    first_wrong: tuple[tuple[float, ...], ...] = ()
    arch: str
    device: str
    simulated: bool
    correct: bool | None
    max_abs_error: float | None
    tolerance: float | None
    time_ms: float | None
    mean_ms: float | None
    runs: int
    time_kind: str
    tflops: float | None = None
    vgprs: int | None
    sgprs: int | None
    lds_bytes: int | None
    scratch_bytes: int | None
    host_ms: float | None = None
    host_cpu_ms: float | None = None
    wrong: int = 0
    worst: tuple[float, ...] | None = None
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
    taken_from_a_run: str = ""

    def to_dict(self) -> dict[str, Any]:
        """All fields, as JSON can hold them: a NaN or infinity in `worst` becomes text."""
        fields = asdict(self)
        if self.worst is not None:
            fields["worst"] = [x if x - x == 0 else str(x) for x in self.worst]
        fields["first_wrong"] = [[x if x - x == 0 else str(x) for x in place] for place in self.first_wrong]
        return fields

    def to_json(self) -> str:
        """One JSON object on one line."""
        return json.dumps(self.to_dict(), allow_nan=False)

    def rows(self) -> list[tuple[str, str]]:
        """The table that `repr` shows: a name, and its value with unit."""
        rows = [
            ("device", f"{self.device} ({self.arch})"),
            *self._what(),
            ("answer", self._answer()),
            *(self._more_wrong() if self.correct is False else ()),
            ("time", self._time()),
        ]
        if self.host_ms is not None and self.host_cpu_ms is not None:
            took = f"{self.host_ms / 1e3:.2f} s, {self.host_cpu_ms / 1e3:.2f} s of processor time"
            rows.append(("simulated in", took))
        if self.vgprs is not None:
            registers = f"{self.vgprs} VGPRs, {self.sgprs} SGPRs, {self.lds_bytes} bytes of LDS"
            registers += f", {self.scratch_bytes} bytes of scratch" if self.scratch_bytes else ""
            rows.append(("uses", registers))
        rows += [("made by", self.made_by)] if self.made_by else []
        for what, unit, readings in (("clock", "MHz", self.clock_mhz), ("power", "W", self.power_w)):
            if readings is not None:
                lowest, mean, highest = readings
                rows.append((what, f"{mean:.0f} {unit} on average, {lowest:.0f} to {highest:.0f}"))
        rows += [("warning", text) for text in self.warnings]
        return rows

    def _what(self) -> list[tuple[str, str]]:
        """What was launched."""
        grid, block = (" x ".join(map(str, size)) for size in (self.grid, self.block))
        rows = [("launch", f"{grid} workgroups of {block}")]
        for name, (dtype, shape) in self.arrays.items():
            text = f"{dtype[1:]} {' x '.join(map(str, shape))}"
            if name in self.changed:
                changed = self.changed[name]
                text += f", {number_of(changed, 'element')} changed" if changed else ", not changed"
            rows.append((name, text))
        return rows

    def _of(self) -> tuple[str, int]:
        """What the answer is called, and how many elements it has."""
        most = max(self.wrong_in, key=lambda name: self.wrong_in[name], default="")
        name = most or (self.compared[0] if len(self.compared) == 1 else "")
        return name, sum(math.prod(self.arrays[n][1]) for n in ([name] if name else self.compared))

    def _answer(self) -> str:
        if self.correct is None or self.tolerance is None:
            return "not compared with anything: --expect FILE.npy"
        error = "not finite" if self.max_abs_error is None else f"{self.max_abs_error:.3g}"
        text = f"largest error {error}, tolerance {self.tolerance:.3g}"
        if self.correct and self.reference:
            return f"the same as on {self.reference}: {text}"
        if self.correct:
            return f"correct: {text}"
        name, elements = self._of()
        of = f"{self.wrong} of {number_of(elements, 'element')}" + (f" of {name}" if len(self.compared) > 1 else "")
        text = f"{f'NOT AS ON {self.reference}' if self.reference else 'WRONG'} in {of}: {text}"
        if self.worst:
            text += f"; {_element(name, self.worst)}"
        return text

    def _more_wrong(self) -> list[tuple[str, str]]:
        """The first elements that are wrong, and what may be the cause."""
        name, _ = self._of()
        rows = [("first of them", "; ".join(_element(name, one) for one in self.first_wrong))] if self.reference else []
        others = ", ".join(f"{count} of {other}" for other, count in self.wrong_in.items() if other != name)
        rows += [("wrong, too", others)] if others else []
        return rows + [("may differ", f"{one}; --tolerance says how far") for one in self.free]

    def _time(self) -> str:
        if self.time_ms is None:
            why = "hipgemm time says why" if self.simulated else "too short for events"
            return f"not known: {why}"
        band = "" if self.band_ms is None else " ({:.4f} to {:.4f})".format(*self.band_ms)
        text = f"{self.time_ms:.4f} ms {self.time_kind}{band}"
        text += "" if self.tflops is None else f", {self.tflops:.2f} TFLOP/s"
        if self.runs > 1 and self.mean_ms is not None:
            spread = "" if self.deviation_ms is None else f" ± {self.deviation_ms:.4f}"
            text += f" (best of {self.runs}, mean {self.mean_ms:.4f}{spread} ms)"
        text += ", caches cold" if self.cold else ""
        text += ", path taken from a run" if self.taken_from_a_run else ""
        assumed = families.assumed(self.arch) if self.time_kind == "predicted" else ""
        return text + (f"; {assumed}" if assumed else "")

    def __repr__(self) -> str:
        rows = self.rows()
        width = max(len(what) for what, _ in rows)
        return "\n".join([source_name(self.kernel), *(f"  {what:<{width}}  {value}" for what, value in rows)])


def _element(name: str, element: Sequence[float]) -> str:
    *place, got, expected = element
    return f"{name}{[*map(int, place)]} is {got:.9g}, expected {expected:.9g}"


@dataclass(frozen=True, repr=False, kw_only=True)
class Result(LaunchResult):
    """A GEMM that was run and checked: C = alpha A B + beta C; C is m x n, and k is the length of its sums.

    batch: the number of products; data, seed: of the matrices; types: of the elements of A and B, and of C; tolerance:
    see hipgemm.launch.problem; tflops: batch (2MNK + 3MN) / time_ms.
    """

    m: int
    n: int
    k: int
    alpha: float
    beta: float
    data: str
    seed: int
    types: str = "f32"
    batch: int = 1
    correct: bool
    tolerance: float
    worst: tuple[float, ...] | None = None

    @property
    def flops(self) -> int:
        """2MNK + 3MN, as the published study counts."""
        return self.batch * flops(self.m, self.n, self.k)

    def to_dict(self) -> dict[str, Any]:
        """As of any launch, with the problem in place of the launch."""
        fields = super().to_dict()
        problem = ("kernel", "m", "n", "k", "alpha", "beta", "data", "seed", "types", "batch")
        return {name: fields[name] for name in (*problem, *fields) if name not in _NOT_A_GEMMS}

    def _what(self) -> list[tuple[str, str]]:
        types = "" if self.types == "f32" else f", {self.types}"
        types += ", whose sums round as those of f16 (assumed)" if self.types.startswith(FLOAT_BYTES) else ""
        types += f", {self.batch} of them" if self.batch > 1 else ""
        product = f"{self.m} x {self.n} = {self.alpha:g} A B + {self.beta:g} C, K = {self.k}"
        return [("C", f"{product}, {self.data} data{types}")]

    def _of(self) -> tuple[str, int]:
        return "C", self.batch * self.m * self.n


_NOT_A_GEMMS = ("grid", "block", "arrays", "changed", "compared", "wrong_in", "reference", "free", "first_wrong")
