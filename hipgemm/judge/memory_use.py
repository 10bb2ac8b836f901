"""Memory use of a launch: a prediction -> bytes by loop and by level, and LDS accesses that collide. All of it is
predicted.

Input: a launch prepared for the cycle model (`Prepared`) and its `Timing`. Out:

    levels      bytes that loads found in L0 and L1, and that came through L2 and L3 and from memory, in the typical run
                of the busiest unit, scaled to all workgroups; their speed in the predicted time, and the card's peak
    loops       for each loop without its inner ones: instructions that a wave executes in it, bytes that its global
                accesses touch (32-byte sectors), floating-point operations, LDS cycles and conflicts among them
    lds         the LDS of all CUs: bytes that its accesses ask for, and the share of its cycles that they take
    limit       the unit with the highest share of what it can do (vector ALU, its transcendental unit, LDS, L2, L3,
                memory), or, where none comes near that, what most of the lost cycles are lost by
    conflicts   LDS instructions that take longer than the widest access without conflicts, each with a pad that ends it

A pad is sought thus: the lanes of the costliest access that meet in a bank are a row apart; the distance between two of
them is taken as the length of a row, 1 to 8 dwords are added to each row, and the first number that leaves no conflict
by the same phases and banks (`isa.timing.machine.coalescing`) is the answer.

Where workgroups make unequal numbers of iterations, loops are those of the mean workgroup.

Limits: else the recorded workgroup stands for all; operations are counted for all lanes of a wave, however few are on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from hipgemm.judge.operations import matrix_bits, operations
from isa.registers import LANES
from isa.semantics.instruction import width

if TYPE_CHECKING:
    import numpy as np

    from isa.analysis.cfg import Cfg
    from isa.semantics.instruction import Instruction
    from isa.timing.model.ensemble import Timing
    from isa.timing.model.run import Prepared

LEVELS = ("L0", "L1", "L2", "L3", "memory")
_PADS = range(1, 9)
_LDS_BYTES = 128  # of a CU, in a cycle: 32 banks of a dword
SIMDS = 2  # of a CU
NEAR_PEAK = 0.7
"""Of its peak: a unit that does more holds the launch."""


@dataclass(frozen=True)
class Level:
    """bytes: of loads, see the module's docstring; bandwidth: bytes/s of the card there, None where not known."""

    name: str
    bytes: float
    speed: float
    bandwidth: float | None

    @property
    def share(self) -> float | None:
        return self.speed / self.bandwidth if self.bandwidth else None


@dataclass(frozen=True)
class LoopUse:
    """What one loop does in the whole launch. place: of its first instruction, "" for what is in no loop; depth: 1 for
    an outermost one; rounds: iterations of a wave; loaded, stored: bytes; operations: of floating point; lds: cycles of
    the LDS of one workgroup, of which `conflicts`."""

    place: str
    depth: int
    rounds: float
    instructions: float
    loaded: float
    stored: float
    operations: float
    lds: int
    conflicts: int


@dataclass(frozen=True)
class Conflict:
    """An LDS instruction that takes `cycles` on average where `free` would do. row: bytes between lanes that meet in a
    bank; pad: dwords that, added to each row, end it; None where none does."""

    place: str
    text: str
    accesses: int
    cycles: float
    free: int
    row: int
    pad: int | None


@dataclass(frozen=True)
class Limit:
    """What holds a launch. unit: the busiest, share: of what it can do. cause: None where that is near its peak, else
    the cause of most lost cycles, with `lost`, its share of all cycles. idle: units of the card that have no workgroup,
    of `units`."""

    unit: str
    share: float
    cause: str | None
    lost: float
    idle: int
    units: int


