"""The translator with hooks: the same instructions, with calls of hooks (C) between them.

Before each segment (`segments.py`) a test of bits says whether all its registers are ready; only if not, `touch` looks
closer. Loads and waits are reported as they come. All reports come before the loop over strips that is being written,
after its guards: where one of these fails, nothing has been reported, and the plain version goes on.

Accesses that the loop does by wide moves are reported there, too (`windows.py`), so that loops which compute stay free
of effects. Others have loops of their own, in which each first gives its addresses, a strip of lanes at a time, to
`access`.

Hooks are called by symbols, which the process that loads the code defines: so the code is kept on disk as plain
translations are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set

from isa.analysis import regset
from isa.registers import EXEC_LO, LANES, Reg, v
from isa.sanitize import lanes as by_lane
from isa.sanitize.quick import Quick, prepare
from isa.sanitize.segments import BY_LANE_NUMBER, LANE_OPERAND, Segment, fills, parts_of_copies
from isa.sanitize.state import (
    ATOMIC_ACCESS,
    AWAITED,
    COHERENT,
    FLAT_SPACE,
    GIVES,
    GLOBAL_SPACE,
    GUESSED,
    LDS_SPACE,
    LOAD,
    NARROW,
    PART,
    SCALAR,
    SCRATCH_SPACE,
    SHARED_LOAD,
    STORE,
    WORDS,
    Shadow,
    signed,
)  # fmt: skip
from isa.sanitize.stores import Kept, kept, overlaps
from isa.sanitize.windows import Checks, Planned, planned_space, runtime
from isa.semantics import halves
from isa.semantics.engine import Request
from isa.semantics.instruction import Access, Imm, Instruction, bit_width
from isa.semantics.waits import parse_wait
from isa.sim.ir.ir import Region
from isa.sim.ir.llvm_values import LlvmValue
from isa.sim.ir.state import Stop
from isa.sim.ir.translations import Facts
from isa.sim.translate import scalar_access as memory
from isa.sim.translate.cfg import Block
from isa.sim.translate.lane_strides import GRANULE
from isa.sim.translate.strip_mask import NeedsClosedLoop
from isa.sim.translate.translate import Translator

_NOT_AWAITED = 64
_BY_BYTE = ("ds_bpermute_b32", "ds_permute_b32")
"""Instructions that name lanes by four times their numbers."""
_KINDS = {"load": LOAD, "store": STORE, "atomic": ATOMIC_ACCESS}
_SPACES = {
    "lds": LDS_SPACE, "global": GLOBAL_SPACE, "scalar": GLOBAL_SPACE, "flat": FLAT_SPACE, "scratch": SCRATCH_SPACE,
}  # fmt: skip
_STREAMS = {"vmem": 1, "lds": 2, "smem": 4}
_RUNTIME = """
@hooked.start_group = alias void (ptr, i64), ptr @start_group
@hooked.run_wave = alias i32 (ptr, ptr), ptr @run_wave
@hooked.next_slice = alias i64 (ptr), ptr @next_slice
"""
"""The kernel's own runtime, for hooks to call."""


