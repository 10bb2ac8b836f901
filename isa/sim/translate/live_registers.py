"""Live VGPRs: blocks -> those that hold something when a wave begins, and those that are still read after an
instruction. What others hold is stored nowhere, and nothing reads it.

In the fast version all lanes are on: a register lives while something reads what lanes hold that are on. After an
instruction that turns lanes off, and in the plain version, it lives, too, while something reads what others hold.
"""

from __future__ import annotations

from collections.abc import Sequence

from isa.analysis import cfg, exec_mask, liveness, regset
from isa.semantics.instruction import Instruction
from isa.sim.translate.cfg import Block


class LiveRegisters:
    """fast: of the version in which all lanes are on. Registers are bits, the lowest that of v0."""

    def __init__(self, blocks: Sequence[Block], fast: bool) -> None:
        code = cfg.of_instructions([inst for block in blocks for inst in block.instructions])
        # A wave may begin with lanes off, and turn them on: nowhere is EXEC known to be full.
        lanes = exec_mask.ExecMask((False,) * len(code), exec_mask.changes(code))
        found = liveness.analyse(code, lanes)
        rows = zip(code.instructions, lanes.change, found.on_after, found.after, strict=True)
        self._after = {inst.address: on if fast and not change else every for inst, change, on, every in rows}
        self.at_start = found.before[0] & regset.VGPRS

    def after(self, inst: Instruction) -> int:
        """Those whose value something reads after an instruction."""
        return self._after[inst.address]
