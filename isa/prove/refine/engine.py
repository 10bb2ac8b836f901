"""Engine on terms: one program along one segment -> what its registers and memory hold at the end.

Registers are vectors of 32 lanes as they stand: EXEC is a word like any other, a result is written where it is on, and
keeps the old value elsewhere (`select`). An instruction whose lanes do not look at others reads only what its lanes
need, so that what is left in lanes that are off does not matter there. Lanes that do not exist (off in EXEC as a wave
starts) hold nothing.

A body of many steps on floats (minimum, maximum, division) is one function by its instruction's name: `opaque`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cache
from typing import Any

from isa.algebra.term import Term
from isa.algebra.terms import Terms
from isa.algebra.values import Setting, SymbolicValue, number_bits
from isa.analysis import regset
from isa.analysis.joined import Joined
from isa.asm.encoding import size_of
from isa.errors import IsaError
from isa.instructions.words import below
from isa.prove.refine.memory import NO_ARGUMENTS, Arguments, Memory
from isa.prove.refine.padding import Rows
from isa.registers import EXEC_LO, SCC, Reg
from isa.semantics.engine import UNKNOWN, Request, Straight
from isa.semantics.execute import Bound, asked, bind, run
from isa.semantics.float_mode import FloatMode
from isa.semantics.instruction import Description, Instruction, bit_width
from isa.semantics.operands import immediate, value_type
from isa.semantics.own_place import EXTENDS, distance
from isa.semantics.values import DispatchedValue

SGPR0, EXEC_AT, SCC_AT, REGISTERS = 256, regset.bit(EXEC_LO), regset.bit(SCC), 385
LONG = 4
"""A body on floats of more operations than this is a function by its name."""
FENCES = frozenset({
    "message", "halt", "cache_control", "cache_write", "scalar_cache", "message_return", "wait_event", "barrier_signal",
})  # fmt: skip
AMONG_LANES_ON = frozenset({"ds_bpermute_b32", "ds_permute_b32", "ds_swizzle_b32"})
"""What exchanges lanes, and takes those that are off for 0."""
COMMUTING = frozenset(f"v_{op}_{kind}" for op in ("min", "max") for kind in ("f16", "f32", "f64"))


@dataclass
class _Place:
    """What s_getpc_b64 gave. since: bytes that stand after it; carry: out of the sum of low halves."""

    low: Term
    high: Term
    since: int = 0
    carry: Term | None = None


class SegmentEngine(Setting, Straight):
    """registers: of the program, by `regset` number; None where nothing can be known. memory: of the segment.
    condition: of the last branch. assumed: what had to be assumed, in words. vgprs: of the kernel's waves. rows: that
    LDS has in the rewritten program, where it has others; arguments: what is known of them; lane: the number of each.
    """

    def __init__(
        self, terms: Terms, exists: Term, side: int, vgprs: int | None = None, rows: Rows | None = None,
        arguments: Arguments = NO_ARGUMENTS, lane: Term | None = None, joined: Joined | None = None,
    ) -> None:  # fmt: skip
        super().__init__(terms)
        self._calls, self._returns, self._functions = ({}, {}, frozenset[str]()) if joined is None else (
            joined.calls, joined.returns, joined.functions)  # fmt: skip
        self.exists, self.side, self.vgprs, self.rows = exists, side, vgprs, rows
        self.registers: list[Term | None] = []
        self._arguments = arguments
        self.memory = Memory(terms, terms.true, arguments)
        self.condition: Term | None = None
        self.position = 0
        self._place: _Place | None = None
        self.assumed: set[str] = set()
        lane = lane or terms.unknown("lane", 32, uniform=False, ones=31)
        self._lane = SymbolicValue("u32", lane, self)
        self._on = self._mask = self._needed = terms.true
        self._whole: dict[Term, bool] = {}
        self._bound: dict[int, Bound] = {}

    def start(self, registers: list[Term | None], memory: Term, mode: FloatMode) -> None:
        self.memory = Memory(self.terms, memory, self._arguments)
        self.registers, self.mode, self.condition = registers, mode, None
        self._place = None
        self._exec_changed()

    def step(self, position: int, inst: Instruction) -> None:
        """Runs one instruction. IsaError where it cannot be followed."""
        desc = inst.desc
        self.position = position
        if position in self._calls or position in self._returns:
            self._called(position, inst)
            return
        if self._counted_from_here(inst):
            return
        if desc.sched in FENCES or asked(inst):
            self._message(inst, desc)
            return
        if desc.effect in ("wait", "branch", "end") and desc.body is None:
            return
        if desc.effect in ("barrier", "trap"):
            self.memory.fence(inst, position, desc.effect, self._text(inst))
            return
        bound = self._bound.get(position)
        if bound is None:
            bound = self._bound[position] = bind(inst, _opaque)
        alone = desc.exec_masked and not (desc.crosses_lanes or inst.modifier("fi") == 1)
        self.matters = self._on if alone else self.terms.true
        self._needed = self._on if desc.name in AMONG_LANES_ON else self.matters
        if desc.name == "v_readfirstlane_b32":
            self._first_lane(inst)
        run(self, bound)

    def _called(self, position: int, inst: Instruction) -> None:
        """A call or a return: its pair must hold where it goes, a function's address or what the call left."""
        call = self._calls.get(position)
        address = self._back(self._returns[position]) if call is None else self._lies(call.symbol)
        by = inst.operands[1] if call is None else call.by
        if isinstance(by, Reg):
            held = [self.registers[regset.bit(unit)] for unit in by.units()]
            if held[0] is not self.terms.trunc(address) or held[1] is not self.terms.hi(address):
                raise IsaError(f"cannot follow {call.symbol if call else 'a return'}: {by} may hold another address")
        if call is not None and call.back is not None:
            low, high = (regset.bit(unit) for unit in call.back.units())
            back = self._back(position)
            self.registers[low], self.registers[high] = self.terms.trunc(back), self.terms.hi(back)
        self._place = None

    def _back(self, call: int) -> Term:
        """The address after a call."""
        return self._own(f"where call {call} of {self._whose} comes back", 64)

    def _lies(self, symbol: str, slot: bool = False) -> Term:
        """The address of a symbol, or of its slot. Functions that are followed need not be the same in both."""
        whose = f" in {self._whose}" if symbol in self._functions else ""
        return self._own(f"where {symbol}{'@gotpcrel32' if slot else ''} lies{whose}", 64)

    def _counted_from_here(self, inst: Instruction) -> bool:
        """Whether it is one of the three that make a symbol's address (`isa.semantics.own_place`); runs it. Where the
        code lies is unknown, and another in either program."""
        found = distance(inst)
        if found is None:
            if inst.desc.name == "s_getpc_b64":
                low, high = sorted(inst.writes())
                name = f"line {self.position} of {self._whose}"
                at = _Place(self._own(f"low half of where {name} lies"), self._own(f"high half of where {name} lies"))
                self._place = at
                self.registers[regset.bit(low)], self.registers[regset.bit(high)] = at.low, at.high
                if low == EXEC_LO:
                    self._exec_changed()
                return True
            if (place := self._place) is None:
                return False
            place.since += size_of(inst)
            if inst.desc.name != EXTENDS:
                return False
            to, of = inst.operands
            if not isinstance(to, Reg) or not isinstance(of, Reg):
                return False
            if (kept := self.registers[regset.bit(of)]) is place.high:
                self.registers[regset.bit(to)] = kept
            return kept is place.high
        place, name = self._place, ("s_add_u32", "s_addc_u32")[found.high]
        source = inst.operands[1] if inst.desc.name == name else None
        held = self.registers[regset.bit(source)] if isinstance(source, Reg) and source.count == 1 else None
        carry = self.registers[SCC_AT]
        if place is None or held is None or held is not (place.high if found.high else place.low):
            raise IsaError(f"{found.symbol} is not counted from s_getpc_b64")
        if found.high and (carry is None or carry is not place.carry):
            raise IsaError(f"the halves of {found.symbol} are not added one after the other")
        base = self._lies(found.symbol, found.slot)
        address = self.terms.add(base, self.terms.const(found.offset(place.since), 64))
        place.carry = self._own(f"carry at line {self.position} of {self._whose}", 1)
        (written,) = (r for r in inst.writes() if r != SCC)
        half = self.terms.hi(address) if found.high else self.terms.trunc(address)
        self.registers[regset.bit(written)], self.registers[SCC_AT] = half, place.carry
        place.since += size_of(inst)
        return True

    @property
    def _whose(self) -> str:
        return ("the original", "the rewritten")[self.side]

    def _own(self, name: str, width: int = 32) -> Term:
        return self.terms.unknown(name, width, uniform=True)

    def _message(self, inst: Instruction, desc: Description) -> None:
        """Messages, cache control and their kind: what they do is their own business, and stays where it is."""
        read = tuple(self._register(r) for r in sorted(inst.reads()))
        node = self.memory.fence(inst, self.position, str(desc.name), self._text(inst), *read)
        for n, reg in enumerate(sorted(inst.writes())):
            self.registers[regset.bit(reg)] = self.terms.make("answer", 32, node, n, uniform=True)
            if reg == EXEC_LO:
                self._exec_changed()

    @staticmethod
    def _text(inst: Instruction) -> str:
        how = [f"{name}:{inst.modifier(name)}" for name in inst.family.cache_bits if inst.has(name)]
        operands = [
            str(immediate(inst, operand, role.type) if role.kind == "i" and bit_width(role.type) == 16 else operand)
            for operand, role in zip(inst.operands, inst.desc.roles, strict=False)
            if not isinstance(operand, Reg)
        ]  # -1 and 0xffff are one number of 16 bits
        return " ".join([*operands, *how])

    def _first_lane(self, inst: Instruction) -> None:
        """v_readfirstlane_b32 reads the lane that is on and has none below it that is, if there is one."""
        found = [r for r in inst.reads() if r.is_vgpr]
        held = SymbolicValue("u32", self._register(EXEC_LO), self)
        first = below(held, self._lane) == 0
        assert isinstance(first, SymbolicValue)
        self._needed = self.terms.both(self._on, first.term)
        for reg in found:
            term = self._register(reg)
            if self.terms.under(term, self._needed) is not term and self._mask is not self.exists:
                self.assumed.add("v_readfirstlane_b32 runs with some lane on, or what it gives is not used")

    def _register(self, reg: Reg) -> Term:
        at = regset.bit(reg)
        term = self.registers[at]
        if term is None:
            width = 1 if at == SCC_AT else 32
            name = f"{reg} of {self._whose}"
            term = self.terms.unknown(name, width, uniform=not reg.is_vgpr, owner="unread")
        return term

    def _exec_changed(self) -> None:
        term = self.registers[EXEC_AT]
        assert term is not None
        self._mask = self.terms.lanes(term)
        self._on = self.terms.both(self._mask, self.exists)
        self._whole = {}

    # --- isa.semantics.engine.Engine
    def constant(self, type_: str, number: float) -> SymbolicValue:
        return SymbolicValue(type_, self.terms.const(number_bits(number, type_), bit_width(type_)), self)

    def lane_ids(self) -> SymbolicValue:
        return self._lane

    def exec_mask(self) -> SymbolicValue:
        return SymbolicValue("b1", self._mask, self)

    def read_vgpr(self, index: int, relative: object = None) -> SymbolicValue:
        if isinstance(relative, SymbolicValue) and self.vgprs is not None:
            return self._chosen(index, relative.term)
        if relative is not None:
            raise IsaError("M0 chooses the register")
        term = self.registers[index]
        if term is None:
            term = self._register(Reg("v", index))
        elif term.op == "select":
            term = self.terms.under(term, self._needed)
        return SymbolicValue("u32", term, self)

    def _chosen(self, index: int, by: Term) -> SymbolicValue:
        """What one of some registers holds: a function of them, and of the number of all, beyond which the hardware has
        rules of its own."""
        held = [self.registers[i] or self._register(Reg("v", i)) for i in range(index, self.vgprs or 0)]
        under = [self.terms.under(t, self._needed) for t in held]
        return SymbolicValue("u32", self.terms.make("chosen", 32, index, self.vgprs, by, *under), self)

    def write_vgpr(self, index: int, value: SymbolicValue, mask: SymbolicValue | None, relative: object = None) -> None:
        if isinstance(relative, SymbolicValue) and self.vgprs is not None:
            on = self.terms.true if mask is None else mask.term
            new = (relative.term, on, self.terms.under(value.term, on))
            for i in range(index, self.vgprs):
                old = self._register(Reg("v", i))
                self.registers[i] = self.terms.make("put", 32, i - index, self.vgprs, *new, old)
            return
        if relative is not None:
            raise IsaError("M0 chooses the register")
        term = value.term
        if mask is not None and not self._writes_all(mask.term):
            term = self.terms.under(self.terms.select(mask.term, term, self._register(Reg("v", index))), self.exists)
        self.registers[index] = term

    def _writes_all(self, mask: Term) -> bool:
        """Whether all lanes that exist are written."""
        found = self._whole.get(mask)
        if found is None:
            found = self._whole[mask] = self.terms.implies(self.exists, mask)
        return found

    def read_sgpr(self, index: int, relative: object = None) -> SymbolicValue:
        if relative is not None:
            raise IsaError("M0 chooses the register")
        return SymbolicValue("u32", self.registers[SGPR0 + index] or self._register(Reg("s", index)), self)

    def write_sgpr(self, index: int, value: SymbolicValue, relative: object = None) -> None:
        if relative is not None:
            raise IsaError("M0 chooses the register")
        self.registers[SGPR0 + index] = value.term if value.term.uniform else self._uniform(value.term)
        if SGPR0 + index == EXEC_AT:
            self._exec_changed()

    def _uniform(self, term: Term) -> Term:
        """A scalar that was computed through a vector."""
        return self.terms.make("scalar", term.width, term, uniform=True)

    def read_scc(self) -> SymbolicValue:
        return SymbolicValue("b1", self.registers[SCC_AT] or self._register(SCC), self)

    def write_scc(self, value: SymbolicValue) -> None:
        self.registers[SCC_AT] = value.term

    def special(self, name: str) -> SymbolicValue:
        if self.rows is not None:
            raise IsaError(f"{name} where the rows of LDS are longer")
        return SymbolicValue("u64", self.terms.unknown(name, 64, uniform=True), self)

    def branch(self, inst: Instruction, condition: SymbolicValue | None) -> None:
        self.condition = None if condition is None else condition.term

    # --- memory
    def _places(self, at: Request[SymbolicValue]) -> list[tuple[Term, int]]:
        """Addresses and sizes of the parts of an access."""
        size = min(at.bytes, 4)
        address = at.address.term
        parts = [self.terms.add(address, self.terms.const(4 * k, address.width)) for k in range(at.words)]
        return [(self._place_of(at, part, size), size) for part in parts]

    def _place_of(self, at: Request[SymbolicValue], address: Term, size: int) -> Term:
        """Where the rewritten program has what lies at an address."""
        if self.rows is not None and (at.access.space == "flat" or at.inst.has("gds")):
            raise IsaError("an access of flat memory or GDS where the rows of LDS are longer")
        if self.rows is None or at.access.space != "lds" or self.side:
            return address
        return self.rows.moved(self.terms, address, size)

    def _lanes(self, at: Request[SymbolicValue]) -> Term:
        return self.terms.true if at.mask is None else at.mask.term

    @staticmethod
    def _how(at: Request[SymbolicValue]) -> Hashable:
        """What else there is to say of an access: cache bits."""
        bits = at.inst.family.cache_bits
        return tuple(sorted(f"{name}:{value}" for name, value in at.inst.modifiers if value is None or name in bits))

    def _fenced(self, at: Request[SymbolicValue], what: str, how: Hashable, lanes: Term) -> None:
        """A coherent access is a fence."""
        if at.inst.coherent:
            place = self._place_of(at, at.address.term, at.bytes)
            self.memory.fence(at.inst, self.position, what, at.access.space, at.bytes, how, place, lanes)

    def load(self, at: Request[SymbolicValue]) -> tuple[SymbolicValue, ...]:
        lanes, how = self._lanes(at), self._how(at)
        self._fenced(at, "load", how, lanes)
        unsigned = at.bytes < 4 and at.access.element[0] != "i"
        what = (at.inst, self.position, at.access.space)
        return tuple(
            SymbolicValue("u32", self.memory.load(*what, a, n, lanes, how, unsigned=unsigned), self)
            for a, n in self._places(at)
        )

    def store(self, at: Request[SymbolicValue], values: tuple[SymbolicValue, ...]) -> None:
        lanes, how = self._lanes(at), self._how(at)
        self._fenced(at, "store", how, lanes)
        for (address, size), value in zip(self._places(at), values, strict=True):
            term = value.term if size == 4 else self.terms.low(value.term, 8 * size)
            self.memory.store(at.inst, self.position, at.access.space, address, size, term, lanes, how)

    def atomic(
        self, at: Request[SymbolicValue], body: Callable[..., Any], data: tuple[SymbolicValue, ...]
    ) -> SymbolicValue:
        place = self._place_of(at, at.address.term, at.bytes)
        what = (at.inst.desc.name, at.access.space, at.access.element, self._how(at), place)
        node = self.memory.fence(at.inst, self.position, *what, self._lanes(at), *[d.term for d in data])
        type_ = at.access.element.replace("b", "u")
        return SymbolicValue(type_, self.terms.make("found", bit_width(type_), node, type_, uniform=False), self)


