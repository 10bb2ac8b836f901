"""One of two programs that are held against each other: its control flow, the engine that runs it on terms, and which
registers are live where its blocks begin, so that only these are compared there."""

from __future__ import annotations

from dataclasses import dataclass

from isa.analysis import liveness
from isa.analysis.cfg import Cfg
from isa.asm.program import Kernel
from isa.prove.validation.engine import EXEC_AT, SegmentEngine
from isa.semantics import halves
from isa.semantics.float_mode import FloatMode


@dataclass
class Side:
    """One program. live: registers at the beginning of each block; halves: of these those of which only the low half
    is, and those of which only the high one is."""

    flow: Cfg
    engine: SegmentEngine
    live: dict[int, int]
    halves: dict[int, tuple[int, int]]
    mode: FloatMode


def side_of(kernel: Kernel, flow: Cfg, engine: SegmentEngine, by_halves: bool) -> Side:
    """A kernel. by_halves: what is live is asked of each half of a VGPR."""
    return Side(flow, engine, _live(flow), _halves(flow) if by_halves else {}, FloatMode.of_kernel(kernel))


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
