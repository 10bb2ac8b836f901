"""A launch under the sanitizer: code compiled with hooks, shadows of all allocations, threads as in any launch.

What hooks report comes back as `Sighting`s, one for each event at one place, its lanes drawn together.
"""

from __future__ import annotations

import ctypes
import functools
import math
import mmap
import random
import threading
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from isa.analysis import regset
from isa.registers import EXEC, LANES, M0, Reg, s
from isa.sanitize import hooks
from isa.sanitize.guesses import awaited, guesses, halved
from isa.sanitize.segments import first, segments_of
from isa.sanitize.state import (
    ALL_LANES,
    APART,
    CAUSES,
    DOUBTS,
    GLOBAL_RACES,
    HALVES_SHIFT,
    KEPT_WORDS,
    LDS_RACES,
    NO_WAVE,
    RING,
    SERIALS,
    SHORTCUTS,
    SILENT,
    SINK_SHIFT,
    UNIT_MASK,
    UNWRITTEN,
    USES,
    WORDS,
    WRITES,
    Cause,
    Doubt,
    Event,
    Gap,
    Node,
    Row,
    Shadow,
    Shortcut,
    Thread,
)  # fmt: skip
from isa.sanitize.windows import WIDEST, WIDEST_GLOBAL
from isa.semantics import halves
from isa.semantics.branches import branch_address
from isa.semantics.instruction import Instruction
from isa.sim.ir.jit import HostTarget
from isa.sim.ir.state import Context, Wave
from isa.sim.ir.translations import Translated
from isa.sim.run import arguments
from isa.sim.run.compiled import CompiledKernel, is_site
from isa.sim.run.faults import LaunchError
from isa.sim.run.launch import SimulatedLaunch
from isa.sim.run.memory import DeviceMemory
from isa.sim.run.tiers import Recipe, Tiers
from isa.sim.translate.cfg import called, loop_of, loops

_REPORT = ctypes.CFUNCTYPE(ctypes.c_uint64, *[ctypes.c_uint64] * 8)
_MOST_SITES = 0xFFFF
_OF_REGISTERS = USES | {Event.READ_IN_FLIGHT, Event.WRITE_IN_FLIGHT}
_OF_INSTRUCTIONS = frozenset({Event.LANE_BEYOND, Event.LANES_BEYOND, Event.FACTORS_TWICE})
_ALWAYS_GIVEN = (EXEC, M0, Reg("s", 108, 17), Reg("v", 0))  # those of traps and NULL among them


@dataclass
class Sighting:
    """One event. instruction: where it was seen; other: the earlier access or the load, where there is one; register:
    its number in `regset`, -1 for none; workgroup, wave, lanes, address: of the first time; others: what `other` was
    done by, as (workgroup, wave) with -1 for several, or None; of a use of unwritten bytes `address` has them as
    `Shadow.origin` does; lacks: what keeps it from being in order, as far as that is known (`missing` in
    hooks/workgroup_order.c), flag: what set the flag by which it is known of; sink: of a use, what goes by it."""

    event: Event
    instruction: Instruction
    other: Instruction | None
    register: int
    workgroup: tuple[int, int, int]
    wave: int
    lanes: int
    address: int
    others: tuple[int, int] | None
    lacks: int = 0
    flag: Instruction | None = None
    sink: Instruction | None = None


@dataclass(frozen=True)
class Schedule:
    """An order of waves and workgroups. number 0: as they come, each wave runs until it waits. Others follow from the
    seed."""

    number: int
    seed: int


