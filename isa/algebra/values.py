"""Operands as terms: `isa.semantics.values.Value` on `Terms`, so that the bodies of instructions run on them.

Integers and truth values get the algebra of `Terms`. What is done to floats, bit counts, divisions and exchange between
lanes are functions of their operands (and, of floats, of the MODE register) that nothing else is known of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from isa.algebra.term import Term, age
from isa.algebra.terms import Terms
from isa.semantics.float_mode import FloatMode
from isa.semantics.instruction import bit_width
from isa.semantics.values import Number, OrderedValue, Value, float_bits


def number_bits(value: float, type_: str) -> int:
    """A Python number as the bits of a type."""
    return float_bits(value, type_) if type_[0] == "f" else int(value)


class Setting:
    """What operations on symbols ask for beside their operands: the table, MODE as it is now, and the lanes in which it
    matters what comes out."""

    def __init__(self, terms: Terms) -> None:
        self.terms, self.mode, self.matters = terms, FloatMode(), terms.true


class SymbolicValue(OrderedValue):
    """See the module's docstring; the meaning of the methods stands at `isa.semantics.values.Value`."""

    __slots__ = ("setting", "term", "type")

    def __init__(self, type_: str, term: Term, setting: Setting) -> None:
        self.type, self.term, self.setting = type_, term, setting

    def _make(self, term: Term, type_: str = "") -> SymbolicValue:
        return SymbolicValue(type_ or self.type, term, self.setting)

    def _other(self, other: Number) -> Term:
        if isinstance(other, SymbolicValue):
            return other.term
        assert isinstance(other, int | float)
        return self.setting.terms.const(number_bits(other, self.type), self.term.width)

    def _operand(self, other: Number) -> SymbolicValue:
        return self._make(self._other(other))

    @property
    def _float(self) -> bool:
        return self.type[0] in "fb" and self.type != "b1"

    @property
    def _signed(self) -> bool:
        return self.type[0] == "i"

    def operation(self, name: str, *operands: Number, type_: str = "") -> SymbolicValue:
        """A function that nothing is known of."""
        result = type_ or self.type
        t, width = self.setting.terms, bit_width(result)
        mode = self.setting.mode.register if self._float or result[0] in "fb" or " " in name else 0
        args = (self.type, result, mode, self.term, *map(self._other, operands))
        return self._make(t.variable(name, *args) if width == 1 else t.make(name, width, *args), result)

    def _commuting(self, name: str, other: Number, *rest: Number) -> SymbolicValue:
        """The same of an operation whose first two operands may change places."""
        b = self._other(other)
        if self.setting.terms.commute and self.term.id > b.id:
            return self._make(b).operation(name, self, *rest)
        return self.operation(name, other, *rest)

    # --- arithmetic
    def __add__(self, other: Number) -> SymbolicValue:
        if self._float:
            return self._commuting("add", other)
        return self._make(self.setting.terms.add(self.term, self._other(other)))

    def __sub__(self, other: Number) -> SymbolicValue:
        if self._float:
            return self.operation("subtract", other)
        return self._make(self.setting.terms.sub(self.term, self._other(other)))

    def __mul__(self, other: Number) -> SymbolicValue:
        if self._float:
            return self._commuting("multiply", other)
        return self._make(self.setting.terms.mul(self.term, self._other(other)))

    def __neg__(self) -> SymbolicValue:
        return self.operation("negate") if self._float else self._make(self.setting.terms.scale(self.term, -1))

    def fma(self, b: Number, c: Number) -> SymbolicValue:
        if not self._float:
            return self * b + c
        if not self.setting.terms.reorder:
            return self._commuting("fma", b, c)
        product, last = (self * b).term, self._other(c)
        same = last.op == "float sum" and last.args[:2] == (self.type, self.setting.mode.register)
        rest = last.args[2:] if same else (last,)
        terms = sorted((product, *rest), key=age)
        return self._make(
            self.setting.terms.make("float sum", product.width, self.type, self.setting.mode.register, *terms)
        )

    def mulhi(self, other: Number) -> SymbolicValue:
        t = self.setting.terms
        wide = t.sext if self._signed else t.zext
        return self._make(t.hi(t.mul(wide(self.term), wide(self._other(other)))))

    # --- bits
    def _logic(self, other: Number, truth: str, bits: str) -> SymbolicValue:
        f: Callable[[Term, Term], Term] = getattr(self.setting.terms, truth if self.type == "b1" else bits)
        return self._make(f(self.term, self._other(other)))

    def __and__(self, other: Number) -> SymbolicValue:
        return self._logic(other, "both", "bit_and")

    def __or__(self, other: Number) -> SymbolicValue:
        return self._logic(other, "either", "bit_or")

    def __xor__(self, other: Number) -> SymbolicValue:
        return self._logic(other, "differ", "bit_xor")

    def __invert__(self) -> SymbolicValue:
        t = self.setting.terms
        return self._make(t.invert(self.term) if self.type == "b1" else t.bit_not(self.term))

    def _amount(self, other: Number) -> Term:
        return other.term if isinstance(other, SymbolicValue) else self.setting.terms.const(int(other), 32)  # type: ignore[arg-type]

    def __lshift__(self, other: Number) -> SymbolicValue:
        return self._make(self.setting.terms.shl(self.term, self._amount(other)))

    def __rshift__(self, other: Number) -> SymbolicValue:
        return self._make(self.setting.terms.shr(self.term, self._amount(other), signed=self._signed))

    # --- comparison
    def _compare(self, name: str, a: Term, b: Term) -> SymbolicValue:
        return self._make(self.setting.terms.variable(name, self.type, self.setting.mode.register, a, b), "b1")

    def __eq__(self, other: Any) -> SymbolicValue:  # type: ignore[override]
        a, b = self.term, self._other(other)
        if self._float:
            return self._compare("equal", *((a, b) if a.id <= b.id else (b, a)))
        return self._make(self.setting.terms.equal(a, b), "b1")

    def __lt__(self, other: Number) -> SymbolicValue:
        a, b = self.term, self._other(other)
        if self._float:
            return self._compare("less", a, b)
        return self._make(self.setting.terms.less(a, b, signed=self._signed), "b1")

    def __le__(self, other: Number) -> SymbolicValue:
        return self._compare("at most", self.term, self._other(other)) if self._float else super().__le__(other)

    __hash__ = None

    def select(self, yes: Number, no: Number) -> SymbolicValue:
        model = yes if isinstance(yes, SymbolicValue) else no if isinstance(no, SymbolicValue) else None
        if model is None:
            raise ValueError("of which type?")
        return model._make(self.setting.terms.select(self.term, model._other(yes), model._other(no)))

    # --- conversion
    def bits(self, type_: str) -> SymbolicValue:
        return SymbolicValue(type_, self.term, self.setting)

    def to(self, type_: str) -> SymbolicValue:
        if type_ == self.type:
            return self
        if self._float or type_[0] in "fb":
            return self.operation("to", type_=type_)
        t, old, new = self.setting.terms, self.term.width, bit_width(type_)
        if old == 1:
            return self._make(t.number(self.term, new), type_)
        if new < old:
            return self._make(t.trunc(self.term) if new == 32 else t.low(self.term, new), type_)
        if new == old:
            return self._make(self.term, type_)
        if self._signed and self.term.ones >> (old - 1):
            return (
                self._make(t.sext(self.term), type_)
                if new == 64 and old == 32
                else self.operation("extend", type_=type_)
            )
        return self._make(t.zext(self.term) if old == 32 else t.wide(self.term, new), type_)

    def joined(self, high: Value) -> SymbolicValue:
        assert isinstance(high, SymbolicValue)
        return self._make(self.setting.terms.joined(self.term, high.term), "u64")

    def halves(self) -> tuple[SymbolicValue, SymbolicValue]:
        t = self.setting.terms
        return self._make(t.trunc(self.term), "u32"), self._make(t.hi(self.term), "u32")

    # --- lanes
    def lane(self, index: Number) -> SymbolicValue:
        if self.term.uniform:
            return self
        return self._make(
            self.setting.terms.make("lane", self.term.width, self.term, self._amount(index), uniform=True)
        )

    def with_lane(self, index: Number, value: Number) -> SymbolicValue:
        args = (self.term, self._amount(index), self._other(value))
        return self._make(self.setting.terms.make("with lane", self.term.width, *args, uniform=False))

    def shuffle(self, index: Value) -> SymbolicValue:
        assert isinstance(index, SymbolicValue)
        if self.term.uniform:
            return self
        t, args = self.setting.terms, (self.term, index.term)
        if self.type == "b1":
            return self._make(t.variable("shuffle", *args, uniform=False))
        return self._make(t.make("shuffle", self.term.width, *args, uniform=False))

    def mask(self) -> SymbolicValue:
        return self._make(self.setting.terms.mask(self.term), "u32")

    def lanes(self) -> SymbolicValue:
        t = self.setting.terms
        return self._make(t.narrowed(t.lanes(self.term), self.setting.matters), "b1")
