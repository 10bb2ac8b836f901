"""Descriptions of all instructions, by family: `lookup` finds one by its mnemonic. `isa.semantics.describe` defines
their language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isa.instructions import (
    buffer,
    control,
    lds,
    salu,
    salu_float,
    smem,
    valu_cmp,
    valu_cvt,
    valu_division,
    valu_float,
    valu_int,
    valu_lane,
    valu_packed,
    vmem,
)
from isa.instructions.left_out import why
from isa.semantics.describe import TABLE, Description, base_name
from isa.targets import elsewhere, who_has

if TYPE_CHECKING:
    from isa.asm.program import Instruction

FAMILIES = (
    buffer, control, lds, salu, salu_float, smem, valu_cmp, valu_cvt, valu_division, valu_float, valu_int, valu_lane,
    valu_packed, vmem,
)  # fmt: skip


def table() -> dict[str, Description]:
    """Every described instruction by name."""
    return TABLE


_FILES = (
    ("s_load", "smem"),
    ("s_buffer", "buffer"),
    ("s_", "salu or control"),
    ("ds_", "lds"),
    ("v_cmp", "valu_cmp"),
    ("v_cvt", "valu_cvt"),
    ("v_pk", "valu_packed"),
    ("v_", "valu_int or valu_float"),
    ("buffer_gl", "control"),
    ("buffer_", "buffer"),
    ("tbuffer_", "buffer"),
)


def lookup(inst: Instruction) -> Description:
    """The description of an instruction (of the X half of a VOPD). IsaError where there is none."""
    name = base_name(inst.mnemonic)
    entry = (TABLE.get(f"{name} glc") if inst.coherent else None) or TABLE.get(name)
    if entry is None and (who := who_has(name)):
        raise elsewhere(name, who, inst.span)
    if entry is None:
        where = next((f for prefix, f in _FILES if name.startswith(prefix)), "vmem")
        raise inst.error(
            f"instruction {name} is not described",
            hint=why(name) or f"describe it in isa/instructions/, file {where}",
        )
    if inst.target is not None and not entry.exists_on(inst.target):
        who = f"{entry.since} and later" if entry.since else f"targets before {entry.until}"
        raise inst.error(f"{name} is an instruction of {who}", expected=f"one of {inst.target.name}", got=name)
    if inst.mnemonic.startswith("v_dual_") and not entry.vopd:
        raise inst.error(f"{name} cannot be half of a VOPD", expected="an instruction of ISA guide 7.6")
    return entry


def described(mnemonic: str) -> bool:
    """Whether the mnemonic has a description."""
    return base_name(mnemonic) in TABLE
