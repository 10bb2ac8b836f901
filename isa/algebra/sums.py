"""Sums: a constant and coefficients of terms -> one term modulo 2**width; the table in which each term is made once,
and what joins and parts words (`isa.algebra.terms` has the theory)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from math import prod
from typing import Any

from isa.algebra.ranges import MASK32, Monomial, Ranges
from isa.algebra.term import Term, age, in_order, near, trailing_zeros

_NOBODY: frozenset[Any] = frozenset()
MOST_PRODUCTS = 200
"""Of parts of sums, that one multiplication makes."""


class Sums:
    """The table. floats: as in `How`."""

    def __init__(self, *, floats: str = "exact") -> None:
        self.commute, self.reorder = floats != "exact", floats == "reordered"
        self.ranges = Ranges()
        self._table: dict[Hashable, Term] = {}
        self._extended: dict[tuple[Term, bool], Term] = {}
        self._rests: dict[Term, Term] = {}
        self.false, self.true = self.const(0, 1), self.const(1, 1)

    def ranges_changed(self) -> None:
        """To be called when `ranges` knows more or less than it did."""
        self._extended.clear()

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

    def variable(self, op: str, *args: Hashable, uniform: bool | None = None) -> Term:
        """A truth value of which nothing else is known."""
        atom = self.make(op, 1, *args, uniform=uniform)
        return self._node(atom, self.true, self.false)

    def _node(self, atom: Term, yes: Term, no: Term) -> Term:
        return yes if yes is no else self.make("ite", 1, atom, yes, no)

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
        if found is None and (found := self._one_of(const, rows, width)) is None:
            most = const + sum(t.ones * c for t, c in rows)
            low = min((trailing_zeros(t.ones) + trailing_zeros(c) for t, c in rows), default=width)
            low = min(low, trailing_zeros(const)) if const else low
            ones = ((1 << most.bit_length()) - 1 if most <= full else full) >> low << low
            found = self._new(key, "sum", width, (const, rows), (t for t, _ in rows), None, None, ones)
        return found

    def _one_of(self, const: int, rows: Sequence[tuple[Term, int]], width: int) -> Term | None:
        """The same as a simpler sum; None where there is none."""
        return None

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
        if a.width < 32:
            return self.make("mul", a.width, *in_order(a, b))
        if b.op == "const":
            return self.scale(a, b.args[0])
        (const, left), (other, right) = self.parts(a), self.parts(b)
        if (len(left) + 1) * (len(right) + 1) > MOST_PRODUCTS:
            return self.make("mul", a.width, *in_order(a, b))
        found = {t: c * other for t, c in left.items()}
        for u, d in right.items():
            found[u] = found.get(u, 0) + const * d
            for t, c in left.items():
                both = self.product((t, u), a.width)
                found[both] = found.get(both, 0) + c * d
        return self.sum(const * other, found, a.width)

    def product(self, factors: Iterable[Term], width: int) -> Term:
        """The product of parts of sums; what is 0 or 1 is its own square."""
        flat: list[Term] = []
        for t in factors:
            flat += [u for u in (t.args if t.op == "product" else (t,)) if u.ones > 1 or u not in flat]
        if len(flat) == 1:
            return flat[0]
        most = prod(t.ones for t in flat)
        low = sum(trailing_zeros(t.ones) for t in flat)
        ones = (1 << (most.bit_length() if most < 1 << width else width)) - 1
        return self.make("product", width, *sorted(flat, key=age), ones=ones >> low << low)

    # --- 32 and 64 bits
    def zext(self, t: Term) -> Term:
        """32 bits -> 64."""
        if t.op == "const":
            return self.const(t.args[0], 64)
        found = self._extended.get((t, False))
        if found is None:
            fits = t.op == "sum" and t.args[0] + sum(u.ones * c for u, c in t.args[1]) <= MASK32
            fits = fits or (t.op == "product" and prod(u.ones for u in t.args) <= MASK32)
            if fits:
                found = self._wide(t, signed=False)
            elif t.op in ("sum", "product", "word") and self.ranges.within(t, 0, MASK32):
                found = self._wide(t)
            else:
                found = self.make("zext", 64, t, ones=t.ones)
            self._extended[t, False] = found
        return found

    def sext(self, t: Term) -> Term:
        """32 bits -> 64, with the sign."""
        if t.op == "const":
            return self.const(near(t.args[0], 32), 64)
        if not t.ones >> 31:
            return self.zext(t)
        found = self._extended.get((t, True))
        if found is None:
            fits = self.ranges.within(t, -1 << 31, (1 << 31) - 1)
            found = self._extended[t, True] = self._wide(t) if fits else self.make("sext", 64, t)
        return found

    def _wide(self, t: Term, *, signed: bool = True) -> Term:
        """32 bits as 64, of what does not wrap. signed: coefficients are the nearest to 0."""
        if t.op == "sum":
            const, rows = t.args
            if not signed:
                return self.sum(const, {self._wide(u): c for u, c in rows}, 64)
            return self.sum(near(const, 32), {self._wide(u): near(c, 32) for u, c in rows}, 64)
        if t.op == "product":
            return self.product(map(self._wide, t.args), 64)
        if t.op == "word" and self.ranges.top(t.args[0]) <= MASK32:
            return t.args[0]
        return self.make("zext", 64, t, ones=t.ones)

    def trunc(self, t: Term) -> Term:
        """64 bits -> 32."""
        const, factors = self.parts(t)
        found: dict[Term, int] = {}
        total = const
        for u, c in factors.items():
            if c & 0xFFFFFFFF:
                more, others = self.parts(self._cut(u))
                total += more * c
                for w, k in others.items():
                    found[w] = found.get(w, 0) + k * c
        return self.sum(total, found, 32)

    def written(self, const: int, monomials: Mapping[Monomial, int], width: int) -> Term:
        """A polynomial of `Ranges` as a term again."""
        found: dict[Term, int] = {}
        for m, c in monomials.items():
            t = self.product(
                (self._wide(u) if u.width < width else u if u.width == width else self._cut(u) for u in m), width
            )
            found[t] = found.get(t, 0) + c
        return self.sum(const, found, width)

    def _cut(self, t: Term) -> Term:
        """The low half of a part of a sum."""
        if t.op in ("zext", "sext"):
            return t.args[0]
        if t.op == "product":
            found = self.const(1, 32)
            for u in t.args:
                found = self.mul(found, self._cut(u))
            return found
        return self.make("word", 32, t, ones=t.ones)

    def hi(self, t: Term) -> Term:
        """The high half of 64 bits."""
        if self.ranges.within(t, 0, MASK32):
            return self.const(0, 32)
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
        rest = self.sum(const, low, 64)
        if low and not self.ranges.within(rest, 0, MASK32):
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
            else:  # modulo 2**64 it makes no difference whether it wraps
                part = self.scale(self._wide(u), 1 << 32)
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
