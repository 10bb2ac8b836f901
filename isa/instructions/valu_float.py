"""Vector floating-point arithmetic (VOP1, VOP2, VOP3, VOPD): RDNA3 ISA guide 7 and 16.7 to 16.12."""

from __future__ import annotations

from collections.abc import Callable

from isa.instructions.words import FORMATS, float_bits, is_nan, maximum, minimum
from isa.semantics.instruction import inst
from isa.semantics.values import Number, Value, fma, select

_CLASS = {"f16": "valu", "f32": "valu", "f64": "f64"}

# --- addition, multiplication, fused multiply-add
inst("v_add_f32 =v.f32, a.f32, a.f32", lambda a, b: a + b, sched="valu", vopd="xy")
inst("v_sub_f32 =v.f32, a.f32, a.f32", lambda a, b: a - b, sched="valu", vopd="xy")
inst("v_subrev_f32 =v.f32, a.f32, a.f32", lambda a, b: b - a, sched="valu", vopd="xy")
inst("v_mul_f32 =v.f32, a.f32, a.f32", lambda a, b: a * b, sched="valu", vopd="xy")
inst("v_fmac_f32 +v.f32, a.f32, a.f32", lambda d, a, b: fma(a, b, d), sched="valu", vopd="xy")
inst("v_fmaak_f32 =v.f32, a.f32, a.f32, a.f32", fma, sched="valu", vopd="xy")
inst("v_fmamk_f32 =v.f32, a.f32, a.f32, a.f32", lambda a, k, b: fma(a, k, b), sched="valu", vopd="xy")
inst("v_add_f16 =v.f16, a.f16, a.f16", lambda a, b: a + b, sched="valu")
inst("v_sub_f16 =v.f16, a.f16, a.f16", lambda a, b: a - b, sched="valu")
inst("v_subrev_f16 =v.f16, a.f16, a.f16", lambda a, b: b - a, sched="valu")
inst("v_mul_f16 =v.f16, a.f16, a.f16", lambda a, b: a * b, sched="valu")
inst("v_fmac_f16 +v.f16, a.f16, a.f16", lambda d, a, b: fma(a, b, d), sched="valu")
inst("v_fmaak_f16 =v.f16, a.f16, a.f16, a.f16", fma, sched="valu")
inst("v_fmamk_f16 =v.f16, a.f16, a.f16, a.f16", lambda a, k, b: fma(a, k, b), sched="valu")
inst("v_add_f64 =v.f64, a.f64, a.f64", lambda a, b: a + b, sched="f64")
inst("v_mul_f64 =v.f64, a.f64, a.f64", lambda a, b: a * b, sched="f64")
for kind, sched in _CLASS.items():
    inst(f"v_fma_{kind} =v.{kind}, a.{kind}, a.{kind}, a.{kind}", fma, sched=sched)


def _dx9(a: Value, b: Value) -> tuple[Value, Value]:
    """DX9's rule, 0 times anything is +0: the factors, both +0 where either is a zero.

    An addend is then added to +0, which makes +0 of -0 except when rounding down. The ISA guide's formula hands it on
    as it is (16.12, V_FMA_DX9_ZERO_F32). LLVM says that this would be wrong for -0 (AMDGPUInstCombineIntrinsic.cpp,
    amdgcn_fma_legacy), and AMD's own emulator expects the sum in each rounding mode, in a table of cases that names
    gfx1100 as where others of it were captured (ROCm/rocm-systems, rocjitsu, dx9_fma_cases).
    """
    zero = (a.bits("u32") & 0).bits("f32")
    either = (a == 0.0) | (b == 0.0)
    return select(either, zero, a), select(either, zero, b)


def _mul_dx9(a: Value, b: Value) -> Value:
    x, y = _dx9(a, b)
    return x * y


