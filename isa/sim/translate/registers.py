"""Registers during translation: a block of code -> where its values are, in memory, in SSA values or in a loop over
strips.

Between blocks all registers lie in memory, in the `Wave` struct. Inside a block a register is an SSA value from its
first use on, and goes back to memory where the block (for VGPRs: the strip loop) ends, if it was written. So LLVM sees
clean chains of values within a block and no phi nodes between blocks, and a wave can be left at any block's start
without saving anything.

`Scalars` holds SGPRs, SCC, VCC, EXEC and M0. VGPRs are reached in one of two ways: `Strips` writes a loop over strips
of the wave (8 lanes where vectors have 256 bits), in which consecutive vector instructions stand one after the other
on a strip's values; `Whole` has all 32 lanes at once, for instructions that work across lanes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Protocol

from isa.registers import EXEC_HI, EXEC_LO, LANES, SCC, Reg
from isa.semantics.instruction import Access, Instruction
from isa.sim.ir.ir import Function, Operation, Region, written
from isa.sim.ir.llvm_values import LlvmValue, Writer
from isa.sim.ir.shuffles import concatenate
from isa.sim.ir.state import VGPRS, middle_of, scalar_offset
from isa.sim.translate import scalar_access
from isa.sim.translate.accumulator_order import Result, ordered, values_only
from isa.sim.translate.fma_fast_path import in_full, with_fast_path
from isa.sim.translate.forms import Form
from isa.sim.translate.guards import Guards
from isa.sim.translate.strip_mask import StripMask
from isa.sim.translate.vector_access import VectorAccess

FULL = 0xFFFFFFFF


class Scalars:
    """The scalar registers in one block. `exec_full`: EXEC is known to be all ones when the block is entered."""

    def __init__(self, writer: Writer, exec_full: bool) -> None:
        self.w = writer
        self._known: dict[Reg, LlvmValue] = {}
        self._dirty: dict[Reg, None] = {}
        if exec_full:
            self._known[EXEC_LO] = LlvmValue.of(writer, "u32", FULL)

    def __getitem__(self, reg: Reg) -> LlvmValue:
        """A u32; SCC is a b1."""
        if reg not in self._known:
            place = self._place(reg)
            word = LlvmValue(self.w, "u32", 0, self.w.function.emit(self.w.scalar, "load i32, ptr %s", place))
            self._known[reg] = (word & 1).to_b1() if reg == SCC else word
        return self._known[reg]

    def __setitem__(self, reg: Reg, value: LlvmValue) -> None:
        self._known[reg] = value
        self._dirty[reg] = None

    def flush(self, region: Region) -> None:
        """Write to memory what was written; the values stay known."""
        for reg in self._dirty:
            value = self._known[reg]
            scalar, self.w.scalar = self.w.scalar, region
            word = value.to("u32")
            region.line(f"store i32 {word.ref}, ptr {self._place(reg, region)}")
            self.w.scalar = scalar

    def relative(self, index: int, relative: LlvmValue, limit: int) -> str:
        """Place of SGPR index + relative, all registers being in memory; one beyond `limit` is the register itself.

        Whatever was known of registers is forgotten, since the one at that place may be about to change.
        """
        self.forget()
        return dynamic_place(self.w, index, relative, limit, 0, 4)

    def forget(self) -> None:
        """All is in memory, where it may be about to change."""
        self.flush(self.w.scalar)
        kept = {reg: value for reg, value in self._known.items() if value.constant is not None and reg == EXEC_LO}
        self._known, self._dirty = kept, {}

    def settle(self, regs: Container[Reg]) -> None:
        """These are in memory, for who reads them there."""
        dirty, self._dirty = self._dirty, {reg: None for reg in self._dirty if reg in regs}
        self.flush(self.w.scalar)
        self._dirty = {reg: None for reg in dirty if reg not in self._dirty}

    def changed(self, reg: Reg) -> None:
        """Memory holds what it is now."""
        self._known.pop(reg, None)
        self._dirty.pop(reg, None)

    def snapshot(self) -> Scalars:
        """The registers as they are now, to be flushed elsewhere."""
        copy = Scalars(self.w, False)
        copy._known, copy._dirty = dict(self._known), dict(self._dirty)
        return copy

    def _place(self, reg: Reg, region: Region | None = None) -> str:
        return self.w.function.emit(
            region or self.w.scalar, "getelementptr inbounds i8, ptr %s, i64 %s", "%w", scalar_offset(reg)
        )


class Lanes(scalar_access.Lanes, Protocol):
    """The VGPRs as a vector instruction sees them, so many lanes at a time. half: see `isa.semantics.wave64`."""

    def read(self, index: int) -> LlvmValue:
        """VGPR `index` as u32."""
        ...

    def write(self, index: int, value: LlvmValue, mask: LlvmValue | None) -> None:
        """mask: lanes where it does not hold keep what they have."""
        ...

    def numbers(self, half: int) -> LlvmValue:
        """Each lane's number, u32."""
        ...

    def active(self, half: int) -> LlvmValue | None:
        """b1: which lanes are on; None for all."""
        ...


