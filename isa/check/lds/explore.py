"""The paths of a workgroup: which LDS accesses happen on them, and between which of them no barrier stands.

A node is a state of the whole workgroup: where its waves stand, and what is known of the registers that still matter.
From it the waves that stand first in the code run one block, or up to a barrier. A branch whose condition is known
parts them, wave by wave; those that come to the same place go on together. Waves at a barrier go on when all that have
not ended stand at one. Where the machine has to choose, both answers are followed, each to a node of its own.

States that come again are not run again. So a loop of unknown length ends where its registers repeat, and one of known
length runs as often as it does. What is left of a function when the budget is spent is not looked at.

Over the graph of nodes goes what was accessed since the last barrier (forward data flow, union over paths).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from isa.analysis import regset
from isa.analysis.cfg import Cfg, is_branch, is_indirect_jump
from isa.check.lds.footprint import Footprint
from isa.check.lds.machine import Machine, Place, Results, Start, place
from isa.check.lds.needed import Needed
from isa.check.lds.values import Lanes
from isa.registers import EXEC_LO

BUDGET = 20_000
"""Instructions that are run for one function."""
CHOICES = 8
"""How often both answers are followed at one instruction; then one of them, in turns."""
_AT_ONCE = 3  # choices in one block of which both answers are followed

_Waves = tuple[tuple[int, int], ...]  # (position, bits of the waves that stand there)


@dataclass
class Run:
    """What a node's waves did, with one answer to each choice. events: (position, what it reached), or None where all
    that was accessed before is in order with what comes; clears: a barrier stands at its end."""

    events: list[tuple[int, Footprint] | None] = field(default_factory=list)
    clears: bool = False
    next: int | None = None


@dataclass
class Node:
    """See the module's docstring."""

    state: dict[Place, Lanes]
    running: _Waves
    waiting: _Waves
    runs: list[Run] = field(default_factory=list)


class Explorer:
    """Finds the nodes that a workgroup comes to. asked: the LDS accesses that are noted; orders: those of
    them, and calls, that may order what is before them with what is behind."""

    def __init__(self, cfg: Cfg, needed: Needed, asked: Iterable[int], orders: Iterable[int], start: Start) -> None:
        self.cfg, self.needed, self.start = cfg, needed, start
        self._waves = start.waves
        self.asked, self.orders = frozenset(asked), frozenset(orders)
        self.nodes: list[Node] = []
        self.executed = 0
        self._known: dict[object, int] = {}
        self._results = Results()
        self._asked_at: Counter[int] = Counter()
        self._live = [{place(reg) for reg in regset.members(bits)} for bits in needed.live]
        self._steps = [self._plan(b.range) for b in cfg.blocks]

    def _plan(self, positions: range) -> list[int]:
        wanted = self.needed.run | self.orders
        kinds = self.cfg.instructions
        return [
            i for i in positions if i in wanted or kinds[i].desc.effect in ("barrier", "end") or is_branch(kinds[i])
        ]

    def run(self) -> list[Node]:
        """All nodes, the first is where the workgroup starts."""
        self._enter(self.start.state(), {0: (1 << self._waves) - 1}, {})
        ahead, behind = [0], deque[int]()
        while (ahead or behind) and self.executed < BUDGET:
            # Mostly on along one path, so that its end is seen; every fourth time from the first node that is left.
            count = len(self.nodes)
            old = count % 4 == 0 and bool(behind)
            number = behind.popleft() if old else ahead.pop() if ahead else behind.pop()
            self._expand(number)
            found = range(count, len(self.nodes))
            ahead.extend(found[: 0 if old else 1])
            behind.extend(found[0 if old else 1 :])
        return self.nodes

    def _enter(self, state: dict[Place, Lanes], running: dict[int, int], waiting: dict[int, int]) -> int:
        live: set[Place] = set()
        for at in (*running, *waiting):
            block = self.cfg.block_of(at)
            # Behind a barrier within a block all counts that counts in the block or behind it.
            live |= self._live[block.index]
            if at != block.start:
                live |= {place(r) for i in range(at, block.end) for r in regset.members(self.cfg.uses[i])}
                live.update(*(self._live[s] for s in block.successors))
        state = {p: v for p, v in state.items() if p in live or p[0] == "scratch"}
        places = frozenset((p, id(self._results.one(v))) for p, v in state.items())
        where = tuple(sorted(running.items())), tuple(sorted(waiting.items()))
        key = (places, *where)
        if key not in self._known:
            self._known[key] = len(self.nodes)
            self.nodes.append(Node(state, *where))
        return self._known[key]

    def _expand(self, number: int) -> None:
        """Runs a node's first waves, once for each way to answer."""
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
        first = min(running)  # compilers write a loop's exit behind its body
        waves = running.pop(first)
        machine = Machine(self.start, choose, self._results)
        machine.state = dict(node.state)
        if running or waiting:
            machine.active = _column(waves, self._waves)
        run = Run()
        node.runs.append(run)
        block = self.cfg.block_of(first)
        ends = False
        for at in self._steps[block.index]:
            if at < first:
                continue
            inst = self.cfg.instructions[at]
            self.executed += 1
            if inst.desc.effect == "barrier":
                waiting[at + 1] = waiting.get(at + 1, 0) | waves
                ends = True
                break
            if inst.desc.effect == "end" or is_indirect_jump(inst):
                ends = True
                break
            if at in self.cfg.calls:
                run.events.append(None)
                machine.state = {p: v for p, v in machine.state.items() if _kept_by_calls(p)}
                continue
            machine.blind = at in self.needed.blind
            machine.reached.clear()
            if at in self.needed.run or is_branch(inst):
                machine.run(inst)
            own = [(at, reached) for reached in machine.reached if at in self.asked]
            run.events += [*own, None, *own] if at in self.orders else own
        if not ends:
            self._leave(block.index, machine, waves, running)
        if not running and waiting:
            running, waiting, run.clears = waiting, {}, True
        if running:
            run.next = self._enter(machine.state, running, waiting)
        return answers, open_

    def _leave(self, block: int, machine: Machine, waves: int, running: dict[int, int]) -> None:
        """Where the waves go behind a block."""
        successors = [self.cfg.blocks[s].start for s in self.cfg.blocks[block].successors]
        taken = 0
        if len(successors) > 1 and machine.taken is not None:
            rows = np.broadcast_to(np.asarray(machine.taken.a).reshape(-1, 1), (self._waves, 1))[:, 0]
            taken = sum(1 << int(w) for w in np.nonzero(rows)[0])
        for position, those in ((successors[-1], waves & taken), (successors[0], waves & ~taken)):
            if those:
                running[position] = running.get(position, 0) | those


def _kept_by_calls(place: Place) -> bool:
    """Whether a function gives a register back as it got it (LLVM AMDGPUUsage, "Function ABI"), or leaves a variable of
    its caller alone."""
    file, number = place
    if file == "v":
        return number >= 40 and (number - 40) % 16 < 8
    return file == "scratch" or (file == "s" and (32 <= number < 106 or number == EXEC_LO.index))


def _column(waves: int, count: int) -> Any:
    return np.array([waves >> w & 1 for w in range(count)], np.bool_).reshape(count, 1)
