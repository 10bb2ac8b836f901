"""The values of a function's VGPRs and where each lives: a `Cfg` -> webs, and clusters that can only move together.

A web is what one register holds from its writes to its last reads, over all paths: the unit that may be given another
register. Webs are the connected pieces of (register, place between two instructions) where the register is live
(`isa.analysis.liveness`), joined along control flow. A write starts a new one, unless the old value goes on in it:
where the instruction reads its own destination (`Description.tied`), or where EXEC is not known to be full and the old
value is still live in lanes that may be off.

A cluster is a set of webs that some operand names as one run (v[4:7]), directly or through others: their registers
keep their distances. It is pinned where the function's start gave it a value.

Beside where a web is live, its register is taken (`Web.taken`)

    after a write, though nothing reads it;
    while a load that fills it may be in flight, though nothing reads what it fills;
    just before an instruction with a destination of several registers that writes it: whether such an instruction reads
    all its sources before it writes is not known of each (LLVM: early clobber of v_wmma_*, v_mad_u64_u32).

Places are bits of an int: bit i after position i, bit n + b before the first position of block b.

Limits: none for functions that call or jump through registers, or in which M0 chooses a register: an IsaError.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from isa.analysis import exec_mask, liveness, regset, waits
from isa.analysis.cfg import Cfg
from isa.registers import Reg
from isa.semantics.instruction import Instruction, bare


@dataclass(eq=False)
class Web:
    """One value. number: of its VGPR; taken: places, see above; cluster: whose part it is."""

    number: int
    taken: int = 0
    cluster: int = -1


@dataclass(eq=False)
class Cluster:
    """Webs that keep their distances. positions: of the instructions that name one."""

    webs: list[Web] = field(default_factory=list)
    pinned: bool = False
    positions: set[int] = field(default_factory=set)


@dataclass(frozen=True)
class Webs:
    """read, written: (position, number of a VGPR) -> the web that stands there."""

    cfg: Cfg
    read: dict[tuple[int, int], Web]
    written: dict[tuple[int, int], Web]
    clusters: tuple[Cluster, ...]

    def of(self, position: int, reg: Reg, written: bool) -> Web:
        """The web of the first register of an operand; of a destination that is named as a source and not read, the one
        that is written."""
        key = position, reg.index
        return self.written[key] if written or key not in self.read else self.read[key]


def operands(inst: Instruction) -> Iterator[tuple[bool, Reg]]:
    """(whether it is written, the register) of each operand that is a VGPR or a run of them."""
    for half in inst.halves:
        for role, operand in half.desc.roles_of(half):
            reg = bare(operand)
            if isinstance(reg, Reg) and reg.is_vgpr:
                yield role.written, reg


def analyse(cfg: Cfg) -> Webs:
    """The webs of a function. IsaError, see the module's docstring."""
    if (inst := unknown(cfg)) is not None:
        raise inst.error(
            "the registers that this uses are not known: the VGPRs of this function stay as they are",
            expected="no calls, no jumps through registers, no registers chosen by M0",
        )
    return _Builder(cfg).build()


def unknown(cfg: Cfg) -> Instruction | None:
    """The first instruction of which it is not known what registers it touches."""
    rows = enumerate(cfg.instructions)
    return next((inst for i, inst in rows if i in cfg.calls or i in cfg.indirect_jumps or inst.desc.relative), None)


