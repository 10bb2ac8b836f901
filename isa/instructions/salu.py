"""Scalar arithmetic (SOP1, SOP2, SOPC, SOPK): RDNA3 ISA guide 6 and 16.1 to 16.4.

Scalar floating point, which RDNA3.5 (gfx115x) adds: RDNA3.5 ISA guide 16.1 to 16.5; LLVM AMDGPU.td,
FeatureSALUFloatInsts.

They compute as the vector instructions of their names do. An f16 result leaves zeros above it; the guide does not say
what it leaves, and LLVM never reads that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from isa.instructions.valu_cmp import FLOAT
from isa.instructions.valu_cvt import pack_toward_zero
from isa.instructions.valu_float import fmax, fmin, highest, lowest, max_num, min_num
from isa.instructions.words import absolute, bitmask, field, ones, overflow_add, overflow_sub, sign_extend
from isa.semantics.instruction import inst
from isa.semantics.values import Value, fma, select

# --- moves
for size in (32, 64):
    inst(f"s_mov_b{size} =s.b{size}, s.b{size}", lambda a: a, sched="salu", copy=True)
    inst(f"s_cmov_b{size} +s.b{size}, s.b{size}", lambda d, a, scc: select(scc, a, d), sched="salu", reads="scc")
    inst(
        f"s_cselect_b{size} =s.b{size}, s.b{size}, s.b{size}",
        lambda a, b, scc: select(scc, a, b),
        sched="salu",
        reads="scc",
    )
    inst(f"s_movrels_b{size} =s.b{size}, s.b{size}", lambda a: a, sched="salu", reads="m0", relative=(1,))
    inst(f"s_movreld_b{size} =s.b{size}, s.b{size}", lambda a: a, sched="salu", reads="m0", relative=(0,))
inst("s_movrelsd_2_b32 =s.b32, s.b32", lambda a: a, sched="salu", reads="m0", relative=(0, 1), two_offsets=True)
inst("s_movk_i32 =s.i32, i.i16", lambda k: k, sched="salu")
inst("s_cmovk_i32 +s.i32, i.i16", lambda d, k, scc: select(scc, k, d), sched="salu", reads="scc")
inst("s_getpc_b64 =s.u64", lambda pc: pc, sched="salu", fields="next")

# --- addition and multiplication; SCC is the carry, borrow or signed overflow


def _add(a: Value, b: Value) -> tuple[Value, Value]:
    return a + b, a + b < a


def _addc(a: Value, b: Value, scc: Value) -> tuple[Value, Value]:
    part = a + b
    total = part + scc.to("u32")
    return total, (part < a) | (total < part)


def _subb(a: Value, b: Value, scc: Value) -> tuple[Value, Value]:
    return a - b - scc.to("u32"), (b > a) | ((b == a) & scc)


def _absdiff(a: Value, b: Value) -> tuple[Value, Value]:
    d = absolute(a - b)
    return d, d != 0


inst("s_add_u32 =s.u32, s.u32, s.u32", _add, sched="salu", writes="scc")
inst("s_sub_u32 =s.u32, s.u32, s.u32", lambda a, b: (a - b, b > a), sched="salu", writes="scc")
inst("s_addc_u32 =s.u32, s.u32, s.u32", _addc, sched="salu", reads="scc", writes="scc")
inst("s_subb_u32 =s.u32, s.u32, s.u32", _subb, sched="salu", reads="scc", writes="scc")
inst("s_add_i32 =s.i32, s.i32, s.i32", lambda a, b: (a + b, overflow_add(a, b)), sched="salu", writes="scc")
inst("s_sub_i32 =s.i32, s.i32, s.i32", lambda a, b: (a - b, overflow_sub(a, b)), sched="salu", writes="scc")
inst("s_addk_i32 +s.i32, i.i16", lambda a, k: (a + k, overflow_add(a, k)), sched="salu", writes="scc")
inst("s_absdiff_i32 =s.i32, s.i32, s.i32", _absdiff, sched="salu", writes="scc")
inst("s_abs_i32 =s.i32, s.i32", lambda a: (absolute(a), a != 0), sched="salu", writes="scc")
# RDNA4
for name, wide in (("add_nc", lambda a, b: a + b), ("sub_nc", lambda a, b: a - b), ("mul", lambda a, b: a * b)):
    inst(f"s_{name}_u64 =s.u64, s.u64, s.u64", wide, sched="salu_64", since="gfx1200")
inst("s_mul_i32 =s.i32, s.i32, s.i32", lambda a, b: a * b, sched="salu")
inst("s_mulk_i32 +s.i32, i.i16", lambda a, k: a * k, sched="salu")
inst("s_mul_hi_u32 =s.u32, s.u32, s.u32", lambda a, b: a.mulhi(b), sched="salu")
inst("s_mul_hi_i32 =s.i32, s.i32, s.i32", lambda a, b: a.mulhi(b), sched="salu")
for kind in ("i32", "u32"):
    three = f"=s.{kind}, s.{kind}, s.{kind}"
    inst(f"s_min_{kind} {three}", lambda a, b: (select(a < b, a, b), a < b), sched="salu", writes="scc")
    inst(f"s_max_{kind} {three}", lambda a, b: (select(a >= b, a, b), a >= b), sched="salu", writes="scc")


def _shift_add(n: int) -> Callable[..., Any]:
    def body(a: Value, b: Value) -> tuple[Value, Value]:
        wide = (a.to("u64") << n) + b.to("u64")
        return wide.to("u32"), (wide >> 32) != 0

    return body


for n in (1, 2, 3, 4):
    inst(f"s_lshl{n}_add_u32 =s.u32, s.u32, s.u32", _shift_add(n), sched="salu", writes="scc")

# --- bits; SCC says that the result is not zero
_LOGIC: dict[str, Callable[[Value, Value], Value]] = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "nand": lambda a, b: ~(a & b),
    "nor": lambda a, b: ~(a | b),
    "xnor": lambda a, b: ~(a ^ b),
    "and_not1": lambda a, b: a & ~b,
    "or_not1": lambda a, b: a | ~b,
    "and_not0": lambda a, b: ~a & b,
    "or_not0": lambda a, b: ~a | b,
}


def _with_scc(f: Callable[..., Value]) -> Callable[..., Any]:
    def body(*values: Value) -> tuple[Value, Value]:
        result = f(*values)
        return result, result != 0

    return body


def _saveexec(f: Callable[[Value, Value], Value]) -> Callable[..., Any]:
    """D = EXEC; EXEC = f(S0, EXEC); SCC = EXEC != 0."""

    def body(a: Value, exec_: Value) -> tuple[Value, Value, Value]:
        new = f(a, exec_)
        return exec_, new != 0, new

    return body


def _wrexec(f: Callable[[Value, Value], Value]) -> Callable[..., Any]:
    """EXEC = D = f(S0, EXEC); SCC = EXEC != 0."""

    def body(a: Value, exec_: Value) -> tuple[Value, Value, Value]:
        new = f(a, exec_)
        return new, new != 0, new

    return body


for size in (32, 64):
    exec_name = "exec" if size == 32 else "exec64"
    for op, f in _LOGIC.items():
        if not op.endswith("not0"):
            inst(f"s_{op}_b{size} =s.b{size}, s.b{size}, s.b{size}", _with_scc(f), sched="salu", writes="scc")
        inst(
            f"s_{op}_saveexec_b{size} =s.b{size}, s.b{size}",
            _saveexec(f),
            sched="salu",
            reads=exec_name,
            writes=f"scc {exec_name}",
        )
    for op in ("and_not0", "and_not1"):
        inst(
            f"s_{op}_wrexec_b{size} =s.b{size}, s.b{size}",
            _wrexec(_LOGIC[op]),
            sched="salu",
            reads=exec_name,
            writes=f"scc {exec_name}",
        )


def _shift(f: Callable[[Value, Value], Value], size: int) -> Callable[..., Any]:
    return _with_scc(lambda a, n: f(a, (n & (size - 1)).to(a.type)))


def _bfe(a: Value, n: Value) -> Value:
    """Offset in bits 4:0 (5:0 for 64 bit) of n, width in bits 22:16."""
    size = 64 if a.type.endswith("64") else 32
    count = field(n, 16, 7)
    # A signed number goes on with its sign where the field passes its end.
    part = (a >> (n & (size - 1)).to(a.type)).bits(f"u{size}") & ones(count, f"u{size}")
    return sign_extend(part, count).bits(a.type) if a.type[0] == "i" else part


def _quads(a: Value) -> Value:
    """Bit 4i of the result says that any of the bits 4i to 4i+3 is set."""
    return (a | (a >> 1) | (a >> 2) | (a >> 3)) & (0x11111111 if a.type == "u32" else 0x1111111111111111)


def _quadmask(a: Value) -> Value:
    t = _quads(a)
    gaps: tuple[tuple[int, int], ...] = ((3, 0x03030303), (6, 0x000F000F), (12, 0xFF))
    if a.type == "u64":
        gaps = ((3, 0x0303030303030303), (6, 0x000F000F000F000F), (12, 0x000000FF000000FF), (24, 0xFFFF))
    for gap, keep in gaps:
        t = (t | (t >> gap)) & keep
    return t


def _bitreplicate(a: Value) -> Value:
    """Each bit twice."""
    t = a.to("u64")
    for gap, keep in (
        (16, 0x0000FFFF0000FFFF),
        (8, 0x00FF00FF00FF00FF),
        (4, 0x0F0F0F0F0F0F0F0F),
        (2, 0x3333333333333333),
        (1, 0x5555555555555555),
    ):
        t = (t | (t << gap)) & keep
    return t | (t << 1)


for size in (32, 64):
    b, u, i = f"s.b{size}", f"s.u{size}", f"s.i{size}"
    inst(f"s_not_b{size} ={b}, {b}", _with_scc(lambda a: ~a), sched="salu", writes="scc")
    inst(f"s_brev_b{size} ={b}, {b}", lambda a: a.bitreverse(), sched="salu")
    inst(f"s_lshl_b{size} ={b}, {b}, s.u32", _shift(lambda a, n: a << n, size), sched="salu", writes="scc")
    inst(f"s_lshr_b{size} ={b}, {b}, s.u32", _shift(lambda a, n: a >> n, size), sched="salu", writes="scc")
    inst(f"s_ashr_i{size} ={i}, {i}, s.u32", _shift(lambda a, n: a >> n, size), sched="salu", writes="scc")
    inst(f"s_bfe_u{size} ={u}, {u}, s.u32", _with_scc(_bfe), sched="salu", writes="scc")
    inst(f"s_bfe_i{size} ={i}, {i}, s.u32", _with_scc(_bfe), sched="salu", writes="scc")
    inst(f"s_bfm_b{size} ={b}, s.u32, s.u32", bitmask(size), sched="salu")
    inst(f"s_bcnt0_i32_b{size} =s.u32, {b}", _with_scc(lambda a: (~a).popcount().to("u32")), sched="salu", writes="scc")
    inst(f"s_bcnt1_i32_b{size} =s.u32, {b}", _with_scc(lambda a: a.popcount().to("u32")), sched="salu", writes="scc")
    inst(f"s_ctz_i32_b{size} =s.i32, {b}", lambda a: select(a == 0, -1, a.ctz().to("u32").bits("i32")), sched="salu")
    inst(f"s_clz_i32_u{size} =s.i32, {u}", lambda a: select(a == 0, -1, a.clz().to("u32").bits("i32")), sched="salu")
    inst(f"s_wqm_b{size} ={b}, {b}", _with_scc(lambda a: _quads(a) * 15), sched="salu", writes="scc")
    inst(f"s_quadmask_b{size} ={b}, {b}", _with_scc(_quadmask), sched="salu", writes="scc")
    one = f"u{size}"
    inst(
        f"s_bitset0_b{size} +{b}, s.u32",
        lambda d, n: d & ~((d & 0 | 1) << (n.to(d.type) & (64 if d.type == "u64" else 32) - 1)),
        sched="salu",
    )
    inst(
        f"s_bitset1_b{size} +{b}, s.u32",
        lambda d, n: d | ((d & 0 | 1) << (n.to(d.type) & (64 if d.type == "u64" else 32) - 1)),
        sched="salu",
    )
    for bit in (0, 1):
        inst(
            f"s_bitcmp{bit}_b{size} {b}, s.u32",
            lambda a, n, bit=bit: ((a >> (n.to(a.type) & (64 if a.type == "u64" else 32) - 1)) & 1) == bit,
            sched="salu",
            writes="scc",
        )


def _cls(a: Value) -> Value:
    """How many bits below the sign equal it, plus one; -1 where all do."""
    unsigned = a.type.replace("i", "u")
    t = (a ^ (a >> (63 if a.type == "i64" else 31))).bits(unsigned)
    return select(t == 0, -1, t.clz().to("u32").bits("i32"))


inst("s_cls_i32 =s.i32, s.i32", _cls, sched="salu")
inst("s_cls_i32_i64 =s.i32, s.i64", _cls, sched="salu")
inst("s_bitreplicate_b64_b32 =s.b64, s.b32", _bitreplicate, sched="salu")
inst("s_sext_i32_i8 =s.i32, s.i32", lambda a: (a << 24) >> 24, sched="salu")
inst("s_sext_i32_i16 =s.i32, s.i32", lambda a: (a << 16) >> 16, sched="salu")
for x, first in (("l", 0), ("h", 16)):
    for y, second in (("l", 0), ("h", 16)):
        inst(
            f"s_pack_{x}{y}_b32_b16 =s.b32, s.b32, s.b32",
            lambda a, b, x=first, y=second: field(a, x, 16) | (field(b, y, 16) << 16),
            sched="salu",
        )

# --- comparison
_COMPARE: dict[str, Callable[[Value, Value], Value]] = {
    "eq": lambda a, b: a == b,
    "lg": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
for op, f in _COMPARE.items():
    for kind, half in (("i32", "i16"), ("u32", "u16")):
        inst(f"s_cmp_{op}_{kind} s.{kind}, s.{kind}", f, sched="salu", writes="scc")
        inst(f"s_cmpk_{op}_{kind} s.{kind}, i.{half}", f, sched="salu", writes="scc", until="gfx1200")
inst("s_cmp_eq_u64 s.u64, s.u64", _COMPARE["eq"], sched="salu", writes="scc")
inst("s_cmp_lg_u64 s.u64, s.u64", _COMPARE["lg"], sched="salu", writes="scc")


def _float(pattern: str, body: Callable[..., Any], since: str = "gfx1150", **more: str) -> None:
    inst(pattern, body, sched="salu_float", since=since, **more)


for kind in ("f32", "f16"):
    two, three = f"=s.{kind}, s.{kind}", f"=s.{kind}, s.{kind}, s.{kind}"
    _float(f"s_add_{kind} {three}", lambda a, b: a + b)
    _float(f"s_sub_{kind} {three}", lambda a, b: a - b)
    _float(f"s_mul_{kind} {three}", lambda a, b: a * b)
    _float(f"s_min_{kind} {three}", fmin, fields="ieee", until="gfx1200")
    _float(f"s_max_{kind} {three}", fmax, fields="ieee", until="gfx1200")
    for name, pick in (("min_num", min_num), ("max_num", max_num), ("minimum", lowest), ("maximum", highest)):
        _float(f"s_{name}_{kind} {three}", pick, since="gfx1200")
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
