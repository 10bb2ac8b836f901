"""Ranges of terms: what is known of a launch, and of how often loops go round -> whether a term stays between two
numbers.

A term is read as a polynomial over the integers: coefficients nearest to zero, factors without sign, of what is
extended by its sign with it. Whether that stays in a range is answered by replacing, one after the other, each unknown
that makes it larger with its upper bound and each that makes it smaller with its lower one. An upper bound may be a
polynomial itself (a workgroup id in x is at most N/128 - 1, a loop's counter at most K/8 - 1), so that

    N*(8*t + 7) + 128*x + tid  <=  N*(K - 1) + 128*x + tid  <=  N*(K - 1) + N - 1  =  N*K - 1  <=  2**31 - 1

A selection is tried either way, with x <= y - g where its condition is x < y and holds; g is what x - y is a multiple
of. A range that is not found this way is not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import gcd, prod

from isa.algebra.term import Term, near

Monomial = tuple[Term, ...]
Polynomial = tuple[int, Mapping[Monomial, int]]
MASK32 = (1 << 32) - 1
MOST_SELECTIONS = 4
"""Of one polynomial, that are tried either way."""


class Ranges:
    """What unknowns are limited by. lower, upper: of one; products: the most that several are together."""

    def __init__(self) -> None:
        self.lower: dict[Term, int] = {}
        self.upper: dict[Term, Polynomial] = {}
        self.products: dict[Monomial, int] = {}
        self._tops: dict[Term, int] = {}
        self._within: dict[tuple[Term, int, int], bool] = {}

    def learn(self, atom: Term, upper: Polynomial) -> None:
        """From now on `atom` <= `upper`."""
        self.upper[atom] = upper
        self._within.clear()
        self._tops.clear()

    def forget(self, atom: Term) -> None:
        """The upper bound of an atom was none."""
        del self.upper[atom]
        self._within.clear()
        self._tops.clear()

    def limit(self, atoms: Monomial, most: int) -> None:
        """The product of these unknowns is at most `most`."""
        self.products[atoms] = min(most, self.products.get(atoms, most))

    # --- questions
    def within(self, t: Term, low: int, high: int) -> bool:
        """Whether t, read as a polynomial, is known to lie in low..high."""
        key = (t, low, high)
        known = self._within.get(key)
        if known is None:
            const, monomials = self.polynomial(t)
            top = self.largest(const, monomials)
            bottom = self.smallest(const, monomials) if top is not None and top <= high else None
            known = self._within[key] = bottom is not None and bottom >= low
        return known

    def plain(self, t: Term) -> bool:
        """Whether it is the same number with and without sign, and does not wrap."""
        return self.within(t, 0, (1 << (t.width - 1)) - 1)

    def less(self, x: Term, y: Term) -> bool | None:
        """Whether x < y, where neither wraps and it is the same for all launches; None otherwise."""
        full = (1 << x.width) - 1
        if not (self.within(x, 0, full) and self.within(y, 0, full)):
            return None
        difference = self.minus(x, y)
        top = self.largest(*difference)
        if top is not None and top < 0:
            return True
        bottom = self.smallest(*difference)
        return False if bottom is not None and bottom >= 0 else None

    def polynomial(self, t: Term) -> Polynomial:
        """A term as a constant and coefficients of products of factors."""
        if t.op == "const":
            return near(t.args[0], t.width), {}
        if t.op != "sum":
            return 0, {self.factors(t): 1}
        found: dict[Monomial, int] = {}
        for u, c in t.args[1]:
            key = self.factors(u)
            found[key] = found.get(key, 0) + near(c, t.width)
        return near(t.args[0], t.width), {m: c for m, c in found.items() if c}

    def minus(self, x: Term, y: Term) -> Polynomial:
        """x - y as integers."""
        (a, rows), (b, others) = self.polynomial(x), self.polynomial(y)
        found = dict(rows)
        for m, c in others.items():
            found[m] = found.get(m, 0) - c
        return a - b, {m: c for m, c in found.items() if c}

    def factors(self, t: Term) -> Monomial:
        """A part of a sum as factors: of an unknown that is extended, or cut where nothing is lost, itself."""
        return tuple(sorted(map(self._bare, t.args if t.op == "product" else (t,)), key=lambda u: u.id))

    def _bare(self, t: Term) -> Term:
        inner = t.args[0] if t.op in ("zext", "word") else t
        if inner is t or inner.op in ("sum", "product") or (t.op == "word" and self.top(inner) > MASK32):
            return t
        return inner

    def smallest(self, const: int, monomials: Mapping[Monomial, int]) -> int | None:
        """A number that the polynomial is not below; None where none is known."""
        top = self.largest(-const, {m: -c for m, c in monomials.items()})
        return None if top is None else -top

    def largest(self, const: int, monomials: Mapping[Monomial, int]) -> int | None:
        """A number that the polynomial is not above; None where none is known."""
        return self._largest(const, monomials, self.upper, MOST_SELECTIONS)

    # --- the algorithm
    def _largest(
        self, const: int, monomials: Mapping[Monomial, int], upper: Mapping[Term, Polynomial], depth: int
    ) -> int | None:
        if any(t.op == "sext" for m in monomials if len(m) > 1 for t in m):
            return None  # what follows takes it that no factor is negative
        chosen = next((t for m in monomials for t in m if t.op == "select"), None) if depth else None
        if chosen is not None:
            tops = []
            for value, facts in self._either(chosen, upper):
                read, known = self.polynomial(value), {**upper, **facts}
                if not self._unsigned(read, chosen.width, known, depth - 1):
                    return None
                tops.append(self._largest(*_replaced(const, monomials, chosen, read), known, depth - 1))
            return None if None in tops else max(top for top in tops if top is not None)
        for t, bound in upper.items():
            signs = {c > 0 for m, c in monomials.items() if t in m}
            if len(signs) == 2:
                return None
            if signs:
                const, monomials = _replaced(
                    const, monomials, t, bound if True in signs else (self.lower.get(t, 0), {})
                )
        total, plain = const, dict[Monomial, int]()
        for m, c in monomials.items():  # what is 0 or 1 is 1 where that makes the sum larger, else 0
            rest = tuple(t for t in m if t.ones != 1)
            if len(rest) == len(m) or c > 0:
                plain[rest] = plain.get(rest, 0) + c
        for m, c in plain.items():
            total += c * (self._product_top(m) if c > 0 else self._product_bottom(m))
        return total

    def _unsigned(self, read: Polynomial, width: int, upper: Mapping[Term, Polynomial], depth: int) -> bool:
        """Whether a value of so many bits is what it is as a polynomial."""
        most = self._largest(*read, upper, depth)
        least = self._largest(-read[0], {m: -c for m, c in read[1].items()}, upper, depth)
        return most is not None and most < 1 << width and least is not None and least <= 0

    def _either(self, t: Term, upper: Mapping[Term, Polynomial]) -> Iterator[tuple[Term, dict[Term, Polynomial]]]:
        """The values of a selection, and what is known of unknowns where it has each."""
        condition, yes, no = t.args
        atom, when, otherwise = condition.args
        fact = self._fact(atom, upper) if when.op == otherwise.op == "const" else {}
        yield yes, fact if when.value else {}
        yield no, fact if otherwise.value else {}

    def _fact(self, atom: Term, upper: Mapping[Term, Polynomial]) -> dict[Term, Polynomial]:
        """Where x < y bounds an unknown that has an upper bound already: the better bound."""
        if atom.op not in ("ult", "slt") or not all(self.plain(x) for x in atom.args):
            return {}
        const, difference = self.minus(*atom.args)
        g = gcd(const, *difference.values())
        for m, c in difference.items():
            if len(m) == 1 and c == g and m[0] in upper and not any(m[0] in n for n in difference if n != m):
                return {m[0]: (-1 - const // g, {n: -d // g for n, d in difference.items() if n != m})}
        return {}

    def _product_top(self, m: Monomial) -> int:
        best = prod(map(self.top, m))
        for atoms, most in self.products.items():
            if (rest := _without(m, atoms)) is not None:
                best = min(best, most * prod(map(self.top, rest)))
        return best

    def _product_bottom(self, m: Monomial) -> int:
        if any(t.op == "sext" for t in m):
            return -self._product_top(m)
        return prod(self.lower.get(t, 0) for t in m)

    def top(self, t: Term) -> int:
        """The most that one unknown is, whatever the others are."""
        found = self._tops.get(t)
        if found is not None:
            return found
        most: int = 1 << 31 if t.op == "sext" else t.ones
        for atoms, limit in self.products.items():
            if t in atoms:
                others = list(atoms)
                others.remove(t)
                most = min(most, limit // max(1, prod(self.lower.get(u, 0) for u in others)))
        if t in self.upper and (bound := self.largest(*self.upper[t])) is not None:
            most = min(most, bound)
        self._tops[t] = most
        return most


def _without(m: Monomial, atoms: Monomial) -> list[Term] | None:
    """The factors beside some; None where these are not all among them."""
    rest = list(m)
    for t in atoms:
        if t not in rest:
            return None
        rest.remove(t)
    return rest


def _replaced(
    const: int, monomials: Mapping[Monomial, int], atom: Term, value: Polynomial
) -> tuple[int, dict[Monomial, int]]:
    """The polynomial with a polynomial in the place of `atom`."""
    found: dict[Monomial, int] = {}
    for m, c in monomials.items():
        if atom not in m:
            found[m] = found.get(m, 0) + c
            continue
        rest = list(m)
        rest.remove(atom)
        for n, d in ((), value[0]), *value[1].items():
            key = tuple(sorted((*rest, *n), key=lambda t: t.id))
            found[key] = found.get(key, 0) + c * d
    const += found.pop((), 0)
    return const, {m: c for m, c in found.items() if c}
