"""The table of instructions: entries by family, in the language of `isa.semantics.instruction`."""

from __future__ import annotations

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
from isa.semantics.instruction import TABLE, Description

FAMILIES = (
    buffer, control, lds, salu, salu_float, smem, valu_cmp, valu_cvt, valu_division, valu_float, valu_int, valu_lane,
    valu_packed, vmem,
)  # fmt: skip


def table() -> dict[str, Description]:
    """Every described instruction by name."""
    return TABLE
