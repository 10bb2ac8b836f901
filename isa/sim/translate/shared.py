"""Outlined bodies: long instructions as functions shared by a module, in baseline-tier code whose addresses may follow
a pattern (elsewhere: `isa.sim.translate.wave_bodies`).

In code that LLVM does not optimise the time for a line is much the same whatever it says, so that few lines are what
makes it quick. In:  a vector instruction and the loop over strips in which it stands. Out: its call, where it is long;
nothing where it has to be written in place.

The function of an instruction is that instruction, run on an engine (`_Parameters`) whose registers are the function's
parameters: a strip's part of each VGPR that is read, scalars as words, masks as bits; what was written is its result.
It makes the same values from the same values as in place, so it gives the same bits. Instructions share one that differ
in the numbers of their registers only (`_shape`): it is written for registers that are all different, and may be called
with one in several places.

Accesses lane by lane are shared as well, with the lane's context, the access site and the first lane's number as
parameters; of an instruction whose address might have had a pattern, the access alone. In place stay: short ones
(SHORT), whose call would be no gain; what an address may be made of (`Form`), since the loop has to know; what needs
all lanes, the program counter or SCC.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn, Protocol, TypeVar

from isa.errors import IsaError
from isa.registers import EXEC_LO, Reg, s
from isa.semantics.engine import Request, Straight
from isa.semantics.execute import execute
from isa.semantics.float_mode import FloatMode
from isa.semantics.instruction import Instruction
from isa.sim.ir import operations
from isa.sim.ir.ir import Fma, Function, Region
from isa.sim.ir.llvm_values import LlvmValue, NeedsAllLanes, Writer, masked
from isa.sim.ir.shapes import OFFSETS, Name, apart, names_of, registers_of, shape
from isa.sim.ir.translations import Facts
from isa.sim.translate import scalar_access as memory
from isa.sim.translate.forms import Form
from isa.sim.translate.registers import Strips, lane_numbers
from isa.sim.translate.strip_mask import NeedsClosedLoop, StripMask

M = TypeVar("M")
SHORT, WITH_FMA = 10, 16
"""Lines of a body that is better written in place; of one with FMAs that could be left to the host there."""


class InPlace(Exception):
    """The instruction must be emitted inline."""


@dataclass(frozen=True)
class _Shared:
    """parameters: their types and what they are; results: registers, VGPRs first; size: of the function, in lines."""

    symbol: str
    size: int
    result: str
    parameters: tuple[tuple[str, str | Name], ...]
    results: tuple[Name, ...]
    accesses: bool


class CallTranslator(Protocol):
    """The translator, as far as calls need it."""

    strips: Strips | None

    def read_vgpr(self, index: int) -> LlvmValue: ...
    def write_vgpr(self, index: int, value: LlvmValue, mask: LlvmValue | None) -> None: ...
    def read_sgpr(self, index: int) -> LlvmValue: ...
    def write_sgpr(self, index: int, value: LlvmValue) -> None: ...


@dataclass
class SharedBodies:
    """The functions of one wave function. into: that; fast: all lanes are on; spared: lines that there would be more
    without it."""

    into: Function
    facts: Facts
    fast: bool
    spared: int = 0
    _known: dict[object, _Shared | None] = field(default_factory=dict)
    _accesses: dict[object, tuple[str, int]] = field(default_factory=dict)

    def call(self, inst: Instruction, mode: FloatMode, on: CallTranslator, site: int) -> bool:
        """Write the instruction as a call; False, and nothing written, where it stays in place."""
        strips, registers = on.strips, [*registers_of(inst)]
        assert strips is not None
        masks: frozenset[Name] = frozenset()
        if strips.masks:
            masks = frozenset(name for reg in inst.reads() & strips.masks.keys() for name in names_of(reg, registers))
        key = (shape(inst), mode, masks)
        if key not in self._known:
            self._known[key] = self._made(inst, mode, masks)
        shared = self._known[key]
        if shared is None:
            return False
        self.spared += shared.size
        values = operands_of(inst, site)
        if ("i32", "first") in shared.parameters:
            values["first"] = strips.first_number()
        operands: list[str | int] = []
        for _, name in shared.parameters:
            if isinstance(name, str):
                operands.append(values[name])
            elif name.file == "v":
                operands.append(on.read_vgpr(name.of(registers)).vector(strips.lanes).ref)
            elif name in masks:
                bits = strips.masks[s(name.of(registers))].strip.vector(strips.lanes)
                operands.append(self.into.emit(strips.body, f"bitcast {bits.llvm} %s to i{strips.lanes}", bits.ref))
            else:
                operands.append(on.read_sgpr(name.of(registers)).ref)
        form = f"call {shared.result} @{shared.symbol}({', '.join(f'{type_} %s' for type_, _ in shared.parameters)})"
        if shared.accesses:
            self._note(inst, strips)
        self._results(form, tuple(operands), shared, registers, on, strips)
        return True

    @staticmethod
    def _note(inst: Instruction, strips: Strips) -> None:
        access = inst.desc.access
        assert access is not None
        strips.note(access)
        strips.checks_faults = True

    def _results(
        self, form: str, operands: tuple[str | int, ...], shared: _Shared, registers: list[Reg], on: CallTranslator,
        strips: Strips,
    ) -> None:  # fmt: skip
        f, body, results = self.into, strips.body, shared.results
        if shared.accesses:  # an effect
            result = f"%{f.name()}" if results else ""
            body.line((f"{result} = " if results else "") + form % operands)
        else:
            result = f.append(body, form, operands)
        words = [result]
        if len(results) > 1:
            words = [f.emit(body, f"extractvalue {shared.result} %s, {n}", result) for n in range(len(results))]
        for name, word in zip(results, words, strict=False):
            index = name.of(registers)
            if name.file == "v":
                on.write_vgpr(index, LlvmValue(strips.w, "u32", strips.lanes, word), None)
            else:
                bits = f.emit(body, f"bitcast i{strips.lanes} %s to <{strips.lanes} x i1>", word)
                on.write_sgpr(index, StripMask(strips.w, LlvmValue(strips.w, "b1", strips.lanes, bits)))

    def load(self, w: Writer, lanes: memory.Lanes, at: Request[LlvmValue], site: int) -> list[LlvmValue]:
        """`isa.sim.translate.scalar_access.load` as a call."""
        return self._lane_by_lane(w, lanes, at, (), site, at.words)

    def store(
        self, w: Writer, lanes: memory.Lanes, at: Request[LlvmValue], data: Sequence[LlvmValue], site: int
    ) -> None:
        """`isa.sim.translate.scalar_access.store` as a call."""
        self._lane_by_lane(w, lanes, at, data, site, 0)

    def _lane_by_lane(
        self, w: Writer, lanes: memory.Lanes, at: Request[LlvmValue], data: Sequence[LlvmValue], site: int, count: int
    ) -> list[LlvmValue]:
        f, n, region = self.into, lanes.lanes, w.vector
        inputs = [value.vector(n) for value in (at.address, *data)]
        given = [(value.llvm, value.ref) for value in inputs]
        if at.mask is not None:
            given.append((f"i{n}", f.emit(region, f"bitcast {at.mask.llvm} %s to i{n}", at.mask.ref)))
        types = [type_ for type_, _ in given]
        access = at.access
        key = (access.space, access.element, count, at.offset, *types)
        if key not in self._accesses:
            self._accesses[key] = self._access(at, [value.type for value in inputs], types, n, count)
        symbol, size = self._accesses[key]
        self.spared += size
        operands = "".join(f", {type_} {ref}" for type_, ref in given)
        result = _together([f"<{n} x i32>"] * count)
        name = f"%{f.name()}" if count else ""
        call = f"call {result} @{symbol}(ptr %w, ptr %c, i32 {site}, i32 {lanes.first_number()}{operands})"
        region.line(f"{name} = {call}" if count else call)
        words = [name] if count == 1 else [f.emit(region, f"extractvalue {result} %s, {i}", name) for i in range(count)]
        return [LlvmValue(w, "u32", n, word) for word in words]

    def _access(
        self, at: Request[LlvmValue], types: list[str], parameters: list[str], n: int, count: int
    ) -> tuple[str, int]:
        """The function of lane-by-lane accesses like this one, and its size."""
        symbol = f"{at.access.kind}{len(self._accesses)}.{self.into.name(at.access.space)}"
        words = _together([f"<{n} x i32>"] * count)
        listed = "".join(f", {type_} %p{i}" for i, type_ in enumerate(parameters))
        f = Function(f"internal {words} @{symbol}(ptr %w, ptr %c, i32 %site, i32 %first{listed}) noinline")
        region = f.region("body")
        w = Writer(f, region, region, operations, baseline=True)
        address, *data = (LlvmValue(w, type_, n, f"%p{i}") for i, type_ in enumerate(types))
        mask = None
        if len(parameters) > len(types):
            bits = f.emit(region, f"bitcast i{n} %s to <{n} x i1>", f"%p{len(types)}")
            mask = LlvmValue(w, "b1", n, bits)
        at = replace(at, address=address, mask=mask)
        if count:
            found = memory.load(w, _Given(n), at, "%site")
        else:
            memory.store(w, _Given(n), at, data, "%site")
            found = []
        _returned(f, region, [(value.llvm, value.ref) for value in found])
        f.entry.line("br label %body")
        self.into.define(f)
        return symbol, f.size

    def _made(self, inst: Instruction, mode: FloatMode, masks: frozenset[Name]) -> _Shared | None:
        other = apart(inst)
        symbol = f"op{len(self._known)}.{self.into.name(inst.desc.name)}"
        engine = Parameters(self.facts, mode, self.fast, [*registers_of(other)], masks)
        return made(engine, other, lambda: engine.finish(symbol, self.into))


def operands_of(inst: Instruction, site: int) -> dict[str, str | int]:
    """What a call for an instruction gives beside registers. site: of its access."""
    return {"w": "%w", "c": "%c", "site": site, **{name: inst.number(name) for name in OFFSETS}}


def made(engine: Parameters, inst: Instruction, finish: Callable[[], M]) -> M | None:
    """The function of an instruction, once the engine has run it, as `finish` makes it; None where it is none to be
    shared."""
    try:
        execute(engine, inst)
        if inst.desc.access is not None and not engine.asked(OFFSETS):
            return None  # what it does with an offset is not known
        return finish()
    except (InPlace, NeedsAllLanes, NeedsClosedLoop, IsaError):
        return None


class Parameters(Straight):
    """An engine that writes a function of one strip, whose registers are its parameters. Also
    `isa.sim.translate.registers.Lanes` for accesses lane by lane."""

    def __init__(self, facts: Facts, mode: FloatMode, fast: bool, registers: list[Reg], masks: frozenset[Name]) -> None:
        self.fast, self.lanes = fast, facts.strip
        self.f = Function("")
        region = self.f.region("body")
        self.w = Writer(
            self.f, region, region, operations, mode, native_half=facts.native_half, native_nans=facts.native_nans,
            masked=masked(facts.strip), baseline=True,
            strip_of=self._strip_of, mask_of=lambda strip: StripMask(self.w, strip),
        )  # fmt: skip
        self._registers, self._masks = registers, masks
        self._parameters: dict[tuple[str, str | Name], str] = {}
        self._vgprs: dict[int, LlvmValue] = {}
        self._bits: dict[str, LlvmValue] = {}
        self._written: dict[int, LlvmValue] = {}
        self._masks_written: dict[int, StripMask] = {}
        self._accesses = False

    @property
    def mode(self) -> FloatMode:
        return self.w.mode

    @mode.setter
    def mode(self, mode: FloatMode) -> None:
        self.w.mode = mode

    def _parameter(self, type_: str, name: str | Name) -> str:
        default = f"%{name}" if isinstance(name, str) else f"%p{len(self._parameters)}"
        return self._parameters.setdefault((type_, name), default)

    def asked(self, names: Sequence[str]) -> bool:
        """Whether one of these is a parameter."""
        return any(name in names for _, name in self._parameters)

    def _name(self, reg: Reg) -> Name:
        (name,) = names_of(reg, self._registers)
        return name

    def finish(self, symbol: str, into: Function) -> _Shared:
        """Write the function's end and declare it."""
        f, region, w = self.f, self.w.vector, self.w
        names = [self._name(Reg("v", i)) for i in self._written]
        names += [self._name(s(i)) for i in self._masks_written]
        if any(value.form is not None for value in self._written.values()):
            raise InPlace
        results = [value.vector(self.lanes) for value in self._written.values()]
        listed = [(value.llvm, value.ref) for value in results]
        for mask in self._masks_written.values():
            bits = mask.strip.vector(self.lanes)
            listed.append((f"i{self.lanes}", f.emit(region, f"bitcast {bits.llvm} %s to i{self.lanes}", bits.ref)))
        if len(region.lines) < (WITH_FMA if any(isinstance(line, Fma) for line in region.lines) else SHORT):
            raise InPlace
        result = _returned(f, region, listed)
        given = ", ".join(f"{type_} {name}" for (type_, _), name in self._parameters.items())
        f.signature = f"internal {result} @{symbol}({given}) noinline"
        f.entry.line("br label %body")
        assert w.scalar is region
        into.define(f)
        return _Shared(symbol, f.size, result, tuple(self._parameters), tuple(names), self._accesses)

    # --- Lanes: see isa.sim.translate.registers

    def first_number(self) -> str:
        return self._parameter("i32", "first")

    def _strip_of(self, word: LlvmValue) -> LlvmValue:
        if word.ref not in self._bits:
            shifted = self.f.emit(self.w.vector, "lshr i32 %s, %s", word.ref, self.first_number())
            narrow = self.f.emit(self.w.vector, f"trunc i32 %s to i{self.lanes}", shifted)
            self._bits[word.ref] = self._spread(narrow)
        return self._bits[word.ref]

    def _spread(self, bits: str) -> LlvmValue:
        each = self.f.emit(self.w.vector, f"bitcast i{self.lanes} %s to <{self.lanes} x i1>", bits)
        return LlvmValue(self.w, "b1", self.lanes, each)

    # --- Engine: see isa.semantics.engine

    def constant(self, type_: str, number: float) -> LlvmValue:
        return LlvmValue.of(self.w, type_, number)

    def lane_ids(self) -> LlvmValue:
        first = LlvmValue(self.w, "u32", 0, self.first_number()).vector(self.lanes)
        return first + lane_numbers(self.w, self.lanes)

    def exec_mask(self) -> LlvmValue | None:
        return None if self.fast else self.read_sgpr(EXEC_LO.index).lanes()

    def read_vgpr(self, index: int, relative: Any = None) -> LlvmValue:
        if relative is not None:
            raise InPlace
        if index not in self._vgprs:
            name = self._parameter(f"<{self.lanes} x i32>", self._name(Reg("v", index)))
            self._vgprs[index] = LlvmValue(self.w, "u32", self.lanes, name, form=Form(32, ((index, 1),)))
        return self._vgprs[index]

    def write_vgpr(self, index: int, value: LlvmValue, mask: LlvmValue | None, relative: Any = None) -> None:
        if relative is not None:
            raise InPlace
        value = value.vector(self.lanes)
        if mask is not None:
            value = mask.select(value, self.read_vgpr(index))
        self._vgprs[index] = self._written[index] = value

    def read_sgpr(self, index: int, relative: Any = None) -> LlvmValue:
        if relative is not None:
            raise InPlace
        if s(index).is_null:
            return self.constant("u32", 0)
        name = self._name(s(index))
        if name in self._masks:
            return StripMask(self.w, self._spread(self._parameter(f"i{self.lanes}", name)))
        return LlvmValue(self.w, "u32", 0, self._parameter("i32", name))

    def write_sgpr(self, index: int, value: Any, relative: Any = None) -> None:
        if s(index).is_null:
            return
        if relative is not None or not isinstance(value, StripMask):
            raise InPlace
        self._masks_written[index] = value

    def offset(self, inst: Instruction, name: str = "offset", type_: str = "u64") -> LlvmValue:
        return LlvmValue(self.w, type_, 0, self._parameter(f"i{type_[1:]}", name))

    def _in_place(self, *_: Any) -> NoReturn:
        raise InPlace

    read_scc = write_scc = special = next_address = _in_place

    def _site(self) -> str:
        self._accesses = True
        for name in "wc":
            self._parameter("ptr", name)
        return self._parameter("i32", "site")

    def load(self, at: Request[LlvmValue]) -> tuple[LlvmValue, ...]:
        return tuple(memory.load(self.w, self, at, self._site()))

    def store(self, at: Request[LlvmValue], values: tuple[LlvmValue, ...]) -> None:
        memory.store(self.w, self, at, values, self._site())

    def atomic(self, at: Request[LlvmValue], body: Callable[..., LlvmValue], data: tuple[LlvmValue, ...]) -> LlvmValue:
        return memory.atomic(self.w, self, at, body, data, self._site())


def _together(types: list[str]) -> str:
    """The type of a function that returns values of these."""
    return "void" if not types else types[0] if len(types) == 1 else f"{{ {', '.join(types)} }}"


def _returned(f: Function, region: Region, values: list[tuple[str, str]]) -> str:
    """Write the return of values, with their types; its own type."""
    result = _together([type_ for type_, _ in values])
    whole = values[0][1] if len(values) == 1 else "poison" if values else ""
    if len(values) > 1:
        for n, (type_, ref) in enumerate(values):
            whole = f.emit(region, f"insertvalue {result} %s, {type_} %s, {n}", whole, ref)
    region.line(f"ret {result} {whole}")
    return result


@dataclass
class _Given:
    """Lanes of which a function is told the first one's number."""

    lanes: int

    def first_number(self) -> str:
        return "%first"
