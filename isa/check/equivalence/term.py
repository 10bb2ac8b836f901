"""One value: `Term`. What terms mean, and how they are made, stands in `terms`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

Monomial = tuple["Term", ...]
NOTHING: dict[Monomial, int] = {}


class Term:
    """One value, compared by identity.

    op:        "sum", or the name of a function or unknown.
    args:      Terms, tuples and sets of them, and plain Python values; none for sums.
    width:     of a sum: modulo 2**width (32 or 64); of an atom: its value is below 2**width.
    const, monomials: the term as a polynomial; those of an atom are 0 and itself.
    """

    __slots__ = ("args", "const", "id", "monomials", "op", "width")

    def __init__(
        self, number: int, op: str, args: tuple[Any, ...], width: int, const: int = 0, monomials: Any = None
    ) -> None:
        self.id, self.op, self.args, self.width = number, op, args, width
        self.const = const
        self.monomials: dict[Monomial, int] = {(self,): 1} if monomials is None else monomials

    @property
    def is_const(self) -> bool:
        return not self.monomials

    def children(self) -> Iterable[Term]:
        """The terms that this one is made of."""
        if self.op == "sum":
            for monomial in self.monomials:
                yield from monomial
        for arg in self.args:
            if isinstance(arg, Term):
                yield arg
            elif isinstance(arg, (frozenset, tuple)):
                yield from _terms_in(arg)

    def __repr__(self) -> str:
        from isa.check.equivalence.show import show

        return show(self)


def _terms_in(container: Iterable[Any]) -> Iterable[Term]:
    for item in container:
        if isinstance(item, Term):
            yield item
        elif isinstance(item, (frozenset, tuple)):
            yield from _terms_in(item)


def ordered(monomial: Iterable[Term]) -> Monomial:
    return tuple(sorted(monomial, key=lambda t: t.id))


def times(a: Monomial, b: Monomial) -> Monomial:
    """The product of two monomials; the square of a truth value is itself."""
    if not a:
        return b
    if not b:
        return a
    extra = [t for t in b if t.width != 1 or t not in a]
    return ordered((*a, *extra)) if extra else a


def truth_table(a: Term) -> list[tuple[dict[Term, bool], int]] | None:
    """The values of a sum of a few truth values for all that these can be; None where it is no such sum."""
    atoms = {t for m in a.monomials for t in m}
    if len(atoms) > 5 or any(t.width != 1 for t in atoms):
        return None
    rows = []
    for choice in product((False, True), repeat=len(atoms)):
        values = dict(zip(atoms, choice, strict=True))
        rows.append((values, a.const + sum(c for m, c in a.monomials.items() if all(values[t] for t in m))))
    return rows
