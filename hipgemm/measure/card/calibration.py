"""Calibration: small kernels on a card -> the cycle model's machine numbers, each with its uncertainty, and their file.

A `Probe` is a kernel whose time depends on one number more than on any other. A number's estimator inverts the
model: it predicts the kernel with the number at several places of twice its range, halves the step between them where
prediction and measurement meet, and takes the value there; on a stretch that changes nothing, the value nearest to the
table's. Other numbers have a say in a kernel, too (an LDS access has to be addressed before it is waited for), so all
are estimated again, `SWEEPS` times, each with what the others have become.

A number's uncertainty has two parts: how far the repeats of a measurement lie apart, through the slope of prediction
over number; and the model's own steps, since numbers in cycles are rounded. Where the measurement lies outside of all
that was predicted the nearest end is taken and said to be an end: then it is not this number that the model has wrong.

Not estimated, and left as the table has them, are numbers whose only witness is a whole kernel: `valu_queue`,
`lds_queue`, `memory_load_factor`, `workgroup_launch`, `l0_ways`.

Limits: clocks are taken to be the nominal ones, so a card should be left at them (no other load, no power limit met);
cold lines are those after what was read last, which L3 may hold still after they were written.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from hipgemm.lab import micro
from hipgemm.lab.micro import Micro
from hipgemm.lab.rate_kernels import Case, lds, streamed
from hipgemm.measure.jsonl import parsed
from isa import errors
from isa.errors import IsaError, contents
from isa.timing.machine import rdna3
from isa.timing.machine.cards import CardFile

if TYPE_CHECKING:
    from isa.timing.machine.cards import Card
    from isa.timing.model.run import Prepared

SWEEPS = 2
_PLACES = 9
_SLACK = 0.002
"""Of a measurement that is repeated exactly: what rounding may hide."""
_ROUNDED = 0.5
"""Of a number in cycles or ns: the model rounds it to whole cycles."""


@dataclass(frozen=True)
class Probe:
    """number: of `isa.timing.machine.rdna3`; case: its kernel, on a card of so many CUs; least: what it cannot be
    below."""

    number: str
    case: Callable[[int], Case]
    least: float = 0.0

    def span(self) -> tuple[float, float]:
        """Where it is looked for: its range and half of it (a quarter of the number at least) on either side."""
        n = rdna3.NUMBERS[self.number]
        more = max((n.high - n.low) / 2, n.value / 4)
        return max(n.low - more, n.low / 4, self.least), n.high + more


@dataclass(frozen=True)
class Estimate:
    """A number as a card has it. at_end: the measurement lies outside of what the model can say, by `beyond` of it."""

    number: str
    value: float
    low: float
    high: float
    measured: float
    predicted: float
    at_end: bool = False

    @property
    def table(self) -> float:
        return rdna3.NUMBERS[self.number].value


class Measures(Protocol):
    """What runs a probe's kernel: cycles of an iteration, once for each repeat."""

    def cycles(self, case: Case) -> list[float]: ...


def _one_wave(name: str, body: Sequence[str], setup: Sequence[str] = (), **more: Any) -> Case:
    import numpy as np

    block = more.pop("block", 32)
    start = ["v_mov_b32_e32 v2, 0", "v_mov_b32_e32 v3, 0"]
    start += [f"v_mov_b32_e32 v{k}, 0" for k in range(16, 20)]
    made = Micro(f"calibrate_{name}", [*start, *setup], body, ["v_mov_b32_e32 v1, 0"], vgprs=88, block=block, **more)
    return Case(made, len(body), lambda _: np.zeros(block, np.uint32))


def _chain(name: str, *lines: str, times: int = 16, end: Sequence[str] = (), **more: Any) -> Callable[[int], Case]:
    return lambda _: _one_wave(name, [*(line for _ in range(times) for line in lines), *end], **more)


