"""Shifts to the right and bitwise operations on terms, which are sums wherever the bits of their parts are apart.

`Bounds.parts` says which bits each monomial of a sum may have. If those of no two meet, a mask or a shift keeps some of
the monomials and drops the others, and stays a sum; `or` and `xor` of terms without a common bit is their sum. The rest
are atoms. A shift to the left is a multiplication: `Terms.scale`.
"""

from __future__ import annotations

from collections.abc import Callable

from isa.prove.equivalence.term import Monomial, Term, ordered
from isa.prove.equivalence.terms import Terms


def shr(terms: Terms, a: Term, n: int, width: int, *, signed: bool = False) -> Term:
    """a >> n, arithmetic where signed."""
    if n == 0:
        return a
    if a.is_const:
        return terms.const((a.const if signed else a.const & ((1 << width) - 1)) >> n, width)
    if n < width and terms.bounds.within(a, 0, (1 << n) - 1):
        return terms.const(0, width)
    if width == 64 and n >= 32 and not signed:
        high = terms.hi(a)
        return terms.zext(high if n == 32 else shr(terms, high, n - 32, 32))
    if signed and not terms.bounds.within(a, 0, (1 << (width - 1)) - 1):
        if width == 32 and n == 31:
            return terms.hi(terms.sext(a))
        return terms.atom("sar", a, n, width, width=width)
    kept = _segments(terms, a, lambda low, high: None if high <= n else (low >= n), width)
    if kept is None:
        return terms.atom("shr", a, n, width, width=max(width - n, 2))
    const, monomials = kept
    return terms.sum(const >> n, {m: c >> n for m, c in monomials.items()}, width)


def bit_and(terms: Terms, a: Term, b: Term, width: int) -> Term:
    if a.is_const:
        a, b = b, a
    mask = (1 << width) - 1
    if b.is_const:
        wanted = b.const & mask
        if a.is_const:
            return terms.const(a.const & wanted, width)
        if wanted == mask:
            return a
        if wanted == 0:
            return terms.const(0, width)

        def keep(low: int, high: int) -> bool | None:
            bits = ((1 << high) - 1) & ~((1 << low) - 1)
            return None if not bits & wanted else (bits & wanted == bits)

        kept = _segments(terms, a, keep, width, wanted)
        if kept is not None:
            return terms.sum(kept[0], kept[1], width)
        zeros = (wanted & -wanted).bit_length() - 1
        if zeros and wanted >> zeros == mask >> zeros:  # all bits above some: shifted there and back
            return terms.scale(shr(terms, a, zeros, width), 1 << zeros, width)
    if a is b:
        return a
    if not terms.bounds.support(a, width) & terms.bounds.support(b, width):
        return terms.const(0, width)
    return terms.atom("and", *ordered((a, b)), width=width)


def bit_or(terms: Terms, a: Term, b: Term, width: int) -> Term:
    return _merge(terms, "or", a, b, width)


def bit_xor(terms: Terms, a: Term, b: Term, width: int) -> Term:
    return _merge(terms, "xor", a, b, width)


def _merge(terms: Terms, op: str, a: Term, b: Term, width: int) -> Term:
    if a.is_const:
        a, b = b, a
    if a.is_const:
        return terms.const(a.const | b.const if op == "or" else a.const ^ b.const, width)
    if b.is_const and b.const == -1:
        return b if op == "or" else bit_not(terms, a, width)
    if a is b:
        return a if op == "or" else terms.const(0, width)
    if op == "xor" and b.is_const and a.op == "xor":  # a sign that is changed twice is as it was
        x, y = a.args if a.args[1].is_const else a.args[::-1]
        if y.is_const:
            both = terms.const(y.const ^ b.const, width)
            return _merge(terms, op, x, both, width) if both.const else x
    if not terms.bounds.support(a, width) & terms.bounds.support(b, width):
        return terms.add(a, b, width)
    return terms.atom(op, *ordered((a, b)), width=width)


def bit_not(terms: Terms, a: Term, width: int) -> Term:
    return terms.sub(terms.const(-1, width), a, width)


def _segments(
    terms: Terms, a: Term, choose: Callable[[int, int], bool | None], width: int, const_mask: int | None = None
) -> tuple[int, dict[Monomial, int]] | None:
    """The parts of a sum whose bits are apart, chosen by their bits.

    choose(low, high) says of bits low..high-1: None to drop them, True to keep them, False that they cannot be had
    apart. None where the parts are not apart or cannot be had.
    """
    parts = terms.bounds.parts(a, width)
    if parts is None:
        return None
    kept: dict[Monomial, int] = {}
    for low, high, monomial, coefficient in parts:
        chosen = choose(low, high)
        if chosen:
            kept[monomial] = kept.get(monomial, 0) + coefficient
        elif chosen is False:
            return None
    const = a.const & ((1 << width) - 1)
    if const_mask is not None:
        const &= const_mask
    return const, kept
