"""Lanes beyond the wave: findings at instructions of wave32 code that name a lane of a wave of 64.

A lane number of 32 or more wraps: v_readlane_b32 and v_writelane_b32 take its low five bits; v_permlane64_b32, which
swaps the halves of a wave of 64, does nothing. Code written for waves of 64 assumes otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator

from isa.analysis.cfg import Cfg
from isa.asm.program import Imm
from isa.check.registry import RULES
from isa.errors import Finding
from isa.sim.numpy_values import LANES

BEYOND = RULES["LANE001"]
SOME = RULES["LANE002"]


def faults(cfg: Cfg) -> Iterator[Finding]:
    """Of a function in waves of 32."""
    for inst in cfg.instructions:
        name = inst.desc.name
        if name == "v_permlane64_b32":
            message = "v_permlane64_b32 does nothing in a wave of 32"
            yield BEYOND.broken(inst, message, expected="code for waves of 32, or wave64")
        lane = inst.operands[2] if name in ("v_readlane_b32", "v_writelane_b32") else None
        if isinstance(lane, Imm) and isinstance(lane.value, int) and not 0 <= lane.value < LANES:
            message = f"lane {lane.value} of a wave of 32: wraps to lane {lane.value % LANES}"
            yield BEYOND.broken(inst, message, operand=2, expected="a lane from 0 to 31", got=str(lane.value))
