"""The paths of a workgroup: which LDS accesses happen on them, and between which of them no barrier stands.

A node is a state of the whole workgroup: where its waves stand, and what is known of the registers that still matter.
From it the waves that stand first in the code run one block, or up to a barrier. A branch whose condition is known
parts them, wave by wave; those that come to the same place go on together. Waves at a barrier go on when all that have
not ended stand at one. Where the machine has to choose, both answers are followed, each to a node of its own.

States that come again are not run again. So a loop of unknown length ends where its registers repeat, and one of known
length runs as often as it does. What is left of a function when the budget is spent is not looked at.

Conditions on one unknown number are answered alike on a path.

Over the graph of nodes goes what was accessed since the last barrier (forward data flow, union over paths).

Conditions on one number: scalar comparisons of a function that ask the same unknown number, so that a path answers
them alike.

In: a function. Out: for each such comparison with a constant what it says of the number, at the points between which no
comparison of the function with a constant changes: `k < 16`, then `k < 32`, cannot be true and then false. The number
is what one instruction gave, or the function's entry, each time anew that the instruction runs.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from typing import Any

import numpy as np

from isa.analysis import regset
from isa.analysis.cfg import Cfg, is_branch, is_indirect_jump
from isa.analysis.dataflow import backward
from isa.analysis.defuse import ENTRY, DefUse
from isa.lint.lds.footprint import Footprint
from isa.lint.lds.machine import Place, Results, Start, WorkgroupMachine, place
from isa.lint.lds.needed import Needed
from isa.lint.lds.values import Numbers, constant
from isa.registers import EXEC_LO, Reg
from isa.semantics.instruction import Imm, Instruction

_COMPARE = re.compile(r"s_cmp(?P<short>k?)_(?P<op>eq|lg|gt|ge|lt|le)_(?P<type>[ui]32)")
_OPS = {"eq": np.equal, "lg": np.not_equal, "gt": np.greater, "ge": np.greater_equal, "lt": np.less,
        "le": np.less_equal}  # fmt: skip
_ENDS = (0, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


@dataclass(frozen=True)
class Comparison:
    """number: which of the numbers that are compared, counted from 0; source: the position that gives it, or ENTRY;
    truth: the answer at each of its points."""

    number: int
    source: int
    truth: tuple[bool, ...]


def of(cfg: Cfg, chains: DefUse) -> dict[int, Comparison]:
    """Position -> the comparison there, of numbers that are compared more than once."""
    rows = defaultdict(list)
    for i in cfg.where(lambda desc: _COMPARE.fullmatch(desc.name)):
        inst = cfg.instructions[i]
        match = _COMPARE.fullmatch(inst.mnemonic)
        first, second = inst.operands if match is not None else (None, None)
        turned = isinstance(second, Reg)
        reg, constant = (second, first) if turned else (first, second)
        if match is None or not isinstance(reg, Reg) or not isinstance(constant, Imm):
            continue
        sources = chains.reaching.get((i, regset.bit(reg)), frozenset())
        if reg.file == "s" and isinstance(constant.value, int) and len(sources) == 1:
            (source,) = sources
            if source not in cfg.calls:
                number = constant.value & 0xFFFFFFFF
                if match["short"]:  # a field of 16 bits, extended as the type asks
                    number &= 0xFFFF
                    if match["type"] == "i32":
                        number = (number ^ 0x8000) - 0x8000 & 0xFFFFFFFF
                rows[source, reg].append((i, match["op"], match["type"], number, turned))
    found = {}
    for name, ((source, _), asked) in enumerate(rows.items()):
        points = {p & 0xFFFFFFFF for *_, n, _ in asked for p in (n - 1, n, n + 1)}.union(_ENDS)
        array = np.array(sorted(points), np.uint32)
        for i, op, type_, number, turned in asked if len(asked) > 1 else ():
            a, b = (x.astype(np.uint32).view(np.int32 if type_ == "i32" else np.uint32) for x in
                    (array, np.full_like(array, number)))  # fmt: skip
            truth: Any = _OPS[op](b, a) if turned else _OPS[op](a, b)
            found[i] = Comparison(name, source, tuple(bool(t) for t in truth))
    return found


def asked_ahead(cfg: Cfg, comparisons: Mapping[int, Comparison]) -> list[frozenset[int]]:
    """Block -> the numbers that are compared in it or after it."""
    own = [frozenset(comparisons[i].number for i in b.range if i in comparisons) for b in cfg.blocks]
    return backward(cfg, frozenset[int](), lambda block, after: own[block.index] | after, or_)


BUDGET = 20_000
"""Instructions that are run for one function."""
CHOICES = 8
"""How often both answers are followed at one instruction; then one of them, in turns."""
_AT_ONCE = 3  # choices in one block of which both answers are followed

_Waves = tuple[tuple[int, int], ...]  # (position, bits of the waves that stand there)


@dataclass
class NodeRun:
    """What a node's waves did, with one answer to each choice. events: (position, what it reached), or None where all
    that was accessed before is in order with what comes; clears: a barrier stands at its end."""

    events: list[tuple[int, Footprint] | None] = field(default_factory=list)
    clears: bool = False
    next: int | None = None


@dataclass
class Node:
    """See the module's docstring."""

    state: dict[Place, Numbers]
    running: _Waves
    waiting: _Waves
    runs: list[NodeRun] = field(default_factory=list)


