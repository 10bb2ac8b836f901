"""What registers hold, as terms: equal values become the same object.

A `Term` is an integer: the value of a register, of a 64-bit pair or of a truth value (0 or 1), as a function of the
work-item, the workgroup and the kernel's arguments. Terms are interned, so that `is` decides equality. There are two
sorts:

- atoms: an unknown (an argument, one bit of the work-item id, ...) or a function of other terms that is not taken
  apart (`fma`, a load, `ult`, ...). Its value is in [0, 2**width), that of an atom "sext" in [-2**31, 2**31).
- sums: polynomials over atoms with integer coefficients modulo 2**32 or 2**64 (`width`), coefficients kept as the
  nearest to zero. A sum that is one atom, whose range fits, is that atom.

All address arithmetic becomes sums. A shift by a constant is a multiplication. A work-item id is the sum of its bits,
so that masks, shifts to the right and `or` of disjoint bits (`bits`) are sums too. A truth value (`comparisons` makes
them) is a 0/1 atom whose square is itself: `not c` is 1 - c, `select(c, a, b)` is b + c*(a - b).

64-bit numbers live in two registers. Their halves are read as `trunc(x)`, which is x with coefficients modulo 2**32,
and the atom `hi(x)`. Two identities put them together again, wherever their left side appears in a 64-bit sum:

    2**32 * hi(x)     = x - zext(trunc(x))
    2**32 * ult(x, y) = zext(y) + zext(x - y) - zext(x)          the carry of y + (x - y), for 32-bit x and y

so that a base to which offsets were added by v_add_co_u32 and v_add_co_ci_u32, s_add_u32 and s_addc_u32 or
v_mad_u64_u32 is the sum of base and offsets, however the carries went. zext(p) and sext(p) of a 32-bit sum p are p
itself where `Bounds` shows that p does not wrap; else they are atoms.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING

from isa.errors import IsaError
from isa.prove.equivalence.term import NOTHING, Monomial, Term, ordered, times, truth_table

if TYPE_CHECKING:
    from isa.prove.equivalence.bounds import Bounds

MOST_PRODUCTS = 4096
"""Monomials that one multiplication may make. A choice between choices multiplies them: those of an array in registers
that is read at an unknown index have no bound. The ladder's proofs make at most 128."""


class TooLarge(IsaError):
    """A polynomial has grown beyond what is followed."""


