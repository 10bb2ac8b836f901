"""Recorded traces: a launch of the functional simulator -> a `Trace`, for kernels whose path or addresses depend on
what they load, which `isa.timing.trace.tracer` rejects. Code at -O0 is such: it keeps addresses in scratch.

The kernel is translated with two kinds of notes between its instructions: a block was entered, an access has these
addresses. Native code writes them into a log of rows of one length; whenever that is full Python takes it over, before
the next block. Workgroup (0, 0, 0) is recorded; its neighbours and the far corner show how addresses move with the
grid, as in the tracer: `Trace.exact` says whether every address of an instruction moved by one distance, in sum.

The workgroups really run, on the memory of a simulated card: what they store stays stored.

A flat instruction goes where its addresses point (`Trace.spaces`), which must be one space for each instruction; the
cycle model then takes it for a load or store of that space, with that space's counter.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from isa.analysis.cfg import Cfg
from isa.errors import IsaError
from isa.registers import LANES
from isa.semantics.engine import Request
from isa.semantics.instruction import Instruction
from isa.sim.ir.ir import Region
from isa.sim.ir.jit import HostTarget
from isa.sim.ir.llvm_values import LlvmValue
from isa.sim.ir.state import PRIVATE_APERTURE, SHARED_APERTURE, Context
from isa.sim.ir.translations import Facts
from isa.sim.run.compiled import CompiledKernel, is_site
from isa.sim.run.launch import SimulatedLaunch
from isa.sim.run.memory import DeviceMemory
from isa.sim.run.selfcheck import settled
from isa.sim.run.tiers import Tiers, Version
from isa.sim.translate.cfg import Block
from isa.sim.translate.translate import Translator
from isa.timing import native
from isa.timing.machine.wave64 import Wave
from isa.timing.native.engine_abi import Log
from isa.timing.trace import iterations, places
from isa.timing.trace.iterations import Paths
from isa.timing.trace.trace import Recorder, Trace

Triple = tuple[int, int, int]
_ROWS = 1 << 17  # of the log, before Python takes it over
_BLOCK, _SECOND, _FIRST, _WAVE = 47, 40, 32, 48  # where a row's head keeps what; the site or block in its low bits
ROWS = 30_000_000
"""Of the log, that it may cost to see how many iterations workgroups make: of `_MOST` workgroups at most; `_FEW`
show how long they are."""
_MOST, _FEW = 1024, 16
_DRAIN = ctypes.CFUNCTYPE(ctypes.c_uint64)


class RecordingTranslator(Translator):
    """Writes the plain version of a kernel, with notes (`native/recording.c`)."""

    def __init__(self, blocks: Sequence[Block], facts: Facts) -> None:
        super().__init__(blocks, facts, fast=False, entries=None)
        self._second = False

    def _load_bases(self, region: Region) -> None:
        super()._load_bases(region)
        f = self.f
        log = f.emit(region, "load i64, ptr %s", self._field(region, "C", "shadow"))
        region.line(f"%log = add i64 {log}, 0")
        index = f.emit(region, "load i32, ptr %s", self._field(region, "W", "index"))
        region.line(f"%wave = shl i64 {f.emit(region, 'zext i32 %s to i64', index)}, {_WAVE}")

    def _tell(self, region: Region, function: str, head: str, *arguments: str) -> None:
        """head: what the row's holds beside the wave."""
        word = self.f.emit(region, "or i64 %s, %s", "%wave", head)
        listed = ", ".join(f"i64 {a}" for a in ("%log", word, *arguments))
        region.line(f"call void inttoptr (i64 {native.address(function)} to ptr)({listed})")

    def _begin(self, block: Block, label: str) -> None:
        super()._begin(block, label)
        self._tell(self.writer.scalar, "record_block", str(1 << _BLOCK | block.number))

    def _write(self, inst: Instruction) -> None:
        """Each access has a loop over strips of its own, so that its rows follow each other."""
        noted = inst.desc.access is not None and inst.desc.access.space != "scalar"
        if noted:
            self._close()
        super()._write(inst)
        if noted:
            self._close()

    def _observed(self, inst: Instruction) -> bool:
        """Each is written in place, with its note."""
        return inst.desc.access is not None

    def _open_strips(self):  # type: ignore[no-untyped-def]
        self._second = False
        return super()._open_strips()

    def _note(self, at: Request[LlvmValue]) -> None:
        access, mask = at.access, at.mask
        if access.space == "scalar" or at.rest:
            return
        assert self.strips is not None
        f, region, lanes = self.f, self.writer.vector, self.strips.lanes
        address = at.address.vector(lanes)
        first = f.emit(region, "zext i32 %s to i64", self._note_access(access).first_number())
        bits = str((1 << lanes) - 1)
        if mask is not None:
            narrow = f.emit(region, f"bitcast <{lanes} x i1> %s to i{lanes}", mask.vector(lanes).ref)
            bits = f.emit(region, f"zext i{lanes} %s to i64", narrow)
        wide = address.to("u64") if address.type != "u64" else address
        slot = f.alloca(wide.llvm, 64)
        region.line(f"store {wide!r}, ptr {slot}")
        pointer = f.emit(region, "ptrtoint ptr %s to i64", slot)
        what = int(self._second) << _SECOND | self._sites[self.inst.address]
        placed = f.emit(region, "or i64 %s, %s", f.emit(region, "shl i64 %s, %s", first, _FIRST), what)
        self._tell(region, "record_access", placed, bits, pointer)
        self._second = not self._second

    def load(self, at: Request[LlvmValue]) -> tuple[LlvmValue, ...]:
        self._note(at)
        return super().load(at)

    def store(self, at: Request[LlvmValue], values: tuple[LlvmValue, ...]) -> None:
        self._note(at)
        super().store(at, values)

    def atomic(self, at: Request[LlvmValue], body: Callable[..., LlvmValue], data: tuple[LlvmValue, ...]) -> LlvmValue:
        self._note(at)
        return super().atomic(at, body, data)


