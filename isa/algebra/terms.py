"""Terms: operations on what registers hold -> normal forms, of which equal ones are one object, so that `is` decides.

A `Term` is a function of the lane (`uniform`: the same in each) of a width in bits: 1, 8, 16, 32 or 64. Terms of both
programs live in one table (`Terms`). Most are an operation and its operands, of which nothing else is known. Some have
a normal form, in which what a rewrite may change is equal:

    sums         of 32 and 64 bits, modulo 2**width: a constant and coefficients of other terms and of their products
    64 bits      zext(x) and sext(x) of a 32-bit sum that cannot wrap, by its known bits or by `Ranges`, is the sum of
                 the parts; 2**32 * hi(x) is x - zext(trunc(x)), and the sign of x is hi(sext(x));
                 2**32 * (x < y) is zext(y) + zext(x - y) - zext(x), the carry of y + (x - y): so an address is the
                 same however its halves were added
    truth        functions of truth values are decision diagrams, ordered by the age of their variables (Bryant 1986)
    masks        a uniform word of 32 bits and a truth value a lane are the same thing (`lanes`, `mask`), so that what
                 s_and_b32, s_xor_b32 and their kind make of masks are decision diagrams too
    selections   select(c, a, b) where what c implies decides a selection within; nested ones, of up to `MOST_ARMS`
                 values, by value: select(c1, v1, select(c2, v2, v3)), oldest value first, no two c in one lane
    comparisons  where nothing wraps, x < y with and without sign is a question of x - y, and one form with its opposite
    bits         `ones`: the bits that may be 1. A mask that takes none of them away; `or` of what has none in common is
                 a sum, of which a mask keeps parts; a sum whose low bits are a non-zero constant is not 0
    shifts       a sum that cannot wrap is shifted right part by part, where the low bits of the parts cannot carry; a
                 number below what all else is a multiple of makes no sum wrap

Terms are made once, in the table, and added in `sums`; `truth` has truth values, masks and selections; `ranges` says
how large they may be; the rest stands here. A solver holds each rule against arithmetic, for all values
(`tests/isa/prove/test_refine_rules.py`): a new arm of the code without a check fails there. `test_refine_terms.py` and
`test_refine_ranges.py` run random code on terms and on the reference engine.
"""

from __future__ import annotations

from math import gcd

from isa.algebra.term import Term, age, in_order, trailing_zeros
from isa.algebra.truth import Truth


