"""Blocks of gfx11 code -> one LLVM function that runs a wave (`wave_function`).

`Translator` is the engine on which `isa.semantics.execute` runs each instruction once; running it writes the code.
Scalar instructions are written one after the other. Vector instructions that follow each other share one loop over
strips (`registers.Strips`), with the scalar ones between them in front of it; what needs all lanes at once, or must see
what the loop does, closes it first.

Baseline code calls functions instead (`wave_bodies`, `shared`).

A loop of one block is written several iterations at once, where all their scalar parts can come in front of one loop
over strips. Addresses that probably follow a pattern (`lane_strides`) are accessed by wide moves (`vector_access`),
after a check that they do; all others lane by lane (`scalar_access`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from functools import partial
from typing import Any

from isa.analysis import regset
from isa.registers import LANES, SCC, SGPR_LIMIT, Reg, s
from isa.semantics import wave64
from isa.semantics.engine import Request
from isa.semantics.execute import asked, execute
from isa.semantics.float_mode import FloatMode
from isa.semantics.instruction import Access, Instruction
from isa.semantics.memory_access import apart, singly
from isa.semantics.values import Value
from isa.sim.ir import operations
from isa.sim.ir.llvm_values import LlvmValue, NeedsAllLanes, Writer, masked
from isa.sim.ir.state import PRIVATE_APERTURE, SHARED_APERTURE, STREAMS, FaultKind
from isa.sim.ir.translations import Facts
from isa.sim.translate import lane_access
from isa.sim.translate import scalar_access as memory
from isa.sim.translate.cfg import Block, in_loops, iterations_at_once, looks, loops_that_wait, may_repeat
from isa.sim.translate.lane_strides import Pattern, lane_strides
from isa.sim.translate.live_registers import LiveRegisters
from isa.sim.translate.registers import Lanes, Scalars, Strips, Whole
from isa.sim.translate.shared import SharedBodies
from isa.sim.translate.strip_mask import NeedsClosedLoop, StripMask
from isa.sim.translate.time_slice import look, looks_at
from isa.sim.translate.wave_bodies import WaveBodies
from isa.sim.translate.wave_function import WaveFunction

_WIDE = ("lds", "global", "flat")
"""Spaces in which addresses that follow a pattern are accessed by wide moves."""
_CHANGES_MODE = ("mode round", "mode denorm", "setreg")
"""Effects after which nothing is computed as before."""
_across: set[str] = set()
"""Instructions seen to work across lanes."""


class Translator(WaveFunction):
    """Writes one version of a kernel. drops: registers need not hold what nothing reads any more."""

    several = 2
    """How many instructions must share a function of the wave."""

    def __init__(
        self, blocks: Sequence[Block], facts: Facts, *, fast: bool, entries: Set[int] | None, drops: bool = False
    ) -> None:
        super().__init__(blocks, facts, fast=fast, entries=entries)
        self._live = LiveRegisters(blocks, fast) if drops and not facts.baseline and facts.halves == 1 else None
        self._done: Instruction | None = None  # the last one of the open loop
        self._strides = lane_strides(blocks) if fast and facts.patterns else {}
        self._bodies = SharedBodies(self.f, facts, fast) if facts.baseline and facts.halves == 1 else None
        every = (inst for block in blocks for inst in block.instructions)
        self._wave_bodies = WaveBodies(self.f, facts, fast, every, self.several) if self._bodies else None
        self._repeated, self._streams = in_loops(blocks), 0
        self._looks = {inst.address for first, last in loops_that_wait(blocks) for inst in looks(blocks, first, last)}
        self._not_unrolled = self._guarded = 0  # lines; of the guards, which all iterations share
        self._conditions: list[LlvmValue] | None = None  # of the iterations of a loop that is being unrolled
        self.strips: Strips | None = None
        self._whole: Whole | None = None
        self.half = 0

    # --- blocks

    def _write_block(self, block: Block) -> None:
        repeats = self.fast and may_repeat(block)
        unrolled = repeats and not self.facts.baseline and self._write_unrolled(block)
        before = self.size - self._guarded
        self._begin(block, f"b{block.number}.once" if unrolled else f"b{block.number}")
        for inst in block.instructions:
            self.inst = inst
            if (beyond := self._beyond(inst)) is not None:
                self._stop(FaultKind.REGISTER, beyond)
                return
            self._write(inst)
        if self._open:
            self._fall_through()
        if repeats and self.facts.baseline:
            self._not_unrolled += (iterations_at_once(block) - 1) * (self.size - self._guarded - before)

    @property
    def zeroed(self) -> int:
        return self._live.at_start.bit_length() if self._live is not None else super().zeroed

    @property
    def size(self) -> int:
        spared = sum(bodies.spared for bodies in (self._bodies, self._wave_bodies) if bodies is not None)
        return super().size + self._not_unrolled + spared

    def _beyond(self, inst: Instruction) -> int | None:
        """A VGPR of the instruction that the wave does not have: in a function that another kernel calls."""
        named = (getattr(operand, "operand", operand) for half in inst.halves for operand in half.operands)
        last = max((r.index + r.count - 1 for r in named if isinstance(r, Reg) and r.is_vgpr), default=0)
        return last if last >= self.facts.vgprs else None

    def _write_unrolled(self, block: Block) -> bool:
        """A block that is a loop by itself, several iterations at once; False, and nothing written, where that cannot
        be.

        Whether there are so many iterations left is known before: the scalar part of all of them comes in front of the
        one loop over strips that holds their vector part. If there are not, the block is run once, as it is.
        """
        if any(self._beyond(inst) is not None or asked(inst) for inst in block.instructions):
            return False
        iterations, regions, bails = iterations_at_once(block), len(self.f.regions), set(self.bails)
        self._begin(block, f"b{block.number}")
        self._conditions = []
        try:
            for _ in range(iterations):
                for inst in block.instructions:
                    self.inst = inst
                    self._write(inst)
            strips, conditions = self.strips, self._conditions
            if strips is None or self._loops != 1 or strips.checks_faults or strips.stores:
                raise NeedsClosedLoop
        except NeedsClosedLoop:
            del self.f.regions[regions:]
            self.bails = bails
            return False
        finally:
            self._conditions = None
        strips.required = [c.ref for c in conditions[:-1]]
        strips.otherwise = f"b{block.number}.once"
        self._iterations = iterations
        self.branch(block.last, conditions[-1])
        self._iterations = 1
        return True

    def _begin(self, block: Block, label: str) -> None:
        region = self.f.region(label)
        self.block, self._patterned = block, any(map(self._may_follow, block.instructions))
        if block.number not in self._modes:
            self._modes[block.number] = self.facts.mode  # reached only through an indirect jump
        facts = self.facts
        self.writer = Writer(
            self.f,
            region,
            region,
            operations,
            self._modes[block.number],
            native_half=facts.native_half,
            native_nans=facts.native_nans,
            masked=masked(facts.strip),
            baseline=facts.baseline,
        )
        self.scalars = Scalars(self.writer, self.fast)
        self._whole = Whole(self.scalars, self.facts.strip, self.facts.rows)
        self.strips, self._open, self._loops, self._ticked = None, True, 0, 0

    def _write(self, inst: Instruction) -> None:
        desc = inst.desc
        if not desc.is_vector:
            self._lanes: Lanes | None = None
            if desc.effect == "wait":
                return  # a simulated access is done when it is issued
            if self._conditions is not None and (self.strips and self._touches_open_masks(inst)):
                raise NeedsClosedLoop
            if self.strips is not None and (
                (desc.effect and (self._conditions is None or desc.effect in _CHANGES_MODE))
                or desc.relative
                or self._touches_open_masks(inst)
                or self._orders(inst)
            ):
                self._close()
            for step in self._steps(inst):
                step(self)
            return
        if not inst.operands:
            return  # cache control
        if desc.access is not None and desc.access.transposed and self.facts.halves == 1:
            self.inst, exchange = apart(inst, desc.access)
            self._write_vector(self.inst, partial(execute, inst=self.inst))
            self._close()
            self.inst, self._lanes = inst, self._whole
            exchange(self)
            self._lanes = None
        else:
            parts = (inst,) if desc.access is None else singly(inst, desc.access)
            for steps in zip(*map(self._steps, parts), strict=True):  # of each half of the wave
                for self.inst, step in zip(parts, steps, strict=True):
                    self._write_vector(self.inst, step)
                    if self.inst is not parts[-1]:
                        self._done = None  # the registers of the second store are still to be read
            self.inst = inst
        if inst.address in self._looks:
            self._look(inst)

    def _look(self, inst: Instruction) -> None:
        """What a loop that waits has read becomes part of its digest."""
        self._close()
        assert self._whole is not None
        for reg in inst.writes():
            for half in range(self.facts.halves if reg.is_vgpr else 0):
                value = self._whole.read(reg.index + self.facts.vgprs * half)
                look(self.f, self.writer.scalar, value.ref)

    def _looks_at(self, at: Request[LlvmValue]) -> None:
        """An access by which a loop may wait is about to be done."""
        if self.strips is not None and self.inst.address in self._looks:
            lanes, region = self.strips.lanes, self.writer.vector
            wide = at.address.vector(lanes).to("u64")
            self.strips.half = self.half
            site = self._sites[self.inst.address]
            looks_at(self.f, region, site, lanes, wide.ref, self.strips.first_number())

    def _steps(self, inst: Instruction) -> Sequence[Callable[[Any], None]]:
        """What is to be done one after the other: two things of an access in a wave of 64 lanes."""
        return (partial(execute, inst=inst),) if self.facts.halves == 1 else wave64.steps(inst)

    def _write_vector(self, inst: Instruction, step: Callable[[Any], None]) -> None:
        if self._by_wave(inst):
            return
        desc = inst.desc
        key = desc.name + (" dpp" if inst.dpp else "")
        if key not in _across and not desc.relative:
            if self.strips is not None and self._conflicts(inst):
                self._close()
            for _ in range(2):
                try:
                    self._lanes = self._open_strips()
                    if not self._shared(inst):
                        step(self)
                    self._done = inst
                    return
                except NeedsClosedLoop:
                    self._close()
                except NeedsAllLanes:
                    _across.add(key)
                    break
        self._close()
        self._lanes = self._whole
        first = inst.operands[0]
        if self._whole is not None and isinstance(first, Reg) and first.is_vgpr:
            self._whole.target = first.index
        step(self)
        self._lanes = None

    def _may_follow(self, inst: Instruction) -> bool:
        """Whether it is an access whose addresses may follow a pattern."""
        access = inst.desc.access
        if not self._strides or access is None or access.space not in _WIDE or access.buffer:
            return False
        known = self._strides.get(inst.address or 0, {})
        registers = [r for o in inst.desc.address_of(inst) for r in self._vgprs(o)]
        return all(r.index in known for r in registers)

    def _by_wave(self, inst: Instruction) -> bool:
        """Write an instruction as a call of a function of the wave; False, and nothing written, where it stands in
        place. Where addresses may follow patterns all of the block does: the fast version may leave where a loop over
        strips begins, which must be the same in both tiers."""
        if self._wave_bodies is None or self._patterned or inst.desc.relative or self._observed(inst):
            return False
        body = self._wave_bodies.body(inst, self.mode)
        if body is None:
            return False
        self._close()
        self.scalars.settle(inst.reads())
        region, call = self.writer.scalar, self._wave_bodies.call(body, inst, self._sites.get(inst.address, 0))
        assert self._whole is not None
        for reg in inst.writes():
            if reg.is_vgpr:
                self._whole.forget(reg.index)
            else:
                self.scalars.changed(reg)
        if body.accesses:
            fault = f"%{self.f.name()}"
            region.line(f"{fault} = {call}")
            self._stop_if(fault)
        else:
            region.line(call)
        return True

    def _shared(self, inst: Instruction) -> bool:
        """Write an instruction as a call of a function that others share; False, and nothing written, where it stands
        in place: an access that may follow a pattern does."""
        if self._bodies is None or not self._patterned or self._observed(inst) or self._may_follow(inst):
            return False
        assert self.strips is not None
        if any(reg in self.strips.masks and self.strips.masks[reg].strip.form for reg in inst.reads()):
            return False  # a carry into an address
        return self._bodies.call(inst, self.mode, self, self._sites.get(inst.address, 0))

    def _observed(self, inst: Instruction) -> bool:
        """Whether its accesses are written in place for another reason."""
        return inst.address in self._looks

    def _touches_open_masks(self, inst: Instruction) -> bool:
        assert self.strips is not None
        return any(reg in self.strips.masks for reg in (*inst.reads(), *inst.writes()))

    def _orders(self, inst: Instruction) -> bool:
        """Whether a scalar load must see what the open loop stores."""
        assert self.strips is not None
        return inst.desc.access is not None and bool(self.strips.stores)

    def _conflicts(self, inst: Instruction) -> bool:
        """Whether lanes of one strip might see what lanes of a later strip have not done yet.

        In a loop over strips all of a strip's accesses come before the next strip's. That is only the same as
        instruction by instruction while no two accesses of a loop can meet at one address, of which one writes.
        Scratch is each lane's own.
        """
        a = inst.desc.access
        if a is None or a.space == "scratch":
            return False
        assert self.strips is not None
        spaces = {a.space, "flat"} if a.space != "flat" else {"lds", "global", "flat", "scratch"}
        earlier = self.strips.stores if a.kind == "load" else self.strips.stores | self.strips.loads
        return bool(spaces & earlier)

    def _open_strips(self) -> Strips:
        if self.strips is None:
            self._loops, self._done = self._loops + 1, None
            self.strips = Strips(self.scalars, self.facts.strip, self.facts.rows, self.inst, self.facts.halves)
            self.strips.abreast = self._quick and self.block.number in self._repeated
        return self.strips

    def _close(self) -> None:
        if self.strips is None:
            return
        strips, self.strips = self.strips, None
        if self._live is not None and (done := self._done) is not None:
            strips.drop(self._live.after(done) | (regset.defs(done) if done.address in self._looks else 0))
        strips.close(lambda region: self._bail(region, strips.first))
        self._guarded += len(strips.guard.lines)
        if strips.checks_faults:
            self._stop_on_fault()

    # --- Engine: see isa.semantics.execute

    @property
    def mode(self) -> FloatMode:
        return self.writer.mode

    @mode.setter
    def mode(self, mode: FloatMode) -> None:
        self.writer.mode = mode

    def constant(self, type_: str, number: float) -> LlvmValue:
        return LlvmValue.of(self.writer, type_, number)

    def lane_ids(self) -> LlvmValue:
        assert self._lanes is not None
        return self._lanes.numbers(self.half)

    def exec_mask(self) -> LlvmValue | None:
        assert self._lanes is not None
        return self._lanes.active(self.half)

    def read_vgpr(self, index: int, relative: LlvmValue | None = None) -> LlvmValue:
        assert self._lanes is not None
        index += self.facts.vgprs * self.half
        if relative is None:
            return self._lanes.read(index)
        assert self._whole is not None
        return self._whole.read_relative(index, relative)

    def write_vgpr(
        self, index: int, value: LlvmValue, mask: LlvmValue | None, relative: LlvmValue | None = None
    ) -> None:
        assert self._lanes is not None
        assert self._whole is not None
        index += self.facts.vgprs * self.half
        if relative is None:
            self._lanes.write(index, value, mask)
        else:
            self._whole.write_relative(index, value, mask, relative)
        self._whole.forget(index if relative is None else None)

    def read_sgpr(self, index: int, relative: LlvmValue | None = None) -> LlvmValue:
        if relative is not None:
            place = self.scalars.relative(index, relative, SGPR_LIMIT)
            return LlvmValue(self.writer, "u32", 0, self.f.emit(self.writer.scalar, "load i32, ptr %s", place))
        reg = s(index)
        if reg.is_null:
            return self.constant("u32", 0)
        if self.strips is not None and reg in self.strips.masks:
            return self.strips.masks[reg]
        return self.scalars[reg]

    def write_sgpr(self, index: int, value: LlvmValue, relative: LlvmValue | None = None) -> None:
        if relative is not None:
            place = self.scalars.relative(index, relative, SGPR_LIMIT)
            self.writer.scalar.line(f"store i32 {value.ref}, ptr {place}")
            return
        reg = s(index)
        if reg.is_null:
            return
        if isinstance(value, StripMask):
            assert self.strips is not None
            self.strips.masks[reg] = value
            return
        self.scalars[reg] = value

    def read_scc(self) -> LlvmValue:
        return self.scalars[SCC]

    def write_scc(self, value: LlvmValue) -> None:
        self.scalars[SCC] = value

    def special(self, name: str) -> LlvmValue:
        high = SHARED_APERTURE if "shared" in name else PRIVATE_APERTURE
        return self.constant("u64", high << 32 | (0xFFFFFFFF if "limit" in name else 0))

    def offset(self, inst: Instruction, name: str = "offset", type_: str = "u64") -> int:
        return inst.number(name)

    def next_address(self) -> LlvmValue:
        region = self.writer.scalar
        base = LlvmValue(
            self.writer, "u64", 0, self.f.emit(region, "load i64, ptr %s", self._field(region, "C", "code"))
        )
        return base + (self.inst.address or 0) + self.inst.size

    def hardware(self, name: str) -> LlvmValue:
        if name in ("cycles", "realtime"):
            before = next(k for k, inst in enumerate(self.block.instructions) if inst is self.inst)
            return LlvmValue(self.writer, "u64", 0, self._tick(before + 1))
        region, f = self.writer.scalar, self.f
        load = "load i32, ptr %s"
        if name == "queue":
            return self.constant("u64", 0)
        wave = LlvmValue(self.writer, "u32", 0, f.emit(region, load, self._field(region, "W", "index")))
        group = LlvmValue(self.writer, "u64", 0, f.emit(region, "load i64, ptr %s", self._field(region, "C", "group")))
        number = (group & 0xFFFF).to("u32")
        engine, part = number & 3, (number >> 2) & 7
        place = (wave >> 2 & 31) | (wave & 3) << 8 | (part >> 1) << 10 | (part & 1) << 16 | engine << 18
        return place.to("u64")

    def _note_access(self, access: Access) -> Strips:
        """An access a lane, which may fault."""
        assert self.strips is not None
        self.strips.note(access)
        self.strips.checks_faults = True
        self.strips.half = self.half
        return self.strips

    def _planned(self, at: Request[LlvmValue], site: int) -> tuple[object, Pattern] | None:
        """How to do this access by wide moves, None where no pattern is known or lanes are off."""
        access, address, size = at.access, at.address, at.bytes
        if not self._patterned or at.mask is not None or not address.lanes_ or access.space not in _WIDE:
            return None
        assert self.strips is not None
        if address.form is not None:
            known = self._strides.get(self.strips.first.address or 0, {})
            plan = self.strips.guards.plan(access.space, address.form, known, size, site)
            if plan is not None:
                self.strips.note(access)
                return plan
        # The address was computed in this very loop: a new one, which begins with it, may rely on a pattern.
        known = self._strides.get(self.inst.address or 0, {})
        registers = [r for o in self.inst.operands for r in self._vgprs(o) if r.index in known]
        if registers and self.strips.first is not self.inst:
            raise NeedsClosedLoop
        return None

    @staticmethod
    def _vgprs(operand: object) -> list[Reg]:
        return list(operand.units()) if isinstance(operand, Reg) and operand.is_vgpr else []

    def load(self, at: Request[LlvmValue]) -> tuple[LlvmValue, ...]:
        site, w = self._sites[self.inst.address], self.writer
        self._looks_at(at)
        if at.access.space == "scalar":
            words = memory.load_scalar(w, at, site)
            self._stop_on_fault()
            return tuple(LlvmValue(w, "u32", 0, word) for word in words)
        if (planned := self._planned(at, site)) is not None:
            key, pattern = planned
            assert self.strips is not None
            assert at.address.form is not None
            return tuple(self.strips.wide.load(key, at.address.form.constant, pattern, at.access.element))
        strips = self._note_access(at.access)
        if not self._inline(at):
            return tuple((self._bodies or memory).load(w, strips, at, site))
        ahead, form, count = "", at.address.form, LANES // self.facts.strip
        if at.access.buffer and self._streams + count <= STREAMS:
            ahead = lane_access.moved(w, at, self._streams, strips.index)
            self._streams += count
        elif at.access.space == "global" and form is not None and form.low and self._streams < STREAMS:
            ahead = f"%{self.f.name('ahead')}"
            strips.prepare.append(partial(lane_access.distance, self.f, strips.guards, form, self._streams, ahead))
            self._streams += 1
        return tuple(lane_access.load(w, strips, at, site, ahead))

    def store(self, at: Request[LlvmValue], values: tuple[LlvmValue, ...]) -> None:
        site = self._sites[self.inst.address]
        if (planned := self._planned(at, site)) is not None:
            key, pattern = planned
            assert self.strips is not None
            assert at.address.form is not None
            self.strips.wide.store(key, at.address.form.constant, pattern, at.access.element, values)
            return
        way = lane_access if self._inline(at) else self._bodies or memory
        way.store(self.writer, self._note_access(at.access), at, values, site)

    def _inline(self, at: Request[LlvmValue]) -> bool:
        """Whether an access without a pattern is worth the lines that check all lanes at once."""
        return self._quick and self.block.number in self._repeated and lane_access.suits(at)

    @property
    def _quick(self) -> bool:
        """Whether this code is what most of a launch's time goes to."""
        return self.fast and not self.facts.baseline and self.facts.halves == 1

    def atomic(self, at: Request[LlvmValue], body: Callable[..., LlvmValue], data: tuple[LlvmValue, ...]) -> LlvmValue:
        strips, site = self._note_access(at.access), self._sites[self.inst.address]
        self._looks_at(at)
        return memory.atomic(self.writer, strips, at, body, data, site)

    def branch(self, inst: Instruction, condition: Value | None) -> None:
        if self._conditions is None:
            super().branch(inst, condition)
        else:
            assert isinstance(condition, LlvmValue)
            self._conditions.append(condition)