inst("v_mul_dx9_zero_f32 =v.f32, a.f32, a.f32", _mul_dx9, sched="valu", vopd="xy")
inst(
    "v_fmac_dx9_zero_f32 +v.f32, a.f32, a.f32", lambda d, a, b: fma(*_dx9(a, b), d),
    sched="valu", flushes=True, until="gfx1200",
)  # fmt: skip
inst("v_fma_dx9_zero_f32 =v.f32, a.f32, a.f32, a.f32", lambda a, b, c: fma(*_dx9(a, b), c), sched="valu", flushes=True)
FLOAT_MAX = 3.4028234663852886e38


def _mullit(a: Value, b: Value, c: Value) -> Value:
    """a * b by DX9's rule, and -FLT_MAX for anything a lighting equation would choke on (V_MULLIT_F32)."""
    bad = (b == -FLOAT_MAX) | (b == float("-inf")) | is_nan(b) | ~(c > 0.0)
    return select(bad, -FLOAT_MAX, _mul_dx9(a, b))


inst("v_mullit_f32 =v.f32, a.f32, a.f32, a.f32", _mullit, sched="valu")

# --- cube maps: which face a direction meets, where, and twice its largest coordinate: z before y before x


def _absolute(a: Value) -> Value:
    return (a.bits("u32") & 0x7FFFFFFF).bits("f32")


def _negative(a: Value) -> Value:
    return (a.bits("u32") ^ 0x80000000).bits("f32")


def _by_face(x: Value, y: Value, z: Value, of_x: Number, of_y: Number, of_z: Number) -> Value:
    """One of three, by the coordinate of the face."""
    z_face = (_absolute(z) >= _absolute(x)) & (_absolute(z) >= _absolute(y))
    return select(z_face, of_z, select(_absolute(y) >= _absolute(x), of_y, of_x))


def _cube_id(x: Value, y: Value, z: Value) -> Value:
    zero = (x.bits("u32") & 0).bits("f32")
    return _by_face(x, y, z, *(select(a < 0.0, zero + (n + 1.0), zero + n) for n, a in ((0.0, x), (2.0, y), (4.0, z))))


def _cube_s(x: Value, y: Value, z: Value) -> Value:
    return _by_face(x, y, z, select(x < 0.0, z, _negative(z)), x, select(z < 0.0, _negative(x), x))


def _cube_t(x: Value, y: Value, z: Value) -> Value:
    return _by_face(x, y, z, _negative(y), select(y < 0.0, _negative(z), z), _negative(y))


_CUBE: dict[str, Callable[[Value, Value, Value], Value]] = {
    "id": _cube_id,
    "sc": _cube_s,
    "tc": _cube_t,
    "ma": lambda x, y, z: _by_face(x, y, z, x * 2.0, y * 2.0, z * 2.0),
}
for op, cube in _CUBE.items():
    inst(f"v_cube{op}_f32 =v.f32, a.f32, a.f32, a.f32", cube, sched="valu")

# --- minimum and maximum (-0 < +0; a NaN loses against a number)


def _canonical(a: Value) -> Value:
    """A denormal flushed where the mode says so; any other number as it is."""
    return a * 1.0


def _pick(a: Value, b: Value, first: Value, ieee: bool) -> Value:
    picked = select(is_nan(b), a, select(is_nan(a), b, select(first, a, b)))
    result = _canonical(picked)
    if not ieee:  # a signalling NaN is handed on as it is (16.7, V_MIN_F32)
        return select(is_nan(picked), picked, result)
    for x in (b, a):
        u, _, mantissa = float_bits(x)
        quiet = 1 << (mantissa - 1)
        result = select(is_nan(x) & ((u & quiet) == 0), (u | quiet).bits(x.type), result)
    return result


def fmin(a: Value, b: Value, ieee: bool) -> Value:
    """V_MIN_F*: in IEEE mode a signalling NaN comes through, made quiet; else two NaNs give the first as it is."""
    u, size, _ = float_bits(a)
    return _pick(a, b, (a < b) | ((a == b) & ((u >> (size - 1)) == 1)), ieee)


