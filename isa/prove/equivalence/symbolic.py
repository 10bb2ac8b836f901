"""The engine: instruction bodies over terms. One `Symbolic` is one operand's value for one generic work-item.

A vector operand is the value in that work-item's lane, a scalar one the value for its wave; both are terms. Integers
and truth values get the algebra of `Terms`, those of 8 and 16 bits as their bits; everything else (floats, bit counts,
exchange between lanes) is a function that nothing is known of but that equal arguments give equal results.
That is enough, since a rewrite that keeps the results bit for bit keeps those functions and their arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from isa.prove.equivalence.bits import bit_and, bit_not, bit_or, bit_xor, shr
from isa.prove.equivalence.comparisons import equal, slt, ult
from isa.prove.equivalence.term import Term
from isa.prove.equivalence.terms import Terms
from isa.semantics.instruction import bit_width
from isa.semantics.values import Number, OrderedValue, Value, float_bits

_SHORT = ("u8", "i8", "u16", "i16")


def modulus(width: int) -> int:
    """The width in which sums of this many bits are kept."""
    return 64 if width in (1, 64) else 32


class Symbolic(OrderedValue):
    """See the module's docstring; the meaning of the methods stands at `isa.semantics.values.Value`."""

    __slots__ = ("term", "terms", "type")

    def __init__(self, type_: str, term: Term, terms: Terms) -> None:
        self.type, self.term, self.terms = type_, term, terms

    @property
    def width(self) -> int:
        return bit_width(self.type)

    # --- helpers
    def _make(self, term: Term, type_: str = "") -> Symbolic:
        return Symbolic(type_ or self.type, term, self.terms)

    def _other(self, other: Number | bool) -> Term:
        if isinstance(other, Symbolic):
            return other.term
        assert isinstance(other, int | float)
        if self.type[0] == "f":
            return self.terms.const(float_bits(other, self.type), modulus(self.width))
        if self.width in (8, 16):  # held as its bits
            return self.terms.const(int(other) & (1 << self.width) - 1, 32)
        return self.terms.const(int(other), modulus(self.width))

    def _operand(self, other: Number | bool) -> Symbolic:
        return self._make(self._other(other))

    def operation(self, name: str, *operands: Number, type_: str = "") -> Symbolic:
        """A function that nothing is known of."""
        return self._opaque(f"{name} {type_}".strip(), self.term, *map(self._other, operands), type_=type_)

    def _opaque(self, op: str, *args: Any, type_: str = "") -> Symbolic:
        type_ = type_ or self.type
        return self._make(self.terms.atom(op, self.type, *args, width=bit_width(type_)), type_)

    @property
    def _algebraic(self) -> bool:
        return self.type in ("u32", "i32", "u64", "i64")

    @property
    def _short(self) -> bool:
        """An integer of 8 or 16 bits: its bits are held, in a sum of 32."""
        return self.type in _SHORT

    @property
    def _integer(self) -> bool:
        return self._algebraic or self._short

    def _wrapped(self, op: Callable[..., Term], *operands: Any) -> Symbolic:
        """What the algebra makes of integers."""
        if not self._short:
            return self._make(op(*operands, self.width))
        mask = self.terms.const((1 << self.width) - 1, 32)
        return self._make(bit_and(self.terms, op(*operands, 32), mask, 32))

    @property
    def _float(self) -> bool:
        return self.type[0] in "fb" and self.type != "b1"

    # --- arithmetic
    def __add__(self, other: Number) -> Symbolic:
        b = self._other(other)
        if self._integer:
            return self._wrapped(self.terms.add, self.term, b)
        return self._opaque("add", *self._sorted(b))

    def __sub__(self, other: Number) -> Symbolic:
        b = self._other(other)
        if self._integer:
            return self._wrapped(self.terms.sub, self.term, b)
        return self._opaque("sub", self.term, b)

    def __mul__(self, other: Number) -> Symbolic:
        b = self._other(other)
        if self._integer:
            return self._wrapped(self.terms.mul, self.term, b)
        if self._float:
            return self._make(self.terms.atom("fmul", *self.terms.factors(self.term, b), self.type, width=self.width))
        return self._opaque("mul", *self._sorted(b))

    def _sorted(self, b: Term) -> tuple[Term, Term]:
        """The sides of an operation that commutes: always for integers, for floats where that is allowed."""
        if self._float:
            return self.terms.factors(self.term, b)
        return (self.term, b) if self.term.id <= b.id else (b, self.term)

    def __neg__(self) -> Symbolic:
        if self._integer:
            return self._wrapped(self.terms.neg, self.term)
        return self._opaque("neg", self.term)

    def fma(self, b: Number, c: Number) -> Symbolic:
        x, y = self._other(b), self._other(c)
        if self._float:
            return self._make(self.terms.fma(self.type, self.term, x, y, self.width))
        return self * self._make(x) + self._make(y)

    def mulhi(self, other: Number) -> Symbolic:
        b, t = self._other(other), self.terms
        extend = t.zext if self.type == "u32" else t.sext
        return self._make(t.hi(t.mul(extend(self.term), extend(b), 64)))

    # --- bits
    def _logic(self, op: str, other: Number) -> Symbolic:
        b, t = self._other(other), self.terms
        if self.type == "b1":
            truth = {"and": t.both, "or": t.either, "xor": t.differ}[op]
            return self._make(truth(self.term, b))
        if self._integer:
            bitwise = {"and": bit_and, "or": bit_or, "xor": bit_xor}[op]
            return self._make(bitwise(t, self.term, b, 32 if self._short else self.width))
        return self._opaque(op, *self._sorted(b))

    def __and__(self, other: Number) -> Symbolic:
        return self._logic("and", other)

    def __or__(self, other: Number) -> Symbolic:
        return self._logic("or", other)

    def __xor__(self, other: Number) -> Symbolic:
        return self._logic("xor", other)

    def __invert__(self) -> Symbolic:
        if self.type == "b1":
            return self._make(self.terms.invert(self.term))
        if self._integer:
            return self._wrapped(bit_not, self.terms, self.term)
        return self._opaque("not", self.term)

    def __lshift__(self, other: Number) -> Symbolic:
        n = self._other(other)
        if self._integer and n.is_const:
            return self._wrapped(self.terms.scale, self.term, 1 << n.const)
        return self._opaque("shl", self.term, n)

    def __rshift__(self, other: Number) -> Symbolic:
        n = self._other(other)
        if self.type in ("u8", "u16") and n.is_const:
            return self._make(shr(self.terms, self.term, n.const, 32))
        if self._algebraic and n.is_const:
            return self._make(shr(self.terms, self.term, n.const, self.width, signed=self.type[0] == "i"))
        return self._opaque("shift right", self.term, n)

    def ctz(self) -> Symbolic:
        if self.term.is_const and self.term.const:
            value = self.term.const
            return self._make(self.terms.const((value & -value).bit_length() - 1, modulus(self.width)))
        return self._opaque("ctz", self.term)

    # --- comparison
    def __eq__(self, other: Any) -> Symbolic:  # type: ignore[override]
        b = self._other(other)
        if self.type == "b1":
            return ~self._make(self.terms.differ(self.term, b))
        if self._algebraic:
            return self._make(equal(self.terms, self.term, b, self.width), "b1")
        a, b = sorted((self.term, b), key=lambda t: t.id)
        return self._make(self.terms.atom("equal", self.type, a, b, width=1), "b1")

    def __lt__(self, other: Number) -> Symbolic:
        a, b = self.term, self._other(other)
        if self._algebraic:
            less = ult if self.type[0] == "u" else slt
            return self._make(less(self.terms, a, b, self.width), "b1")
        return self._make(self.terms.atom("less", self.type, a, b, width=1), "b1")

    def __le__(self, other: Number) -> Symbolic:
        if not self._float:
            return super().__le__(other)
        return self._make(self.terms.atom("at most", self.type, self.term, self._other(other), width=1), "b1")

    __hash__ = None

    def select(self, yes: Number, no: Number) -> Symbolic:
        model = yes if isinstance(yes, Symbolic) else no
        assert isinstance(model, Symbolic), "one of the two says the type"
        a, b = model._other(yes), model._other(no)
        if model.width in (1, 32, 64):
            return model._make(self.terms.select(self.term, a, b, modulus(model.width)))
        return model._opaque("select", self.term, a, b)

    # --- conversion
    def bits(self, type_: str) -> Symbolic:
        return Symbolic(type_, self.term, self.terms)

    def to(self, type_: str) -> Symbolic:
        t = self.terms
        if type_ == self.type:
            return self
        size = bit_width(type_)
        if type_ in _SHORT and self._algebraic:
            word = self.term if self.width == 32 else t.trunc(self.term)
            return self._make(bit_and(t, word, t.const((1 << size) - 1, 32), 32), type_)
        if type_[0] in "ui" and size in (32, 64):
            if self.type in ("u8", "u16"):
                return self._make(self.term if size == 32 else t.zext(self.term), type_)
            if self.type == "b1":
                return self._make(t.trunc(self.term) if size == 32 else self.term, type_)
            if self._algebraic:
                if self.width == size:
                    return self._make(self.term, type_)
                if size == 32:
                    return self._make(t.trunc(self.term), type_)
                return self._make((t.zext if self.type[0] == "u" else t.sext)(self.term), type_)
        return self._opaque(f"to {type_}", self.term, type_=type_)

    def joined(self, high: Value) -> Symbolic:
        assert isinstance(high, Symbolic)
        return self._make(self.terms.join(self.term, high.term), "u64")

    def halves(self) -> tuple[Symbolic, Symbolic]:
        return self._make(self.terms.trunc(self.term), "u32"), self._make(self.terms.hi(self.term), "u32")

    # --- lanes: a term is a function of the lane, so these are functions of that function
    def _index(self, index: Number) -> Term:
        return Symbolic("u32", self.term, self.terms)._other(index)

    def lane(self, index: Number) -> Symbolic:
        i = self._index(index)
        return self if is_uniform(self.term) else self._opaque("lane", self.term, i)

    def with_lane(self, index: Number, value: Number) -> Symbolic:
        return self._opaque("with lane", self.term, self._index(index), self._other(value))

    def shuffle(self, index: Value) -> Symbolic:
        assert isinstance(index, Symbolic)
        return self if is_uniform(self.term) else self._opaque("shuffle", self.term, index.term)

    def mask(self) -> Symbolic:
        return self._make(ballot(self.terms, self.term), "u32")

    def lanes(self) -> Symbolic:
        return self._make(lanes(self.terms, self.term), "b1")


def ballot(terms: Terms, truth: Term) -> Term:
    """The mask of the lanes in which a truth value holds; all lanes are on."""
    if truth.is_const or is_uniform(truth):
        return terms.neg(terms.trunc(truth), 32)
    return terms.atom("ballot", truth, width=32)


def lanes(terms: Terms, mask: Term) -> Term:
    """This lane's bit of a mask."""
    if mask.op == "ballot":
        truth: Term = mask.args[0]
        return truth
    all_or_none = terms.neg(mask, 32)  # 0 or -1, which s_cselect_b32 makes
    if terms.is_truth(all_or_none):
        return terms.sum(all_or_none.const, all_or_none.monomials, 64)
    return terms.atom("lane of mask", mask, width=1)


def is_uniform(term: Term) -> bool:
    """Whether a term has the same value in all lanes: whether no part of it depends on the work-item."""
    seen: set[Term] = set()
    stack = [term]
    while stack:
        t = stack.pop()
        if t in seen or t.op in ("ballot", "lane"):
            continue
        seen.add(t)
        if t.op in ("bit", "state", "undefined"):
            return False
        stack.extend(t.children())
    return True
