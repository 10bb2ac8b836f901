"""Guards whose conditions depend on loaded data: a `Cfg` -> the comparisons that make them.

    if (score > max) { rescale(); max = score; }

A guard turns lanes off for some instructions, and a branch skips these where no lane is left. What it costs hangs on
data, but where the kernel goes afterwards does not. So a kernel with such guards can be timed without its data once it
is said how they go: **all lanes that come to one take it**. That is no bound where there is an `else`, which then
nothing enters; whoever shows a time must say that it was assumed.

The analysis is forward, over registers that hold what was loaded or computed from it, in lanes that are on or off, and
lane masks that follow from how a guard goes. A comparison of data gives the lanes that are on.
`isa.timing.trace.slicing` then rejects all that would not be so simple: a loop that such a mask ends, a branch on
another mask than EXEC, which may choose between values of the whole wave, and a value or an address that differs by how
the guard went.

Limits: spilled data is not followed through scratch. Masks that come from data otherwise than by a vector comparison
are data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from isa.analysis import dataflow, exec_mask, regset
from isa.analysis.cfg import Block, Cfg
from isa.analysis.exec_restores import restores
from isa.registers import EXEC, EXEC_LO

_State = tuple[int, int, int]


@dataclass(frozen=True)
class Guards:
    """comparisons: positions; masked[i]: registers (`isa.analysis.regset`) that follow from them before position i;
    ends: where EXEC becomes what it was before another position (`isa.analysis.exec_restores`)."""

    comparisons: frozenset[int]
    masked: Sequence[int]
    ends: Mapping[int, int]

    @staticmethod
    def none(cfg: Cfg) -> Guards:
        return Guards(frozenset(), [0] * len(cfg), {})

    @staticmethod
    def skip(cfg: Cfg, position: int) -> bool:
        """Whether a branch on EXEC only skips what has no lane that is on: no loop ends by it."""
        block = cfg.block_of(position)
        return all(loop.blocks.issuperset(block.successors) for loop in cfg.loops if block.index in loop.blocks)


def of_data(cfg: Cfg, lanes: int, exec_: exec_mask.ExecMask, spills: frozenset[int]) -> Guards:
    """lanes: of a wave; spills: accesses of scratch that stand for registers."""
    ends = restores(cfg, lanes)
    count, mask = len(cfg), regset.mask([EXEC_LO, EXEC])
    masked, comparisons = [0] * count, set[int]()

    def through(block: Block, state: _State) -> _State:
        on, off, masks = state
        for i in block.range:
            inst, read, written = cfg.instructions[i], cfg.uses[i], cfg.defs[i]
            desc = inst.desc
            if i in ends:
                read &= ~mask
            if exec_.full[i]:
                masks &= ~mask
            masked[i] = masks
            loads = desc.access is not None and desc.access.space != "scalar" and i not in spills
            # Which lanes take part says nothing of what they compute.
            operands = read & ~mask if desc.is_vector else read
            across = desc.crosses_lanes or inst.dpp or regset.across_lanes(inst)
            data = on | off if across else on
            on_data = loads or bool(operands & data) or (desc.is_vector and bool(operands & masks))
            guard = desc.is_compare and on_data
            if guard:
                comparisons.add(i)
            narrowed = written & (mask if desc.is_vector else regset.SCALARS) if read & masks else 0
            masks = masks & ~(written & regset.SCALARS) | (written if guard else narrowed)
            on = on & ~written | (written if on_data and not guard else 0)
            if exec_.full[i] or not desc.exec_masked:
                off &= ~written
            if exec_.change[i]:
                on, off = exec_mask.forward(exec_.change[i], on, off)
        return on, off, masks

    dataflow.forward(cfg, (0, 0, 0), through, lambda one, two: (one[0] | two[0], one[1] | two[1], one[2] | two[2]))
    return Guards(frozenset(comparisons), masked, ends)