# --- bodies of many steps
def _opaque(desc: Description) -> Callable[..., Any] | None:
    """A function by the instruction's name in the place of its body, where that has many steps on floats."""
    written = [role for role in desc.roles if role.written]
    if len(written) != 1 or desc.implicit_writes or desc.implicit_reads or desc.crosses_lanes or desc.access:
        return None
    type_ = value_type(written[0].type.removeprefix("pk"))
    if written[0].kind != "v" or bit_width(written[0].type) > 64 or not _is_long(desc):
        return None

    def body(*values: Any) -> SymbolicValue:
        symbols = [v for v in values if isinstance(v, SymbolicValue)]
        if not symbols or any(isinstance(v, tuple) and any(isinstance(x, SymbolicValue) for x in v) for v in values):
            raise IsaError("has operands in parts")
        setting = symbols[0].setting
        if desc.name in COMMUTING and setting.terms.commute and values[0].term.id > values[1].term.id:
            values = (values[1], values[0], *values[2:])
        args = tuple(v.term if isinstance(v, SymbolicValue) else v for v in values)
        result, size = type_, bit_width(type_)
        return SymbolicValue(result, setting.terms.make(desc.name, size, setting.mode.register, *args), setting)

    return body


class _Counted(DispatchedValue):
    """A value of which nothing counts but how often something is done to one."""

    done = 0

    def __init__(self, type_: str) -> None:
        self.type = type_

    def operation(self, name: str, *operands: object, type_: str = "") -> _Counted:
        _Counted.done += 1
        return _Counted(type_ or self.type)

    def select(self, yes: object, no: object) -> _Counted:
        return self.operation("select", type_=next((v.type for v in (yes, no) if isinstance(v, _Counted)), "u32"))

    def bits(self, type_: str) -> _Counted:
        return _Counted(type_)

    def to(self, type_: str) -> _Counted:
        return self.operation("to", type_=type_)

    def lane(self, index: object) -> _Counted:
        return self.operation("lane")

    def mask(self) -> _Counted:
        return self.operation("mask", type_="u32")

    def lanes(self) -> _Counted:
        return self.operation("lanes", type_="b1")


@cache
def _is_long(desc: Description) -> bool:
    """Whether a body does more than LONG things to floats. Bodies on integers are followed, whatever they do."""
    rows = [role for role in desc.roles if role.read]
    if desc.body is None or not any(role.type.lstrip("pk")[0] in "fb" for role in rows):
        return False
    values: list[Any] = [_Counted(value_type(role.type.removeprefix("pk"))) for role in rows]
    values += [_Counted("u32") if name == "lane" else () if name != "clamp" else False for name in desc.fields]
    before = _Counted.done
    try:
        desc.body(*values)
    except UNKNOWN:
        return False
    return _Counted.done - before > LONG
