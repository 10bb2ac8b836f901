"""Memory use of a launch: a prediction -> bytes by loop and by level, LDS accesses that collide, and access that is not
coalesced. All of it is predicted.

Input: a launch prepared for the cycle model (`Prepared`) and its `Timing`. Out:

    levels      bytes that loads found in L0 and L1, and that came through L2 and L3 and from memory, in the typical run
                of the busiest unit, scaled to all workgroups; their speed in the predicted time, and the card's peak
    loops       for each loop without its inner ones: instructions that a wave executes in it, bytes that its global
                accesses touch (32-byte sectors), floating-point operations, LDS cycles and conflicts among them
    lds         the LDS of all CUs: bytes that its accesses ask for, and the share of its cycles that they take
    limit       what holds the launch (`hipgemm.judge.limits`)
    conflicts   LDS instructions that take longer than the widest access without conflicts, each with a pad that ends it
    scattered   global instructions that touch more lines of 128 bytes than they need

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

from hipgemm.judge.limits import (
    SIMDS,
    Counts,
    Limit,
    conflict_cycles,
    counts,
    dwords,
    free_cycles,
    limit,
    scattered_lines,
)
from hipgemm.judge.operations import FP32, kind_of, matrix_bits, operations, rate
from isa.registers import LANES

if TYPE_CHECKING:
    import numpy as np

    from isa.analysis.cfg import Cfg
    from isa.semantics.instruction import Instruction
    from isa.timing.model.ensemble import Timing
    from isa.timing.model.run import Prepared

LEVELS = ("L0", "L1", "L2", "L3", "memory")
_PADS = range(1, 9)
_LDS_BYTES = 128  # of a CU, in a cycle: 32 banks of a dword


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
class Scattered:
    """A global instruction whose lanes touch `lines` of 128 bytes an access, on average, where `wanted` would do."""

    place: str
    text: str
    accesses: int
    lines: float
    wanted: int


@dataclass(frozen=True)
class MemoryUse:
    """See the module's docstring. instructions: that a SIMD issues in a cycle, on average over the card. peak:
    operations/s of the units that do them: the matrix units where v_wmma does any. ridge: operations a byte above which
    they are what holds it. atomics: those that were issued; what they wait for one another, at one address, is in no
    time. crowding, channel_crowding: of lines at L2, and by channels of memory, see
    `isa.timing.model.caches`."""

    levels: tuple[Level, ...]
    stored: float
    operations: float
    loops: tuple[LoopUse, ...]
    conflicts: tuple[Conflict, ...]
    scattered: tuple[Scattered, ...]
    atomics: tuple[str, ...]
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
    n = counts(ready)
    loops = tuple(_loops(ready, names, n))
    stored = sum(loop.stored for loop in loops)
    peak = _peak(ready, timing, n)
    lds = _lds_level(ready, timing, n)
    cycles = time * timing.clock_mhz * 1e6
    issued = sum(loop.instructions for loop in loops) * ready.trace.waves * timing.workgroups
    return MemoryUse(
        levels,
        stored,
        sum(loop.operations for loop in loops),
        loops,
        tuple(_conflicts(ready, names, n)),
        tuple(_scattered(ready, names, n)),
        tuple(_atomics(ready, names, n)),
        peak,
        peak / on.vram_bandwidth,
        ready.crowding,
        ready.channel_crowding,
        lds,
        issued / (cycles * SIMDS * on.cus),
        limit(ready, timing, n, found),
    )


def _atomics(ready: Prepared, names: Sequence[str], n: Counts) -> Iterator[str]:
    for i, inst in enumerate(ready.cfg.instructions):
        if n.issues[i] and inst.desc.access is not None and inst.desc.access.kind == "atomic":
            yield f"{names[i]}: {inst}"


def _peak(ready: Prepared, timing: Timing, n: Counts) -> float:
    """Operations/s of all SIMDs at the peak of the arithmetic that the launch does: of each kind by the cycles that it
    would take there; of the matrix units alone where they multiply, of fp32 where nothing does."""
    done = cycles = 0.0
    units = any(matrix_bits(inst) and n.issues[i] for i, inst in enumerate(ready.cfg.instructions))
    for i, inst in enumerate(ready.cfg.instructions):
        if (count := float(n.issues[i]) * operations(inst)) and (matrix_bits(inst) or not units):
            done, cycles = done + count, cycles + count / rate(kind_of(inst), inst, ready.numbers)
    on = timing.card
    return (done / cycles if done else FP32) * LANES * SIMDS * on.cus * timing.clock_mhz * 1e6


def _lds_level(ready: Prepared, timing: Timing, n: Counts) -> Level:
    """The LDS of all CUs: a dword from every bank in a cycle; in WGP mode what the waves of a WGP get of both."""
    lanes = ready.trace.wave.lanes
    asked = sum(
        float(count) * lanes * 4 * dwords(inst) * (2 if inst.desc.access and inst.desc.access.pair else 1)
        for inst, count in zip(ready.cfg.instructions, n.lds, strict=True)
        if count
    )
    mode = 1.0 if ready.resources.cu_mode else ready.numbers["lds_wgp_share"] / 2
    a_second = mode * timing.card.cus * timing.clock_mhz * 1e6
    busy = float(n.lds_cycles.sum()) * timing.workgroups / (a_second * timing.time_s)
    return Level("LDS", asked * timing.workgroups, busy * a_second * _LDS_BYTES, a_second * _LDS_BYTES)


def _loops(ready: Prepared, names: Sequence[str], n: Counts) -> Iterator[LoopUse]:
    """Every loop with what is in it but in no inner one; last what is in none."""
    import numpy as np

    from isa.timing.native import engine_abi

    cfg, code = ready.cfg, ready.code
    waves, workgroups, lanes = ready.trace.waves, ready.trace.workgroups, ready.trace.wave.lanes
    touched, conflicts = n.sectors * engine_abi.SECTOR, conflict_cycles(ready, n)
    inside: dict[int, int] = {b: k for k, loop in enumerate(cfg.loops) for b in sorted(loop.blocks)}  # innermost last
    done = np.array([operations(i) * (LANES if matrix_bits(i) else lanes) for i in cfg.instructions])
    stores = code.kind == engine_abi.STORE
    for k in (*range(len(cfg.loops)), None):
        blocks = [b for b in range(len(cfg.blocks)) if inside.get(b) == k]
        rows = [i for b in blocks for i in cfg.blocks[b].range]
        count = n.issues[rows]
        loop = None if k is None else cfg.loops[k]
        if not count.any():
            continue
        yield LoopUse(
            "" if loop is None else names[cfg.blocks[loop.header].start],
            0 if loop is None else loop.depth,
            1.0 if loop is None else float(n.issues[cfg.blocks[loop.header].start]) / waves,
            float(count.sum()) / waves,
            float(touched[rows][~stores[rows]].sum()) * workgroups,
            float(touched[rows][stores[rows]].sum()) * workgroups,
            float((done[rows] * count).sum()) * workgroups,
            round(float(n.lds_cycles[rows].sum())),
            round(float(conflicts[rows].sum())),
        )


def _conflicts(ready: Prepared, names: Sequence[str], n: Counts) -> Iterator[Conflict]:
    for i, (addresses, mask) in sorted(ready.trace.costliest.items()):
        inst = ready.cfg.instructions[i]
        free = free_cycles(inst, ready.trace.wave.lanes)
        if free and n.lds_cycles[i] > 1.000001 * free * n.lds[i]:
            row, pad = _mended(addresses, mask, dwords(inst))
            each = float(n.lds_cycles[i] / n.lds[i])
            yield Conflict(names[i], str(inst), round(float(n.lds[i])), each, free, row, pad)


def _scattered(ready: Prepared, names: Sequence[str], n: Counts) -> Iterator[Scattered]:
    for i in scattered_lines(ready, n).nonzero()[0].tolist():
        each, wanted = float(n.lines[i] / n.accesses[i]), int(ready.code.dwords[i])
        yield Scattered(names[i], str(ready.cfg.instructions[i]), round(float(n.accesses[i])), each, wanted)


def lds_rows(ready: Prepared) -> list[tuple[int, int]]:
    """(bytes of a row, a power of two; bytes of pad, 0 where none was found) of LDS accesses that conflict, the one
    that costs most first."""
    found = sorted(
        _conflicts(ready, [""] * len(ready.cfg), counts(ready)), key=lambda c: -c.accesses * (c.cycles - c.free)
    )
    return list(dict.fromkeys((c.row & -c.row, 4 * (c.pad or 0)) for c in found if c.row))


def _mended(addresses: np.ndarray, mask: int, size: int) -> tuple[int, int | None]:
    """(bytes of a row, dwords of pad that end the conflict) of one access."""
    import numpy as np

    from isa.timing.machine.coalescing import PHASES, lds_cycles

    on = addresses[[lane for lane in range(LANES) if mask >> lane & 1]]
    apart = np.unique(np.abs(on[:, None] - on[None, :]))
    rows = [int(d) for d in apart if d and d % 128 == 0]
    least = LANES // PHASES[size][0]
    for row in rows[:1]:
        for pad in (p for p in _PADS if p % size == 0 or size == 3):
            moved = addresses + addresses // row * 4 * pad
            if lds_cycles(moved[None], np.array([mask]), size)[0] <= least:
                return row, pad
    return (rows[0] if rows else 0), None


def _address(inst: Instruction) -> str:
    return f"{inst.address:#x}" if inst.address is not None else ""
