"""A block's instructions in another order, in pairs where two may issue as one: list scheduling.

In each cycle of a wave by itself one slot is chosen among the instructions whose predecessors have gone: those that
could execute now, by the latencies of the cycle model (`isa.timing.machine.scheduling_classes`), in the order of a
priority. If the best is one that a VOPD can hold, each of the best few is tried with each partner that is ready too, or
that waits for it alone and only to write what it reads (both halves read before either writes). Of all these the slot
is taken whose reads cost the fewest cycles for an instruction, by the cycle model's bank rule with what the slot before
left in the operand caches; then the one that is first by priority; a partner that few others could take goes first,
then one whose reads would not collide after another wave has emptied those caches.

Priorities: `source`, the order in which the compiler has them; `latency`, the longest path to the block's end.

Registers stay what they are, so the pressure does too, and no value is held that was not held before.

With `first`, pairs are chosen before the order (`matched`), from the block's dependence graph and what a VOPD can hold:
pairs such that the graph in which each is one node has no cycle, so that some order has them all. Two may be a pair
where no path leads from one to the other, or only the edge of a register that one reads and the other writes. In the
order of the code each instruction takes, of the `_NEAR` that follow it and could, the one that fewest others could
take, and of these the nearest.

Limits: one wave by itself stands for all; memory takes what it takes without queues; the block before has left nothing
in flight. A prediction of the whole tells what a block really gains. `matched` is greedy, so it does not find the most
pairs that there could be; tests compare it with a solver.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import ClassVar

from isa.analysis import banks, dependences, regset, valu_writes
from isa.analysis.banks import Source
from isa.analysis.cfg import Block
from isa.analysis.dependences import Why
from isa.asm.program import Program
from isa.errors import IsaError
from isa.passes.edit import each_kernel
from isa.passes.schedule import block_order, dual_issue, hints
from isa.passes.schedule.block_order import Function, Row, Slot, rows_of
from isa.passes.schedule.dual_issue import Half
from isa.semantics.instruction import Instruction
from isa.targets.family import Vopd
from isa.timing.machine import bank_rules, rdna3
from isa.timing.machine.scheduling_classes import cost

_FIRSTS, _PARTNERS = 6, 40
"""How many instructions are tried as the first of a pair, and as its second."""
_MEMORY = 250
"""Cycles until a vector load's data are there: L2, as `isa.timing.machine.rdna3` has it at 2.5 GHz."""


@dataclass(frozen=True)
class Pair:
    """Dual instructions over a whole block: halves that the compiler paired are free again, and pairs are formed among
    all that could execute at once, in about the compiler's order.

    commute: exchange src0 and src1 where the product is the same; of two NaNs another one's payload may come out.
    first:   pairs are chosen before the order (`matched`), not among what could execute next: more
             pairs, whose halves may wait for each other.
    rule:    a bank rule of the cycle model.
    blocks:  numbers of the blocks that it takes, as 2+5+7; none: all.
    kernel:  which one; none: all.

    Requires:   nothing.
    Guarantees: each instruction sees the values that it saw; all pairs are legal, none can lose GFX11's interlock.
    Leaves alone: registers; functions that call; the order of memory accesses, and, where waves speak through memory,
                of all accesses and waits.
    """

    name: ClassVar[str] = "pair"
    by_height: ClassVar[bool] = False
    """Whether what the longest path depends on goes first, or what stands first in the text."""

    commute: bool = True
    first: bool = False
    rule: str = bank_rules.DEFAULT
    blocks: str = ""
    kernel: str = ""

    def run(self, program: Program) -> Program:
        if self.rule not in bank_rules.RULES:
            raise IsaError(f"no bank rule {self.rule!r}", expected=", ".join(bank_rules.RULES))

        every = replace(self, blocks="", kernel="")

        def reorder(function: Function, block: Block) -> list[Slot] | None:
            rows = rows_of(function, block)
            if len(rows) < 2:
                return None
            insts, entry = tuple(row.inst for row in rows), function.valu.entry[block.index]
            order = _order(insts, function.strict, function.cfg.family.vopd, entry, every)
            return [tuple(_at(rows[row.position], row) for row in slot) for slot in order]

        only = block_order.numbers_of(self.blocks)
        change = partial(block_order.rewrite, reorder=reorder, hinted=hints.hinted, only=only)
        return each_kernel(program, self.kernel, change)


