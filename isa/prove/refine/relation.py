"""Relation: two programs -> what registers of both hold at the beginning of each pair of blocks, found by running the
pairs on terms.

A state gives each live register of either program, SCC and memory a term; memory is one term for both. Where paths meet
registers that come with the same terms on each of them share a new unknown, which the pair owns; what comes with one
term on all paths keeps it. At the head of a cycle that is optimistic: the state is first what comes from outside, the
cycle is run, and what comes back splits what it does not find equal, until nothing changes (partition refinement, as
Alpern, Wegman and Zadeck 1988 number values; the order is Bourdoncle's). Inner cycles are found again in each iteration
of the outer one, and begin with the splits that they ended with.

With "by halves", which is tried where nothing else was found, of a register of which the code that follows computes
with one half only that half is met by itself: the other one is an unknown of each program's own, whatever came. With
"by leaving", which is tried likewise, what a loop leaves in lanes that have left it is met by itself. Registers that go
on by the same step are met as `loops` says.

Where the two programs do not go on alike from a pair, another `Step` may do (`Again`): one that goes on alone over a
branch whose condition is known in the state that is there, or one that chooses alone while it touches no memory; what
it found holds for what follows, while the other stays and until both have gone on. A step is no more than a guess at
which blocks belong together: each run of a pair checks again whether the conditions are what the step takes them for,
and that what both have stored by its end is the same.

A term that is kept may be of an unknown that another pair owns: it stands for what that unknown was when control last
came to its owner. So a pair never keeps a term of its own unknowns: what comes back with one is of another iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NoReturn

from isa.algebra.term import Term, parted, show
from isa.algebra.terms import Terms
from isa.analysis import regset
from isa.analysis.cfg import Cfg
from isa.analysis.joined import Joined
from isa.analysis.memory_order import Access
from isa.asm.program import Kernel
from isa.errors import IsaError, Span
from isa.prove.proof import Facts
from isa.prove.refine.engine import EXEC_AT, REGISTERS, SegmentEngine
from isa.prove.refine.flow import Cycle, Node, Step, Stretch, goes_on, order, stretches
from isa.prove.refine.join import MEMORY, Arrival, Join, State
from isa.prove.refine.loops import Forms
from isa.prove.refine.memory import Effect, Memory
from isa.prove.refine.padding import Rows
from isa.prove.refine.side import Entry, Side, side_of
from isa.semantics.engine import UNKNOWN
from isa.semantics.instruction import Instruction

MOST_TERMS = 3_000_000
MOST_ROUNDS = 200
MOST_TESTS = 4
"""Conditions of a path that are kept."""
MOST_TAKEN = 64
"""Branches that one program goes over alone from a pair."""


class Unmatched(Exception):
    """What could not be shown equal. places: what of either program it is, each an instruction and a text."""

    def __init__(
        self, kind: str, what: str, first: tuple[Instruction, str] | None, second: tuple[Instruction, str] | None
    ) -> None:
        self.kind, self.what, self.places = kind, what, (first, second)
        super().__init__(what)


class Unfollowed(IsaError):
    """An instruction that cannot be followed."""


class Again(Exception):
    """A pair may go on by another step; None: by none that knows branches. error: why not as it did."""

    def __init__(self, node: Node, step: Step | None, error: Unmatched) -> None:
        self.node, self.step, self.error = node, step, error
        super().__init__(error.what)


class Supposed(Exception):
    """A bound of how often a loop goes round was supposed."""

    def __init__(self, forms: Forms) -> None:
        self.forms = forms


@dataclass(frozen=True)
class How:
    """How a relation is looked for. facts: of the launches; rows: as `padding` says; floats: "exact", "commuted" where
    operands of sums and products may change places, "reordered" where summands may; option: "", or one of the ways of
    the module's docstring, "tests first", "by halves", "by leaving"; joined: what the kernels call."""

    facts: Facts = field(default_factory=Facts)
    rows: Rows | None = None
    floats: str = "exact"
    option: str = ""
    joined: tuple[Joined, Joined] | None = None


