"""Trace of waves: blocks in order, LDS cycles and memory sectors of each access, as the cycle model needs them.

Whatever executes a kernel records by calling

    recorder.enter(waves, index, on)               these waves enter a basic block, with these lanes
    recorder.visit(block, positions, waves, addresses, masks)  its memory accesses touch byte addresses

and the model needs nothing else: no values. `Recorder.finish` turns addresses into LDS cycles and sectors
(`isa.timing.machine.coalescing`) and gives a `Trace`. Kernel 8 at 4096 takes about 1.5 MB a workgroup.

Workgroups that were not recorded follow the recorded one, with their addresses shifted. `shift` says how far (in
sectors) each instruction's addresses move with the workgroup's place (`isa.timing.trace.places`); it is measured on
probe workgroups and `exact` says whether each probe agreed in every access.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from isa.analysis.cfg import Cfg
from isa.display import number_of
from isa.semantics.instruction import bit_width, width
from isa.timing.machine import coalescing
from isa.timing.machine.wave64 import WAVE32, Wave
from isa.timing.native.engine_abi import Recorded
from isa.timing.trace import places

_CHUNK = 1 << 16  # accesses kept as addresses before they are collapsed
_PLACES = 16  # bits of an access's place within its block


@dataclass(frozen=True)
class Iterations:
    """How unequal workgroups are. loop: where the loop begins whose iterations make most of the difference, "" where
    none does; least, most, mean: its iterations of a wave, or else instructions of a wave, by workgroup. share: what
    units have to do on average, of what the busiest one has; sample: how many workgroups' paths were followed, None:
    all that differ."""

    loop: str
    least: float
    most: float
    mean: float
    share: float
    sample: int | None = None

    def text(self, unit: str) -> str:
        """unit: CU or WGP."""
        of = f"iterations of the loop at {self.loop}" if self.loop else "instructions of a wave"
        followed = f"; {number_of(self.sample, 'workgroup was', 'workgroups were')} followed" if self.sample else ""
        return (
            f"{self.least:.4g} to {self.most:.4g} {of} by workgroup, {self.mean:.4g} on average; the busiest {unit} "
            f"has its own mix, {1 / self.share:.2f} of the mean work{followed}"
        )


@dataclass(frozen=True)
class Apart:
    """The workgroups of one unit, in order: their numbers, and which recording each follows. beginnings: of every
    workgroup of the chip, in order, memory accesses of its first part; None where all begin as those recorded do. base:
    the workgroup that each recording is of, whose addresses move. every: the recording that each workgroup of the
    launch follows, None where only the unit's are known. iterations: where they are what differs.
    """

    numbers: np.ndarray
    record: np.ndarray
    beginnings: Recorded | None
    base: np.ndarray
    every: np.ndarray | None = None
    iterations: Iterations | None = None


class Moves(NamedTuple):
    """How far addresses of some workgroups, by ascending numbers, lie from those of workgroup 0: distances[workgroup,
    columns] in sectors, column[wave, n] of each wave's instruction."""

    numbers: np.ndarray
    distances: np.ndarray
    column: np.ndarray

    def of(self, numbers: np.ndarray) -> np.ndarray:
        """int64[numbers, columns]."""
        at = np.searchsorted(self.numbers, numbers)
        assert (self.numbers[at] == numbers).all(), "workgroups whose addresses were not followed"
        return np.ascontiguousarray(self.distances[at])


