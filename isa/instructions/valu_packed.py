"""Packed and matrix instructions (VOP3P): V_PK_*, V_DOT*, V_WMMA_*. RDNA3 ISA guide 7.8, 7.9 and 16.10."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from isa.instructions.valu_cvt import of_byte
from isa.instructions.valu_float import fmax, fmin, highest, lowest, max_num, min_num
from isa.instructions.valu_int import clamped
from isa.instructions.words import field, maximum, minimum
from isa.semantics.instruction import inst
from isa.semantics.values import RDNA4_SUMS, Value, fma, wmma

# --- two 16-bit operations in one; the body is called once a half
_FLOAT: dict[str, Callable[[Value, Value], Value]] = {"add": lambda a, b: a + b, "mul": lambda a, b: a * b}
for op, f in _FLOAT.items():
    inst(f"v_pk_{op}_f16 =v.pkf16, a.pkf16, a.pkf16", f, sched="packed")
inst("v_pk_fma_f16 =v.pkf16, a.pkf16, a.pkf16, a.pkf16", fma, sched="packed")
inst("v_pk_min_f16 =v.pkf16, a.pkf16, a.pkf16", fmin, sched="packed", fields="ieee", until="gfx1200")
inst("v_pk_max_f16 =v.pkf16, a.pkf16, a.pkf16", fmax, sched="packed", fields="ieee", until="gfx1200")
for name, pick in (("min_num", min_num), ("max_num", max_num), ("minimum", lowest), ("maximum", highest)):
    inst(f"v_pk_{name}_f16 =v.pkf16, a.pkf16, a.pkf16", pick, sched="packed", since="gfx1200")
inst("v_pk_fmac_f16 +v.pkf16, a.pkf16d, a.pkf16d", lambda d, a, b: fma(a, b, d), sched="packed")
for kind in ("u16", "i16"):
    pk = f"pk{kind}"
    three = f"=v.{pk}, a.{pk}, a.{pk}"
    inst(f"v_pk_add_{kind} {three}", clamped(lambda a, b: a + b), sched="packed", fields="clamp")
    inst(f"v_pk_sub_{kind} {three}", clamped(lambda a, b: a - b), sched="packed", fields="clamp")
    inst(f"v_pk_mad_{kind} {three}, a.{pk}", clamped(lambda a, b, c: a * b + c), sched="packed", fields="clamp")
    inst(f"v_pk_min_{kind} {three}", lambda a, b, _: minimum(a, b), sched="packed", fields="clamp")
    inst(f"v_pk_max_{kind} {three}", lambda a, b, _: maximum(a, b), sched="packed", fields="clamp")
inst("v_pk_mul_lo_u16 =v.pku16, a.pku16, a.pku16", clamped(lambda a, b: a * b), sched="packed", fields="clamp")
inst("v_pk_lshlrev_b16 =v.pku16, a.pku16, a.pku16", lambda n, a: a << (n & 15), sched="packed")
inst("v_pk_lshrrev_b16 =v.pku16, a.pku16, a.pku16", lambda n, a: a >> (n & 15), sched="packed")
inst("v_pk_ashrrev_i16 =v.pki16, a.pki16, a.pki16", lambda n, a: a >> (n & 15), sched="packed")

# --- dot products
_Pair = tuple[Value, Value]


def _word(pair: _Pair) -> Value:
    low, high = (x.bits("u16").to("u32") for x in pair)
    return low | (high << 16)


_FORMS: tuple[dict[str, str], ...] = ({"until": "gfx1200"}, {"since": "gfx1200", "form": "gfx12"})
"""RDNA4 adds otherwise: `isa.semantics.dots`."""
_HOW = ("", RDNA4_SUMS)


def _dot2(kind: str) -> Callable[[_Pair, _Pair, Value], Value]:
    """c + a.low * b.low + a.high * b.high as the card adds them."""
    return lambda a, b, c: _word(a).dot2(_word(b), c.bits("u32"), kind).bits("f32")


def _dot2_acc(kind: str) -> Callable[[Value, _Pair, _Pair], Value]:
    return lambda d, a, b: _dot2(kind)(a, b, d)


def _integer_dot(count: int) -> Callable[..., Value]:
    """c and the sum of `count` products of fields of 32/count bits; neg_lo: which source is signed; clamp saturates."""
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
    """c and the sum of `count` products of fields of 32/count bits; clamp saturates."""
    size = 32 // count

    def body(a: Value, b: Value, c: Value, clamp: bool) -> Value:
        total = c.to("u64")
        for i in range(count):
            total = total + (field(a, size * i, size) * field(b, size * i, size)).to("u64")
        return (minimum(total, 2**32 - 1) if clamp else total).to("u32")

    return body


for how, form in zip(_HOW, _FORMS, strict=True):
    for kind, pair in (("f16", "pkf16"), ("bf16", "pkbf16")):
        inst(f"v_dot2_f32_{kind} =v.f32, a.{pair}, a.{pair}, a.f32", _dot2(f"f32 {kind}{how}"), sched="dot", **form)
        acc = _dot2_acc(f"f32 {kind}{how}")
        # Of bf16, and on RDNA4, it is half of a VOPD only.
        inst(f"v_dot2acc_f32_{kind} +v.f32, a.{pair}, a.{pair}", acc, sched="dot", vopd="xy", **form)
inst("v_dot2c_f32_f16 +v.f32, a.pkf16, a.pkf16", _dot2_acc("f32 f16"), sched="dot", until="gfx1200")
for count, size in ((4, 8), (8, 4)):
    inst(
        f"v_dot{count}_i32_iu{size} =v.i32, a.u32, a.u32, a.i32",
        _integer_dot(count),
        sched="dot",
        fields="neg_lo clamp",
    )
    inst(f"v_dot{count}_u32_u{size} =v.u32, a.u32, a.u32, a.u32", _unsigned_dot(count), sched="dot", fields="clamp")


def _dot2_16(kind: str) -> Callable[[_Pair, _Pair, Value], Value]:
    """The same with a 16-bit accumulator and result."""

    def body(a: _Pair, b: _Pair, c: Value) -> Value:
        return _word(a).dot2(_word(b), c.bits("u16").to("u32"), kind).to("u16").bits(c.type)

    return body


# LLVM's operand type for these has 1.0 in the low half only, the guide (7.2.1) says nothing of such pairs; that the
# constant stands in both halves is what AMD's emulator does for gfx11 (rocjitsu, Dot2InlineReplication), and what a
# card was seen to do in V_DOT2ACC_F32_F16 as half of a VOPD.
for how, form in zip(_HOW, _FORMS, strict=True):
    inst("v_dot2_f16_f16 =v.f16, a.pkf16d, a.pkf16d, a.f16", _dot2_16(f"f16 f16{how}"), sched="dot", **form)
    inst("v_dot2_bf16_bf16 =v.u16, a.pkbf16, a.pkbf16, a.bf16", _dot2_16(f"bf16 bf16{how}"), sched="dot", **form)

# --- D = A * B + C on 16x16 matrices of a wave. Lane n holds row n % 16 of A and column n % 16 of B, two k in a
# register; in C and D register r of lane n holds row 2 * r + n // 16, column n % 16.
_Wide = tuple[Value, ...]


def _negated(matrix: _Wide, low: int, high: int) -> _Wide:
    sign = (0x8000 if low else 0) | (0x80000000 if high else 0)
    return tuple(x ^ sign for x in matrix) if sign else matrix


def _modified(numbers: _Wide, negative: int, absolute: int, sign: int) -> _Wide:
    """C: neg_hi takes its absolute value, neg_lo then negates it (recorded on a gfx1100, rocjitsu's operand cases)."""
    if absolute:
        numbers = tuple(x & ~sign for x in numbers)
    return tuple(x ^ sign for x in numbers) if negative else numbers


def _given(values: Sequence[int]) -> Sequence[int]:
    return values or (0, 0, 0)


def _wmma_float(kind: str) -> Callable[..., _Wide]:
    """a * b + c of 16 x 16 matrices. Of 16-bit results one half of each register, which op_sel picks in C and D."""
    packed = not kind.startswith("f32")

    def body(
        a: _Wide, b: _Wide, c: _Wide, neg_lo: Sequence[int], neg_hi: Sequence[int], op_sel: Sequence[int]
    ) -> _Wide:
        low, high = _given(neg_lo), _given(neg_hi)
        if packed:
            shift = 16 if len(op_sel) > 2 and op_sel[2] else 0
            c = tuple(field(x, shift, 16) for x in c)
        c = _modified(c, low[2], high[2], 0x8000 if packed else 0x80000000)
        return wmma(_negated(a, low[0], high[0]), _negated(b, low[1], high[1]), c, kind)

    return body


NARROW = {"f32": "b256", "f16": "f16q", "bf16": "bf16q"}


def _wmma_whole(kind: str) -> Callable[..., _Wide]:
    """RDNA4: no row of A, no column of B stands twice. Lane n holds row (column) n % 16, and k = 8 * (n // 16) and on,
    two in a register; of C and D register r of lane n holds row 8 * (n // 16) + r, and of 16 bits 2 r and 2 r + 1."""
    packed = not kind.startswith("f32")

    def body(a: _Wide, b: _Wide, c: _Wide, neg_lo: Sequence[int], neg_hi: Sequence[int]) -> _Wide:
        low, high = _given(neg_lo), _given(neg_hi)
        c = tuple(field(x, shift, 16) for x in c for shift in (0, 16)) if packed else c
        c = _modified(c, low[2], high[2], 0x8000 if packed else 0x80000000)
        d = wmma(_negated(a, low[0], high[0]), _negated(b, low[1], high[1]), c, kind)
        return tuple(x | (y << 16) for x, y in zip(d[::2], d[1::2], strict=True)) if packed else d

    return body


for kind, accumulator in (("f32", "b256"), ("f16", "f16x8"), ("bf16", "bf16x8")):
    for factor in ("f16", "bf16"):
        if kind in ("f32", factor):
            inst(
                f"v_wmma_{kind}_16x16x16_{factor} =v.{accumulator}, a.b256, a.b256, a.{accumulator}",
                _wmma_float(f"{kind} {factor}"),
                sched="wmma_16bit",
                fields="neg_lo neg_hi op_sel",
                crosses_lanes=True,
                until="gfx1200",
            )
            inst(
                f"v_wmma_{kind}_16x16x16_{factor} =v.{NARROW[kind]}, a.b128, a.b128, a.{NARROW[kind]}",
                _wmma_whole(f"{kind} {factor}{RDNA4_SUMS}"),
                sched="wmma_16bit",
                fields="neg_lo neg_hi",
                crosses_lanes=True,
                ignores_exec=True,
                since="gfx1200",
                form="gfx12",
            )


def _wmma_integer(size: int, how: str = "") -> Callable[..., _Wide]:
    """a * b + c of integer matrices: neg_lo says which of A and B is signed; clamp saturates the sum, at its end."""

    def body(a: Any, b: Any, c: _Wide, neg_lo: Sequence[int], clamp: bool) -> _Wide:
        if not isinstance(a, tuple):
            a, b = ((x,) if x.type == "u32" else x.halves() for x in (a, b))
        a_signed, b_signed = (1 if x else 0 for x in _given(neg_lo)[:2])
        return wmma(a, b, c, f"iu{size} {a_signed} {b_signed} {'clamp' if clamp else 'wrap'}{how}")

    return body


for size, matrix in ((8, "b128"), (4, "b64")):
    inst(
        f"v_wmma_i32_16x16x16_iu{size} =v.b256, a.{matrix}, a.{matrix}, a.b256",
        _wmma_integer(size),
        sched=f"wmma_iu{size}",
        fields="neg_lo clamp",
        crosses_lanes=True,
        until="gfx1200",
    )
for size, k, matrix in ((8, 16, "b64"), (4, 16, "b32"), (4, 32, "b64")):
    inst(
        f"v_wmma_i32_16x16x{k}_iu{size} =v.b256, a.{matrix}, a.{matrix}, a.b256",
        _wmma_integer(size, RDNA4_SUMS),
        sched=f"wmma_iu{size}",
        fields="neg_lo clamp",
        crosses_lanes=True,
        ignores_exec=True,
        since="gfx1200",
        form="gfx12" if k == 16 else "",
    )


def _as_f16(words: Value, kind: str) -> _Wide:
    """Floats of 8 bits, four in a word, as f16, which holds each; two in a word."""

    def f16(word: Value, at: int) -> Value:
        byte = field(word, at, 8)
        return byte << 8 if kind == "bf8" else of_byte(byte, kind).to("f16").bits("u16").to("u32")

    return tuple(f16(x, at) | (f16(x, at + 8) << 16) for x in words.halves() for at in (0, 16))


def _wmma_of_bytes(one: str, two: str) -> Callable[..., _Wide]:
    """Of floats of 8 bits. How a card rounds their sums is not public: as of the same numbers in f16 (assumed)."""
    of_f16 = _wmma_whole(f"f32 f16{RDNA4_SUMS}")
    return lambda a, b, *others: of_f16(_as_f16(a, one), _as_f16(b, two), *others)


for one in ("fp8", "bf8"):
    for two in ("fp8", "bf8"):
        inst(
            f"v_wmma_f32_16x16x16_{one}_{two} =v.b256, a.b64, a.b64, a.b256",
            _wmma_of_bytes(one, two),
            sched="wmma_8bit", fields="neg_lo neg_hi", crosses_lanes=True, ignores_exec=True, since="gfx1200",
        )  # fmt: skip
