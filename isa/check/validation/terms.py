"""What registers hold, as terms: equal values become one object, so that `is` decides.

A `Term` is a function of the lane (`uniform`: the same in each) of a width in bits: 1, 8, 16, 32 or 64. Terms of both
programs live in one table (`Terms`). Most are an operation and its operands, of which nothing else is known. Some have
a normal form, in which what a rewrite may change is equal:

    sums         of 32 and 64 bits, modulo 2**width: a constant and coefficients of other terms
    64 bits      zext(x) of a 32-bit sum that cannot wrap is the sum of the parts; 2**32 * hi(x) is x - zext(trunc(x));
                 2**32 * (x < y) is zext(y) + zext(x - y) - zext(x), the carry of y + (x - y): so an address is the
                 same however its halves were added
    truth        functions of truth values are decision diagrams, ordered by the age of their variables (Bryant 1986)
    masks        a uniform word of 32 bits and a truth value a lane are the same thing (`lanes`, `mask`), so that what
                 s_and_b32, s_xor_b32 and their kind make of masks are decision diagrams too
    selections   select(c, a, b) where what c implies decides a selection within; nested ones, of up to `MOST_ARMS`
                 values, by value: select(c1, v1, select(c2, v2, v3)), oldest value first, no two c in one lane
    bits         `ones`: the bits that may be 1. A mask that takes none of them away, `or` of what has none in common;
                 a sum of an odd number and even terms, and its kind for more bits, is not 0
    shifts       a sum that cannot wrap is shifted right part by part, where the low bits of the parts cannot carry; a
                 number below what all else is a multiple of makes no sum wrap

A solver holds each rule against arithmetic, for all values (`tests/isa/check/test_validation_rules.py`): a new arm of
the code without a check fails there. `test_validation_terms.py` runs random code on terms and on the reference engine.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

MOST_ARMS = 16
"""Values of a selection that has a normal form."""
MOST_BRANCHES = 20_000
"""Nodes of a decision diagram that one operation may visit."""
MOST_CONDITIONS = 200
"""Nodes that may be visited for the conditions of one selection's normal form. Those of an array in registers that is
written and read at unknown places grow without bound where they are put together by value."""
_NOBODY: frozenset[Any] = frozenset()


class TooLarge(Exception):
    """A decision diagram has grown beyond what is followed."""


class Term:
    """One value. op: "const", "sum", "ite" (a decision diagram), or the name of a function or unknown. owners: whose
    unknowns it is made of (see `Terms.unknown`). ones: the bits that may be 1."""

    __slots__ = ("args", "id", "ones", "op", "owners", "uniform", "width")

    def __init__(
        self, number: int, op: str, width: int, args: tuple[Any, ...], uniform: bool, owners: frozenset[Any], ones: int
    ) -> None:
        self.id, self.op, self.width, self.args = number, op, width, args
        self.uniform, self.owners, self.ones = uniform, owners, ones

    @property
    def value(self) -> int | None:
        """Of a constant: the number."""
        return self.args[0] if self.op == "const" else None

    def __repr__(self) -> str:
        return show(self)


class Terms:
    """The table, and the operations. commute: operands of float sums and products may change places."""

    def __init__(self, *, commute: bool = False) -> None:
        self.commute = commute
        self._table: dict[Hashable, Term] = {}
        self._choices: dict[tuple[Term, Term, Term], Term] = {}
        self._selections: dict[tuple[Term, Term, Term], Term] = {}
        self._rests: dict[Term, Term] = {}
        self._narrowed: dict[tuple[Term, Term], Term] = {}
        self.false, self.true = self.const(0, 1), self.const(1, 1)

    def __len__(self) -> int:
        return len(self._table)

    # --- making terms
    def make(
        self, op: str, width: int, *args: Hashable, uniform: bool | None = None, owner: Hashable = None,
        ones: int | None = None,
    ) -> Term:  # fmt: skip
        """The term of an operation on terms and other things, made once. What is given of it beside its arguments must
        follow from them."""
        key = (op, width, args)
        found = self._table.get(key)
        if found is None:
            terms = [a for a in args if type(a) is Term]
            found = self._new(key, op, width, args, terms, uniform, owner, ones)
        return found

    def _new(
        self, key: Hashable, op: str, width: int, args: tuple[Any, ...], terms: Iterable[Term], uniform: bool | None,
        owner: Hashable, ones: int | None,
    ) -> Term:  # fmt: skip
        same, owners = True, _NOBODY
        for t in terms:
            same = same and t.uniform
            if not t.owners <= owners:
                owners = owners | t.owners
        if owner is not None:
            owners |= {owner}
        full = (1 << width) - 1
        term = Term(
            len(self._table), op, width, args, same if uniform is None else uniform, owners,
            full if ones is None else ones & full,
        )  # fmt: skip
        self._table[key] = term
        return term

    def const(self, value: int, width: int) -> Term:
        value &= (1 << width) - 1
        return self.make("const", width, value, ones=value)

    def unknown(self, name: Hashable, width: int, *, uniform: bool, owner: Hashable = None, ones: int = -1) -> Term:
        """An unknown of its own. owner: whoever gives it a new value from time to time."""
        found = self.make("unknown", width, name, uniform, owner, ones, uniform=uniform, owner=owner, ones=ones)
        return self._node(found, self.true, self.false) if width == 1 else found

    @staticmethod
    def owner(t: Term) -> Hashable:
        """Of an unknown: its owner."""
        if t.op == "ite" and t.args[1].value == 1 and t.args[2].value == 0:
            t = t.args[0]
        return t.args[2] if t.op == "unknown" else None

    # --- sums
    @staticmethod
    def parts(t: Term) -> tuple[int, dict[Term, int]]:
        """A term as a constant and coefficients."""
        if t.op == "sum":
            return t.args[0], dict(t.args[1])
        return (t.args[0], {}) if t.op == "const" else (0, {t: 1})

    def split(self, t: Term) -> tuple[int, Term]:
        """A term as a constant and the rest."""
        if t.op != "sum" or not t.args[0]:
            return (t.args[0], self.const(0, t.width)) if t.op == "const" else (0, t)
        found = self._rests.get(t)
        if found is None:
            found = self._rests[t] = self.sum(0, dict(t.args[1]), t.width)
        return t.args[0], found

    def sum(self, const: int, factors: Mapping[Term, int], width: int) -> Term:
        full = (1 << width) - 1
        rows = tuple(sorted(((t, c & full) for t, c in factors.items() if c & full), key=lambda row: row[0].id))
        const &= full
        if not rows:
            return self.const(const, width)
        if not const and len(rows) == 1 and rows[0][1] == 1 and rows[0][0].width == width:
            return rows[0][0]
        key = ("sum", width, (const, rows))
        found = self._table.get(key)
        if found is None:
            most = const + sum(t.ones * c for t, c in rows)
            low = min((_zeros(t.ones) + _zeros(c) for t, c in rows), default=width)
            low = min(low, _zeros(const)) if const else low
            ones = ((1 << most.bit_length()) - 1 if most <= full else full) >> low << low
            found = self._new(key, "sum", width, (const, rows), (t for t, _ in rows), None, None, ones)
        return found

    def add(self, a: Term, b: Term, times: int = 1) -> Term:
        """a + times * b."""
        if b.op == "const" and not b.args[0]:
            return a
        const, factors = self.parts(a)
        more, others = self.parts(b)
        for t, c in others.items():
            factors[t] = factors.get(t, 0) + times * c
        return self.sum(const + times * more, factors, a.width)

    def sub(self, a: Term, b: Term) -> Term:
        return self.add(a, b, -1)

    def scale(self, a: Term, by: int) -> Term:
        const, factors = self.parts(a)
        return self.sum(const * by, {t: c * by for t, c in factors.items()}, a.width)

    def mul(self, a: Term, b: Term) -> Term:
        if a.op == "const":
            a, b = b, a
        if b.op == "const":
            return self.scale(a, b.args[0]) if a.width >= 32 else self.make("mul", a.width, a, b)
        return self.make("mul", a.width, *_sorted(a, b))

    # --- 32 and 64 bits
    def zext(self, t: Term) -> Term:
        """32 bits -> 64."""
        if t.op == "const":
            return self.const(t.args[0], 64)
        if t.op == "trunc" and t.args[0].ones <= 0xFFFFFFFF:
            return t.args[0]
        if t.op == "sum" and t.args[0] + sum(u.ones * c for u, c in t.args[1]) <= 0xFFFFFFFF:
            return self.sum(t.args[0], {self.zext(u): c for u, c in t.args[1]}, 64)
        return self.make("zext", 64, t, ones=t.ones)

    def trunc(self, t: Term) -> Term:
        """64 bits -> 32."""
        const, factors = self.parts(t)
        found: dict[Term, int] = {}
        total = const
        for u, c in factors.items():
            if c & 0xFFFFFFFF:
                low = u.args[0] if u.op == "zext" else self.make("trunc", 32, u, ones=u.ones)
                more, others = self.parts(low)
                total += more * c
                for w, k in others.items():
                    found[w] = found.get(w, 0) + k * c
        return self.sum(total, found, 32)

    def hi(self, t: Term) -> Term:
        """The high half of 64 bits."""
        const, factors = self.parts(t)
        low = {u: c for u, c in factors.items() if c & 0xFFFFFFFF}
        high: dict[Term, int] = {}
        total = const >> 32
        for u, c in factors.items():
            if not c & 0xFFFFFFFF:
                more, others = self.parts(self.trunc(u))
                total += more * (c >> 32)
                for w, k in others.items():
                    high[w] = high.get(w, 0) + k * (c >> 32)
        const &= 0xFFFFFFFF
        if low and const + sum(u.ones * c for u, c in low.items()) > 0xFFFFFFFF:
            rest = self.sum(const, low, 64)
            atom = self.make("hi", 32, rest, ones=rest.ones >> 32)
            high[atom] = high.get(atom, 0) + 1
        return self.sum(total, high, 32)

    def high(self, t: Term) -> Term:
        """2**32 times a term of 32 bits."""
        const, factors = self.parts(t)
        total = self.const(const << 32, 64)
        for u, c in factors.items():
            if u.op == "hi":
                part = self.sub(u.args[0], self.zext(self.trunc(u.args[0])))
            elif (carry := self._carry(u)) is not None:
                x, y = carry
                part = self.sub(self.add(self.zext(y), self.zext(self.sub(x, y))), self.zext(x))
            else:
                part = self.scale(self.zext(u), 1 << 32)
            total = self.add(total, self.scale(part, c))
        return total

    def _carry(self, t: Term) -> tuple[Term, Term] | None:
        """x and y of a term that is 1 where x < y, else 0."""
        if t.op != "select" or t.args[1].value != 1 or t.args[2].value != 0:
            return None
        c = t.args[0]
        variable = c.args[0]
        if c.args[1] is not self.true or c.args[2] is not self.false or variable.op != "ult":
            return None
        x, y = variable.args
        return (x, y) if x.width == 32 else None

    def joined(self, low: Term, high: Term) -> Term:
        return self.add(self.zext(low), self.high(high))

    # --- truth values
    def variable(self, op: str, *args: Hashable, uniform: bool | None = None) -> Term:
        """A truth value of which nothing else is known."""
        atom = self.make(op, 1, *args, uniform=uniform)
        return self._node(atom, self.true, self.false)

    def _node(self, atom: Term, yes: Term, no: Term) -> Term:
        return yes if yes is no else self.make("ite", 1, atom, yes, no)

    def ite(self, c: Term, a: Term, b: Term, budget: list[int] | None = None) -> Term:
        """a where c holds, else b: truth values."""
        if c is self.true or a is b:
            return a
        if c is self.false:
            return b
        if a is self.true and b is self.false:
            return c
        key = (c, a, b)
        found = self._choices.get(key)
        if found is not None:
            return found
        budget = budget or [MOST_BRANCHES]
        budget[0] -= 1
        if budget[0] <= 0:
            raise TooLarge
        atom = min((t.args[0] for t in key if t.op == "ite"), key=_age)
        branches = []
        for k in (1, 2):
            x, y, z = (t.args[k] if t.op == "ite" and t.args[0] is atom else t for t in key)
            branches.append(self.ite(x, y, z, budget))
        found = self._node(atom, *branches)
        self._choices[key] = found
        return found

    def invert(self, c: Term) -> Term:
        return self.ite(c, self.false, self.true)

    def both(self, a: Term, b: Term) -> Term:
        return self.ite(a, b, self.false)

    def either(self, a: Term, b: Term) -> Term:
        return self.ite(a, self.true, b)

    def differ(self, a: Term, b: Term) -> Term:
        return self.ite(a, self.invert(b), b)

    def implies(self, a: Term, b: Term) -> bool:
        return self.ite(a, b, self.true) is self.true

    def select(self, c: Term, a: Term, b: Term) -> Term:
        """a where c holds, else b: of any width."""
        if a.width == 1:
            return self.ite(c, a, b)
        if c.op == "const":
            return a if c.args[0] else b
        a, b = self.under(a, c), self.under(b, self.invert(c))
        if a is b:
            return a
        found = self._selections.get((c, a, b))
        if found is None:
            try:
                found = self._by_value(c, a, b)
            except TooLarge:
                found = self.make("select", a.width, c, a, b, ones=a.ones | b.ones)
            self._selections[c, a, b] = found
        return found

    def _by_value(self, c: Term, a: Term, b: Term) -> Term:
        """The normal form of a selection. TooLarge where that has too many values, or their conditions grow."""
        arms: dict[Term, Term] = {}
        budget = [MOST_CONDITIONS]
        self._part(c, a, arms, budget)
        self._part(self.invert(c), b, arms, budget)
        *first, found = sorted(arms, key=_order)
        for arm in reversed(first):
            found = self.make("select", a.width, arms[arm], arm, found, ones=arm.ones | found.ones)
        return found

    def _part(self, c: Term, t: Term, arms: dict[Term, Term], budget: list[int]) -> None:
        """Adds the values that t, which is under c, has where c holds: value -> where."""
        if t.op == "select":
            where, yes, no = t.args
            self._part(self.ite(c, where, self.false, budget), yes, arms, budget)
            self._part(self.ite(where, self.false, c, budget), no, arms, budget)
        else:
            arms[t] = self.ite(c, self.true, arms[t], budget) if t in arms else c
            if len(arms) > MOST_ARMS:
                raise TooLarge

    def under(self, t: Term, c: Term) -> Term:
        """A term that agrees with t in all lanes where c holds."""
        if t.op != "select" or c is self.true:
            return t
        found = self._narrowed.get((t, c))
        if found is None:
            where, yes, no = t.args
            other = self.invert(where)
            if self.implies(c, where):
                found = self.under(yes, c)
            elif self.implies(c, other):
                found = self.under(no, c)
            else:
                a, b = self.under(yes, self.both(c, where)), self.under(no, self.both(c, other))
                near = self.narrowed(where, c)
                found = t if a is yes and b is no and near is where else self.select(near, a, b)
            self._narrowed[t, c] = found
        return found

    def narrowed(self, f: Term, c: Term) -> Term:
        """A truth value that agrees with f in all lanes where c holds (`restrict` of Coudert and Madre 1990)."""
        if c.op == "const" or f.op == "const":
            return f
        found = self._narrowed.get((f, c))
        if found is None:
            atom = min(f.args[0], c.args[0], key=_age)
            yes, no = (c.args[1], c.args[2]) if c.args[0] is atom else (c, c)
            first, second = (f.args[1], f.args[2]) if f.args[0] is atom else (f, f)
            if no is self.false or yes is self.false:
                found = self.narrowed(second, no) if yes is self.false else self.narrowed(first, yes)
            elif first is second:
                found = self.narrowed(f, self.either(yes, no))
            else:
                found = self._node(atom, self.narrowed(first, yes), self.narrowed(second, no))
            self._narrowed[f, c] = found
        return found

    def number(self, c: Term, width: int) -> Term:
        """1 where c holds, else 0."""
        return self.select(c, self.const(1, width), self.const(0, width))

    def lanes(self, t: Term) -> Term:
        """A uniform word -> the truth value of each lane's bit."""
        if t.op == "mask":
            return t.args[0]
        if t.op == "const" and t.args[0] in (0, 0xFFFFFFFF):
            return self.true if t.args[0] else self.false
        return self.variable("lanes", t, uniform=False)

    def mask(self, c: Term) -> Term:
        """The reverse."""
        if c.op == "const":
            return self.const(-c.args[0], 32)
        atom = c.args[0]
        if atom.op == "lanes" and c.args[1] is self.true and c.args[2] is self.false:
            return atom.args[0]
        return self.make("mask", 32, c, uniform=True)

    def _as_masks(self, a: Term, b: Term, f: Callable[[Term, Term], Term]) -> Term | None:
        """Bitwise operations on uniform words, where neither is a number other than 0 and -1."""
        for t in (a, b):
            if not t.uniform or t.width != 32 or t.value not in (None, 0, 0xFFFFFFFF):
                return None
        return self.mask(f(self.lanes(a), self.lanes(b)))

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
            if const & (1 << min(_zeros(u.ones) + _zeros(c) for u, c in rows)) - 1:
                return self.false
            opposite = self.scale(t, -1)
            t = min(t, opposite, key=_age)
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
        return self.variable("equal", *_sorted(a, b))

    def less(self, a: Term, b: Term, *, signed: bool) -> Term:
        if a is b:
            return self.false
        if a.op == b.op == "const":
            x, y = a.args[0], b.args[0]
            if signed:
                half = 1 << (a.width - 1)
                x, y = x ^ half, y ^ half
            return self.true if x < y else self.false
        if not signed and b.op == "const" and b.args[0] <= 1:
            return self.zero(a) if b.args[0] else self.false
        if not signed and a.op == "const" and not a.args[0]:
            return self.invert(self.zero(b))
        return self.variable("slt" if signed else "ult", a, b)

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
        if a.op == "select" and "or" in (a.args[1].op, a.args[2].op):
            return self.select(a.args[0], self._keep(a.args[1], bits), self._keep(a.args[2], bits))
        return self.make("and", a.width, a, self.const(bits, a.width), ones=kept)

    def bit_or(self, a: Term, b: Term) -> Term:
        if a is b or not b.ones:
            return a
        if not a.ones:
            return b
        if a.op == b.op == "const":
            return self.const(a.args[0] | b.args[0], a.width)
        return self._as_masks(a, b, self.either) or self._bitwise("or", a, b, a.ones | b.ones)

    def bit_xor(self, a: Term, b: Term) -> Term:
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
        x, y = _sorted(a, b)
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
        if n is None or n >= a.width or (signed and top):
            return self.make("sar" if signed else "shr", a.width, a, by) if n != 0 else a
        if a.op == "const":
            return self.const(a.args[0] >> n, a.width)
        if n == 0 or not a.ones >> n:
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
            if low := const & (1 << min(_zeros(u.ones) + _zeros(c) for u, c in rows)) - 1:
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
            k = _zeros(c)
            if not alone and _below(u, c, n):
                together[u] = c
            elif k >= n:
                total = self.add(total, self.scale(u, c >> n))
            elif c == 1 << k or not _below(u, c, n):
                total = self.add(total, self.scale(self.shr(u, self.const(n - k, 32)), c >> k))
            else:
                together[u] = c
        if not together:
            return total
        low = min(_zeros(u.ones) + _zeros(c) for u, c in together.items())
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


