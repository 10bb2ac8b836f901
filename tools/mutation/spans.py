"""How large an integer can be: `Span`, a `Value` that is only known to lie in a range, with some of its bits fixed.

Instructions run on spans (`written`) and give what their results can be: the address `(v0 & 127) * 4 ^ 0x1000` lies in
0x1000..0x11fc and ends in two zeros. A span is a range low..high of the number as unsigned bits, and a mask of fixed
bits with their values; each sharpens the other. An operation that the two cannot follow gives any number, floats always
do. A vector's span is that of all its lanes together.

Exact for numbers that are known; otherwise too large and never too small.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from isa.asm.program import Imm, Instruction, Operand
from isa.registers import SCC, Reg, s, v
from isa.semantics.describe import bit_width
from isa.semantics.engine import UNKNOWN, Request, Straight
from isa.semantics.execute import execute
from isa.semantics.values import Number, OrderedValue, Value


def _integer(type_: str) -> bool:
    return type_[0] in "uib" and type_ != "bf16"


class Span(OrderedValue):
    """Bits of `type` as an unsigned number: low <= number <= high, and number & fixed == bits."""

    __slots__ = ("bits_", "fixed", "high", "low", "type")

    def __init__(self, type_: str, low: int, high: int, fixed: int = 0, bits: int = 0) -> None:
        full = (1 << bit_width(type_)) - 1
        same = ~((1 << (low ^ high).bit_length()) - 1) & full  # above the first bit in which the ends differ
        fixed, bits = fixed & full | same, bits & fixed & full | low & same
        self.type, self.fixed, self.bits_ = type_, fixed, bits
        self.low, self.high = max(low, bits), min(high, bits | full & ~fixed)
        if self.low > self.high:  # only where no number fits, which code that runs cannot reach
            self.low, self.high, self.fixed, self.bits_ = 0, full, 0, 0

    @property
    def key(self) -> tuple[int, int, int, int]:
        """What makes two spans the same."""
        return self.low, self.high, self.fixed, self.bits_

    @property
    def number(self) -> int | None:
        """The number, where it is known."""
        return self.low if self.low == self.high else None

    def __repr__(self) -> str:
        return f"{self.type} {self.low:#x}..{self.high:#x} ({self.bits_:#x} of {self.fixed:#x})"

    def operation(self, name: str, *operands: Any, type_: str = "") -> Span:
        return anything(type_ or self.type)

    # --- helpers
    @property
    def _full(self) -> int:
        return (1 << bit_width(self.type)) - 1

    def _operand(self, other: Number) -> Span:
        if isinstance(other, Span):
            return other
        return constant(self.type, other) if isinstance(other, int) else anything(self.type)

    def _any(self) -> Span:
        return anything(self.type)

    def _trailing(self) -> int:
        """How many low bits are fixed."""
        return (~self.fixed & (self.fixed + 1)).bit_length() - 1

    def _make(self, low: int, high: int, fixed: int = 0, bits: int = 0) -> Span:
        """A result before it wraps; what it wraps to is known only where both ends wrap alike."""
        size = self._full + 1
        if low // size != high // size:
            low, high = 0, size - 1
        return Span(self.type, low % size, high % size, fixed, bits & (size - 1))

    def _low_bits(self, other: Span, result: int) -> tuple[int, int]:
        """Of a sum, difference or product: the low bits that follow from low bits which both sides have fixed."""
        mask = (1 << min(self._trailing(), other._trailing())) - 1
        return mask, result & mask

    # --- arithmetic
    def __add__(self, other: Number) -> Span:
        b = self._operand(other)
        if not _integer(self.type):
            return self._any()
        fixed, bits = self._low_bits(b, self.bits_ + b.bits_)
        if not self.possible & b.possible:  # nothing carries
            fixed, bits = fixed | self._or(b)[0], bits | self._or(b)[1]
        return self._make(self.low + b.low, self.high + b.high, fixed, bits)

    def __sub__(self, other: Number) -> Span:
        b = self._operand(other)
        if not _integer(self.type):
            return self._any()
        return self._make(self.low - b.high, self.high - b.low, *self._low_bits(b, self.bits_ - b.bits_))

    def __rsub__(self, other: Number) -> Span:
        return self._operand(other) - self

    def __mul__(self, other: Number) -> Span:
        b = self._operand(other)
        if not _integer(self.type):
            return self._any()
        fixed, bits = self._low_bits(b, self.bits_ * b.bits_)
        zeros = self._zeros() + b._zeros()
        return self._make(self.low * b.low, self.high * b.high, fixed | (1 << zeros) - 1, bits)

    def __neg__(self) -> Span:
        return constant(self.type, 0) - self if _integer(self.type) else self._any()

    def mulhi(self, other: Number) -> Span:
        b = self._operand(other)
        size = bit_width(self.type)
        if self.type[0] != "u":
            return self._any()
        return Span(self.type, self.low * b.low >> size, self.high * b.high >> size)

    # --- bits
    @property
    def possible(self) -> int:
        """The bits that can be set."""
        return (~self.fixed | self.bits_) & self._full & (1 << self.high.bit_length()) - 1

    def _zeros(self) -> int:
        """How many low bits are 0."""
        return min((self.possible & -self.possible).bit_length() - 1, 64) if self.possible else bit_width(self.type)

    def _or(self, b: Span) -> tuple[int, int]:
        ones = self.fixed & self.bits_ | b.fixed & b.bits_
        return self.fixed & b.fixed | ones, self.bits_ | b.bits_

    def __and__(self, other: Number) -> Span:
        b = self._operand(other)
        zeros = self.fixed & ~self.bits_ | b.fixed & ~b.bits_
        fixed = self.fixed & b.fixed | zeros
        return Span(self.type, 0, min(self.high, b.high), fixed, self.bits_ & b.bits_ & ~zeros)

    def __or__(self, other: Number) -> Span:
        b = self._operand(other)
        if not self.possible & b.possible:
            return self + b
        most = (1 << max(self.high, b.high).bit_length()) - 1
        return Span(self.type, max(self.low, b.low), most, *self._or(b))

    def __xor__(self, other: Number) -> Span:
        b = self._operand(other)
        if not self.possible & b.possible:
            return self + b
        most = (1 << max(self.high, b.high).bit_length()) - 1
        return Span(self.type, 0, most, self.fixed & b.fixed, self.bits_ ^ b.bits_)

    def __invert__(self) -> Span:
        return Span(self.type, self._full - self.high, self._full - self.low, self.fixed, ~self.bits_ & self.fixed)

    def __lshift__(self, other: Number) -> Span:
        n = self._operand(other)
        if n.number is not None:
            return self * (1 << n.number) if n.number < bit_width(self.type) else self._any()
        return self._make(self.low << n.low, self.high << n.high) if n.high < bit_width(self.type) else self._any()

    def __rshift__(self, other: Number) -> Span:
        n = self._operand(other)
        negative = self.type[0] == "i" and self.high >> (bit_width(self.type) - 1)
        if negative or n.high >= bit_width(self.type):
            return self._any()
        if n.number is None:
            return Span(self.type, self.low >> n.high, self.high >> n.low)
        above = self._full & ~(self._full >> n.number)
        fixed, bits = self.fixed >> n.number | above, self.bits_ >> n.number
        return Span(self.type, self.low >> n.number, self.high >> n.number, fixed, bits)

    # --- comparison
    def _truth(self, yes: bool, no: bool) -> Span:
        return Span("b1", int(yes), int(not no))

    def _compare(self, other: Number) -> tuple[tuple[int, int], tuple[int, int]] | None:
        """The ends of both sides as numbers that have the order of the type; None where a sign is not known."""
        b = self._operand(other)
        half = 0 if self.type[0] == "u" else (self._full + 1) // 2
        crossing = any(side.low < half <= side.high for side in (self, b))
        if self.type[0] not in "ui" or crossing:
            return None
        return (self.low ^ half, self.high ^ half), (b.low ^ half, b.high ^ half)

    def __eq__(self, other: Any) -> Span:  # type: ignore[override]
        b = self._operand(other)
        apart = self.high < b.low or b.high < self.low or bool(self.fixed & b.fixed & (self.bits_ ^ b.bits_))
        return self._truth(_integer(self.type) and self.number is not None and self.number == b.number, apart)

    def __lt__(self, other: Number) -> Span:
        ends = self._compare(other)
        if ends is None:
            return self._truth(False, False)
        (low, high), (b_low, b_high) = ends
        return self._truth(high < b_low, low >= b_high)

    __hash__ = None

    def select(self, yes: Number, no: Number) -> Span:
        shape = yes if isinstance(yes, Span) else no if isinstance(no, Span) else anything("u32")
        a, b = shape._operand(yes), shape._operand(no)
        return a if self.low else b if not self.high else join(a, b)

    # --- conversion
    def bits(self, type_: str) -> Span:
        return Span(type_, *self.key)

    def to(self, type_: str) -> Span:
        old, new = bit_width(self.type), bit_width(type_)
        if not (_integer(self.type) and _integer(type_)):
            return anything(type_)
        if new > old:
            signed = self.type[0] == "i" and self.high >> (old - 1)
            above = (1 << new) - (1 << old)
            return anything(type_) if signed else Span(type_, self.low, self.high, self.fixed | above, self.bits_)
        whole = self.low >> new == self.high >> new
        mask = (1 << new) - 1
        low, high = (self.low & mask, self.high & mask) if whole else (0, mask)
        return Span(type_, low, high, self.fixed & mask, self.bits_ & mask)

    # --- lanes
    def lane(self, index: Number) -> Span:
        return self

    def with_lane(self, index: Number, value: Number) -> Span:
        return join(self, self._operand(value))

    def shuffle(self, index: Value) -> Span:
        return self

    def mask(self) -> Span:
        return anything("u32") if self.high else constant("u32", 0)  # which lanes are on is not known

    def lanes(self) -> Span:
        return Span("b1", self.low == self._full, self.high > 0)


def anything(type_: str) -> Span:
    """No number is ruled out."""
    return Span(type_, 0, (1 << bit_width(type_)) - 1)


def constant(type_: str, number: int) -> Span:
    """One number; it wraps into the type."""
    number &= (1 << bit_width(type_)) - 1
    return Span(type_, number, number)


def join(a: Span, b: Span) -> Span:
    """Either of two."""
    fixed = a.fixed & b.fixed & ~(a.bits_ ^ b.bits_)
    return Span(a.type, min(a.low, b.low), max(a.high, b.high), fixed, a.bits_ & fixed)


def written(inst: Instruction, read: Callable[[Reg], Span]) -> dict[Reg, Span]:
    """What each single register can hold that one instruction writes, in a lane that is on, as u32; SCC as 0 or 1. {}
    where that is not known of any. read: the u32 span of a single register; SCC can be anything."""
    engine = _Engine(read)
    try:
        execute(engine, inst)
    except UNKNOWN:
        return {}
    if inst.desc.effect:  # MODE is not known
        return {}
    if inst.desc.name in MINIMA and not inst.modifiers and inst.operands[0] in engine.written:
        sources = [_source(x, read) for x in inst.operands[1:]]
        least = Span("u32", min(x.low for x in sources), min(x.high for x in sources))
        engine.written = {**engine.written, inst.operands[0]: least}
    return engine.written


MINIMA = ("s_min_u32", "v_min_u32")
"""No larger than the smaller of what their sources can be."""


def _source(operand: Operand, read: Callable[[Reg], Span]) -> Span:
    if isinstance(operand, Reg) and operand.count == 1:
        return read(operand)
    if isinstance(operand, Imm) and isinstance(operand.value, int):
        return constant("u32", operand.value & 0xFFFFFFFF)
    return anything("u32")


class _Engine(Straight):
    """The engine of `isa.semantics.execute` on spans: what is read stays what it was, what is written is noted."""

    def __init__(self, read: Callable[[Reg], Span]) -> None:
        self._read = read
        self.written: dict[Reg, Span] = {}

    def constant(self, type_: str, number: float) -> Span:
        return constant(type_, int(number)) if _integer(type_) else anything(type_)

    def lane_ids(self) -> Span:
        return Span("u32", 0, 31)

    def read_vgpr(self, index: int, relative: Value | None = None) -> Span:
        return self._read(v(index)) if relative is None else anything("u32")

    def write_vgpr(self, index: int, value: Span, mask: Span | None, relative: Value | None = None) -> None:
        # A lane that DPP leaves out keeps what it had.
        self._write(v(index), value if mask is None or mask.low else join(value, self.read_vgpr(index)), relative)

    def read_sgpr(self, index: int, relative: Value | None = None) -> Span:
        return self._read(s(index)) if relative is None else anything("u32")

    def write_sgpr(self, index: int, value: Span, relative: Value | None = None) -> None:
        self._write(s(index), value, relative)

    def _write(self, reg: Reg, value: Span, relative: Value | None) -> None:
        if relative is not None:
            raise ValueError("any register may be written")
        self.written[reg] = value

    def read_scc(self) -> Span:
        return anything("b1")

    def write_scc(self, value: Span) -> None:
        self.written[SCC] = value.to("u32")

    def special(self, name: str) -> Span:
        return anything("u64")

    def next_address(self) -> Span:
        return anything("u64")

    def load(self, at: Request[Span]) -> tuple[Span, ...]:
        return (anything("u32"),) * at.words

    def store(self, *_: object) -> None: ...

    def atomic(self, at: Request[Span], *_: object) -> Span:
        return anything(at.access.element.replace("b", "u"))
