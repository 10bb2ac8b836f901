"""Def-use chains: a `Cfg` -> reaching definitions, the definitions of each use, the uses of each definition.

Forward data flow over definition sites: (position, single register), and one site `ENTRY` for each register at the
function's start (kernel arguments, work-item and workgroup IDs, or nothing at all). A write that reaches all lanes
replaces the sites of its register; one masked by EXEC replaces them for the lanes that are on. As in `liveness`, two
sets are kept, for the lanes that EXEC has on and for those it has off, and a write of EXEC moves sites between them;
where EXEC is proven full there are no lanes off.

A call defines every register (site: its position) but replaces none, since what the callee leaves alone is not known;
nor does a write that adds M0 to its register's number.

Sites are bits of one int, about one a register written: a kernel of 1500 instructions has some 2500.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate

from isa.analysis import dataflow, exec_mask, regset
from isa.analysis.cfg import Block, Cfg
from isa.analysis.exec_mask import ExecMask
from isa.registers import Reg

ENTRY = -1
_NOWHERE = frozenset[int]()


@dataclass(frozen=True)
class DefUse:
    """reaching: (position, register number of `regset`) of each read -> the positions of its definitions."""

    cfg: Cfg
    reaching: dict[tuple[int, int], frozenset[int]]

    def defs_of(self, position: int, reg: Reg) -> frozenset[int]:
        """The positions whose write of a single register the read at `position` may see; `ENTRY` for the value that
        the function starts with; none in code that is never reached. KeyError where `position` does not read it."""
        return self.reaching[position, regset.bit(reg)]

    def reaching_at(self, position: int, number: int) -> frozenset[int]:
        """As `defs_of`, by the register's number; none where the position does not read it."""
        known = (position, number) in self.reaching
        return self.defs_of(position, regset.members(1 << number)[0]) if known else frozenset()

    def over_all_paths(self, position: int, reg: Reg) -> frozenset[int]:
        """As `defs_of`, whatever narrows it."""
        return self.reaching[position, regset.bit(reg)]

    def sees(self, position: int, regs: Sequence[Reg], row: tuple[int, ...]) -> bool:
        """Whether the read at `position` is known to see these definitions of single registers at once: any with any,
        since no paths are kept."""
        return all(site in self.reaching[position, regset.bit(reg)] for reg, site in zip(regs, row, strict=True))

    @cached_property
    def _uses(self) -> dict[tuple[int, int], set[int]]:
        seeing = defaultdict[tuple[int, frozenset[int]], list[int]](list)  # many see the same definitions
        for (use, number), sites in self.reaching.items():
            seeing[number, sites].append(use)
        uses: dict[tuple[int, int], set[int]] = {}
        for (number, sites), those in seeing.items():
            for site in sites:
                if (known := uses.get((site, number))) is None:
                    uses[site, number] = set(those)
                else:
                    known.update(those)
        return uses

    def uses_of(self, position: int, reg: Reg) -> Set[int]:
        """The positions that may read what `position` (or `ENTRY`) put into a single register; empty where none do."""
        return self._uses.get((position, regset.bit(reg)), _NOWHERE)

    def reading(self, position: int, number: int) -> Set[int]:
        """As `uses_of`, by the register's number, whatever narrows it."""
        return self._uses.get((position, number), _NOWHERE)

    def from_entry(self, given: int = 0) -> list[tuple[int, Reg]]:
        """(position, register) of each read that may see the value the function starts with, of those not in `given`
        (`regset`)."""
        asked = regset.numbers(regset.ALL & ~given)
        found = sorted((use, number) for number in asked for use in self.reading(ENTRY, number))
        return [(i, regset.members(1 << number)[0]) for i, number in found]


