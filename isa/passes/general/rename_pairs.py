"""Renaming for pairs: a kernel -> the same with VGPRs renamed, so that more instructions form VOPDs, and these formed.

Whether two instructions may be one VOPD depends on the numbers of their registers: one destination even and one odd,
src0 of both in different banks, and so src1. A compiler has chosen the numbers before it looks for pairs. Here it is
the reverse:

1. All pairs are taken apart.
2. The pairs that each block's dependences allow, as if numbers did not matter, are wishes
   (`isa.passes.schedule.list_schedule`).
3. One wish after the other, inner loops first, is granted if some exchange of X, Y and of factors obeys the rules, and
   else if that can be had by moving values (`isa.analysis.webs`) to registers that are free while they live; no wish
   that was granted before is lost. Sources of one slot get different parity where that can be had, since GFX11 can lose
   an interlock otherwise (`isa.analysis.valu_writes`), else different banks.
4. `pair{first}` forms what can be formed on these registers.

In: a program. Out: the same instructions in pairs on other VGPRs, no more of them than leave the number of waves a SIMD
what it was, or than the option says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from isa.analysis import cfg, webs
from isa.analysis.cfg import Block
from isa.analysis.webs import Web
from isa.asm.program import Kernel, Program
from isa.passes.edit import named
from isa.passes.general.rename_banks import Colouring, recoloured, weights
from isa.passes.schedule import block_order, dual_issue, hints
from isa.passes.schedule.block_order import Function, Slot, rows_of
from isa.passes.schedule.dual_issue import Half
from isa.passes.schedule.list_schedule import Pair, Scheduler
from isa.registers import Reg

_MOVES = 4
"""Values that may be moved for one wish."""
_Rule = tuple[Web, Web, int]
"""Two values whose numbers must differ modulo this."""


@dataclass(frozen=True)
class RenamePairs:
    """Takes pairs apart and gives values registers with which more pairs can be formed.

    commute: as of `pair`.
    vgprs:   how many VGPRs the kernel may use; 0: as many as leave its waves a SIMD what they were.
    kernel:  which one; none: all.

    Requires:   nothing; a kernel with calls, jumps through registers or registers chosen by M0 is left alone.
    Guarantees: as of `pair`, on other registers.
    Leaves alone: scalar registers, values that the kernel is started with, all that is no register.
    """

    name: ClassVar[str] = "rename-pairs"
    commute: bool = True
    vgprs: int = 0
    kernel: str = ""

    def run(self, program: Program) -> Program:
        for name in named(program, self.kernel):
            if webs.unknown(cfg.of_kernel(program.kernel(name))) is None:
                program = self._renamed(_apart(program.kernel(name)), name)
        return program

    def _renamed(self, program: Program, name: str) -> Program:
        def change(colouring: Colouring) -> None:
            _Wishes(program.kernel(name), colouring, self.commute).grant()

        renamed = recoloured(program, self.vgprs, change, kernel=name)
        return Pair(commute=self.commute, first=True, kernel=name).run(renamed)


def _apart(kernel: Kernel) -> Program:
    def singly(function: Function, block: Block) -> list[Slot] | None:
        if not any(function.cfg.instructions[i].pair for i in block.range):
            return None
        return [(row,) for row in rows_of(function, block)]

    return block_order.rewrite(kernel, singly, hints.hinted)


class _Blind(Scheduler):
    """A block whose registers have no numbers."""

    numbers: ClassVar[bool] = False


class _Wishes:
    """The pairs that a kernel's dependences allow, and values moved for them."""

    def __init__(self, kernel: Kernel, colouring: Colouring, commute: bool) -> None:
        self.function, self.colouring, self.commute = Function.of(kernel), colouring, commute

    def grant(self) -> None:
        flow = self.function.cfg
        heavy = weights(flow)
        for block in sorted(flow.blocks, key=lambda b: -heavy[b.start]):
            for i, j in self._of(block):
                self._grant(i, j)

    def _of(self, block: Block) -> list[tuple[int, int]]:
        """Positions of instructions that might be one."""
        rows = rows_of(self.function, block)
        if len(rows) < 2 or block.index not in self.function.cfg.idom:
            return []
        options = Pair(commute=self.commute, first=True)
        function = self.function
        vopd, entry = function.cfg.family.vopd, function.valu.entry[block.index]
        mates = _Blind(rows, function.strict, vopd, entry, options).mates
        return [(rows[i].position, rows[j].position) for i, j in mates.items()]

    def _grant(self, i: int, j: int) -> None:
        """One pair, in the form that takes the fewest moves. Of forms with the same rules the first says it for all."""
        forms: dict[tuple[tuple[int, int, int], ...], list[_Rule]] = {}
        for rules in self._forms(i, j):
            if all(a is not b for a, b, _ in rules):
                forms.setdefault(tuple(sorted((min(id(a), id(b)), max(id(a), id(b)), m) for a, b, m in rules)), rules)
        for rules in sorted(forms.values(), key=self._broken):
            if self._obeyed(rules):
                return

    def _forms(self, i: int, j: int) -> Iterator[list[_Rule]]:
        """The rules of each form of a pair; those with different parity first."""
        one, two = (dual_issue.facts(self.function.cfg.instructions[k], self.commute) for k in (i, j))
        first = {id(half) for half in one}
        for apart in (2, 4):
            for x, y in dual_issue.pairs(one, two, self.function.cfg.family.vopd, numbers=False):
                at, other = (i, j) if id(x) in first else (j, i)
                yield list(self._rules(x, at, y, other, apart))

    def _rules(self, x: Half, i: int, y: Half, j: int, apart: int) -> Iterator[_Rule]:
        of = self.colouring.webs.of
        yield of(i, Reg("v", x.dst), True), of(j, Reg("v", y.dst), True), 2
        for slot, modulus in enumerate((apart, apart, 2)):
            a, b = x.src[slot], y.src[slot]
            if a >= 0 and b >= 0:
                yield of(i, Reg("v", a), False), of(j, Reg("v", b), False), modulus

    def _broken(self, rules: list[_Rule]) -> int:
        number = self.colouring.number
        return sum(number(a) % m == number(b) % m for a, b, m in rules)

    def _obeyed(self, rules: list[_Rule]) -> bool:
        """Moves values until these rules hold, with all that held before; else nothing changes."""
        colouring = self.colouring
        clusters = {web.cluster for a, b, _ in rules for web in (a, b)}
        before = {c: colouring.shift[c] for c in clusters}
        for _ in range(_MOVES):
            left = self._broken(rules)
            if left == 0 or not self._move(rules, left):
                break
        if self._broken(rules) == 0:
            for rule in rules:
                for c in {rule[0].cluster, rule[1].cluster}:
                    colouring.pairs[c].append(rule)
            return True
        colouring.restore(before)
        return False

    def _move(self, rules: list[_Rule], left: int) -> bool:
        """Moves one value so that fewer of these rules are broken, where the reads cost least."""
        colouring = self.colouring
        found: list[tuple[int, int, int]] = []
        number = colouring.number
        wrong = {web.cluster for a, b, m in rules if number(a) % m == number(b) % m for web in (a, b)}
        for c in sorted(wrong):
            if colouring.webs.clusters[c].pinned:
                continue
            here = colouring.shift[c]
            seen = {turn for turn in range(4) if turn == here % 4 or not colouring.legal_at(c, turn)}
            for shift in colouring.rooms(c) if len(seen) < 4 else ():
                if shift % 4 in seen:
                    continue
                seen.add(shift % 4)
                colouring.shift[c] = shift
                found.append((self._broken(rules), c, shift))
                colouring.shift[c] = here
        least = min((broken for broken, _, _ in found), default=left)
        if least == left:
            return False
        best = [(c, shift) for broken, c, shift in found if broken == least]
        if len(best) > 1:
            best.sort(key=lambda move: (self._cost(*move), move[1]))
        colouring.put(*best[0])
        return True

    def _cost(self, c: int, shift: int) -> int:
        """Of the reads that a cluster has to do with, if it lies there."""
        colouring = self.colouring
        here, colouring.shift[c] = colouring.shift[c], shift
        cost = colouring.total(colouring.touched([c]))
        colouring.shift[c] = here
        return cost
