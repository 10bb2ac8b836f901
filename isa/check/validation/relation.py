"""What registers of both programs hold at the beginning of each pair of blocks, found by running the pairs on terms.

A state gives each live register of either program, SCC and memory a term; memory is one term for both. Where paths meet
registers that come with the same terms on each of them share a new unknown, which the pair owns; what comes with one
term on all paths keeps it. At the head of a cycle that is optimistic: the state is first what comes from outside, the
cycle is run, and what comes back splits what it does not find equal, until nothing changes (partition refinement, as
Alpern, Wegman and Zadeck 1988 number values; the order is Bourdoncle's). Inner cycles are found anew in each round of
the outer one, and begin with the splits that they ended with.

A term that is kept may be of an unknown that another pair owns: it stands for what that unknown was when control last
came to its owner. So a pair never keeps a term of its own unknowns: what comes back with one is of another round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

from isa.analysis import liveness, regset
from isa.analysis.cfg import Cfg
from isa.asm.program import Instruction, Kernel
from isa.check.validation.engine import EXEC_AT, REGISTERS, SCC_AT, SGPR0, Engine
from isa.check.validation.flow import Cycle, NoMatch, Node, Stretch, order, stretches
from isa.check.validation.memory import KERNARG, Event, Memory
from isa.check.validation.terms import Term, Terms, show
from isa.errors import IsaError
from isa.registers import Reg
from isa.semantics import wave_start
from isa.semantics.engine import UNKNOWN
from isa.semantics.float_mode import FloatMode

MEMORY = 2 * REGISTERS
MOST_TERMS = 3_000_000
MOST_ROUNDS = 200

State = list["Term | None"]


class Unmatched(Exception):
    """What could not be shown equal. places: what of either program it is, each an instruction and a text."""

    def __init__(
        self, kind: str, what: str, first: tuple[Instruction, str] | None, second: tuple[Instruction, str] | None
    ) -> None:
        self.kind, self.what, self.places = kind, what, (first, second)
        super().__init__(what)


class Beyond(IsaError):
    """An instruction that cannot be followed."""


@dataclass
class Side:
    """One program. live: registers at the beginning of each block."""

    flow: Cfg
    engine: Engine
    live: dict[int, int]
    mode: FloatMode


@dataclass(frozen=True)
class Arrival:
    """What comes to a pair along one edge."""

    state: State
    modes: tuple[FloatMode, FloatMode]


class Relation:
    """See the module's docstring. synced: positions of fences that were matched."""

    def __init__(self, kernels: tuple[Kernel, Kernel], flows: tuple[Cfg, Cfg], *, commute: bool) -> None:
        self.terms = Terms(commute=commute)
        self.exists = self.terms.lanes(self.terms.unknown("exec", 32, uniform=True))
        self.sides = tuple(
            Side(flow, Engine(self.terms, self.exists, k), _live(flow), FloatMode.of_kernel(kernel))
            for k, (kernel, flow) in enumerate(zip(kernels, flows, strict=True))
        )
        self.pairs: dict[Node, Stretch] = stretches(*flows)
        self.synced: set[tuple[int, int]] = set()
        self.executed = self.stores = 0
        self._wave = wave_start.of_kernel(kernels[0])
        self._arrivals: dict[Node, dict[Node | None, Arrival]] = {node: {} for node in self.pairs}
        self._heads: dict[Node, State] = {}
        self._ran: dict[Node, tuple[Arrival, dict[Node, Arrival]]] = {}
        self._alive: dict[Node, list[int]] = {}

    def solve(self) -> None:
        """Runs all pairs until the relation holds. Unmatched, Beyond, NoMatch, TooLarge where it does not."""
        state: State = [None] * (MEMORY + 1)
        entry = self._entry()
        state[:REGISTERS], state[REGISTERS:MEMORY] = entry, entry
        state[MEMORY] = self.terms.unknown("memory", 32, uniform=True)
        self._arrivals[0, 0][None] = Arrival(state, (self.sides[0].mode, self.sides[1].mode))
        for part in order(lambda node: self.pairs[node].successors, (0, 0)):
            self._part(part)

    def _entry(self) -> list[Term | None]:
        """Registers as a wave starts: what the hardware gives it, and nothing that is known."""
        terms, wave = self.terms, self._wave
        nothing = terms.unknown("nothing", 32, uniform=True)
        registers: list[Term | None] = [nothing] * REGISTERS
        arguments = {r.index for r in wave.user.get("kernarg_segment_ptr", Reg("s", 0, 0)).units()}
        for i in range(wave.sgprs):
            owner = KERNARG if i in arguments else None
            registers[SGPR0 + i] = terms.unknown(f"s{i}", 32, uniform=True, owner=owner)
        for i in (*range(108, 124), 125):
            registers[SGPR0 + i] = terms.unknown(str(Reg("s", i)), 32, uniform=True)
        registers[0] = terms.unknown("v0", 32, uniform=False, ones=(1 << 10 * (wave.workitem_id + 1)) - 1)
        registers[EXEC_AT] = terms.mask(self.exists)
        registers[SCC_AT] = terms.false
        return registers

    # --- the order
    def _part(self, part: Node | Cycle) -> None:
        if not isinstance(part, Cycle):
            if self._arrivals[part]:
                self._run(part, self._join(part, list(self._arrivals[part].values()), None))
            return
        head, inside = part.head, set(part.nodes())
        for node in inside:  # what came along edges of the cycle in another round of an outer one
            arrivals = self._arrivals[node]
            for source in [s for s in arrivals if s in inside]:
                del arrivals[source]
        if not self._arrivals[head]:
            return
        old = self._heads.get(head)
        for _ in range(MOST_ROUNDS):
            arrival = self._join(head, list(self._arrivals[head].values()), old)
            if old is not None and arrival.state == old and len(self._arrivals[head]) > 1:
                break
            old = self._heads[head] = arrival.state
            before = {s: a for s, a in self._arrivals[head].items() if s not in inside}
            self._run(head, arrival)
            for inner in part.rest:
                self._part(inner)
            if len(self._arrivals[head]) == len(before):
                break
        else:
            self._give_up(head, "a loop's registers were not found equal in so many rounds")

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

    def _join(self, node: Node, arrivals: Sequence[Arrival], old: State | None) -> Arrival:
        """What holds whichever way control came. old: the state that is refined."""
        first = arrivals[0]
        if any(a.modes != first.modes for a in arrivals):
            raise Beyond("MODE depends on the way that control took", span=self._place(node))
        if old is None and len(arrivals) == 1:
            state = first.state
            if not any(t is not None and node in t.owners for t in state):
                return first
        found: State = [None] * (MEMORY + 1)
        classes: dict[tuple[Term | None, ...], Term] = {}
        rows = [a.state for a in arrivals]
        for at in self._numbers(node):
            values = tuple(row[at] or self._never(at) for row in rows)
            term, before = values[0], old[at] if old is not None else None
            own = before is not None and before.op == "unknown" and before.args[2] == node
            if not own and all(v is term for v in values) and node not in term.owners:
                found[at] = term
                continue
            key = (before if own else None, *values)
            phi = classes.get(key)
            if phi is None:
                uniform = all(v.uniform for v in values)
                low = 64
                for v in values:
                    low = min(low, (v.ones & -v.ones).bit_length() - 1 if v.ones else 64)
                phi = classes[key] = self.terms.unknown(
                    ("value", at, node), term.width, uniform=uniform, owner=node, ones=-1 << min(low, 4)
                )
            found[at] = phi
        return Arrival(found, first.modes)

    def _never(self, at: int) -> Term:
        """A register that is live, of which nothing came."""
        width = 1 if at % REGISTERS == SCC_AT and at != MEMORY else 32
        return self.terms.unknown(("never", at), width, uniform=REGISTERS > at % REGISTERS >= SGPR0)

    def _place(self, node: Node):  # type: ignore[no-untyped-def]
        flow = self.sides[1].flow
        return flow.instructions[flow.blocks[node[1]].start].span

    # --- one pair
    def _run(self, node: Node, arrival: Arrival) -> None:
        """Runs both programs from a pair, and hands on what they come to the next ones with."""
        ran = self._ran.get(node)
        if ran is not None and ran[0].state == arrival.state and ran[0].modes == arrival.modes:
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
        stretch, memory = self.pairs[node], arrival.state[MEMORY]
        assert memory is not None
        lasts: list[Instruction] = []
        for k, (side, blocks) in enumerate(zip(self.sides, stretch.blocks, strict=True)):
            registers = arrival.state[k * REGISTERS : (k + 1) * REGISTERS]
            side.engine.start(registers, memory, arrival.modes[k])
            for block in blocks:
                for position in side.flow.blocks[block].range:
                    self._step(side, position)
            lasts.append(side.flow.instructions[side.flow.blocks[blocks[-1]].end - 1])
        if len(self.terms) > MOST_TERMS:
            self._give_up(node, "too many terms")
        first, second = (side.engine for side in self.sides)
        self._compare(first.memory, second.memory)
        state: State = [*first.registers, *second.registers, first.memory.after()]
        found = Arrival(state, (first.mode, second.mode))
        if len(stretch.successors) < 2:
            return dict.fromkeys(stretch.successors, found)
        conditions = []
        for engine, last in zip((first, second), lasts, strict=True):
            if engine.condition is None:
                raise Beyond(f"{last}: nothing is known of its condition", span=last.span)
            conditions.append(engine.condition)
        a, b = conditions
        if stretch.opposite:
            b = self.terms.invert(b)
        if a is not b:
            places = [(last, show(c)) for last, c in zip(lasts, conditions, strict=True)]
            raise Unmatched("branch", "two branches whose conditions were not found equal", *places)
        fall, taken = stretch.successors
        if a.op == "const":
            return {(taken if a.value else fall): found}
        return {fall: found, taken: found}

    def _step(self, side: Side, position: int) -> None:
        inst = side.flow.instructions[position]
        self.executed += 1
        try:
            side.engine.step(position, inst)
        except UNKNOWN as error:
            why = error.message if isinstance(error, IsaError) else f"{type(error).__name__}: {error}"
            raise Beyond(f"cannot follow {inst.mnemonic}: {why}", span=inst.span) from error

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
            elif a.node.args[4:6] == b.node.args[4:6]:
                kind, what = "order", "stores that may overlap changed places, or a store and what it depends on"
            raise Unmatched(kind, what, _shown(a), _shown(b))
        for key, (lanes, inst) in second.loads.items():
            known = first.loads.get(key)
            if known is None or not self.terms.implies(lanes, known[0]):
                what = "loads what the original does not load there, or in lanes in which it does not"
                raise Unmatched("load", what, None, (inst, f"address {show(key[1])}"))
        at = {e.node: e.position for e in first.events if e.fence}
        self.synced.update((at[e.node], e.position) for e in second.events if e.fence)
        self.stores = max(self.stores, len(nodes[0]))


def _shown(event: Event | None) -> tuple[Instruction, str] | None:
    if event is None:
        return None
    args = event.node.args
    text = f"address {show(args[3])}, value {show(args[4])}" if not event.fence else ""
    return event.inst, text


def _live(flow: Cfg) -> dict[int, int]:
    before = liveness.analyse(flow).before
    return {block.index: before[block.start] | 1 << EXEC_AT for block in flow.blocks}


