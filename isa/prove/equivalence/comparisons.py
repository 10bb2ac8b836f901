"""x < y and x == y as truth values, equal ones as one term however they were asked for.

A comparison whose answer `Bounds` knows, or that is one of constants, is a constant. `slt` of two terms that cannot be
negative is `ult`. Where nothing wraps, x < y is a question of x - y alone, and takes one form, the opposite's too. A
sum of truth values is zero in some rows of its table: x == y is then the sum of those; of other sums it is an atom
("zero") of x - y.
"""

from __future__ import annotations

from math import gcd

from isa.prove.equivalence.bounds import minus
from isa.prove.equivalence.term import Term, truth_table
from isa.prove.equivalence.terms import Terms


def ult(terms: Terms, x: Term, y: Term, width: int) -> Term:
    """x < y without sign."""
    if x is y or (y.is_const and not y.const):
        return terms.false
    if x.is_const and y.is_const:
        mask = (1 << width) - 1
        return terms.truth((x.const & mask) < (y.const & mask))
    if x.is_const and x.const == 0:
        return terms.invert(equal(terms, y, x, width))
    if width == 64:
        return terms.atom("ult64", x, y, width=1)
    known = terms.bounds.compare(x, y, 0, (1 << width) - 1)
    if known is not None:
        return terms.truth(known)
    return _plain_less(terms, x, y) or terms.atom("ult", x, y, width=1)


def _plain_less(terms: Terms, x: Term, y: Term) -> Term | None:
    """x < y as the same term however it was written, where nothing wraps; None where something may.

    It is then a question of x - y alone, whose unknowns are a multiple of some g, so that the constant can be rounded:
    8*t + 9 < K is 8*t + 8 < K. And it is the opposite of y - g < x: one of the two stands for both, that which has the
    first unknown on the right.
    """
    half = (1 << 31) - 1
    if not (terms.bounds.within(x, 0, half) and terms.bounds.within(y, 0, half)):
        return None
    const, difference = minus(x, y)
    if not difference:
        return None
    g = gcd(*difference.values())
    const = -g * ((-const - 1) // g + 1)
    first = min(difference, key=lambda m: tuple(t.id for t in m))
    opposite = difference[first] > 0
    if opposite:
        const, difference = -const - g, {m: -c for m, c in difference.items()}
    left = terms.sum(max(const, 0), {m: c for m, c in difference.items() if c > 0}, 32)
    right = terms.sum(max(-const, 0), {m: -c for m, c in difference.items() if c < 0}, 32)
    if not all(terms.bounds.within(side, 0, half) for side in (left, right)):
        return None
    less = terms.atom("ult", left, right, width=1)
    return terms.invert(less) if opposite else less


def slt(terms: Terms, x: Term, y: Term, width: int) -> Term:
    """x < y with sign. Where neither can be negative this is `ult`, so that both forms agree."""
    if x is y:
        return terms.false
    if x.is_const and y.is_const:
        return terms.truth(x.const < y.const)
    if width == 32:
        half = (1 << 31) - 1
        if terms.bounds.within(x, 0, half) and terms.bounds.within(y, 0, half):
            return ult(terms, x, y, width)
    return terms.atom("slt" if width == 32 else "slt64", x, y, width=1)


def equal(terms: Terms, x: Term, y: Term, width: int) -> Term:
    """x == y, modulo 2**width."""
    if x is y:
        return terms.true
    difference = terms.sub(x, y, width)
    if difference.is_const:
        return terms.truth(difference.const == 0)
    rows = truth_table(difference)
    if rows is not None:
        result = terms.false
        for atoms, value in rows:
            if value % (1 << width) == 0:
                row = terms.true
                for atom, holds in atoms.items():
                    row = terms.both(row, atom if holds else terms.invert(atom))
                result = terms.add(result, row, 64)
        return result
    if difference.const % gcd(1 << width, *difference.monomials.values()):
        return terms.false  # the rest is a multiple of that, modulo 2**width too
    other = terms.neg(difference, width)
    first = min((difference, other), key=lambda t: t.id)
    return terms.atom("zero" if width == 32 else "zero64", first, width=1)