@dataclass(frozen=True)
class Schedule(Pair):
    """List scheduling of each block: loads as early as their addresses are there, what the longest path depends on
    first, pairs as `pair` forms them.

    Options: as of `pair`.

    Requires, Guarantees, Leaves alone: as of `pair`.
    """

    name: ClassVar[str] = "schedule"
    by_height: ClassVar[bool] = True


def _at(row: Row, placed: Row) -> Row:
    """A row of a block, perhaps as a half of a pair."""
    return replace(row, inst=placed.inst, half=row.half or placed.half)


@lru_cache(1 << 10)
def _order(
    insts: tuple[Instruction, ...], strict: bool, most: Vopd, writes: valu_writes.State, options: Pair
) -> tuple[Slot, ...]:
    """The new order of these instructions, each row with its place among them. Kept: of the shapes of a kernel that a
    search asks for most blocks are the same."""
    rows = [Row(inst, place) for place, inst in enumerate(insts)]
    return tuple(Scheduler(rows, strict, most, writes, options).slots())


@lru_cache(1 << 15)
def cycles_of(inst: Instruction) -> tuple[int, int]:
    """(cycles in which the wave's unit takes nothing else, cycles until what it makes can be used)."""
    numbers, desc = rdna3.values(), inst.desc
    if desc.is_valu:
        try:
            found = cost(inst)
        except IsaError:  # its timing is not known
            return 1, round(numbers["valu_latency"])
        return round(numbers[found.passes]), round(numbers[found.latency])
    if desc.access is None:
        return 1, round(numbers["salu_latency"])
    if desc.space == "lds":
        return 1, round(numbers["lds_latency"] + numbers["lds_store_cycles"])
    return 1, 40 if desc.space == "scalar" else _MEMORY


Partner = tuple[int, Half, Half, int]
"""The other instruction of a pair; X and Y of it; what must have landed."""