def _age(t: Term) -> int:
    return t.id


def _order(t: Term) -> tuple[bool, int]:
    """Of the values of a selection: 0 is the last, so that 1 where c holds and else 0 is always told so."""
    return t.value == 0, t.id


def _sorted(a: Term, b: Term) -> tuple[Term, Term]:
    return (a, b) if a.id <= b.id else (b, a)


def _below(t: Term, c: int, n: int) -> int:
    """The most that the low n bits of c * t may be, which does not wrap."""
    whole, zeros = (1 << n) - 1, _zeros(t.ones) + _zeros(c)
    if t.ones * c <= whole or c == 1 << _zeros(c):
        return t.ones * c & whole
    return whole >> zeros << zeros


def _zeros(n: int) -> int:
    """Trailing zeros."""
    return (n & -n).bit_length() - 1 if n else 64


LONGEST = 300


def show(t: Term) -> str:
    """A term as text, cut where it is long."""
    budget = [40]
    text = _show(t, budget)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def _show(t: Any, budget: list[int]) -> str:
    if not isinstance(t, Term):
        return str(t)
    budget[0] -= 1
    if budget[0] < 0:
        return "..."
    if t.op == "const":
        return str(t.args[0]) if t.args[0] < 1 << 16 else hex(t.args[0])
    if t.op == "unknown":
        return str(t.args[0][0] if isinstance(t.args[0], tuple) else t.args[0])
    if t.op == "load":
        return f"{t.args[0]}[{_show(t.args[4], budget)}]"
    if t.op == "sum":
        parts = [f"{'' if c == 1 else f'{_near(c, t.width)}*'}{_show(u, budget)}" for u, c in t.args[1]]
        parts += [str(_near(t.args[0], t.width))] if t.args[0] else []
        return f"({' + '.join(parts)})"
    if t.op == "ite" and t.args[1].value == 1 and t.args[2].value == 0:
        return _show(t.args[0], budget)
    return f"{t.op}({', '.join(_show(a, budget) for a in t.args if isinstance(a, Term))})"


def _near(n: int, width: int) -> int:
    return n - (1 << width) if n >> (width - 1) else n


def parted(a: Term, b: Term) -> tuple[Term, Term]:
    """Of two terms that differ, the parts in which they do, as deep as they differ in one operand only."""
    while a.op == b.op and len(a.args) == len(b.args) and a.op not in ("const", "unknown", "sum", "ite"):
        differing = [(x, y) for x, y in zip(a.args, b.args, strict=True) if x is not y and x != y]
        if len(differing) != 1 or not isinstance(differing[0][0], Term) or not isinstance(differing[0][1], Term):
            break
        a, b = differing[0]
    return a, b
