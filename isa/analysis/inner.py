"""Main loop of a kernel: a `Cfg` -> the loop that holds its multiply-adds, or other work that is asked for.

In: a `Cfg`, from text or disassembly. Out: which loop is the main one: the shortest of those with at least three
quarters of the work (fp32 multiply-adds) that any loop holds. So it is the inner one where an outer one adds little of
its own: nothing, or that of the epilogue where workgroups stay for another tile.
"""

from __future__ import annotations

from collections.abc import Callable

from isa.analysis.cfg import Cfg, Loop
from isa.semantics.instruction import Instruction, base_name

FMAS = frozenset({"v_fmac_f32", "v_fma_f32", "v_fmaak_f32", "v_fmamk_f32"})


def fmas(inst: Instruction) -> int:
    """fp32 multiply-adds a lane: 2 for a VOPD of two."""
    return sum(base_name(half.mnemonic) in FMAS for half in inst.halves)


def body(cfg: Cfg, loop: Loop) -> list[Instruction]:
    """The instructions of a loop in the order of the code."""
    return [cfg.instructions[i] for i in cfg.positions(loop)]


def main_loop(cfg: Cfg, work: Callable[[Instruction], int] = fmas) -> Loop | None:
    """See above; None where no loop holds any work."""
    rows = [(loop, body(cfg, loop)) for loop in cfg.loops]
    weighed = [(sum(map(work, row)), len(row), loop) for loop, row in rows]
    most = max((weight for weight, _, _ in weighed), default=0)
    full = [(length, loop) for weight, length, loop in weighed if weight and 4 * weight >= 3 * most]
    return min(full, key=lambda found: found[0])[1] if full else None
