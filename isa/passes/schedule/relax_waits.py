"""Waits as late and as loose as correctness allows, by `isa.passes.schedule.block_order` on the order that is there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from isa.asm.program import Program
from isa.passes.edit import each_kernel
from isa.passes.schedule import block_order, hints


@dataclass(frozen=True)
class RelaxWaits:
    """Puts each `s_waitcnt` in front of the first instruction that needs it, for the largest number that will do.

    blocks: numbers of the blocks that it takes, as 2+5+7; none: all. kernel: which one; none: all.

    Requires:   nothing.
    Guarantees: the same instructions in the same order, waits and hints apart; nothing uses a register that a load may
                still fill; what had been waited for before a barrier, a fence, a scalar load, a branch or a block's end
                still has been there.
    Leaves alone: functions that call; functions that wait for other waves through memory (atomics, `glc`, sleeping);
                waits for results (`s_waitcnt_depctr`).
    """

    name: ClassVar[str] = "relax-waits"

    blocks: str = ""
    kernel: str = ""

    def run(self, program: Program) -> Program:
        only = block_order.numbers_of(self.blocks)
        change = partial(block_order.rewrite, reorder=block_order.as_it_is, hinted=hints.hinted, only=only)
        return each_kernel(program, self.kernel, change)