@dataclass(frozen=True)
class ExploredBlock:
    """start: its number; steps: (number, instruction) of what is run or ends a path; successors: blocks; live: the
    registers that count at its entry (`regset`); compared: the numbers that conditions ask, here or later."""

    start: int
    steps: tuple[tuple[int, Instruction], ...]
    successors: tuple[int, ...]
    live: int
    compared: frozenset[int]


@dataclass(frozen=True)
class Question:
    """All that the paths of a workgroup follow from. Blocks and their steps are numbered in the order of the code, so
    that what lies between does not count. run, blind: as in `Needed`; asked: the LDS accesses that are noted; orders:
    those of them, and calls, that may order what is before them with what is after; compared: comparisons of unknown
    numbers; given: (instruction, the number of these that it gives anew)."""

    blocks: tuple[ExploredBlock, ...]
    run: frozenset[int]
    blind: frozenset[int]
    calls: frozenset[int]
    asked: frozenset[int]
    orders: frozenset[int]
    compared: tuple[tuple[int, Comparison], ...]
    given: frozenset[tuple[int, int]]
    start: Start

    @staticmethod
    def of(
        cfg: Cfg, chains: DefUse, needed: Needed, asked: Iterable[int], orders: Iterable[int], start: Start
    ) -> tuple[Question, list[int]]:
        """And the position that each number stands for."""
        insts, positions = cfg.instructions, list[int]()
        compared = {i: c for i, c in of(cfg, chains).items() if i in needed.run}
        ahead = asked_ahead(cfg, compared)
        given = {(c.source, c.number) for c in compared.values() if c.source != ENTRY}
        ends = cfg.where(lambda desc: desc.effect in ("barrier", "end") or desc.is_branch)
        wanted = sorted(needed.run.union(asked, orders, (source for source, _ in given), ends))
        blocks = []
        for b in cfg.blocks:
            steps = wanted[bisect_left(wanted, b.start) : bisect_left(wanted, b.end)]
            first = len(positions)
            positions += [b.start, *steps]
            numbered = tuple((first + 1 + n, insts[i]) for n, i in enumerate(steps))
            blocks.append(ExploredBlock(first, numbered, tuple(b.successors), needed.live[b.index], ahead[b.index]))
        number = {positions[n]: n for block in blocks for n, _ in block.steps}

        def numbers(those: Iterable[int]) -> frozenset[int]:
            return frozenset(number[i] for i in those if i in number)

        question = Question(
            tuple(blocks), numbers(needed.run), numbers(needed.blind), numbers(cfg.calls), numbers(asked),
            numbers(orders), tuple((number[i], replace(c, source=0)) for i, c in compared.items()),
            frozenset((number[source], name) for source, name in given), start,
        )  # fmt: skip
        return question, positions


