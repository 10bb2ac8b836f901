"""Polynomials of register pairs: two 32-bit halves -> one 64-bit polynomial.

The low half of polynomial P is P itself, with coefficients modulo 2**32; the high half is the atom high(P). A pair that
holds P and high(P) is read as P again. The carry chain of a 64-bit addition is recognised: high(P) + high(Q) +
carry(P, Q) = high(P + Q), and so is a product's: c * high(P) + mulhi(P, c) = high(c * P).
"""

from __future__ import annotations

from isa.passes.symbolic.poly import ZERO, Atom, Poly


def low(poly: Poly) -> Poly:
    """What the low register of a 64-bit number holds."""
    return poly.wrap(32)


def high(poly: Poly) -> Poly:
    """What the high register of a 64-bit number holds."""
    if poly.value is not None:
        return Poly.const(poly.value >> 32).wrap(32)
    return Poly.of(Atom("high", (poly,), poly.uniform))


def pack(lo: Poly, hi: Poly) -> Poly:
    """The 64-bit number in two registers."""
    atom = hi.atom
    if atom is not None and atom.kind == "high" and low(atom.args[0]) == lo:
        whole = atom.args[0]
        assert isinstance(whole, Poly)
        return whole
    if lo.value is not None:  # constants are kept with sign: here the low one is bits
        lo = Poly.const(lo.value % (1 << 32))
    return lo + hi.scale(1 << 32)


def carry(p: Poly, q: Poly) -> Poly:
    """1 where the sum of the two low halves leaves 32 bits."""
    if 0 in (p.value, q.value):
        return ZERO
    pair = tuple(sorted((p, q), key=str))
    return Poly.of(Atom("carry", pair, p.uniform and q.uniform, mask=1))


def join_halves(poly: Poly) -> Poly:
    """high(P) + high(Q) + carry(P, Q) -> high(P + Q); high(P) + carry(P, q) -> high(P + q) where q is not negative;
    c * high(P) + mulhi(P, c) -> high(c * P) for a number c."""
    carries = [m[0] for m, c in poly.terms.items() if c == 1 and len(m) == 1 and m[0].kind == "carry"]
    highs = [m[0] for m, c in poly.terms.items() if c == 1 and len(m) == 1 and m[0].kind == "high"]
    for product in [m[0] for m, c in poly.terms.items() if c == 1 and len(m) == 1 and m[0].kind == "mulhi.u32"]:
        p, factor = product.args
        for monomial, c in poly.terms.items():
            h = monomial[0] if len(monomial) == 1 and monomial[0].kind == "high" else None
            if h and low(h.args[0]) == p and factor.value == c:
                return poly - Poly.of(product) - Poly({monomial: c}) + high(h.args[0].scale(c))
    for bit in carries:
        p, q = bit.args
        hp = next((h for h in highs if low(h.args[0]) == p), None)
        hq = next((h for h in highs if h is not hp and low(h.args[0]) == q), None)
        if hp and hq:
            rest = poly - Poly.of(bit) - Poly.of(hp) - Poly.of(hq)
            return rest + high(hp.args[0] + hq.args[0])
        for h, other in ((hp, q), (hq, p)):
            if h and not other.wide and all(c > 0 for c in other.terms.values()):
                return poly - Poly.of(bit) - Poly.of(h) + high(h.args[0] + other)
    return poly