@dataclass(frozen=True)
class MemoryUse:
    """See the module's docstring. instructions: that a SIMD issues in a cycle, on average over the card. peak:
    operations/s of the units that do them: the matrix units where v_wmma does any. ridge: operations a byte above which
    they are what holds it. crowding, channel_crowding: of lines at L2, and by channels of memory, see
    `isa.timing.model.caches`: what no prediction has."""

    levels: tuple[Level, ...]
    stored: float
    operations: float
    loops: tuple[LoopUse, ...]
    conflicts: tuple[Conflict, ...]
    peak: float
    ridge: float
    crowding: float
    channel_crowding: float
    lds: Level
    instructions: float
    limit: Limit

    @property
    def intensity(self) -> float | None:
        """Operations for each byte that comes from or goes to memory; None where nothing does."""
        moved = self.levels[-1].bytes + self.stored
        return self.operations / moved if moved else None

    def to_dict(self) -> dict[str, Any]:
        import dataclasses

        levels = [{**dataclasses.asdict(level), "share": level.share} for level in (*self.levels, self.lds)]
        found = {**dataclasses.asdict(self), "levels": levels[:-1], "lds": levels[-1]}
        return {**found, "intensity": self.intensity}


def named(cfg: Cfg, places: Iterable[object | None]) -> list[str]:
    """What to call a kernel's instructions. places: theirs, None where nobody has one: then by their addresses."""
    return [str(place or _address(inst)) for inst, place in zip_longest(cfg.instructions, places)]


def memory_use(ready: Prepared, timing: Timing, names: Sequence[str] | None = None) -> MemoryUse:
    """What the launch of `timing` moves; both are of the same launch. names: of its instructions."""
    on, time = timing.card, timing.time_s
    peaks = (None, None, on.l2_bandwidth, on.l3_bandwidth or None, on.vram_bandwidth)
    scale = ready.numbers["line_bytes"] * timing.launch_over_unit
    found = [float(n) * scale for n in timing.typical.lines]
    levels = tuple(
        Level(name, n, n / time, peak) for name, n, peak in zip(LEVELS, found, peaks, strict=True)
        if n or name in ("L2", "memory")
    )  # fmt: skip
    names = names or named(ready.cfg, ())
    by_lds, visits = _lds(ready), _visits(ready)
    loops = tuple(_loops(ready, names, by_lds, visits))
    bits = {matrix_bits(inst) for inst in ready.cfg.instructions} - {0}
    peak = on.peak_flops(timing.clock_mhz, matrix=bool(bits), bits=min(bits, default=0))
    stored = sum(loop.stored for loop in loops)
    lds = _lds_level(ready, timing, *by_lds)
    cycles = time * timing.clock_mhz * 1e6
    issued = sum(loop.instructions for loop in loops) * ready.trace.waves * timing.workgroups
    return MemoryUse(
        levels,
        stored,
        sum(loop.operations for loop in loops),
        loops,
        tuple(_conflicts(ready, names, *by_lds)),
        peak,
        peak / on.vram_bandwidth,
        ready.crowding,
        ready.channel_crowding,
        lds,
        issued / (cycles * SIMDS * on.cus),
        _limit(timing, levels, lds, stored, _transcendental(ready, timing, visits)),
    )


def _visits(ready: Prepared) -> np.ndarray:
    """How often the waves of the mean workgroup enter each block."""
    import numpy as np

    recorded = ready.trace.recorded
    return np.bincount(recorded.blocks, _weights(ready, recorded.block_at), minlength=len(ready.cfg.blocks))


def _transcendental(ready: Prepared, timing: Timing, visits: np.ndarray) -> float:
    """Share of the cycles of all SIMDs in which their transcendental units compute."""
    asked = sum(
        float(times) * sum(ready.cfg.instructions[i].desc.is_trans for i in block.range)
        for block, times in zip(ready.cfg.blocks, visits, strict=True)
    )
    cycles = ready.numbers["trans_unit_cycles"] * ready.trace.wave.halves * asked * timing.workgroups
    return cycles / (SIMDS * timing.card.cus * timing.time_s * timing.clock_mhz * 1e6)


