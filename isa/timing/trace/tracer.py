"""A kernel and its launch -> a `Trace`, by executing only what decides path and addresses (`isa.timing.trace.slicing`).

Each basic block's needed instructions become one Python function (`isa.timing.trace.emitter`), called for all waves of
the recorded workgroups at once (arrays (waves, 32) a VGPR, or two of them where waves have 64 lanes; (waves, 1) an
SGPR). Waves that branch differently part and go on by themselves. Barriers need no care: nothing that flows through LDS
is in the slice.

Some workgroups run side by side: (0, 0, 0), which is recorded, and the probes, its neighbours and the far corner, which
show how addresses move with the grid (`isa.timing.trace.places`).

Limits: launches of more than MOST workgroups are rejected with an error, and those whose paths take more than
`TracedLaunch.budget` instructions to follow, as most likely they have no end. So are kernels whose path or addresses
depend on loaded data (`slicing`); scalar loads are served from `TracedLaunch.memory` only (kernel arguments, dispatch
packet). A workgroup of the probes that takes another path than (0, 0, 0) makes the trace inexact, and it says so.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from isa.analysis.cfg import Block, Cfg
from isa.errors import IsaError
from isa.registers import EXEC_LO, VGPR_LIMIT
from isa.semantics.wave_start import work_item_ids
from isa.timing.machine.wave64 import Wave
from isa.timing.native.engine_abi import Recorded
from isa.timing.trace import places
from isa.timing.trace.emitter import ENTRY, ON, Emitter, Followed, mask_of
from isa.timing.trace.slicing import RUN, DependsOnData, One, slice_of
from isa.timing.trace.trace import PathRecorder, Recorder, Trace

BUDGET = 1 << 24
"""Instructions of paths, each of all waves that take it side by side: some 20 microseconds each."""
MOST = 1 << 24
"""Workgroups of a launch, of each of which some numbers are kept."""
_ALL = 0xFFFFFFFF
"""The mask of all lanes."""
_MOVING = "global", "flat"
"""Spaces in which addresses move with the grid."""
_SIDE_BY_SIDE = 4096
"""Workgroups of which one wave each is followed."""


class Effort:
    """What following a launch has taken so far."""

    instructions = 0


Start = tuple[list[Any], list[Any], dict[Any, Any], list[Any]]
"""Registers at the first instruction: VGPRs, SGPRs, what code keeps, conditions."""


@dataclass(frozen=True)
class TracedLaunch:
    """How a kernel is started: what the hardware and the runtime put into registers and kernel arguments.

    grid: workgroups in x, y, z; block: work-items of a workgroup.
    sgprs: (number, value) of the SGPRs that are set before the first instruction.
    workgroup_sgprs: (axis, SGPR) of the workgroup ids that the kernel asks for, or (axis, SGPR, lowest bit); of axis w
                     the wave's number in the workgroup.
    item_axes: how many of x, y, z are packed into v0.
    memory: (address, bytes) that scalar loads may read.
    lanes: of a wave, 32 or 64.
    lds: bytes that a workgroup has; None where that is not known.
    budget: instructions that its paths may take to follow, all together; effort: what they have taken.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    sgprs: tuple[tuple[int, int], ...] = ()
    workgroup_sgprs: tuple[tuple[str, int] | tuple[str, int, int], ...] = ()
    item_axes: int = 3
    memory: tuple[tuple[int, bytes], ...] = ()
    lanes: int = 32
    lds: int | None = None
    budget: int = BUDGET
    effort: Effort = field(default_factory=Effort, compare=False, repr=False)

    def __post_init__(self) -> None:
        if math.prod(self.grid) > MOST:
            raise IsaError(
                "a launch of so many workgroups is not followed", expected=f"at most {MOST}",
                got=str(math.prod(self.grid)), hint="time a smaller grid: from a full card on, time grows with it",
            )  # fmt: skip

    @property
    def work_items(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def waves(self) -> int:
        return -(-self.work_items // self.lanes)

    @property
    def wave(self) -> Wave:
        return Wave.of(self.lanes, self.work_items)


class _Code:
    """What is executed of a kernel. part: of it; whole: whether its waves begin with all lanes on; lanes: of a wave;
    paths: whether only where they go matters."""

    def __init__(self, cfg: Cfg, whole: bool, lanes: int, paths: bool = False) -> None:
        self.cfg, self.lanes, self.whole, self.part = cfg, lanes, whole, slice_of(cfg, lanes, paths)
        self._functions: dict[tuple[int, bool], Followed] = {}

    def function(self, block: int, lds: bool) -> Followed:
        """A block's; lds: whether LDS accesses count."""
        if (block, lds) not in self._functions:
            emitter = Emitter(self.part, lds, self.lanes, self.whole)
            self._functions[block, lds] = emitter.run(self.cfg.instructions, self.cfg.blocks[block])
        return self._functions[block, lds]


@functools.lru_cache(maxsize=4)
def _code(kernel: One, whole: bool, lanes: int, paths: bool) -> _Code:
    """Kept for who follows workgroups of one kernel several times."""
    return _Code(kernel.cfg, whole, lanes, paths)


def code_of(cfg: Cfg, launch: TracedLaunch, paths: bool = False) -> _Code:
    return _code(One(cfg), launch.work_items % launch.lanes == 0, launch.lanes, paths)


def follow(cfg: Cfg, launch: TracedLaunch, numbers: Sequence[int], last: int | None = None) -> Recorded:
    """Record workgroups by their numbers, each for itself; wave i of the r-th has row r * launch.waves + i. last: None,
    or accesses of a wave after which it is left; LDS is then left out."""
    run = Follower(cfg, launch, numbers, len(numbers), last)
    run.go()
    return run.recorder.finish()


def paths(cfg: Cfg, launch: TracedLaunch, numbers: Sequence[int]) -> list[bytes]:
    """Of each of these workgroups, something that is equal for those that take the same path."""
    run = Follower(cfg, launch, numbers, len(numbers), 1 << 62)
    run.recorder = PathRecorder(cfg, launch.waves * len(numbers))
    run.go()
    found = run.recorder.finish()
    rows = [found.blocks[a:b].tobytes() for a, b in pairwise(found.block_at)]
    return [b"|".join(rows[i : i + launch.waves]) for i in range(0, len(rows), launch.waves)]


def first_addresses(cfg: Cfg, launch: TracedLaunch, numbers: Sequence[int], last: int) -> dict[int, np.ndarray]:
    """Of the first `last` accesses of each of these workgroups' first wave, where its first lane begins: position of an
    instruction -> a byte address of each workgroup. Left out is what some workgroups come to by themselves, or without
    that lane."""
    parts = []
    for begin in range(0, len(numbers), _SIDE_BY_SIDE):
        some = numbers[begin : begin + _SIDE_BY_SIDE]
        run = Follower(cfg, launch, some, len(some), last, waves=1)
        run.recorder = first = _Firsts(cfg, len(some))
        run.go()
        parts.append(first.addresses)
    return {at: np.concatenate([part[at] for part in parts]) for at in parts[0] if all(at in part for part in parts)}


class _Firsts(Recorder):
    """Keeps addresses of the first lane in the first visit that all waves make."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.addresses: dict[int, np.ndarray] = {}

    def visit(
        self, block: int, positions: np.ndarray, waves: np.ndarray, addresses: np.ndarray, masks: np.ndarray
    ) -> None:
        self._order[waves] += len(positions)
        for position, lanes, on in zip(positions.tolist(), addresses, masks, strict=True):
            access = self.cfg.instructions[position].desc.access
            together = len(waves) == self.waves and access is not None and access.space in _MOVING
            if together and position not in self.addresses and (on & 1).all():
                self.addresses[position] = lanes[:, 0].copy()


def shifts(
    cfg: Cfg, launch: TracedLaunch, numbers: Sequence[int], all_: np.ndarray | None = None
) -> tuple[np.ndarray, bool, bool]:
    """How far each instruction's addresses move with a workgroup's place, by workgroup 0 and others. all_: as in
    `Follower.shifts`."""
    run = Follower(cfg, launch, list(dict.fromkeys((0, *numbers))))
    run.go()
    return run.shifts(all_)


def trace(cfg: Cfg, launch: TracedLaunch) -> Trace:
    """Record workgroup (0, 0, 0) of a launch. IsaError where the kernel cannot be followed without its data."""
    run = Follower(cfg, launch, places.probes(launch.grid))
    run.go()
    shift, straight, exact = run.shifts()
    return Trace(
        run.recorder.finish(), launch.waves, launch.grid, shift, exact, straight, costliest=run.recorder.costliest,
        wave=launch.wave, guards=tuple(sorted(run.code.part.guards)), on=run.recorder.on,
    )  # fmt: skip


class Follower:
    """Workgroups `probes`, by number, side by side, the first `recorded` of which are recorded. last: None, or after
    how many accesses of a wave, LDS left out, no more are needed. waves: of each workgroup the first ones."""

    def __init__(
        self, cfg: Cfg, launch: TracedLaunch, probes: Sequence[int], recorded: int = 1, last: int | None = None,
        waves: int | None = None,
    ) -> None:  # fmt: skip
        self.cfg, self.code, self.launch, self.probes, self.last = cfg, code_of(cfg, launch), launch, probes, last
        self.waves = waves or launch.waves
        self.own = self.waves * recorded
        self.recorder = Recorder(cfg, self.own, lanes=launch.lanes, room=launch.lds)
        self.buffers: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]] = {}
        self.moved: dict[int, np.ndarray] = {}
        # Scratch lies elsewhere for each wave and LDS for each workgroup: only the rest moves with the grid.
        spaces = [inst.desc.access.space if inst.desc.access else "" for inst in cfg.instructions]
        self.probed = np.array([space in _MOVING and len(probes) > recorded for space in spaces])
        self.agreed = True

    @np.errstate(all="ignore")
    def go(self) -> None:
        rows, v, s, f, c = self._all_waves()
        effort, lengths = self.launch.effort, [len(block.range) for block in self.cfg.blocks]
        work = [(rows, 0, v, s, f, c)]
        while work:
            rows, block, v, s, f, c = work.pop()
            while True:
                effort.instructions += lengths[block]
                if effort.instructions > self.launch.budget:
                    raise self._endless(rows, block)
                if self.last is not None:
                    going = self.recorder.count(rows) < self.last
                    if not going.any():
                        break
                    if not going.all():
                        v, s, f, c = part_of(v, s, f, c, going)
                        rows = rows[going]
                function = self.code.function(block, self.last is None)
                addresses, masks = self._places(block, len(rows), len(function.positions))
                condition = function.go(v, s, f, c, self._load, addresses, masks)
                own = rows < self.own
                on = [s[ON + half] for half in range(self.code.lanes // 32) if block in self.code.part.apart]
                self.recorder.enter(rows[own], block, [np.broadcast_to(a, (len(own), 1))[own, 0] for a in on])
                if len(function.positions):
                    self._record(block, function.positions, rows, addresses, masks)
                where = self.cfg.blocks[block]
                if not where.successors:
                    break
                if condition is None:
                    block = self._past(where)
                    continue
                if (out := self._leaves(rows, where)) is not None:
                    block = out
                    continue
                taken = np.broadcast_to(condition, (len(rows), 1))[:, 0]
                following, target = self._ways(where)
                if taken.all() or not taken.any():
                    block = target if taken[0] else following
                    continue
                away = ~taken
                work.append((rows[away], following, *part_of(v, s, f, c, away)))
                v, s, f, c = part_of(v, s, f, c, taken)
                rows, block = rows[taken], target

    def _endless(self, rows: np.ndarray, block: int) -> IsaError:
        x, y, z = places.in_grid(self.launch.grid, self.probes)[int(rows[0]) // self.waves]
        at = self.cfg.instructions[self.cfg.blocks[block].start]
        return IsaError(
            f"workgroup ({x}, {y}, {z}) has not ended after {self.launch.budget} instructions of its launch",
            expected="a launch that ends", got=f"{at} at {at.address or 0:#x}, where it is",
            hint="are grid, block and arguments what the kernel is made for? A smaller problem shows the same loops; "
            "--budget raises the limit",
        )  # fmt: skip

    def _leaves(self, rows: np.ndarray, where: Block) -> int | None:
        """The block to go on with, whatever the branch at the end of this one says; None where it decides."""
        return None

    def _past(self, where: Block) -> int:
        """Where it goes on without a condition: after a branch that asks how far other workgroups are out of the loop
        that waits for them, which may begin after it, else to the block after it."""
        for loop in reversed(self.cfg.loops):  # inner before outer
            if where.index in loop.blocks:
                waits = {self.cfg.blocks[k].range[-1] for k, _ in loop.exits} <= self.code.part.polling
                return dict(loop.exits if waits else ()).get(where.index, where.successors[0])
        return where.successors[0]

    def _ways(self, where: Block) -> tuple[int, int]:
        following = where.index + 1
        return following, next((k for k in where.successors if k != following), following)

    def _all_waves(self) -> tuple[np.ndarray, list[Any], list[Any], dict[Any, Any], list[Any]]:
        """The rows that are followed, and their registers."""
        return np.arange(self.waves * len(self.probes)), *self._start()

    def _start(self) -> Start:
        """Registers at the first instruction (RDNA3 ISA guide 3; LLVM AMDGPU "Initial Kernel Execution State")."""
        launch, n, halves = self.launch, self.waves, self.launch.lanes // 32
        waves = n * len(self.probes)
        zero = np.zeros((waves, 1), np.uint32)
        v: list[np.ndarray] = [np.zeros((waves, 32), np.uint32)] * (VGPR_LIMIT * halves)
        s: list[np.ndarray] = [zero] * (ON + 2)
        item = np.arange(n * launch.lanes, dtype=np.uint32)
        packed = work_item_ids(item, launch.block, launch.item_axes).reshape(n, halves, 32)
        on = (item < launch.work_items).reshape(n, halves, 32)
        for half in range(halves):
            v[VGPR_LIMIT * half] = np.tile(packed[:, half], (len(self.probes), 1)).astype(np.uint32)
            s[ENTRY + half] = s[EXEC_LO.index + half] = np.tile(mask_of(on[:, half]), (len(self.probes), 1))
        for number, value in launch.sgprs:
            s[number] = zero + np.uint32(value)
        for axis, number, *bit in launch.workgroup_sgprs:
            if axis == "w":
                column = np.tile(np.arange(n), len(self.probes))
            else:
                column = np.repeat(places.in_grid(launch.grid, self.probes)[:, "xyz".index(axis)], n)
            s[number] = s[number] | (column.astype(np.uint32) << np.uint32(sum(bit)))[:, None]
        return v, s, {}, [np.zeros((waves, 1), np.bool_)]

    def _load(self, address: np.ndarray, count: int, position: int) -> list[np.ndarray]:
        first = int(address.flat[0])
        if not (address == address.flat[0]).all():
            raise self._unknown(position, "a scalar load whose address differs by wave")
        for base, data in self.launch.memory:
            if base <= first and first + 4 * count <= base + len(data):
                words = np.frombuffer(data, np.uint32, count, first - base)
                return [np.full((1, 1), word, np.uint32) for word in words]
        raise self._unknown(position, f"a scalar load of {4 * count} bytes at {first:#x}")

    def _unknown(self, position: int, what: str) -> IsaError:
        error = self.cfg.instructions[position].error(f"an address or a branch depends on {what}, which is data")
        return DependsOnData(error.message, span=error.span, hint=RUN)

    def _places(self, block: int, rows: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Where a block puts the addresses and masks of its accesses."""
        if (block, rows) not in self.buffers:
            self.buffers[block, rows] = np.zeros((count, rows, 32), np.int64), np.full((count, rows), _ALL, np.int64)
        return self.buffers[block, rows]

    def _record(
        self, block: int, positions: np.ndarray, rows: np.ndarray, addresses: np.ndarray, masks: np.ndarray
    ) -> None:
        n, own = self.waves, int((rows < self.own).sum())
        if own:
            self.recorder.visit(block, positions, rows[:own], addresses[:, :own], masks[:, :own])
        probed = np.flatnonzero(self.probed[positions])
        if not len(probed):
            return
        if len(rows) != n * len(self.probes):
            self.agreed = False
            return
        shape = (len(probed), len(self.probes), n)
        moved, on = addresses[probed].reshape(*shape, 32), masks[probed].reshape(shape)
        moved = moved - moved[:, :1]
        self.agreed &= bool((on == on[:, :1]).all())
        if (on != _ALL).any():
            lanes = (on[:, 0, :, None] >> np.arange(32) & 1).astype(bool)  # [access, wave, lane]
            pairs = [(p, m[:, lane]) for p, m, lane in zip(probed, moved, lanes, strict=True) if lane.any()]
        else:
            pairs = list(zip(probed, moved.reshape(*shape[:2], -1), strict=True))
        for k, steps in pairs:  # [probe, lane that is on]
            known = self.moved.setdefault(int(positions[k]), steps[:, 0])
            self.agreed &= bool((steps == known[:, None]).all())

    def shifts(self, all_: np.ndarray | None = None) -> tuple[np.ndarray, bool, bool]:
        """`Trace.shift`, straight and exact. all_: places of all workgroups, if not those in the grid."""
        mine = places.in_grid(self.launch.grid, self.probes) if all_ is None else all_[np.array(self.probes)]
        shift, straight, whole = places.fitted(mine, self.moved, len(self.cfg))
        return shift, straight, self.agreed and straight and whole


def part_of(v: list[Any], s: list[Any], f: dict[Any, Any], c: list[Any], keep: np.ndarray) -> Start:
    """The registers of some of the waves; a row that stands for all of them stands for these."""

    def some(a: np.ndarray) -> np.ndarray:
        found: np.ndarray = a if len(a) == 1 else a[keep]
        return found

    return [some(a) for a in v], [some(a) for a in s], {k: some(a) for k, a in f.items()}, [some(a) for a in c]
