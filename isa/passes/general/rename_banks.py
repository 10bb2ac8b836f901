"""Renaming for banks: a kernel -> the same with VGPRs renamed, so that an instruction's operands lie in different
banks.

In: a program. Out: the same instructions in the same order, on other VGPRs. Webs (`isa.analysis.webs`) are moved, one
cluster at a time, from where the compiler put them to where fewer reads collide, each instruction weighed by how deep
in loops it stands (`WEIGHT` a level):

    matrix products    A, B and C must not begin on one bank (LLVM's allocator has them so: issue 204254)
    other VALU         the stalls that a bank rule of the cycle model counts, the instruction before it known
    VOPD               keeps its rules: banks of src0 and src1, parity of src2 and of the destinations; and sources of
                       different parity stay so, since GFX11 can lose an interlock otherwise

A cluster goes to the lowest registers of the best class of four that are free wherever it lives; where none are free,
those that lie there are moved away, if that costs nothing. It is a descent: it ends where no single move helps. No more
registers are used than leave the number of waves a SIMD what it was.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from isa.analysis import banks, webs
from isa.analysis.banks import Source
from isa.analysis.cfg import Cfg, of_kernel
from isa.analysis.resources import waves_by_vgprs
from isa.analysis.webs import Cluster, Web, Webs
from isa.asm.emit import instruction_line
from isa.asm.program import Kernel, Program
from isa.errors import IsaError
from isa.passes.edit import named, recount
from isa.registers import VGPR_LIMIT, Reg
from isa.semantics.instruction import Instruction, Modified, Operand, bare, bit_width
from isa.targets import GFX1100
from isa.timing.machine import bank_rules, rdna3

WEIGHT = 8
"""How many iterations a loop is assumed to make."""
_RUNS = 4
"""Places that are compared for a run."""
_EVICTED = 4
"""Clusters that may be moved to make room for another."""


@dataclass(frozen=True)
class RenameBanks:
    """Moves values to VGPRs whose banks do not collide.

    rule:   a bank rule of the cycle model, `previous-slot` if not given.
    vgprs:  how many VGPRs the kernel may use; 0: as many as leave its waves a SIMD what they were.
    kernel: which one; none: all.

    Requires:   nothing; a kernel with calls, jumps through registers or registers chosen by M0 is left alone.
    Guarantees: the same instructions in the same order; every read sees the value that it saw. By the rule,
                reads cost no more cycles than before, each level of loops weighed by 8.
    Leaves alone: scalar registers, values that the kernel is started with, all that is no register.
    """

    name: ClassVar[str] = "rename-banks"
    rule: str = bank_rules.DEFAULT
    vgprs: int = 0
    kernel: str = ""

    def run(self, program: Program) -> Program:
        if self.rule not in bank_rules.RULES:
            raise IsaError(f"no bank rule {self.rule!r}", expected=", ".join(bank_rules.RULES))
        return recoloured(program, self.vgprs, Colouring.improve, self.rule, self.kernel)


def recoloured(
    program: Program, vgprs: int, change: Callable[[Colouring], None], rule: str = bank_rules.DEFAULT, kernel: str = ""
) -> Program:
    """The program after a change of where each kernel's clusters lie; kernels whose registers cannot be followed are
    left alone. vgprs, kernel: as of `RenameBanks`."""
    for name in named(program, kernel):
        one = program.kernel(name)
        cfg = of_kernel(one)
        try:
            found = webs.analyse(cfg)
        except IsaError:
            continue
        colouring = Colouring(found, vgprs or most_vgprs(one, cfg), rule)
        change(colouring)
        if any(colouring.shift):
            program = written(one, cfg, colouring)
    return program


def most_vgprs(kernel: Kernel, cfg: Cfg) -> int:
    """How many VGPRs a kernel may use for as many waves a SIMD as it has."""
    target = kernel.program.target or GFX1100
    used = max((reg.index + reg.count for inst in cfg.instructions for _, reg in webs.operands(inst)), default=1)
    waves = waves_by_vgprs(used, target)
    return max(n for n in range(used, VGPR_LIMIT + 1) if waves_by_vgprs(n, target) == waves)


def weights(cfg: Cfg) -> list[int]:
    """What a position counts: WEIGHT for each loop around it."""
    depth = [0] * len(cfg.blocks)
    for loop in cfg.loops:
        for block in loop.blocks:
            depth[block] = max(depth[block], loop.depth)
    return [WEIGHT ** min(depth[block.index], 5) for block in cfg.blocks for _ in block.range]


class Colouring:
    """Where each cluster lies: `shift`, by which its registers differ from the compiler's."""

    def __init__(self, found: Webs, limit: int, rule: str = bank_rules.DEFAULT) -> None:
        self.webs, self.cfg, self.limit = found, found.cfg, limit
        self.rule = bank_rules.RULES[rule]
        self.matrix = round(rdna3.values()["wmma_bank_passes"])
        self.weight = weights(self.cfg)
        self.shift = [0] * len(found.clusters)
        self.in_runs: set[int] = set()
        self._costing: dict[int, set[int]] = {}
        self.at: list[set[Web]] = [set() for _ in range(VGPR_LIMIT)]
        self._taken = [0] * VGPR_LIMIT  # by each of `at`, the places at which it is, but for these registers:
        self._recount: set[int] = set()
        for c in range(len(found.clusters)):
            self._set(c, 0)
        self._read_instructions()
        self.below = [self._limit_of(cluster) for cluster in found.clusters]

    def _read_instructions(self) -> None:
        """sources[i], matrices[i]: what is read at once; before[i], after[i]: the VALU instructions next to i in its
        block; pairs[c]: (web, web, modulus) whose numbers must differ."""
        cfg = self.cfg
        self.sources: dict[int, list[tuple[str, int, Web]]] = {}
        self.matrices: dict[int, list[Web]] = {}
        self.before: dict[int, int] = {}
        self.after: dict[int, int] = {}
        self.pairs: list[list[tuple[Web, Web, int]]] = [[] for _ in self.shift]
        for block in cfg.blocks:
            last = -1
            for i in block.range:
                inst = cfg.instructions[i]
                if not inst.desc.is_valu:
                    continue
                if last >= 0:
                    self.before[i], self.after[last] = last, i
                last = i
                if inst.desc.is_matrix:
                    regs = [o for o in inst.operands[1:4] if isinstance(o, Reg) and o.is_vgpr]
                    if len(regs) == 3:
                        self.matrices[i] = [self.webs.of(i, reg, False) for reg in regs]
                else:
                    rows = [(s.half, s.slot, self.webs.of(i, s.reg, False)) for s in banks.sources(inst)]
                    self.sources[i] = rows
                if inst.pair is not None:
                    self._rules_of_pair(i, inst)

    def _rules_of_pair(self, i: int, inst: Instruction) -> None:
        written = banks.destinations(inst)
        rules = [(self.webs.of(i, written[0], True), self.webs.of(i, written[1], True), 2)] if len(written) == 2 else []
        for slot in (0, 1, 2):
            if (pair := banks.slot_pair(inst, slot)) is not None:
                apart = 4 if slot < 2 and pair[0].parity == pair[1].parity else 2
                rules.append((self.webs.of(i, pair[0], False), self.webs.of(i, pair[1], False), apart))
        for rule in rules:
            for cluster in {rule[0].cluster, rule[1].cluster}:
                self.pairs[cluster].append(rule)

    def _limit_of(self, cluster: Cluster) -> int:
        """16-bit operands of the short encodings have no number for v128 and above."""
        for i in cluster.positions:
            for half in self.cfg.instructions[i].halves:
                if any(bit_width(role.type) == 16 for role in half.desc.roles if role.kind in "va"):
                    return min(self.limit, VGPR_LIMIT // 2)
        return self.limit

    def number(self, web: Web) -> int:
        """The VGPR in which a web lies now."""
        return web.number + self.shift[web.cluster]

    def cost(self, i: int) -> int:
        """Cycles that a position's reads cost beyond one."""
        if i in self.matrices:
            return self.matrix * (len({self.number(web) % 4 for web in self.matrices[i]}) == 1)
        return self.rule(self._sources(self.before.get(i, -1)), self._sources(i))

    def _sources(self, i: int) -> list[Source]:
        return [banks.source(half, slot, self.number(web)) for half, slot, web in self.sources.get(i, ())]

    def total(self, positions: Iterable[int]) -> int:
        """Weighted cycles of these positions."""
        return sum(self.weight[i] * self.cost(i) for i in positions)

    def touched(self, clusters: Iterable[int]) -> set[int]:
        """The positions whose cost depends on where these clusters lie."""
        return set[int]().union(*map(self._touched, clusters))

    def _touched(self, c: int) -> set[int]:
        found = self._costing.get(c)
        if found is None:
            own = [i for i in self.webs.clusters[c].positions if i in self.sources or i in self.matrices]
            found = self._costing[c] = {*own, *(self.after[i] for i in own if i in self.after)}
        return found

    def legal(self, c: int) -> bool:
        """Whether the pairs that name a cluster keep their rules."""
        return all(self.number(a) % m != self.number(b) % m for a, b, m in self.pairs[c])

    def improve(self) -> None:
        """Moves clusters while that helps."""
        blame = dict.fromkeys(range(len(self.shift)), 0)
        while True:
            costly = [i for i in (*self.sources, *self.matrices) if self.cost(i)]
            for i in costly:
                rows = self.matrices.get(i) or [web for _, slot, web in self.sources[i] if slot != 2]
                for c in {web.cluster for web in rows}:
                    blame[c] += self.weight[i]
            order = sorted((c for c in blame if blame[c]), key=lambda c: -blame[c])
            if not sum([self._move(c) for c in order if not self.webs.clusters[c].pinned]):
                return
            blame = dict.fromkeys(blame, 0)

    def _move(self, c: int) -> bool:
        """Moves one cluster to a better class of registers, if there is one and room in it."""
        here, where = self.shift[c], self.touched([c])
        now = self.total(where)
        found = []
        for turn in (1, 2, 3):
            self.shift[c] = here + turn
            if self.legal(c) and (gain := now - self.total(where)) > 0:
                found.append((-gain, turn))
        self.shift[c] = here
        return any(self._place(c, (here + turn) % 4) for _, turn in sorted(found))

    def _place(self, c: int, turn: int) -> bool:
        """Puts a cluster where its shift is `turn` modulo 4: on free registers, else on some that can be made free."""
        free = next((s for s in self.rooms(c) if s % 4 == turn), None)
        if free is not None:
            self.put(c, free)
            return True
        crowded: list[tuple[int, int, set[int]]] = []
        for shift in (s for s in self.places(c) if s % 4 == turn):
            others = set(self._in_the_way(c, shift))
            if len(others) <= _EVICTED and not any(self.webs.clusters[o].pinned for o in others):
                size = sum(len(self.webs.clusters[o].webs) for o in others)
                crowded.append((size, shift, others))
        return any(self._evict(c, shift, others) for _, shift, others in sorted(crowded, key=lambda t: t[:2])[:16])

    def _evict(self, c: int, shift: int, others: set[int]) -> bool:
        """Puts a cluster where others lie, and these elsewhere, if all in all that is better; else nothing changes."""
        where = self.touched([c, *others])
        old, now = {o: self.shift[o] for o in (c, *others)}, self.total(where)
        for o in others:
            self._lift(o)
        self.put(c, shift)
        for o in sorted(others, key=lambda o: -len(self.webs.clusters[o].webs)):
            free = next((s for s in self._nearest(o) if self.fits(o, s)), None)
            if free is None:
                break
            self._set(o, free)
        else:
            if all(map(self.legal, old)) and self.total(where) < now:
                return True
        self.restore(old)
        return False

    def _nearest(self, o: int) -> Iterator[int]:
        """Shifts of a cluster, those first that keep its banks."""
        yield from sorted(self.places(o), key=lambda s: ((s - self.shift[o]) % 4 != 0, s))

    def fits(self, o: int, shift: int) -> bool:
        """Whether a cluster may lie there: nothing else does at any time, and pairs keep their rules."""
        return self.legal_at(o, shift) and self.free(o, shift)

    def legal_at(self, c: int, shift: int) -> bool:
        """Whether pairs keep their rules with a cluster there, which depends on its shift modulo 4 alone."""
        here, self.shift[c] = self.shift[c], shift
        legal = self.legal(c)
        self.shift[c] = here
        return legal

    def free(self, c: int, shift: int) -> bool:
        """Whether nothing else lies there at any time that the cluster does."""
        return next(self._in_the_way(c, shift), None) is None

    def places(self, c: int) -> range:
        """The shifts that leave a cluster within the registers that it may have."""
        numbers = [web.number for web in self.webs.clusters[c].webs]
        return range(-min(numbers), self.below[c] - max(numbers))

    def rooms(self, c: int) -> list[int]:
        """The shifts at which nothing else lies at any time that a cluster does, in order."""
        self._lift(c)
        for number in self._recount:
            self._taken[number] = functools.reduce(operator.or_, [web.taken for web in self.at[number]], 0)
        self._recount.clear()
        found = list(self.places(c))
        for web in self.webs.clusters[c].webs:
            number, taken, places = web.number, self._taken, web.taken
            found = [s for s in found if not taken[number + s] & places]
        self._set(c, self.shift[c])
        return found

    def take(self, web: Web, places: int) -> None:
        """Has a web take its register at these places."""
        web.taken = places
        self._recount.add(self.number(web))

    def _in_the_way(self, c: int, shift: int) -> Iterator[int]:
        """The other clusters that lie, at some time, where this one would; one may come several times."""
        for web in self.webs.clusters[c].webs:
            taken = web.taken
            for other in self.at[web.number + shift]:
                if other.taken & taken and other.cluster != c:
                    yield other.cluster

    def _lift(self, c: int) -> None:
        for web in self.webs.clusters[c].webs:
            self.at[self.number(web)].discard(web)
            self._recount.add(self.number(web))

    def _set(self, c: int, shift: int) -> None:
        self.shift[c] = shift
        for web in self.webs.clusters[c].webs:
            self.at[self.number(web)].add(web)
            self._taken[self.number(web)] |= web.taken

    def in_a_run(self, wanted: Sequence[tuple[Web, int]]) -> bool:
        """Puts values where their registers are a run: (web, number within the run). Of the first few places that fit,
        that at which reads collide least; False, and nothing changed, where there is none. What lies in a run stays."""
        shifts: dict[int, int] = {}
        for web, word in wanted:
            if shifts.setdefault(web.cluster, word - web.number) != word - web.number:
                return False
        old = {c: self.shift[c] for c in shifts}
        found: list[tuple[int, int, dict[int, int]]] = []
        where = self.touched(shifts)
        now = {old[c] - shifts[c] for c in shifts}
        for first in sorted(range(VGPR_LIMIT), key=lambda n: (n not in now, n)):
            there = {c: first + shift for c, shift in shifts.items()}
            if self._all_fit(there, old):
                found.append((self.total(where), len(found), there))
            self.restore(old)
            if len(found) == _RUNS:
                break
        if found:
            self.restore(min(found, key=lambda row: row[:2])[2])
            self.in_runs |= set(shifts)
        return bool(found)

    def _all_fit(self, there: Mapping[int, int], old: Mapping[int, int]) -> bool:
        """Puts clusters where they are wanted, while they fit."""
        for c, shift in there.items():
            stays = self.webs.clusters[c].pinned or c in self.in_runs
            if shift not in self.places(c) or (stays and shift != old[c]):
                return False
        for c in there:
            self._lift(c)
        for c, shift in there.items():
            if not self.free(c, shift):
                for o in there:
                    self._lift(o)
                    self._set(o, old[o])
                return False
            self._set(c, shift)
        return all(map(self.legal, there))

    def restore(self, shifts: Mapping[int, int]) -> None:
        """Puts clusters back, all at once."""
        for c in shifts:
            self._lift(c)
        for c, shift in shifts.items():
            self._set(c, shift)

    def put(self, c: int, shift: int) -> None:
        """Moves a cluster."""
        self._lift(c)
        self._set(c, shift)


def written(kernel: Kernel, cfg: Cfg, colouring: Colouring) -> Program:
    """The kernel on its new registers; hints stay, since no instruction changes its place."""
    lines = list(kernel.program.lines)
    for i, inst in enumerate(cfg.instructions):
        if (changed := renamed(inst, i, colouring)) != inst:
            lines[cfg.lines[i]] = instruction_line(changed)
    return recount(kernel.program.with_lines(lines).kernel(kernel.name))


def renamed(inst: Instruction, i: int, colouring: Colouring) -> Instruction:
    """An instruction on its new registers."""
    if inst.pair is not None:
        x, y = (renamed(half, i, colouring) for half in inst.halves)
        return dataclasses.replace(x, pair=y)

    def new(operand: Operand, written: bool) -> Operand:
        reg = bare(operand)
        if not isinstance(reg, Reg) or not reg.is_vgpr:
            return operand
        moved = dataclasses.replace(reg, index=colouring.number(colouring.webs.of(i, reg, written)))
        return dataclasses.replace(operand, operand=moved) if isinstance(operand, Modified) else moved

    roles = inst.desc.roles[: len(inst.operands)]
    operands = tuple(new(o, role.written) for role, o in zip(roles, inst.operands, strict=True))
    return dataclasses.replace(inst, operands=operands)
