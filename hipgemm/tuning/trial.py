"""One job of the search: some kernels at one shape, on the cycle model or on a card. What a worker runs.

Levels, cheapest first:

    estimate  model: one run, of the kernel's text; not on the matrix units
    median    model: of the ensemble, without its band; on the matrix units, where the order of waves matters more
    full      model: the ensemble, hence a band
    timed     card: one launch to warm up, the best of three
    repeated  card: several kernels by turns, so that the card's clock drifts for all of them alike; best of 16 each,
              answers judged against float64

What cannot be built or timed gives a TrialOutcome that says why: a search goes on.

The model's estimate of a generated kernel, for those who rank hundreds: kernel, shape, card -> seconds.

What `isa.timing.model.predict.TimedLaunch.estimate` says of the built kernel, without building it: the program is timed
as it was generated, nothing is assembled or disassembled. Sizes of instructions are then those of their kind, and the
last pass of a build, which takes apart what it seldom finds, has not run. The two agree where neither matters, which is
nearly always (`tests/hipgemm/tuning/test_from_text.py`).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hipgemm.kernels.ladder import rung
from hipgemm.launch.gemm import launch_of
from hipgemm.tuning.shapes import Shape
from isa import cache
from isa.analysis import cfg as control_flow
from isa.analysis.cfg import Cfg
from isa.errors import IsaError
from isa.gemm.vector.generate import generate
from isa.gemm.vector.parameters import Parameters
from isa.gemm.vector.registers import SCALARS, Registers
from isa.timing.machine.cards import Card
from isa.timing.model import ensemble
from isa.timing.model.predict import followed
from isa.timing.model.run import Resources, prepare
from isa.timing.trace.tracer import TracedLaunch

if TYPE_CHECKING:
    from hipgemm.measure.device import Device
    from isa.object.code_object import CodeObject
    from isa.timing.model.ensemble import Timing
    from isa.timing.model.predict import TimedLaunch

_WARM_UPS, _TIMED, _REPEATED = 1, 3, 16


@dataclass(frozen=True)
class TrialTarget:
    """Where: a card of isa.timing.machine.cards at a clock, or a device to open ("card", "card:1", "simulated")."""

    card: str
    clock_mhz: float
    device: str | None = None


@dataclass(frozen=True)
class Job:
    """kernels: one, but for "repeated"."""

    kernels: tuple[str, ...]
    shape: Shape
    level: str
    target: TrialTarget


@dataclass(frozen=True)
class TrialOutcome:
    """What a job found of one kernel.

    seconds, low, high: the time and its band; None where there is none, and why says why.
    limit: what takes most of the SIMDs' cycles, by the model. on: the card's name of itself, on a card.
    predicted: whether this time is not a card's, but the model's or the simulated card's clock's.
    """

    kernel: str
    seconds: float | None
    low: float | None = None
    high: float | None = None
    limit: str = ""
    why: str = ""
    on: str = ""
    predicted: bool = False


def made_by(target: TrialTarget) -> str:
    """A hash of what outcomes depend on: the generator and, where it tells the time, the model."""
    elsewhere = ("lint", "prove", *(() if target.device is None else ("sim", "sanitize", "timing")))
    return cache.made_by(*elsewhere)


def run(job: Job) -> list[TrialOutcome]:
    """The outcome of each kernel."""
    try:
        if job.level == "repeated":
            return _repeated(job)
        return [_LEVELS[job.level](job, job.kernels[0])]
    except IsaError as error:
        return [TrialOutcome(kernel, None, why=error.message) for kernel in job.kernels]


def _estimate(job: Job, kernel: str) -> TrialOutcome:
    from isa.timing.machine.cards import card

    return TrialOutcome(kernel, seconds(kernel, job.shape, card(job.target.card), job.target.clock_mhz))


def _median(job: Job, kernel: str) -> TrialOutcome:
    return TrialOutcome(kernel, launch(kernel, job.shape, job.target).median(job.target.clock_mhz).time_s)


def _full(job: Job, kernel: str) -> TrialOutcome:
    timing = launch(kernel, job.shape, job.target).timing(job.target.clock_mhz)
    return TrialOutcome(kernel, timing.time_s, timing.low_s, timing.high_s, limit(timing))


def limit(timing: Timing) -> str:
    """The largest cause of cycles, as `hipgemm time` names it."""
    name, share = max(timing.causes.items(), key=lambda item: item[1])
    return f"{name}, {100 * share:.0f} % of cycles"


def launch(kernel: str, shape: Shape, target: TrialTarget) -> TimedLaunch:
    """To be timed by the model."""
    from hipgemm.judge.predict import ready
    from isa.timing.machine.cards import card

    on = card(target.card)
    return ready(code_object(kernel, on.arch), rung(kernel), (shape.m, shape.n, shape.k), on, batch=shape.batch)


@functools.lru_cache(maxsize=64)
def code_object(kernel: str, arch: str) -> CodeObject:
    """A kernel's, by name."""
    from isa.object.code_object import load

    return load(image(kernel, arch), arch)


def image(kernel: str, arch: str) -> bytes:
    from hipgemm.kernels import build

    row = rung(kernel)
    return build.image(row, arch=arch) if row.parameters else build.build(row, arch=arch).hsaco.read_bytes()


def _timed(job: Job, kernel: str) -> TrialOutcome:
    bench = _bench(job.shape, job.target)
    times = bench.times((kernel,), _TIMED)[kernel]
    return bench.outcome(kernel, times)