class Scheduler:
    """One block while it is reordered. numbers: whether VGPRs keep theirs."""

    numbers: ClassVar[bool] = True

    def __init__(self, rows: Sequence[Row], strict: bool, most: Vopd, writes: valu_writes.State, options: Pair) -> None:
        self.rows, self.options, self.most = rows, options, most
        insts = [row.inst for row in rows]
        self.before = dependences.edges(insts, strict)
        self.cycles = [cycles_of(inst) for inst in insts]
        self.halves = [dual_issue.facts(inst, options.commute) for inst in insts]
        self.sources = [banks.sources(inst) for inst in insts]
        self.writes = writes
        self.rule = bank_rules.RULES[options.rule]
        self.drain = round(rdna3.values()["valu_to_lds"])
        self.forms: dict[tuple[int, int], list[Partner]] = {}
        self.reads: dict[tuple[int, int], tuple[Source, ...]] = {}
        self.mates = self.matched() if options.first else {}
        for i, j in self.mates.items():
            self.before[i] |= {k: why for k, why in self.before[j].items() if k != i}
            self.before[j] = {**self.before[j], i: Why.WAR}
        self.after: list[dict[int, Why]] = [{} for _ in rows]
        for later, earlier in enumerate(self.before):
            for node, why in earlier.items():
                self.after[node][later] = why
        self.height = self._heights()

    def matched(self) -> dict[int, int]:
        """Pairs that are chosen before the order."""
        able = [i for i, halves in enumerate(self.halves) if halves]
        return matched(self.before, able, self._suit)

    def _suit(self, i: int, j: int) -> bool:
        forms = dual_issue.pairs(self.halves[i], self.halves[j], self.most, self.numbers)
        return next(forms, None) is not None

    def _delay(self, earlier: int, later: int, why: Why) -> int:
        """Cycles from the issue of one until that of another that stays after it."""
        if why == Why.RAW:
            valu, memory = self.rows[earlier].desc.is_valu, self.rows[later].desc.drains_valu
            return self.drain if valu and memory else self.cycles[earlier][1]
        return 0 if why == Why.WAR else 1

    def _heights(self) -> list[int]:
        height = [0] * len(self.rows)
        left = [len(later) for later in self.after]
        ends = [i for i, n in enumerate(left) if n == 0]
        while ends:
            i = ends.pop()
            for earlier in self.before[i]:
                left[earlier] -= 1
                if left[earlier] == 0:
                    ends.append(earlier)
            paths = [height[j] + self._delay(i, j, why) for j, why in self.after[i].items()]
            height[i] = max(paths, default=0) + self.cycles[i][0]
        return height

    def _rank(self, node: int) -> tuple[int, int]:
        return (-self.height[node] if self.options.by_height else 0, node)

    def slots(self) -> list[Slot]:
        """The new order."""
        left = [len(earlier) for earlier in self.before]
        ready = {i for i, n in enumerate(left) if n == 0}
        earliest = [0] * len(self.rows)
        now = 0
        last: tuple[Source, ...] = ()
        out: list[Slot] = []
        while ready:
            able = sorted((i for i in ready if earliest[i] <= now), key=self._rank)
            if not able:
                now = min(earliest[i] for i in ready)
                continue
            nodes, slot, reads, stall = self._choose(able, left, last)
            out.append(slot)
            valu = slot[0].desc.is_valu
            issued, now = now + stall, now + stall + max(self.cycles[n][0] for n in nodes)
            last = reads if valu else last
            written = 0
            for node in nodes:
                written |= regset.defs(self.rows[node].inst)
            self.writes = valu_writes.after(slot[0].inst, written, self.writes)
            for node in nodes:
                left[node] = -1
                for later, why in self.after[node].items():
                    left[later] -= 1
                    earliest[later] = max(earliest[later], issued + self._delay(node, later, why))
                    if left[later] == 0:
                        ready.add(later)
            ready -= set(nodes)
        return out

    def _choose(
        self, able: list[int], left: list[int], last: tuple[Source, ...]
    ) -> tuple[tuple[int, ...], Slot, tuple[Source, ...], int]:
        """(nodes, slot, its reads, what they cost beyond one cycle)."""
        for i in able if self.mates else ():
            if i not in self.mates:
                break
            if found := self._together(i, last):
                return found
        else:
            self.mates.pop(able[0], None)  # its sources are in flight, and nothing else can issue
        able = [i for i in able if i not in self.mates]
        first = able[0]
        if not self.halves[first]:
            stall = self.rule(last, self.sources[first]) if self.rows[first].desc.is_valu else 0
            return (first,), (self.rows[first],), self.sources[first], stall
        duals = [i for i in able if self.halves[i]][:_PARTNERS]
        best: tuple[tuple[float, int, int, int, int], tuple[int, ...], Slot, tuple[Source, ...], int] | None = None
        degree: Counter[int] = Counter()
        partners = {i: self._partners(i, duals, left) for i in duals[:_FIRSTS]}
        for row in partners.values():
            degree.update(j for j, *_ in row)
        for rank, (i, row) in enumerate(partners.items()):
            stall = self.rule(last, self.sources[i])
            key = (2.0 * (1 + stall), rank, 0, 0, 0)
            if best is None or key < best[0]:
                best = key, (i,), (self.rows[i],), self.sources[i], stall
            for order, (j, x, y, _) in enumerate(row):
                if (1.0, rank, degree[j], 0, order) >= best[0]:
                    continue
                reads = self._reads(x, y)
                stall = self.rule(last, reads)
                key = (1.0 * (1 + stall), rank, degree[j], self.rule((), reads), order)
                if key < best[0]:
                    mine, other = (i, j) if x in self.halves[i] else (j, i)
                    slot = (_row(self.rows[mine], x), _row(self.rows[other], y))
                    best = key, (i, j), slot, reads, stall
            if best is not None and best[0][0] == 1.0:  # nothing costs less, and those that follow come later
                break
        assert best is not None
        return best[1:]

    def _together(
        self, i: int, last: tuple[Source, ...]
    ) -> tuple[tuple[int, ...], Slot, tuple[Source, ...], int] | None:
        """The same, of an instruction with the one that was chosen for it; None while what they read is in flight."""
        j, in_flight = self.mates[i], valu_writes.in_flight(self.writes)
        forms = [(self._reads(x, y), x, y) for _, x, y, landed in self._forms(i, j) if not landed & in_flight]
        if not forms:
            return None
        reads, x, y = min(forms, key=lambda f: (self.rule(last, f[0]), self.rule((), f[0])))
        mine, other = (i, j) if x in self.halves[i] else (j, i)
        slot = (_row(self.rows[mine], x), _row(self.rows[other], y))
        return (i, j), slot, reads, self.rule(last, reads)

    def _partners(self, i: int, duals: list[int], left: list[int]) -> list[Partner]:
        """What an instruction can go into now: each form of each pair."""
        later = [
            j
            for j, why in self.after[i].items()
            if why == Why.WAR and left[j] == 1 and self.halves[j] and j not in self.mates
        ]
        in_flight = valu_writes.in_flight(self.writes)
        return [found for j in (*duals, *later) if j != i for found in self._forms(i, j) if not found[3] & in_flight]

    def _forms(self, i: int, j: int) -> list[Partner]:
        if (i, j) not in self.forms:
            both = dual_issue.pairs(self.halves[i], self.halves[j], self.most)
            self.forms[i, j] = [(j, x, y, dual_issue.gathered(x, y)) for x, y in both]
        return self.forms[i, j]

    def _reads(self, x: Half, y: Half) -> tuple[Source, ...]:
        """What a pair of halves of this block reads."""
        key = id(x), id(y)
        if (found := self.reads.get(key)) is None:
            found = self.reads[key] = tuple(
                banks.source(name, slot, number)
                for name, half in (("X", x), ("Y", y))
                for slot, number in enumerate(half.src)
                if number >= 0
            )
        return found


