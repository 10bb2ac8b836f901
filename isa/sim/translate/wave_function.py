"""The function around a kernel's blocks: how it is entered, the edges between blocks, and how it is left.

The function is entered with a wave (`state.Wave`) and runs from block `wave.pc` until the wave ends, waits at a
barrier, has to go on in the other version, or must stop. Which of these it was it returns as a `Stop`; the wave's
registers are then in memory, and `wave.pc` is the block where it goes on.

There are two versions of each kernel:

    fast    holds while EXEC is all ones: no masks. Checked where the function is entered and after each write to EXEC.
    plain   for any EXEC: results are merged under masks.

A version returns `Stop.SWITCH` where the other is to go on; since all registers lie in memory between blocks, nothing
else has to be done. The plain version is compiled only when a wave first needs it.

Backward branches check the launch's abort flag and its budget of instructions. In a loop that waits for others they
leave (`Stop.WAITS`) where an iteration found nothing new.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence, Set

from isa.garbage import uncollected
from isa.registers import EXEC_LO
from isa.semantics.execute import asked
from isa.semantics.float_mode import FloatMode
from isa.semantics.instruction import Instruction
from isa.semantics.values import Value
from isa.sim.ir import jit
from isa.sim.ir.ir import Function, Region
from isa.sim.ir.jit import HostTarget
from isa.sim.ir.llvm_values import LlvmValue, Writer
from isa.sim.ir.runtime import field_pointer, runtime_text
from isa.sim.ir.state import FaultKind, Stop
from isa.sim.ir.translations import Facts, Translated
from isa.sim.translate.cfg import Block, jumps_indirectly, looks, waits_for_others, writes_exec
from isa.sim.translate.registers import Scalars
from isa.sim.translate.time_slice import check_budget, leave, wait_turn

BAILS = 64
"""How often a wave may fall out of the fast version because an assumption failed, before it stays with the plain
one."""


class WaveFunction(ABC):
    """One version of a kernel. What a block does is written by `_write_block`, which sets `block`, `writer`, `scalars`
    and, for each instruction, `inst`.

    entries: addresses of blocks at which the other version may be entered; None where there is no other.
    bails: filled with the addresses at which the plain version may be entered when an assumption fails.
    """

    block: Block
    inst: Instruction
    writer: Writer
    scalars: Scalars

    def __init__(self, blocks: Sequence[Block], facts: Facts, *, fast: bool, entries: Set[int] | None) -> None:
        self.blocks, self.facts, self.fast, self.entries = blocks, facts, fast, entries
        self.bails: set[int] = set()
        self.symbol = "fast" if fast else "plain"
        self.f = Function(f"i32 @{self.symbol}(ptr noalias %w, ptr noalias %c) alignstack(64)")
        sites = (
            inst for b in blocks for inst in b.instructions if inst.desc.access is not None or jumps_indirectly(inst)
        )
        self._sites = {inst.address: number for number, inst in enumerate(sites)}
        self._modes: dict[int, FloatMode] = {}
        self._iterations = 1
        self._open: bool = False
        self._faults = False  # whether there is a way to `faulted`
        self._jump: tuple[str, str] | None = None  # where an indirect jump leaves its target and its site
        self._clocked = any(asked(inst) for b in blocks for inst in b.instructions)
        self._ticked = 0  # instructions of the block that are counted already

    @property
    def size(self) -> int:
        """Lines that the good code has, about."""
        return self.f.size

    @property
    def zeroed(self) -> int:
        """How many VGPRs are 0 when a wave begins, v0 apart; those after them hold anything."""
        return self.facts.vgprs

    @abstractmethod
    def _write_block(self, block: Block) -> None:
        """Write what a block does and where it goes."""

    @abstractmethod
    def _close(self) -> None:
        """End what is open: all that the block has computed so far is in the registers."""

    # --- how it is entered

    def text(self) -> str:
        """The function's IR with the declarations that it needs."""
        with uncollected():
            return self._text()

    def compiled(self, target: HostTarget, sites: int = 0) -> Translated:
        """Native code, with what it calls of the runtime. sites: how many the kernel has."""
        code = jit.compile_ir(runtime_text(self.facts.strip, self.zeroed) + self.text(), target)
        return Translated(code, sites, frozenset(self.bails), self.size)

    def _text(self) -> str:
        f = self.f
        entry = f.region("start")
        f.entry.line("br label %start")
        alloca_entry = f.entry
        if self.fast:
            self._leave_unless_full(entry)
        self._load_bases(entry)
        pc = f.emit(entry, "load i32, ptr %s", self._field(entry, "W", "pc"))
        cases = " ".join(f"i32 {b.address}, label %b{b.number}" for b in self.blocks)
        entry.line(f"switch i32 {pc}, label %nowhere [ {cases} ]")
        nowhere = f.region("nowhere")
        nowhere.line(f"ret i32 {int(Stop.ABORT)}")
        self._modes[0] = self.facts.mode
        for block in self.blocks:
            self._write_block(block)
        if self._jump is not None:
            self._write_jumps()
        if self._faults:
            f.region("faulted").line(f"ret i32 {int(Stop.FAULT)}")
        alloca_entry.lines.append(alloca_entry.lines.pop(0))  # the branch goes after the allocas
        text = "\n".join([*sorted(f.declarations), *f.lines()])
        f.regions.clear()  # before anything is collected again
        return text

    def _load_bases(self, region: Region) -> None:
        """%lds, %lds.size and %sites, which do not change while the function runs."""
        f = self.f
        lds = f.emit(region, "load i64, ptr %s", self._field(region, "C", "lds"))
        region.line(f"%lds = inttoptr i64 {lds} to ptr")
        size = f.emit(region, "load i32, ptr %s", self._field(region, "C", "lds_bytes"))
        region.line(f"%lds.size = zext i32 {size} to i64")
        sites = f.emit(region, "load i64, ptr %s", self._field(region, "C", "sites"))
        region.line(f"%sites = inttoptr i64 {sites} to ptr")

    def _leave_unless_full(self, region: Region) -> None:
        region.branch(self._is_full(region), "full", "partial", "partial")
        region.line(f"ret i32 {int(Stop.SWITCH)}")
        region.label("full")

    def _is_full(self, region: Region) -> str:
        """Whether EXEC, which is in memory, is all ones."""
        f = self.f
        place = f.emit(region, "getelementptr inbounds i8, ptr %s, i64 %s", "%w", 4 * EXEC_LO.index)
        return f.emit(region, "icmp eq i32 %s, -1", f.emit(region, "load i32, ptr %s", place))

    def _field(self, region: Region, which: str, name: str) -> str:
        return self.f.emit(region, field_pointer(which, name))

    # --- how it is left

    def _bail(self, region: Region, first: Instruction) -> None:
        """An assumption failed: the plain version goes on, from `first`."""
        assert first.address is not None
        self.bails.add(first.address)
        place = self._field(region, "W", "bails")
        count = self.f.emit(region, "load i32, ptr %s", place)
        region.line(f"store i32 {self.f.emit(region, 'add i32 %s, 1', count)}, ptr {place}")
        leave(self.f, region, first.address, int(Stop.SWITCH))

    def _stop_on_fault(self) -> None:
        region, f = self.writer.scalar, self.f
        fault = f.emit(region, "load i32, ptr %s", self._field(region, "C", "fault"))
        self._stop_if(f.emit(region, "icmp ne i32 %s, 0", fault))

    def _stop_if(self, fault: str) -> None:
        region, name = self.writer.scalar, self.f.name("good")
        self._faults = True
        region.branch(fault, "faulted", name, name)

    # --- where control goes

    def _finish(self) -> Region:
        """End the block's computation: everything is in memory, and the region waits for its terminator."""
        self._close()
        region = self.writer.scalar
        if self._clocked:
            self._tick(len(self.block.instructions) * self._iterations)
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

    def _tick(self, instructions: int) -> str:
        """Counts the instructions of the block up to this one, one at least; gives the wave's count, which grows from
        each time to the next, on whatever path."""
        more, self._ticked = max(1, instructions - self._ticked), instructions
        region = self.writer.scalar
        place = self._field(region, "W", "ticks")
        now = self.f.emit(region, "add i64 %s, %s", self.f.emit(region, "load i64, ptr %s", place), more)
        region.line(f"store i64 {now}, ptr {place}")
        return now

    def _go_with(self, region: Region, number: int, exec_: LlvmValue) -> None:
        """Go on after a write to EXEC."""
        if not self.fast:
            region.line(f"br label %{self._edge(number)}")
            return
        full = self.f.emit(region, "icmp eq i32 %s, -1", exec_.ref)
        name = self.f.name("partial")
        region.line(f"br i1 {full}, label %{self._edge(number)}, label %{name}")
        region = self.f.region(name)
        self._leave(region, number, Stop.SWITCH)

    def _leave(self, region: Region, number: int, stop: Stop) -> None:
        leave(self.f, region, self.blocks[number].address, int(stop))

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
            loop = self.blocks, target.address, self.block.address
            if waits_for_others(*loop):
                wait_turn(f, region, target.address, max(1, length // 8), looks=bool(looks(*loop)))
            self._check_budget(region, number, max(1, length // 8) * self._iterations)
        if returns:
            self._maybe_fast(region, number)
        region.line(f"br label %b{number}")
        return name

    def _check_budget(self, region: Region, number: int, instructions: int) -> None:
        check_budget(self.f, region, self.blocks[number].address, instructions)

    def _maybe_fast(self, region: Region, number: int) -> None:
        """From the plain version back to the fast one where that may hold."""
        f = self.f
        full = self._is_full(region)
        bails = f.emit(region, "load i32, ptr %s", self._field(region, "W", "bails"))
        few = f.emit(region, "icmp ult i32 %s, %s", bails, BAILS)
        both = f.emit(region, "and i1 %s, %s", full, few)
        name = f.name("back")
        region.branch(both, name, f"{name}.not", name)
        self._leave(region, number, Stop.SWITCH)
        region.label(f"{name}.not")

    def _set_mode(self, number: int) -> None:
        """Each block is written for one MODE; two edges into it with different ones are rejected."""
        mode = self.writer.mode
        if self._modes.setdefault(number, mode) != mode:
            raise (
                self.blocks[number]
                .instructions[0]
                .error("the MODE register differs by the path to here", hint="set the mode on each path")
            )

    # --- how instructions change it (isa.semantics.engine.Engine)

    def branch(self, inst: Instruction, condition: Value | None) -> None:
        region = self._finish()
        if condition is None:
            region.line(f"br label %{self._edge(self.block.target)}")
            return
        assert isinstance(condition, LlvmValue)
        region.line(
            f"br i1 {condition.ref}, label %{self._edge(self.block.target)}, label %{self._edge(self.block.next)}"
        )

    def jump(self, target: Value) -> None:
        """All jumps share one place from which they go on (`_write_jumps`)."""
        assert isinstance(target, LlvmValue)
        for block in self.blocks:
            self._set_mode(block.number)
        region = self._finish()
        f = self.f
        self._jump = self._jump or (f.alloca("i64", 8), f.alloca("i32", 4))
        region.line(f"store i64 {target.ref}, ptr {self._jump[0]}")
        region.line(f"store i32 {self._sites[self.inst.address]}, ptr {self._jump[1]}")
        region.line("br label %jump")

    def _write_jumps(self) -> None:
        """Where all indirect jumps come together: to the block at the address, if one begins there."""
        f, region = self.f, self.f.region("jump")
        assert self._jump is not None
        target = f.emit(region, "load i64, ptr %s", self._jump[0])
        site = f.emit(region, "load i32, ptr %s", self._jump[1])
        base = f.emit(region, "load i64, ptr %s", self._field(region, "C", "code"))
        at = f.emit(region, "sub i64 %s, %s", target, base)
        cases = " ".join(f"i64 {b.address}, label %jump.{b.number}" for b in self.blocks)
        region.line(f"switch i64 {at}, label %jump.lost [ {cases} ]")
        lost = f.region("jump.lost")
        form = f"call ptr @fault(ptr %s, ptr %s, i32 {int(FaultKind.JUMP)}, i64 %s, i32 4, i32 %s, i32 0)"
        f.emit(lost, form, "%w", "%c", target, site)
        lost.line(f"ret i32 {int(Stop.FAULT)}")
        for block in self.blocks:
            edge = f.region(f"jump.{block.number}")
            self._check_budget(edge, block.number, 1)
            if not self.fast and self.entries is not None and block.address in self.entries:
                self._maybe_fast(edge, block.number)
            edge.line(f"br label %b{block.number}")

    def end(self) -> None:
        self._finish().line(f"ret i32 {int(Stop.END)}")

    def trap(self) -> None:
        self._stop(FaultKind.TRAP, 0)

    def _stop(self, kind: FaultKind, register: int) -> None:
        """The wave stops at this instruction."""
        region = self._finish()
        what = f"i32 {int(kind)}, i64 {self.inst.address or 0}, i32 {register}, i32 0, i32 -1"
        self.f.emit(region, f"call ptr @fault(ptr %s, ptr %s, {what})", "%w", "%c")
        region.line(f"ret i32 {int(Stop.FAULT)}")

    def grid_barrier(self, count: Value) -> None:
        """In a cooperative launch: the number of waves that arrived grows to the next multiple of `count`. The wave
        waits at the block that begins here, and keeps what it waits for."""
        assert isinstance(count, LlvmValue)
        self._close()
        f, region, name = self.f, self.writer.scalar, self.f.name("grid")
        arrived = f.emit(region, "load i64, ptr %s", self._field(region, "C", "arrived"))
        alone = f.emit(region, "icmp eq i64 %s, 0", arrived)
        region.line(f"br i1 {alone}, label %{name}.alone, label %{name}.meet")
        fault = f.region(f"{name}.alone")
        what = f"i32 {int(FaultKind.GRID)}, i64 {self.inst.address or 0}, i32 0, i32 0, i32 -1"
        f.emit(fault, f"call ptr @fault(ptr %s, ptr %s, {what})", "%w", "%c")
        fault.line(f"ret i32 {int(Stop.FAULT)}")
        region.label(f"{name}.meet")
        place = f.emit(region, "inttoptr i64 %s to ptr", arrived)
        kept = self._field(region, "W", "goal")
        goal = f.emit(region, "load i64, ptr %s", kept)
        comes = f.emit(region, "icmp eq i64 %s, 0", goal)
        region.branch(comes, f"{name}.comes", f"{name}.waits", f"{name}.comes")
        before = f.emit(region, "atomicrmw add ptr %s, i64 1 seq_cst", place)
        wide = f.emit(region, "zext i32 %s to i64", count.ref)
        rounds = f.emit(region, "add i64 %s, 1", f.emit(region, "udiv i64 %s, %s", before, wide))
        region.line(f"store i64 {f.emit(region, 'mul i64 %s, %s', rounds, wide)}, ptr {kept}")
        region.go_on(f"{name}.waits")
        now = f.emit(region, "load atomic i64, ptr %s seq_cst, align 8", place)
        met = f.emit(region, "icmp uge i64 %s, %s", now, f.emit(region, "load i64, ptr %s", kept))
        region.line(f"br i1 {met}, label %{name}.met, label %{name}.not")
        self._leave(f.region(f"{name}.not"), self.block.number, Stop.WAITS)
        region.label(f"{name}.met")
        region.line(f"store i64 0, ptr {kept}")

    def barrier(self) -> None:
        self._set_mode(self.block.next)
        self._leave(self._finish(), self.block.next, Stop.BARRIER)
