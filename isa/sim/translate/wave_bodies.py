"""Vector instructions as functions of a wave, and calls of them: baseline code where no address follows a pattern.

In:  a vector instruction, all of whose registers lie in memory. Out: a call, one line of IR, whose operands are
constants: how far from the wave's beginning each register is.

The function runs a loop over the wave's strips, loads the registers and stores the results. So a block of baseline code
is little more than a list of calls; a loop over strips in place takes some ten lines and two for each register. That
each value goes through memory has cost nothing that could be measured. As in `isa.sim.translate.shared`, whose engine
this is, instructions share a function that differ in the numbers of their registers only; it is made for those that a
kernel has more than once.

A function of a memory access gives whether it met a fault.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import InitVar, dataclass, field
from typing import Any

from isa.registers import LANES, Reg, s
from isa.semantics.float_mode import FloatMode
from isa.semantics.instruction import Instruction
from isa.sim.ir.ir import Function, Region
from isa.sim.ir.llvm_values import LlvmValue
from isa.sim.ir.runtime import field_pointer
from isa.sim.ir.shapes import apart, registers_of, shape
from isa.sim.ir.state import scalar_offset
from isa.sim.ir.translations import Facts
from isa.sim.translate.accumulator_order import Result
from isa.sim.translate.registers import end_body, first_of, lane_numbers, strip_place, with_strip
from isa.sim.translate.shared import InPlace, Parameters, made, operands_of

_LOOP = 12
"""Lines of a function that the instruction would not be in place, where a loop has several."""


@dataclass(frozen=True)
class Body:
    """parameters: types and names; size: how many lines the instruction would be in place; accesses: whether it gives
    that there was a fault."""

    symbol: str
    size: int
    parameters: tuple[tuple[str, str], ...]
    accesses: bool


@dataclass
class WaveBodies:
    """The functions of one wave function. into: that; fast: all lanes are on; instructions: those of the kernel;
    several: how many must share a function; spared: lines that there would be more without it."""

    into: Function
    facts: Facts
    fast: bool
    instructions: InitVar[Iterable[Instruction]]
    several: InitVar[int]
    spared: int = 0
    _shapes: dict[int | None, object] = field(init=False)
    _known: dict[object, Body | None] = field(default_factory=dict)

    def __post_init__(self, instructions: Iterable[Instruction], several: int) -> None:
        shapes = {inst.address: shape(inst) for inst in instructions if inst.desc.is_vector}
        counts = Counter(shapes.values())
        self._shapes = {address: each for address, each in shapes.items() if counts[each] >= several}

    def body(self, inst: Instruction, mode: FloatMode) -> Body | None:
        """The function of an instruction; None where it stays in place."""
        if inst.address not in self._shapes:
            return None
        key = (self._shapes[inst.address], mode)
        if key not in self._known:
            self._known[key] = self._made(inst, mode)
        return self._known[key]

    def call(self, body: Body, inst: Instruction, site: int) -> str:
        """The call for an instruction whose function that is. site: of its access."""
        values = operands_of(inst, site)
        for number, reg in enumerate(registers_of(inst)):
            values[f"r{number}"] = 4 * self.facts.strip * reg.index if reg.is_vgpr else scalar_offset(reg.sub(0))
        given = ", ".join(f"{type_} {values[name]}" for type_, name in body.parameters)
        self.spared += body.size
        return f"call {'i1' if body.accesses else 'void'} @{body.symbol}({given})"

    def _made(self, inst: Instruction, mode: FloatMode) -> Body | None:
        other = apart(inst)
        engine = _Wave(self.facts, mode, self.fast, [*registers_of(other)])

        def finish() -> Body:
            return engine.complete(f"wave{len(self._known)}.{self.into.name(inst.desc.name)}", self.into)

        return made(engine, other, finish)


class _Wave(Parameters):
    """Writes the function of all strips; its parameters are where the instruction's registers are: of VGPRs from the
    strip's beginning, of SGPRs from the wave's."""

    def __init__(self, facts: Facts, mode: FloatMode, fast: bool, registers: list[Reg]) -> None:
        super().__init__(facts, mode, fast, registers, frozenset())
        f = self.f
        f.regions.clear()
        self.before, self.head = f.region("before"), f.region("loop")
        self.body, self.after = f.region("body", begins=False), f.region("after")
        self.body.block = "loop"
        self.w.scalar, self.w.vector = self.before, self.body
        self._parameter("ptr", "w")
        self._strip = strip_place(f, self.body, "%index", facts.strip, facts.vgprs)
        self._first = ""
        self._loads: list[str] = []
        self._sgprs: dict[int, LlvmValue] = {}

    def complete(self, symbol: str, into: Function) -> Body:
        """Write the function's end and declare it."""
        f, body, n = self.f, self.body, self.lanes
        results = []
        for index, value in self._written.items():
            places = Region("")
            value, place = value.vector(n), self._place(Reg("v", index), places)
            store = ("", f"store {value.llvm} %s, ptr %s, align {4 * n}", (value.ref, place))
            results.append(Result(value.ref, (*places.lines, store), tuple(self._loads)))  # type: ignore[arg-type]
        strips = {index: mask.strip.vector(n) for index, mask in self._masks_written.items()}
        others = [self._strip, *(strip.ref for strip in strips.values())]
        others += [self.first_number()] if strips or self._first else []
        end_body(f, body, results, others, n, "", effects=self._accesses)
        phis = []
        for index, strip in strips.items():
            word = with_strip(f, body, f"%mask{index}", strip, self._first)
            phis.append((f"%mask{index}", "i32", word))
            self.after.line(f"store i32 {word}, ptr {self._place(s(index), self.after)}")
        next_ = f.emit(body, "add nuw nsw i64 %s, 1", "%index")
        more = f.emit(body, "icmp ult i64 %s, %s", next_, LANES // n)
        body.line(f"br i1 {more}, label %loop, label %after")
        for name, type_, new in (("%index", "i64", next_), *phis):
            self.head.line(f"{name} = phi {type_} [0, %before], [{new}, %{body.block}]")
        f.entry.line("br label %before")
        self.before.line("br label %loop")
        if self._accesses:
            fault = f.emit(self.after, "load i32, ptr %s", f.emit(self.after, field_pointer("C", "fault")))
            self.after.line(f"ret i1 {f.emit(self.after, 'icmp ne i32 %s, 0', fault)}")
        else:
            self.after.line("ret void")
        given = ", ".join(f"{type_} %{name}" for type_, name in self._parameters)
        f.signature = f"internal {'i1' if self._accesses else 'void'} @{symbol}({given}) noinline"
        into.define(f)
        return Body(
            symbol,
            max(1, f.size - _LOOP),
            tuple((type_, str(name)) for type_, name in self._parameters),
            self._accesses,
        )

    def _place(self, reg: Reg, region: Region) -> str:
        name, f = self._name(reg), self.f
        if name.operand < 0:
            return f.emit(region, "getelementptr inbounds i8, ptr %s, i64 %s", "%w", scalar_offset(reg))
        base, size = (self._strip, 4 * self.lanes) if reg.is_vgpr else ("%w", 4)
        parameter = self._parameter("i64", f"r{name.operand}")
        place = f.emit(region, "getelementptr inbounds i8, ptr %s, i64 %s", base, parameter)
        if not name.unit:
            return place
        return f.emit(region, "getelementptr inbounds i8, ptr %s, i64 %s", place, size * name.unit)

    def first_number(self) -> str:
        if not self._first:
            self._first = first_of(self.f, self.body, "%index", self.lanes)
        return self._first

    def lane_ids(self) -> LlvmValue:
        every = self.f.splat(self.body, "i32", self.lanes, self.first_number())
        return LlvmValue(self.w, "u32", self.lanes, every) + lane_numbers(self.w, self.lanes)

    def read_vgpr(self, index: int, relative: Any = None) -> LlvmValue:
        if relative is not None:
            raise InPlace
        if index not in self._vgprs:
            type_ = f"<{self.lanes} x i32>"
            place = self._place(Reg("v", index), self.body)
            self._loads.append(self.f.emit(self.body, f"load {type_}, ptr %s, align {4 * self.lanes}", place))
            self._vgprs[index] = LlvmValue(self.w, "u32", self.lanes, self._loads[-1])
        return self._vgprs[index]

    def read_sgpr(self, index: int, relative: Any = None) -> LlvmValue:
        if relative is not None:
            raise InPlace
        if s(index).is_null:
            return self.constant("u32", 0)
        if index not in self._sgprs:
            word = self.f.emit(self.before, "load i32, ptr %s", self._place(s(index), self.before))
            self._sgprs[index] = LlvmValue(self.w, "u32", 0, word)
        return self._sgprs[index]
