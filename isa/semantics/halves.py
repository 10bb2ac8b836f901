"""Halves of VGPRs: an instruction -> which halves it touches (v3.l and v3.h are registers of their own). And which
64-bit instructions have a low result that does not depend on the high half of a source: compilers leave anything there.

GFX11 writes 16-bit results, and loads of 16 bits and less (the d16 forms), into one half of a VGPR and leaves the other
alone; d16_hi stores read the upper half, stores of 16 bits and less the lower one. So two loads may fill the halves of
one register at the same time, and code may use one half while the other is still being filled (LLVM follows 16-bit
registers by themselves in SIInsertWaitcnts.cpp).

Sources: RDNA3 ISA guide 4.5 (D16), LLVM AMDGPUUsage, "real true16".
"""

from __future__ import annotations

from isa.registers import Reg
from isa.semantics.instruction import Access, Instruction, Role, bare, bit_width, lookup

LOW, HIGH = 1, 2
BOTH = LOW | HIGH
LOW_FREE_OF_HIGH = frozenset({"v_mad_u64_u32", "v_mad_i64_i32", "v_lshlrev_b64", "s_lshl_b64"})
"""Instructions whose low result does not depend on the high half of their 64-bit source (`unread_high`)."""
_SHORT = frozenset({"u8", "i8", "b8", "u16", "i16", "b16"})
SIXTEEN = frozenset({"f16", "u16", "i16", "b16", "bf16"})


def touched(inst: Instruction, unit: Reg) -> tuple[int, int]:
    """(halves of a VGPR that an instruction computes with, halves that it writes). A half that is only kept counts as
    neither."""
    read = written = 0
    for half in inst.halves:
        for role, operand in lookup(half).roles_of(half):
            reg = bare(operand)
            if isinstance(reg, Reg) and reg.file == "v" and reg.index <= unit.index < reg.index + reg.count:
                part = _part(half, role, reg)
                written |= part if role.written else 0
                keeps = role.written and half.desc.access is not None and half.desc.access.half
                read |= part if role.read and not keeps else 0
    return read, written


def filled(inst: Instruction) -> int:
    """The halves of its register that a load fills."""
    access = inst.desc.access
    return {"": BOTH, "lo": LOW, "hi": HIGH}[_half(access) if access is not None and access.kind == "load" else ""]


def _half(access: Access) -> str:
    """Of what an access moves: two components of a typed buffer fill both halves."""
    return access.half if access.components < 2 else ""


def _part(inst: Instruction, role: Role, reg: Reg) -> int:
    """The halves that one operand names."""
    if reg.half:
        return LOW if reg.half == "l" else HIGH
    access = inst.desc.access
    if access is not None:
        data = role.kind == "v" and role.type == "b32"
        short = _half(access) or (access.kind == "store" and access.element in _SHORT)
        return (HIGH if access.half == "hi" else LOW) if data and short else BOTH
    if role.written and role.type == "f16h":
        return HIGH
    if not role.written or role.type not in SIXTEEN:
        return BOTH
    return HIGH if picked(inst, len(inst.operands) - 1) else LOW


def picked(inst: Instruction, number: int) -> bool:
    """Whether op_sel picks the upper half of a source, from 0, or of the result, which comes after them."""
    op_sel = inst.modifier("op_sel")
    return isinstance(op_sel, tuple) and len(op_sel) > number and bool(op_sel[number])


def unread_high(inst: Instruction) -> Reg | None:
    """The register of that high half; None for other instructions, and where the source is a constant or another
    source is the same register."""
    found, others = None, set[Reg]()
    for role, operand in inst.desc.roles_of(inst) if inst.desc.name in LOW_FREE_OF_HIGH else ():
        if role.read and isinstance(operand, Reg):
            wide = bit_width(role.type) == 64 and operand.count == 2
            found = operand.sub(1) if wide else found
            others.update(operand.sub(0).units() if wide else operand.units())
    return None if found in others else found
