"""Loop counters: the registers that go on by the same step each time -> forms of the round's number, and how often a
loop goes round: more ways to meet.

At the head of a loop `t` counts how often control has come back since it was entered. A register that is e as the
loop is entered, and comes back with a step s more than it was, is e + t*s, if s is the same each time; two registers,
low and high, are the halves of E + t*S likewise. So counters, offsets and pointers are the same terms in both programs
however they begin and whatever they are made of. A step is a guess, made when a register first comes back with another
value than it had; each further iteration asks again, of what came back, and a register whose guess fails is met as any
other.

A bound of t (t <= K/8 - 1) comes from the condition on which control goes back. It is supposed as soon as a branch of
the original tells it, and proved when the loop's state has settled: it holds for t = 0, and what every path back has
tested implies it for t + 1, from itself for t. A bound that cannot be proved is not supposed a third time.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import gcd

from isa.algebra.ranges import Polynomial
from isa.algebra.term import Term
from isa.algebra.terms import Terms
from isa.prove.refine.flow import Node


class Forms:
    """The head of a loop, while that is solved. inside: its pairs; by_pairs: of two neighbours that both go on, the
    second is taken for a high half; doubtful: whether there were any. held: term of a register -> what it is 0 times
    round, and its step."""

    def __init__(self, terms: Terms, head: Node, inside: Collection[Node], by_pairs: bool) -> None:
        self.by_pairs, self.doubtful = by_pairs, False
        self.terms, self.head, self.inside = terms, head, frozenset(inside)
        self.counter = terms.unknown(("t", head), 64, uniform=True, owner=head)
        self._held: dict[Term, tuple[Term, Term]] = {}

    def meet(self, before: Term | None, values: Sequence[Term]) -> Term | None:
        """What a register is each time that control comes here: None where that is no such form. before: what it was
        taken for; values: what came, as the loop was entered and from each path back."""
        terms, (entry, *backs) = self.terms, values
        if before is None or self.head in entry.owners or not backs:
            return None
        if before is entry:
            step = terms.sub(backs[0], entry)
            carries = any(t.op == "select" for t in terms.parts(step)[1])
            if not carries and not self.varies(step) and all(b is backs[0] for b in backs):
                found = self._form(entry, step)
                self._held[found] = (entry, step)
                return found
        elif (known := self._held.get(before)) is not None and known[0] is entry:
            return before if all(b is terms.add(before, known[1]) for b in backs) else None
        return None

    def meet_high(self, before: Term | None, values: Sequence[Term], lows: Sequence[Sequence[Term]]) -> Term | None:
        """The same of the high half of a pointer. lows: what came for each register that may be its low half, of which
        that is taken with which the step is the shortest."""
        found: tuple[int, Term, Term] | None = None
        for low in lows:
            first, *backs = (self.terms.joined(*halves) for halves in zip(low, values, strict=True))
            if before is None or self.head in first.owners or not backs:
                continue
            if before is not values[0]:
                if (known := self._held.get(before)) is not None and known[0] is first:
                    after = self.terms.add(self._form(*known), known[1])
                    return before if all(b is after for b in backs) else None
                continue
            step = self.terms.sub(backs[0], first)
            if self.varies(step):  # the low half has its form already, and the high one has not
                short = next((s for e, s in self._held.values() if e is low[0]), None)
                if short is None:
                    continue
                step = self.terms.sext(short)
            parts = len(self.terms.parts(step)[1])
            if found is None or parts < found[0]:
                found = parts, first, step
        if found is None:
            return None
        form = self.terms.hi(self._form(*found[1:]))
        self._held[form] = found[1:]
        return form

    def _form(self, entry: Term, step: Term) -> Term:
        count = self.counter if entry.width == 64 else self.terms.trunc(self.counter)
        return self.terms.add(entry, self.terms.mul(count, step))

    def varies(self, t: Term) -> bool:
        """Whether a term may be another one in the next iteration."""
        return not self.inside.isdisjoint(t.owners)

    # --- the bound of t
    def bound(self, condition: Term, *, guess: bool = False) -> Polynomial | None:
        """t is at most this, if the condition held an iteration before. guess: as if 32 bits were enough for t."""
        if condition.op != "ite" or not condition.args[1].op == condition.args[2].op == "const":
            return None
        atom, holds = condition.args[0], bool(condition.args[1].value)
        ranges, counter = self.terms.ranges, (self.counter,)
        if atom.op in ("ult", "slt"):
            const, rows = ranges.minus(*(atom.args if holds else atom.args[::-1]))
            const -= 0 if holds else 1
        elif atom.op == "zero" and not holds:
            const, rows = ranges.polynomial(atom.args[0])
            if any(c < 0 and self.counter.owners <= u.owners and len(m) == 1 for m, c in rows.items() for u in m):
                const, rows = -const, {m: -c for m, c in rows.items()}
        else:
            return None
        if guess:
            short = self.terms.ranges.factors(self.terms.trunc(self.counter))
            rows = {counter if m == short else m: c for m, c in rows.items()}
        g = rows.get(counter, 0)
        rest = {m: c for m, c in rows.items() if m != counter}
        if g <= 0 or gcd(g, *rest.values()) != g or any(self.varies(u) for m in rest for u in m):
            return None
        if atom.op == "zero" and const % g:
            return None
        return (-const - 1) // g + 1, {m: -c // g for m, c in rest.items()}

    def suppose(self, condition: Term | None) -> bool:
        """Supposes the bound that a branch tells, if none is supposed. Whether it does."""
        ranges = self.terms.ranges
        if condition is None or self.counter in ranges.upper:
            return False
        for c in (condition, self.terms.invert(condition)):
            found = self.bound(c, guess=True)
            if found is not None and (least := ranges.smallest(*found)) is not None and least >= 0:
                ranges.learn(self.counter, found)
                self.terms.ranges_changed()
                return True
        return False

    def confirmed(self, paths: Sequence[Collection[Term]]) -> bool:
        """Whether the bound follows for the next iteration. paths: what each path back has tested."""
        supposed = self.terms.ranges.upper.get(self.counter)
        return supposed is None or all(any(self._implies(c, supposed) for c in path) for path in paths)

    def _implies(self, condition: Term, supposed: Polynomial) -> bool:
        """The comparison is one of integers: nothing wraps, and != means < because > cannot be."""
        if self.bound(condition) != supposed:
            return False
        atom, ranges = condition.args[0], self.terms.ranges
        if atom.op != "zero":
            return all(map(ranges.plain, atom.args))
        rising = ranges.polynomial(atom.args[0])[1].get((self.counter,), 0) > 0
        half = (1 << atom.args[0].width - 1) - 1
        return ranges.within(atom.args[0], *((-half, 0) if rising else (0, half)))
