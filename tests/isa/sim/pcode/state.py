"""The state of a wave as the texts see it: registers, memories, program counter, MODE."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pcode.floats import Format

LANES = 32
VCC, M0, EXEC = 106, 125, 126
"""Numbers of SGPRs."""


@dataclass
class State:
    """vgprs [256, 32] and sgprs [128] of u32; memory from address `base` on; one scratch a lane.

    loose: (file, register or place in the memory, lane, first bit) -> format of NaNs that may be any.
    """

    vgprs: np.ndarray
    sgprs: np.ndarray
    scc: bool
    memory: bytearray
    base: int
    lds: bytearray
    scratch: list[bytearray]
    pc: int
    mode: int
    loose: dict[tuple[str, int, int, int], Format] = field(default_factory=dict)

    def copy(self) -> State:
        return State(
            self.vgprs.copy(), self.sgprs.copy(), self.scc, bytearray(self.memory), self.base, bytearray(self.lds),
            [bytearray(s) for s in self.scratch], self.pc, self.mode,
        )  # fmt: skip
