"""Whether it makes no difference which one lane is on: all lanes would store the same at the same place.

In: a function and an instruction of it that leaves one lane on. Out: whether, up to where EXEC is full again, there are
only stores, and waits, whose registers hold the same in all lanes of a wave.

A VGPR does where all that wrote it last did so in all lanes, computing lane by lane from scalars, constants and such
VGPRs. The number of a work-item is one for each lane; its bits from the fifth on are the wave's, as the lanes of a wave
are 32 work-items that follow one another (workgroups along x).
"""

from __future__ import annotations

from isa.analysis.cfg import Cfg
from isa.analysis.defuse import ENTRY, DefUse
from isa.analysis.exec_mask import ExecMask
from isa.asm.program import Imm, Instruction
from isa.registers import EXEC_LO, Reg, v
from isa.semantics.waits import parse_wait

_WAVE_BITS = 5
_LANE_BY_LANE = (
    "v_mov_b32", "v_add_nc_u32", "v_sub_nc_u32", "v_mul_u32_u24", "v_mul_lo_u32", "v_lshlrev_b32", "v_lshrrev_b32",
    "v_and_b32", "v_or_b32", "v_xor_b32", "v_lshl_add_u32",
)  # fmt: skip
"""A list, since more than one of the others knows which lane it is in."""


def one_lane_on(inst: Instruction) -> bool:
    """Whether it leaves one lane on, whatever the launch."""
    if inst.mnemonic != "s_mov_b32" or inst.operands[0] != EXEC_LO or not isinstance(inst.operands[1], Imm):
        return False
    mask = inst.operands[1].value
    return isinstance(mask, int) and (mask & 0xFFFFFFFF).bit_count() == 1


def any_does(flow: Cfg, chains: DefUse, lanes: ExecMask, position: int) -> bool:
    """See the module's docstring. Workgroups have whole waves."""
    for at in range(position + 1, flow.block_of(position).end):
        inst = flow.instructions[at]
        if EXEC_LO in inst.writes():
            return at + 1 < flow.block_of(position).end and lanes.full[at + 1]
        if parse_wait(inst):
            continue
        access = inst.desc.access
        if access is None or access.kind != "store" or access.space != "global":
            return False
        if not all(_alike(flow, chains, lanes, at, reg, frozenset()) for reg in inst.reads() if reg.is_vgpr):
            return False
    return False


def _alike(flow: Cfg, chains: DefUse, lanes: ExecMask, position: int, reg: Reg, seen: frozenset[int]) -> bool:
    """Whether a VGPR that is read there holds the same in all lanes of a wave."""
    sources = chains.defs_of(position, reg)
    return bool(sources) and all(_leaves_alike(flow, chains, lanes, source, seen) for source in sources)


def _leaves_alike(flow: Cfg, chains: DefUse, lanes: ExecMask, source: int, seen: frozenset[int]) -> bool:
    if source == ENTRY or source in seen or not lanes.full[source]:
        return False
    inst = flow.instructions[source]
    if inst.desc.name not in _LANE_BY_LANE or inst.pair is not None or inst.dpp or inst.modifiers:
        return False
    if inst.desc.name == "v_lshrrev_b32":
        shift, number = inst.operands[1:]
        wide = isinstance(shift, Imm) and isinstance(shift.value, int) and _WAVE_BITS <= shift.value < 32
        if wide and isinstance(number, Reg) and _is_number(flow, chains, lanes, source, number):
            return True
    return all(_alike(flow, chains, lanes, source, reg, seen | {source}) for reg in inst.reads() if reg.is_vgpr)


def _is_number(flow: Cfg, chains: DefUse, lanes: ExecMask, position: int, reg: Reg) -> bool:
    """Whether a register that is read there holds the work-item's number."""
    sources = chains.defs_of(position, reg)
    if sources == {ENTRY}:
        return reg == v(0)
    for source in sources:
        if source == ENTRY or not lanes.full[source]:
            return False
        inst = flow.instructions[source]
        if inst.mnemonic != "v_mov_b32_e32" or inst.pair is not None or inst.modifiers or inst.operands[1] != v(0):
            return False
        if chains.defs_of(source, v(0)) != {ENTRY}:
            return False
    return bool(sources)