@dataclass(frozen=True)
class Trace:
    """One recorded workgroup of a launch, and how the others differ from it.

    grid: workgroups in x, y and z; waves: of a workgroup.
    shift: int64[n instructions, AXES], sectors. places: int64[workgroups, AXES]; None: those in the grid.
    straight: whether the addresses of all probes move in straight lines; exact says so of every lane and path.
    spaces: where flat instructions went ("lds", "scratch", "global"), by their position.
    apart: where workgroups take different paths; moves: where their addresses do not move evenly with places.
    costliest: the LDS access of each instruction that takes most cycles: byte addresses int64[32], mask.
    guards: comparisons of data that were taken to hold in all lanes (`isa.timing.trace.guards`), by their positions.
    on: int64[blocks, words]: the lanes that are on in each recorded block, all where that is not known; None: all.
    """

    recorded: Recorded
    waves: int
    grid: places.Triple
    shift: np.ndarray
    exact: bool
    straight: bool = True
    places: np.ndarray | None = None
    spaces: Mapping[int, str] = field(default_factory=dict)
    apart: Apart | None = None
    moves: Moves | None = None
    costliest: Mapping[int, tuple[np.ndarray, int]] = field(default_factory=dict)
    wave: Wave = WAVE32
    guards: tuple[int, ...] = ()
    on: np.ndarray | None = None

    @property
    def workgroups(self) -> int:
        return math.prod(self.grid)

    def place(self, numbers: np.ndarray) -> np.ndarray:
        """int64[n, AXES]: of workgroups by their numbers."""
        return places.in_grid(self.grid, numbers) if self.places is None else self.places[numbers]

    def following(self, numbers: np.ndarray) -> np.ndarray:
        """The recording that each of these workgroups follows."""
        every = self.apart.every if self.apart else None
        return np.zeros(len(numbers), np.int64) if every is None else every[numbers]

    def distances(self, numbers: np.ndarray, record: np.ndarray) -> Moves:
        """Of these workgroups from those whose recordings they follow."""
        moved = self.moved(numbers)
        if self.apart is None:
            return moved
        return moved._replace(distances=moved.distances - self.moved(self.apart.base[record]).distances)

    def moved(self, numbers: np.ndarray) -> Moves:
        """Of these workgroups."""
        if self.moves:
            return Moves(numbers, self.moves.of(numbers), self.moves.column)
        along, column = np.unique(self.shift, axis=0, return_inverse=True)
        return Moves(numbers, self.place(numbers) @ along.T, np.tile(column.reshape(-1), (self.waves, 1)))


