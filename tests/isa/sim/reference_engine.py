"""A launch on the reference engine: the whole of it, for what native code is held against."""

from __future__ import annotations

import numpy as np

from isa.object.code_object import CodeObject
from isa.sim.run.interpret import Buffers, ReferenceLaunch, run_workgroup


def launch(
    code_object: CodeObject, name: str, memory: Buffers, grid: tuple[int, int, int], block: tuple[int, int, int],
    kernarg: bytes, dynamic_lds: int = 0, last: tuple[int, int, int] | None = None,
) -> int:  # fmt: skip
    """Run kernel `name` on `grid` workgroups of `block` work-items, one after another; gives instructions executed."""
    whole = ReferenceLaunch(code_object, name, memory, grid, block, kernarg, dynamic_lds, last)
    executed = 0
    for z, y, x in np.ndindex(grid[2], grid[1], grid[0]):
        waves = whole.workgroup((x, y, z))
        run_workgroup(waves)
        executed += sum(wave.executed for wave in waves)
    return executed