class _Builder:
    def __init__(self, cfg: Cfg) -> None:
        self.cfg = cfg
        self.lanes = exec_mask.analyse(cfg)
        self.live = liveness.analyse(cfg, self.lanes)
        self.webs: list[Web] = []
        self.parent: list[int] = []
        self.read: dict[tuple[int, int], int] = {}
        self.written: dict[tuple[int, int], int] = {}

    def new(self, number: int) -> int:
        self.webs.append(Web(number))
        self.parent.append(len(self.parent))
        return len(self.parent) - 1

    def find(self, at: int) -> int:
        while self.parent[at] != at:
            self.parent[at] = self.parent[self.parent[at]]
            at = self.parent[at]
        return at

    def join(self, a: int, b: int) -> None:
        a, b = self.find(a), self.find(b)
        if a != b:
            self.parent[b] = a
            self.webs[a].taken |= self.webs[b].taken

    def take(self, at: int, places: int) -> None:
        self.webs[self.find(at)].taken |= places

    def build(self) -> Webs:
        cfg = self.cfg
        entry = [self._starts(block.start) for block in cfg.blocks]
        for block in cfg.blocks:
            end = self._through(block.index, dict(entry[block.index]))
            for s in block.successors:
                for number in entry[s].keys() & end.keys():
                    self.join(end[number], entry[s][number])
        self._in_flight()
        return self._clusters(entry[0])

    def _starts(self, position: int) -> dict[int, int]:
        return {reg.index: self.new(reg.index) for reg in regset.members(self.live.before[position] & regset.VGPRS)}

    def _through(self, block: int, at: dict[int, int]) -> dict[int, int]:
        """Numbers -> webs at the block's end, from those at its start."""
        cfg, rows = self.cfg, self.cfg.blocks[block].range
        before = 1 << (len(cfg) + block)
        born = dict.fromkeys(at, rows.start)
        for web in at.values():
            self.take(web, before)
        alive = held = self.live.before[rows.start] & regset.VGPRS
        for i in rows:
            inst = cfg.instructions[i]
            for reg in regset.members(cfg.uses[i] & regset.VGPRS):
                if reg.index not in at:  # in code that is never reached
                    at[reg.index], born[reg.index] = self.new(reg.index), i
                self.read[i, reg.index] = at[reg.index]
            after = self.live.after[i] & regset.VGPRS
            writes = cfg.defs[i] & regset.VGPRS
            several = inst.desc.is_valu and any(written and reg.count > 1 for written, reg in operands(inst))
            goes_on = self._goes_on(i)
            for reg in regset.members(alive & ~after | alive & writes & ~goes_on):
                self.take(at[reg.index], _places(born[reg.index], i))
            for reg in regset.members(writes):
                number = reg.index
                if not goes_on >> number & 1 or number not in at:
                    at[number], born[number] = self.new(number), i
                self.written[i, number] = at[number]
                self.take(at[number], 1 << i | (before if several else 0))
            held |= (cfg.uses[i] | writes) & regset.VGPRS
            alive = after & held  # what is live in lanes that are off, where none are, holds nothing yet
            before = 1 << i
        for reg in regset.members(alive):
            self.take(at[reg.index], _places(born[reg.index], rows.stop))
        return at

    def _goes_on(self, i: int) -> int:
        """Of the VGPRs that a position writes, those whose old value stays a part of the new one."""
        inst, cfg = self.cfg.instructions[i], self.cfg
        kept = regset.mask(inst.desc.tied(inst))
        if not self.lanes.full[i]:
            kept |= self.live.before[i] & self.live.after[i]
        if inst.desc.is_matrix:  # C where D is it too: LLVM ties them, for what D overwrites is also read
            kept |= cfg.uses[i]
        return kept & cfg.defs[i] & regset.VGPRS

    def _in_flight(self) -> None:
        """Loads whose results nothing reads hold their registers until they have been waited for."""
        cfg = self.cfg
        flight = waits.analyse(cfg)
        places: dict[int, int] = {}
        for block in cfg.blocks:
            place = 1 << (len(cfg) + block.index)
            for i in block.range:
                for load, _ in flight.before[i]:
                    places[load] = places.get(load, 0) | place
                place = 1 << i
        for load, held in places.items():
            for reg in regset.members(waits.filled(cfg, load) & regset.VGPRS):
                self.take(self.written[load, reg.index], held)

    def _clusters(self, entry: dict[int, int]) -> Webs:
        groups: dict[int, int] = {}

        def group(at: int) -> int:
            while (up := groups.setdefault(at, at)) != at:
                at = up
            return at

        places: dict[int, set[int]] = {}
        for i, inst in enumerate(self.cfg.instructions):
            for written, reg in operands(inst):
                table = self.written if written else self.read
                roots = [self.find(table[i, unit.index]) for unit in reg.units()]
                for root in roots:
                    places.setdefault(root, set()).add(i)
                    groups[group(root)] = group(roots[0])
        found: dict[int, Cluster] = {}
        for root, where in places.items():
            cluster = found.setdefault(group(root), Cluster())
            cluster.webs.append(self.webs[root])
            cluster.positions |= where
        pinned = {self.find(web) for web in entry.values()}
        clusters = tuple(found.values())
        for number, cluster in enumerate(clusters):
            for web in cluster.webs:
                web.cluster = number
        for root in pinned:
            if self.webs[root].cluster >= 0:
                clusters[self.webs[root].cluster].pinned = True
        read, writes = (
            {key: self.webs[self.find(web)] for key, web in table.items()} for table in (self.read, self.written)
        )
        return Webs(self.cfg, read, writes, clusters)


def _places(first: int, end: int) -> int:
    """The places after positions first to end - 1."""
    return (1 << max(end, first)) - (1 << first)
