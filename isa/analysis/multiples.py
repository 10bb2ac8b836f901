"""Possible bits of registers: a `Cfg` -> at each position, the bits that may be 1; the rest is known to be 0.

What an LDS address must be a multiple of before a wide access may stand there (RDNA3 ISA guide 12.6) is often plain in
the text: a thread's number shifted by 4 and a constant. So is how large it can be. Each instruction's own body is run
on values that are sets of bits (`PossibleBits`), in a forward data flow. Where lanes that are off keep a value that is
still live, and where paths meet, both count.

Limits: nothing is known of floats, of loaded words and of arguments, nor of what a function begins with but for the
work-item's number, where it is known how many bits that has.
"""

from __future__ import annotations

import operator
from typing import Any

from isa.analysis import dataflow, exec_mask, liveness, regset
from isa.analysis.cfg import Block, Cfg
from isa.registers import SCC, Reg, v
from isa.semantics.engine import UNKNOWN, Request, Straight
from isa.semantics.execute import execute
from isa.semantics.instruction import Instruction
from isa.semantics.values import DispatchedValue, Number, Value

FULL = (1 << 32) - 1
_COMPARISONS = {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"}
_Known = dict[int, int]
"""regset bit of a register -> the bits that may be 1; FULL where it is left out."""


def _low(n: int, size: int = 32) -> int:
    """How many low bits of a mask are 0."""
    return (n & -n).bit_length() - 1 if n else size


class PossibleBits(DispatchedValue):
    """`ones`: what may be 1, in any lane. `number`: what it is in all lanes, where that is known."""

    __slots__ = ("number", "ones", "type")

    def __init__(self, type_: str, ones: int | None = None, number: int | None = None) -> None:
        self.type, self.number = type_, number
        self.ones = self.all if ones is None else ones & self.all

    @staticmethod
    def of(type_: str, number: int) -> PossibleBits:
        made = PossibleBits(type_, number)
        made.number = made.ones
        return made

    @property
    def size(self) -> int:
        return 1 if self.type == "b1" else int(self.type.lstrip("bfui"))

    @property
    def all(self) -> int:
        return (1 << self.size) - 1

    def _operand(self, other: Number) -> PossibleBits:
        if isinstance(other, PossibleBits):
            return other
        return self.of(self.type, other) if isinstance(other, int) else PossibleBits(self.type)

    @property
    def signed(self) -> int | None:
        """The number as its type has it."""
        negative = self.number is not None and self.type[0] == "i" and self.number >> self.size - 1
        return self.number - (1 << self.size) if negative and self.number is not None else self.number

    def operation(self, name: str, *operands: Any, type_: str = "") -> PossibleBits:
        if name in _COMPARISONS:
            a, b = self.signed, self._operand(operands[0]).signed
            if a is not None and b is not None and not self._is_float:
                return self.of("b1", getattr(operator, name)(a, b))
        return PossibleBits(type_ or self.type)

    def _from(self, zeros: int, most: int) -> PossibleBits:
        """Numbers up to `most`, before they wrap, with so many low bits that are 0."""
        zeros = min(zeros, self.size)
        return PossibleBits(self.type, min((1 << most.bit_length()) - 1, self.all) >> zeros << zeros)

    def _made(self, other: PossibleBits, number: Any, ones: int) -> PossibleBits:
        """Of two numbers the number, else these bits."""
        if self.number is not None and other.number is not None:
            return self.of(self.type, number(self.number, other.number))
        return PossibleBits(self.type, ones)

    @property
    def _is_float(self) -> bool:
        return "f" in self.type

    # --- arithmetic
    def __add__(self, other: Number) -> PossibleBits:
        o = self._operand(other)
        if self._is_float:
            return PossibleBits(self.type)
        ones = self.ones | o.ones
        if self.ones & o.ones:
            ones = self._from(min(_low(self.ones), _low(o.ones)), self.ones + o.ones).ones
        return self._made(o, int.__add__, ones)

    def __sub__(self, other: Number) -> PossibleBits:
        o = self._operand(other)
        if self._is_float:
            return PossibleBits(self.type)
        both = min(_low(self.ones, self.size), _low(o.ones, self.size))
        return self._made(o, int.__sub__, self._from(both, self.all).ones if o.ones else self.ones)

    def __neg__(self) -> PossibleBits:
        return self._operand(0) - self

    def __mul__(self, other: Number) -> PossibleBits:
        o = self._operand(other)
        if self._is_float:
            return PossibleBits(self.type)
        return self._made(o, int.__mul__, self._from(_low(self.ones) + _low(o.ones), self.ones * o.ones).ones)

    # --- bits
    def __and__(self, other: Number) -> PossibleBits:
        o = self._operand(other)
        return self._made(o, int.__and__, self.ones & o.ones)

    def __or__(self, other: Number) -> PossibleBits:
        o = self._operand(other)
        return self._made(o, int.__or__, self.ones | o.ones)

    def __xor__(self, other: Number) -> PossibleBits:
        o = self._operand(other)
        return self._made(o, int.__xor__, self.ones | o.ones)

    def __invert__(self) -> PossibleBits:
        return PossibleBits(self.type) if self.number is None else self.of(self.type, ~self.number)

    def __lshift__(self, other: Number) -> PossibleBits:
        n = self._operand(other).number
        if n is None:
            return self._from(_low(self.ones, self.size), self.all)
        return PossibleBits(self.type, self.ones << n) if self.number is None else self.of(self.type, self.number << n)

    def __rshift__(self, other: Number) -> PossibleBits:
        n = self._operand(other).number
        ones = self.ones
        if self.type[0] == "i" and ones >> self.size - 1:
            ones |= -1 << self.size  # copies of the sign
        if n is None:
            return PossibleBits(self.type, (1 << self.ones.bit_length()) - 1)
        made = PossibleBits(self.type, ones >> n)
        made.number = made.ones if self.number is not None and ones == self.ones else None
        return made

    def select(self, yes: Number, no: Number) -> PossibleBits:
        typed = yes if isinstance(yes, PossibleBits) else no
        assert isinstance(typed, PossibleBits)
        a, b = typed._operand(yes), typed._operand(no)
        if self.number is not None:
            return a if self.number else b
        return PossibleBits(typed.type, a.ones | b.ones)

    # --- conversion
    def bits(self, type_: str) -> PossibleBits:
        return PossibleBits(type_, self.ones, self.number)

    def to(self, type_: str) -> PossibleBits:
        made = PossibleBits(type_)
        if "f" in self.type + type_:
            return made
        negative = self.type[0] == "i" and self.ones >> self.size - 1
        ones = (self.ones | (-1 << self.size if negative else 0)) & made.all
        return PossibleBits(type_, ones, ones if self.number is not None and not negative else None)

    # --- lanes
    def lane(self, index: Number) -> PossibleBits:
        return self

    def with_lane(self, index: Number, value: Number) -> PossibleBits:
        return PossibleBits(self.type, self.ones | self._operand(value).ones)

    def shuffle(self, index: Value) -> PossibleBits:
        return self

    def mask(self) -> PossibleBits:
        return PossibleBits("u32")

    def lanes(self) -> PossibleBits:
        return PossibleBits("b1")


class _Machine(Straight):
    """The engine. known: of registers before the instruction; written: what it writes to each."""

    def __init__(self, known: _Known) -> None:
        self.known = known
        self.written: _Known = {}

    def constant(self, type_: str, number: float) -> PossibleBits:
        return PossibleBits(type_)._operand(number)

    def lane_ids(self) -> PossibleBits:
        return PossibleBits("u32", 31)

    def _read(self, reg: Reg, relative: Any) -> PossibleBits:
        return PossibleBits("u32", FULL if relative is not None else self.known.get(regset.bit(reg), FULL))

    def _write(self, reg: Reg, ones: int) -> None:
        at = regset.bit(reg)
        self.written[at] = self.written.get(at, 0) | ones

    def read_vgpr(self, index: int, relative: Any = None) -> PossibleBits:
        return self._read(v(index), relative)

    def write_vgpr(self, index: int, value: PossibleBits, mask: Any, relative: Any = None) -> None:
        kept = 0 if mask is None else self._read(v(index), None).ones
        self._write(v(index), value.ones | kept if relative is None else FULL)

    def read_sgpr(self, index: int, relative: Any = None) -> PossibleBits:
        return self._read(Reg("s", index), relative)

    def write_sgpr(self, index: int, value: PossibleBits, relative: Any = None) -> None:
        self._write(Reg("s", index), value.ones if relative is None else FULL)

    def read_scc(self) -> PossibleBits:
        return PossibleBits("b1")

    def write_scc(self, value: PossibleBits) -> None:
        self._write(SCC, value.ones)

    def special(self, name: str) -> PossibleBits:
        return PossibleBits("u64")

    def load(self, at: Request[PossibleBits]) -> tuple[PossibleBits, ...]:
        element = at.access.element
        return (PossibleBits("u32", PossibleBits(element).all if element in ("u8", "u16") else FULL),) * at.words

    def store(self, *arguments: object) -> None: ...

    def atomic(self, at: Request[PossibleBits], *rest: object) -> PossibleBits:
        return PossibleBits({"b32": "u32", "b64": "u64"}.get(at.access.element, at.access.element))


class Multiples:
    """See the module's docstring. items: the bits that v0 may have as the function begins."""

    def __init__(self, cfg: Cfg, items: int = FULL) -> None:
        self.cfg = cfg
        self.live = liveness.analyse(cfg)
        self.full = exec_mask.analyse(cfg).full
        first: _Known = {regset.bit(v(0)): items} if items < FULL else {}
        self.entry = dataflow.forward(cfg, first, self._through, _joined)

    def zeros(self, position: int, reg: Reg) -> int:
        """How many low bits of a single register are 0 before a position."""
        return _low(self.ones(position, reg))

    def ones(self, position: int, reg: Reg) -> int:
        """The bits of a single register that may be 1 before a position."""
        block = self.cfg.block_of(position)
        state = dict(self.entry.get(block.index, {}))
        for i in range(block.start, position):
            self._step(i, state)
        return state.get(regset.bit(reg), FULL)

    def _through(self, block: Block, state: _Known) -> _Known:
        state = dict(state)
        for i in block.range:
            self._step(i, state)
        return state

    def _step(self, i: int, state: _Known) -> None:
        found = _results(self.cfg.instructions[i], state)
        for reg in regset.members(self.cfg.defs[i]):
            at = regset.bit(reg)
            new = found.get(at, FULL)
            if reg.is_vgpr and not self.full[i] and self.live.before[i] >> at & 1:
                new |= state.get(at, FULL)
            state.pop(at, None)
            if new < FULL:
                state[at] = new


def _results(inst: Instruction, state: _Known) -> _Known:
    """Of what an instruction writes; nothing where its body wants more of its values than these have."""
    machine = _Machine(state)
    try:
        execute(machine, inst)
    except UNKNOWN:
        return {}
    return machine.written


def _joined(a: _Known, b: _Known) -> _Known:
    return {at: n | b[at] for at, n in a.items() if at in b}


def analyse(cfg: Cfg, items: int = FULL) -> Multiples:
    """What is known of a function's registers. items: the bits that v0 may have as it begins."""
    return Multiples(cfg, items)