@dataclass(eq=False)
class SanitizedCode:
    """A kernel compiled with hooks, for one target. late: results of loads appear no earlier than their waits."""

    kernel: CompiledKernel
    target: HostTarget
    late: bool = False
    shift: int = 2

    def __post_init__(self) -> None:
        self.tiers = Tiers(self.target, self._recipe)
        self.instructions = [i for b in self.kernel.blocks for i in b.instructions]
        self._numbers = {i.address or 0: number for number, i in enumerate(self.instructions)}
        if self.kernel.sites > _MOST_SITES:
            raise LaunchError(f"kernel {self.kernel.name} has too many memory accesses to observe")
        accesses = (half.desc.access for i in self.instructions for half in i.halves)
        if any(a is not None and a.element[1:] in ("8", "16") for a in accesses):
            self.shift = 0

    @functools.cached_property
    def orders(self) -> bool:
        """Whether it can see what another workgroup publishes."""
        return any(i.sees_flags for i in self.instructions)

    @functools.cached_property
    def waits(self) -> bool:
        """Whether it may wait for another workgroup: it looks at a flag in a loop."""
        loops = [
            (target, i.address) for i in self.instructions
            if i.address and i.desc.effect == "branch" and (target := branch_address(i)) <= i.address
        ]  # fmt: skip
        return any(i.sees_flags and a <= (i.address or 0) <= b for a, b in loops for i in self.instructions)

    @functools.cached_property
    def between(self) -> ctypes.Array[Any] | None:
        """For each access, whether it stands between the halves of a barrier; None where none does."""
        there = halved(self.instructions)
        found = bytes(i.address in there for i in self.instructions if is_site(i))
        return ctypes.create_string_buffer(found) if any(found) and 2 * self.sites <= _MOST_SITES else None

    @property
    def sites(self) -> int:
        """How many numbers places have: accesses, or instructions where a segment begins or a barrier is."""
        return len(self.instructions) + 1

    def _recipe(self, target: HostTarget, fast: bool, more: frozenset[int]) -> Recipe:
        facts = self.kernel.translation_facts(target, patterns=not self.late)

        def translate() -> Translated:
            from isa.sanitize.translate import SanitizedTranslator  # not needed where a translation is kept

            blocks = self.kernel.blocks_with(more)
            return SanitizedTranslator(
                blocks, facts, self._numbers, segments_of(blocks, self._numbers, single=self.late), fast=fast,
                dwords=self.shift == 2,
                entries=frozenset(b.address for b in self.kernel.blocks), guesses=guesses(self.instructions),
                awaited=awaited(self.instructions),
                late=self.late,
            ).compiled(target, self.kernel.sites)  # fmt: skip

        name = self.kernel.key(target, "observed", fast, self.late, self.shift, sorted(more), facts)
        return Recipe(name, translate, hooks.addresses()["hook_run"])  # which defines what the code calls


_compiled: weakref.WeakKeyDictionary[CompiledKernel, dict[tuple[HostTarget, bool], SanitizedCode]] = (
    weakref.WeakKeyDictionary()
)


def sanitized_code(kernel: CompiledKernel, target: HostTarget, late: bool = False) -> SanitizedCode:
    """The kernel with hooks, compiled once."""
    known = _compiled.setdefault(kernel, {})
    if (target, late) not in known:
        known[target, late] = SanitizedCode(kernel, target, late)
    return known[target, late]


class MemoryShadow:
    """What is known of all allocations of one launch. `unwritten`: (address, bytes) never written; `elements`:
    address -> bytes of an element, where they are known."""

    def __init__(
        self, memory: DeviceMemory, shift: int, unwritten: Sequence[tuple[int, int]], elements: Mapping[int, int]
    ) -> None:
        allocations = memory.allocations
        self.rows = (Row * max(1, len(allocations)))()
        self.count = len(allocations)
        self._maps: list[mmap.mmap] = []
        for row, a in zip(self.rows, allocations, strict=False):
            granules = (a.size >> shift) + 1
            row.base, row.size, row.typed = a.base, a.size, int(a.base in elements)
            row.between = min(elements.get(a.base, 4), 4) - 1
            writer = self.room(4 * granules)
            row.writer, row.reader = writer, self.room(4 * granules)
            row.writer_site, row.reader_site = self.room(2 * granules), self.room(2 * granules)
            for address, size in unwritten:
                start, end = max(address, a.base), min(address + size, a.end)
                if start < end:
                    first, last = (start - a.base) >> shift, (end - a.base) >> shift
                    ctypes.memset(writer + 4 * first, UNWRITTEN & 0xFF, 4 * (last - first))
        self.owners = self.room(4 * SERIALS)
        self.nodes = self.room(ctypes.sizeof(Node) * SERIALS)
        self.serials, self.atomics = ctypes.c_uint64(1), ctypes.c_uint64(0)

    def room(self, size: int) -> int:
        """The address of so many zeros, which take host memory only where they are touched. A window may reach beyond
        the last."""
        room = mmap.mmap(-1, size + 4 * WIDEST_GLOBAL, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)
        self._maps.append(room)
        return ctypes.addressof(ctypes.c_char.from_buffer(room))


