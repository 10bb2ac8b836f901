"""Work of an instruction: its floating-point operations, as rooflines count them, and the kind of arithmetic it is.

A multiply-add is two operations; comparisons, conversions and moves are none."""

from __future__ import annotations

import re
from collections.abc import Mapping

from isa.semantics.instruction import Instruction, base_name
from isa.timing.machine.scheduling_classes import cost

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
_MATRIX = 2 * 16 * 16 // 32
"""Operations of a lane for a step of k in v_wmma_*_16x16x16."""


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
        if kind == "wmma":
            total += _MATRIX * int(rest[1].rpartition("x")[2])
        elif kind == "pk" and name.endswith("f16"):
            total += 2 * _OPERATIONS.get(rest[0], 0)
        elif any(part in ("f16", "f32", "f64") for part in rest):
            total += _OPERATIONS.get(kind, 0)
    return total


FP32 = 4.0
"""Floating-point operations of a lane and cycle of a SIMD, at most: two multiply-adds, as v_dual_fmac_f32 is."""
_CLASSES = {
    "f64": "fp64", "trans_f64": "fp64", "trans": "transcendental", "int_quarter_rate": "integer product",
    "valu_lane": "exchange of lanes", "permlane": "exchange of lanes", "dot": "dot product",
}  # fmt: skip


def kind_of(inst: Instruction) -> str:
    """Of a vector instruction, the arithmetic whose peak holds it: "fp32", "fp64", "f16", "integer", "conversion",
    "transcendental", "matrix f16", ..."""
    if inst.desc.is_matrix:
        return "matrix " + base_name(inst.mnemonic).rpartition("_")[2]
    name = base_name(inst.halves[0].mnemonic).removeprefix("v_").removeprefix("dual_")
    if "cvt" in name.split("_") and inst.scheduling_class != "f64":
        return "conversion"
    if (known := _CLASSES.get(inst.scheduling_class)) is not None:
        return known
    type_ = name.rpartition("_")[2]
    return {"f32": "fp32", "f16": "f16", "bf16": "f16"}.get(type_, "integer" if type_[:1] in "biu" else "other")


def rate(kind: str, inst: Instruction, numbers: Mapping[str, float]) -> float:
    """Floating-point operations of a lane and cycle of a SIMD at the peak of a kind."""
    if inst.desc.is_matrix:
        return operations(inst) / numbers[cost(inst).passes]
    return 2.0 / numbers["f64_passes"] if kind == "fp64" else FP32
