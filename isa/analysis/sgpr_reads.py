"""SGPRs that VALU has read and that are then written: a `Cfg` -> where RDNA4 may read the value from before the write.

RDNA4 keeps what a VALU instruction reads of an SGPR, for its pair, without end in time. If that SGPR is then written,
by SALU and read by SALU or VALU, or by VALU and read by VALU, the old value may be read. Compilers put s_wait_alu
between: sa_sdst(0) after SALU; after VALU va_vcc(0) for VCC, va_sdst(0) for the others.

Forward data flow over all paths, of the SGPRs that VALU has read, and of those of them that SALU and VALU wrote since:

    s_wait_alu             ends what its fields say
    SMEM, vector memory    end both, but FLAT instructions (LLVM counts global and scratch ones among these)
    a SALU read            of an SGPR that VALU has read ends what VALU wrote: of VCC that of VCC, else all but that
    4 ds_nop in a row      (8 in a wave of 64) forget what VALU has read
    a call                 leaves nothing written; what the function may have read is all

M0, EXEC, NULL and the trap registers are exempt. A kernel begins with nothing read, a function with all.

Source: LLVM AMDGPUWaitSGPRHazards.cpp. Limits: what a function does with what its caller wrote is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator

from isa.analysis import dataflow, regset
from isa.analysis.cfg import Block, Cfg
from isa.registers import VCC, Reg
from isa.semantics.instruction import Instruction
from isa.semantics.waits import depctr

_SGPRS = regset.mask([Reg("s", 0, 108)])
_VCC = regset.mask([VCC])
FIELDS = "sa_sdst", "va_sdst", "va_vcc"
"""Of s_wait_alu, that are about this."""
_EVEN = regset.mask([Reg("s", n) for n in range(0, 108, 2)])
State = tuple[int, int, int, int]
"""What VALU has read, in pairs; of that what SALU wrote, and what VALU wrote; how many ds_nop stand before."""


def strikes(cfg: Cfg, begins_read: bool, wave64: bool) -> Iterator[tuple[int, int, int]]:
    """(position, registers that it may read too early: those that SALU wrote, and those that VALU wrote). begins_read:
    at the entry VALU has read all."""
    if not any(cfg.instructions[i].desc.is_valu and cfg.uses[i] & _SGPRS for i in range(len(cfg))):
        return
    calls, enough = frozenset(cfg.calls), 8 if wave64 else 4
    found: dict[int, tuple[int, int]] = {}

    def through(block: Block, state: State) -> State:
        for i in block.range:
            found[i] = _early(cfg, i, state)
            state = (_SGPRS, 0, 0, 0) if i in calls else _after(cfg, i, state, enough)
        return state

    first = (_SGPRS if begins_read else 0, 0, 0, 0)
    dataflow.forward(cfg, first, through, lambda a, b: (a[0] | b[0], a[1] | b[1], a[2] | b[2], min(a[3], b[3])))
    yield from ((i, *registers) for i, registers in sorted(found.items()) if any(registers))


def fields(by_salu: int, by_valu: int) -> list[str]:
    """What s_wait_alu must wait for where these registers are at risk."""
    asked = zip(FIELDS, (by_salu, by_valu & ~_VCC, by_valu & _VCC), strict=True)
    return [field for field, registers in asked if registers]


def _scalar(inst: Instruction) -> bool:
    return inst.desc.is_salu or inst.desc.is_branch


def _early(cfg: Cfg, i: int, state: State) -> tuple[int, int]:
    inst, (_, by_salu, by_valu, _) = cfg.instructions[i], state
    uses = cfg.uses[i] if inst.desc.is_valu or _scalar(inst) else 0
    return uses & by_salu, uses & by_valu if inst.desc.is_valu else 0


def _after(cfg: Cfg, i: int, state: State, enough: int) -> State:
    inst, (read, by_salu, by_valu, nops) = cfg.instructions[i], state
    desc = inst.desc
    if desc.sched == "lds_nop":
        return (0 if nops + 1 >= enough else read), by_salu, by_valu, nops + 1
    if desc.sched == "wait_alu":
        by_salu = 0 if depctr(inst, "sa_sdst") == 0 else by_salu
        by_valu &= ~_VCC if depctr(inst, "va_vcc") == 0 else -1
        by_valu &= _VCC if depctr(inst, "va_sdst") == 0 else -1
        return read, by_salu, by_valu, 0
    if desc.unit == "smem" or (desc.unit == "vmem" and desc.sched.startswith(("buffer", "tbuffer"))):
        return read, 0, 0, 0
    uses, defs = cfg.uses[i] & _SGPRS, cfg.defs[i] & _SGPRS
    if desc.is_valu:
        low = (uses | uses >> 1) & _EVEN
        read |= low | low << 1
        return read, by_salu & ~defs, by_valu | (defs & read), 0
    if _scalar(inst):
        for group in (_VCC, _SGPRS & ~_VCC):
            by_valu &= ~group if uses & read & group else -1
        return read, by_salu | (defs & read), by_valu & ~defs, 0
    return read, by_salu, by_valu, 0