class _Loaded(LlvmValue):
    """A register that is loaded if its text is asked for, where it was read. write: does that, and gives its name."""

    __slots__ = ("_name", "_write", "index")

    def __init__(self, writer: Writer, index: int, write: Callable[[], str]) -> None:
        super().__init__(writer, "u32", LANES, "", form=Form(32, ((index, 1),)))
        del self.ref
        self.index, self._write, self._name = index, write, writer.function.name("register")

    @property
    def identity(self) -> str:
        return self._name

    def __getattr__(self, name: str) -> str:
        if name != "ref":
            raise AttributeError(name)
        self.ref = self._write()
        return self.ref


def _is_own(index: int, value: LlvmValue) -> bool:
    """Whether it is what that register holds."""
    return value.form is not None and value.form.is_register and index in value.form.vgprs


class Whole:
    """All lanes at once, stored after each instruction; loaded where they are not known since the last write, and
    needed elsewhere than in memory."""

    lanes = LANES

    def __init__(self, scalars: Scalars, strip: int, vgprs: int) -> None:
        self.scalars, self.w = scalars, scalars.w
        self.strip, self.vgprs = strip, vgprs
        self.target = 0
        """The first register that the instruction writes."""
        self._known: dict[int, LlvmValue] = {}
        self.w.whole = self

    def forget(self, index: int | None) -> None:
        """A register has been written; None: any."""
        if index is None:
            self._known.clear()
        else:
            self._known.pop(index, None)

    def _place(self, index: int, number: int, region: Region | None = None) -> str:
        offset = VGPRS + 4 * self.strip * (number * self.vgprs + index)
        return self.w.function.emit(region or self.w.scalar, "getelementptr inbounds i8, ptr %s, i64 %s", "%w", offset)

    def read(self, index: int) -> LlvmValue:
        if index not in self._known:
            region = self.w.scalar
            region.lines.append("")
            self._known[index] = _Loaded(self.w, index, partial(self._load, index, region, len(region.lines) - 1))
        return self._known[index]

    def _load(self, index: int, region: Region, line: int) -> str:
        loads = Region("")
        word = self.load(loads, lambda number: self._place(index, number, loads))
        region.lines[line] = "\n".join(written(loads.lines))
        return word

    def load(self, region: Region, place_of: Callable[[int], str]) -> str:
        """All lanes of a register whose strips are at these places."""
        f, strip = self.w.function, self.strip
        form = f"load <{strip} x i32>, ptr %s, align {4 * strip}"
        parts = [f.emit(region, form, place_of(number)) for number in range(LANES // strip)]
        return concatenate(f, region, parts, strip)

    def place_of(self, values: Sequence[LlvmValue]) -> str | None:
        """Where values stand in memory, as those of registers in a row: the first one's place; None where they do not.
        Registers follow each other; the parts of one, a strip each, are `apart` bytes apart."""
        indices = [value.index for value in values if isinstance(value, _Loaded)]
        in_a_row = indices == [*range(indices[0], indices[0] + len(values))] if indices else False
        return self._place(indices[0], 0) if in_a_row else None

    @property
    def apart(self) -> int:
        return 4 * self.strip * self.vgprs

    def read_relative(self, index: int, relative: LlvmValue) -> LlvmValue:
        """VGPR index + relative; the register itself where that is beyond the wave's registers."""
        word = self.load(self.w.scalar, lambda number: self._relative_place(index, relative, number))
        return LlvmValue(self.w, "u32", LANES, word)

    def write_relative(self, index: int, value: LlvmValue, mask: LlvmValue | None, relative: LlvmValue) -> None:
        if mask is not None:
            value = mask.select(value, self.read_relative(index, relative))
        self.store(value.vector(LANES), lambda number: self._relative_place(index, relative, number))

    def _relative_place(self, index: int, relative: LlvmValue, number: int) -> str:
        size = 4 * self.strip
        return dynamic_place(self.w, index, relative, self.vgprs, VGPRS + size * number * self.vgprs, size)

    def write(self, index: int, value: LlvmValue, mask: LlvmValue | None) -> None:
        if _is_own(index, value):
            return
        value = value.vector(LANES)
        if mask is not None:
            value = mask.select(value, self.read(index))
        self.store(value, lambda number: self._place(index, number))

    def holds(self, values: Sequence[LlvmValue]) -> bool:
        """Whether these are what the registers from `target` on hold."""
        return all(_is_own(index, value) for index, value in enumerate(values, self.target))

    def hold(self, values: Sequence[LlvmValue]) -> str:
        """Have the registers from `target` on hold values, in memory; gives the first one's place (`place_of`)."""
        for index, value in enumerate(values, self.target):
            self.write(index, value, None)
        return self._place(self.target, 0)

    def held(self, count: int) -> tuple[LlvmValue, ...]:
        """What the registers from `target` on hold now."""
        for index in range(self.target, self.target + count):
            self.forget(index)
        return tuple(self.read(index) for index in range(self.target, self.target + count))

    def store(self, value: LlvmValue, place_of: Callable[[int], str]) -> None:
        """The reverse of `load`."""
        f, strip = self.w.function, self.strip
        for number in range(LANES // strip):
            lanes = ", ".join(f"i32 {number * strip + i}" for i in range(strip))
            part = f.emit(
                self.w.scalar,
                f"shufflevector {value.llvm} %s, {value.llvm} poison, <{strip} x i32> <{lanes}>",
                value.ref,
            )
            place = place_of(number)
            self.w.scalar.line(f"store <{strip} x i32> {part}, ptr {place}, align {4 * strip}")

    def numbers(self, half: int) -> LlvmValue:
        return lane_numbers(self.w, LANES, LANES * half)

    def first_number(self) -> str:
        return "0"

    def active(self, half: int) -> LlvmValue | None:
        exec_ = self.scalars[(EXEC_LO, EXEC_HI)[half]]
        return None if exec_.constant is not None else exec_.lanes()


_NAME = re.compile(r"%(?!s(?![\w.]))")
"""In a form: a name that is no operand."""
_DEEP = 40
"""Operations that wait for one another, from which on two strips are done side by side."""


class Strips:
    """A loop over the strips of a wave; instructions are added to its body until `close`.

    Scalars are written in front of the loop. What the loop produces for scalar registers (masks of comparisons) is
    there once it is closed. `guards` is what the loop relies on; where that does not hold, `leave` writes how to go on
    elsewhere, from the state before the loop.
    """

    def __init__(self, scalars: Scalars, strip: int, vgprs: int, first: Instruction, halves: int = 1) -> None:
        self.scalars, self.w = scalars, scalars.w
        self.lanes, self.vgprs, self.first = strip, vgprs, first
        self.guards = Guards(strip, vgprs)
        w, f = self.w, self.w.function
        self.entry = scalars.snapshot()
        self.before = w.scalar
        name = f.name("strips")
        self.guard = f.region(f"{name}.guard")
        self.head = f.region(f"{name}.head")
        self.body = f.region(f"{name}.body", begins=False)
        self.after = f.region(f"{name}.after")
        self.index = f"%{name}.index"
        self.name = name
        self.exec_ = [scalars[reg] for reg in (EXEC_LO, EXEC_HI)[:halves]]
        self.half = 0
        self.middle = middle_of(4 * strip * vgprs)
        begin = strip_place(f, self.body, self.index, strip, vgprs)
        self.registers = f.emit(self.body, "getelementptr inbounds i8, ptr %s, i64 %s", begin, self.middle)
        self.body.block = self.head.block
        w.vector = self.body
        self.wide = VectorAccess(w, self.guards, self.body, self.index)
        self._known: dict[int, LlvmValue] = {}
        self._dirty: dict[int, None] = {}
        self._loaded: dict[int, tuple[str]] = {}
        self.masks: dict[Reg, StripMask] = {}
        w.strip_of, w.mask_of = self._strip_of, lambda strip: StripMask(w, strip)
        self._bits: dict[str, LlvmValue] = {}
        self._first: LlvmValue | None = None
        self.checks_faults = self.abreast = False
        self.required: list[str] = []  # truth values that must hold, or control goes to `otherwise` instead
        self.otherwise = ""
        self.loads: set[str] = set()
        self.stores: set[str] = set()
        self.prepare: list[Callable[[Region], None]] = []
        """What to write after the guards, in front of the loop."""

    def _write_back(self) -> None:
        """Store the VGPRs that were written; where nothing forbids it, in an order that suits the host's registers."""
        results = []
        for index in self._dirty:
            value = self._known[index].vector(self.lanes)
            place, size = f"%{self.w.function.name('place')}", 4 * self.lanes
            stores = (
                (place, "getelementptr inbounds i8, ptr %s, i64 %s", (self.registers, size * index - self.middle)),
                ("", f"store {value.llvm} %s, ptr %s, align {size}", (value.ref, place)),
            )
            results.append(
                Result(value.ref, stores, (*self._loaded.get(index, ()), *self.guards.first_lanes.get(index, ())))
            )
        body = self.body
        ahead = self.wide.next_iteration({v: self._known[v].form for v in self._dirty})
        others = [self.registers, *(m.strip.vector(self.lanes).ref for m in self.masks.values())]
        others += [self._first.ref] if self._first is not None else []
        fetches = {place: [scalar_access.fetch(self.w.function, place)] for place in ahead}
        effects = bool(self.stores)
        end_body(self.w.function, body, results, others, self.lanes, self.index, effects=effects, first=fetches)

    def note(self, access: Access) -> None:
        """An access was added to the loop. Scratch is each lane's own, and needs no order between strips."""
        if access.space != "scratch":
            (self.loads if access.kind == "load" else self.stores).add(access.space)

    def first_lane(self) -> LlvmValue:
        """Number of the strip's first lane, a scalar of the loop's body."""
        if self._first is None:
            self._first = LlvmValue(self.w, "u32", 0, first_of(self.w.function, self.body, self.index, self.lanes))
        return self._first

    def _place(self, index: int) -> str:
        return self.w.function.emit(
            self.body, "getelementptr inbounds i8, ptr %s, i64 %s", self.registers, 4 * self.lanes * index - self.middle
        )

    def read(self, index: int) -> LlvmValue:
        if index not in self._known:
            place = self._place(index)
            type_ = f"<{self.lanes} x i32>"
            name = self.w.function.emit(self.body, f"load {type_}, ptr %s, align {4 * self.lanes}", place)
            self._loaded[index] = (name,)
            self._known[index] = LlvmValue(self.w, "u32", self.lanes, name, form=Form(32, ((index, 1),)))
        return self._known[index]

    def write(self, index: int, value: LlvmValue, mask: LlvmValue | None) -> None:
        value = value.vector(self.lanes)
        if mask is not None:
            value = mask.select(value, self.read(index))
        self._known[index] = value
        self._dirty[index] = None

    def _strip_of(self, word: LlvmValue) -> LlvmValue:
        """The strip's bits of a scalar mask, as b1."""
        if word.ref not in self._bits:
            f, first = self.w.function, self.first_lane()
            shifted = f.emit(self.body, "lshr i32 %s, %s", word.ref, first.ref)
            narrow = f.emit(self.body, f"trunc i32 %s to i{self.lanes}", shifted)
            bits = f.emit(self.body, f"bitcast i{self.lanes} %s to <{self.lanes} x i1>", narrow)
            self._bits[word.ref] = LlvmValue(self.w, "b1", self.lanes, bits)
        return self._bits[word.ref]

    def first_number(self) -> str:
        first = self.first_lane().ref
        return self.w.function.emit(self.body, "add i32 %s, %s", first, LANES) if self.half else first

    def numbers(self, half: int) -> LlvmValue:
        every = self.w.function.splat(self.body, "i32", self.lanes, self.first_lane().ref)
        return LlvmValue(self.w, "u32", self.lanes, every) + lane_numbers(self.w, self.lanes, LANES * half)

    def active(self, half: int) -> LlvmValue | None:
        exec_ = self.exec_[half]
        return None if exec_.constant is not None else self._strip_of(exec_)

    def drop(self, live: int) -> None:
        """Of the registers only those of these bits are read after the loop."""
        self._dirty = {index: None for index in self._dirty if live >> index & 1}

    def close(self, leave: Callable[[Region], None]) -> None:
        """End the loop; what was written goes to memory, and masks to the scalar registers."""
        w, f = self.w, self.w.function
        self._write_back()
        finals = {}
        for number, (reg, value) in enumerate(self.masks.items()):
            old = f"%{self.name}.mask{number}"
            first, strip = self.first_lane(), value.strip.vector(self.lanes)
            finals[reg] = old, with_strip(f, self.body, old, strip, first.ref)
        label, deep = self.head.block, self._deep()
        if deep:
            finals = self._side_by_side(deep, finals)
            self.body.line(f"br label %{self.after.block}")
        else:
            next_ = f.emit(self.body, "add nuw nsw i64 %s, 1", self.index)
            more = f.emit(self.body, "icmp ult i64 %s, %s", next_, LANES // self.lanes)
            self.body.line(f"br i1 {more}, label %{label}, label %{self.after.block}")
        if self.required:
            region, every = self.before, self.required[0]
            for other in self.required[1:]:
                every = f.emit(region, "and i1 %s, %s", every, other)
            region.line(f"br i1 {every}, label %{self.name}.guard, label %{self.otherwise}")
        else:
            self.before.line(f"br label %{self.name}.guard")
        if self.guards:
            bail = f.region(f"{self.name}.bail")
            self.guards.write(f, self.guard, bail.block)
            self.entry.flush(bail)
            leave(bail)
        for write in self.prepare:
            write(self.guard)
        self.guard.line(f"br label %{label}")
        if not deep:
            self.head.line(f"{self.index} = phi i64 [0, %{self.guard.block}], [{next_}, %{self.body.block}]")
            for old, new in finals.values():
                self.head.line(f"{old} = phi i32 [0, %{self.guard.block}], [{new}, %{self.body.block}]")
        w.scalar = w.vector = self.after
        w.strip_of = w.mask_of = None
        for reg, (_, new) in finals.items():
            self.scalars[reg] = LlvmValue(w, "u32", 0, new)

    def _deep(self) -> list[Operation]:
        """The body, if its operations wait for so many others one after the other that a host does not look as far as
        the next strip, the second and last one; else nothing."""
        if not self.abreast or 2 * self.lanes != LANES:
            return []
        lines = [line for line in self.body.lines if isinstance(line, tuple) and not _NAME.search(line[1])]
        depth: dict[str | int, int] = {}
        for result, _, operands in lines:
            depth[result] = 1 + max((depth.get(x, 0) for x in operands), default=0)
        return lines if len(lines) == len(self.body.lines) and max(depth.values(), default=0) >= _DEEP else []

    def _side_by_side(self, lines: list[Operation], finals: dict[Reg, tuple[str, str]]) -> dict[Reg, tuple[str, str]]:
        """Write these once for each strip, in turns, in place of the body. finals: of each mask its name before a strip
        and after it; the same after the last."""
        first: dict[str | int, str | int] = {self.index: "0", **{old: "0" for old, _ in finals.values()}}
        second: dict[str | int, str | int] = {self.index: "1", **dict(finals.values())}
        second |= {result: f"{result}.1" for result, _, _ in lines if result}
        self.body.lines[:] = [
            (str(names.get(result, result)), form, tuple(names.get(x, x) for x in operands))
            for result, form, operands in lines
            for names in (first, second)
        ]
        return {reg: (old, str(second[last])) for reg, (old, last) in finals.items()}


def strip_place(f: Function, body: Region, index: str, strip: int, vgprs: int) -> str:
    """Where a strip's part of the wave's VGPRs begins. index: its number, i64."""
    skip = f.emit(body, "mul nuw nsw i64 %s, %s", index, 4 * strip * vgprs)
    plus = f.emit(body, "add nuw nsw i64 %s, %s", skip, VGPRS)
    return f.emit(body, "getelementptr inbounds i8, ptr %s, i64 %s", "%w", plus)


def first_of(f: Function, body: Region, index: str, strip: int) -> str:
    """The number of a strip's first lane, i32."""
    narrow = f.emit(body, "trunc i64 %s to i32", index)
    return f.emit(body, "mul nuw nsw i32 %s, %s", narrow, strip)


def with_strip(f: Function, body: Region, mask: str, strip: LlvmValue, first: str) -> str:
    """A wave's mask, i32, of which one strip's part is known now. first: that one's first lane."""
    n = strip.lanes_
    bits = f.emit(body, f"bitcast {strip.llvm} %s to i{n}", strip.ref)
    placed = f.emit(body, "shl i32 %s, %s", f.emit(body, f"zext i{n} %s to i32", bits), first)
    return f.emit(body, "or i32 %s, %s", mask, placed)


def end_body(
    f: Function,
    body: Region,
    results: Sequence[Result],
    others: Sequence[str],
    lanes: int,
    index: str,
    *,
    effects: bool,
    first: Mapping[str, Sequence[Operation]] = MappingProxyType({}),
) -> None:
    """Write the stores of the results at the end of a loop's body; a body without effects is put into an order that
    suits the host's registers, and its FMAs are the host's where they may be. others: names that are needed after
    it; first: as of `ordered`; index: as of `with_fast_path`."""
    values = None if effects else values_only(body.lines)
    if values is None:
        for lines in (*first.values(), *(result.store for result in results)):
            body.lines += lines
        return
    tile = (4, 4) if lanes * 32 == 512 else (1, 1)
    new = with_fast_path(f, values, results, others, tile, lanes, index, first)
    if new is None:
        body.lines = ordered(in_full(values), results, others, tile, first)
    else:
        body.lines, body.block = new


def lane_numbers(writer: Writer, lanes: int, first: int = 0) -> LlvmValue:
    text = "<" + ", ".join(f"i32 {first + i}" for i in range(lanes)) + ">"
    return LlvmValue(writer, "u32", lanes, text)


def dynamic_place(writer: Writer, index: int, relative: LlvmValue, limit: int, offset: int, size: int) -> str:
    """Address in the wave of register index + relative, `size` bytes each from `offset`. A number that is not below
    `limit` is `index` instead (undefined on the card; here it must not leave the wave)."""
    f, region = writer.function, writer.scalar
    number = f.emit(region, "add i32 %s, %s", relative.ref, index)
    inside = f.emit(region, "icmp ult i32 %s, %s", number, limit)
    safe = f.emit(region, "select i1 %s, i32 %s, i32 %s", inside, number, index)
    wide = f.emit(region, "zext i32 %s to i64", safe)
    skip = f.emit(region, "mul i64 %s, %s", wide, size)
    at = f.emit(region, "add i64 %s, %s", skip, offset)
    return f.emit(region, "getelementptr i8, ptr %s, i64 %s", "%w", at)
