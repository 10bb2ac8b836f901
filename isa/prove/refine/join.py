"""Joins: the states that come along the edges to a pair of blocks -> one state that holds for all of them.

Registers that come with the same terms on all paths share an unknown of the pair; what comes with one term on all paths
keeps it. `relation` says how that is refined until it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from isa.algebra.term import Term
from isa.algebra.terms import Terms
from isa.analysis import regset
from isa.prove.refine.engine import EXEC_AT, REGISTERS, SCC_AT, SGPR0
from isa.prove.refine.flow import Node
from isa.prove.refine.loops import Forms
from isa.semantics.float_mode import FloatMode

MEMORY = 2 * REGISTERS
State = list["Term | None"]


@dataclass(frozen=True)
class Arrival:
    """What comes to a pair along one edge. empty: a truth value that holds in no lane there; facts: one that holds
    there, by tests that one program has passed alone; path: the last conditions that hold of those that loops depend
    on."""

    state: State
    modes: tuple[FloatMode, FloatMode]
    empty: Term | None = None
    facts: Term | None = None
    path: tuple[Term, ...] = ()


class Join:
    """What holds at a pair, whichever of some paths control took.

    within: of either program, lanes that EXEC stays in: what registers hold there and elsewhere is found apart, since
    what lies in lanes that are off often differs and seldom matters. Where EXEC changes from path to path, but only
    within the lanes of the first, a mask may be what has left it (a loop that lanes leave one by one): within and not
    EXEC. head: of a cycle, in which EXEC stays within the lanes of the first path or within none that are known; where
    paths that no cycle closes meet, it stays within those of all. halves: of either program the registers of which only
    the low half is live, and those of which only the high one is. old: the state that is refined. by_leaving: what
    registers hold in lanes that have left EXEC, but not what it stays within, is found apart, too: in such lanes a loop
    leaves what nothing reads. forms: registers that go on by the same step, as `loops` says.
    """

    def __init__(
        self, terms: Terms, exists: Term, halves: Sequence[tuple[int, int]], node: Node, arrivals: Sequence[Arrival],
        old: State | None, head: bool, option: str = "", forms: Forms | None = None,
    ) -> None:  # fmt: skip
        self.terms, self.exists, self.node, self.old = terms, exists, node, old
        self.head, self.by_leaving = head, option == "by leaving"
        self.meeting, self.stepping = "", list[int]()
        self.paths = [a.path for a in arrivals]
        self.rows, self.first = [self._under_path(a) if forms else a.state for a in arrivals], arrivals[0]
        self.empty, self.facts = [a.empty for a in arrivals], [a.facts for a in arrivals]
        self.nowhere = [self.terms.invert(e) if e is not None else None for e in self.empty]
        self.classes: dict[tuple[Term | None, ...], Term] = {}
        self.only: dict[int, int] = {}
        for k, one in enumerate(halves):
            for bits, registers in zip((0xFFFF, 0xFFFF0000), one, strict=True):
                self.only.update((k * REGISTERS + regset.bit(r), bits) for r in regset.members(registers))
        self.masks = [self._exec(k * REGISTERS + EXEC_AT) for k in (0, 1)]
        self.forms = forms

    def _under_path(self, arrival: Arrival) -> State:
        """What comes, with selections decided by what its path has tested."""
        if not arrival.path:
            return arrival.state
        known = reduce(self.terms.both, arrival.path)
        memo: dict[Term, Term] = {}
        return [t and self.terms.assumed(t, known, memo) for t in arrival.state]

    def result(self, numbers: list[int]) -> Arrival:
        found: State = [None] * (MEMORY + 1)
        for meeting in ("low", "high") if self.forms is not None else ():
            self.meeting = meeting
            for at in numbers:
                self._value(at)
        self.meeting = ""
        for at in numbers:
            found[at] = self._value(at)
        empty = self.empty[0] if all(e is self.empty[0] for e in self.empty) else None
        if empty is not None and self.node in empty.owners:
            empty = None
        facts = self.facts[0] if all(f is self.facts[0] for f in self.facts) else None
        if facts is not None and self.node in facts.owners:
            facts = None
        path = tuple(c for c in self.paths[0] if self.node not in c.owners and all(c in p for p in self.paths))
        return Arrival(found, self.first.modes, empty, facts, path)

    def _values(self, at: int) -> tuple[Term, ...]:
        return tuple(row[at] or self._never(at) for row in self.rows)

    def _exec(self, at: int) -> tuple[Term, Term | None, tuple[Term, ...]]:
        """EXEC of a program; what it stays within, None where that is all lanes; its lanes on each path."""
        terms, values = self.terms, self._values(at)
        lanes = tuple(terms.lanes(v) for v in values)
        before = self.old[at] if self.old is not None else None
        mask, within = self._meet(at, "", values, before), lanes[0]
        if not self.head:
            within = reduce(terms.either, lanes)
        if self.node in within.owners or not all(terms.implies(x, within) for x in lanes):
            return mask, None, lanes
        if mask is not values[0]:
            mask = terms.mask(terms.both(terms.lanes(mask), within))
        if terms.implies(self.exists, within):
            return mask, (self.exists if self.by_leaving and mask is not values[0] else None), lanes
        return mask, within, lanes

    def _value(self, at: int) -> Term:
        terms, values = self.terms, self._values(at)
        register = at % REGISTERS if at != MEMORY else at
        mask, within, lanes = self.masks[at >= REGISTERS]
        if register == EXEC_AT:
            return mask
        if any(self.nowhere):
            values = self._where_lanes_are(values)
        if register >= SGPR0:
            gone = self._gone(at, values, mask, lanes) if register < SCC_AT else None
            return gone or self._meet(at, "", values, self.old[at] if self.old is not None else None)
        before = self.old[at] if self.old is not None else None
        if within is None or all(v is values[0] for v in values):
            return self._vector(at, "", values, before)
        other = terms.both(self.exists, terms.invert(within))
        paths = len(values)
        outer = self._within(at, "off", values, [other] * paths, before, other)
        if not self.by_leaving or (now := terms.lanes(mask)) is within:
            inner = self._within(at, "on", values, [within] * paths, before, within)
            return terms.select(within, inner, outer)
        departed = [terms.both(within, terms.invert(x)) for x in lanes]
        inner = self._within(at, "on", values, lanes, before, now)
        left = self._within(at, "left", values, departed, before, terms.both(within, terms.invert(now)))
        return terms.select(now, inner, terms.select(within, left, outer))

    def _within(
        self, at: int, part: str, values: Sequence[Term], lanes: Sequence[Term], before: Term | None, here: Term
    ) -> Term:
        """A VGPR in some lanes: those of each path, which are `here` afterwards. Where there are none, any value will
        do."""
        terms = self.terms
        nobodys = terms.unknown("in no lane", 32, uniform=True)
        held = tuple(terms.under(v, c) if c is not terms.false else nobodys for v, c in zip(values, lanes, strict=True))
        return self._vector(at, part, held, terms.under(before, here) if before is not None else None, lanes)

    def _vector(
        self, at: int, part: str, values: tuple[Term, ...], before: Term | None, lanes: Sequence[Term] = ()
    ) -> Term:
        """A VGPR, or its half that is live."""
        bits = self.only.get(at)
        if bits is None or all(v is values[0] for v in values):
            return self._meet(at, part, values, before, lanes=lanes)
        terms, live = self.terms, self.terms.const(bits, 32)
        before = terms.bit_and(before, live) if before is not None else None
        found = self._meet(at, part, tuple(terms.bit_and(v, live) for v in values), before, bits)
        return terms.bit_or(found, terms.unknown((f"unused {~bits:#x}", _name(at)), 32, uniform=False, ones=~bits))

    def _gone(self, at: int, values: tuple[Term, ...], mask: Term, lanes: tuple[Term, ...]) -> Term | None:
        """A mask that is what has left EXEC of what it was on the first path."""
        terms, within = self.terms, lanes[0]
        if mask is self.first.state[EXEC_AT] or self.node in within.owners or self._owned(at):
            return None
        for value, on in zip(values, lanes, strict=True):
            if value.op not in ("mask", "const") or terms.lanes(value) is not terms.ite(on, terms.false, within):
                return None
        return terms.mask(terms.ite(terms.lanes(mask), terms.false, within))

    def _owned(self, at: int) -> bool:
        before = self.old[at] if self.old is not None else None
        return before is not None and self.terms.owner(before) == self.node

    def _meet(
        self, at: int, part: str, values: tuple[Term, ...], before: Term | None, bits: int = -1,
        lanes: Sequence[Term] = (),
    ) -> Term:  # fmt: skip
        """The term that all paths have, or an unknown that is shared with what comes with the same terms on all paths;
        or what `Forms` finds. before: the one that is refined; bits: that may be 1; lanes: in which values are met, if
        not in all."""
        own = before is not None and self.terms.owner(before) == self.node
        term = values[0]
        if not own and all(v is term for v in values) and self.node not in term.owners:
            return term
        key = (before if own else None, *values)
        found = self.classes.get(key)
        if self.meeting:
            if found is None and not own and bits == -1 and at != MEMORY and at % REGISTERS < SCC_AT:
                self._form(at, key, values, before, lanes)
            return term
        if found is None:
            low = min((v.ones & -v.ones).bit_length() - 1 if v.ones else 64 for v in values)
            name = (f"{_name(at)} {part}".strip(), self.node)
            found = self.classes[key] = self.terms.unknown(
                name,
                term.width,
                uniform=all(v.uniform for v in values),
                owner=self.node,
                ones=(-1 << min(low, 4)) & bits,
            )
        return found

    def _form(
        self, at: int, key: tuple[Term | None, ...], values: Sequence[Term], before: Term | None, lanes: Sequence[Term]
    ) -> None:
        """Meets a register as `Forms` says, if it can be. The low half of a pointer is one that has a form itself."""
        assert self.forms is not None
        form = None
        if self.meeting == "low":
            if before is values[0] and at - 1 in self.stepping:
                self.forms.doubtful = True
            if before is not values[0] or not self.forms.by_pairs or at - 1 not in self.stepping:
                form = self.forms.meet(before, values)
            self.stepping += [at] if form is not None else []
        else:
            near = [low for low in self.stepping if low // REGISTERS == at // REGISTERS]
            near = [low for low in near if (low % REGISTERS < SGPR0) == (at % REGISTERS < SGPR0)]
            near.sort(key=lambda low: low != at - 1)
            rows = [self._values(low) for low in near]
            lows = [tuple(map(self.terms.under, row, lanes)) if lanes else row for row in rows]
            form = self.forms.meet_high(before, values, lows)
        if form is not None:
            self.classes[key] = form

    def _where_lanes_are(self, values: tuple[Term, ...]) -> tuple[Term, ...]:
        """A branch that skips code for no lanes comes with what the code would have left: select(c, new, old) is old
        where c holds in no lane."""
        model = next((v for v, c in zip(values, self.nowhere, strict=True) if c is None and v.op == "select"), None)
        if model is None:
            return values
        terms, zero = self.terms, self.terms.const(0, model.width)

        def seen(value: Term, lanes: Term) -> Term:
            return terms.select(terms.both(lanes, self.exists), value, zero)

        return tuple(
            model if c is not None and v is not model and seen(model, c) is seen(v, c) else v
            for v, c in zip(values, self.nowhere, strict=True)
        )

    def _never(self, at: int) -> Term:
        """A register that is live, of which nothing came."""
        width = 1 if at % REGISTERS == SCC_AT and at != MEMORY else 32
        return self.terms.unknown(("never", _name(at)), width, uniform=REGISTERS > at % REGISTERS >= SGPR0)


def _name(at: int) -> str:
    if at == MEMORY:
        return "memory"
    reg = regset.members(1 << at % REGISTERS)[0]
    return f"{reg} of {('the original', 'the rewritten')[at // REGISTERS]}"