def _walk(name: str, size: int, iterations: tuple[int, int], *, again: bool = True) -> Callable[[int], Case]:
    """Loads of one line after the other, each waited for: over and over through `size` bytes, or ever on."""
    step = 16 * 128
    body = [f"s_and_b32 s13, s12, 0x{size - 1:x}", "s_add_u32 s14, s8, s13", "s_addc_u32 s15, s9, 0"]
    for k in range(16):
        body += [f"global_load_b32 v17, v2, s[14:15] offset:{128 * k}", "s_waitcnt vmcnt(0)"]
    body += [f"s_add_i32 s12, s12, {step}"]
    memory = (size if again else step * iterations[1], 0)
    return lambda _: _one_wave(f"{name}_walk", body, ["s_mov_b32 s12, 0"], iterations=iterations, memory=memory)


def _passes(size: int, count: int = 3) -> tuple[int, int]:
    """Iterations of `_walk` for one pass through `size` bytes, and for so many."""
    return size // 2048, count * size // 2048


_KB, _MB = 1 << 10, 1 << 20
PROBES: tuple[Probe, ...] = (
    Probe("trans_latency", _chain("exp", "v_exp_f32_e32 v16, v16", times=32)),
    Probe("valu64_latency", _chain("shift64", "v_lshlrev_b64 v[16:17], 1, v[16:17]", times=32)),
    Probe("f64_latency", _chain("add64", "v_add_f64 v[16:17], v[16:17], v[18:19]"), least=17),
    Probe("valu_carry", _chain("carry", "v_add_co_ci_u32_e32 v16, vcc_lo, v17, v18, vcc_lo", times=32)),
    Probe("salu_latency", _chain("salu", "s_lshl_b32 s12, s12, 1", times=32, setup=["s_mov_b32 s12, 0"])),
    Probe("salu_to_valu", _chain("to_valu", "s_mov_b32 s12, 0", "v_mov_b32_e32 v16, s12")),
    Probe("valu_to_scalar", _chain("to_scalar", "v_readfirstlane_b32 s12, v16", "s_add_i32 s13, s12, 1")),
    Probe("branch_taken", lambda _: _one_wave(
        "branch", [line for k in range(16) for line in (f"s_branch .Lto{k}", "s_nop 0", f".Lto{k}:")])),
    Probe("barrier", _chain("barrier", "s_barrier", block=64)),
    Probe("lds_latency", _chain("lds", "ds_load_b32 v16, v2", "s_waitcnt lgkmcnt(0)", lds=1024)),
    Probe("lds_return_bytes", _chain("lds_return", "ds_load_b128 v[20:23], v2", end=["s_waitcnt lgkmcnt(0)"],
                                     lds=1024)),
    Probe("lds_store_cycles", _chain("lds_store", "ds_store_b32 v2, v3", end=["s_waitcnt lgkmcnt(0)"], lds=1024)),
    Probe("lds_wgp_share", lambda _: lds(4, False)),
    Probe("valu_to_lds", _chain("to_lds", "v_mov_b32_e32 v16, 0", "ds_load_b32 v17, v2",
                                end=["s_waitcnt lgkmcnt(0)"], lds=1024)),
    Probe("valu_to_vmem", _chain("to_vmem", "v_mov_b32_e32 v16, 0", "global_load_b32 v17, v2, s[8:9]",
                                 end=["s_waitcnt vmcnt(0)"], memory=(4096, 0))),
    Probe("ta_lanes", lambda n: streamed("l0", 1, False, (n, 1, 1), (32, 128), again=8)),
    Probe("l0_latency", _walk("l0", 16 * _KB, (50, 250))),
    Probe("l0_fill_bytes", lambda _: streamed("fill", 1, False, (1, 4, 2), (16, 64))),
    Probe("l1_latency", _walk("l1", 128 * _KB, _passes(128 * _KB))),
    Probe("l1_bytes_per_cycle", lambda n: streamed("l1", 1, False, (n, 4, 2), (16, 64), shared=True)),
    Probe("l2_latency_ns", _walk("l2", _MB, _passes(_MB))),
    Probe("l3_latency_ns", _walk("l3", 8 * _MB, _passes(8 * _MB, 2))),
    Probe("vram_latency_ns", _walk("vram", 1 << 31, (64, 576), again=False)),
    Probe("store_ack_ns", _chain("store", "global_store_b32 v2, v3, s[8:9]", "s_waitcnt_vscnt null, 0x0",
                                 memory=(4096, 0))),
    Probe("vram_read_share", lambda n: streamed("read", 1, False, (n, 4, 40), (1, 3))),
    Probe("vram_write_share", lambda n: streamed("write", 0, True, (n, 4, 40), (1, 3))),
)  # fmt: skip
"""In the order in which they are estimated: what others need before them."""


