"""How large a term can be: what is assumed of the launch, and what follows from it.

`Facts` is what the caller vouches for: the kernel's arguments and the sizes that it is launched with. `Bounds` answers
whether a sum stays in a range, by replacing, one atom after the other, each unknown that grows the sum with its upper
bound and each that shrinks it with its lower one. An upper bound may itself be a sum (a workgroup id in x is at most
N/128 - 1, the loop's counter at most K/8 - 1), so that

    N*(8*t + 7) + 128*x + tid  <=  N*(K - 1) + 128*x + tid  <=  N*(K - 1) + N - 1  =  N*K - 1  <=  2**31 - 1

A truth value c = (x < y) is tried both true and false, with x <= y - g in the case that holds; g is what x - y is a
multiple of. A bound that is not found this way is not known: the term stays apart, and nothing is proved with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import gcd, prod

from isa.prove.equivalence.term import Monomial, Term
from isa.prove.equivalence.terms import Terms
from isa.prove.proof import Facts

Polynomial = tuple[int, Mapping[Monomial, int]]
_MASK32 = (1 << 32) - 1


class Bounds:
    """Ranges of terms. One object serves one table of terms; `learn` adds an upper bound found later."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.lower: dict[Term, int] = {}
        self.upper: dict[Term, Polynomial] = {}
        self.products: dict[Monomial, int] = {}
        self._largest: dict[Term, int] = {}
        self._within: dict[tuple[Term, int, int], bool] = {}

    def learn(self, atom: Term, upper: Polynomial) -> None:
        """From now on `atom` <= `upper`."""
        self.upper[atom] = upper
        self._within.clear()
        self._largest.pop(atom, None)

    def limit(self, atoms: Monomial, largest: int) -> None:
        """The product of these unknowns is at most `largest`."""
        self.products[atoms] = min(largest, self.products.get(atoms, largest))

    # --- questions
    def within(self, a: Term, low: int, high: int) -> bool:
        """Whether a, read as an integer with its coefficients, is known to lie in low..high."""
        if a.is_const:
            return low <= a.const <= high
        key = (a, low, high)
        known = self._within.get(key)
        if known is None:
            known = self._within[key] = self._decide(a, low, high)
        return known

    def _decide(self, a: Term, low: int, high: int) -> bool:
        if any(t.width > 32 and t not in self.upper and t.op not in ("zext", "sext") for m in a.monomials for t in m):
            return False
        top = self.largest(a.const, a.monomials)
        if top is None or top > high:
            return False
        bottom = self.smallest(a.const, a.monomials)
        return bottom is not None and bottom >= low

    def compare(self, x: Term, y: Term, low: int, high: int) -> bool | None:
        """Whether x < y, where both lie in low..high and it is the same for all launches; None otherwise."""
        if not (self.within(x, low, high) and self.within(y, low, high)):
            return None
        const, difference = minus(x, y)
        top = self.largest(const, difference)
        if top is not None and top < 0:
            return True
        bottom = self.smallest(const, difference)
        return False if bottom is not None and bottom >= 0 else None

    def smallest(self, const: int, monomials: Mapping[Monomial, int]) -> int | None:
        """A number that the polynomial is not below; None where none is known."""
        top = self.largest(-const, {m: -c for m, c in monomials.items()})
        return None if top is None else -top

    def largest(self, const: int, monomials: Mapping[Monomial, int]) -> int | None:
        """A number that the polynomial is not above; None where none is known."""
        if any(t.op == "sext" for m in monomials if len(m) > 1 for t in m):
            return None  # what follows takes it that no factor is negative
        return self._largest_with(const, monomials, self.upper)

    # --- the algorithm
    def _largest_with(
        self, const: int, monomials: Mapping[Monomial, int], upper: Mapping[Term, Polynomial]
    ) -> int | None:
        for t in {t for m in monomials for t in m}:
            if t.op in ("ult", "slt") and (fact := self._fact(t, upper)) is not None:
                no = self._largest_with(*_replace(const, monomials, t, (0, {})), upper)
                yes = self._largest_with(*_replace(const, monomials, t, (1, {})), {**upper, fact[0]: fact[1]})
                return None if no is None or yes is None else max(no, yes)
        for t, bound in upper.items():
            signs = {c > 0 for m, c in monomials.items() if t in m}
            if not signs:
                continue
            if len(signs) == 2:
                return None
            const, monomials = _replace(const, monomials, t, bound if True in signs else (self.lower.get(t, 0), {}))
        total, plain = const, dict[Monomial, int]()
        for m, c in monomials.items():
            # Truth values are 1 where that makes the sum larger, else 0.
            rest = tuple(t for t in m if t.width != 1)
            if len(rest) == len(m) or c > 0:
                plain[rest] = plain.get(rest, 0) + c
        for m, c in plain.items():
            total += c * (self._monomial_top(m) if c > 0 else self._monomial_bottom(m))
        return total

    def _fact(self, c: Term, upper: Mapping[Term, Polynomial]) -> tuple[Term, Polynomial] | None:
        """Where c = (x < y) bounds an unknown that has an upper bound already: the better bound when c holds."""
        x, y = c.args
        if not (self.within(x, 0, _MASK32 >> 1) and self.within(y, 0, _MASK32 >> 1)):
            return None
        const, difference = minus(x, y)
        g = gcd(const, *difference.values())
        for m, coefficient in difference.items():
            if len(m) == 1 and coefficient == g and m[0] in upper:
                return m[0], (-1 - const // g, {n: -d // g for n, d in difference.items() if n != m})
        return None

    def _monomial_top(self, m: Monomial) -> int:
        """The largest value of a product of unknowns."""
        best = prod(self.atom_top(t) for t in m)
        for atoms, limit in self.products.items():
            if all(t in m for t in atoms):
                rest = list(m)
                for t in atoms:
                    rest.remove(t)
                best = min(best, limit * prod(self.atom_top(t) for t in rest))
        return best

    def _monomial_bottom(self, m: Monomial) -> int:
        if any(t.op == "sext" for t in m):
            return -self._monomial_top(m)
        return prod(self.lower.get(t, 0) for t in m)

    def atom_top(self, t: Term) -> int:
        """The largest value of one unknown, whatever the others are."""
        known = self._largest.get(t)
        if known is None:
            known = (1 << t.width) - 1
            if t.op == "sext":
                known = 1 << 31
            elif t.op == "zext":
                known = _MASK32
            for atoms, limit in self.products.items():
                if t in atoms:
                    rest = list(atoms)
                    rest.remove(t)
                    known = min(known, limit // max(1, prod(self.lower.get(u, 0) for u in rest)))
            if t in self.upper:
                const, monomials = self.upper[t]
                top = self.largest(const, monomials)
                known = known if top is None else min(known, top)
            self._largest[t] = known
        return known

    # --- bits
    def parts(self, a: Term, width: int) -> list[tuple[int, int, Monomial, int]] | None:
        """The sum as parts (low, high, monomial, coefficient) that only have bits low..high-1, no two the same bit, nor
        one that the constant has; None where that is not known. A truth value's coefficient is taken apart by bits."""
        mask = (1 << width) - 1
        used = a.const & mask
        result = []
        for m, coefficient in a.monomials.items():
            c = coefficient & mask
            if any(t.op == "sext" or t.width > width for t in m):
                return None
            if all(t.width == 1 for t in m):
                pieces = [(bit, bit + 1, 1 << bit) for bit in range(width) if c >> bit & 1]
            else:
                low = (c & -c).bit_length() - 1
                high = ((c >> low) * self._monomial_top(m)).bit_length() + low
                if high > width:
                    return None
                pieces = [(low, high, c)]
            for low, high, part in pieces:
                bits = (1 << high) - (1 << low)
                if bits & used:
                    return None
                used |= bits
                result.append((low, high, m, part))
        return result

    def support(self, a: Term, width: int) -> int:
        """The bits that may be set in a, as a mask."""
        mask = (1 << width) - 1
        if a.is_const:
            return a.const & mask
        parts = self.parts(a, width)
        if parts is not None:
            return (a.const & mask) | sum((1 << high) - (1 << low) for low, high, _, _ in parts)
        trailing = min((c & -c) for c in (a.const, *a.monomials.values()) if c)
        high = width
        if self.within(a, 0, mask):
            top = self.largest(a.const, a.monomials)
            assert top is not None
            high = min(width, top.bit_length())
        return ((1 << high) - 1) & ~(trailing - 1)


def minus(x: Term, y: Term) -> tuple[int, dict[Monomial, int]]:
    """x - y as integers."""
    difference = dict(x.monomials)
    for m, c in y.monomials.items():
        difference[m] = difference.get(m, 0) - c
    return x.const - y.const, {m: c for m, c in difference.items() if c}


def _replace(
    const: int, monomials: Mapping[Monomial, int], atom: Term, value: Polynomial
) -> tuple[int, dict[Monomial, int]]:
    """The polynomial with `atom` replaced by a polynomial."""
    result: dict[Monomial, int] = {}
    value_const, value_monomials = value
    for m, c in monomials.items():
        if atom not in m:
            result[m] = result.get(m, 0) + c
            continue
        rest = list(m)
        rest.remove(atom)
        if value_const:
            if rest:
                key = tuple(rest)
                result[key] = result.get(key, 0) + c * value_const
            else:
                const += c * value_const
        for n, d in value_monomials.items():
            key = tuple(sorted((*rest, *n), key=lambda t: t.id))
            result[key] = result.get(key, 0) + c * d
    return const, {m: c for m, c in result.items() if c}


def unknowns(terms: Terms, facts: Facts) -> dict[str, Term]:
    """The launch's unknowns as terms by name: arguments, "workgroup x" and so on, "work-item"; bounds are entered.

    A size that is a multiple of 8 is 8 times the unknown "K/8", so that its divisibility is plain to see. The work-item
    id is the sum of its bits.
    """
    bounds = terms.bounds
    result: dict[str, Term] = {}
    units: dict[str, tuple[Term, int]] = {}
    for a in facts.arguments:
        multiple = max(1, a.multiple)
        atom = terms.atom("unknown", a.name, multiple, width=8 * a.size)
        if a.multiple:
            bounds.lower[atom] = max(1, a.minimum // multiple)
            bounds.limit((atom,), a.maximum // multiple)
        units[a.name] = (atom, multiple)
        result[a.name] = terms.scale(atom, multiple, 32) if a.multiple else atom
    for names, limit in facts.products:
        pairs = [units[n] for n in names]
        key = tuple(sorted((atom for atom, _ in pairs), key=lambda t: t.id))
        bounds.limit(key, limit // prod(multiple for _, multiple in pairs))
    for number, axis in enumerate("xyz"):
        atom = terms.atom("unknown", f"group_{axis}", 1, width=32)
        result[f"workgroup {axis}"] = atom
        if facts.grid is not None:
            bounds.learn(atom, (facts.grid[number] - 1, {}))
            continue
        bound = dict(facts.groups).get(axis)
        if bound is not None:
            unit, multiple = units[bound[0]]
            if multiple % bound[1] == 0:
                bounds.learn(atom, (-1, {(unit,): multiple // bound[1]}))
    bits = (facts.block - 1).bit_length()
    item: dict[Monomial, int] = {(terms.atom("bit", "tid", i, width=1),): 1 << i for i in range(bits)}
    result["work-item"] = terms.sum(0, item, 32)
    return result
