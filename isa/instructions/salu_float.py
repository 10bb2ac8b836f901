"""Scalar floating point, which RDNA3.5 (gfx115x) adds: RDNA3.5 ISA guide 16.1 to 16.5; LLVM AMDGPU.td,
FeatureSALUFloatInsts.

They compute as the vector instructions of their names do. An f16 result leaves zeros above it; the guide does not say
what it leaves, and LLVM never reads that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from isa.instructions.valu_cmp import FLOAT
from isa.instructions.valu_cvt import pack_toward_zero
from isa.instructions.valu_float import fmax, fmin
from isa.instructions.words import field
from isa.semantics.instruction import inst
from isa.semantics.values import fma


def _float(pattern: str, body: Callable[..., Any], **more: str) -> None:
    inst(pattern, body, sched="salu_float", since="gfx1150", **more)


for kind in ("f32", "f16"):
    two, three = f"=s.{kind}, s.{kind}", f"=s.{kind}, s.{kind}, s.{kind}"
    _float(f"s_add_{kind} {three}", lambda a, b: a + b)
    _float(f"s_sub_{kind} {three}", lambda a, b: a - b)
    _float(f"s_mul_{kind} {three}", lambda a, b: a * b)
    _float(f"s_min_{kind} {three}", fmin, fields="ieee")
    _float(f"s_max_{kind} {three}", fmax, fields="ieee")
    _float(f"s_fmac_{kind} +s.{kind}, s.{kind}, s.{kind}", lambda d, a, b: fma(a, b, d))
    _float(f"s_ceil_{kind} {two}", lambda a: a.ceil())
    _float(f"s_floor_{kind} {two}", lambda a: a.floor())
    _float(f"s_trunc_{kind} {two}", lambda a: a.trunc())
    _float(f"s_rndne_{kind} {two}", lambda a: a.rint())
    for op, holds in FLOAT.items():
        if op not in ("f", "t"):
            _float(f"s_cmp_{op}_{kind} s.{kind}, s.{kind}", holds, writes="scc")
_float("s_fmaak_f32 =s.f32, s.f32, s.f32, s.f32", fma)
_float("s_fmamk_f32 =s.f32, s.f32, s.f32, s.f32", lambda a, k, b: fma(a, k, b))
for source, target in (("i32", "f32"), ("u32", "f32"), ("f16", "f32"), ("f32", "f16")):
    _float(f"s_cvt_{target}_{source} =s.{target}, s.{source}", lambda a, t=target: a.to(t))
for target in ("i32", "u32"):
    _float(f"s_cvt_{target}_f32 =s.{target}, s.f32", lambda a, t=target: a.to_int(t))
_float("s_cvt_hi_f32_f16 =s.f32, s.u32", lambda a: field(a, 16, 16).to("u16").bits("f16").to("f32"))
_float("s_cvt_pk_rtz_f16_f32 =s.b32, s.f32, s.f32", pack_toward_zero)
