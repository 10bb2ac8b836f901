"""Polynomials modulo 2**n: a program's integers over the values that it does not know.

A `Poly` is a sum of products of atoms with integer coefficients. An `Atom` is one unknown: a kernel argument, the
workgroup's number, the lane's thread number, a register's value at the head of a loop, or the result of an operation
that polynomials cannot express (a mask, a right shift, a load), named by the operation and its operands, so that two
equal computations give equal atoms.

What an atom knows of itself: whether all lanes hold the same value (`uniform`), which bits can be set (`mask`, for
atoms that are not negative), and whether it is wider than 32 bit (`wide`: a pointer, of which registers hold halves).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

FULL = 0xFFFFFFFF


@dataclass(frozen=True)
class Atom:
    """One unknown; equal when kind and arguments are. `mask` has each bit set that the value can have set."""

    kind: str
    args: tuple[Any, ...] = ()
    uniform: bool = field(default=False, compare=False)
    wide: bool = field(default=False, compare=False)
    mask: int = field(default=FULL, compare=False)

    @cached_property
    def _hash(self) -> int:
        return hash((self.kind, self.args))

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def name(self) -> str:
        """As text; also what atoms are ordered by, so that nothing depends on Python's hash seed."""
        if self.kind == "arg":
            return str(self.args[1])
        return f"{self.kind}({', '.join(map(str, self.args))})" if self.args else self.kind

    def __str__(self) -> str:
        return self.name


Monomial = tuple[Atom, ...]


class Poly:
    """An integer polynomial; immutable, hashable, compared by value."""

    __slots__ = ("_hash", "_text", "terms")

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        self.terms: dict[Monomial, int] = {m: c for m, c in terms.items() if c}
        self._hash: int | None = None
        self._text: str | None = None

    @classmethod
    def const(cls, value: int) -> Poly:
        return cls({(): value})

    @classmethod
    def of(cls, atom: Atom) -> Poly:
        return cls({(atom,): 1})

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Poly) and self.terms == other.terms)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self.terms.items()))
        return self._hash

    def __add__(self, other: Poly) -> Poly:
        terms = dict(self.terms)
        for monomial, c in other.terms.items():
            terms[monomial] = terms.get(monomial, 0) + c
        return Poly(terms)

    def __neg__(self) -> Poly:
        return Poly({m: -c for m, c in self.terms.items()})

    def __sub__(self, other: Poly) -> Poly:
        return self + -other

    def __mul__(self, other: Poly) -> Poly:
        terms: dict[Monomial, int] = {}
        for m1, c1 in self.terms.items():
            for m2, c2 in other.terms.items():
                monomial = tuple(sorted(m1 + m2, key=_order))
                terms[monomial] = terms.get(monomial, 0) + c1 * c2
        return Poly(terms)

    def scale(self, factor: int) -> Poly:
        return Poly({m: c * factor for m, c in self.terms.items()})

    def wrap(self, bits: int) -> Poly:
        """Each coefficient modulo 2**bits, as a signed number: the same value in a register of that width."""
        half, full = 1 << (bits - 1), 1 << bits
        return Poly({m: (c + half) % full - half for m, c in self.terms.items()})

    @property
    def value(self) -> int | None:
        """The number, where it is known."""
        if not self.terms:
            return 0
        return self.terms.get(()) if len(self.terms) == 1 else None

    @property
    def atom(self) -> Atom | None:
        """The atom, where the polynomial is just that."""
        if len(self.terms) == 1:
            ((monomial, c),) = self.terms.items()
            if c == 1 and len(monomial) == 1:
                return monomial[0]
        return None

    @property
    def constant(self) -> int:
        """The term without atoms."""
        return self.terms.get((), 0)

    def without_constant(self) -> Poly:
        return Poly({m: c for m, c in self.terms.items() if m})

    def atoms(self) -> set[Atom]:
        return {a for m in self.terms for a in m}

    @property
    def uniform(self) -> bool:
        """All lanes hold the same value."""
        return all(a.uniform for m in self.terms for a in m)

    @property
    def wide(self) -> bool:
        return any(a.wide for m in self.terms for a in m)

    @property
    def mask(self) -> int:
        """Bits that can be set, where no term is negative; otherwise all bits of a wide number."""
        bits = 0
        carries = False
        for monomial, c in self.terms.items():
            if c < 0 or any(a.wide for a in monomial):
                return (1 << 64) - 1
            term = product_mask(monomial, c)
            carries |= bool(bits & term)
            bits |= term
        if carries:
            low = bits & -bits
            top = sum(product_mask(m, c) for m, c in self.terms.items())
            bits = ((1 << top.bit_length()) - 1) & ~(low - 1)
        return bits

    def split(self, chosen: Iterable[Monomial]) -> tuple[Poly, Poly]:
        """The terms of the `chosen` monomials, and the others."""
        want = set(chosen)
        inside = {m: c for m, c in self.terms.items() if m in want}
        return Poly(inside), Poly({m: c for m, c in self.terms.items() if m not in want})

    def __str__(self) -> str:
        if self._text is None:
            self._text = self._format()
        return self._text

    def _format(self) -> str:
        if not self.terms:
            return "0"
        words = []
        for monomial, c in sorted(self.terms.items(), key=lambda t: [_order(a) for a in t[0]]):
            factors = [str(a) for a in monomial]
            words.append("*".join(([str(c)] if c != 1 or not factors else []) + factors))
        return " + ".join(words)

    __repr__ = __str__


ZERO = Poly.const(0)


def opaque(kind: str, *operands: Any, mask: int = FULL, wide: bool = False) -> Poly:
    """The result of an operation that polynomials cannot express; the same in all lanes where its operands are."""
    uniform = all(o.uniform for o in operands if isinstance(o, Poly))
    return Poly.of(Atom(kind, operands, uniform, wide, mask))


def _order(atom: Atom) -> str:
    return atom.name


def product_mask(monomial: Monomial, c: int) -> int:
    """Bits that c times the product can have set."""
    if not monomial:
        return c
    if len(monomial) == 1 and c & (c - 1) == 0:
        return monomial[0].mask * c
    top, low = c, c & -c
    for a in monomial:
        top *= a.mask
        low *= (a.mask & -a.mask) or 1
    return ((1 << top.bit_length()) - 1) & ~(low - 1)
