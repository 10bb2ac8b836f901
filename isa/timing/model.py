"""A kernel, its launch and a card -> how long it takes, with a band, and where the cycles go.

    cfg, launch --tracer--> Trace --caches--> shares of L1, L2, L3 --engine--> cycles of the busiest unit

The chip is done when its busiest unit is: of W workgroups on U units (CUs in CU mode, WGPs in WGP mode) one gets
ceil(W / U), its `slots` at a time, the next when one ends. That unit is played from the first instruction to the last;
where it has more than `budget` instructions to issue, it is played that far and the rest goes on at the rate of the
second half, which `Timing.played` says.

A prediction is the median of an ensemble over arbitration policies and seeds (`MEMBERS`); its band holds the
ensemble's extremes. Kernels whose waves lock phase jitter by a few per cent under tiny changes, so that one run alone
would claim too much. `sensitivity` varies the machine numbers within their ranges instead.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from isa.analysis.cfg import Cfg
from isa.analysis.resources import Occupancy, occupancy
from isa.timing import bank_rules, layout, rdna3
from isa.timing.cards import Card, card
from isa.timing.decode import decode
from isa.timing.layout import Code, Work
from isa.timing.machine import machine
from isa.timing.trace import Trace

BUDGET = 20_000_000
"""Instructions of one unit that are played before the rest is extrapolated."""

MEMBERS: tuple[tuple[int, int], ...] = (
    (layout.OLDEST, 0),
    (layout.OLDEST, 1),
    (layout.STICKY, 0),
    (layout.ROTATING, 0),
)
"""(arbitration policy, seed) of each run of the ensemble. A seed also shifts when workgroups begin. Plain round
robin is not among them: in the SQTT traces a wave issues its VALU instructions in a row while another waits."""


@dataclass(frozen=True, slots=True)
class Resources:
    """What a kernel takes of the machine: VGPRs a wave, bytes of LDS a workgroup, and its mode."""

    vgprs: int
    lds: int
    cu_mode: bool


@dataclass(frozen=True)
class Run:
    """One run of the engine: cycles of the busiest unit (extrapolated where `played` < 1), cycles by cause summed over
    its SIMDs for the part that was played, VALU instructions' share, and what each instruction took. stalls:
    cycles [instruction, cause], all 0 unless events were recorded (see `engine.run`)."""

    cycles: float
    played: float
    causes: Mapping[str, int]
    hits: np.ndarray
    latency: np.ndarray
    lines: np.ndarray
    member: tuple[int, int]
    stalls: np.ndarray

    @property
    def valu_utilisation(self) -> float:
        """Cycles in which a VALU instruction executes, of all."""
        return self.causes["VALU busy"] / max(1, sum(self.causes.values()))


@dataclass(frozen=True)
class Timing:
    """The prediction for one launch on one card.

    time_s: median of the ensemble; low_s, high_s: its extremes.
    """

    card: Card
    clock_mhz: float
    occupancy: Occupancy
    workgroups: int
    units: int
    unit_workgroups: int
    exact: bool
    runs: tuple[Run, ...]

    @property
    def times_s(self) -> list[float]:
        return sorted(run.cycles / (self.clock_mhz * 1e6) for run in self.runs)

    @property
    def time_s(self) -> float:
        return statistics.median(self.times_s)

    @property
    def low_s(self) -> float:
        return self.times_s[0]

    @property
    def high_s(self) -> float:
        return self.times_s[-1]

    @property
    def typical(self) -> Run:
        """The run nearest to the median."""
        return min(self.runs, key=lambda run: abs(run.cycles / (self.clock_mhz * 1e6) - self.time_s))

    @property
    def valu_utilisation(self) -> float:
        """Over all SIMDs of the chip, as a profiler counts: the busiest unit's, scaled to the mean of workgroups."""
        mean = self.workgroups / self.units
        return statistics.median(run.valu_utilisation for run in self.runs) * mean / max(1, self.unit_workgroups)

    @property
    def played(self) -> float:
        return min(run.played for run in self.runs)

    @property
    def causes(self) -> dict[str, float]:
        """Share of the SIMDs' cycles by cause, in the typical run."""
        causes = self.typical.causes
        total = max(1, sum(causes.values()))
        return {name: cycles / total for name, cycles in causes.items()}


@dataclass(frozen=True)
class Prepared:
    """A trace made ready for one card: what does not change between the runs of an ensemble."""

    cfg: Cfg
    code: Code
    trace: Trace
    resources: Resources
    numbers: Mapping[str, float]
    card: Card
    occupancy: Occupancy
    level: np.ndarray

    @property
    def units(self) -> int:
        return self.card.cus if self.resources.cu_mode else self.card.wgps

    def work(self) -> Work:
        """The workgroups of the busiest unit, in order of dispatch."""
        ids = np.arange(0, self.trace.workgroups, self.units, dtype=np.int64)
        return Work(
            record=np.zeros(len(ids), np.int64),
            x=ids % self.trace.grid[0],
            y=ids // self.trace.grid[0],
            shift_x=self.trace.shift_x,
            shift_y=self.trace.shift_y,
            level=self.level,
        )