def _row(row: Row, half: Half) -> Row:
    return Row(half.inst, row.position, True)


_NEAR = 40
"""How many instructions that a VOPD can hold are looked at after each."""


def matched(
    before: Sequence[Mapping[int, Why]], able: Sequence[int], suit: Callable[[int, int], bool]
) -> dict[int, int]:
    """Pairs, as earlier -> later. before: for each instruction those that it must stay after; able: what a VOPD can
    hold, in order; suit: whether two of them may be one."""
    reach = _Reach(before)
    partners: dict[int, list[int]] = {i: [] for i in able}
    degree = dict.fromkeys(able, 0)
    for k, i in enumerate(able):
        for j in able[k + 1 : k + 1 + _NEAR]:
            if reach.apart(i, j) and suit(i, j):
                partners[i].append(j)
                degree[i] += 1
                degree[j] += 1
    found: dict[int, int] = {}
    taken: set[int] = set()
    for i in able:
        if i in taken:
            continue
        for j in sorted(partners[i], key=lambda j: (degree[j], j)):
            if j not in taken and reach.apart(i, j):
                found[i] = j
                taken |= {i, j}
                reach.join(i, j)
                break
        for j in partners[i]:
            degree[j] -= 1
    return found


class _Reach:
    """What lies before and after each node, over any path, as bits."""

    def __init__(self, before: Sequence[Mapping[int, Why]]) -> None:
        self.direct = before
        self.above = [0] * len(before)
        self.below = [0] * len(before)
        for i, row in enumerate(before):
            for earlier in row:
                self.above[i] |= self.above[earlier] | 1 << earlier
        for i in reversed(range(len(before))):
            for earlier in before[i]:
                self.below[earlier] |= self.below[i] | 1 << i

    def apart(self, i: int, j: int) -> bool:
        """Whether the graph has no cycle where two nodes, i before j, are one."""
        if self.below[j] >> i & 1:
            return False
        if not self.below[i] >> j & 1:
            return True
        return self.direct[j].get(i) == Why.WAR and not self.below[i] & self.above[j]

    def join(self, i: int, j: int) -> None:
        """Makes two nodes one."""
        both = 1 << i | 1 << j
        above, below = (self.above[i] | self.above[j]) & ~both, (self.below[i] | self.below[j]) & ~both
        for node in regset.numbers(above | both):
            self.below[node] |= below | both & ~(1 << node)
        for node in regset.numbers(below | both):
            self.above[node] |= above | both & ~(1 << node)
