"""Blocks of gfx11 code -> one LLVM function that runs a wave.

The function is entered with a wave (`state.Wave`) and runs from block `wave.pc` until the wave ends, waits at a
barrier, has to go on in the other version, or must stop. `Translator` is the engine on which `isa.sim.execute` runs
each instruction once; running it writes the code.

There are two versions of each kernel:

    fast    holds while EXEC is all ones: no masks. Checked where the function is entered and behind each write to EXEC.
    plain   for any EXEC: results are merged under masks.

A version returns `Stop.SWITCH` where the other is to go on; since all registers lie in memory between blocks, nothing
else has to be done. The plain version is compiled only when a wave first needs it.

Backward branches check the launch's abort flag and its budget of instructions. In a loop that waits for another
workgroup they let the host's other threads go first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set

from isa.describe import Access
from isa.program import Instruction
from isa.registers import EXEC_LO, SCC, SGPR_LIMIT, Reg, s
from isa.sim import lane_access as memory
from isa.sim.cfg import Block, jumps_indirectly, may_repeat, rounds_of, waits_for_others, writes_exec
from isa.sim.execute import execute
from isa.sim.guess import Pattern, guess
from isa.sim.ir import Function, Region
from isa.sim.llvm_values import LlvmValue, NeedsAllLanes
from isa.sim.mode import FloatMode
from isa.sim.registers import Lanes, Scalars, Strips, Whole
from isa.sim.runtime import field_pointer
from isa.sim.state import PRIVATE_APERTURE, SHARED_APERTURE, FaultKind, Stop
from isa.sim.strip_mask import NeedsClosedLoop, StripMask
from isa.sim.translations import Facts
from isa.sim.turns import check_budget, end_turn
from isa.sim.writer import Writer
from isa.values import Value

BAILS = 64
"""How often a wave may fall out of the fast version because a guess was wrong, before it stays with the plain one."""
_LANE_UNITS = frozenset({"valu", "valu64", "trans", "lds", "vmem", "flat", "scratch"})
_across: set[str] = set()
"""Instructions seen to work across lanes."""


class Translator:
    """Writes one version of a kernel.

    entries: addresses of blocks at which the other version may be entered; None where there is no other.
    bails: filled with the addresses at which the plain version may be entered when a guess fails.
    """

    def __init__(self, blocks: Sequence[Block], facts: Facts, *, fast: bool, entries: Set[int] | None) -> None:
        self.blocks, self.facts, self.fast, self.entries = blocks, facts, fast, entries
        self.bails: set[int] = set()
        self._guesses = guess(blocks) if fast and facts.patterns else {}
        self.symbol = "fast" if fast else "plain"
        self.f = Function(f"i32 @{self.symbol}(ptr noalias %w, ptr noalias %c) alignstack(64)")
        sites = (
            inst for b in blocks for inst in b.instructions if inst.desc.access is not None or jumps_indirectly(inst)
        )
        self._sites = {inst.address: number for number, inst in enumerate(sites)}
        self._modes: dict[int, FloatMode] = {}
        self._rounds = 1
        self._conditions: list[LlvmValue] | None = None  # of the rounds of a loop that is being unrolled
        self.strips: Strips | None = None
        self._whole: Whole | None = None
        self._open: bool = False
        self.inst: Instruction
        self.block: Block

    # --- the function

    def text(self) -> str:
        """The function's IR with the declarations that it needs."""
        f = self.f
        entry = f.region("start")
        f.entry.line("br label %start")
        alloca_entry = f.entry
        if self.fast:
            self._leave_unless_full(entry)
        self._load_bases(entry)
        pc = f.emit(entry, f"load i32, ptr {self._field(entry, 'W', 'pc')}")
        cases = " ".join(f"i32 {b.address}, label %b{b.number}" for b in self.blocks)
        entry.line(f"switch i32 {pc}, label %nowhere [ {cases} ]")
        nowhere = f.region("nowhere")
        nowhere.line(f"ret i32 {int(Stop.ABORT)}")
        self._modes[0] = self.facts.mode
        for block in self.blocks:
            self._write_block(block)
        alloca_entry.lines.append(alloca_entry.lines.pop(0))  # the branch goes behind the allocas
        return "\n".join([*sorted(f.declarations), *f.lines()])

    def _load_bases(self, region: Region) -> None:
        """%lds, %lds.size and %sites, which do not change while the function runs."""
        f = self.f
        lds = f.emit(region, f"load i64, ptr {self._field(region, 'C', 'lds')}")
        region.line(f"%lds = inttoptr i64 {lds} to ptr")
        size = f.emit(region, f"load i32, ptr {self._field(region, 'C', 'lds_bytes')}")
        region.line(f"%lds.size = zext i32 {size} to i64")
        sites = f.emit(region, f"load i64, ptr {self._field(region, 'C', 'sites')}")
        region.line(f"%sites = inttoptr i64 {sites} to ptr")

    def _leave_unless_full(self, region: Region) -> None:
        f = self.f
        place = f.emit(region, f"getelementptr inbounds i8, ptr %w, i64 {4 * EXEC_LO.index}")
        exec_ = f.emit(region, f"load i32, ptr {place}")
        full = f.emit(region, f"icmp eq i32 {exec_}, {-1}")
        region.line(f"br i1 {full}, label %full, label %partial")
        region.label("partial")
        region.line(f"ret i32 {int(Stop.SWITCH)}")
        region.label("full")

    def _field(self, region: Region, which: str, name: str) -> str:
        return self.f.emit(region, field_pointer(which, name))

    def _write_block(self, block: Block) -> None:
        unrolled = self.fast and may_repeat(block) and self._write_unrolled(block)
        self._begin(block, f"b{block.number}.once" if unrolled else f"b{block.number}")
        for inst in block.instructions:
            self.inst = inst
            self._write(inst)
        if self._open:
            self._fall_through()

    def _write_unrolled(self, block: Block) -> bool:
        """A block that is a loop by itself, several rounds at once; False, and nothing written, where that cannot be.

        Whether there are so many rounds left is known before: the scalar part of all rounds comes in front of the one
        loop over strips that holds their vector part. If there are not, the block is run once, as it is.
        """
        rounds, regions = rounds_of(block), len(self.f.regions)
        self._begin(block, f"b{block.number}")
        self._conditions = []
        try:
            for _ in range(rounds):
                for inst in block.instructions:
                    self.inst = inst
                    self._write(inst)
            strips, conditions = self.strips, self._conditions
            if strips is None or self._loops != 1 or strips.checks_faults or strips.stores:
                raise NeedsClosedLoop
        except NeedsClosedLoop:
            del self.f.regions[regions:]
            return False
        finally:
            self._conditions = None
        strips.required = [c.ref for c in conditions[:-1]]
        strips.otherwise = f"b{block.number}.once"
        self._rounds = rounds
        self.branch(block.last, conditions[-1])
        self._rounds = 1
        return True

    def _begin(self, block: Block, label: str) -> None:
        region = self.f.region(label)
        self.block = block
        if block.number not in self._modes:
            self._modes[block.number] = self.facts.mode  # reached only through an indirect jump
        self.writer = Writer(
            self.f, region, region, self._modes[block.number], self.facts.native_half, self.facts.native_nans
        )
        self.scalars = Scalars(self.writer, self.fast)
        self._whole = Whole(self.scalars, self.facts.strip, self.facts.vgprs)
        self.strips, self._open, self._loops = None, True, 0

    def _write(self, inst: Instruction) -> None:
        desc = inst.desc
        if desc.unit not in _LANE_UNITS:
            self._lanes: Lanes | None = None
            if desc.effect == "wait":
                return  # a simulated access is done when it is issued
            if self._conditions is not None and (self.strips and self._touches_open_masks(inst)):
                raise NeedsClosedLoop
            if self.strips is not None and (
                (desc.effect and self._conditions is None)
                or desc.relative
                or self._touches_open_masks(inst)
                or self._orders(inst)
            ):
                self._close()
            execute(self, inst)
            return
        if not inst.operands:
            return  # cache control
        key = desc.name + (" dpp" if "dpp" in inst.mnemonic or inst.has("dpp8") or inst.has("quad_perm") else "")
        if key not in _across and not desc.relative:
            if self.strips is not None and self._conflicts(inst):
                self._close()
            for _ in range(2):
                try:
                    self._lanes = self._open_strips()
                    execute(self, inst)
                    return
                except NeedsClosedLoop:
                    self._close()
                except NeedsAllLanes:
                    _across.add(key)
                    break
        self._close()
        self._lanes = self._whole
        execute(self, inst)
        self._lanes = None

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
            self._loops += 1
            self.strips = Strips(self.scalars, self.facts.strip, self.facts.vgprs, self.inst)
        return self.strips

    def _close(self) -> None:
        if self.strips is None:
            return
        strips, self.strips = self.strips, None
        strips.close(lambda region: self._bail(region, strips.first))
        if strips.checks_faults:
            self._stop_on_fault()

    def _bail(self, region: Region, first: Instruction) -> None:
        """A guess was wrong: the plain version goes on, from `first`."""
        assert first.address is not None
        self.bails.add(first.address)
        place = self._field(region, "W", "bails")
        count = self.f.emit(region, f"load i32, ptr {place}")
        region.line(f"store i32 {self.f.emit(region, f'add i32 {count}, 1')}, ptr {place}")
        region.line(f"store i32 {first.address}, ptr {self._field(region, 'W', 'pc')}")
        region.line(f"ret i32 {int(Stop.SWITCH)}")

    def _stop_on_fault(self) -> None:
        region, f = self.writer.scalar, self.f
        fault = f.emit(region, f"load i32, ptr {self._field(region, 'C', 'fault')}")
        good = f.emit(region, f"icmp eq i32 {fault}, 0")
        name = f.name("faulted")
        region.line(f"br i1 {good}, label %{name}.not, label %{name}")
        region.label(name)
        region.line(f"ret i32 {int(Stop.FAULT)}")
        region.label(f"{name}.not")

    # --- where control goes

    def _finish(self) -> Region:
        """End the block's computation: everything is in memory, and the region waits for its terminator."""
        self._close()
        region = self.writer.scalar
        self.scalars.flush(region)
        self._open = False
        return region

    def _fall_through(self) -> None:
        if self.block.next < 0:
            raise self.block.last.error("control runs off the end of the code")
        if writes_exec(self.block.last):
            self._close()
            exec_ = self.scalars[EXEC_LO]
            region = self._finish()
            self._go_with(region, self.block.next, exec_)
        else:
            region = self._finish()
            region.line(f"br label %{self._edge(self.block.next)}")

    def _go_with(self, region: Region, number: int, exec_: LlvmValue) -> None:
        """Go on behind a write to EXEC."""
        if not self.fast:
            region.line(f"br label %{self._edge(number)}")
            return
        full = self.f.emit(region, f"icmp eq i32 {exec_.ref}, -1")
        name = self.f.name("partial")
        region.line(f"br i1 {full}, label %{self._edge(number)}, label %{name}")
        region = self.f.region(name)
        self._leave(region, number, Stop.SWITCH)

    def _leave(self, region: Region, number: int, stop: Stop) -> None:
        region.line(f"store i32 {self.blocks[number].address}, ptr {self._field(region, 'W', 'pc')}")
        region.line(f"ret i32 {int(stop)}")

    def _edge(self, number: int) -> str:
        """The label through which this block goes to another: the block itself, or checks before it."""
        target = self.blocks[number]
        backward = target.address <= self.block.address
        self._set_mode(number)
        returns = not self.fast and self.entries is not None and target.address in self.entries
        if not backward and not returns:
            return f"b{number}"
        f = self.f
        name = f.name("edge")
        region = f.region(name)
        if backward:
            length = (self.block.last.address or 0) - target.address
            if waits_for_others(self.blocks, target.address, self.block.address):
                end_turn(f, region)
            self._check_budget(region, number, max(1, length // 8) * self._rounds)
        if returns:
            self._maybe_fast(region, number)
        region.line(f"br label %b{number}")
        return name

    def _check_budget(self, region: Region, number: int, instructions: int) -> None:
        check_budget(self.f, region, self.blocks[number].address, instructions)

    def _maybe_fast(self, region: Region, number: int) -> None:
        """From the plain version back to the fast one where that may hold."""
        f = self.f
        place = f.emit(region, f"getelementptr inbounds i8, ptr %w, i64 {4 * EXEC_LO.index}")
        full = f.emit(region, f"icmp eq i32 {f.emit(region, f'load i32, ptr {place}')}, -1")
        bails = f.emit(region, f"load i32, ptr {self._field(region, 'W', 'bails')}")
        few = f.emit(region, f"icmp ult i32 {bails}, {BAILS}")
        both = f.emit(region, f"and i1 {full}, {few}")
        name = f.name("back")
        region.line(f"br i1 {both}, label %{name}, label %{name}.not")
        region.label(name)
        self._leave(region, number, Stop.SWITCH)
        region.label(f"{name}.not")

    def _set_mode(self, number: int) -> None:
        """Each block is written for one MODE; two ways into it with different ones are refused."""
        mode = self.writer.mode
        if self._modes.setdefault(number, mode) != mode:
            raise (
                self.blocks[number]
                .instructions[0]
                .error("the MODE register differs by the way control came here", hint="set the mode on each way")
            )

    # --- Engine: see isa.sim.execute

    @property
    def mode(self) -> FloatMode:
        return self.writer.mode

    @mode.setter
    def mode(self, mode: FloatMode) -> None:
        self._close()
        self.writer.mode = mode

    def constant(self, type_: str, number: float) -> LlvmValue:
        return LlvmValue.of(self.writer, type_, number)

    def lane_ids(self) -> LlvmValue:
        assert self._lanes is not None
        return self._lanes.numbers()

    def exec_mask(self) -> LlvmValue | None:
        assert self._lanes is not None
        return self._lanes.active()

    def read_vgpr(self, index: int, relative: Value | None = None) -> LlvmValue:
        assert self._lanes is not None
        self._check_vgpr(index)
        if relative is None:
            return self._lanes.read(index)
        assert isinstance(relative, LlvmValue)
        assert self._whole is not None
        return self._whole.read_relative(index, relative)

    def write_vgpr(self, index: int, value: Value, mask: Value | None, relative: Value | None = None) -> None:
        assert isinstance(value, LlvmValue)
        assert mask is None or isinstance(mask, LlvmValue)
        assert self._lanes is not None
        self._check_vgpr(index)
        if relative is None:
            self._lanes.write(index, value, mask)
        else:
            assert isinstance(relative, LlvmValue)
            assert self._whole is not None
            self._whole.write_relative(index, value, mask, relative)

    def _check_vgpr(self, index: int) -> None:
        if index >= self.facts.vgprs:
            raise self.inst.error(
                f"v{index} is beyond the wave's registers",
                expected=f"v0 to v{self.facts.vgprs - 1}, as the kernel says",
            )

    def read_sgpr(self, index: int, relative: Value | None = None) -> LlvmValue:
        if relative is not None:
            assert isinstance(relative, LlvmValue)
            place = self.scalars.relative(index, relative, SGPR_LIMIT)
            return LlvmValue(self.writer, "u32", 0, self.f.emit(self.writer.scalar, f"load i32, ptr {place}"))
        reg = s(index)
        if reg.is_null:
            return self.constant("u32", 0)
        if self.strips is not None and reg in self.strips.masks:
            return self.strips.masks[reg]
        return self.scalars[reg]

    def write_sgpr(self, index: int, value: Value, relative: Value | None = None) -> None:
        if relative is not None:
            assert isinstance(relative, LlvmValue)
            assert isinstance(value, LlvmValue)
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
        assert isinstance(value, LlvmValue)
        self.scalars[reg] = value

    def read_scc(self) -> LlvmValue:
        return self.scalars[SCC]

    def write_scc(self, value: Value) -> None:
        assert isinstance(value, LlvmValue)
        self.scalars[SCC] = value

    def special(self, name: str) -> LlvmValue:
        high = SHARED_APERTURE if "shared" in name else PRIVATE_APERTURE
        return self.constant("u64", high << 32 | (0xFFFFFFFF if "limit" in name else 0))

    def next_address(self) -> LlvmValue:
        region = self.writer.scalar
        base = LlvmValue(
            self.writer, "u64", 0, self.f.emit(region, f"load i64, ptr {self._field(region, 'C', 'code')}")
        )
        return base + (self.inst.address or 0) + self.inst.size

    def _note_access(self, access: Access) -> Strips:
        """An access a lane, which may fault."""
        assert self.strips is not None
        self.strips.note(access)
        self.strips.checks_faults = True
        return self.strips

    def _planned(self, access: Access, address: LlvmValue, size: int, site: int) -> tuple[object, Pattern] | None:
        """How to do this access by wide moves, None where no pattern is known."""
        if not self._guesses or not address.lanes_ or access.space not in ("lds", "global", "flat"):
            return None
        assert self.strips is not None
        if address.form is not None:
            known = self._guesses.get(self.strips.first.address or 0, {})
            plan = self.strips.guards.plan(access.space, address.form, known, size, site)
            if plan is not None:
                self.strips.note(access)
                return plan
        # The address was computed in this very loop: a new one, which begins with it, may rely on a guess.
        known = self._guesses.get(self.inst.address or 0, {})
        registers = [r for o in self.inst.operands for r in self._vgprs(o) if r.index in known]
        if registers and self.strips.first is not self.inst:
            raise NeedsClosedLoop
        return None

    @staticmethod
    def _vgprs(operand: object) -> list[Reg]:
        return list(operand.units()) if isinstance(operand, Reg) and operand.is_vgpr else []

    def load(
        self, inst: Instruction, access: Access, address: Value, element: str, mask: Value | None
    ) -> tuple[LlvmValue, ...]:
        assert isinstance(address, LlvmValue)
        assert mask is None or isinstance(mask, LlvmValue)
        site, size = self._sites[self.inst.address], memory.element_bytes(element)
        w = self.writer
        if access.space == "scalar":
            pointer = memory.resolve(w, w.scalar, "scalar", address, size, site, "0")
            words = memory.load_words(w, w.scalar, pointer, element)
            self._stop_on_fault()
            return tuple(LlvmValue(w, "u32", 0, word) for word in words)
        if (planned := self._planned(access, address, size, site)) is not None:
            key, pattern = planned
            assert self.strips is not None
            assert address.form is not None
            return tuple(self.strips.wide.load(key, address.form.constant, pattern, element))
        strips = self._note_access(access)

        def visit(region: Region, lane: str, values: list[LlvmValue]) -> Sequence[str]:
            pointer = memory.resolve(w, region, access.space, values[0], size, site, lane)
            return memory.load_words(w, region, pointer, element)

        return tuple(memory.each_lane(w, strips, mask, [address], max(1, size // 4), visit))

    def store(
        self,
        inst: Instruction,
        access: Access,
        address: Value,
        element: str,
        values: tuple[Value, ...],
        mask: Value | None,
    ) -> None:
        assert isinstance(address, LlvmValue)
        assert mask is None or isinstance(mask, LlvmValue)
        site, size = self._sites[self.inst.address], memory.element_bytes(element)
        data = [v for v in values if isinstance(v, LlvmValue)]
        if (planned := self._planned(access, address, size, site)) is not None:
            key, pattern = planned
            assert self.strips is not None
            assert address.form is not None
            self.strips.wide.store(key, address.form.constant, pattern, element, data)
            return
        w, strips = self.writer, self._note_access(access)

        def visit(region: Region, lane: str, inputs: list[LlvmValue]) -> Sequence[str]:
            pointer = memory.resolve(w, region, access.space, inputs[0], size, site, lane)
            memory.store_words(w, region, pointer, element, [v.ref for v in inputs[1:]])
            return ()

        memory.each_lane(w, strips, mask, [address, *data], 0, visit)

    def atomic(
        self,
        inst: Instruction,
        access: Access,
        address: Value,
        body: Callable[..., Value],
        data: tuple[Value, ...],
        mask: Value | None,
    ) -> LlvmValue:
        assert isinstance(address, LlvmValue)
        assert mask is None or isinstance(mask, LlvmValue)
        site, size = self._sites[self.inst.address], memory.element_bytes(access.element)
        w, strips, f = self.writer, self._note_access(access), self.f
        inputs = [v for v in data if isinstance(v, LlvmValue)]
        kind = {"b32": "u32", "b64": "u64"}.get(access.element, access.element)

        def visit(region: Region, lane: str, values: list[LlvmValue]) -> Sequence[str]:
            pointer = memory.resolve(w, region, access.space, values[0], size, site, lane)

            def compute(old: LlvmValue) -> LlvmValue:
                new = body(old, *values[1:])
                assert isinstance(new, LlvmValue)
                return new

            old = memory.atomic(w, region, pointer, kind, compute)
            if size == 4:
                return [old.ref]
            low = f.emit(region, f"trunc i64 {old.ref} to i32")
            high = f.emit(region, f"lshr i64 {old.ref}, 32")
            return [low, f.emit(region, f"trunc i64 {high} to i32")]

        words = memory.each_lane(w, strips, mask, [address, *inputs], size // 4, visit)
        old = words[0] if size == 4 else words[0].to("u64") | (words[1].to("u64") << 32)
        return old.bits(kind)

    def branch(self, inst: Instruction, condition: Value | None) -> None:
        if self._conditions is not None:
            assert isinstance(condition, LlvmValue)
            self._conditions.append(condition)
            return
        self._close()
        if condition is None:
            region = self._finish()
            region.line(f"br label %{self._edge(self.block.target)}")
            return
        assert isinstance(condition, LlvmValue)
        region = self._finish()
        region.line(
            f"br i1 {condition.ref}, label %{self._edge(self.block.target)}, label %{self._edge(self.block.next)}"
        )

    def jump(self, target: Value) -> None:
        assert isinstance(target, LlvmValue)
        region = self._finish()
        f = self.f
        base = f.emit(region, f"load i64, ptr {self._field(region, 'C', 'code')}")
        at = f.emit(region, f"sub i64 {target.ref}, {base}")
        name = f.name("jump")
        cases = " ".join(f"i64 {b.address}, label %{self._edge(b.number)}" for b in self.blocks)
        region.line(f"switch i64 {at}, label %{name}.lost [ {cases} ]")
        lost = f.region(f"{name}.lost")
        site = self._sites[self.inst.address]
        f.emit(
            lost,
            f"call ptr @fault(ptr %w, ptr %c, i32 {int(FaultKind.JUMP)}, i64 {target.ref}, i32 4, i32 {site}, i32 0)",
        )
        lost.line(f"ret i32 {int(Stop.FAULT)}")

    def end(self) -> None:
        self._finish().line(f"ret i32 {int(Stop.END)}")

    def barrier(self) -> None:
        self._set_mode(self.block.next)
        self._leave(self._finish(), self.block.next, Stop.BARRIER)
