"""The table in which each term is made once, and sums: of 32 and 64 bits, modulo 2**width, a constant and coefficients
of other terms; what joins and parts words (`isa.prove.validation.terms` has the theory)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from isa.prove.validation.term import Term, in_order, trailing_zeros

_NOBODY: frozenset[Any] = frozenset()


class Sums:
    """The table. commute: operands of float sums and products may change places."""

    def __init__(self, *, commute: bool = False) -> None:
        self.commute = commute
        self._table: dict[Hashable, Term] = {}
        self._rests: dict[Term, Term] = {}
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
        if found is None:
            most = const + sum(t.ones * c for t, c in rows)
            low = min((trailing_zeros(t.ones) + trailing_zeros(c) for t, c in rows), default=width)
            low = min(low, trailing_zeros(const)) if const else low
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
        return self.make("mul", a.width, *in_order(a, b))

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