def _repeated(job: Job) -> list[TrialOutcome]:
    bench = _bench(job.shape, job.target)
    wrong = {kernel: bench.wrong(kernel) for kernel in job.kernels}
    right = tuple(kernel for kernel in job.kernels if not wrong[kernel])
    found = [TrialOutcome(kernel, None, why=why, on=bench.device.name) for kernel, why in wrong.items() if why]
    for kernel, times in bench.times(right, _REPEATED).items():
        found.append(bench.outcome(kernel, times))
    return found


@functools.lru_cache(maxsize=1)
def _bench(shape: Shape, target: TrialTarget) -> _Bench:
    return _Bench(shape, target)


class _Bench:
    """A device with the matrices of one shape on it."""

    def __init__(self, shape: Shape, target: TrialTarget) -> None:
        from hipgemm.launch.elements import Types
        from hipgemm.launch.problem import Problem

        types = Types.named(shape.types)
        self.problem = Problem(shape.m, shape.n, shape.k, types=types, batch=shape.batch)
        self.device: Device = _open(target.device, target.card)
        self.drawn = self.problem.matrices()
        lying = self.problem.stored(self.drawn, (shape.trans[0] == "t", shape.trans[1] == "t"))
        self.before = lying[2]
        self.buffers = [self.device.buffer(x.nbytes) for x in lying]
        for buffer, array in zip(self.buffers, lying, strict=True):
            buffer.upload(array)
        self.loaded: dict[str, Any] = {}

    def start(self, kernel: str, stream: Any) -> None:
        from hipgemm.launch.gemm import start

        if kernel not in self.loaded:
            self.loaded[kernel] = self.device.load(image(kernel, self.device.arch), kernel)
        row, p = rung(kernel), self.problem
        matrices = [x.address for x in self.buffers]
        start(
            self.device, self.loaded[kernel], row, matrices, (p.m, p.n, p.k), p.alpha, p.beta, batch=p.batch,
            stream=stream,
        )  # fmt: skip

    def times(self, kernels: tuple[str, ...], rounds: int) -> dict[str, list[float]]:
        """Seconds of each launch, the kernels by turns. IsaError where the device's clock does not say."""
        if not kernels:
            return {}
        turns = [kernel for _ in range(_WARM_UPS + rounds) for kernel in kernels]
        seconds = self.device.timings(lambda turn, stream: self.start(turns[turn], stream), len(turns))
        found: dict[str, list[float]] = {kernel: [] for kernel in kernels}
        for kernel, spent in list(zip(turns, seconds, strict=True))[_WARM_UPS * len(kernels) :]:
            if spent is None:
                raise IsaError(f"{self.device.name} has no time for {kernel}: too short for its clock")
            found[kernel].append(spent)
        return found

    def outcome(self, kernel: str, times: list[float]) -> TrialOutcome:
        on, predicted = self.device.name, self.device.simulated
        return TrialOutcome(kernel, min(times), min(times), max(times), on=on, predicted=predicted)

    def wrong(self, kernel: str) -> str:
        """What is wrong with its answer, "" if nothing is."""
        self.buffers[2].upload(self.before)
        self.start(kernel, None)
        self.device.synchronize()
        answer = self.before.copy()
        self.buffers[2].download(answer)
        verdict = self.problem.judge(*self.drawn, answer)
        return "" if verdict.correct else f"WRONG in {verdict.wrong} of {answer.size} elements"


@functools.cache
def _open(device: str | None, card: str) -> Device:
    """The simulated card is the one that the search is for; a card is what it is."""
    from hipgemm.measure.device import Device

    return Device.open(device, card=card if device == "simulated" else None)


_LEVELS = {"estimate": _estimate, "median": _median, "full": _full, "timed": _timed}


_MATRICES = 0x7F00_0000_0000, 0x7F10_0000_0000, 0x7F20_0000_0000
_WORKSPACE, _KERNARG = 0x7F30_0000_0000, 0x10_0000_0000


def seconds(kernel: str, shape: Shape, on: Card, clock_mhz: float) -> float:
    """The time of a generated kernel. IsaError where there is no such kernel, or none for these sizes."""
    p = rung(kernel).parameters
    assert isinstance(p, Parameters)
    launch = launch_of(rung(kernel), shape.m, shape.n, shape.k, on.cus)
    cfg, vgprs = _program(kernel, p, on.arch)
    kernarg = launch.kernarg(_MATRICES, 1.0, 0.0, _WORKSPACE)
    s, resources = SCALARS, Resources(vgprs, p.lds_bytes, True)
    start = TracedLaunch(
        launch.grid,
        launch.block,
        sgprs=((s.kernarg.index, _KERNARG & 0xFFFFFFFF), (s.kernarg.index + 1, _KERNARG >> 32)),
        workgroup_sgprs=(("x", s.group_x.index), ("y", s.group_y.index)),
        item_axes=1,
        memory=((_KERNARG, kernarg + bytes(-len(kernarg) % 16)),),
    )
    return ensemble.quick(prepare(cfg, followed(cfg, start, resources, on), resources, on), clock_mhz).time_s


@functools.lru_cache(maxsize=2)
def _program(kernel: str, p: Parameters, arch: str) -> tuple[Cfg, int]:
    """Control flow and VGPRs of a kernel as it was generated."""
    program = generate(p, kernel, arch=arch)
    return control_flow.of_kernel(program.kernel(kernel)), Registers.of(p).count