class Terms:
    """The table of all terms, and the operations on them.

    commute: factors of a float product may change places.  reassociate: sums of float products are sets of products;
    that is not what the machine computes, but tells a changed order from a changed sum.
    """

    def __init__(self, bounds: Bounds, *, commute: bool = False, reassociate: bool = False) -> None:
        self.bounds, self.commute, self.reassociate = bounds, commute, reassociate
        self._table: dict[Hashable, Term] = {}
        self._lifted: dict[tuple[Term, bool], Term] = {}
        self.false, self.true = self.const(0, 64), self.const(1, 64)

    def __len__(self) -> int:
        return len(self._table)

    def bounds_changed(self) -> None:
        """To be called when `bounds` learnt something: what was too wide before may fit now."""
        self._lifted.clear()

    # --- making terms
    def atom(self, op: str, *args: Hashable, width: int = 32) -> Term:
        key = (op, width, args)
        term = self._table.get(key)
        if term is None:
            term = self._table[key] = Term(len(self._table), op, args, width)
        return term

    def const(self, value: int, width: int) -> Term:
        half = 1 << (width - 1)
        value = ((value + half) & (2 * half - 1)) - half
        key = (width, value)
        term = self._table.get(key)
        if term is None:
            term = self._table[key] = Term(len(self._table), "sum", (), width, value, NOTHING)
        return term

    def sum(self, const: int, monomials: Mapping[Monomial, int], width: int) -> Term:
        """The sum of const and coefficient * monomial, normalised."""
        half = 1 << (width - 1)
        mask = 2 * half - 1
        const = ((const + half) & mask) - half
        kept = {m: r for m, c in monomials.items() if (r := ((c + half) & mask) - half)}
        if not kept:
            return self.const(const, width)
        if width == 64:
            halves: list[Monomial] = [
                m for m, c in kept.items() if not c & 0xFFFFFFFF and len(m) == 1 and m[0].op in ("hi", "ult")
            ]
            if halves:
                return self._joined(const, kept, halves)
        if const == 0 and len(kept) == 1:
            ((monomial, coefficient),) = kept.items()
            if coefficient == 1 and len(monomial) == 1 and monomial[0].width <= width:
                return monomial[0]
        key = (width, const, frozenset(kept.items()))
        term = self._table.get(key)
        if term is None:
            term = self._table[key] = Term(len(self._table), "sum", (), width, const, kept)
        return term

    def _joined(self, const: int, monomials: dict[Monomial, int], halves: list[Monomial]) -> Term:
        """A 64-bit sum with the two identities of the module's docstring applied."""
        rest = dict(monomials)
        total = None
        for m in halves:
            factor = rest.pop(m) >> 32
            atom = m[0]
            if atom.op == "hi":
                x = atom.args[0]
                value = self.sub(x, self.zext(self.trunc(x)), 64)
            else:
                x, y = atom.args
                value = self.sub(self.add(self.zext(y), self.zext(self.sub(x, y, 32)), 64), self.zext(x), 64)
            value = self.scale(value, factor, 64)
            total = value if total is None else self.add(total, value, 64)
        assert total is not None
        return self.add(self.sum(const, rest, 64), total, 64)

    # --- arithmetic modulo 2**width
    def add(self, a: Term, b: Term, width: int) -> Term:
        if len(a.monomials) < len(b.monomials):
            a, b = b, a
        monomials = a.monomials
        if b.monomials:
            monomials = dict(monomials)
            for m, c in b.monomials.items():
                monomials[m] = monomials.get(m, 0) + c
        return self.sum(a.const + b.const, monomials, width)

    def scale(self, a: Term, factor: int, width: int) -> Term:
        if factor == 1 and a.width <= width:
            return a
        return self.sum(a.const * factor, {m: c * factor for m, c in a.monomials.items()}, width)

    def neg(self, a: Term, width: int) -> Term:
        return self.scale(a, -1, width)

    def sub(self, a: Term, b: Term, width: int) -> Term:
        if a is b:
            return self.const(0, width)
        monomials = dict(a.monomials)
        for m, c in b.monomials.items():
            monomials[m] = monomials.get(m, 0) - c
        return self.sum(a.const - b.const, monomials, width)

    def mul(self, a: Term, b: Term, width: int) -> Term:
        if a.is_const:
            a, b = b, a
        if b.is_const:
            return self.scale(a, b.const, width)
        result: dict[Monomial, int] = {}
        left, right = list(a.monomials.items()), list(b.monomials.items())
        if a.const:
            left.append(((), a.const))
        if b.const:
            right.append(((), b.const))
        if len(left) * len(right) > MOST_PRODUCTS:
            raise TooLarge(f"a product of polynomials of {len(left)} and {len(right)} terms is too large")
        for m, c in left:
            for n, d in right:
                key = times(m, n)
                result[key] = result.get(key, 0) + c * d
        return self.sum(result.pop((), 0), result, width)

    # --- widths
    def trunc(self, a: Term) -> Term:
        """a modulo 2**32."""
        if a.op != "sum":
            if a.op in ("zext", "sext"):
                return a.args[0]
            return a if a.width <= 32 else self.sum(0, a.monomials, 32)
        if not any(t.op in ("zext", "sext") for m in a.monomials for t in m):
            return self.sum(a.const, a.monomials, 32)
        total, plain = self.const(a.const, 32), {}
        for m, c in a.monomials.items():
            if not any(t.op in ("zext", "sext") for t in m):
                plain[m] = c
                continue
            part = self.const(c, 32)
            for t in m:
                inner = t.args[0] if t.op in ("zext", "sext") else self.sum(0, t.monomials, 32)
                part = self.mul(part, inner, 32)
            total = self.add(total, part, 32)
        return self.add(total, self.sum(0, plain, 32), 32)

    def zext(self, a: Term) -> Term:
        """A 32-bit value as a 64-bit one, without sign."""
        return self._extended(a, signed=False)

    def sext(self, a: Term) -> Term:
        """A 32-bit value as a 64-bit one, with its sign."""
        return self._extended(a, signed=True)

    def _extended(self, a: Term, *, signed: bool) -> Term:
        if a.is_const:
            return self.const(a.const if signed else a.const & 0xFFFFFFFF, 64)
        if a.op != "sum" and a.width < 32 + (not signed):
            return a
        term = self._lifted.get((a, signed))
        if term is None:
            low, high = (-(1 << 31), (1 << 31) - 1) if signed else (0, (1 << 32) - 1)
            if self.bounds.within(a, low, high):
                term = self.sum(a.const, a.monomials, 64)
            else:
                # Width 64 for zext too: in a 32-bit sum it must appear as `a` (see trunc), never as itself.
                term = self.atom("sext" if signed else "zext", a, width=64)
            self._lifted[a, signed] = term
        return term

    def hi(self, x: Term) -> Term:
        """The high half of a 64-bit value."""
        if x.is_const:
            return self.const(x.const >> 32, 32)
        high = {m: c for m, c in x.monomials.items() if not c & 0xFFFFFFFF}
        low = {m: c for m, c in x.monomials.items() if c & 0xFFFFFFFF}
        rest = self.sum(x.const & 0xFFFFFFFF, low, 64)
        if self.bounds.within(rest, 0, (1 << 32) - 1):
            return self.sum(x.const >> 32, {m: c >> 32 for m, c in high.items()}, 32)
        return self.atom("hi", x)

    def join(self, low: Term, high: Term) -> Term:
        """The 64-bit value of two registers."""
        return self.add(self.zext(low), self.scale(high, 1 << 32, 64), 64)

    # --- truth values: 0 or 1, as 64-bit sums
    def truth(self, value: bool) -> Term:
        return self.true if value else self.false

    def invert(self, c: Term) -> Term:
        return self.sub(self.true, c, 64)

    def both(self, a: Term, b: Term) -> Term:
        return self.mul(a, b, 64)

    def either(self, a: Term, b: Term) -> Term:
        return self.sub(self.add(a, b, 64), self.mul(a, b, 64), 64)

    def differ(self, a: Term, b: Term) -> Term:
        return self.sub(self.add(a, b, 64), self.scale(self.mul(a, b, 64), 2, 64), 64)

    def is_truth(self, a: Term) -> bool:
        """Whether a sum of truth values is itself 0 or 1 only."""
        rows = truth_table(a)
        return rows is not None and all(value in (0, 1) for _, value in rows)

    def select(self, c: Term, yes: Term, no: Term, width: int) -> Term:
        if c.is_const:
            return yes if c.const else no
        if yes is no:
            return yes
        return self.add(no, self.mul(c, self.sub(yes, no, width), width), width)

    # --- floats: uninterpreted, but for the liberties of `commute` and `reassociate`
    def factors(self, a: Term, b: Term) -> tuple[Term, Term]:
        """The factors of a float product, in the order that counts."""
        return (b, a) if self.commute and a.id > b.id else (a, b)

    def fma(self, kind: str, a: Term, b: Term, c: Term, width: int = 32) -> Term:
        a, b = self.factors(a, b)
        if not self.reassociate:
            return self.atom("fma", a, b, c, kind, width=width)
        terms = list(c.args[0]) if c.op == "fsum" else [c]
        terms.append(self.atom("fmul", a, b, kind, width=width))
        return self.atom("fsum", ordered(terms), kind, width=width)