class SanitizedTranslator(Translator):
    """Writes one version of a kernel with hooks. numbers: address of an instruction -> its place in the code, by which
    segments and barriers are reported; segments by their first address; dwords: cells of the shadow stand for dwords;
    guesses: loads that are in order with atomics, awaited: accesses that wait for a wave (`guesses.py`); late: results
    of loads appear no earlier than their waits (`hooks/late.c`)."""

    def __init__(
        self, blocks: Sequence[Block], facts: Facts, numbers: Mapping[int, int], segments: Mapping[int, Segment], *,
        fast: bool, dwords: bool, entries: Set[int], guesses: Set[int], awaited: Set[int] = frozenset(),
        late: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(blocks, facts, fast=fast, entries=entries)
        self.guesses, self.awaited = guesses, awaited
        self.numbers, self.segments, self.dwords, self.late = numbers, segments, dwords, late
        self.orders = any(i.sees_flags for b in blocks for i in b.instructions)
        self._tables: dict[str, str] = {}
        self._windows: list[str] = []
        self._for_access = False
        self._place = 0  # of the next access of an instruction: its first byte in the registers of its data
        self._rest = False
        self._parts = parts_of_copies(blocks) if late else frozenset()
        self._planned_here: list[Planned] = []  # in the open loop
        self._stored_here: list[Kept] = []

    def text(self) -> str:
        return super().text() + "\n" + "\n".join((*self._tables.values(), *self._windows, _RUNTIME, runtime()))

    def _load_bases(self, region: Region) -> None:
        super()._load_bases(region)
        region.line("%w.int = ptrtoint ptr %w to i64")
        region.line("%c.int = ptrtoint ptr %c to i64")
        shadow = self.f.emit(region, "load i64, ptr %s", self._field(region, "W", "shadow"))
        region.line(f"%shadow = inttoptr i64 {shadow} to ptr")
        prepare(self.f, region, self.facts.strip)

    def _call(self, region: Region, name: str, *arguments: str | int) -> None:
        listed = ", ".join(f"i64 {a}" for a in arguments)
        self.f.declare(f"declare void @hook_{name}({', '.join(['i64'] * len(arguments))})")
        region.line(f"call void @hook_{name}({listed})")

    # --- registers

    def _write(self, inst: Instruction) -> None:
        assert inst.address is not None
        self._place, self._rest = 0, False
        segment = self.segments.get(inst.address)
        if self.late and (segment is not None or inst.desc.effect == "wait" or inst.desc.access is not None):
            self._settle()
        if segment is not None:
            self._check(segment)
        if inst.desc.effect == "wait":
            self._wait(parse_wait(inst))
            return
        empties = (2,) if inst.desc.name == "s_dcache_inv" else inst.family.empties.get(str(inst), ())
        for level in empties:
            self._close()
            self._call(self.writer.scalar, "emptied", "%w.int", "%c.int", level)
        if self.strips is not None and self._for_access and inst.desc.access is None:
            self._close()
        self._names_lanes(inst)
        if inst.desc.is_matrix and not inst.family.factors_twice:
            self._multiplies(inst)
        if not _streams(inst) or not inst.counters or not inst.operands:
            super()._write(inst)
            if inst.desc.sched == "cache_control" and inst.counters:  # RDNA4: it takes its turn among loads
                what = _streams(inst), regset.bit(v(0)), 0, self._exec(self.writer.scalar), 0, 0
                self._tell_registers(lambda region: self._call(region, "issue", "%w.int", "%c.int", *what))
        elif self.late:
            self._write_late(inst)
        else:
            super()._write(inst)
            self._issue(inst)

    def _names_lanes(self, inst: Instruction) -> None:
        """An instruction that names lanes of the wave: those that it does not have are told."""
        name = inst.desc.name
        if name == "v_permlane64_b32":
            self._tell_lane(inst, str(LANES))
        elif name in BY_LANE_NUMBER:
            lane = inst.operands[LANE_OPERAND]
            if isinstance(lane, Imm):
                if not 0 <= int(lane.value) < LANES:
                    self._tell_lane(inst, str(int(lane.value) & 0xFFFFFFFF))
            elif isinstance(lane, Reg) and not lane.is_vgpr and not lane.is_null:
                self._close()
                region = self.writer.scalar
                self._tell_lane(inst, self.f.emit(region, "zext i32 %s to i64", self.read_sgpr(lane.index).ref))
        elif name in _BY_BYTE and isinstance(reg := inst.operands[1], Reg):
            self._close()
            region = self.writer.scalar
            takes = int(name == "ds_bpermute_b32")
            what = self.numbers[inst.address or 0], reg.index, inst.offset, takes, self._exec(region)
            self._call(region, "names_lanes", "%w.int", "%c.int", *what)

    def _multiplies(self, inst: Instruction) -> None:
        """A product of matrices, whose factors stand once in the wave."""
        a, b = inst.operands[1:3]
        assert isinstance(a, Reg)
        assert isinstance(b, Reg)
        self._close()
        what = self.numbers[inst.address or 0], a.index, b.index, a.count
        self._call(self.writer.scalar, "multiplies", "%w.int", "%c.int", *what)

    def _tell_lane(self, inst: Instruction, lane: str) -> None:
        """lane: what one instruction names for all lanes, i64."""
        self._close()
        region = self.writer.scalar
        what = self.numbers[inst.address or 0], lane, self._exec(region)
        self._call(region, "names_lane", "%w.int", "%c.int", *what)

    def _wait(self, counters: Mapping[str, int]) -> None:
        raised = self.inst.family.raised
        classes = ("global_load", "lds_load", "smem_load", "global_store")
        vm, lds, smem, vs = (counters.get(raised[name][0], _NOT_AWAITED) for name in classes)
        publishes = self.orders and min(vm, vs) < _NOT_AWAITED
        if publishes:
            self._close()  # all accesses before it have been reported
        if min(vm, lds, smem) < _NOT_AWAITED:
            self._tell_registers(lambda region: self._call(region, "wait", "%w.int", vm, lds, smem))
        if publishes:
            self._call(self.writer.scalar, "awaited", "%w.int", "%c.int", vm, vs)

    def _settle(self) -> None:
        """All registers are in memory, where hooks may change them."""
        self._close()
        self.scalars.forget()

    def _write_late(self, inst: Instruction) -> None:
        """A memory access that keeps what its registers held."""
        if (reg := fills(inst)) is not None:
            what = (_streams(inst), regset.bit(reg.sub(0)), reg.count)
            self._call(self.writer.scalar, "keep", "%w.int", *what)
        super()._write(inst)
        self._settle()
        self._issue(inst)

    def _observed(self, inst: Instruction) -> bool:
        """Each access is written in place, with its hook."""
        return inst.desc.access is not None

    def _write_unrolled(self, block: Block) -> bool:
        return not self.late and not any(i.sees_flags for i in block.instructions) and super()._write_unrolled(block)

    def _tell_registers(self, write: Callable[[Region], None]) -> None:
        """What happens to registers is reported before the open loop, after its guards: if one of them fails,
        nothing has been reported."""
        if self.strips is None:
            write(self.writer.scalar)
        else:
            self.strips.prepare.append(write)

    def _close(self) -> None:
        if self.strips is not None and self._planned_here:
            accesses, guards = self._planned_here, self.strips.guards
            self.strips.prepare.append(
                lambda region: Checks(self.f, region, guards, self._tell_planned, self._windows, self._call).write(
                    accesses
                )
            )
        stores, self._stored_here = self._stored_here, []
        self._planned_here, self._for_access = [], False
        super()._close()
        for store in stores:
            store.check(self.f, self.writer.scalar, self._call, self._exec(self.writer.scalar))

    def _begin(self, block: Block, label: str) -> None:
        super()._begin(block, label)
        self._planned_here, self._stored_here, self._for_access = [], [], False

    def _exec(self, region: Region) -> str:
        """EXEC as i64."""
        exec_ = self.scalars[EXEC_LO]
        if exec_.constant is not None:
            return str(int(exec_.constant) & 0xFFFFFFFF)
        return self.f.emit(region, "zext i32 %s to i64", exec_.ref)

    def _check(self, segment: Segment) -> None:
        exec_ = self._exec(self.writer.scalar)
        self._tell_registers(lambda region: self._write_check(region, segment, exec_))

    def _write_check(self, region: Region, segment: Segment, exec_: str) -> None:
        f, missing = self.f, ""
        for word in range(WORDS):
            bits = segment.units >> 64 * word & (1 << 64) - 1
            if not bits:
                continue
            at = Shadow.full.offset + 8 * word
            place = f.emit(region, f"getelementptr i8, ptr %shadow, i64 {at}")
            full = f.emit(region, "load i64, ptr %s", place)
            lacks = f.emit(region, "and i64 %s, %s", f.emit(region, "xor i64 %s, -1", full), signed(bits, 64))
            missing = f.emit(region, "or i64 %s, %s", missing, lacks) if missing else lacks
        name = f.name("touch")
        if self.late and any(entry & GIVES for entry in segment.entries):
            region.line(f"br label %{name}")
        else:
            clean = f.emit(region, "icmp eq i64 %s, 0", missing)
            region.line(f"br i1 {clean}, label %{name}.ready, label %{name}")
        region.label(name)
        table = f"@{self.symbol}.segment{segment.number}"
        words = ", ".join(f"i64 {entry}" for entry in segment.entries)
        count = len(segment.entries)
        self._tables[table] = f"{table} = internal constant [{count} x i64] [{words}]"
        pointer = f.emit(region, "ptrtoint ptr %s to i64", table)
        self._call(region, "touch", "%w.int", "%c.int", pointer, count, exec_, segment.number)
        region.go_on(f"{name}.ready")

    def _issue(self, inst: Instruction) -> None:
        reg, access, streams = fills(inst), inst.desc.access, _streams(inst)
        if reg is None and not streams & 2:
            return  # nothing waits for it but vscnt
        first, count = (regset.bit(reg.sub(0)), reg.count) if reg is not None else (0, 0)
        site, writes = self._sites.get(inst.address, 0), int(access is not None and access.kind != "load")
        writes |= halves.filled(inst) << 1 | _spread(inst) << 3
        what = (streams, first, count, self._exec(self.writer.scalar), site, writes)
        self._tell_registers(lambda region: self._call(region, "issue", "%w.int", "%c.int", *what))

    # --- memory

    def _observe(self, at: Request[LlvmValue]) -> str:
        """Tell an access to LDS or memory. Gives the host's pointers, a vector of all lanes; none is outside."""
        self._looks_at(at)
        inst, access, address, mask, size = at.inst, at.access, at.address, at.mask, at.bytes
        f, site, scalar = self.f, self._sites[self.inst.address], access.space == "scalar"
        region = self.writer.scalar if scalar else self.writer.vector
        lanes = 1 if scalar or self.strips is None else self.strips.lanes
        kind, how, bits, first = self._kind(inst, access), self._how(inst, access), str((1 << lanes) - 1), "0"
        if not scalar:
            address = address.vector(lanes)
            if self.strips is not None and self.strips.first is not inst and not self._for_access:
                raise NeedsClosedLoop  # loops that compute stay free of effects
            self._for_access = True
            first = f.emit(region, "zext i32 %s to i64", self._note_access(access).first_number())
        usual, name = "", f.name("access")
        if self.dwords and not self.late and size in (4, 8, 16):
            quick = Quick(f, region, lanes, address, mask, size, site, kind == STORE)
            if access.space == "lds" and kind in (LOAD, STORE):
                usual = quick.lds(f"{name}.slow")
            elif access.space == "global" and kind == LOAD:
                usual = quick.memory(f"{name}.slow")
        if usual:
            region.line(f"br label %{name}.done")
            before = region.block
            region.label(f"{name}.slow")
        if mask is not None:
            narrow = f.emit(region, f"bitcast {mask.llvm} %s to i{lanes}", mask.ref)
            bits = f.emit(region, f"zext i{lanes} %s to i64", narrow)
        wide = address.to("u64") if address.type != "u64" else address
        slot = f.alloca(wide.llvm, 64)
        region.line(f"store {wide!r}, ptr {slot}")
        if _is_shared(access):
            self._call(region, "begin_atomic", "%c.int")
        assert isinstance(at.offset, int)
        place = self._at(at)
        self._tell(region, slot, bits, site, size, lanes, _SPACES[access.space] | kind | how, first, place, at.offset)
        if scalar:
            return f.emit(region, "load ptr, ptr %s", slot)
        type_ = f"<{lanes} x ptr>"
        pointers = f.emit(region, f"load {type_}, ptr %s", slot)
        if usual:
            region.line(f"br label %{name}.done")
            after = region.block
            region.label(f"{name}.done")
            pointers = f.emit(region, f"phi {type_} [%s, %s], [%s, %s]", usual, f"%{before}", pointers, f"%{after}")
        return pointers

    def _observe_planned(self, at: Request[LlvmValue]) -> bool:
        """Report an access that will be done by wide moves. False, and no report, where it cannot be."""
        inst, access, address, size = at.inst, at.access, at.address, at.bytes
        site, space = self._sites[inst.address], planned_space(access.space)
        known = self._planned(at, site) if space >= 0 else None
        if known is None:
            return False
        (key, pattern), form = known, address.form
        assert form is not None
        kind = self._kind(inst, access)
        how = self._how(inst, access)
        if kind == STORE and overlaps(pattern[: min(self.facts.strip, GRANULE)], size):
            return False
        self._planned_here.append(Planned(space, kind, how, key, form.constant, pattern, size, site, self.dwords))
        return True

    def _tell_planned(self, region: Region, slot: str, a: Planned, first: str) -> None:
        lanes = self.facts.strip
        self._tell(region, slot, str((1 << lanes) - 1), a.site, a.size, lanes, a.space | a.kind | a.how, first)

    def _kind(self, inst: Instruction, access: Access) -> int:
        shared = self._speaks(inst, access) or self.inst.address in self.guesses
        return SHARED_LOAD if access.kind == "load" and shared else _KINDS[access.kind]

    def _speaks(self, inst: Instruction, access: Access) -> bool:
        """Whether it may read what another wave sets for it. In LDS nothing but its loop says so."""
        if _is_shared(access):
            return inst.gives_back
        return inst.coherent or (access.space == "lds" and self.inst.address in self.awaited)

    def _how(self, inst: Instruction, access: Access) -> int:
        part = self.inst.address in self._parts
        narrow = _is_shared(access) and inst.narrow
        how = COHERENT * self._speaks(inst, access) | SCALAR * (access.space == "scalar")
        if access.space == "flat" and access.kind == "load":
            how |= AWAITED * (self.inst.address in self.awaited) | GUESSED * (self.inst.address in self.guesses)
        return how | PART * part | NARROW * narrow

    def _at(self, at: Request[LlvmValue]) -> int:
        """The first byte of an access in the registers of its instruction's data."""
        if at.rest and not self._rest:  # the same again, by dwords
            self._place, self._rest = 0, True
        upper = 2 if at.access.half == "hi" else 0
        place, self._place = self._place + upper, self._place + at.bytes
        return place

    def _tell(
        self, region: Region, slot: str, bits: str, site: int, size: int, lanes: int, how: int, first: str,
        place: int = 0, offset: int = 0,
    ) -> None:  # fmt: skip
        """Call the hook of accesses for a strip, whose addresses (i64) are in the slot. first: its first lane; place:
        as `_at` has it; offset: of a flat access."""
        pointer = self.f.emit(region, "ptrtoint ptr %s to i64", slot)
        what = (offset & 0xFFFF) << 48 | site << 32 | place << 24 | size << 16 | lanes << 8 | how
        self._call(region, "access", "%w.int", "%c.int", pointer, bits, signed(what, 64), first)

    def load(self, at: Request[LlvmValue]) -> tuple[LlvmValue, ...]:
        if at.access.space not in _SPACES or self._observe_planned(at):
            return super().load(at)
        w, f = self.writer, self.f
        pointers = self._observe(at)
        if at.access.space == "scalar":
            words = memory.load_words(f, w.scalar, pointers, at.access.element)
            self._stop_on_fault()
            return tuple(LlvmValue(w, "u32", 0, word) for word in words)
        lanes = self.strips.lanes if self.strips is not None else 1
        vectors = by_lane.load(f, w.vector, lanes, at.access.element, pointers)
        return tuple(LlvmValue(w, "u32", lanes, vector) for vector in vectors)

    def store(self, at: Request[LlvmValue], values: tuple[LlvmValue, ...]) -> None:
        if at.access.space not in _SPACES or self._observe_planned(at):
            super().store(at, values)
            return
        pointers, lanes = self._observe(at), self.strips.lanes if self.strips is not None else 1
        f, region = self.f, self.writer.vector
        data = [v.vector(lanes) for v in values]
        by_lane.store(f, region, lanes, at.access.element, pointers, data)
        if at.access.space != "scratch":
            first = f.emit(region, "zext i32 %s to i64", self._note_access(at.access).first_number())
            self._stored_here.append(
                kept(f, region, lanes, pointers, data, first, self._sites[self.inst.address], at.bytes)
            )

    def atomic(self, at: Request[LlvmValue], body: Callable[..., LlvmValue], data: tuple[LlvmValue, ...]) -> LlvmValue:
        if at.access.space in _SPACES:
            self._observe(at)
        old = super().atomic(at, body, data)
        if _is_shared(at.access):
            what = self._sites[self.inst.address], int(self._speaks(at.inst, at.access))
            self._call(self.writer.vector, "end_atomic", "%w.int", "%c.int", *what)
        return old

    # --- time slices

    def barrier(self) -> None:
        self._close()
        region = self.writer.scalar
        self.scalars.flush(region)
        self._call(region, "arrive", "%w.int", "%c.int", self.numbers[self.inst.address or 0])
        super().barrier()

    def _check_budget(self, region: Region, number: int, instructions: int) -> None:
        """Also the end of a wave's time slice."""
        super()._check_budget(region, number, instructions)
        self._count_slice(region, number)

    def _edge(self, number: int) -> str:
        """A wave may be interrupted behind what others see, too: a compiler leaves no branch backward where it unrolls
        what one wave hands to another."""
        label = super()._edge(number)
        if label != f"b{number}" or not any(map(_is_told, self.block.instructions)):
            return label
        name = self.f.name("told")
        region = self.f.region(name)
        self._count_slice(region, number)
        region.line(f"br label %{label}")
        return name

    def _count_slice(self, region: Region, number: int) -> None:
        f = self.f
        place = f.emit(region, f"getelementptr i8, ptr %shadow, i64 {Shadow.slice.offset}")
        left = f.emit(region, "sub i64 %s, 1", f.emit(region, "load i64, ptr %s", place))
        region.line(f"store i64 {left}, ptr {place}")
        over = f.emit(region, "icmp eq i64 %s, 0", left)
        name = f.name("slice")
        region.branch(over, name, f"{name}.goes.on", name)
        self._leave(region, number, Stop.YIELD)
        region.label(f"{name}.goes.on")


def _is_told(inst: Instruction) -> bool:
    """Whether it leaves something where other waves see it."""
    accesses = [half.desc.access for half in inst.halves]
    return any(a is not None and a.kind != "load" and a.space != "scratch" for a in accesses)


def _is_shared(access: Access) -> bool:
    """Whether it is an atomic that other threads may do at the same moment."""
    return access.kind == "atomic" and access.space in ("global", "flat")


def _spread(inst: Instruction) -> int:
    """Of a load that extends a sign: the byte that has it, and the last one that it fills << 2; else 0."""
    access = inst.desc.access
    if access is None or access.kind != "load" or access.element not in ("i8", "i16"):
        return 0
    sign = bit_width(access.element) // 8 - 1
    first, last = {"": (0, 3), "lo": (0, 1), "hi": (2, 3)}[access.half]
    return first + sign | last << 2


def _streams(inst: Instruction) -> int:
    """The ordered streams in which an access completes, as bits: a flat one in two."""
    return 3 if inst.desc.space == "flat" else _STREAMS.get(inst.desc.unit, 0)
