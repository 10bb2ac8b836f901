"""Truth values: conditions -> decision diagrams, ordered by the age of their variables (Bryant 1986); selections by
them, by value; masks, which are truth values a lane (`isa.algebra.terms` has the theory)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from isa.algebra.sums import Sums
from isa.algebra.term import Term, age

MOST_ARMS = 16
"""Values of a selection that has a normal form."""
MOST_BRANCHES = 20_000
"""Nodes of a decision diagram that one operation may visit."""
MOST_CHOICES = 600_000
"""Nodes of all diagrams of a proof: some seconds. Of 30 compiled kernels the one with most has 40,000."""
MOST_CONDITIONS = 200
"""Nodes that may be visited for the conditions of one selection's normal form. Those of an array in registers that is
written and read at unknown places grow without bound where they are put together by value."""


class TooLarge(Exception):
    """A decision diagram has grown beyond what is followed."""


class Truth(Sums):
    """Sums, truth values and selections. masks: nodes that one bitwise operation on masks may visit."""

    def __init__(self, *, floats: str = "exact", masks: int = MOST_BRANCHES) -> None:
        super().__init__(floats=floats)
        self._most_of_mask = masks
        self._choices: dict[tuple[Term, Term, Term], Term] = {}
        self._selections: dict[tuple[Term, Term, Term], Term] = {}
        self._narrowed: dict[tuple[Term, Term], Term] = {}

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
        if budget[0] <= 0 or len(self._choices) > MOST_CHOICES:
            raise TooLarge
        atom = min([t.args[0] for t in key if t.op == "ite"], key=age)
        (c, d), (a, e), (b, f) = [t.args[1:] if t.op == "ite" and t.args[0] is atom else (t, t) for t in key]
        found = self._node(atom, self.ite(c, a, b, budget), self.ite(d, e, f, budget))
        self._choices[key] = found
        return found

    def invert(self, c: Term) -> Term:
        return self.ite(c, self.false, self.true)

    def both(self, a: Term, b: Term, budget: list[int] | None = None) -> Term:
        return self.ite(a, b, self.false, budget)

    def either(self, a: Term, b: Term, budget: list[int] | None = None) -> Term:
        return self.ite(a, self.true, b, budget)

    def differ(self, a: Term, b: Term, budget: list[int] | None = None) -> Term:
        return self.ite(a, self.invert(b), b, budget)

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

    def _one_of(self, const: int, rows: Sequence[tuple[Term, int]], width: int) -> Term | None:
        """Two selections of which one is 0 where the other is not as one."""
        chosen = [(t, c) for t, c in rows if t.op == "select" and t.args[2].value == 0]
        for k, (t, c) in enumerate(chosen):
            for u, d in chosen[:k]:
                if c == d and self.invert(t.args[0]) is u.args[0]:
                    rest = self.sum(const, {v: e for v, e in rows if v is not t and v is not u}, width)
                    return self.add(rest, self.select(t.args[0], t.args[1], u.args[1]), c)
        return None

    def assumed(self, t: Term, c: Term, memo: dict[Term, Term]) -> Term:
        """A term that agrees with t if c, which is uniform, holds: selections among the parts of sums and products are
        decided."""
        found = memo.get(t)
        if found is None:
            found = t
            if t.op == "select":
                found = self.under(t, c)
            elif t.op == "sum":
                found = self.const(t.args[0], t.width)
                for u, k in t.args[1]:
                    found = self.add(found, self.assumed(u, c, memo), k)
            elif t.op == "product":
                found = reduce(self.mul, (self.assumed(u, c, memo) for u in t.args))
            elif t.op in ("zext", "sext"):
                found = (self.zext if t.op == "zext" else self.sext)(self.assumed(t.args[0], c, memo))
            memo[t] = found
        return found

    def narrowed(self, f: Term, c: Term) -> Term:
        """A truth value that agrees with f in all lanes where c holds (`restrict` of Coudert and Madre 1990)."""
        if c.op == "const" or f.op == "const":
            return f
        found = self._narrowed.get((f, c))
        if found is None:
            atom = min(f.args[0], c.args[0], key=age)
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
        if t.op == "select" and all(u.value in (0, 0xFFFFFFFF) for u in t.args[1:]):
            return self.ite(t.args[0], self.lanes(t.args[1]), self.lanes(t.args[2]))
        return self.variable("lanes", t, uniform=False)

    def mask(self, c: Term) -> Term:
        """The reverse."""
        if c.op == "const":
            return self.const(-c.args[0], 32)
        if c.uniform:
            return self.select(c, self.const(-1, 32), self.const(0, 32))
        atom = c.args[0]
        if atom.op == "lanes" and c.args[1] is self.true and c.args[2] is self.false:
            return atom.args[0]
        return self.make("mask", 32, c, uniform=True)

    def _as_masks(self, a: Term, b: Term, f: Callable[[Term, Term, list[int]], Term]) -> Term | None:
        """Bitwise operations on uniform words, where neither is a number other than 0 and -1."""
        for t in (a, b):
            if not t.uniform or t.width != 32 or t.value not in (None, 0, 0xFFFFFFFF):
                return None
        return self.mask(f(self.lanes(a), self.lanes(b), [self._most_of_mask]))


def _order(t: Term) -> tuple[bool, int]:
    """Of the values of a selection: 0 is the last, so that 1 where c holds and else 0 is always written so."""
    return t.value == 0, t.id