class Model:
    """The cycle model of a card's probes, which are followed once."""

    def __init__(self, on: Card) -> None:
        self.on = on
        self._ready: dict[str, tuple[Prepared, ...]] = {}

    def cycles(self, case: Case, numbers: Mapping[str, float]) -> float:
        """Of an iteration."""
        from isa.timing.model import ensemble, uncertainty

        if case.micro.name not in self._ready:
            self._ready[case.micro.name] = tuple(t.prepared for t in micro.timed(case.micro, case.step, self.on))
        times = [ensemble.quick(uncertainty.changed(p, numbers)).time_s for p in self._ready[case.micro.name]]
        return micro.of_an_iteration(times, case.micro.iterations) * self.on.clock_mhz * 1e6


@dataclass
class OnDevice:
    """A card, or the simulated one, through a `hipgemm.lab.bench.Bench`. IsaError where an answer is wrong."""

    bench: Any
    repeats: int = 3

    def cycles(self, case: Case) -> list[float]:
        found = []
        for _ in range(1 if self.bench.device.simulated else self.repeats):
            ran = micro.run(self.bench, case.micro, case.step, case.expected, case.written)
            if not ran.correct:
                raise IsaError(f"{case.micro.name} computed something wrong on this device")
            if ran.cycles is None:
                raise IsaError(f"the time of {case.micro.name} is not known on this device")
            found.append(ran.cycles)
        return found


def calibrate(
    on: Card, device: Measures, probes: Sequence[Probe] = PROBES, step: Callable[[str], None] = lambda _: None,
    model: Model | None = None,
) -> list[Estimate]:  # fmt: skip
    """Every probe's number as the device has it."""
    model = model or Model(on)
    measured = {}
    for probe in probes:
        step(f"measuring {probe.number}")
        measured[probe.number] = device.cycles(probe.case(on.cus))
    known = rdna3.values()
    found: dict[str, Estimate] = {}
    for sweep in range(SWEEPS):
        for probe in probes:
            step(f"estimating {probe.number}, {sweep + 1} of {SWEEPS}")
            predict = partial(_predict, model, probe, probe.case(on.cus), dict(known))
            found[probe.number] = estimate(probe, measured[probe.number], predict)
            known[probe.number] = found[probe.number].value
    return list(found.values())


def _predict(model: Model, probe: Probe, case: Case, known: dict[str, float], value: float) -> float:
    return model.cycles(case, {**known, probe.number: value})


