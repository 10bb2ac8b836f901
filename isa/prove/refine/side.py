"""Sides of the relation: a kernel and a launch -> its control flow, the engine that runs it on terms, which registers
are live where its blocks begin, and what the registers of a starting wave hold.

The facts of a launch become ranges of unknowns (`isa.algebra.ranges`). A size that is a multiple of 8 is 8 times the
unknown "K/8", so that what it is a multiple of is plain to see; a work-item's id is the sum of its bits, so that masks
and shifts of it are sums, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from isa.algebra.ranges import Polynomial
from isa.algebra.term import Term
from isa.algebra.terms import Terms
from isa.analysis import jumps, liveness
from isa.analysis.cfg import Cfg
from isa.asm.program import Kernel
from isa.prove.proof import Facts
from isa.prove.refine.engine import EXEC_AT, REGISTERS, SCC_AT, SGPR0, SegmentEngine
from isa.prove.refine.memory import KERNARG, Arguments
from isa.registers import Reg
from isa.semantics import halves, wave_start
from isa.semantics.float_mode import FloatMode
from isa.semantics.instruction import Instruction


@dataclass
class Side:
    """One program. live: registers at the beginning of each block; halves: of these those of which only the low half
    is, and those of which only the high one is; numbered: as of `jumps.numbered`."""

    flow: Cfg
    engine: SegmentEngine
    live: dict[int, int]
    halves: dict[int, tuple[int, int]]
    mode: FloatMode
    numbered: Mapping[int, Instruction]


def side_of(kernel: Kernel, flow: Cfg, engine: SegmentEngine, by_halves: bool) -> Side:
    """A kernel. by_halves: what is live is asked of each half of a VGPR."""
    numbered = jumps.numbered(flow.instructions, flow.labels)
    return Side(flow, engine, _live(flow), _halves(flow) if by_halves else {}, FloatMode.of_kernel(kernel), numbered)


def _live(flow: Cfg) -> dict[int, int]:
    before = liveness.analyse(flow).before
    return {block.index: before[block.start] | 1 << EXEC_AT for block in flow.blocks}


def has_halves(flow: Cfg) -> bool:
    """Whether something names half a VGPR."""
    named = any(".l" in str(inst) or ".h" in str(inst) for inst in flow.instructions)
    return named or any(halves.filled(inst) != halves.BOTH for inst in flow.instructions)


def _halves(flow: Cfg) -> dict[int, tuple[int, int]]:
    """Block -> registers of which only the low half is live, and only the high one."""
    low, high = (liveness.analyse(flow, half=half).before for half in (halves.LOW, halves.HIGH))
    return {b.index: (low[b.start] & ~high[b.start], high[b.start] & ~low[b.start]) for b in flow.blocks}


class Entry:
    """A wave as it starts. exists: the lanes that there are; lane: the number of each; registers: by `regset` number,
    what the hardware gives them, and nothing that is known; arguments: what is known of the kernel's."""

    def __init__(self, kernel: Kernel, terms: Terms, facts: Facts) -> None:
        self._terms, self._facts = terms, facts
        wave = wave_start.of_kernel(kernel)
        whole = facts.block is not None and facts.block % 32 == 0
        self.exists = terms.true if whole else terms.lanes(terms.unknown("exec", 32, uniform=True))
        bits = (facts.block - 1).bit_length() if facts.block is not None else 10 * (wave.workitem_id + 1)
        item = terms.sum(0, {terms.unknown(("v0", i), 32, uniform=False, ones=1): 1 << i for i in range(bits)}, 32)
        self.lane = terms.unknown("lane", 32, uniform=False, ones=31)
        if facts.block is not None:
            self.lane = terms.bit_and(item, terms.const(31, 32))
        nothing = terms.unknown("nothing", 32, uniform=True)
        self.registers: list[Term | None] = [nothing] * REGISTERS
        own = {r.index for r in wave.user.get("kernarg_segment_ptr", Reg("s", 0, 0)).units()}
        for i in range(wave.sgprs):
            owner = KERNARG if i in own else None
            self.registers[SGPR0 + i] = terms.unknown(f"s{i}", 32, uniform=True, owner=owner)
        for i in (*range(108, 124), 125):
            self.registers[SGPR0 + i] = terms.unknown(str(Reg("s", i)), 32, uniform=True)
        self.registers[0] = item
        self.registers[EXEC_AT] = terms.mask(self.exists)
        self.registers[SCC_AT] = terms.unknown("scc", 1, uniform=True)
        self._units: dict[str, Polynomial] = {}
        size = max([kernel.number("kernarg_size") or 0, *(a.offset + a.size for a in facts.arguments)])
        self.arguments = Arguments(facts.given, self._sizes(), size)
        places = wave.group_ids
        for axis, (number, low, _) in places.items():
            if low == 0 and [at for at, _, _ in places.values()].count(number) == 1:  # else two share a register
                self._workgroup(axis, self.registers[SGPR0 + number])
        for names, most in facts.products:
            factors = [next(iter(self._units[n][1].items())) for n in names if self._units[n][1]]
            if len(factors) == len(names):
                key = tuple(sorted((t for (t,), _ in factors), key=lambda t: t.id))
                terms.ranges.limit(key, most // prod(multiple for _, multiple in factors))

    def _sizes(self) -> Mapping[int, Term]:
        """Arguments that are sizes, by offset; how many units each is stays for what follows."""
        terms, found, given = self._terms, dict[int, Term](), self._facts.given
        for a in self._facts.arguments:
            if not a.multiple or a.size != 4:
                continue
            if all(a.offset + i in given for i in range(4)):
                self._units[a.name] = sum(given[a.offset + i] << 8 * i for i in range(4)), {}
                continue
            most = a.maximum // a.multiple
            name = a.name if a.multiple == 1 else f"({a.name}/{a.multiple})"
            unit = terms.unknown(name, 32, uniform=True, ones=(1 << most.bit_length()) - 1)
            terms.ranges.lower[unit] = max(1, a.minimum // a.multiple)
            terms.ranges.limit((unit,), most)
            found[a.offset] = terms.scale(unit, a.multiple)
            self._units[a.name] = 0, {(unit,): a.multiple}
        return found

    def _workgroup(self, axis: str, number: Term | None) -> None:
        """What is known of a workgroup's id."""
        facts, bound = self._facts, dict(self._facts.groups).get(axis)
        if number is None:
            return
        if facts.grid is not None:
            self._terms.ranges.learn(number, (facts.grid["xyz".index(axis)] - 1, {}))
        elif bound is not None:
            name, tile = bound
            const, units = self._units[name]
            if const % tile == 0 and all(c % tile == 0 for c in units.values()):
                self._terms.ranges.learn(number, (const // tile - 1, {m: c // tile for m, c in units.items()}))