class SanitizedLaunch(SimulatedLaunch):
    """One launch under the sanitizer. After `run`, also after one that raised, `sightings` holds what hooks reported.
    late: results of loads appear no earlier than their waits."""

    def __init__(
        self,
        kernel: CompiledKernel,
        memory: DeviceMemory,
        target: HostTarget,
        grid: arguments.Triple,
        block: arguments.Triple,
        kernarg: bytes,
        dynamic_lds: int,
        budget: int | None,
        schedule: Schedule,
        unwritten: Sequence[tuple[int, int]] = (),
        elements: Mapping[int, int] | None = None,
        late: bool = False,
        cooperative: bool = False,
        last: arguments.Triple | None = None,
    ) -> None:
        self.sanitized = sanitized_code(kernel, target, late)
        self.schedule = schedule
        if kernel.halves == 2:
            raise LaunchError(
                f"kernel {kernel.name} was built for waves of 64 lanes, which are not checked",
                hint="compile with -mno-wavefrontsize64",
            )
        super().__init__(kernel, memory, target, grid, block, kernarg, dynamic_lds, True, budget, cooperative, last)
        self.shadow = MemoryShadow(memory, self.sanitized.shift, unwritten, elements or {})
        self._seen: dict[tuple[Event, int, int], tuple[int, Sighting]] = {}  # with its workgroup's place in the order
        self._lock = threading.Lock()
        self._callback = _REPORT(self._report)
        chosen = random.Random(schedule.seed << 16 | schedule.number)
        self._stride, self._offset = 1, 0
        if schedule.number and not self.sanitized.waits:
            strides = (n for n in iter(lambda: chosen.randrange(1, self.total + 1), 0))
            self._stride = next(n for n in strides if math.gcd(n, self.total) == 1)
            self._offset = chosen.randrange(self.total)
        self._seed = chosen.getrandbits(64)

    def _tiers(self) -> Tiers:
        return self.sanitized.tiers

    def _held(self, here: Iterable[Context]) -> int | None:
        """Nobody else changes memory here: a wave that is where it was, with all registers and LDS as they were, goes
        round for ever if no loop around it stores."""
        digest = 0
        for c in here:
            for i in range(c.wave_count):
                wave = Wave.from_address(c.waves + i * c.wave_bytes)
                around = [loads for (first, last), loads in self._loops.items() if first <= wave.pc <= last]
                stands = wave.done or Shadow.from_address(wave.shadow).waiting
                if not stands and not (around and all(around)):
                    return None
            parts = (c.waves, c.wave_count * c.wave_bytes), (c.lds, self.lds_bytes)
            for at, size in parts:
                digest = hash((digest, ctypes.string_at(at, size)))
        return digest

    @functools.cached_property
    def _loops(self) -> dict[tuple[int, int], bool]:
        """Whether each loop, by the addresses of its first and last blocks, only loads; {} where there are calls."""
        blocks = self.kernel.blocks

        def loads(inst: Instruction) -> bool:
            return inst.desc.access is None or inst.desc.access.kind == "load"

        return {} if called(blocks) else {loop: all(map(loads, loop_of(blocks, *loop))) for loop in loops(blocks)}

    def _prepare(self, c: Context, beside: Context | None) -> object:
        code, waves = self.sanitized, c.wave_count
        shadows = (Shadow * waves)()
        kept = (ctypes.c_uint32 * (3 * RING * KEPT_WORDS * waves if code.late else 0))()
        gaps = (Gap * (3 * RING * waves if code.late else 0))()
        reasons = (Cause * (CAUSES * waves if code.late else 0))()
        for i in range(waves):
            Wave.from_address(c.waves + i * c.wave_bytes).shadow = ctypes.addressof(shadows[i])
            shadows[i].strip = self.target.strip
            shadows[i].vgprs = self.kernel.vgprs
            if code.late:
                shadows[i].late = ctypes.addressof(kept) + 4 * 3 * RING * KEPT_WORDS * i
                shadows[i].gaps = ctypes.addressof(gaps) + ctypes.sizeof(Gap) * 3 * RING * i
                shadows[i].causes = ctypes.addressof(reasons) + ctypes.sizeof(Cause) * CAUSES * i
        cells = (self.lds_bytes >> code.shift) + 1
        # Lanes that are off have a cell of their own after the others, and windows may reach beyond the last.
        room = cells + 4 + WIDEST
        lds = ctypes.create_string_buffer(8 * room)
        cache = (ctypes.c_uint64 * (code.sites + 1))()
        at = ctypes.addressof(lds)
        native = self.version.native
        scratch_cells = self.scratch_bytes >> code.shift
        scratch = ctypes.create_string_buffer(max(1, waves * LANES * scratch_cells))
        doubts, apart = (Doubt * DOUBTS)(), (ctypes.c_uint64 * APART)()
        of_thread: tuple[ctypes.Array[Any], ...] = ()
        if beside is None:
            of_thread = ctypes.create_string_buffer(len(Event) * code.sites), (Shortcut * SHORTCUTS)()
            seen, shortcuts = (ctypes.addressof(array) for array in of_thread)
            visited, stack = (self.shadow.room(4 * SERIALS if code.orders else 0) for _ in range(2))
        else:
            other = Thread.from_address(beside.shadow)
            seen, shortcuts, visited, stack = other.seen, other.shortcuts, other.visited, other.stack
        between = ctypes.addressof(code.between) if code.between else 0
        t = Thread(
            seen=seen, sites=code.sites,
            report=ctypes.cast(self._callback, ctypes.c_void_p).value,
            start_group=native.address("hooked.start_group"), run_wave=native.address("hooked.run_wave"),
            next_slice=native.address("hooked.next_slice"),
            given=self._given(), lds_writer_site=at, lds_reader_site=at + 2 * room, lds_cause=at + 4 * room,
            between=between, lds_writer=at + 6 * room, lds_reader=at + 7 * room, cells=cells, shift=code.shift,
            rows=ctypes.addressof(self.shadow.rows), row_count=self.shadow.count, cache=ctypes.addressof(cache),
            serials=ctypes.addressof(self.shadow.serials), atomics=ctypes.addressof(self.shadow.atomics),
            owners=self.shadow.owners, seed=self._seed,
            slice=0 if self.schedule.number == 0 else 8, shuffles=int(self.schedule.number > 0),
            stride=self._stride, offset=self._offset, orders=int(code.orders),
            shares_level0=int(not self.kernel.facts.descriptor.wgp_mode), nodes=self.shadow.nodes,
            shortcuts=shortcuts, visited=visited, stack=stack,
            scratch=ctypes.addressof(scratch), scratch_cells=scratch_cells,
            doubts=ctypes.addressof(doubts), apart=ctypes.addressof(apart),
        )  # fmt: skip
        c.shadow = ctypes.addressof(t)
        return t, shadows, kept, gaps, reasons, lds, cache, scratch, doubts, apart, of_thread

    def _given(self) -> ctypes.Array[ctypes.c_uint64]:
        descriptor = self.kernel.facts.descriptor
        user = [s(i) for i in range(descriptor.sgprs)]
        bits = regset.mask([*_ALWAYS_GIVEN, *user])
        return (ctypes.c_uint64 * WORDS)(*(bits >> 64 * i & (1 << 64) - 1 for i in range(WORDS)))

    def _report(
        self, context: int, event: int, site: int, wave: int, lanes: int, address: int, other: int, other_site: int
    ) -> int:
        """Called by native code."""
        kind = Event(event)
        c = Context.from_address(context)
        group = c.current[0], c.current[1], c.current[2]
        key = (kind, site, address & (UNIT_MASK | WRITES) if kind in _OF_REGISTERS else 0)
        place = self._place(c.group)
        with self._lock:
            first, known = self._seen.get(key, (self.total, None))
            if place < first:
                sighting = self._sighting(kind, site, group, wave, lanes, address, other, other_site)
                self._seen[key] = place, sighting
            elif known is not None and (place, wave) == (first, known.wave):
                known.lanes |= lanes
        return 0

    @property
    def sightings(self) -> dict[tuple[Event, int, int], Sighting]:
        """By event, place and register. Each is that of the workgroup that began first, so that what is independent of
        the order of workgroups does not depend on which thread was faster."""
        once = {site for event, site, _ in self._seen if event is Event.FACTORS_ONCE}
        return {
            key: sighting
            for key, (_, sighting) in self._seen.items()
            if key[0] is not Event.FACTORS_TWICE or key[1] not in once
        }

    def _place(self, group: int) -> int:
        return (group - self._offset) * pow(self._stride, -1, self.total) % self.total

    def _sighting(
        self, event: Event, site: int, group: tuple[int, int, int], wave: int, lanes: int, address: int, other: int,
        other_site: int,
    ) -> Sighting:  # fmt: skip
        access, register, others, lacks, flag = self.kernel.site, -1, None, 0, None
        earlier: Instruction | None = None
        decides: Instruction | None = None
        if event in SILENT:
            inst = self.sanitized.instructions[0]
        elif event in _OF_REGISTERS:
            register = address & UNIT_MASK
            if event in USES:
                inst, sink = self.sanitized.instructions[site], (address >> SINK_SHIFT) - 1
                decides = self.sanitized.instructions[sink] if sink >= 0 else None
                if event is Event.LANE_LACKED:
                    earlier = self.sanitized.instructions[other_site - 1]
                elif other_site:
                    earlier = access(other_site - 1)
                address = other
            elif address & WRITES:
                inst, earlier = access(site), access(other_site)
            else:
                inst, earlier = first(
                    self.sanitized.instructions, site, register,
                    writes=event is Event.WRITE_IN_FLIGHT, parts=address >> HALVES_SHIFT & halves.BOTH,
                ), access(other_site)  # fmt: skip
            if event not in USES:
                address = 0
        elif Event.BARRIER_STORE <= event <= Event.BARRIER_APART or event in _OF_INSTRUCTIONS:
            inst = self.sanitized.instructions[site]
            if event is Event.BARRIER_STORE:
                earlier = access(other_site)
            elif event is Event.BARRIER_APART:
                earlier, others = self.sanitized.instructions[other_site], (-1, other)
        else:
            inst = access(site)
            if event in LDS_RACES:
                earlier, others = access(other_site % self.sanitized.sites), (-1, other if other < 32 else -1)
            elif event in GLOBAL_RACES:
                earlier, lacks = access(other_site & 0xFFFF), other_site >> 16 & 0xFFFF
                flag = access((other_site >> 32) - 1) if other_site >> 32 else None
                others = (other >> 16, other & NO_WAVE) if other != NO_WAVE else (-1, -1)
        return Sighting(
            event, inst, earlier, register, group, wave, lanes & ALL_LANES, address, others, lacks, flag, decides
        )
