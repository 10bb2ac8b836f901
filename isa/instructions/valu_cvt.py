"""Conversions between number formats (V_CVT_*, V_PACK_*): RDNA3 ISA guide 16.8, 16.12."""

from __future__ import annotations

from functools import partial

from isa.instructions.words import field, is_nan, maximum, minimum, pack
from isa.semantics.instruction import inst
from isa.semantics.values import Value, select

# --- one number to another
for source, target in (
    ("i32", "f32"), ("u32", "f32"), ("f16", "f32"), ("f64", "f32"), ("f32", "f16"), ("i16", "f16"), ("u16", "f16"),
    ("f32", "f64"), ("i32", "f64"), ("u32", "f64"),
):  # fmt: skip
    wide = "f64" in (source, target)
    inst(
        f"v_cvt_{target}_{source} =v.{target}, a.{source}",
        lambda a, t=target: a.to(t),
        sched="f64" if wide else "valu",
    )
for source, target in (
    ("f32", "i32"), ("f32", "u32"), ("f64", "i32"), ("f64", "u32"), ("f16", "i16"), ("f16", "u16"),
):  # fmt: skip
    inst(
        f"v_cvt_{target}_{source} =v.{target}, a.{source}",
        lambda a, t=target: a.to_int(t),
        sched="f64" if source == "f64" else "valu",
    )
inst("v_cvt_nearest_i32_f32 =v.i32, a.f32", lambda a: (a + 0.5).floor().to_int("i32"), sched="valu")
inst("v_cvt_floor_i32_f32 =v.i32, a.f32", lambda a: a.floor().to_int("i32"), sched="valu")
for i in range(4):
    inst(
        f"v_cvt_f32_ubyte{i} =v.f32, a.u32",
        lambda a, i=i: field(a, 8 * i, 8).to("f32"),
        sched="valu",
    )
inst(
    "v_cvt_off_f32_i4 =v.f32, a.u32",
    lambda a: ((a << 28).bits("i32") >> 28).to("f32") * 0.0625,
    sched="valu",
)
inst("v_cvt_i32_i16 =v.i32, a.i16", lambda a: a.to("i32"), sched="valu")
inst("v_cvt_u32_u16 =v.u32, a.u16", lambda a: a.to("u32"), sched="valu")
inst("v_sat_pk_u8_i16 =v.u16, a.u32", lambda a: _sat_pk_u8(a), sched="valu")


def _sat_pk_u8(a: Value) -> Value:
    low, high = ((a << 16).bits("i32") >> 16), a.bits("i32") >> 16
    cut = [minimum(maximum(x, 0), 255).bits("u32") for x in (low, high)]
    return (cut[0] | (cut[1] << 8)).to("u16")


# --- normalised integers: 1.0 is the largest


def _norm(a: Value, type_: str) -> Value:
    """round(clamp(a) * (2**15 - 1 or 2**16 - 1)) as a 16-bit integer; a NaN gives 0."""
    low, scale = (-1.0, 32767.0) if type_ == "i16" else (0.0, 65535.0)
    # f32 holds the product of an f16 and the scale closely enough for one rounding to nearest.
    wide = a.to("f32")
    clipped = select(wide > 1.0, 1.0, select(wide < low, low, wide))
    return (clipped * scale).rint().to_int("i32").to(type_)


for kind in ("i16", "u16"):
    norm = partial(_norm, type_=kind)
    inst(f"v_cvt_norm_{kind}_f16 =v.{kind}, a.f16", norm, sched="valu")
    for source in ("f32", "f16"):
        inst(
            f"v_cvt_pk_norm_{kind}_{source} =v.b32, a.{source}, a.{source}",
            lambda a, b, f=norm: pack(f(a), f(b)),
            sched="valu",
        )
    wide_kind = kind[0] + "32"
    inst(
        f"v_cvt_pk_{kind}_f32 =v.b32, a.f32, a.f32",
        lambda a, b, t=kind, w=wide_kind: pack(_saturate(a.to_int(w), t), _saturate(b.to_int(w), t)),
        sched="valu",
    )
    inst(
        f"v_cvt_pk_{kind}_{wide_kind} =v.b32, a.{wide_kind}, a.{wide_kind}",
        lambda a, b, t=kind: pack(_saturate(a, t), _saturate(b, t)),
        sched="valu",
    )


def _saturate(a: Value, type_: str) -> Value:
    if type_ == "u16":
        return minimum(a, 0xFFFF).to("u16")
    return maximum(minimum(a, 0x7FFF), -0x8000).to("i16")


