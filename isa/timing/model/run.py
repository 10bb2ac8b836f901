"""A kernel, its launch and a card -> what one run of the cycle engine says.

    cfg, launch --tracer--> Trace --caches--> shares of L1, L2, L3 --engine--> cycles of the busiest unit

The chip is done when its busiest unit is: of W workgroups on U units (CUs in CU mode, WGPs in WGP mode) one gets
ceil(W / U), its `slots` at a time, the next when one ends. That unit is played from the first instruction to the last,
or up to a budget of instructions. `isa.timing.model.estimate` tells the time of the whole from parts of it,
`isa.timing.model.ensemble` makes predictions of several runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from isa.analysis.cfg import Cfg
from isa.analysis.resources import Occupancy, occupancy
from isa.targets import target
from isa.timing.machine import bank_rules, rdna3
from isa.timing.machine.cards import Card
from isa.timing.machine.machine import machine
from isa.timing.model import work
from isa.timing.native import engine_abi
from isa.timing.native.engine_abi import Code, Work
from isa.timing.trace import places
from isa.timing.trace.decode import decode
from isa.timing.trace.trace import Apart, Trace


@dataclass(frozen=True, slots=True)
class Resources:
    """What a kernel takes of the machine: VGPRs a wave, bytes of LDS a workgroup, and its mode."""

    vgprs: int
    lds: int
    cu_mode: bool


@dataclass(frozen=True)
class Run:
    """One run of the engine: cycles of the busiest unit, cycles by cause summed over its SIMDs, and cache lines by the
    level that served them. played: the part of the unit's instructions that was issued; an estimate's figures are those
    of the whole all the same. hits[instruction], stalls[instruction, cause]: all 0 unless events were recorded
    (`engine.run`)."""

    cycles: float
    played: float
    causes: Mapping[str, int]
    hits: np.ndarray
    lines: np.ndarray
    member: tuple[int, int]
    stalls: np.ndarray

    @property
    def valu_utilisation(self) -> float:
        """Cycles in which a VALU instruction executes, of all."""
        return self.causes["VALU busy"] / max(1, sum(self.causes.values()))


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
    remembered: int
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Of numbers that a card's calibration gave others than the table's."""
    first: int | None = None
    """How many of the busiest unit's workgroups are played; all if None. Those that differ from the first are all among
    them, unless they alone are more."""
    crowding: float = 1.0
    channel_crowding: float = 1.0
    """Of the lines that come to L2, and to L3, see `isa.timing.model.caches`."""

    @property
    def differing(self) -> int:
        """Workgroups of the busiest unit that do not take the path of the first, and are all played."""
        apart = self.trace.apart
        return int((apart.record != 0).sum()) if apart and apart.every is None else 0

    @property
    def units(self) -> int:
        return self.card.cus if self.resources.cu_mode else self.card.wgps

    @property
    def instructions(self) -> int:
        """That one workgroup issues, on average where they differ."""
        lengths, r = np.diff(self.code.block_first), self.trace.recorded
        rows = np.diff(np.concatenate([[0], np.cumsum(lengths[r.blocks])])[r.block_at])
        each = rows.reshape(-1, self.trace.waves).sum(axis=1)[self.work().record]
        return -(-int(each.sum()) // len(each))

    @property
    def operations(self) -> float:
        """Of the vector ALUs, that the workgroups of the busiest unit ask for, see `isa.timing.model.work`."""
        each = work.operations(self.cfg, self.code, self.numbers, self.trace.wave)
        waves = work.of_waves(each, self.code, self.trace.recorded)
        return float(waves.reshape(-1, self.trace.waves).sum(axis=1)[self.work().record].sum())

    def work(self) -> Work:
        """The workgroups of the busiest unit, in order of dispatch."""
        apart = self.trace.apart
        if apart:
            ids, record = (a[self._played(apart)] for a in (apart.numbers, apart.record))
        else:
            ids = np.arange(0, self.trace.workgroups, self.units, dtype=np.int64)[: self.first]
            record = np.zeros(len(ids), np.int64)
        moved = self.trace.distances(ids, record)
        return Work(
            record=record,
            columns=moved.distances.shape[1],
            distance=np.ascontiguousarray(moved.distances),
            column=moved.column,
            level=self.level,
            remembered=self.remembered,
        )

    def _played(self, apart: Apart) -> np.ndarray:
        """Which of the unit's workgroups are: where all differ some of them, evenly among them; else those that follow
        the first are left out, as long as there are any."""
        count = len(apart.numbers)
        if self.first is None:
            return np.arange(count)
        if apart.every is not None:
            return places.parts(count, self.first)
        left, alike = count - self.first, np.flatnonzero(apart.record == 0)
        return np.delete(np.arange(count), alike[:left] if left <= len(alike) else np.arange(left))


def placed(code: Code, trace: Trace) -> Code:
    """Flat instructions as loads and stores of the space that they went to."""
    kind, private, counter = code.kind.copy(), code.private.copy(), code.counter.copy()
    for i, space in trace.spaces.items():
        private[i] = space == "scratch"
        if space == "lds":
            kind[i] = engine_abi.LDS_LOAD if kind[i] == engine_abi.LOAD else engine_abi.LDS_STORE
            counter[i] = 1
    return code._replace(kind=kind, private=private, counter=counter)


def prepare(
    cfg: Cfg,
    trace: Trace,
    resources: Resources,
    on: Card,
    numbers: Mapping[str, float] | None = None,
    bank_rule: str = bank_rules.DEFAULT,
    warm: bool = False,
    ranges: Mapping[str, tuple[float, float]] | None = None,
) -> Prepared:
    """Everything for `run` but policy and seed. warm: the launch has been made before; ranges: as of `Prepared`."""
    from isa.timing.model import caches

    numbers = numbers or rdna3.values()
    code = placed(decode(cfg, numbers, bank_rule, trace.wave), trace)
    lanes = trace.wave.lanes
    fits = occupancy(
        resources.vgprs, resources.lds, lanes * trace.waves, cu_mode=resources.cu_mode, target=target(on.arch),
        lanes=lanes,
    )  # fmt: skip
    served = caches.served(trace, code, on, numbers, cu_mode=resources.cu_mode, slots=fits.workgroups, warm=warm)
    level = caches.levels(served.found, caches.arrays(trace.recorded, code))
    return Prepared(
        cfg, code, trace, resources, numbers, on, fits, level, served.remembered, ranges or {},
        crowding=served.crowding, channel_crowding=served.channel_crowding,
    )  # fmt: skip


def run(
    ready: Prepared,
    clock_mhz: float,
    member: tuple[int, int] = (engine_abi.OLDEST, 0),
    stop_after: int | None = None,
    events: np.ndarray | None = None,
    waits: np.ndarray | None = None,
) -> Run:
    """One run of the engine on the busiest unit. member: (arbitration policy, seed); a seed also shifts when workgroups
    begin. stop_after: issued instructions; all figures are then of that part only. events: int64[e, 5] and
    waits: int64[w, 6] to fill, see `engine.run`."""
    from isa.timing.model import engine

    policy, seed = member
    todo = ready.work()
    slots = min(ready.occupancy.workgroups, len(todo.record))
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
        wave=ready.trace.wave,
        crowding=ready.crowding,
        channel_crowding=ready.channel_crowding,
    )
    m = m._replace(dispatch_gap=m.dispatch_gap + 13 * seed, launch=m.launch + 7 * seed)
    total = ready.instructions * len(todo.record)
    cycles, issued, _, causes, hits, lines, stalls, _ = engine.run(
        ready.code, ready.trace.recorded, todo, m, total + 1 if stop_after is None else stop_after,
        np.zeros((0, 5), np.int64) if events is None else events, waits,
    )  # fmt: skip
    by_cause = dict(zip(engine_abi.CAUSES, (int(c) for c in causes.sum(axis=0)), strict=True))
    played = 1.0 if stop_after is None else min(1.0, issued / total)
    return Run(float(cycles), played, by_cause, hits, lines, member, stalls)