_made: weakref.WeakKeyDictionary[CompiledKernel, dict[HostTarget, Tiers]] = weakref.WeakKeyDictionary()


def _compiled(kernel: CompiledKernel, target: HostTarget) -> Tiers:
    """The kernel with notes, compiled once. It calls this process's functions, so that it cannot be kept on disk."""
    known = _made.setdefault(kernel, {})
    if target not in known:
        once = settled(replace(target, baseline=True))
        facts = kernel.translation_facts(once, patterns=False)
        made = RecordingTranslator(kernel.blocks, facts).compiled(once, kernel.sites)
        known[target] = Tiers.holding(Version.of(made, False, once), once)
    return known[target]


class _One(SimulatedLaunch):
    """A launch of one workgroup. take: what is done with the rows of the log, an array [n, 2 + lanes of a strip]."""

    def __init__(self, of: Running, number: int, take: Callable[[np.ndarray], None]) -> None:
        self._recording = _compiled(of.kernel, of.target)
        super().__init__(
            of.kernel,
            of.memory,
            of.target,
            of.grid,
            of.block,
            of.kernarg,
            of.dynamic_lds,
            fast=False,
            budget=None,
            last=of.last,
        )
        self._counter = ctypes.c_uint64(number)
        self.total = number + 1
        self.take = take
        self._columns = 2 + of.target.strip

    def _tiers(self) -> Tiers:
        return self._recording

    def _prepare(self, c: Context, beside: Context | None) -> object:
        strips = LANES // (self._columns - 2)
        longest = max(sum(is_site(i) for i in b.instructions) for b in self.kernel.blocks)
        rows = np.zeros((_ROWS + 2 * self.kernel.halves * strips * longest + 1, self._columns), np.uint64)
        begin, row = rows.ctypes.data, 8 * self._columns
        drain = _DRAIN(self._drain)
        log = Log(begin, begin + _ROWS * row, row, self._columns - 2, ctypes.cast(drain, ctypes.c_void_p).value or 0)
        c.shadow = ctypes.addressof(log)
        self._log, self._rows = log, rows
        return log, rows, drain

    def _drain(self) -> int:
        try:
            count = (self._log.at - self._rows.ctypes.data) // (8 * self._columns)
            self.take(self._rows[:count])
        except BaseException as error:  # nothing may pass through native code
            self._errors.append(error)
            self._abort.value = 1
        self._log.at = self._rows.ctypes.data
        return 0

    def follow(self) -> None:
        """Run it, and take what is left in the log."""
        self.run(1)
        self._drain()
        if self._errors:
            raise self._errors[0]


