"""Polynomials for passes: a term of `isa.algebra` -> a sum of products of unknowns with integer coefficients.

An unknown is a term that is no sum and no product: a kernel argument, the workgroup's number, the lane's thread number,
a register's value at the head of a loop, or the result of an operation that sums cannot express. What is extended from
32 bits to 64 is the same unknown, so that a register's polynomial is found again in an address. Monomials and their
factors are in the order of their text, so that nothing depends on the order in which terms were made.
"""

from __future__ import annotations

from collections.abc import Mapping

from isa.algebra.ranges import Monomial, Ranges
from isa.algebra.term import Term


class NoWrap(Ranges):
    """Takes it that no 32-bit sum or product wraps, but where it has the half of a 64-bit number in it."""

    def within(self, t: Term, low: int, high: int) -> bool:
        if t.width == 32 and low <= 0 and high >= (1 << 31) - 1:
            return not any(u.op in ("word", "hi") for m in self.polynomial(t)[1] for u in m)
        return super().within(t, low, high)


class Poly:
    """An integer polynomial; immutable, hashable, compared by value."""

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        self.terms = {m: terms[m] for m in sorted((m for m, c in terms.items() if c), key=_text)}

    @classmethod
    def of(cls, term: Term) -> Poly:
        constant, monomials = Ranges().polynomial(term)
        return cls({(): constant, **{tuple(sorted(m, key=str)): c for m, c in monomials.items()}})

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Poly) and self.terms == other.terms)

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __add__(self, other: Poly) -> Poly:
        return Poly({m: self.terms.get(m, 0) + other.terms.get(m, 0) for m in {**self.terms, **other.terms}})

    def __sub__(self, other: Poly) -> Poly:
        return self + Poly({m: -c for m, c in other.terms.items()})

    @property
    def value(self) -> int | None:
        """The number, where it is known."""
        return self.constant if len(self.terms) == (() in self.terms) else None

    @property
    def atom(self) -> Term | None:
        """The unknown, where the polynomial is just that."""
        (monomial, c), *more = self.terms.items() or [((), 0)]
        return monomial[0] if c == len(monomial) == 1 and not more else None

    @property
    def constant(self) -> int:
        """The term without unknowns."""
        return self.terms.get((), 0)

    def without_constant(self) -> Poly:
        return Poly({m: c for m, c in self.terms.items() if m})

    def atoms(self) -> set[Term]:
        return {a for m in self.terms for a in m}

    def __str__(self) -> str:
        words = ["*".join(([str(c)] if c != 1 or not m else []) + _text(m)) for m, c in self.terms.items()]
        return " + ".join(words) or "0"

    __repr__ = __str__


def _text(monomial: Monomial) -> list[str]:
    return [str(t) for t in monomial]