def placed(code: Code, trace: Trace) -> Code:
    """Flat instructions as loads and stores of the space that they went to."""
    kind, private, counter = code.kind.copy(), code.private.copy(), code.counter.copy()
    for i, space in trace.spaces.items():
        private[i] = space == "scratch"
        if space == "lds":
            kind[i] = layout.LDS_LOAD if kind[i] == layout.LOAD else layout.LDS_STORE
            counter[i] = 1
    return code._replace(kind=kind, private=private, counter=counter)


def prepare(
    cfg: Cfg,
    trace: Trace,
    resources: Resources,
    on: Card,
    numbers: Mapping[str, float] | None = None,
    bank_rule: str = bank_rules.DEFAULT,
) -> Prepared:
    """Everything for `run` but policy and seed."""
    from isa.timing import caches

    numbers = numbers or rdna3.values()
    code = placed(decode(cfg, numbers, bank_rule), trace)
    fits = occupancy(resources.vgprs, resources.lds, 32 * trace.waves, cu_mode=resources.cu_mode)
    found = caches.served(trace, code, on, numbers, cu_mode=resources.cu_mode, slots=fits.workgroups)
    return Prepared(cfg, code, trace, resources, numbers, on, fits, caches.levels(found))


def run(
    ready: Prepared,
    clock_mhz: float,
    member: tuple[int, int] = MEMBERS[0],
    budget: int = BUDGET,
    events: np.ndarray | None = None,
) -> Run:
    """One run of the engine on the busiest unit. events: int64[e, 5] to fill, see `engine.run`."""
    from isa.timing import engine

    policy, seed = member
    work = ready.work()
    slots = min(ready.occupancy.workgroups, len(work.record))
    busy = min(ready.trace.workgroups, ready.units) * (ready.card.cus // ready.units)
    m = machine(
        ready.numbers,
        ready.card,
        clock_mhz=clock_mhz,
        cu_mode=ready.resources.cu_mode,
        waves=ready.trace.waves,
        slots=slots,
        busy_cus=busy,
        policy=policy,
        seed=seed,
    )
    m = m._replace(dispatch_gap=m.dispatch_gap + 13 * seed, launch=m.launch + 7 * seed)
    samples = np.zeros((63, 2), np.int64)
    cycles, issued, finished, causes, hits, latency, lines, stalls, _ = engine.run(
        ready.code, ready.trace.recorded, work, m, budget, np.zeros((0, 5), np.int64) if events is None else events,
        samples,
    )  # fmt: skip
    total = _instructions(ready) * len(work.record)
    if finished < len(work.record):
        middle = samples[len(samples) // 2]
        cycles = cycles + (total - issued) * (cycles - middle[0]) / max(1, issued - middle[1])
    by_cause = dict(zip(layout.CAUSES, (int(c) for c in causes.sum(axis=0)), strict=True))
    return Run(float(cycles), min(1.0, issued / total), by_cause, hits, latency, lines, member, stalls)


def predict(
    ready: Prepared,
    clock_mhz: float | None = None,
    members: Sequence[tuple[int, int]] = MEMBERS,
    budget: int = BUDGET,
) -> Timing:
    """The ensemble, two runs at a time."""
    clock = clock_mhz or ready.card.clock_mhz
    with ThreadPoolExecutor(2) as pool:
        runs = tuple(pool.map(lambda member: run(ready, clock, member, budget), members))
    return Timing(
        card=ready.card,
        clock_mhz=clock,
        occupancy=ready.occupancy,
        workgroups=ready.trace.workgroups,
        units=ready.units,
        unit_workgroups=-(-ready.trace.workgroups // ready.units),
        exact=ready.trace.exact,
        runs=runs,
    )


def sensitivity(ready: Prepared, clock_mhz: float, budget: int = BUDGET) -> list[tuple[str, float, float]]:
    """(number, relative time at its low end, at its high end) for each machine number with a range."""
    base = run(ready, clock_mhz, budget=budget).cycles
    found = []
    for name, number in rdna3.NUMBERS.items():
        if number.low == number.high:
            continue
        ends = []
        for value in (number.low, number.high):
            numbers = {**ready.numbers, name: value}
            changed = replace(ready, numbers=numbers, code=placed(decode(ready.cfg, numbers), ready.trace))
            ends.append(run(changed, clock_mhz, budget=budget).cycles / base)
        found.append((name, ends[0], ends[1]))
    return sorted(found, key=lambda item: -abs(item[2] - item[1]))


def default_card() -> Card:
    """The card that the published figures were measured on."""
    return card("7900 XTX")


def _instructions(ready: Prepared) -> int:
    """Instructions that one workgroup issues."""
    lengths = np.diff(ready.code.block_first)
    return int(lengths[ready.trace.recorded.blocks].sum())