class _Taker:
    """Rows of the log -> accesses and blocks of a `Cfg`. first: the recorder's row of the first wave."""

    def __init__(self, cfg: Cfg, kernel: CompiledKernel, recorder: Recorder | None, first: int = 0) -> None:
        self.cfg, self.recorder, self.first = cfg, recorder, first
        at = {inst.address: i for i, inst in enumerate(cfg.instructions)}
        sites = [i for b in kernel.blocks for i in b.instructions if is_site(i)]
        self.position = np.array([at.get(inst.address, -1) for inst in sites] or [-1], np.int64)
        starts = np.array([cfg.instructions[b.start].address for b in cfg.blocks])
        # A block of the simulator may be several of the Cfg, or end where the Cfg's goes on: then it is none.
        parts = [np.flatnonzero((starts >= b.address) & (starts <= (b.last.address or 0))) for b in kernel.blocks]
        self.block_at = np.concatenate([[0], np.cumsum([len(p) for p in parts])])
        self.block_parts = np.concatenate(parts)
        self.spaces: dict[int, str] = {}
        self.sums: dict[int, tuple[int, int]] = {}  # position -> (lanes, sum of their addresses), global memory

    def take(self, rows: np.ndarray) -> None:
        head = rows[:, 0]
        is_block = (head >> np.uint64(_BLOCK) & np.uint64(1)).astype(bool)
        if self.recorder is not None:
            self._blocks(head[is_block])
        self._accesses(rows[~is_block])

    def _blocks(self, head: np.ndarray) -> None:
        assert self.recorder is not None
        waves = (head >> np.uint64(_WAVE)).astype(np.int64)
        numbers = (head & np.uint64(0xFFFFFFFF)).astype(np.int64)
        for wave in np.unique(waves):
            entered = numbers[waves == wave]
            counts = np.diff(self.block_at)[entered]
            begin = np.repeat(self.block_at[entered] - np.cumsum(counts) + counts, counts)
            self.recorder.blocks(self.first + int(wave), self.block_parts[begin + np.arange(len(begin))])

    def _accesses(self, rows: np.ndarray) -> None:
        if not len(rows):
            return
        head, strip = rows[:, 0], rows.shape[1] - 2
        first = (head >> np.uint64(_FIRST) & np.uint64(63)).astype(np.int64)
        second = (head >> np.uint64(_SECOND) & np.uint64(1)).astype(np.int64)
        which = np.cumsum((first == 0) & (second == 0))
        order = np.lexsort((first, second, which))
        rows = rows[order].reshape(-1, LANES // strip, strip + 2)
        head = rows[:, 0, 0]
        shifts = np.arange(0, LANES, strip, dtype=np.uint64)
        masks = (rows[:, :, 1] << shifts).sum(axis=1).astype(np.int64)
        addresses = np.ascontiguousarray(rows[:, :, 2:]).reshape(-1, LANES).astype(np.int64)
        waves = (head >> np.uint64(_WAVE)).astype(np.int64)
        positions = self.position[(head & np.uint64(0xFFFFFFFF)).astype(np.int64)]
        if (positions < 0).any():
            raise IsaError("the time of a kernel that calls functions cannot be predicted")
        addresses = self._place(positions, addresses, masks)
        if self.recorder is not None:
            again = second[order][:: LANES // strip] == 1
            upper = first[order][:: LANES // strip] >= LANES
            self.recorder.spaces.update(self.spaces)
            self.recorder.record(self.first + waves, positions, again | upper, upper, addresses, masks)

    def _place(self, positions: np.ndarray, addresses: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Addresses within their spaces; notes which space flat accesses go to, and sums of global addresses."""
        on = (masks[:, None] >> np.arange(LANES)) & 1 == 1
        high = addresses >> 32
        for position in np.unique(positions):
            inst = self.cfg.instructions[position]
            assert inst.desc.access is not None
            space, here = inst.desc.access.space, positions == position
            if space == "flat":
                used = np.unique(high[here][on[here]])
                names = {{SHARED_APERTURE: "lds", PRIVATE_APERTURE: "scratch"}.get(int(h), "global") for h in used}
                names |= {self.spaces[position]} if position in self.spaces else set()
                if len(names) > 1:
                    raise inst.error("a flat access goes to " + " and ".join(sorted(names)) + ": it cannot be timed")
                if not names:
                    continue
                space = self.spaces[int(position)] = names.pop()
                if space != "global":
                    addresses[here] &= 0xFFFFFFFF
            if space == "global":
                lanes, total = self.sums.get(int(position), (0, 0))
                self.sums[int(position)] = lanes + int(on[here].sum()), total + int(addresses[here][on[here]].sum())
        return addresses


class _Visitors(_Taker):
    """Of the log only how often each wave enters each block: visits[waves, blocks]."""

    def __init__(self, cfg: Cfg, kernel: CompiledKernel, waves: int) -> None:
        super().__init__(cfg, kernel, None)
        self.visits = np.zeros((waves, len(cfg.blocks)), np.int64)
        self.rows = 0

    def take(self, rows: np.ndarray) -> None:
        self.rows += len(rows)
        head = rows[:, 0]
        head = head[(head >> np.uint64(_BLOCK) & np.uint64(1)).astype(bool)]
        known = len(self.block_at) - 1
        entered = (head >> np.uint64(_WAVE)).astype(np.int64) * known + (head & np.uint64(0xFFFFFFFF)).astype(np.int64)
        counts = np.bincount(entered, minlength=len(self.visits) * known).reshape(-1, known)
        for part, column in zip(self.block_parts, np.repeat(np.arange(known), np.diff(self.block_at)), strict=True):
            self.visits[:, part] += counts[:, column]


@dataclass(frozen=True)
class Running:
    """A launch whose workgroups can be run one by one. cfg: the kernel's, by address, as `isa.timing.model.predict` has
    it; fill: what gives its arrays their contents again."""

    cfg: Cfg
    kernel: CompiledKernel
    memory: DeviceMemory
    target: HostTarget
    grid: Triple
    block: Triple
    kernarg: bytes
    dynamic_lds: int = 0
    fill: Callable[[], None] = lambda: None
    last: Triple | None = None

    @property
    def waves(self) -> int:
        return -(-self.block[0] * self.block[1] * self.block[2] // (LANES * self.kernel.halves))

    def paths(self) -> Paths:
        """As far as `ROWS` of the log go, of workgroups spread over the launch; all in their order."""
        count = self.grid[0] * self.grid[1] * self.grid[2]
        self.fill()
        few = iterations.spread(count, _FEW)
        seen = {int(n): self._visits(int(n)) for n in few}
        most = max(1, max(rows for _, rows in seen.values()))
        chosen = iterations.spread(count, max(len(few), min(_MOST, ROWS // most)))
        self.fill()
        visits = np.stack([self._visits(int(n))[0] for n in chosen])
        return Paths.of(chosen, visits, np.arange(count), len(chosen) == count)

    def _visits(self, number: int) -> tuple[np.ndarray, int]:
        taker = _Visitors(self.cfg, self.kernel, self.waves)
        self._follow(number, taker)
        return taker.visits, taker.rows

    def record(self, numbers: Sequence[int] | np.ndarray) -> Recorder:
        """Of these workgroups, one after another."""
        recorder = Recorder(self.cfg, self.waves * len(numbers), lanes=LANES * self.kernel.halves)
        self.fill()
        for k, number in enumerate(numbers):
            self._follow(int(number), _Taker(self.cfg, self.kernel, recorder, k * self.waves))
        return recorder

    def _follow(self, number: int, taker: _Taker) -> None:
        _One(self, number, taker.take).follow()

    def traced(self) -> Trace:
        """Run up to five workgroups and record the first. What `isa.sim.run.card.Card.launch` raises, and IsaError
        where a flat access goes to more than one space."""
        wave = Wave.of(LANES * self.kernel.halves, self.block[0] * self.block[1] * self.block[2])
        cfg, probes = self.cfg, places.probes(self.grid)
        takers: list[_Taker] = []
        for number in probes:
            taker = _Taker(cfg, self.kernel, Recorder(cfg, self.waves, lanes=wave.lanes) if not takers else None)
            self._follow(number, taker)
            takers.append(taker)
        own = takers[0]
        assert own.recorder is not None
        moved, alike = {}, True
        for position, (lanes, total) in own.sums.items():
            steps = []
            for taker in takers:
                count, there = taker.sums.get(position, (0, 0))
                alike &= count == lanes and (there - total) % max(lanes, 1) == 0
                steps.append((there - total) // max(lanes, 1) if count == lanes else 0)
            moved[position] = np.array(steps)
        shift, straight, whole = places.fitted(places.in_grid(self.grid, probes), moved, len(cfg))
        return Trace(
            own.recorder.finish(), self.waves, self.grid, shift, alike and straight and whole, straight,
            spaces=dict(own.recorder.spaces), costliest=own.recorder.costliest, wave=wave,
        )  # fmt: skip
