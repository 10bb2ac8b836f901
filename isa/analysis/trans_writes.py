"""Results of transcendental instructions that a VALU instruction can read before they are there: a `Cfg` -> at each
block's entry, the VGPRs, by how much follows the write.

From v_exp, v_log, v_rcp and their kind GFX11 (gfx1100 to gfx1103) lets a VALU instruction read too early, while at most
5 VALU instructions and 1 transcendental one stand between; a compiler puts `s_waitcnt_depctr depctr_va_vdst(0)` there.
Memory instructions wait for the VALU anyway. Forward data flow over all paths.

Source: LLVM GCNHazardRecognizer.cpp, fixVALUTransUseHazard. `isa.lint.hazards` looks for the same from the reader
backwards, and shares nothing with this; here halves of registers count as whole ones.
"""

from __future__ import annotations

from collections.abc import Mapping

from isa.analysis import dataflow, regset
from isa.analysis.cfg import Block, Cfg
from isa.analysis.valu_writes import either
from isa.semantics.instruction import Instruction
from isa.semantics.waits import depctr

_VALU, _TRANS = 6, 2
State = tuple[int, ...]
"""The VGPRs (`regset`) with so many VALU and transcendental instructions after their write: `valu * _TRANS + trans`."""
NOTHING: State = (0,) * (_VALU * _TRANS)


def after(inst: Instruction, written: int, state: State) -> State:
    """The state after an instruction. written: what it writes (`regset`)."""
    desc = inst.desc
    if desc.drains_valu or depctr(inst, "va_vdst") == 0:
        return NOTHING
    if not desc.is_valu or not (desc.is_trans or any(state)):
        return state
    moved = [0] * len(NOTHING)
    for at, registers in enumerate(state):
        valu, trans = at // _TRANS + 1, at % _TRANS + desc.is_trans
        if registers and valu < _VALU and trans < _TRANS:
            moved[valu * _TRANS + trans] |= registers
    moved[0] |= written & regset.VGPRS if desc.is_trans else 0
    return tuple(moved)


def covered(state: State, by: State) -> bool:
    """Whether what is safe with `by` as the state before it is safe with `state`, too."""
    for at, registers in enumerate(state):
        if registers:
            nearer = 0
            for other, mine in enumerate(by):
                if other // _TRANS <= at // _TRANS and other % _TRANS <= at % _TRANS:
                    nearer |= mine
            if registers & ~nearer:
                return False
    return True


def through(cfg: Cfg, block: Block, state: State) -> State:
    """The state after a block."""
    for i in block.range:
        state = after(cfg.instructions[i], cfg.defs[i], state)
    return state


def entries(cfg: Cfg) -> Mapping[int, State]:
    """Block -> the state in which it begins."""
    if not any(inst.desc.is_trans for inst in cfg.instructions):
        return dict.fromkeys(range(len(cfg.blocks)), NOTHING)
    return dataflow.forward(cfg, NOTHING, lambda block, state: through(cfg, block, state), either)