def estimate(probe: Probe, measured: Sequence[float], predict: Callable[[float], float]) -> Estimate:
    """Where prediction meets the median of what was measured. predict: cycles for a value of the number, monotone; it
    may go in steps, whose edges are looked for by halving."""
    import numpy as np

    low, high = probe.span()
    number = rdna3.NUMBERS[probe.number]
    places = np.linspace(low, high, _PLACES)
    if number.unit.startswith("cycles") and high - low < 4 * _PLACES:
        places = np.arange(round(low), round(high) + 1, dtype=float)
    known = {float(place): predict(float(place)) for place in places}
    least, most = min(known.values()), max(known.values())
    if most - least <= _SLACK * least:
        raise IsaError(f"the kernel of {probe.number} does not depend on it", expected="a change over its range")
    middle = statistics.median(measured)
    spread = max((max(measured) - min(measured)) / 2, _SLACK * middle)
    target = min(max(middle, least), most)
    falls = known[float(places[0])] > known[float(places[-1])]

    def edge(wanted: float) -> tuple[float, float]:
        return _edge(known, predict, (lambda found: found > wanted) if falls else (lambda found: found < wanted))

    edges = sorted((*edge(target - spread), *edge(target + spread)))
    edge(target)
    nearest = min(abs(found - target) for found in known.values())
    level = [value for value, found in known.items() if abs(found - target) <= nearest * (1 + 1e-9)]
    value = min(max(number.value, min(level)), max(level))
    rounded = _ROUNDED if number.unit == "cycles" or number.unit == "ns" else 0.0
    return Estimate(
        probe.number, value, min(max(0.0, edges[0] - rounded), value), max(edges[-1] + rounded, value), middle,
        predict(value), bool(abs(middle - target) > 2 * spread),
    )  # fmt: skip


def _edge(
    known: dict[float, float], predict: Callable[[float], float], before: Callable[[float], bool]
) -> tuple[float, float]:
    """Values a thousandth of their span apart, between which `before` ends to hold of the predictions of rising values;
    the end of all values twice where it does not end. What is predicted meanwhile is kept."""
    values = sorted(known)
    first = next((k for k, value in enumerate(values) if not before(known[value])), len(values))
    if first in (0, len(values)):
        return (values[0], values[0]) if first == 0 else (values[-1], values[-1])
    left, right = values[first - 1], values[first]
    while right - left > 1e-3 * (values[-1] - values[0]):
        half = (left + right) / 2
        known[half] = predict(half)
        left, right = (half, right) if before(known[half]) else (left, half)
    return left, right


def write(path: Path, on: Card, device: str, found: Sequence[Estimate]) -> None:
    """The card file. IsaError where it cannot be written."""
    held = {"card": on.name, "device": device, "numbers": {e.number: _row(e) for e in found}}
    errors.write(path, f"{json.dumps(held, indent=1)}\n".encode())


def _row(e: Estimate) -> dict[str, Any]:
    return {key: value for key, value in asdict(e).items() if key != "number"}


def read(path: Path) -> CardFile:
    """IsaError for what is no card file. Numbers that were found at an end of their span are left as the table has
    them: what they were estimated from says something else."""
    try:
        held = parsed(contents(path).decode())
        rows = {name: row for name, row in held["numbers"].items() if not row["at_end"]}
        ranges = {name: (float(row["low"]), float(row["high"])) for name, row in rows.items()}
        for name, row in rows.items():
            least = 0 if rdna3.NUMBERS[name].value == 0 else 1e-9
            if not all(least <= float(row[key]) <= 1e9 for key in ("low", "value", "high")):
                raise ValueError(f"{name} cannot be {row['value']}")
        values = rdna3.values(**{name: float(row["value"]) for name, row in rows.items()})
        return CardFile(str(held["card"]), values, ranges)
    except OSError as error:
        raise IsaError(f"{path}: {error.strerror}", expected="a file of hipgemm calibrate") from error
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError) as error:
        raise IsaError(f"{path} is no card file: {error!r}", expected="a file of hipgemm calibrate") from error


def text(found: Sequence[Estimate]) -> str:
    """A table of model against card."""
    out = [f"{'number':<20} {'table':>8} {'card':>8} {'range':>18}  {'unit':<16} {'cycles measured':>16} predicted"]
    for e in found:
        unit = rdna3.NUMBERS[e.number].unit
        span = f"{e.low:.4g} to {e.high:.4g}"
        out.append(
            f"{e.number:<20} {e.table:>8g} {e.value:>8.4g} {span:>18}  {unit:<16} {e.measured:>16.5g} "
            f"{e.predicted:.5g}{'  an end: not this number' if e.at_end else ''}"
        )
    return "\n".join(out)
