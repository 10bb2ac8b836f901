"""Packed and matrix instructions (VOP3P): V_PK_*, V_DOT*, V_WMMA_*. RDNA3 ISA guide 7.8, 7.9 and 16.10."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from isa.describe import inst
from isa.instructions.valu_float import fmax, fmin
from isa.instructions.valu_int import clamped
from isa.instructions.words import field, maximum, minimum
from isa.values import Value, fma, select

# --- two 16-bit operations in one; the body is called once a half
_FLOAT: dict[str, Callable[[Value, Value], Value]] = {"add": lambda a, b: a + b, "mul": lambda a, b: a * b}
for op, f in _FLOAT.items():
    inst(f"v_pk_{op}_f16 =v.pkf16, a.pkf16, a.pkf16", f, unit="valu")
inst("v_pk_fma_f16 =v.pkf16, a.pkf16, a.pkf16, a.pkf16", fma, unit="valu")
inst("v_pk_min_f16 =v.pkf16, a.pkf16, a.pkf16", fmin, unit="valu", fields="ieee")
inst("v_pk_max_f16 =v.pkf16, a.pkf16, a.pkf16", fmax, unit="valu", fields="ieee")
inst("v_pk_fmac_f16 +v.pkf16, a.pkf16d, a.pkf16d", lambda d, a, b: fma(a, b, d), unit="valu")
for kind in ("u16", "i16"):
    pk = f"pk{kind}"
    three = f"=v.{pk}, a.{pk}, a.{pk}"
    inst(f"v_pk_add_{kind} {three}", clamped(lambda a, b: a + b), unit="valu", fields="clamp")
    inst(f"v_pk_sub_{kind} {three}", clamped(lambda a, b: a - b), unit="valu", fields="clamp")
    inst(f"v_pk_mad_{kind} {three}, a.{pk}", clamped(lambda a, b, c: a * b + c), unit="valu", fields="clamp")
    inst(f"v_pk_min_{kind} {three}", minimum, unit="valu")
    inst(f"v_pk_max_{kind} {three}", maximum, unit="valu")
inst("v_pk_mul_lo_u16 =v.pku16, a.pku16, a.pku16", lambda a, b: a * b, unit="valu")
inst("v_pk_lshlrev_b16 =v.pku16, a.pku16, a.pku16", lambda n, a: a << (n & 15), unit="valu")
inst("v_pk_lshrrev_b16 =v.pku16, a.pku16, a.pku16", lambda n, a: a >> (n & 15), unit="valu")
inst("v_pk_ashrrev_i16 =v.pki16, a.pki16, a.pki16", lambda n, a: a >> (n & 15), unit="valu")

# --- dot products
_Pair = tuple[Value, Value]


def bf16_to_f32(a: Value) -> Value:
    """The low 16 bits of a u32 or u16 as bf16."""
    return (a.to("u32") << 16).bits("f32")


def f32_to_bf16(a: Value) -> Value:
    """bf16 bits as u32, rounded to nearest even."""
    u = a.bits("u32")
    rounded = (u + 0x7FFF + (u >> 16 & 1)) >> 16
    return select(a != a, (u >> 16) | 0x40, rounded)


def _dot2(a: _Pair, b: _Pair, c: Value) -> Value:
    """c + a.low * b.low + a.high * b.high; products of f16 are exact in f32, each sum rounds."""
    low = fma(a[0].to("f32"), b[0].to("f32"), c)
    return fma(a[1].to("f32"), b[1].to("f32"), low)


def _dot2_bf16(a: _Pair, b: _Pair, c: Value) -> Value:
    low = fma(bf16_to_f32(a[0]), bf16_to_f32(b[0]), c)
    return fma(bf16_to_f32(a[1]), bf16_to_f32(b[1]), low)


def _integer_dot(count: int) -> Callable[..., Value]:
    """The sum of `count` products of fields of 32/count bits; neg_lo says which source is signed; clamp saturates."""
    size = 32 // count

    def body(a: Value, b: Value, c: Value, neg_lo: Sequence[int], clamp: bool) -> Value:
        total = c.to("i64") if clamp else c
        for i in range(count):
            product = _small(a, size * i, size, neg_lo, 0) * _small(b, size * i, size, neg_lo, 1)
            total = total + product.to(total.type)
        return minimum(maximum(total, -(2**31)), 2**31 - 1).to("i32") if clamp else total

    return body


def _small(a: Value, first: int, size: int, signed: Sequence[int], which: int) -> Value:
    if len(signed) > which and signed[which]:
        return (a << (32 - size - first)).bits("i32") >> (32 - size)
    return field(a, first, size).bits("i32")


def _unsigned_dot(count: int) -> Callable[..., Value]:
    size = 32 // count

    def body(a: Value, b: Value, c: Value, clamp: bool) -> Value:
        total = c.to("u64")
        for i in range(count):
            total = total + (field(a, size * i, size) * field(b, size * i, size)).to("u64")
        return (minimum(total, 2**32 - 1) if clamp else total).to("u32")

    return body


inst("v_dot2_f32_f16 =v.f32, a.pkf16, a.pkf16, a.f32", _dot2, unit="valu")
inst("v_dot2_f32_bf16 =v.f32, a.pku16, a.pku16, a.f32", _dot2_bf16, unit="valu")
inst("v_dot2acc_f32_f16 +v.f32, a.pkf16, a.pkf16", lambda d, a, b: _dot2(a, b, d), unit="valu", vopd="xy")
# The bf16 form exists as half of a VOPD only.
inst("v_dot2acc_f32_bf16 +v.f32, a.pku16, a.pku16", lambda d, a, b: _dot2_bf16(a, b, d), unit="valu", vopd="xy")
inst("v_dot2c_f32_f16 +v.f32, a.pkf16, a.pkf16", lambda d, a, b: _dot2(a, b, d), unit="valu")
for count, size in ((4, 8), (8, 4)):
    inst(
        f"v_dot{count}_i32_iu{size} =v.i32, a.u32, a.u32, a.i32",
        _integer_dot(count),
        unit="valu",
        fields="neg_lo clamp",
    )
    inst(f"v_dot{count}_u32_u{size} =v.u32, a.u32, a.u32, a.u32", _unsigned_dot(count), unit="valu", fields="clamp")


def _dot2_f16(a: _Pair, b: _Pair, c: Value) -> Value:
    return fma(a[1], b[1], fma(a[0], b[0], c))


def _dot2_bf16_bf16(a: _Pair, b: _Pair, c: Value) -> Value:
    return f32_to_bf16(_dot2_bf16(a, b, bf16_to_f32(c))).to("u16")


inst("v_dot2_f16_f16 =v.f16, a.pkf16, a.pkf16, a.f16", _dot2_f16, unit="valu")
inst("v_dot2_bf16_bf16 =v.u16, a.pku16, a.pku16, a.u16", _dot2_bf16_bf16, unit="valu")

# --- D = A * B + C on 16x16 matrices of a wave. Lane n holds row n % 16 of A and column n % 16 of B, two k in a
# register; in C and D register r of lane n holds row 2 * r + n // 16, column n % 16.
_Wide = tuple[Value, ...]


def _halves(matrix: _Wide) -> list[Value]:
    """The 16 values along k as u16."""
    return [field(register, 16 * half, 16).to("u16") for register in matrix for half in (0, 1)]


def _wmma(
    a: _Wide, b: _Wide, accumulator: Callable[[int], Value], number: Callable[[Value], Value], lane: Value
) -> _Wide:
    """The eight rows that a lane holds, in f32; products are exact, each sum rounds."""
    columns = [number(k) for k in _halves(b)]
    rows = [number(k) for k in _halves(a)]
    results = []
    for r in range(8):
        source = (lane >> 4) + 2 * r
        total = accumulator(r)
        for k in range(16):
            total = fma(rows[k].shuffle(source), columns[k], total)
        results.append(total)
    return tuple(results)


def _from_f16(a: Value) -> Value:
    return a.bits("f16").to("f32")


def _wmma_f32(number: Callable[[Value], Value]) -> Callable[..., _Wide]:
    def body(a: _Wide, b: _Wide, c: _Wide, lane: Value) -> _Wide:
        return tuple(x.bits("u32") for x in _wmma(a, b, lambda r: c[r].bits("f32"), number, lane))

    return body


def _wmma_16(number: Callable[[Value], Value], narrow: Callable[[Value], Value]) -> Callable[..., _Wide]:
    """16-bit results: one half of each register (op_sel[2] picks it), the other half kept from C."""

    def body(a: _Wide, b: _Wide, c: _Wide, lane: Value, op_sel: Sequence[int]) -> _Wide:
        high = 16 if len(op_sel) > 2 and op_sel[2] else 0
        sums = _wmma(a, b, lambda r: number(field(c[r], high, 16).to("u16")), number, lane)
        return tuple((old & ~(0xFFFF << high)) | (narrow(x) << high) for old, x in zip(c, sums, strict=True))

    return body


_8 = "=v.b256, a.b256, a.b256, a.b256"
inst(f"v_wmma_f32_16x16x16_f16 {_8}", _wmma_f32(_from_f16), unit="valu64", fields="lane")
inst(f"v_wmma_f32_16x16x16_bf16 {_8}", _wmma_f32(bf16_to_f32), unit="valu64", fields="lane")
inst(
    f"v_wmma_f16_16x16x16_f16 {_8}",
    _wmma_16(_from_f16, lambda a: a.to("f16").bits("u16").to("u32")),
    unit="valu64",
    fields="lane op_sel",
)
inst(f"v_wmma_bf16_16x16x16_bf16 {_8}", _wmma_16(bf16_to_f32, f32_to_bf16), unit="valu64", fields="lane op_sel")


def _wmma_integer(count: int, size: int) -> Callable[..., _Wide]:
    """Integer matrices: `count` registers a lane along k, fields of `size` bits."""

    def body(a: Any, b: Any, c: _Wide, lane: Value, neg_lo: Sequence[int], clamp: bool) -> _Wide:
        if count == 2:
            a, b = ((x.to("u32"), (x >> 32).to("u32")) for x in (a, b))
        results = []
        for r in range(8):
            source = (lane >> 4) + 2 * r
            total = c[r].bits("i32").to("i64")
            for k in range(16):
                where = size * k
                x = _small(a[where // 32].shuffle(source), where % 32, size, neg_lo, 0)
                y = _small(b[where // 32], where % 32, size, neg_lo, 1)
                total = total + (x * y).to("i64")
            if clamp:
                total = minimum(maximum(total, -(2**31)), 2**31 - 1)
            results.append(total.to("i32").bits("u32"))
        return tuple(results)

    assert count * 32 == 16 * size
    return body


inst(
    "v_wmma_i32_16x16x16_iu8 =v.b256, a.b128, a.b128, a.b256",
    _wmma_integer(4, 8),
    unit="valu64",
    fields="lane neg_lo clamp",
)
inst(
    "v_wmma_i32_16x16x16_iu4 =v.b256, a.b64, a.b64, a.b256",
    _wmma_integer(2, 4),
    unit="valu64",
    fields="lane neg_lo clamp",
)
