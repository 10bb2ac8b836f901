"""Every described instruction, by family; importing this package fills `isa.semantics.describe.table()`."""

from isa.instructions import (
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

__all__ = [
    "control",
    "lds",
    "salu",
    "salu_float",
    "smem",
    "valu_cmp",
    "valu_cvt",
    "valu_division",
    "valu_float",
    "valu_int",
    "valu_lane",
    "valu_packed",
    "vmem",
]