def analyse(cfg: Cfg, lanes: ExecMask | None = None) -> DefUse:
    """Reaching definitions of a function; `lanes` where they are known already."""
    lanes = lanes or exec_mask.analyse(cfg)
    uses, calls = cfg.uses, frozenset(cfg.calls)
    written = [regset.numbers(regset.ALL if i in calls else d) for i, d in enumerate(cfg.defs)]
    kept = calls.union(cfg.where(lambda desc: desc.scatters))
    # The sites of a register are in a row, ENTRY first.
    positions: list[list[int]] = [[ENTRY] for _ in range(regset.ALL.bit_length())]
    places: list[list[int]] = []  # of what each position writes, in its registers' rows
    for i, numbers in enumerate(written):
        places.append([len(positions[number]) for number in numbers])
        for number in numbers:
            positions[number].append(i)
    first = [0, *accumulate(len(row) for row in positions)]
    of_register = [(1 << len(row)) - 1 << start for row, start in zip(positions, first, strict=False)]

    @cache
    def of_registers(registers: int) -> int:
        return sum(of_register[number] for number in regset.numbers(registers))

    @cache
    def made(i: int) -> int:
        return sum(1 << first[number] + place for number, place in zip(written[i], places[i], strict=True))

    vector_sites = of_registers(regset.VGPRS)

    def step(i: int, on: int, off: int) -> tuple[int, int]:
        if lanes.full[i]:
            off = 0
        gen, kill = made(i), 0 if i in kept else of_registers(cfg.defs[i])
        on = on & ~kill | gen
        if i in calls:
            off |= gen
        elif cfg.instructions[i].desc.exec_masked:
            off &= ~(kill & ~vector_sites)
        else:
            off = off & ~kill | (gen & vector_sites)
        if lanes.change[i]:
            on, off = exec_mask.forward(lanes.change[i], on, off)
        return on, off

    def through(block: Block, on: int, off: int) -> tuple[int, int]:
        for i in block.range:
            on, off = step(i, on, off)
        return on, off

    def plainly(block: Block) -> tuple[tuple[int, int], ...]:
        """What a block does to `starts`, in which all lanes are on: the last writes replace all that were before."""
        last = {n: first[n] + place for i in block.range for n, place in zip(written[i], places[i], strict=True)}
        new, old = sum(1 << site for site in last.values()), sum(of_register[number] for number in last)
        _, off = step(block.end - 1, 0, 0)
        return (everything & ~old | new, off), (new, off), (new, off)

    # Steps distribute over unions, so what a block does to any two sets follows from what it does to these three.
    everything = (1 << first[-1]) - 1
    starts = ((everything, 0), (0, everything), (0, 0))
    does: dict[int, tuple[tuple[int, int], ...]] = {}

    def at_once(block: Block, state: tuple[int, int]) -> tuple[int, int]:
        if block.index not in does:
            plain = all(lanes.full[i] and not lanes.change[i] and i not in kept for i in block.range)
            does[block.index] = plainly(block) if plain else tuple(through(block, *start) for start in starts)
        (on_on, on_off), (off_on, off_off), (on_new, off_new) = does[block.index]
        on, off = state
        return on & on_on | off & off_on | on_new, on & on_off | off & off_off | off_new

    entry = sum(1 << start for start in first[:-1])
    state = dataflow.forward(cfg, (entry, 0), at_once, lambda one, two: (one[0] | two[0], one[1] | two[1]))
    sets: dict[tuple[int, int], frozenset[int]] = {}  # by register and which of its sites

    def of(number: int, seen: int) -> frozenset[int]:
        bits = (seen & of_register[number]) >> first[number]
        if (found := sets.get((number, bits))) is None:
            found = sets[number, bits] = frozenset(positions[number][k] for k in regset.numbers(bits))
        return found

    reaching: dict[tuple[int, int], frozenset[int]] = {}
    for block in cfg.blocks:
        if block.index not in state:  # never reached, so no definition reaches it
            reaching.update({(i, number): frozenset() for i in block.range for number in regset.numbers(uses[i])})
    for index, (on, off) in state.items():
        here: dict[int, frozenset[int]] = {}  # what lanes that are on hold, of what was written or asked before
        stepped = cfg.blocks[index].start  # up to where `on` and `off` are; what is not in `here` has not changed
        for i in cfg.blocks[index].range:
            # Scalar sites are in `on` always: only VGPRs have lanes.
            across = i in cfg.across_lanes and not lanes.full[i]
            if across or lanes.change[i] or i in kept:
                while stepped < i:
                    on, off = step(stepped, on, off)
                    stepped += 1
            for number in regset.numbers(uses[i]):
                if across:
                    reaching[i, number] = of(number, on | off)
                    continue
                if (found := here.get(number)) is None:
                    found = here[number] = of(number, on)
                reaching[i, number] = found
            if lanes.change[i] or i in kept:
                on, off = step(i, on, off)
                stepped = i + 1
                here.clear()
            if i not in kept:
                here.update(dict.fromkeys(written[i], frozenset((i,))))
    return DefUse(cfg, reaching)
