"""What is counted of a kernel's text: registers, dual instructions, reads that collide; in all, and within loops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from isa.analysis import banks, cfg, dependences
from isa.analysis.cfg import Cfg
from isa.asm.program import Program
from isa.passes.schedule import dual_issue
from isa.timing.machine import bank_rules


@dataclass(frozen=True)
class Figures:
    """What is counted of a kernel. pairs: dual instructions; eligible: what a VOPD can hold, each half one; conflicts:
    cycles that operand reads cost beyond one; matrix: matrix products on one bank. `loop`: the same within loops."""

    vgprs: int
    instructions: int
    pairs: int
    eligible: int
    conflicts: int
    matrix: int
    loop: Mapping[str, int]


def fewer(new: Figures, old: Figures) -> bool:
    """Whether less collides in loops, and in all."""
    return (new.loop["matrix"], new.loop["conflicts"], new.matrix, new.conflicts) < (
        old.loop["matrix"], old.loop["conflicts"], old.matrix, old.conflicts,
    )  # fmt: skip


def figures(program: Program, name: str) -> Figures:
    """What is counted of a kernel."""
    flow = cfg.of_kernel(program.kernel(name))
    inside = {i for loop in flow.loops for i in flow.positions(loop)}
    whole, loop = _count(flow, set(range(len(flow)))), _count(flow, inside)
    vgprs = max(
        (r.index + 1 for inst in flow.instructions for r in inst.reads() | inst.writes() if r.is_vgpr), default=0
    )
    return Figures(vgprs=vgprs, loop=loop, **whole)


def _count(flow: Cfg, of: set[int]) -> dict[str, int]:
    rule = bank_rules.RULES[bank_rules.DEFAULT]
    found = dict.fromkeys(("instructions", "pairs", "eligible", "conflicts", "matrix"), 0)
    for block in flow.blocks:
        before: tuple[banks.Source, ...] = ()
        for i in block.range:
            inst = flow.instructions[i]
            if i not in of or dependences.is_hint(inst):
                continue
            found["instructions"] += 1
            if not inst.desc.is_valu:
                continue
            now = banks.sources(inst)
            found["conflicts"] += rule(before, now)
            before = now
            found["matrix"] += bank_rules.matrix_on_one_bank(inst)
            found["pairs"] += inst.pair is not None
            found["eligible"] += 2 if inst.pair is not None else bool(dual_issue.facts(inst))
    return found