class Terms(Truth):
    """The table, and all operations."""

    # --- comparisons
    def zero(self, t: Term) -> Term:
        """t == 0."""
        if t.op == "const":
            return self.true if not t.args[0] else self.false
        if t.op == "select" and t.args[1].op == t.args[2].op == "const":
            c, a, b = t.args
            return self.ite(c, self.zero(a), self.zero(b))
        if t.op == "sum":
            const, rows = t.args
            if const & (1 << min(trailing_zeros(u.ones) + trailing_zeros(c) for u, c in rows)) - 1:
                return self.false
            opposite = self.scale(t, -1)
            t = min(t, opposite, key=age)
        full = (1 << t.width) - 1
        if t.width >= 32 and (self.ranges.within(t, 1, full) or self.ranges.within(t, -full, -1)):
            return self.false
        return self.variable("zero", t)

    def equal(self, a: Term, b: Term) -> Term:
        if a.width == 1:
            return self.invert(self.differ(a, b))
        if a is b:
            return self.true
        if a.width >= 32:
            if b.op == "const" and a.op == "select":
                c, x, y = a.args
                if x.op == y.op == "const":
                    return self.ite(c, self.equal(x, b), self.equal(y, b))
            return self.zero(self.sub(a, b))
        if a.op == b.op == "const":
            return self.false
        return self.variable("equal", *in_order(a, b))

    def less(self, a: Term, b: Term, *, signed: bool) -> Term:
        if a is b:
            return self.false
        if a.op == b.op == "const":
            x, y = a.args[0], b.args[0]
            if signed:
                half = 1 << (a.width - 1)
                x, y = x ^ half, y ^ half
            return self.true if x < y else self.false
        if a.width >= 32:
            if self.ranges.plain(a) and self.ranges.plain(b):
                return self._plain_less(a, b)
            if not signed and (known := self.ranges.less(a, b)) is not None:
                return self.true if known else self.false
        return self._less(a, b, signed=signed)

    def _less(self, a: Term, b: Term, *, signed: bool) -> Term:
        if not signed and b.op == "const" and b.args[0] <= 1:
            return self.zero(a) if b.args[0] else self.false
        if not signed and a.op == "const" and not a.args[0]:
            return self.invert(self.zero(b))
        return self.variable("slt" if signed else "ult", a, b)

    def _plain_less(self, a: Term, b: Term) -> Term:
        """a < b, where neither wraps, with or without sign: a question of a - b alone. Its unknowns are a multiple of
        some g, so that the number is rounded: 8*t + 9 < K is 8*t + 8 < K. And it is the opposite of b - g < a: one of
        the two stands for both, that which has the oldest unknown on the right."""
        if (known := self.ranges.less(a, b)) is not None:
            return self.true if known else self.false
        const, rows = self.ranges.minus(a, b)
        g = gcd(*rows.values())
        const = -g * ((-const - 1) // g + 1)
        first = min(rows, key=lambda m: [t.id for t in m])
        opposite = rows[first] > 0
        if opposite:
            const, rows = -const - g, {m: -c for m, c in rows.items()}
        left = self.written(max(const, 0), {m: c for m, c in rows.items() if c > 0}, a.width)
        right = self.written(max(-const, 0), {m: -c for m, c in rows.items() if c < 0}, a.width)
        if not (self.ranges.plain(left) and self.ranges.plain(right)):
            return self._less(a, b, signed=False)
        less = self._less(left, right, signed=False)
        return self.invert(less) if opposite else less

    # --- bits
    def bit_and(self, a: Term, b: Term) -> Term:
        if a.op == "const":
            a, b = b, a
        if b.op == "const":
            return self._keep(a, b.args[0])
        return a if a is b else self._as_masks(a, b, self.both) or self._bitwise("and", a, b, a.ones & b.ones)

    def _keep(self, a: Term, bits: int) -> Term:
        """a & bits."""
        kept = a.ones & bits
        if kept == a.ones:
            return a
        if not kept or a.op == "const":
            return self.const(a.args[0] & bits if a.op == "const" else 0, a.width)
        if a.op == "and" and a.args[1].op == "const":
            return self._keep(a.args[0], bits & a.args[1].args[0])
        if a.op == "or":
            return self.bit_or(self._keep(a.args[0], bits), self._keep(a.args[1], bits))
        if a.op == "sum" and (found := self._kept(a, bits)) is not None:
            return found
        if a.op == "select" and not {"or", "sum"}.isdisjoint((a.args[1].op, a.args[2].op)):
            return self.select(a.args[0], self._keep(a.args[1], bits), self._keep(a.args[2], bits))
        return self.make("and", a.width, a, self.const(bits, a.width), ones=kept)

    def _kept(self, a: Term, bits: int) -> Term | None:
        """a & bits of a sum: without parts that are beyond all bits; of parts that have none in common some, or some of
        their bits. None where that is all that it can be."""
        const, rows = a.args
        above = 1 << bits.bit_length()
        near = {u: c for u, c in rows if (c & -c) * (u.ones & -u.ones) < above}
        if len(near) < len(rows) or const >= above:
            return self._keep(self.sum(const & above - 1, near, a.width), bits)
        used, found, rest = const, self.const(const & bits, a.width), dict[Term, int]()
        for u, c in rows:
            k = trailing_zeros(c)
            mine = u.ones << k if c == 1 << k else c if u.ones == 1 else self.sum(0, {u: c}, a.width).ones
            if used & mine or mine >> a.width:
                return None
            used |= mine
            if mine & bits == mine:
                found = self.add(found, u, c)
            elif u.ones == 1:
                found = self.add(found, u, c & bits)
            elif c == 1 << k:
                found = self.add(found, self._keep(u, bits >> k & u.ones), c)
            elif mine & bits:
                rest[u] = c
        if len(rest) == len(rows):
            return None
        return self.add(found, self._keep(self.sum(0, rest, a.width), bits)) if rest else found

    def bit_or(self, a: Term, b: Term) -> Term:
        if not a.ones & b.ones and a.width >= 32:
            return self.add(a, b)
        if a is b or not b.ones:
            return a
        if not a.ones:
            return b
        if a.op == b.op == "const":
            return self.const(a.args[0] | b.args[0], a.width)
        return self._as_masks(a, b, self.either) or self._bitwise("or", a, b, a.ones | b.ones)

    def bit_xor(self, a: Term, b: Term) -> Term:
        if not a.ones & b.ones and a.width >= 32:
            return self.add(a, b)
        if a is b:
            return self.const(0, a.width)
        if a.op == b.op == "const":
            return self.const(a.args[0] ^ b.args[0], a.width)
        if not a.ones or not b.ones:
            return a if not b.ones else b
        return self._as_masks(a, b, self.differ) or self._bitwise("xor", a, b, a.ones | b.ones)

    def bit_not(self, a: Term) -> Term:
        return self.bit_xor(a, self.const(-1, a.width))

    def _bitwise(self, op: str, a: Term, b: Term, ones: int) -> Term:
        x, y = in_order(a, b)
        return self.make(op, a.width, *((y, x) if x.op == "const" else (x, y)), ones=ones)

    def shl(self, a: Term, by: Term) -> Term:
        n = by.value
        if n is None or n >= a.width:
            return self.make("shl", a.width, a, by)
        if a.width < 32:
            return self.make("shl", a.width, a, by, ones=a.ones << n) if n else a
        return self.scale(a, 1 << n)

    def shr(self, a: Term, by: Term, *, signed: bool = False) -> Term:
        n, top = by.value, a.ones >> (a.width - 1)
        if signed and top and a.width >= 32:
            top = not self.ranges.plain(a)
            if top and n == 31 and a.width == 32:
                return self.hi(self.sext(a))
        if n is None or n >= a.width or (signed and top):
            return self.make("sar" if signed else "shr", a.width, a, by) if n != 0 else a
        if a.op == "const":
            return self.const(a.args[0] >> n, a.width)
        if n == 0 or not a.ones >> n or (a.width >= 32 and self.ranges.within(a, 0, (1 << n) - 1)):
            return a if n == 0 else self.const(0, a.width)
        if a.width == 64 and n >= 32:
            high = self.hi(a)
            return self.zext(high if n == 32 else self.shr(high, self.const(n - 32, 32)))
        if a.op == "or":
            return self.bit_or(self.shr(a.args[0], by), self.shr(a.args[1], by))
        if a.op == "shr" and a.args[1].op == "const":
            return self.shr(a.args[0], self.const(n + a.args[1].args[0], by.width))
        if a.op == "and" and a.args[1].op == "const":
            return self._keep(self.shr(a.args[0], by), a.args[1].args[0] >> n)
        if a.op == "sum":
            const, rows = a.args
            if low := const & (1 << min(trailing_zeros(u.ones) + trailing_zeros(c) for u, c in rows)) - 1:
                rest = self.sum(const - low, dict(rows), a.width)
                return self.add(self.shr(rest, by), self.const(low >> n, a.width))
            if const + sum(u.ones * c for u, c in rows) < 1 << a.width:
                return self._shifted(a, n)
        return self.make("shr", a.width, a, self.const(n, 32), ones=a.ones >> n)

    def _shifted(self, a: Term, n: int) -> Term:
        """A sum that does not wrap, without its low n bits: parts of which none carries into the others' high bits are
        shifted one by one."""
        const, rows = a.args
        rest = const & (1 << n) - 1
        total = self.const(const >> n, a.width)
        alone = rest + sum(_below(u, c, n) for u, c in rows) < 1 << n
        together = {}
        for u, c in rows:
            k = trailing_zeros(c)
            if not alone and _below(u, c, n):
                together[u] = c
            elif k >= n:
                total = self.add(total, self.scale(u, c >> n))
            elif u.ones == 1:
                total = self.add(total, u, c >> n)
            elif c == 1 << k or not _below(u, c, n):
                total = self.add(total, self.scale(self.shr(u, self.const(n - k, 32)), c >> k))
            else:
                together[u] = c
        if not together:
            return total
        low = min(trailing_zeros(u.ones) + trailing_zeros(c) for u, c in together.items())
        kept = self.sum(0 if alone else rest >> low << low, together, a.width)
        if kept.ones >> n:
            total = self.add(total, self.make("shr", a.width, kept, self.const(n, 32), ones=kept.ones >> n))
        return total

    # --- 8 and 16 bits
    def low(self, t: Term, width: int) -> Term:
        """The low bits of a wider term."""
        if t.op == "const":
            return self.const(t.args[0], width)
        if t.width == 64:
            t = self.trunc(t)
        t = self._keep(t, (1 << width) - 1)
        if t.op == "and" and t.args[1].op == "const" and t.args[1].args[0] & (1 << width) - 1 == (1 << width) - 1:
            t = t.args[0]
        if t.op == "wide" and t.args[0].width == width:
            return t.args[0]
        return self.const(t.args[0], width) if t.op == "const" else self.make("low", width, t, ones=t.ones)

    def wide(self, t: Term, width: int) -> Term:
        """8 or 16 bits as 32 or 64, or 8 as 16, without sign."""
        if t.op == "const":
            return self.const(t.args[0], width)
        if width == 64:
            return self.zext(self.wide(t, 32))
        if t.op == "low" and t.args[0].width == width:
            return self._keep(t.args[0], (1 << t.width) - 1)
        return self.make("wide", width, t, ones=t.ones)


def _below(t: Term, c: int, n: int) -> int:
    """The most that the low n bits of c * t may be, which does not wrap."""
    whole, zeros = (1 << n) - 1, trailing_zeros(t.ones) + trailing_zeros(c)
    if t.ones * c <= whole or c == 1 << trailing_zeros(c) or t.ones == 1:
        return t.ones * c & whole
    return whole >> zeros << zeros