def fmax(a: Value, b: Value, ieee: bool) -> Value:
    """V_MAX_F*; see `fmin`."""
    u, size, _ = float_bits(a)
    return _pick(a, b, (a > b) | ((a == b) & ((u >> (size - 1)) == 0)), ieee)


def _med3(a: Value, b: Value, c: Value, ieee: bool) -> Value:
    """The middle one; the smallest where any is a NaN."""
    small = fmin(fmin(a, b, ieee), c, ieee)
    middle = fmax(fmin(a, b, ieee), fmin(fmax(a, b, ieee), c, ieee), ieee)
    return select(is_nan(a) | is_nan(b) | is_nan(c), small, middle)


# RDNA4 has no IEEE mode and two kinds (RDNA4 ISA guide, V_MIN_NUM_F32, V_MINIMUM_F32): `num` as IEEE 754-2019's
# minimumNumber, a NaN loses; the other as its minimum, a NaN wins. Of two NaNs the first is given: the guide says that
# signalling ones go first, a card was seen not to (ROCm/rocm-systems, rocjitsu, comparison.h).


def _less(a: Value, b: Value) -> Value:
    u, size, _ = float_bits(a)
    return (a < b) | ((a == b) & ((u >> (size - 1)) == 1))


def _more(a: Value, b: Value) -> Value:
    u, size, _ = float_bits(a)
    return (a > b) | ((a == b) & ((u >> (size - 1)) == 0))


def _num(a: Value, b: Value, first: Value) -> Value:
    return _quiet(_canonical(select(is_nan(b), a, select(is_nan(a), b, select(first, a, b)))))


def min_num(a: Value, b: Value) -> Value:
    """V_MIN_NUM_F*."""
    return _num(a, b, _less(a, b))


def max_num(a: Value, b: Value) -> Value:
    """V_MAX_NUM_F*."""
    return _num(a, b, _more(a, b))


def lowest(a: Value, b: Value) -> Value:
    """V_MINIMUM_F*."""
    return _quiet(_canonical(select(is_nan(a), a, select(is_nan(b), b, select(_less(a, b), a, b)))))


def highest(a: Value, b: Value) -> Value:
    """V_MAXIMUM_F*."""
    return _quiet(_canonical(select(is_nan(a), a, select(is_nan(b), b, select(_more(a, b), a, b)))))


def _med3_num(a: Value, b: Value, c: Value) -> Value:
    """As `_med3`; -0 and +0 are two numbers (the same, minmax.h)."""
    middle = max_num(min_num(a, b), min_num(max_num(a, b), c))
    return select(is_nan(a) | is_nan(b) | is_nan(c), min_num(min_num(a, b), c), middle)


for kind, sched in _CLASS.items():
    three, four = f"=v.{kind}, a.{kind}, a.{kind}", f"=v.{kind}, a.{kind}, a.{kind}, a.{kind}"
    vopd = "xy" if kind == "f32" else ""
    old: dict[str, str] = {"sched": sched, "fields": "ieee", "until": "gfx1200"}
    new: dict[str, str] = {"sched": sched, "since": "gfx1200"}
    inst(f"v_min_{kind} {three}", fmin, **old, vopd=vopd)
    inst(f"v_max_{kind} {three}", fmax, **old, vopd=vopd)
    inst(f"v_min_num_{kind} {three}", min_num, **new, vopd=vopd)
    inst(f"v_max_num_{kind} {three}", max_num, **new, vopd=vopd)
    inst(f"v_minimum_{kind} {three}", lowest, **new)
    inst(f"v_maximum_{kind} {three}", highest, **new)
    if kind == "f64":
        continue
    inst(f"v_min3_{kind} {four}", lambda a, b, c, m: fmin(fmin(a, b, m), c, m), **old)
    inst(f"v_max3_{kind} {four}", lambda a, b, c, m: fmax(fmax(a, b, m), c, m), **old)
    inst(f"v_minmax_{kind} {four}", lambda a, b, c, m: fmax(fmin(a, b, m), c, m), **old)
    inst(f"v_maxmin_{kind} {four}", lambda a, b, c, m: fmin(fmax(a, b, m), c, m), **old)
    inst(f"v_med3_{kind} {four}", _med3, **old)
    for word, inner, outer in (
        ("min3_num", min_num, min_num), ("max3_num", max_num, max_num), ("minmax_num", min_num, max_num),
        ("maxmin_num", max_num, min_num), ("minimum3", lowest, lowest), ("maximum3", highest, highest),
        ("minimummaximum", lowest, highest), ("maximumminimum", highest, lowest),
    ):  # fmt: skip
        inst(f"v_{word}_{kind} {four}", lambda a, b, c, inner=inner, outer=outer: outer(inner(a, b), c), **new)
    inst(f"v_med3_num_{kind} {four}", _med3_num, **new)