def _lds_level(ready: Prepared, timing: Timing, accesses: np.ndarray, cycles: np.ndarray) -> Level:
    """The LDS of all CUs: a dword from every bank in a cycle; in WGP mode what the waves of a WGP get of both."""
    lanes = ready.trace.wave.lanes
    asked = sum(
        float(count) * lanes * 4 * _dwords(inst) * (2 if inst.desc.access and inst.desc.access.pair else 1)
        for inst, count in zip(ready.cfg.instructions, accesses, strict=True)
        if count
    )
    mode = 1.0 if ready.resources.cu_mode else ready.numbers["lds_wgp_share"] / 2
    a_second = mode * timing.card.cus * timing.clock_mhz * 1e6
    busy = float(cycles.sum()) * timing.workgroups / (a_second * timing.time_s)
    return Level("LDS", asked * timing.workgroups, busy * a_second * _LDS_BYTES, a_second * _LDS_BYTES)


def _limit(timing: Timing, levels: Sequence[Level], lds: Level, stored: float, transcendental: float) -> Limit:
    """What holds the launch: see the module's docstring."""
    shares = {level.name: level.share or 0.0 for level in (*levels, lds)}
    memory = timing.card.vram_bandwidth * timing.time_s
    shares["memory"] = (levels[-1].bytes + stored) / memory
    shares["VALU"] = timing.causes["VALU busy"]
    shares["transcendental unit"] = transcendental
    unit = max(shares, key=lambda name: shares[name])
    lost = {name: share for name, share in timing.causes.items() if name != "VALU busy"}
    cause = max(lost, key=lambda name: lost[name])
    near = shares[unit] >= NEAR_PEAK
    idle = max(0, timing.units - timing.workgroups)
    return Limit(unit, shares[unit], None if near else cause, lost[cause], idle, timing.units)


def _loops(
    ready: Prepared, names: Sequence[str], lds: tuple[np.ndarray, np.ndarray], visits: np.ndarray
) -> Iterator[LoopUse]:
    """Every loop with what is in it but in no inner one; last what is in none."""
    import numpy as np

    from isa.timing.model import caches
    from isa.timing.native import engine_abi

    cfg, recorded, code = ready.cfg, ready.trace.recorded, ready.code
    waves, workgroups = ready.trace.waves, ready.trace.workgroups
    sectors = np.diff(recorded.sector_at) * _weights(ready, recorded.mem_at)
    touched = np.bincount(caches.positions(recorded, code), sectors, minlength=len(cfg)) * engine_abi.SECTOR
    accesses, cycles = lds
    inside: dict[int, int] = {b: k for k, loop in enumerate(cfg.loops) for b in sorted(loop.blocks)}  # innermost last
    lanes = ready.trace.wave.lanes
    done = np.array([operations(i) * (LANES if matrix_bits(i) else lanes) for i in cfg.instructions])
    free = np.array([_free(inst, lanes) for inst in cfg.instructions])
    stores = code.kind == engine_abi.STORE
    for k in (*range(len(cfg.loops)), None):
        blocks = [b for b in range(len(cfg.blocks)) if inside.get(b) == k]
        rows = [i for b in blocks for i in cfg.blocks[b].range]
        count = np.array([visits[b] for b in blocks for _ in cfg.blocks[b].range])
        loop = None if k is None else cfg.loops[k]
        if not count.any():
            continue
        yield LoopUse(
            "" if loop is None else names[cfg.blocks[loop.header].start],
            0 if loop is None else loop.depth,
            1.0 if loop is None else float(visits[loop.header]) / waves,
            float(count.sum()) / waves,
            float(touched[rows][~stores[rows]].sum()) * workgroups,
            float(touched[rows][stores[rows]].sum()) * workgroups,
            float((done[rows] * count).sum()) * workgroups,
            round(float(cycles[rows].sum())),
            round(float(np.maximum(cycles[rows] - free[rows] * accesses[rows], 0).sum())),
        )


