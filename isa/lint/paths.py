"""Paths that a wave can take: what may be in flight over all paths -> what may be on paths that branches leave open.

`isa.analysis.waits` counts over all paths of the control flow. No wave takes some of them: a kernel that loads only
where s5 is not 0 need not wait for these loads where s5, still the same, is 0. So scalar code is followed as terms
(`isa.algebra`), with an unknown for what vector code, loads and calls leave, and for a register that holds different
values where paths meet. A branch's condition is then a decision diagram, and so is what holds on a path; where paths
meet, one or the other does. The unknowns of a block have new values each time that the block is entered, and what was
known of the old ones is dropped. A path whose conditions contradict each other ends.

Limits: waves of 64 lanes, whose branches on VCC look at two words; diagrams that grow too large. There all paths count.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from heapq import heappop, heappush
from operator import or_

from isa.algebra.machine import TermMachine
from isa.algebra.term import Term
from isa.algebra.terms import Terms
from isa.algebra.truth import TooLarge
from isa.algebra.values import Setting, SymbolicValue
from isa.analysis import dataflow, regset
from isa.analysis.cfg import Block, Cfg
from isa.analysis.waits import InFlight
from isa.registers import Reg
from isa.semantics.instruction import Instruction

SCC, OTHERS = -1, -2
_MOST_OF_MASK = 200
"""Nodes that a bitwise operation on masks may visit. Those of (a & b) | (c & d) | ... double with each pair."""
_MOST = 32
"""How often what holds at a block may change before it is taken to be nothing."""
_Name = tuple[int | None, int]
"""(the block whose unknown it is, None for what a kernel starts with; the position that makes it, -1 for the block's
head)."""


@dataclass(frozen=True)
class _State:
    """held: number of an SGPR, or SCC -> its value. others: names the unknowns that all other registers hold."""

    others: _Name = (None, -1)
    held: Mapping[int, Term] = field(default_factory=dict)


class _Scalars(TermMachine):
    """Runs scalar instructions on terms; what others write is unknown."""

    def __init__(self, terms: Terms, block: int, state: _State) -> None:
        super().__init__(Setting(terms))
        self.block, self.others, self.held = block, state.others, dict(state.held)
        self.taken: Term | None = None

    def term(self, unit: Reg) -> Term:
        if unit.is_vgpr:
            raise ValueError("what lanes hold is not followed")
        return _value(self.terms, self, _number(unit))

    def run(self, position: int, inst: Instruction, *, call: bool) -> None:
        desc, self.taken = inst.desc, None
        floats = any(role.type[0] == "f" for role in desc.roles)  # MODE may change between two of them
        scalar = (desc.is_salu or desc.is_branch) and not (desc.relative or floats or call)
        new = self.follow(inst) if scalar else None
        if new is None:
            self.taken = None
        name = (self.block, position)
        if desc.relative or call:
            self.others, self.held = name, {}
        for reg in inst.writes():
            if reg.file in ("s", "scc"):
                at = _number(reg)
                self.held[at] = new[reg] if new and reg in new else _unknown(self.terms, name, at)

    def branch(self, inst: Instruction, condition: SymbolicValue | None) -> None:
        self.taken = condition.term if condition is not None else None


def _number(reg: Reg) -> int:
    return SCC if reg.file == "scc" else reg.index


def _unknown(terms: Terms, name: _Name, at: int) -> Term:
    return terms.unknown((name, at), 1 if at == SCC else 32, uniform=True, owner=name[0])


def _value(terms: Terms, state: _State | _Scalars, at: int) -> Term:
    return state.held[at] if at in state.held else _unknown(terms, state.others, at)


Positions = Callable[[int, str], Container[int]]
"""(position, counter) of an event -> before which positions it may be in flight."""


def in_flight(flight: InFlight, followed: Callable[[], Paths] | None) -> Positions:
    """What `flight` says, on the paths that branches leave open. followed: gives these, asked once if at all;
    without it all paths count."""
    left_open = cache(followed) if followed else None

    @cache
    def positions(position: int, counter: str) -> Container[int]:
        return left_open().in_flight(flight, position, counter) if left_open else range(len(flight.cfg))

    return positions


class Paths:
    """The paths of a function that contradict nothing."""

    def __init__(self, cfg: Cfg) -> None:
        self.cfg, self.terms = cfg, Terms(masks=_MOST_OF_MASK)
        self._rank = {block: rank for rank, block in enumerate(cfg.order)}
        self._before = cache(self._holding)
        try:
            self._conditions = self._followed()
        except TooLarge:
            self._conditions = {}

    def in_flight(self, flight: InFlight, position: int, counter: str) -> set[int]:
        """Before which positions an event may be in flight on one of the paths."""
        event, machine, found = (position, counter), flight.machine, set[int]()

        def through(block: Block, later: int, start: int = 0) -> int | None:
            state = {event: later}
            for i in range(max(start, block.start), block.end):
                found.add(i)
                state = machine.step(i, state, issue=False)
                if not state:
                    return None
            return state[event]

        block = self.cfg.block_of(position)
        holds = self._before(block.index)
        later = through(block, 0, position + 1) if holds is not None else None
        if holds is not None and later is not None:
            try:
                self._walk({s: (c, later) for s, c in self._out(block, holds)}, through)
            except TooLarge:
                return set(range(len(self.cfg)))
        return found

    def comes_to(self, block: int, past: frozenset[int]) -> bool:
        """Whether one of them comes to a block before it has been through any of those `past`."""
        return self._before(block, past) is not None

    def _holding(self, block: int, past: frozenset[int] = frozenset()) -> Term | None:
        """What holds as a block is entered, followed through the blocks that lead there but for those `past`; None
        where no path does."""
        leading, work = set[int](), [block]
        while work:
            new = set(self.cfg.blocks[work.pop()].predecessors) - leading
            leading |= new
            work += new
        leading -= past
        try:
            before = self._walk({0: (self.terms.true, 0)}, lambda b, count: count if b.index in leading else None)
            return before[block][0] if block in before else None
        except TooLarge:
            return self.terms.true if block in self._rank else None

    def _walk(
        self, first: dict[int, tuple[Term, int]], through: Callable[[Block, int], int | None]
    ) -> dict[int, tuple[Term, int]]:
        """Block -> (what holds as it is entered, the least number) on all paths from those of `first`. through: the
        number after a block, None where the path ends in it."""
        entry, changes = dict(first), dict[int, int]()
        ranks = sorted(self._rank[block] for block in entry)
        while ranks:
            block = self.cfg.blocks[self.cfg.order[heappop(ranks)]]
            holds, number = entry[block.index]
            after = through(block, number)
            for s, condition in self._out(block, holds) if after is not None else ():
                assert after is not None
                new = condition, after
                if s in entry:
                    new = self.terms.either(entry[s][0], condition), min(entry[s][1], after)
                    if new == entry[s]:
                        continue
                    changes[s] = changes.get(s, 0) + 1
                    if changes[s] > _MOST:
                        new = self.terms.true, new[1]
                entry[s] = new
                if self._rank[s] not in ranks:
                    heappush(ranks, self._rank[s])
        return entry

    def _out(self, block: Block, holds: Term) -> Iterator[tuple[int, Term]]:
        """The successors that can come after a block, and what holds there. holds: as it is entered."""
        holds = self._without(holds, block.index, {})
        taken = self._conditions.get(block.index)
        for number, s in enumerate(block.successors):
            condition = holds
            if taken is not None and len(block.successors) == 2:  # the fall-through is first
                condition = self.terms.both(holds, taken if number else self.terms.invert(taken))
            if condition is not self.terms.false:
                yield s, condition

    def _without(self, holds: Term, block: int, done: dict[Term, Term]) -> Term:
        """What still holds where the unknowns of a block are new."""
        if block not in holds.owners:
            return holds
        if holds not in done:
            atom, *branches = holds.args
            yes, no = (self._without(branch, block, done) for branch in branches)
            t = self.terms
            done[holds] = (
                t.either(yes, no) if block in atom.owners else t.ite(t.make("ite", 1, atom, t.true, t.false), yes, no)
            )
        return done[holds]

    def _followed(self) -> dict[int, Term]:
        """Block -> the condition on which the branch at its end is taken."""
        cfg, terms, found = self.cfg, self.terms, dict[int, Term]()
        steps = _deciding(cfg)
        calls = frozenset(cfg.calls)
        after: dict[int, _State] = {}
        before: dict[int, _State] = {}
        heads: dict[int, set[int]] = {block: set() for block in cfg.order}
        waiting = set(cfg.order)
        while waiting:
            for index in (block for block in cfg.order if block in waiting):
                waiting.remove(index)
                block = cfg.blocks[index]
                arrive = [after[p] for p in block.predecessors if p in after] + [_State()] * (index == 0)
                state = self._met(index, arrive, heads[index])
                if state == before.get(index):
                    continue
                before[index] = state
                machine = _Scalars(terms, index, state)
                for i in steps[index]:
                    machine.run(i, cfg.instructions[i], call=i in calls)
                state = _State(machine.others, machine.held)
                if state != after.get(index):
                    waiting.update(block.successors)
                after[index] = state
                found.pop(index, None)
                if machine.taken is not None:
                    found[index] = machine.taken
        return found

    def _met(self, block: int, arrive: list[_State], own: set[int]) -> _State:
        """What registers hold as a block is entered. own: those that hold unknowns of its own, which become more."""
        head = (block, -1)
        others = {state.others for state in arrive}
        name = next(iter(others))
        if len(others) > 1 or OTHERS in own:
            own.add(OTHERS)
            name = head
        held: dict[int, Term] = {}
        for at in {at for state in arrive for at in state.held} | own - {OTHERS}:
            values = {_value(self.terms, state, at) for state in arrive}
            if at in own or len(values) > 1:
                own.add(at)
                held[at] = _unknown(self.terms, head, at)
            else:
                held[at] = values.pop()
        return _State(name, held)


def _deciding(cfg: Cfg) -> dict[int, list[int]]:
    """Block -> its branches, what their conditions may be computed from, and what may write any register."""
    found: dict[int, list[int]] = {}

    def through(block: Block, live: int) -> int:
        rows = []
        for i in reversed(block.range):
            desc, written = cfg.instructions[i].desc, cfg.defs[i]
            if desc.is_branch or desc.relative or written & live:
                rows.append(i)
                live = live & ~(0 if desc.relative else written) | cfg.uses[i] & regset.SCALARS
        found[block.index] = rows[::-1]
        return live

    dataflow.backward(cfg, 0, through, or_)
    return found
