"""The activity factor of the power model: operations of the vector ALUs in a launch (`isa.timing.model.as_measured`).

A SIMD can do two operations a lane and cycle. `v_dual_*` is two, any other vector instruction one for each half of a
wave that has lanes: f64 and transcendentals too, which take more cycles to do one. A matrix product is what it takes
in cycles, twice, times `wmma_work` of rdna3.py, or `wmma_16bit_work` where its sums are f16 or bf16.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from isa.analysis.cfg import Cfg
from isa.semantics.instruction import Instruction
from isa.timing.machine.wave64 import Wave
from isa.timing.native import engine_abi
from isa.timing.native.engine_abi import Code, Recorded

A_CYCLE = 2
"""Operations of a lane, at most."""
_NARROW = "f16", "bf16"
"""Formats of a matrix product's sums that have 16 bits."""


def operations(cfg: Cfg, code: Code, numbers: Mapping[str, float], wave: Wave) -> np.ndarray:
    """float64[n]: of each instruction, in operations of 32 lanes."""
    vector = code.kind == engine_abi.VALU
    rows = zip(cfg.instructions, code.passes.tolist(), vector, strict=True)
    return np.array([_of(inst, passes, numbers, wave) if does else 0.0 for inst, passes, does in rows])


def _of(inst: Instruction, passes: int, numbers: Mapping[str, float], wave: Wave) -> float:
    if inst.desc.is_matrix:
        narrow = inst.desc.name.split("_")[2] in _NARROW
        return A_CYCLE * passes * numbers["wmma_16bit_work" if narrow else "wmma_work"]
    return 2.0 if inst.pair is not None else float(wave.halves)


def of_waves(each: np.ndarray, code: Code, recorded: Recorded) -> np.ndarray:
    """float64[rows]: what each recorded wave does, of what each instruction is."""
    blocks = np.concatenate([[0.0], np.cumsum(each)])[code.block_first]
    done = np.concatenate([[0.0], np.cumsum(np.diff(blocks)[recorded.blocks])])
    return np.diff(done[recorded.block_at])
