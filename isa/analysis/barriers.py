"""Halves of barriers (RDNA4): whether a wave may have arrived, before each instruction, from a control flow.

Over all paths from the entry. Limits: named barriers are not looked at; a called function is taken to be entered
without an arrival.
"""

from __future__ import annotations

from collections.abc import Iterator

from isa.analysis import dataflow
from isa.analysis.cfg import Block, Cfg
from isa.semantics.instruction import Instruction

AWAY, ARRIVED = 1, 2


def states(flow: Cfg) -> Iterator[tuple[Instruction, int]]:
    """Each instruction that can be reached, and whether the wave may have arrived before it, and may not have."""

    def through(block: Block, state: int) -> int:
        for i in block.range:
            state = _after(flow.instructions[i], state)
        return state

    for block, state in sorted(dataflow.forward(flow, AWAY, through, int.__or__).items()):
        for i in flow.blocks[block].range:
            yield flow.instructions[i], state
            state = _after(flow.instructions[i], state)


def between(flow: Cfg) -> list[Instruction]:
    """What a wave runs after it has arrived and before it waits, whichever way it came."""
    return [inst for inst, state in states(flow) if state == ARRIVED]


def _after(inst: Instruction, state: int) -> int:
    if not inst.of_workgroup:
        return state
    return ARRIVED if inst.desc.arrives else AWAY
