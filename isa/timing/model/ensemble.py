"""A prediction: the median of several runs, with a band.

Kernels whose waves lock phase jitter by a few per cent under tiny changes, so that one run alone would claim too much.
A prediction is the median of an ensemble over arbitration policies and seeds (`MEMBERS`). Its band holds two spreads:
how far the members lie from their median, and how far the machine numbers, drawn within their ranges, move the time
(`isa.timing.model.uncertainty`). Both are taken as independent: on each side of the median the extremes add in squares.

`quick` is one run of parts of a launch, for those who rank many.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from isa.analysis.resources import Occupancy
from isa.display import Shown, number_of
from isa.timing.machine.cards import Card
from isa.timing.model import estimate, shown, uncertainty, work
from isa.timing.model.run import Prepared, Run
from isa.timing.native import engine_abi
from isa.timing.trace.trace import Iterations

BUDGET = 20_000_000
"""Instructions of one unit that are played; of longer launches parts are (`isa.timing.model.estimate`)."""
QUICK = 2_500_000
"""The same for `quick`."""

MEMBERS: tuple[tuple[int, int], ...] = (
    (engine_abi.OLDEST, 0),
    (engine_abi.OLDEST, 1),
    (engine_abi.STICKY, 0),
    (engine_abi.ROTATING, 0),
)
"""(arbitration policy, seed) of each run of the ensemble. Plain round robin is not among them: in the SQTT traces a
wave issues its VALU instructions in a row while another waits."""


@dataclass(frozen=True, repr=False)
class Timing(Shown):
    """The prediction for one launch on one card.

    time_s: median of the runs. low_s, high_s: the band, from the runs' extremes and those of `ratios`.
    ratios: time with drawn machine numbers over time with the table's, ascending; () where none were drawn.
    guards: positions of comparisons of data that were taken to hold in all lanes (`isa.timing.trace.guards`).
    iterations: where workgroups are unequal. operations: that the busiest unit's workgroups ask of the VALUs.
    matrix: whether there are matrix products among them.
    """

    card: Card
    clock_mhz: float
    occupancy: Occupancy
    workgroups: int
    units: int
    unit_workgroups: int
    exact: bool
    runs: tuple[Run, ...]
    ratios: tuple[float, ...] = ()
    iterations: Iterations | None = None
    operations: float = 0.0
    guards: tuple[int, ...] = ()
    matrix: bool = False

    @property
    def times_s(self) -> list[float]:
        return sorted(run.cycles / (self.clock_mhz * 1e6) for run in self.runs)

    @property
    def time_s(self) -> float:
        return statistics.median(self.times_s)

    @property
    def low_s(self) -> float:
        runs = 1 - self.times_s[0] / self.time_s
        numbers = max(0.0, 1 - min(self.ratios, default=1.0))
        return self.time_s * (1 - math.hypot(runs, numbers))

    @property
    def high_s(self) -> float:
        runs = self.times_s[-1] / self.time_s - 1
        numbers = max(0.0, max(self.ratios, default=1.0) - 1)
        return self.time_s * (1 + math.hypot(runs, numbers))

    @property
    def band(self) -> str:
        """What the band covers."""
        if not self.ratios:
            return (
                "one run: no band" if len(self.runs) == 1 else f"{len(self.runs)} runs by arbitration policy and seed"
            )
        return (
            f"{len(self.runs)} runs by arbitration policy and seed, {len(self.ratios)} with machine numbers drawn from "
            "their ranges"
        )

    @property
    def typical(self) -> Run:
        """The run nearest to the median."""
        return min(self.runs, key=lambda run: abs(run.cycles / (self.clock_mhz * 1e6) - self.time_s))

    @property
    def valu_utilisation(self) -> float:
        """Over all SIMDs of the chip, as a profiler counts: the busiest unit's, scaled to the mean of workgroups."""
        busiest = statistics.median(run.valu_utilisation for run in self.runs)
        if self.iterations:
            return busiest * self.iterations.share
        mean = self.workgroups / self.units
        return busiest * mean / max(1, self.unit_workgroups)

    @property
    def waves(self) -> float:
        """On a SIMD of the busiest unit, on average over the time: what a profiler calls achieved occupancy."""
        return self.typical.resident / max(1.0, self.typical.cycles * self.occupancy.simds)

    @property
    def valu_work(self) -> float:
        """Operations that the VALUs of the chip do, of those that they can in that time."""
        most = work.A_CYCLE * 2 * self.card.cus * self.time_s * self.clock_mhz * 1e6
        return self.operations * self.launch_over_unit / most

    @property
    def launch_over_unit(self) -> float:
        """What all units do, over what the busiest one does."""
        return self.units * self.iterations.share if self.iterations else self.workgroups / max(1, self.unit_workgroups)

    @property
    def played(self) -> float:
        return min(run.played for run in self.runs)

    @property
    def causes(self) -> dict[str, float]:
        """Share of the SIMDs' cycles by cause, in the typical run."""
        causes = self.typical.causes
        total = max(1, sum(causes.values()))
        return {name: cycles / total for name, cycles in causes.items()}

    @property
    def main_causes(self) -> list[tuple[str, float]]:
        """Those whose share shows."""
        return [(name, share) for name, share in self.causes.items() if share >= 0.0005]

    def rows(self) -> list[tuple[str, str]]:
        """What a reader sees of it: (what, value), the time first."""
        fits, unit = self.occupancy, "CU" if self.occupancy.simds == 2 else "WGP"
        time, low, high = (1e3 * s for s in (self.time_s, self.low_s, self.high_s))
        lines = [
            ("time", f"{time:.4f} ms predicted, {low:.4f} to {high:.4f}"),
            ("band", self.band),
            ("VALU", f"{100 * self.valu_utilisation:.1f} % of cycles"),
            (
                "occupancy",
                f"{fits.waves:g} of 16 waves a SIMD, {number_of(fits.workgroups, 'workgroup')} a {unit}; "
                f"held by {', '.join(fits.binding)}; {self.waves:.1f} on average",
            ),
            ("work", f"{number_of(self.workgroups, 'workgroup')}, {self.unit_workgroups} on the busiest {unit}"),
            ("card", f"{self.card.name} at {self.clock_mhz:g} MHz"),
        ]
        lines += [("", text) for text in fits.advice if self.unit_workgroups > fits.workgroups]
        if self.played < 1:
            share = f"{100 * self.played:.1f} % of the busiest unit's instructions were played"
            lines.append(("note", f"{share}; the whole follows from these"))
        if self.iterations:
            lines.append(("iterations", self.iterations.text(unit)))
        elif not self.exact:
            lines.append(("note", "workgroups differ from each other; the first stands for all"))
        if self.guards:
            lines.append(("note", shown.assumed(self.guards)))
        return lines

    def __repr__(self) -> str:
        return shown.text(self.rows(), self.main_causes)


