"""Spread loads: renames load destinations to the VGPRs that have been free longest, so that loads can move up.

A compiler gives each step of a loop the same registers for what it loads: then no load can pass the last instruction
that reads what lay there before, and a scheduler that keeps registers (`isa.passes.schedule.list_schedule`) has nothing
to choose from. Here each load of a block, one after the other, gets those registers which nothing uses for the longest
time before it; so two steps, or more, take turns (modulo variable expansion, Lam 1988, without unrolling: unroll
first). Banks stay as they are where that costs no time.

In: a program. Out: the same instructions in the same order on other VGPRs (`isa.analysis.webs`), no more of them than
leave the number of waves a SIMD what it was, or than the option says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from isa.analysis.cfg import Block, Cfg
from isa.asm.program import Program
from isa.passes.general.rename_banks import Colouring, recoloured
from isa.registers import Reg


@dataclass(frozen=True)
class SpreadLoads:
    """Gives loads registers that have been free for long.

    vgprs: how many VGPRs the kernel may use; 0: as many as leave its waves a SIMD what they were.
    kernel: which one; none: all.

    Requires:   nothing; a kernel with calls, jumps through registers or registers chosen by M0 is left alone.
    Guarantees: the same instructions in the same order; every read sees the value that it saw; pairs stay legal.
    Leaves alone: loads whose result another block reads; where there are loops, blocks outside of them; all that is
                no VGPR.
    """

    name: ClassVar[str] = "spread-loads"
    vgprs: int = 0
    kernel: str = ""

    def run(self, program: Program) -> Program:
        return recoloured(program, self.vgprs, _spread_kernel, kernel=self.kernel)


def _spread_kernel(colouring: Colouring) -> None:
    cfg = colouring.cfg
    inside = {b for loop in cfg.loops for b in loop.blocks} or range(len(cfg.blocks))
    for b in sorted(inside):
        _spread(cfg, cfg.blocks[b], colouring)


def _spread(cfg: Cfg, block: Block, colouring: Colouring) -> None:
    """Moves what the block's loads fill, in their order."""
    for i in block.range:
        inst = cfg.instructions[i]
        access = inst.desc.access
        target = inst.operands[0] if inst.operands else None
        if access is None or access.kind != "load" or not (isinstance(target, Reg) and target.is_vgpr):
            continue
        c = colouring.webs.of(i, target, True).cluster
        cluster = colouring.webs.clusters[c]
        if cluster.pinned or not all(p in block.range for p in cluster.positions) or min(cluster.positions) != i:
            continue
        here = colouring.shift[c]
        free = (s for s in colouring.rooms(c) if colouring.legal_at(c, s))
        best = max(
            free, key=lambda s: (_free_for(colouring, c, s, block, i), (s - here) % 4 == 0, s == here, -s), default=here
        )
        if best != here:
            colouring.put(c, best)


def _free_for(colouring: Colouring, c: int, shift: int, block: Block, position: int) -> int:
    """How many instructions before a position of a block do without the registers that a cluster would have."""
    taken = 0
    for web in colouring.webs.clusters[c].webs:
        for other in colouring.at[web.number + shift]:
            if other.cluster != c:
                taken |= other.taken
    before = taken >> block.start & (1 << position - block.start) - 1
    return position - block.start - before.bit_length()
