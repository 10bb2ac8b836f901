"""Floating-point operations of an instruction, as rooflines count them: a multiply-add is two; comparisons, conversions
and moves are none."""

from __future__ import annotations

import re

from isa.semantics.instruction import Instruction, base_name

_OPERATIONS = {
    "fma": 2,
    "fmac": 2,
    "fmaak": 2,
    "fmamk": 2,
    "mad": 2,
    "add": 1,
    "sub": 1,
    "subrev": 1,
    "mul": 1,
    "dot2": 4,
}
_MATRIX = 2 * 16 * 16 * 16 // 32
"""Operations of a lane in v_wmma_*_16x16x16."""


def matrix_bits(inst: Instruction) -> int:
    """Of an element of A and B, of a product of the matrix units; 0 for other instructions."""
    name = base_name(inst.mnemonic)
    return int(re.sub(r".*\D", "", name)) if name.startswith("v_wmma") else 0


def operations(inst: Instruction) -> int:
    """Floating-point operations of a lane."""
    total = 0
    for half in inst.halves:
        name = base_name(half.mnemonic).removeprefix("v_").removeprefix("dual_")
        kind, *rest = name.split("_")
        if kind == "wmma" and "16x16x16" in name:
            total += _MATRIX
        elif kind == "pk" and name.endswith("f16"):
            total += 2 * _OPERATIONS.get(rest[0], 0)
        elif any(part in ("f16", "f32", "f64") for part in rest):
            total += _OPERATIONS.get(kind, 0)
    return total
