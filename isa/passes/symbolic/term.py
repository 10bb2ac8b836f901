"""An operand as a polynomial: `isa.semantics.values.Value` on `Poly`, so that an instruction's body can be run on it.

Sums, products by a number and shifts are polynomials; masks, `or` and `xor` are where the bits of `Poly.mask` show that
nothing is lost or nothing meets; a comparison that a carry chain needs is a carry (`pairs`). What polynomials cannot
express is an atom named by the operation and its operands.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from isa.passes.symbolic.pairs import carry, high, join_halves, pack
from isa.passes.symbolic.poly import ZERO, Atom, Poly, opaque, product_mask
from isa.semantics.instruction import bit_width
from isa.semantics.values import Number, OrderedValue, Value


def _signed(type_: str) -> bool:
    return type_[0] == "i"


class Term(OrderedValue):
    """A `Value` whose content is a polynomial."""

    def __init__(self, type_: str, poly: Poly) -> None:
        self.type = type_
        self.poly = poly if type_ == "b1" else poly.wrap(bit_width(type_))

    # --- helpers
    def _other(self, other: Number) -> Poly:
        if isinstance(other, Term):
            return other.poly
        return Poly.const(int(other)).wrap(64) if isinstance(other, int) else opaque("number", other)

    def _operand(self, other: Number) -> Term:
        return Term(self.type, self._other(other))

    def _known(self, poly: Poly) -> int | None:
        """The number as this type sees it."""
        value = poly.value
        if value is None:
            return None
        size = bit_width(self.type)
        value %= 1 << size
        return value - (1 << size) if _signed(self.type) and value >> (size - 1) else value

    def operation(self, name: str, *operands: Number, type_: str = "") -> Term:
        return self._make(name, self.poly, *map(self._other, operands), type_=type_)

    def _make(self, kind: str, *operands: Poly, mask: int | None = None, type_: str = "") -> Term:
        """An atom for what polynomials cannot express."""
        result = type_ or self.type
        size = bit_width(result)
        full = (1 << size) - 1
        poly = opaque(f"{kind}.{self.type}", *operands, mask=full if mask is None else mask & full, wide=size > 32)
        return Term(result, poly)

    def _fold(self, kind: str, other: Number, f: Callable[[int, int], int], type_: str = "") -> Term | None:
        a, b = self._known(self.poly), self._known(self._other(other))
        return None if a is None or b is None else Term(type_ or self.type, Poly.const(f(a, b)))

    # --- arithmetic
    def __add__(self, other: Number) -> Term:
        return Term(self.type, join_halves((self.poly + self._other(other)).wrap(bit_width(self.type))))

    def __sub__(self, other: Number) -> Term:
        return Term(self.type, self.poly - self._other(other))

    def __mul__(self, other: Number) -> Term:
        b = self._other(other)
        if len(self.poly.terms) * len(b.terms) > 64:
            return self._make("mul", self.poly, b)
        return Term(self.type, self.poly * b)

    def __neg__(self) -> Term:
        return Term(self.type, -self.poly)

    def mulhi(self, other: Number) -> Term:
        size = bit_width(self.type)
        folded = self._fold("mulhi", other, lambda a, b: (a * b) >> size)
        if folded:
            return folded
        a, b = self.poly, self._other(other)
        if self.type == "u32" and not (a.mask | b.mask) >> 32:
            return Term(self.type, high(a * b))
        return self._make("mulhi", a, b)

    # --- bits
    def __and__(self, other: Number) -> Term:
        folded = self._fold("and", other, lambda a, b: a & b)
        if folded:
            return folded
        a, b = self.poly, self._other(other)
        if a.value is not None:
            a, b = b, a
        if a == b:
            return Term(self.type, a)
        m = self._known(b)
        if m is None:
            return self._make("and", *sorted((a, b), key=str), mask=a.mask & b.mask)
        size = bit_width(self.type)
        m %= 1 << size
        if m & (m + 1) == 0:  # all bits below some 2**k: terms that are multiples of it vanish
            a = Poly({t: c for t, c in a.terms.items() if c % (m + 1) and not (c > 0 and not product_mask(t, c) & m)})
        if a.mask & m == 0:
            return Term(self.type, ZERO)
        if a.mask & ~m == 0 or m == (1 << size) - 1:
            return Term(self.type, a)
        return self._make("and", a, Poly.const(m), mask=a.mask & m)

    def __or__(self, other: Number) -> Term:
        folded = self._fold("or", other, lambda a, b: a | b)
        a, b = self.poly, self._other(other)
        if folded:
            return folded
        if a == b or b == ZERO:
            return Term(self.type, a)
        if a == ZERO or (a.mask & b.mask == 0 and self.type != "b1"):
            return Term(self.type, a + b)
        return self._make("or", *sorted((a, b), key=str), mask=a.mask | b.mask)

    def __xor__(self, other: Number) -> Term:
        folded = self._fold("xor", other, lambda a, b: a ^ b)
        if folded:
            return folded
        a, b = self.poly, self._other(other)
        if self.type != "b1" and a.mask & b.mask == 0:
            return Term(self.type, a + b)
        return self._make("xor", *sorted((a, b), key=str), mask=a.mask | b.mask)

    def __invert__(self) -> Term:
        value = self._known(self.poly)
        if value is not None:
            return Term(self.type, Poly.const(1 - value if self.type == "b1" else ~value))
        if self.type != "b1":
            return Term(self.type, -self.poly - Poly.const(1))
        atom = self.poly.atom
        if atom is not None and atom.kind == "not.b1":
            return Term("b1", atom.args[0])
        return self._make("not", self.poly)

    def __lshift__(self, other: Number) -> Term:
        n = self._known(self._other(other))
        if n is None or not 0 <= n < bit_width(self.type):
            return self._make("shl", self.poly, self._other(other))
        return Term(self.type, self.poly.scale(1 << n))

    def __rshift__(self, other: Number) -> Term:
        n, size = self._known(self._other(other)), bit_width(self.type)
        value = self._known(self.poly)
        if n is None or not 0 <= n < size:
            return self._make("shr", self.poly, self._other(other))
        if value is not None:
            return Term(self.type, Poly.const(value >> n))
        if n == 0:
            return self
        if size == 64 and n == 32:
            return Term(self.type, high(self.poly))
        if size == 32 and n == 31 and _signed(self.type):
            return Term(self.type, high(self.poly))
        mask = self.poly.mask
        if mask >> size:
            return self._make("shr", self.poly, Poly.const(n))
        if all(c % (1 << n) == 0 for c in self.poly.terms.values()):
            return Term(self.type, Poly({m: c >> n for m, c in self.poly.terms.items()}))
        # Terms that are multiples of 2**n stay terms; what is below the point goes.
        whole, rest = self.poly.split(m for m, c in self.poly.terms.items() if c % (1 << n) == 0)
        if rest.mask >> n == 0:
            return Term(self.type, Poly({m: c >> n for m, c in whole.terms.items()}))
        return self._make("shr", self.poly, Poly.const(n), mask=mask >> n)

    # --- comparison
    def __eq__(self, other: Any) -> Term:  # type: ignore[override]
        difference = (self.poly - self._other(other)).wrap(bit_width(self.type))
        if difference.value is not None:
            return Term("b1", Poly.const(int(difference.value == 0)))
        return self._make("eq", max(difference, -difference, key=str), mask=1, type_="b1")

    def __lt__(self, other: Number) -> Term:
        folded = self._fold("lt", other, lambda a, b: int(a < b), "b1")
        if folded:
            return folded
        a, b = self.poly, self._other(other)
        if a == b:
            return Term("b1", ZERO)
        if self.type == "u32":  # (p + q mod 2**32) < p says that p + q carries
            return Term("b1", carry(b, (a - b).wrap(32)))
        return self._make("lt", a, b, mask=1, type_="b1")

    __hash__ = None

    def select(self, yes: Number, no: Number) -> Term:
        shape = yes if isinstance(yes, Term) else no if isinstance(no, Term) else Term("i32", ZERO)
        a, b = shape._other(yes), shape._other(no)
        value = self.poly.value
        if value is not None:
            return Term(shape.type, a if value else b)
        if a == b:
            return Term(shape.type, a)
        return shape._make("select", self.poly, a, b, mask=a.mask | b.mask)

    # --- conversion
    def bits(self, type_: str) -> Term:
        return Term(type_, self.poly)

    def to(self, type_: str) -> Term:
        if type_[0] in "fb" and type_ not in ("b1", "b32", "b64"):
            return self._make(f"to_{type_}", self.poly, type_=type_)
        old, new = bit_width(self.type), bit_width(type_)
        if new <= old:
            if new < 32 and new > 1:
                return Term(type_, (self & ((1 << new) - 1)).poly)
            return Term(type_, self.poly)
        if (known := self._known(self.poly)) is not None:
            return Term(type_, Poly.const(known))
        if old == 1 or not self.poly.wide:
            return Term(type_, self.poly)
        return self._make("extend", self.poly, type_=type_)

    def joined(self, high: Value) -> Term:
        return Term("u64", pack(self.poly, self._other(high)))

    # --- lanes
    def lane(self, index: Number) -> Term:
        if self.poly.uniform:
            return self
        return Term(self.type, Poly.of(Atom("lane", (self.poly, self._other(index)), uniform=True)))

    def shuffle(self, index: Value) -> Term:
        return self if self.poly.uniform else self._make("shuffle", self.poly, self._other(index))

    def mask(self) -> Term:
        return Term("u32", Poly.of(Atom("ballot", (self.poly,), uniform=True)))

    def lanes(self) -> Term:
        atom = self.poly.atom
        if self.poly.value in (0, -1):
            return Term("b1", -self.poly)
        return Term("b1", atom.args[0] if atom and atom.kind == "ballot" else opaque("lanes", self.poly, mask=1))