# --- rounding to integers


def _fract(a: Value) -> Value:
    """a - floor(a), always below 1."""
    below_one = {"f16": 0.99951171875, "f32": 0.999999940395355224609375, "f64": 1.0 - 2.0**-53}[a.type]
    part = a - a.floor()
    return select(part >= 1.0, below_one, part)


_ROUND: dict[str, Callable[[Value], Value]] = {
    "trunc": lambda a: a.trunc(),
    "ceil": lambda a: a.ceil(),
    "floor": lambda a: a.floor(),
    "rndne": lambda a: a.rint(),
    "fract": _fract,
}
for kind, sched in _CLASS.items():
    for op, f in _ROUND.items():
        inst(f"v_{op}_{kind} =v.{kind}, a.{kind}", f, sched=sched)

# --- exponents


def frexp_exp(a: Value) -> Value:
    """The exponent of a as a fraction in [0.5, 1) times a power of two; 0 for 0, infinities and NaNs."""
    u, size, mantissa = float_bits(a)
    top = (1 << (size - 1 - mantissa)) - 1
    bias = top >> 1
    exponent = (u >> mantissa) & top
    fraction = u & ((1 << mantissa) - 1)
    # A denormal's exponent follows from its leading zeros.
    denormal = 1 - bias + (size - mantissa) - fraction.clz()
    result = select(exponent == 0, denormal, exponent - (bias - 1))
    result = select(((exponent == 0) & (fraction == 0)) | (exponent == top), 0, result)
    return result.to("u32").bits("i32") if size != 16 else result.bits("i16")


def _quiet(a: Value) -> Value:
    """A NaN made quiet in any mode."""
    u, _, mantissa = float_bits(a)
    return select(is_nan(a), u | 1 << (mantissa - 1), u).bits(a.type)


def frexp_mant(a: Value) -> Value:
    u, size, mantissa = float_bits(a)
    top = (1 << (size - 1 - mantissa)) - 1
    exponent, fraction = (u >> mantissa) & top, u & ((1 << mantissa) - 1)
    shift = fraction.clz() - (size - 1 - mantissa)
    whole = (fraction << (shift & (size - 1))) & ((1 << mantissa) - 1)
    sign = u & (1 << (size - 1))
    half = sign | ((top >> 1) - 1 << mantissa)
    result = half | select(exponent == 0, whole, fraction)
    return select(((exponent == 0) & (fraction == 0)) | (exponent == top), u, result).bits(a.type)


def ldexp(a: Value, n: Value) -> Value:
    """a * 2**n, rounded once. n is i32."""
    size, mantissa = FORMATS[a.type]
    bias = (1 << (size - 2 - mantissa)) - 1
    exact = bias - 3
    a = _canonical(a)
    # The fraction times 2**first is a normal number and exact, so that only the second step rounds.
    exponent = frexp_exp(a).to("i32") + minimum(maximum(n, -4 * bias), 4 * bias)
    first = minimum(maximum(exponent, -exact), exact)
    second = minimum(maximum(exponent - first, max(-mantissa - 8, 1 - bias)), min(mantissa + 8, bias))
    return frexp_mant(a) * _power(first, a.type) * _power(second, a.type)