class Explorer:
    """Finds the nodes that a workgroup comes to. watch: is given what is asked about, by number, as it is about to
    run."""

    def __init__(self, question: Question, watch: Callable[[int, WorkgroupMachine], None] | None = None) -> None:
        self._watch = watch
        self.asks, self._waves = question, question.start.waves
        self._all = (1 << self._waves) - 1
        self.nodes: list[Node] = []
        self.executed = 0
        self._known: dict[object, int] = {}
        self._results = Results()
        self._asked_at: Counter[int] = Counter()
        self._starts = [b.start for b in question.blocks]
        source = self._results.source
        self._steps = [
            [(at, inst, source(inst), *_manner(question, b, at, inst)) for at, inst in b.steps] for b in question.blocks
        ]
        self._needed: dict[frozenset[int], frozenset[Place]] = {}
        self._compared = dict(question.compared)
        self._given = {at: {n for a, n in question.given if a == at} for at, _ in question.given}

    def _block(self, position: int) -> int:
        return bisect_right(self._starts, position) - 1

    def run(self) -> list[Node]:
        """All nodes, the first is where the workgroup starts."""
        self._enter(self.asks.start.state(), {0: self._all}, {})
        ahead, later = [0], deque[int]()
        while (ahead or later) and self.executed < BUDGET:
            # Mostly on along one path, so that its end is seen; every fourth time from the first node that is left.
            count = len(self.nodes)
            old = count % 4 == 0 and bool(later)
            number = later.popleft() if old else ahead.pop() if ahead else later.pop()
            self._expand(number)
            found = range(count, len(self.nodes))
            ahead.extend(found[: 0 if old else 1])
            later.extend(found[0 if old else 1 :])
        return self.nodes

    def _enter(self, state: dict[Place, Numbers], running: dict[int, int], waiting: dict[int, int]) -> int:
        live, one = self._needed_at(frozenset((*running, *waiting))), self._results.one
        state = {p: v if v.shared else one(v) for p, v in state.items() if p in live or p[0] == "scratch"}
        places = frozenset([(p, id(v)) for p, v in state.items()])
        where = tuple(sorted(running.items())), tuple(sorted(waiting.items()))
        key = (places, *where)
        if key not in self._known:
            self._known[key] = len(self.nodes)
            self.nodes.append(Node(state, *where))
        return self._known[key]

    def _needed_at(self, positions: frozenset[int]) -> frozenset[Place]:
        """What matters to waves that stand there."""
        if positions not in self._needed:
            live, compared = 0, frozenset[int]()
            for at in positions:
                block = self.asks.blocks[self._block(at)]
                live |= block.live
                compared |= block.compared
                if at != block.start:  # after a barrier all counts that counts in the block or after it
                    live |= reduce(or_, (regset.uses(inst) for i, inst in block.steps if i >= at), 0)
                    live |= reduce(or_, (self.asks.blocks[s].live for s in block.successors), 0)
            self._needed[positions] = frozenset([*map(place, regset.members(live)), *(("k", n) for n in compared)])
        return self._needed[positions]

    def _expand(self, number: int) -> None:
        """Runs a node's first waves, once for each possible answer."""
        node = self.nodes[number]
        prefixes: list[list[bool]] = [[]]
        while prefixes and self.executed < BUDGET:
            prefix = prefixes.pop()
            answers, open_ = self._advance(node, prefix)
            for k in open_:
                prefixes.append([*answers[:k], False])

    def _advance(self, node: Node, prefix: list[bool]) -> tuple[list[bool], list[int]]:
        """(all answers, which of them can be given otherwise) of one run."""
        answers = list(prefix)
        open_: list[int] = []
        given = 0
        at = 0

        def choose() -> bool:
            nonlocal given
            if given == len(answers):
                self._asked_at[at] += 1
                both = self._asked_at[at] <= CHOICES and len(open_) < _AT_ONCE
                if both:
                    open_.append(given)
                answers.append(both or self._asked_at[at] % 2 == 0)
            given += 1
            return answers[given - 1]

        running, waiting = dict(node.running), dict(node.waiting)
        first = min(running)  # compilers write a loop's exit after its body
        waves = running.pop(first)
        machine = WorkgroupMachine(self.asks.start, choose, self._results, waves if waves != self._all else None)
        machine.state = dict(node.state)
        run = NodeRun()
        node.runs.append(run)
        asks, index = self.asks, self._block(first)
        ends = False
        for at, inst, source, effect, runs in self._steps[index]:
            if at < first:
                continue
            self.executed += 1
            if effect:
                if effect == "barrier":
                    waiting[at + 1] = waiting.get(at + 1, 0) | waves
                ends = True
                break
            if at in asks.calls:
                run.events.append(None)
                machine.state = {p: v for p, v in machine.state.items() if _kept_by_calls(p)}
                continue
            machine.blind = at in asks.blind
            machine.reached.clear()
            if self._watch is not None and at in asks.asked:
                self._watch(at, machine)
            if runs:
                machine.run(inst, source)
            for name in self._given.get(at, ()):
                machine.state.pop(("k", name), None)
            if at in self._compared:
                _compare(machine, self._compared[at], choose)
            own = [(at, reached) for reached in machine.reached] if at in asks.asked else []
            run.events += [*own, None, *own] if at in asks.orders else own
        if not ends:
            self._leave(index, machine, waves, running)
        if not running and waiting:
            running, waiting, run.clears = waiting, {}, True
        if running:
            run.next = self._enter(machine.state, running, waiting)
        return answers, open_

    def _leave(self, block: int, machine: WorkgroupMachine, waves: int, running: dict[int, int]) -> None:
        """Where the waves go after a block; nowhere where the code ends, as in s_trap."""
        successors = [self._starts[s] for s in self.asks.blocks[block].successors]
        if not successors:
            return
        taken = 0
        if len(successors) > 1 and machine.taken is not None:
            rows = np.asarray(machine.taken.a).ravel().tolist()
            taken = sum(1 << w for w, goes in enumerate(rows * self._waves if len(rows) == 1 else rows) if goes)
        for position, those in ((successors[-1], waves & taken), (successors[0], waves & ~taken)):
            if those:
                running[position] = running.get(position, 0) | those


