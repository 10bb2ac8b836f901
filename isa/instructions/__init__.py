"""The table of instructions: entries by family, in the language of `isa.semantics.instruction`."""

from __future__ import annotations

from isa.instructions import (
    control,
    lds,
    memory,
    salu,
    valu_cmp,
    valu_cvt,
    valu_division,
    valu_float,
    valu_int,
    valu_lane,
    valu_packed,
)
from isa.semantics.instruction import TABLE, Description

FAMILIES = (
    control, lds, salu, valu_cmp, valu_cvt, valu_division, valu_float, valu_int, valu_lane,
    valu_packed, memory,
)  # fmt: skip


def table() -> dict[str, Description]:
    """Every described instruction by name."""
    return TABLE
