"""Scalar floating point, which RDNA3.5 (gfx115x) adds: comparisons. RDNA3.5 ISA guide 16.5, "SOPC"; LLVM AMDGPU.td,
FeatureSALUFloatInsts."""

from __future__ import annotations

from isa.instructions.valu_cmp import FLOAT
from isa.semantics.describe import inst

for _op, _holds in FLOAT.items():
    if _op not in ("f", "t"):
        inst(f"s_cmp_{_op}_f32 s.f32, s.f32", _holds, sched="salu_float", writes="scc", since="gfx1150")
