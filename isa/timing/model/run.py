"""A kernel, its launch and a card -> what one run of the cycle engine says.

    cfg, launch --tracer--> Trace --caches--> shares of L1, L2, L3 --engine--> cycles of the busiest unit

The chip is done when its busiest unit is: of W workgroups on U units (CUs in CU mode, WGPs in WGP mode) one gets
ceil(W / U), its `slots` at a time, the next when one ends. That unit is played from the first instruction to the last,
or up to a budget of instructions. `isa.timing.model.estimate` tells the time of the whole from parts of it,
`isa.timing.model.ensemble` makes predictions of several runs.

A card at a clock, with machine numbers -> `layout.Machine`: everything in cycles, shares taken for one CU.

A share of a shared cache or memory is its bandwidth over the CUs that draw on it at once: all of them when the launch
fills the chip. Latencies beyond L1 grow with the part of the chip that works. L1 is shared by a shader array, L2, L3
and VRAM by the chip.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from isa.analysis.cfg import Cfg
from isa.analysis.resources import Occupancy, occupancy
from isa.targets import target
from isa.timing.machine import bank_rules, families
from isa.timing.machine.cards import Card
from isa.timing.machine.wave64 import WAVE32, Wave
from isa.timing.model import work
from isa.timing.native import engine_abi
from isa.timing.native.engine_abi import Code, Machine, Work
from isa.timing.trace import places
from isa.timing.trace.decode import decode
from isa.timing.trace.trace import Apart, Trace

_WAVESIZE = 64 * 4


@dataclass(frozen=True, slots=True)
class Resources:
    """What a kernel takes of the machine: VGPRs a wave, bytes of LDS a workgroup, its mode, and bytes of scratch a
    wave."""

    vgprs: int
    lds: int
    cu_mode: bool
    scratch: int = 0

    @property
    def scratch_sectors(self) -> int:
        """Of a wave, whose part is a multiple of 64 dwords (LLVM: COMPUTE_TMPRING_SIZE.WAVESIZE of GFX11)."""
        return -(-self.scratch // _WAVESIZE) * _WAVESIZE // engine_abi.SECTOR


@dataclass(frozen=True)
class Run:
    """One run of the engine: cycles of the busiest unit, cycles by cause summed over its SIMDs, and cache lines by the
    level that served them. resident: cycles that waves were there, summed over them. played: the part of the unit's
    instructions that was issued; an estimate's figures are those of the whole all the same. hits[instruction],
    stalls[instruction, cause]: all 0 unless events were recorded (`engine.run`)."""

    cycles: float
    played: float
    causes: Mapping[str, int]
    hits: np.ndarray
    lines: np.ndarray
    member: tuple[int, int]
    stalls: np.ndarray
    resident: float = 0.0

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
    found: np.ndarray
    """As of `isa.timing.model.caches.Served`."""
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
    def matrix(self) -> bool:
        """Whether it has matrix products."""
        return any(inst.desc.is_matrix for inst in self.cfg.instructions)

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
            scratch=self.resources.scratch_sectors,
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

    numbers = numbers or families.values(on.arch)
    code = placed(decode(cfg, numbers, bank_rule, trace.wave), trace)
    lanes = trace.wave.lanes
    fits = occupancy(
        resources.vgprs, resources.lds, lanes * trace.waves, cu_mode=resources.cu_mode, target=target(on.arch),
        lanes=lanes,
    )  # fmt: skip
    served = caches.served(
        trace, code, on, numbers, cu_mode=resources.cu_mode, slots=fits.workgroups, scratch=resources.scratch_sectors,
        warm=warm,
    )  # fmt: skip
    level = caches.levels(served.found, caches.arrays(trace.recorded, code))
    return Prepared(
        cfg, code, trace, resources, numbers, on, fits, level, served.remembered, served.found,
        ranges or families.ranges(on.arch),
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
    cycles, issued, _, causes, hits, lines, stalls, resident, _ = engine.run(
        ready.code, ready.trace.recorded, todo, m, total + 1 if stop_after is None else stop_after,
        np.zeros((0, 5), np.int64) if events is None else events, waits,
    )  # fmt: skip
    by_cause = dict(zip(engine_abi.CAUSES, (int(c) for c in causes.sum(axis=0)), strict=True))
    played = 1.0 if stop_after is None else min(1.0, issued / total)
    return Run(float(cycles), played, by_cause, hits, lines, member, stalls, float(resident))


def crowded(numbers: Mapping[str, float], crowding: float, channel_crowding: float) -> tuple[float, float]:
    """How many times as long lines that crowd take in slices (L2, L3), and in channels (L3, memory)."""
    return 1 + numbers["l2_crowding"] * (crowding - 1), 1 + numbers["channel_crowding"] * (channel_crowding - 1)


def machine(
    numbers: Mapping[str, float],
    card: Card,
    *,
    clock_mhz: float,
    cu_mode: bool,
    waves: int,
    slots: int,
    busy_cus: int,
    policy: int = 0,
    seed: int = 0,
    wave: Wave = WAVE32,
    crowding: float = 1.0,
    channel_crowding: float = 1.0,
) -> Machine:
    """The machine that one unit sees. waves: of a workgroup; slots: workgroups resident in the unit; busy_cus: CUs that
    work at the same time; crowding, channel_crowding: of the lines that come to L2 and to L3, see
    `isa.timing.model.caches`."""
    ghz = clock_mhz / 1000
    line = numbers["line_bytes"]
    factor = 1 + (numbers["memory_load_factor"] - 1) * min(1.0, busy_cus / card.cus)

    def cycles(name: str) -> int:
        return round(numbers[f"{name}_ns"] * ghz)

    def share(bandwidth: float, cus: float) -> float:
        """Cycles a line of a shared bandwidth in bytes/s; 0 of a cache that is not there, which serves none."""
        return line / (bandwidth / (clock_mhz * 1e6) / max(1.0, cus)) if bandwidth else 0.0

    array_cus = max(1.0, busy_cus / card.shader_arrays)
    slices, channels = crowded(numbers, crowding, channel_crowding)
    return Machine(
        simds=2 if cu_mode else 4,
        lds_units=1,
        waves=waves,
        slots=slots,
        policy=policy,
        seed=seed,
        issue_to_execute=round(numbers["valu_issue_to_execute"]),
        queue=round(numbers["valu_queue"]),
        queue_keeps=round(numbers["valu_queue_keeps"]),
        to_lds=round(numbers["valu_to_lds"]),
        to_vmem=round(numbers["valu_to_vmem"]),
        to_scalar=round(numbers["valu_to_scalar"]),
        valu_to_end=round(numbers["valu_to_end"]),
        landed=round(numbers["valu_to_vmem"] - numbers["valu_issue_to_execute"] - numbers["valu_latency"]),
        carry=round(numbers["valu_carry"]),
        trans=round(numbers["trans_unit_cycles"] * wave.halves),
        salu_latency=round(numbers["salu_latency"]),
        salu_to_valu=round(numbers["salu_to_valu"]),
        smem_latency=cycles("smem_latency"),
        smem_gap=round(numbers["smem_gap"]),
        not_taken=round(numbers["branch_not_taken"]),
        scc_to_branch=round(numbers["scc_to_branch"]),
        taken=round(numbers["branch_taken"]),
        barrier=round(numbers["barrier"]),
        release=round(numbers["wait_release"]),
        release_at_once=round(numbers["wait_at_once"]),
        after_access=round(numbers["after_access"]),
        stagger=round(numbers["wave_stagger"]),
        launch=round(numbers["workgroup_launch"]),
        dispatch_gap=max(1, int(waves * card.cus / 6)),
        icache_lines=round(numbers["icache_bytes"] // numbers["icache_line"]),
        icache_miss=cycles("icache_miss"),
        lds_latency=round(numbers["lds_latency"]),
        lds_return=128 / numbers["lds_return_bytes"],
        lds_store_latency=round(numbers["lds_store_latency"]),
        lds_store=numbers["lds_store_cycles"],
        lds_queue=round(numbers["lds_queue"]),
        lds_scale=1.0 if cu_mode else 1 / numbers["lds_wgp_share"],
        path_queue=round(numbers["path_queue"]),
        ta_cycles=round(32 * wave.halves / numbers["ta_lanes"]),
        l0_sets=round(numbers["l0_bytes"] / line / numbers["l0_ways"]),
        l0_ways=round(numbers["l0_ways"]),
        l0_hashed=round(numbers["l0_hashed"]),
        l0_tags=round(numbers["l0_tags"]),
        l0_latency=round(numbers["l0_latency"]),
        l1_latency=round(numbers["l1_latency"]),
        l2_latency=round(cycles("l2_latency") * factor),
        l3_latency=round(cycles("l3_latency") * card.far * factor),
        vram_latency=round(cycles("vram_latency") * card.far * factor),
        fill=line / numbers["l0_fill_bytes"],
        l1_line=line / numbers["l1_bytes_per_cycle"] * array_cus,
        l2_line=share(card.l2_bandwidth, busy_cus) * slices,
        l3_line=share(card.l3_bandwidth, busy_cus) * slices * channels,
        vram_line=share(card.vram_bandwidth * numbers["vram_read_share"], busy_cus) * channels,
        vram_write=share(card.vram_bandwidth * numbers["vram_write_share"], busy_cus),
        write_slack=card.l2_bytes / line * share(card.vram_bandwidth * numbers["vram_write_share"], 1),
        store_ack=cycles("store_ack"),
    )