@dataclass
class Recorder:
    """Collects what the waves of one workgroup execute. spaces: where flat instructions go; known before they come.
    lanes: of a wave; room: bytes of LDS that a workgroup has, None where that is not known; on: as of `Trace`, when
    it is finished."""

    cfg: Cfg
    waves: int
    spaces: dict[int, str] = field(default_factory=dict)
    lanes: int = 32
    costliest: dict[int, tuple[np.ndarray, int]] = field(default_factory=dict)
    room: int | None = None
    on: np.ndarray | None = None
    _most: dict[int, int] = field(default_factory=dict)
    _entered: list[tuple[np.ndarray, int, Sequence[np.ndarray]]] = field(default_factory=list)
    _blocks: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    _pending: dict[int, list[tuple[np.ndarray, ...]]] = field(default_factory=dict)
    _visits: dict[tuple[int, int], list[tuple[int, np.ndarray, np.ndarray, np.ndarray]]] = field(default_factory=dict)
    _positions: dict[int, np.ndarray] = field(default_factory=dict)
    _count: int = 0
    _sequence: int = 0
    _order: np.ndarray = field(init=False)
    _lds: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = field(default_factory=list)
    _mem: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._order = np.zeros(self.waves, np.int64)

    def count(self, waves: np.ndarray) -> np.ndarray:
        """Accesses of these waves so far."""
        found: np.ndarray = self._order[waves]
        return found

    def enter(self, waves: np.ndarray, index: int, on: Sequence[np.ndarray] = ()) -> None:
        """Each of these waves enters basic block `index` of the kernel's `Cfg`; on: with these lanes, by words, all if
        none are named."""
        self._entered.append((waves, index, on))

    def blocks(self, wave: int, indices: np.ndarray) -> None:
        """Wave `wave` enters these blocks, in this order."""
        self._blocks.append((np.full(len(indices), wave), indices))

    def record(
        self, waves: np.ndarray, positions: np.ndarray, second: np.ndarray, upper: np.ndarray, addresses: np.ndarray,
        masks: np.ndarray,
    ) -> None:  # fmt: skip
        """Many accesses [n], each wave's in order: byte addresses [n, 32], active lanes as masks [n]. second: of an
        instruction that has begun: the other address of a two-address LDS form, or the upper half's; upper: these."""
        order = np.zeros(len(waves), np.int64)
        for wave in np.unique(waves):
            mine = waves == wave
            order[mine] = self._order[wave] + np.cumsum(~second[mine]) - 1
            self._order[wave] += int((~second[mine]).sum())
        for position in np.unique(positions):
            at = positions == position
            entry = waves[at], order[at], addresses[at], masks[at], upper[at]
            self._pending.setdefault(int(position), []).append(entry)
        self._collapse()

    def visit(
        self, block: int, positions: np.ndarray, waves: np.ndarray, addresses: np.ndarray, masks: np.ndarray
    ) -> None:
        """All memory accesses of a visit of some waves to a block, which are at positions [k] in the order of the code:
        byte addresses [k, waves, 32], active lanes as masks [k, waves]. A two-address LDS form has two places, and so
        has each half of a wave of 64 lanes."""
        self._positions[block] = positions
        self._visits.setdefault((block, len(waves)), []).append((self._sequence, waves, addresses.copy(), masks.copy()))
        self._sequence += 1
        self._order[waves] += len(positions)
        self._count += masks.size
        if self._count >= _CHUNK:
            self._collapse()

    def _collapse(self) -> None:
        for position, entries in self._pending.items():
            waves, order, addresses, masks, above = (
                np.concatenate([e[c] for e in entries]).astype(np.int64) for c in range(5)
            )
            self._add(position, waves, order, addresses, masks, upper=above)
        for (block, together), visits in self._visits.items():
            positions = self._positions[block]
            waves = np.concatenate([v[1] for v in visits])
            sequence = np.repeat([v[0] for v in visits], together)
            addresses, masks = (np.stack([v[c] for v in visits], axis=1) for c in (2, 3))
            # All accesses of one instruction have one place in the order.
            new = np.diff(positions, prepend=-1) != 0
            places = np.cumsum(new)
            for k, position in enumerate(positions):
                order, upper = sequence << _PLACES | places[k], int(not new[k])
                lanes, on = addresses[k].reshape(-1, 32), masks[k].reshape(-1)
                self._add(int(position), waves, order, lanes, on, together, upper)
        self._pending.clear()
        self._visits.clear()
        self._count = 0

    def _add(
        self, position: int, waves: np.ndarray, order: np.ndarray, addresses: np.ndarray, masks: np.ndarray,
        period: int = 0, upper: np.ndarray | int = 0,
    ) -> None:  # fmt: skip
        """Turns the accesses of one instruction into what they cost. period: rows between two visits of one wave;
        upper: 1 where they are of the upper half of a wave of 64 lanes."""
        access = self.cfg.instructions[position].desc.access
        assert access is not None
        size = max(1, width(access.element))
        space = self.spaces.get(position, access.space)
        if space == "lds":
            self._inside(position, addresses, masks, bit_width(access.element) // 8)
            cycles = coalescing.lds_cycles(addresses, masks, size, period)
            self._lds.append((waves, order, cycles))
            most = int(cycles.argmax())
            if cycles[most] > self._most.get(position, 0):
                self._most[position] = int(cycles[most])
                self.costliest[position] = addresses[most].copy(), int(masks[most])
        elif space == "scratch":
            found = coalescing.scratch_sectors(addresses, masks, size, self.lanes // 32, upper)
            self._mem.append((waves, order, *found))
        else:
            self._mem.append((waves, order, *coalescing.sectors(addresses, masks, 4 * size, period)))

    def _inside(self, position: int, addresses: np.ndarray, masks: np.ndarray, nbytes: int) -> None:
        """IsaError where a lane that is on reaches past the workgroup's LDS."""
        if self.room is None or not len(addresses) or ((addresses & 0xFFFFFFFF).max() + nbytes) <= self.room:
            return
        on = (masks[:, None] >> np.arange(addresses.shape[1])) & 1 == 1
        ends = (addresses & 0xFFFFFFFF)[on] + nbytes
        if len(ends) and (end := int(ends.max())) > self.room:
            raise self.cfg.instructions[position].error(
                f"it reaches byte {end - 1} of LDS", expected=f"below {self.room} ({self.room} bytes)",
                got=f"byte {end - 1}", hint="raise .amdhsa_group_segment_fixed_size, or --dynamic-lds",
            )  # fmt: skip

    def finish(self) -> Recorded:
        """The arrays for the engine."""
        self._collapse()
        lds_wave, lds_order, lds = _joined(self._lds, 3)
        mem_wave, mem_order, counts, flat = _joined(self._mem, 4)
        # The two addresses of one instruction, and the halves of a wave of 64 lanes, have one order number: their
        # cycles add up, their sectors follow each other.
        by_key, lds_wave, first = _instructions(lds_wave, lds_order)
        lds = np.add.reduceat(lds[by_key], first) if len(first) else lds
        by_mem, mem_wave, first = _instructions(mem_wave, mem_order)
        starts = np.concatenate([[0], np.cumsum(counts)])[:-1]
        take = np.repeat(starts[by_mem] - _starts(counts[by_mem])[:-1], counts[by_mem])
        counts = np.add.reduceat(counts[by_mem], first) if len(first) else counts
        block_at, blocks = self._paths()
        return Recorded(
            block_at=block_at,
            blocks=blocks,
            lds_at=_starts(np.bincount(lds_wave, minlength=self.waves)),
            lds=lds,
            mem_at=_starts(np.bincount(mem_wave, minlength=self.waves)),
            sector_at=_starts(counts),
            sectors=flat[take + np.arange(len(take))],
        )

    def _paths(self) -> tuple[np.ndarray, np.ndarray]:
        """Where each wave's blocks begin, and the blocks."""
        indices = [np.full(len(waves), index) for waves, index, _ in self._entered]
        entered = [*zip((waves for waves, *_ in self._entered), indices, strict=True), *self._blocks]
        waves, blocks = (
            np.concatenate([np.zeros(0, np.int64), *(e[c] for e in entered)]).astype(np.int64) for c in (0, 1)
        )
        order = np.argsort(waves, kind="stable")
        if any(on for *_, on in self._entered):
            all_ = [-1] * (self.lanes // 32)
            parts = [np.stack(np.broadcast_arrays(w, *(on or all_))[1:], 1) for w, _, on in self._entered]
            self.on = np.concatenate(parts).astype(np.int64)[order]
        return _starts(np.bincount(waves, minlength=self.waves)), blocks[order]


class PathRecorder(Recorder):
    """Keeps no accesses."""

    def visit(
        self, block: int, positions: np.ndarray, waves: np.ndarray, addresses: np.ndarray, masks: np.ndarray
    ) -> None:
        pass


def _instructions(waves: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Accesses by wave and order: how to sort them, the wave of each instruction, and where it begins among them."""
    key = waves << 48 | order
    by_key = np.argsort(key, kind="stable")
    first = np.flatnonzero(np.diff(key[by_key], prepend=-1))
    return by_key, waves[by_key][first], first


def _joined(parts: list[Any], columns: int) -> list[np.ndarray]:
    if not parts:
        return [np.zeros(0, np.int64)] * columns
    return [np.concatenate([part[c] for part in parts]) for c in range(columns)]


def _starts(lengths: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