def toward_zero(a: Value) -> Value:
    """f32 -> f16, rounded towards zero in any mode."""
    near = a.to("f16")
    back, u = near.to("f32").bits("u32") & 0x7FFFFFFF, a.bits("u32") & 0x7FFFFFFF
    return select(is_nan(a) | (back <= u), near.bits("u16"), near.bits("u16") - 1)


inst("v_pack_b32_f16 =v.b32, a.f16, a.f16", pack, sched="valu")


def pack_toward_zero(a: Value, b: Value) -> Value:
    """V_CVT_PK_RTZ_F16_F32."""
    return pack(toward_zero(a), toward_zero(b))


inst("v_cvt_pk_rtz_f16_f32 =v.b32, a.f32, a.f32", pack_toward_zero, sched="valu")


def _cvt_pk_u8(a: Value, n: Value, c: Value) -> Value:
    """Byte n of c replaced by a as an integer, 0 to 255."""
    byte = minimum(a.to_int("u32"), 255)
    shift = (n & 3) << 3
    return (c & ~((c & 0 | 0xFF) << shift)) | (byte << shift)


inst("v_cvt_pk_u8_f32 =v.u32, a.f32, a.u32, a.u32", _cvt_pk_u8, sched="valu")

# --- RDNA4: floats of 8 bits, OCP's E4M3 without infinities (fp8) and E5M2 (bf8)


def of_byte(byte: Value, kind: str) -> Value:
    """A float of 8 bits as f32; exact, a NaN quiet."""
    mantissa, bias = (3, 7) if kind == "fp8" else (2, 15)
    rest, field_ = byte & (1 << mantissa) - 1, (byte & 0x7F) >> mantissa
    normal = ((field_ + (127 - bias)) << 23) | (rest << 23 - mantissa)
    small = (rest.to("f32") * 2.0 ** (1 - bias - mantissa)).bits("u32")
    size = select(field_ == 0, small, normal)
    if kind == "fp8":
        size = select((byte & 0x7F) == 0x7F, 0x7FC00000, size)
    else:
        size = select(field_ == 31, select(rest == 0, 0x7F800000, (rest << 21) | 0x7FC00000), size)
    return (size | ((byte & 0x80) << 24)).bits("f32")


def _to_byte(a: Value, kind: str, overflow: bool) -> Value:
    """An f32 as a float of 8 bits, to nearest even in any mode; what is too large as NaN (fp8) or infinity (bf8), with
    FP16_OVFL as the greatest number (of infinities that is assumed)."""
    mantissa, bias = (3, 7) if kind == "fp8" else (2, 15)
    u = a.bits("u32")
    size, sign = u & 0x7FFFFFFF, (u >> 24) & 0x80
    exponent, least = size >> 23, 128 - bias
    # Of what is below the smallest normal number more bits are dropped.
    more = select(exponent < least, minimum((exponent & 0) + least - exponent, mantissa + 2), 0)
    whole, shift = (size & 0x7FFFFF) | 0x800000, more + (23 - mantissa)
    half = ((u & 0 | 1) << (shift - 1)) - 1
    rounded = (whole + ((whole >> shift) & 1) + half) >> shift
    byte = ((maximum(exponent, least) - least) << mantissa) + rounded
    most = 0x7E if kind == "fp8" else 0x7B
    byte = select(byte > most, most if overflow else most + 1, byte)
    return select(size > 0x7F800000, 0x7F, byte) | sign


def _byte_at(byte: object) -> int:
    return byte if isinstance(byte, int) else 0


for kind in ("fp8", "bf8"):
    inst(
        f"v_cvt_f32_{kind} =v.f32, a.u32",
        lambda a, at, kind=kind: of_byte((a >> 8 * _byte_at(at)) & 0xFF, kind),
        sched="valu",
        fields="byte_sel",
        since="gfx1200",
    )
    inst(
        f"v_cvt_pk_f32_{kind} =v.b64, a.u16",
        lambda a, kind=kind: of_byte(a.to("u32") & 0xFF, kind).bits("u32").joined(
            of_byte(a.to("u32") >> 8, kind).bits("u32")),
        sched="valu",
        since="gfx1200",
    )  # fmt: skip
    inst(
        f"v_cvt_pk_{kind}_f32 =v.u16, a.f32, a.f32",
        lambda a, b, over, kind=kind: (_to_byte(a, kind, over) | (_to_byte(b, kind, over) << 8)).to("u16"),
        sched="valu",
        fields="overflow",
        since="gfx1200",
    )
