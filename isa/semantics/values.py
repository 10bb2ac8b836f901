"""Values of instruction bodies: the operations that a body may use, which each engine implements.

A `Value` is what one operand holds: 32 lanes at once for a vector operand, one number for a scalar one. Bodies in
`isa/instructions` are written against this interface only; an engine (NumPy arrays, LLVM IR) subclasses it and runs
the same body. A vector and a scalar value mix: the scalar is the same in each lane. Python numbers mix with both and
take the other side's type.

Types: b1 (a truth value per lane), u8 i8 u16 i16 u32 i32 u64 i64, f16 f32 f64, bf16 only through `to`. Integer
arithmetic wraps. Float arithmetic is IEEE in the rounding mode of the wave, and flushes denormals where the wave's
mode says so; `fma` rounds once. `&`, `|`, `^`, `~` work on integers and on b1. Shift amounts must be smaller than the
width (mask them: the ISA says which bits count) and may have another integer type. `<`, `==` and so on give b1; with a
NaN all but `!=` are false.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

Number: TypeAlias = "Value | int | float"
MIN_NORMAL = {"f16": 2.0**-14, "f32": 2.0**-126, "f64": 2.0**-1022}
LIFT = {"f16": 2.0**14, "f32": 2.0**64, "f64": 2.0**200}
"""What brings a number about the smallest normal one to where nothing is denormal."""


class Value(ABC):
    """One operand's value. `type` is one of the names in the module's docstring."""

    type: str

    # --- arithmetic; both sides have one type
    @abstractmethod
    def __add__(self, other: Number) -> Value: ...
    @abstractmethod
    def __sub__(self, other: Number) -> Value: ...
    @abstractmethod
    def __mul__(self, other: Number) -> Value: ...
    @abstractmethod
    def __neg__(self) -> Value: ...
    @abstractmethod
    def fma(self, b: Number, c: Number) -> Value:
        """self * b + c, rounded once (floats)."""

    @abstractmethod
    def div(self, other: Number) -> Value:
        """IEEE division (floats), or unsigned/signed division that rounds to zero (integers; divisor not 0)."""

    @abstractmethod
    def mulhi(self, other: Number) -> Value:
        """The high half of the double-width product (u32, i32)."""

    # --- bits
    @abstractmethod
    def __and__(self, other: Number) -> Value: ...
    @abstractmethod
    def __or__(self, other: Number) -> Value: ...
    @abstractmethod
    def __xor__(self, other: Number) -> Value: ...
    @abstractmethod
    def __invert__(self) -> Value: ...
    @abstractmethod
    def __lshift__(self, other: Number) -> Value: ...
    @abstractmethod
    def __rshift__(self, other: Number) -> Value:
        """Logical for unsigned types, arithmetic for signed ones."""

    @abstractmethod
    def popcount(self) -> Value: ...
    @abstractmethod
    def clz(self) -> Value:
        """Leading zeros; the width for 0."""

    @abstractmethod
    def ctz(self) -> Value:
        """Trailing zeros; the width for 0."""

    @abstractmethod
    def bitreverse(self) -> Value: ...

    # --- comparison
    @abstractmethod
    def __eq__(self, other: Any) -> Value: ...  # type: ignore[override]
    @abstractmethod
    def __ne__(self, other: Any) -> Value: ...  # type: ignore[override]
    @abstractmethod
    def __lt__(self, other: Number) -> Value: ...
    @abstractmethod
    def __le__(self, other: Number) -> Value: ...
    @abstractmethod
    def __gt__(self, other: Number) -> Value: ...
    @abstractmethod
    def __ge__(self, other: Number) -> Value: ...

    __hash__ = None  # type: ignore[assignment]

    @abstractmethod
    def select(self, yes: Number, no: Number) -> Value:
        """self is b1: yes where it holds, no elsewhere."""

    def larger(self, other: Number) -> Value:
        """The larger integer."""
        return (self > other).select(self, other)

    def smaller(self, other: Number) -> Value:
        """The smaller integer."""
        return (self < other).select(self, other)

    # --- conversion
    @abstractmethod
    def bits(self, type_: str) -> Value:
        """The same bits seen as another type of the same width."""

    @abstractmethod
    def to(self, type_: str) -> Value:
        """The number in another type. Integers extend by the sign of self and truncate; int -> float and float ->
        float round to nearest even (the wave's mode for f16/f64 where it differs); b1 gives 0 or 1. Float -> int goes
        through `to_int`."""

    @abstractmethod
    def to_int(self, type_: str) -> Value:
        """Float -> integer: towards zero, saturating, NaN gives 0 (ISA guide, V_CVT_*)."""

    def joined(self, high: Value) -> Value:
        """self and `high`, u32, as the halves of a u64."""
        return self.to("u64") | (high.to("u64") << 32)

    def halves(self) -> tuple[Value, Value]:
        """The two u32 of a u64."""
        return self.to("u32"), (self >> 32).to("u32")

    # --- float functions
    @abstractmethod
    def floor(self) -> Value: ...
    @abstractmethod
    def ceil(self) -> Value: ...
    @abstractmethod
    def trunc(self) -> Value: ...
    @abstractmethod
    def rint(self) -> Value:
        """To the nearest integer, ties to even."""

    @abstractmethod
    def sqrt(self) -> Value: ...
    @abstractmethod
    def call(self, name: str) -> Value:
        """A function of the transcendental unit, denormals flushed by the mode: rcp, rsq, exp2, log2, and sin, cos of
        an angle x in turns (1.0 is 2 pi), which are exactly 0 where they should be.
        `isa.semantics.reference.transcendental` has those that are known to the last bit; the others are computed in
        f64 and rounded once."""

    # --- what engines have ready: functions too long to be written out in each body
    @abstractmethod
    def primitive(self, name: str, *others: Value, type_: str = "") -> Value:
        """A function of self and others that an engine computes by itself; others take its name for all that is known.
        Bodies use the methods below. type_: the result's, self's unless given."""

    def scaled_fma(self, b: Value, c: Value, n: Value) -> Value:
        """(self * b + c) * 2**n (f32, f64), rounded once; n is an i32 below 1024 in size. Denormal operands are kept,
        a denormal result as the mode says."""
        return self.primitive("scaled_fma", b, c, n)

    def primitives(self, name: str, *others: Value, count: int) -> tuple[Value, ...]:
        """The same with so many results of self's type."""
        return tuple(self.primitive(f"{name} {i}", *others) for i in range(count))

    def dot2(self, b: Value, c: Value, kind: str) -> Value:
        """Two products and an accumulator as a gfx1100 adds them: `isa.semantics.dots`. self, b: a pair of
        factors a u32; c and the result: bits as a u32. kind: the accumulator's type and the factors', `f32 bf16`."""
        return self.primitive(f"dot2 {kind}", b, c)

    # --- lanes (vector values)
    @abstractmethod
    def lane(self, index: Number) -> Value:
        """The scalar in one lane."""

    @abstractmethod
    def with_lane(self, index: Number, value: Number) -> Value:
        """The same vector with one lane replaced by a scalar."""

    @abstractmethod
    def shuffle(self, index: Value) -> Value:
        """Lane i gets self's lane index[i] (0..31)."""

    @abstractmethod
    def mask(self) -> Value:
        """A vector b1 -> the u32 scalar with one bit a lane."""

    @abstractmethod
    def lanes(self) -> Value:
        """A u32 scalar -> the vector b1 of its bits."""

    # --- Python numbers on the left
    def __radd__(self, other: Number) -> Value:
        return self + other

    def __rsub__(self, other: Number) -> Value:
        return -self + other

    def __rmul__(self, other: Number) -> Value:
        return self * other

    def __rand__(self, other: Number) -> Value:
        return self & other

    def __ror__(self, other: Number) -> Value:
        return self | other

    def __rxor__(self, other: Number) -> Value:
        return self ^ other


def _dispatched(name: str, type_: str = "") -> Callable[..., Any]:
    def method(self: DispatchedValue, *operands: Number) -> Any:
        return self.operation(name, *operands, type_=type_)

    return method


class DispatchedValue(Value):
    """A value whose operations come to one method, `operation`, but for those that an engine overrides."""

    @abstractmethod
    def operation(self, name: str, *operands: Any, type_: str = "") -> Any:
        """What the method `name` gives, or a primitive or `call` of that name. type_: the result's, self's if ""."""

    __add__, __sub__, __mul__, __neg__ = map(_dispatched, ("__add__", "__sub__", "__mul__", "__neg__"))
    fma, div, mulhi = map(_dispatched, ("fma", "div", "mulhi"))
    __and__, __or__, __xor__, __invert__ = map(_dispatched, ("__and__", "__or__", "__xor__", "__invert__"))
    __lshift__, __rshift__ = map(_dispatched, ("__lshift__", "__rshift__"))
    popcount, clz, ctz, bitreverse = map(_dispatched, ("popcount", "clz", "ctz", "bitreverse"))
    __eq__, __ne__ = _dispatched("__eq__", "b1"), _dispatched("__ne__", "b1")
    __lt__, __le__ = _dispatched("__lt__", "b1"), _dispatched("__le__", "b1")
    __gt__, __ge__ = _dispatched("__gt__", "b1"), _dispatched("__ge__", "b1")
    __hash__ = None
    floor, ceil, trunc, rint, sqrt = map(_dispatched, ("floor", "ceil", "trunc", "rint", "sqrt"))
    with_lane, shuffle = _dispatched("with_lane"), _dispatched("shuffle")

    def to_int(self, type_: str) -> Any:
        return self.operation("to_int", type_=type_)

    def call(self, name: str) -> Any:
        return self.operation(name)

    def primitive(self, name: str, *others: Value, type_: str = "") -> Any:
        return self.operation(name, *others, type_=type_)


class OrderedValue(DispatchedValue):
    """One that says itself what is equal and what is less; the rest follows. Where a value may be neither less, equal
    nor more (a NaN), it says what is at most another, too."""

    @abstractmethod
    def _operand(self, other: Any) -> Any:
        """The other side of an operation as a value of self's type."""

    def __ne__(self, other: object) -> Any:
        return ~(self == other)

    def __gt__(self, other: Number) -> Any:
        return self._operand(other) < self

    def __le__(self, other: Number) -> Any:
        return ~(self._operand(other) < self)

    def __ge__(self, other: Number) -> Any:
        return self._operand(other) <= self

    __hash__ = None


RDNA4_SUMS = " gfx12"
"""At the end of a kind of `dot2` or `wmma`: as RDNA4 adds (`isa.semantics.dots`)."""


def float_bits(value: float, type_: str) -> int:
    """A Python number as the bits of f16, f32 or f64."""
    number, bits = {"f16": ("e", "H"), "f32": ("f", "I"), "f64": ("d", "Q")}[type_]
    return int(struct.unpack(f"<{bits}", struct.pack(f"<{number}", value))[0])


def fma(a: Value, b: Number, c: Number) -> Value:
    """a * b + c, rounded once."""
    return a.fma(b, c)


def wmma(a: Sequence[Value], b: Sequence[Value], c: Sequence[Value], kind: str) -> tuple[Value, ...]:
    """A matrix product of a wave by such steps: u32 registers of A, B and C -> those of D. kind: as for `dot2`, or
    `iu8 1 0 clamp`: fields of 8 or 4 bits, whether A and B are signed, and `clamp` or `wrap`."""
    return a[0].primitives(f"wmma {kind}", *a[1:], *b, *c, count=8)


def select(condition: Value, yes: Number, no: Number) -> Value:
    """yes where the b1 condition holds, no elsewhere."""
    return condition.select(yes, no)
