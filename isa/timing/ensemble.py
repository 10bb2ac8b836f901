"""A prediction: the median of several runs, with a band.

Kernels whose waves lock phase jitter by a few per cent under tiny changes, so that one run alone would claim too much.
A prediction is the median of an ensemble over arbitration policies and seeds (`MEMBERS`); its band holds the ensemble's
extremes. `sensitivity` varies the machine numbers within their ranges instead. `quick` is one run of parts of a launch,
for those who rank many.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from isa.analysis.resources import Occupancy
from isa.timing import estimate, layout, model, rdna3
from isa.timing.cards import Card
from isa.timing.decode import decode
from isa.timing.model import Prepared, Run

BUDGET = 20_000_000
"""Instructions of one unit that are played; of longer launches parts are (`isa.timing.estimate`)."""
QUICK = 2_500_000
"""The same for `quick`."""

MEMBERS: tuple[tuple[int, int], ...] = (
    (layout.OLDEST, 0),
    (layout.OLDEST, 1),
    (layout.STICKY, 0),
    (layout.ROTATING, 0),
)
"""(arbitration policy, seed) of each run of the ensemble. Plain round robin is not among them: in the SQTT traces a
wave issues its VALU instructions in a row while another waits."""


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


def predict(
    ready: Prepared,
    clock_mhz: float | None = None,
    members: Sequence[tuple[int, int]] = MEMBERS,
    budget: int = BUDGET,
) -> Timing:
    """The ensemble, two runs at a time."""
    clock = clock_mhz or ready.card.clock_mhz
    parts = estimate.excerpts(ready, budget)
    with ThreadPoolExecutor(2) as pool:
        runs = tuple(pool.map(lambda member: estimate.play(ready, clock, parts, member), members))
    return _timing(ready, clock, runs)


def quick(ready: Prepared, clock_mhz: float | None = None, budget: int = QUICK) -> Timing:
    """One run, oldest wave first, of parts of the launch: no band (low and high are the time). For ranking; how far it
    lies from `predict` is in docs/timing.md."""
    clock = clock_mhz or ready.card.clock_mhz
    return _timing(ready, clock, (estimate.play(ready, clock, estimate.excerpts(ready, budget)),))


def _timing(ready: Prepared, clock_mhz: float, runs: tuple[Run, ...]) -> Timing:
    return Timing(
        card=ready.card,
        clock_mhz=clock_mhz,
        occupancy=ready.occupancy,
        workgroups=ready.trace.workgroups,
        units=ready.units,
        unit_workgroups=-(-ready.trace.workgroups // ready.units),
        exact=ready.trace.exact,
        runs=runs,
    )


def sensitivity(ready: Prepared, clock_mhz: float, budget: int = BUDGET) -> list[tuple[str, float, float]]:
    """(number, relative time at its low end, at its high end) for each machine number with a range; oldest first."""
    parts = estimate.excerpts(ready, budget)
    base = estimate.play(ready, clock_mhz, parts).cycles
    found = []
    for name, number in rdna3.NUMBERS.items():
        if number.low == number.high:
            continue
        ends = []
        for value in (number.low, number.high):
            numbers = {**ready.numbers, name: value}
            changed = replace(ready, numbers=numbers, code=model.placed(decode(ready.cfg, numbers), ready.trace))
            ends.append(estimate.play(changed, clock_mhz, parts).cycles / base)
        found.append((name, ends[0], ends[1]))
    return sorted(found, key=lambda item: -abs(item[2] - item[1]))