def _manner(question: Question, block: ExploredBlock, at: int, inst: Instruction) -> tuple[str, bool]:
    """(how the waves end there: "barrier", "end", or "" where they do not; whether the instruction is run)."""
    ends = inst.desc.effect == "end" or (is_indirect_jump(inst) and len(block.successors) != 1)
    return "barrier" if inst.desc.effect == "barrier" else "end" if ends else "", at in question.run or is_branch(inst)


def _compare(machine: WorkgroupMachine, asked: Comparison, choose: Callable[[], bool]) -> None:
    """Answers a comparison whose number is not known, as those before it on the path allow."""
    truth, where = np.array(asked.truth).reshape(1, -1), ("k", asked.number)
    if not machine.knows_scc():
        left = machine.state[where].a if where in machine.state else np.ones_like(truth)
        answer = bool(truth[left].any()) and (bool(truth[left].all()) or choose())
        machine.state[where] = Numbers.of("b1", left & (truth == answer))
        machine.write_scc(constant("b1", answer))


def _kept_by_calls(place: Place) -> bool:
    """Whether a function gives a register back as it got it (LLVM AMDGPUUsage, "Function ABI"), or leaves a variable of
    its caller alone."""
    file, number = place
    if file == "v":
        return number >= 40 and (number - 40) % 16 < 8
    return file in ("scratch", "k") or (file == "s" and (32 <= number < 106 or number == EXEC_LO.index))