def _power(n: Value, type_: str) -> Value:
    """2**n as a normal float."""
    size, mantissa = FORMATS[type_]
    bias = (1 << (size - 2 - mantissa)) - 1
    return ((n + bias).bits("u32").to(f"u{size}") << mantissa).bits(type_)


for kind, sched in _CLASS.items():
    number = "i16" if kind == "f16" else "i32"
    inst(f"v_frexp_mant_{kind} =v.{kind}, a.{kind}", lambda a: frexp_mant(_quiet(_canonical(a))), sched=sched)
    inst(f"v_frexp_exp_{number}_{kind} =v.{number}, a.{kind}", lambda a: frexp_exp(_canonical(a)), sched=sched)
inst("v_ldexp_f32 =v.f32, a.f32, a.i32", ldexp, sched="valu")
inst("v_ldexp_f64 =v.f64, a.f64, a.i32", ldexp, sched="f64")
inst("v_ldexp_f16 =v.f16, a.f16, a.i16", lambda a, n: ldexp(a, n.to("i32")), sched="valu")

# --- the transcendental unit: in f32 all but sine and cosine flush denormals, in any mode (16.8, V_EXP_F32, V_LOG_F32,
# V_RCP_F32, V_RSQ_F32, V_SQRT_F32; for f16 the guide says nothing of the kind)


def _flushed(a: Value) -> Value:
    u = a.bits("u32")
    return select((u & 0x7F800000) == 0, u & 0x80000000, u).bits("f32")


def _transcendental(a: Value, name: str) -> Value:
    if a.type == "f32":
        a = _flushed(a)
    result = a.sqrt() if name == "sqrt" else a.call(name)
    return _flushed(result) if a.type == "f32" else result


def _sin(a: Value) -> Value:
    """A zero keeps its sign; that of another whole number of turns is +0 (V_SIN_F32, examples)."""
    u, size, _ = float_bits(a)
    return select(a == 0.0, (u & 1 << (size - 1)).bits(a.type), a.call("sin"))


for kind in ("f16", "f32"):
    two = f"_{kind} =v.{kind}, a.{kind}"
    for op, called in (("rcp", "rcp"), ("rsq", "rsq"), ("log", "log2"), ("exp", "exp2"), ("sqrt", "sqrt")):
        inst(f"v_{op}{two}", lambda a, f=called: _transcendental(a, f), sched="trans", flushes=kind == "f32")
        # RDNA4: the same of an SGPR, in the same unit
        inst(
            f"v_s_{op}_{kind} =s.{kind}, s.{kind}", lambda a, f=called: _transcendental(a, f),
            sched="trans_scalar", flushes=kind == "f32", ignores_exec=True, since="gfx1200",
        )  # fmt: skip
    inst(f"v_sin{two}", _sin, sched="trans")
    inst(f"v_cos{two}", lambda a: a.call("cos"), sched="trans", flushes=kind == "f32")
inst("v_rcp_iflag_f32 =v.f32, a.f32", lambda a: _transcendental(a, "rcp"), sched="trans", flushes=True)
inst("v_rcp_f64 =v.f64, a.f64", lambda a: a.call("rcp"), sched="trans_f64")
inst("v_rsq_f64 =v.f64, a.f64", lambda a: a.call("rsq"), sched="trans_f64")
inst("v_sqrt_f64 =v.f64, a.f64", lambda a: a.sqrt(), sched="trans_f64")


# --- mixed precision: f16 and f32 operands, one rounding at the end
def _mix_half(a: Value, b: Value, c: Value) -> Value:
    """An invalid product goes before the addend's NaN, as in V_FMA_F16 (recorded on a gfx1100)."""
    return fma(a, b, select(is_nan(a * b), 0.0, c)).to("f16")


inst("v_fma_mix_f32 =v.f32, a.mix, a.mix, a.mix", fma, sched="valu")
inst("v_fma_mixlo_f16 =v.f16, a.mix, a.mix, a.mix", _mix_half, sched="valu")
inst("v_fma_mixhi_f16 =v.f16h, a.mix, a.mix, a.mix", _mix_half, sched="valu")