class Relation:
    """See the module's docstring. synced: positions of fences that were matched; traces: of each pair, what accesses
    both make. steps: how pairs go on that do not go on alike; changing: pairs at which branches were not known in the
    end. With "tests first" a test alone goes before a test with much else that has the same condition, for it may be
    that of another iteration. doubts: such pairs."""

    def __init__(
        self, kernels: tuple[Kernel, Kernel], flows: tuple[Cfg, Cfg], how: How,
        steps: Mapping[Node, Step] = MappingProxyType({}), changing: Collection[Node] = (),
    ) -> None:  # fmt: skip
        self.how, self.steps, self.changing = how, steps, changing
        self.doubts: set[Node] = set()
        self.terms = Terms(floats=how.floats)
        self._entry = entry = Entry(kernels[0], self.terms, how.facts)
        self.exists = entry.exists
        self.sides = tuple(
            side_of(
                kernel,
                flow,
                SegmentEngine(
                    self.terms,
                    self.exists,
                    k,
                    kernel.number("next_free_vgpr"),
                    how.rows,
                    entry.arguments,
                    entry.lane,
                    how.joined[k] if how.joined else None,
                ),
                how.option == "by halves",
            )
            for k, (kernel, flow) in enumerate(zip(kernels, flows, strict=True))
        )
        self.pairs: dict[Node, Stretch] = stretches(*flows, steps)
        self.synced: set[tuple[int, int]] = set()
        self.traces: dict[Node, tuple[list[Access], list[Access]]] = {}
        self.executed = self.loops = 0
        self.stored: set[int] = set()
        self._facts = self.terms.true
        self._open: list[Forms] = []
        self._unbounded: dict[Node, int] = {}
        self._paired: set[Node] = set()
        self._arrivals: dict[Node, dict[Node | None, Arrival]] = {node: {} for node in self.pairs}
        self._heads: dict[Node, State] = {}
        self._ran: dict[Node, tuple[Arrival, dict[Node, Arrival]]] = {}
        self._alive: dict[Node, list[int]] = {}

    def solve(self) -> None:
        """Runs all pairs until the relation holds. Unmatched, Unfollowed, NoMatch, TooLarge where it does not."""
        state: State = [None] * (MEMORY + 1)
        state[:REGISTERS] = state[REGISTERS:MEMORY] = self._entry.registers
        state[MEMORY] = self.terms.unknown("memory", 32, uniform=True)
        self._arrivals[0, 0][None] = Arrival(state, (self.sides[0].mode, self.sides[1].mode))
        parts = order(lambda node: self.pairs[node].successors, (0, 0))
        self.loops = sum(_cycles(part) for part in parts)
        for part in parts:
            self._part(part)

    # --- the order
    def _part(self, part: Node | Cycle) -> None:
        if not isinstance(part, Cycle):
            if self._arrivals[part]:
                self._run(part, self._join(part, list(self._arrivals[part].values()), None, head=False))
            return
        head, inside = part.head, set(part.nodes())
        for node in inside:  # what came along edges of the cycle in another iteration of an outer one
            arrivals = self._arrivals[node]
            for source in [s for s in arrivals if s in inside]:
                del arrivals[source]
        if not self._arrivals[head]:
            if any(self._arrivals[node] for node in inside):
                self._give_up(head, "a loop is entered elsewhere than at its head")
            return
        before = [s for s in self._arrivals[head] if s not in inside]
        forms = Forms(self.terms, head, inside, head in self._paired) if len(before) == 1 else None
        if forms is not None:
            self._open.append(forms)
        old, ran, again = self._heads.get(head), None, False
        for _ in range(MOST_ROUNDS):
            if not again:
                arrival = self._join(head, list(self._arrivals[head].values()), old, head=True, forms=forms)
                if arrival == ran:
                    break
                ran, old = arrival, arrival.state
                self._heads[head] = old
            again = False
            try:
                self._run(head, arrival)
                for inner in part.rest:
                    self._part(inner)
            except Supposed as supposed:
                if supposed.forms is not forms:
                    raise
                del self._open[self._open.index(forms) + 1 :]
                again = True
                continue
            except (Unmatched, Again):
                if forms is None or forms.by_pairs or not forms.doubtful:
                    raise
                del self._open[self._open.index(forms) :]
                self._paired.add(head)
                self._heads.pop(head)
                self._ran.clear()
                return self._part(part)
            if len(self._arrivals[head]) == len(before):
                break
        else:
            self._give_up(head, "a loop's registers were not found equal in so many iterations")
        if forms is not None:
            self._open.remove(forms)
            back = [a.path for s, a in self._arrivals[head].items() if s in inside]
            if not forms.confirmed(back):
                self._unbounded[head] = self._unbounded.get(head, 0) + 1
                self._changed(self.terms.ranges.forget, forms.counter)
                self._part(part)

    def _changed(self, change: Callable[..., None], *how: Any) -> None:
        """Changes what is known of ranges: what was run before is run again."""
        change(*how)
        self.terms.ranges_changed()
        self._ran.clear()

    def _give_up(self, node: Node, what: str) -> NoReturn:
        at = [side.flow.instructions[side.flow.blocks[b].start] for side, b in zip(self.sides, node, strict=True)]
        raise Unmatched("budget", what, (at[0], ""), (at[1], ""))

    def _numbers(self, node: Node) -> list[int]:
        """The places of a state that are live at a pair."""
        found = self._alive.get(node)
        if found is None:
            found = [MEMORY]
            for k, (side, block) in enumerate(zip(self.sides, node, strict=True)):
                found += [k * REGISTERS + regset.bit(r) for r in regset.members(side.live[block])]
            self._alive[node] = found
        return found

    def _join(
        self, node: Node, arrivals: Sequence[Arrival], old: State | None, head: bool, forms: Forms | None = None
    ) -> Arrival:
        """What holds whichever path control took. old: the state that is refined; head: of a cycle."""
        first = arrivals[0]
        if any(a.modes != first.modes for a in arrivals):
            raise Unfollowed("MODE depends on the path that control took", span=self._place(node))
        held = (*first.state, first.empty, first.facts, *first.path)
        if old is None and len(arrivals) == 1 and not any(t is not None and node in t.owners for t in held):
            return first
        halves = tuple(side.halves.get(block, (0, 0)) for side, block in zip(self.sides, node, strict=True))
        how = (old, head, self.how.option, forms)
        return Join(self.terms, self.exists, halves, node, arrivals, *how).result(self._numbers(node))

    def _place(self, node: Node) -> Span | None:
        flow = self.sides[1].flow
        return flow.instructions[flow.blocks[node[1]].start].span

    # --- one pair
    def _run(self, node: Node, arrival: Arrival) -> None:
        """Runs both programs from a pair, and hands on what they come to the next ones with."""
        ran = self._ran.get(node)
        if ran is not None and ran[0] == arrival:
            out = ran[1]
        else:
            out = self._execute(node, arrival)
            self._ran[node] = (arrival, out)
        for target in self.pairs[node].successors:
            if target in out:
                self._arrivals[target][node] = out[target]
            else:
                self._arrivals[target].pop(node, None)

    def _execute(self, node: Node, arrival: Arrival) -> dict[Node, Arrival]:
        self._facts = arrival.facts or self.terms.true
        stretch, memory = self.pairs[node], arrival.state[MEMORY]
        assert memory is not None
        for k, (side, blocks) in enumerate(zip(self.sides, stretch.blocks, strict=True)):
            registers = arrival.state[k * REGISTERS : (k + 1) * REGISTERS]
            side.engine.start(registers, memory, arrival.modes[k])
            for n, block in enumerate(blocks):
                self._block(side, block)
                if n + 1 < len(blocks):
                    self._goes(node, side, block, blocks[n + 1])
        if len(self.terms) > MOST_TERMS:
            self._give_up(node, "too many terms")
        first, second = (side.engine for side in self.sides)
        for forms in self._open if len(stretch.successors) == 2 else ():
            if self._unbounded.get(forms.head, 0) < 2 and forms.suppose(first.condition):
                self._ran.clear()
                raise Supposed(forms)
        try:
            condition = self._matched(stretch)
            self.traces[node] = (first.memory.trace, second.memory.trace)
            self._doubt(node, stretch)
        except Unmatched as error:
            step = self._other_steps(node, stretch)
            raise (error if step is None else Again(node, step, error)) from error
        state: State = [*first.registers, *second.registers, first.memory.after()]
        found = Arrival(state, (first.mode, second.mode), arrival.empty, path=arrival.path)
        if condition is None:
            return dict.fromkeys(stretch.successors, found)
        fall, taken = stretch.successors
        if stretch.alone is not None:
            found = replace(found, facts=self._facts)
        if (known := self._known(condition)) is not None:
            return {(taken if known else fall): found}
        edges = {fall: self._after(found, self.terms.invert(condition)), taken: self._after(found, condition)}
        if stretch.alone is not None:
            return {fall: self._where(found, self.terms.invert(condition)), taken: self._where(found, condition)}
        a = condition
        on = self.terms.lanes(first.registers[EXEC_AT] or self.exists)
        for edge, holds in ((taken, a), (fall, self.terms.invert(a))):
            if holds is self.terms.zero(self.terms.mask(on)):
                edges[edge] = replace(edges[edge], empty=on)
        return edges

    def _matched(self, stretch: Stretch) -> Term | None:
        """What decides where both go, of two that have run and do the same. Unmatched where that was not found."""
        if stretch.unlike is not None:
            raise Unmatched("branch", stretch.unlike.why, *stretch.unlike.places)
        self._compare(*(side.engine.memory for side in self.sides))
        return self._condition(stretch)

    @staticmethod
    def _after(found: Arrival, condition: Term) -> Arrival:
        """What comes along an edge that is taken where a condition holds."""
        if condition in found.path:
            return found
        return replace(found, path=(*found.path[-MOST_TESTS:], condition))

    def _condition(self, stretch: Stretch) -> Term | None:
        """What decides where both go, or the one that chooses; None where there is no choice."""
        if len(stretch.successors) < 2:
            return None
        found: list[tuple[Instruction, Term]] = []
        for side, blocks in zip(self.sides, stretch.blocks, strict=True):
            if blocks:
                last = side.flow.instructions[side.flow.blocks[blocks[-1]].end - 1]
                if side.engine.condition is None:
                    raise Unfollowed(f"{last}: nothing is known of its condition", span=last.span)
                found.append((last, side.engine.condition))
        a = found[0][1]
        b = self.terms.invert(found[-1][1]) if stretch.opposite else found[-1][1]
        if a is not b:
            places = [(last, show(c)) for (last, _), c in zip(found, parted(a, b), strict=True)]
            raise Unmatched("branch", "two branches whose conditions were not found equal", *places)
        return a

    def _goes(self, node: Node, side: Side, block: int, after: int) -> None:
        """That a program goes from one block to the next, by a condition that is known."""
        successors, condition = side.flow.blocks[block].successors, side.engine.condition
        if len(successors) == 2 and self._known(condition) != successors.index(after):
            last = side.flow.instructions[side.flow.blocks[block].end - 1]
            what = "a branch that the other program has not, of which it is not known where it goes"
            raise Again(node, None, Unmatched("branch", what, (last, show(condition) if condition else ""), None))

    def _other_steps(self, node: Node, stretch: Stretch) -> Step | None:
        """How else the two may go on from a pair, of which the runs are at hand: over as many branches that are known
        as it takes until they match. What they come to is asked of a relation that begins with that step."""
        found, step = None, self.steps.get(node, Step())
        while (other := self._other_step(node, stretch, step)) is not None:
            found = step = other
            if step.alone is not None:
                break
            before, stretch = stretch.blocks, goes_on((self.sides[0].flow, self.sides[1].flow), node, step)
            try:
                for side, ran, blocks in zip(self.sides, before, stretch.blocks, strict=True):
                    for block in blocks[len(ran) :]:
                        self._block(side, block)
                self._matched(stretch)
            except Unmatched:
                continue
            except Unfollowed:
                pass
            break
        return found

    def _other_step(self, node: Node, stretch: Stretch, step: Step) -> Step | None:
        """The next step after `step`."""
        if stretch.alone is not None:
            return None
        engines = [side.engine for side in self.sides]
        quiet = self._quiet(stretch)
        ends = [side.flow.blocks[run[-1]].successors for side, run in zip(self.sides, stretch.blocks, strict=True)]
        able = [k for k in (1, 0) if len(ends[k]) == 2 and engines[k].condition is not None]
        chooses = [k for k in able if quiet[k]] if step == Step() else []
        if len(chooses) == 1 and quiet[0] != quiet[1]:
            return Step(alone=chooses[0])
        for k in sorted(able):
            known = self._known(engines[k].condition)
            if known is not None and node not in self.changing and len(step.taken[k]) < MOST_TAKEN:
                taken = (*step.taken[k], known)
                return replace(step, taken=(taken, step.taken[1]) if k == 0 else (step.taken[0], taken))
        return Step(alone=chooses[0]) if chooses else None

    def _quiet(self, stretch: Stretch) -> list[bool]:
        """Whether each program does no more than test something: scalar code that touches no memory."""
        return [
            not (side.engine.memory.events or side.engine.memory.loads)
            and not any(side.flow.instructions[i].desc.is_vector for b in run for i in side.flow.blocks[b].range)
            for side, run in zip(self.sides, stretch.blocks, strict=True)
        ]

    def _doubt(self, node: Node, stretch: Stretch) -> None:
        """Unmatched where one only tests and the other does more, if tests go first."""
        if stretch.alone is None and len(stretch.successors) == 2 and node not in self.steps:
            first, second = self._quiet(stretch)
            if first != second:
                self.doubts.add(node)
                if self.how.option == "tests first":
                    raise Unmatched("branch", "only one of two programs does more than test", None, None)

    def _known(self, condition: Term | None) -> int | None:
        """Whether a condition holds by what was tested before; None where that does not say."""
        if condition is None or condition.value is not None:
            return None if condition is None else condition.value
        if self.terms.implies(self._facts, condition):
            return 1
        return 0 if self.terms.implies(self._facts, self.terms.invert(condition)) else None

    def _where(self, found: Arrival, holds: Term) -> Arrival:
        """What comes where a truth value holds: a word of which it says that low bits are 0 is itself without them."""
        terms = self.terms
        if holds.uniform:
            found = replace(found, facts=terms.both(self._facts, holds))
        if holds.op != "ite" or holds.args[1] is not terms.true or holds.args[2] is not terms.false:
            return found
        bits = holds.args[0].args[0] if holds.args[0].op == "zero" else None
        if bits is None or bits.op != "and" or not bits.uniform or (mask := bits.args[1].value) is None:
            return found
        low, high = terms.const(mask, bits.width), terms.const(~mask, bits.width)
        words = {t for t in found.state if t is not None and t.uniform and t.width == bits.width}
        kept = {t: terms.bit_and(t, high) for t in words if terms.bit_and(t, low) is bits}
        return replace(found, state=[t and kept.get(t, t) for t in found.state])

    def _block(self, side: Side, block: int) -> None:
        for position in side.flow.blocks[block].range:
            inst = side.numbered.get(position) or side.flow.instructions[position]
            self.executed += 1
            try:
                side.engine.step(position, inst)
            except UNKNOWN as error:
                why = error.message if isinstance(error, IsaError) else f"{type(error).__name__}: {error}"
                raise Unfollowed(f"cannot follow {inst.mnemonic}: {why}", span=inst.span) from error

    def _compare(self, first: Memory, second: Memory) -> None:
        """The same stores and fences, in an order that makes no difference; no load of what the first does not load."""
        nodes = [{e.node for e in memory.events} for memory in (first, second)]
        if nodes[0] != nodes[1]:
            missing = [
                next((e for e in memory.events if e.node not in nodes[1 - k]), None)
                for k, memory in enumerate((first, second))
            ]
            a, b = missing
            kind, what = "value", "what is stored was not found equal"
            if a is None or b is None:
                kind, what = "store", "a store or barrier has no counterpart"
            elif a.fence or b.fence:
                kind, what = "order", "what comes before a barrier, atomic or message was not found equal"
            elif a.node.args[3] is not b.node.args[3]:
                kind, what = "address", "two stores whose addresses were not found equal"
                away, others = self.terms.parts(self.terms.sub(b.node.args[3], a.node.args[3]))
                if not others:
                    what = f"two stores {away - (away >> 63 << 64)} bytes apart"
            elif a.node.args[4:6] == b.node.args[4:6]:
                kind, what = "order", "stores that may overlap changed places, or a store and what it depends on"
            raise Unmatched(kind, what, *_shown(a, b))
        for key, (lanes, inst) in second.loads.items():
            known = first.loads.get(key)
            if known is None or not self.terms.implies(lanes, known[0]):
                what = "loads what the original does not load there, or in lanes in which it does not"
                raise Unmatched("load", what, None, (inst, f"address {show(key[1])}"))
        at = {e.node: e.position for e in first.events if e.fence}
        self.synced.update((at[e.node], e.position) for e in second.events if e.fence)
        self.stored |= {e.position for e in first.events if not e.fence}


def _shown(a: Effect | None, b: Effect | None) -> list[tuple[Instruction, str] | None]:
    """Two events as places, with what differs first: address, value, lanes, or what came before."""
    texts = ["", ""]
    if a is not None and b is not None and not a.fence and not b.fence:
        for k, what in ((3, "address"), (4, "value"), (5, "lanes")):
            x, y = a.node.args[k], b.node.args[k]
            if x is not y:
                texts = [f"{what}: {show(t)}" for t in parted(x, y)]
                break
    return [None if e is None else (e.inst, text) for e, text in zip((a, b), texts, strict=True)]


def _cycles(part: Node | Cycle) -> int:
    return 1 + sum(map(_cycles, part.rest)) if isinstance(part, Cycle) else 0