def _weights(ready: Prepared, begins: np.ndarray) -> np.ndarray:
    """Of each entry that was recorded, how many of the mean workgroup's it stands for. begins: where each wave's do."""
    import numpy as np

    trace = ready.trace
    each = np.bincount(trace.following(np.arange(trace.workgroups)), minlength=(len(begins) - 1) // trace.waves)
    return np.repeat(np.repeat(each / trace.workgroups, trace.waves), np.diff(begins))


def _lds(ready: Prepared) -> tuple[np.ndarray, np.ndarray]:
    """(accesses, cycles) of each instruction in the mean workgroup."""
    import numpy as np

    from isa.timing.native import engine_abi

    recorded, code = ready.trace.recorded, ready.code
    kinds = (engine_abi.LDS_LOAD, engine_abi.LDS_STORE)
    first = code.block_first
    by_block = [
        np.array([i for i in range(first[b], first[b + 1]) if code.kind[i] in kinds], np.int64)
        for b in range(len(first) - 1)
    ]
    places = np.concatenate([np.zeros(0, np.int64), *(by_block[b] for b in recorded.blocks)])
    weights, size = _weights(ready, recorded.lds_at), len(code.kind)
    return np.bincount(places, weights, minlength=size), np.bincount(places, recorded.lds * weights, minlength=size)


def _dwords(inst: Instruction) -> int:
    return width(inst.desc.access.element) if inst.desc.access else 0


def _free(inst: Instruction, lanes: int) -> int:
    """Cycles of an LDS access of all lanes without conflicts; 0 where it is none."""
    from isa.timing.machine.coalescing import PHASES

    access = inst.desc.access
    if access is None or access.space != "lds":
        return 0
    return lanes // PHASES[_dwords(inst)][0] * (2 if access.pair else 1)


def _conflicts(ready: Prepared, names: Sequence[str], accesses: np.ndarray, cycles: np.ndarray) -> Iterator[Conflict]:
    for i, (addresses, mask) in sorted(ready.trace.costliest.items()):
        inst = ready.cfg.instructions[i]
        free = _free(inst, ready.trace.wave.lanes)
        if free and cycles[i] > 1.000001 * free * accesses[i]:
            row, pad = _mended(addresses, mask, _dwords(inst))
            yield Conflict(
                names[i], str(inst), round(float(accesses[i])), float(cycles[i] / accesses[i]), free, row, pad
            )


def lds_rows(ready: Prepared) -> list[tuple[int, int]]:
    """(bytes of a row, a power of two; bytes of pad, 0 where none was found) of LDS accesses that conflict, the one
    that costs most first."""
    found = sorted(
        _conflicts(ready, [""] * len(ready.cfg), *_lds(ready)), key=lambda c: -c.accesses * (c.cycles - c.free)
    )
    return list(dict.fromkeys((c.row & -c.row, 4 * (c.pad or 0)) for c in found if c.row))


def _mended(addresses: np.ndarray, mask: int, dwords: int) -> tuple[int, int | None]:
    """(bytes of a row, dwords of pad that end the conflict) of one access."""
    import numpy as np

    from isa.timing.machine.coalescing import PHASES, lds_cycles

    on = addresses[[lane for lane in range(LANES) if mask >> lane & 1]]
    apart = np.unique(np.abs(on[:, None] - on[None, :]))
    rows = [int(d) for d in apart if d and d % 128 == 0]
    least = LANES // PHASES[dwords][0]
    for row in rows[:1]:
        for pad in (p for p in _PADS if p % dwords == 0 or dwords == 3):
            moved = addresses + addresses // row * 4 * pad
            if lds_cycles(moved[None], np.array([mask]), dwords)[0] <= least:
                return row, pad
    return (rows[0] if rows else 0), None


def _address(inst: Instruction) -> str:
    return f"+{inst.address:#x}" if inst.address is not None else ""