def predict(
    ready: Prepared,
    clock_mhz: float | None = None,
    members: Sequence[tuple[int, int]] = MEMBERS,
    budget: int = BUDGET,
    band: bool = True,
) -> Timing:
    """The ensemble and the spread over machine numbers, two runs at a time. band: without, machine numbers are not
    drawn; the time is the same."""
    clock = clock_mhz or ready.card.clock_mhz
    parts = estimate.excerpts(ready, budget)
    with ThreadPoolExecutor(2) as pool:
        runs = tuple(pool.map(lambda member: estimate.play(ready, clock, parts, member), members))
    return _timing(ready, clock, runs, uncertainty.ratios(ready, clock) if band else ())


def quick(ready: Prepared, clock_mhz: float | None = None, budget: int = QUICK) -> Timing:
    """One run, oldest wave first, of parts of the launch: no band (low and high are the time). For ranking; how far it
    lies from `predict` is in docs/timing.md."""
    clock = clock_mhz or ready.card.clock_mhz
    return _timing(ready, clock, (estimate.play(ready, clock, estimate.excerpts(ready, budget)),))


def _timing(ready: Prepared, clock_mhz: float, runs: tuple[Run, ...], ratios: tuple[float, ...] = ()) -> Timing:
    apart = ready.trace.apart
    iterations = apart.iterations if apart else None
    unit_workgroups = -(-ready.trace.workgroups // ready.units)
    return Timing(
        card=ready.card,
        clock_mhz=clock_mhz,
        occupancy=ready.occupancy,
        workgroups=ready.trace.workgroups,
        units=ready.units,
        unit_workgroups=len(apart.numbers) if apart and iterations else unit_workgroups,
        exact=ready.trace.exact,
        runs=runs,
        ratios=ratios,
        iterations=iterations,
        operations=ready.operations,
        guards=ready.trace.guards,
        matrix=ready.matrix,
    )
