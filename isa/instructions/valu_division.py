"""The steps of IEEE division and of argument reduction: V_DIV_SCALE, V_DIV_FMAS, V_DIV_FIXUP, V_TRIG_PREOP.

RDNA3 ISA guide 16.12. Where its pseudocode asks whether a quotient is denormal, the answer here follows from exponents
and fractions, so that nothing is divided.
"""

from __future__ import annotations

from isa.describe import Unit, inst
from isa.instructions.valu_float import frexp_exp, frexp_mant, ldexp
from isa.instructions.words import FORMATS, float_bits, is_inf, is_nan, maximum
from isa.values import Value, fma, select


def _parts(a: Value) -> tuple[Value, Value, Value]:
    """(whether negative, biased exponent as a signed number, mantissa) of a float."""
    u, size, mantissa = float_bits(a)
    exponent = ((u >> mantissa) & ((1 << (size - 1 - mantissa)) - 1)).bits(f"i{size}")
    return (u >> (size - 1)) == 1, exponent, u & ((1 << mantissa) - 1)


def _constant(like: Value, bits: int) -> Value:
    u, _, _ = float_bits(like)
    return (u & 0 | bits).bits(like.type)


def _scaled(a: Value, n: int) -> Value:
    u, _, _ = float_bits(a)
    return ldexp(a, (u & 0).to("u32").bits("i32") + n)


def _div_scale(s0: Value, denominator: Value, numerator: Value) -> tuple[Value, Value]:
    """(s0 scaled so that no step of the division over- or underflows, whether V_DIV_FMAS must scale back).

    s0 is the numerator or the denominator, whichever is to be scaled. Where 1/d and n/d are both tiny the guide scales
    the denominator up, which overflows; down is what makes division right.
    """
    size, mantissa = FORMATS[s0.type]
    bias = (1 << (size - 2 - mantissa)) - 1
    step, widest = (64, 96) if size == 32 else (128, 768)
    _, n_exponent, _ = _parts(numerator)
    _, d_exponent, d_fraction = _parts(denominator)
    up, down = _scaled(s0, step), _scaled(s0, -step)
    zero = (numerator == 0.0) | (denominator == 0.0)
    far = n_exponent - d_exponent >= widest
    tiny_denominator = (d_exponent == 0) & (d_fraction != 0)
    # 1/d < 2**(1 - bias) where d > 2**(bias - 1); n/d likewise, by the difference of exponents and then the fractions.
    tiny_reciprocal = (d_exponent == 2 * bias) | ((d_exponent == 2 * bias - 1) & (d_fraction != 0))
    difference = frexp_exp(numerator) - frexp_exp(denominator)
    smaller = frexp_mant(numerator).bits(f"u{size}") << 1 < frexp_mant(denominator).bits(f"u{size}") << 1
    finite = (n_exponent != 2 * bias + 1) & (d_exponent != 2 * bias + 1)
    tiny_quotient = finite & ((difference < 1 - bias) | ((difference == 1 - bias) & smaller))
    of_denominator, of_numerator = s0 == denominator, s0 == numerator
    value = select(n_exponent <= mantissa, up, s0)
    value = select(tiny_quotient, select(of_numerator, up, s0), value)
    value = select(tiny_reciprocal, down, value)
    value = select(tiny_reciprocal & tiny_quotient, select(of_denominator, down, s0), value)
    value = select(tiny_denominator, up, value)
    value = select(far, select(of_denominator, up, s0), value)
    value = select(zero, _constant(s0, _QUIET_NAN[s0.type]), value)
    return value, ~zero & (far | (~tiny_denominator & tiny_quotient))


_QUIET_NAN = {"f16": 0x7E00, "f32": 0x7FC00000, "f64": 0x7FF8000000000000}


def _div_fmas(a: Value, b: Value, c: Value, vcc: Value) -> Value:
    """fma, and where V_DIV_SCALE said so the scaling undone.

    The guide's pseudocode for gfx11 says 2**32 (2**64 for f64), which does not undo V_DIV_SCALE's 2**64 (2**128). The
    guides of later chips say what the card does: by the exponent of the addend, up or down by V_DIV_SCALE's amount.

    Rounded once, after scaling, or quotients that are denormal come out wrong in their last place: f32 is scaled in
    f64; for f64, which has no wider type, the case that matters is told apart.
    """
    _, exponent, _ = _parts(c)
    if a.type == "f32":
        exact = fma(a.to("f64"), b.to("f64"), c.to("f64"))
        scaled = select(exponent > 127, _scaled(exact, 64), _scaled(exact, -64)).to("f32")
        return select(vcc.lanes(), scaled, fma(a, b, c))
    result = fma(a, b, c)
    up, down = _scaled(result, 128), _scaled(result, -128)
    # A sum half-way between two denormals: what fma cut off decides. c and the sum are close, so that their difference
    # is exact, and `error` has the right sign. Half a step of the denormals is 2**-1075.
    cut = result - _scaled(down, 128)
    half_way = (cut == 2.0**-947) | (cut == -(2.0**-947))
    error = fma(a, b, c - result)
    bits = result.bits("u64")
    grows = (error > 0.0) ^ _parts(result)[0]
    nudged = select(error == 0.0, bits, select(grows, bits + 1, bits - 1)).bits("f64")
    down = select(half_way, _scaled(nudged, -128), down)
    return select(vcc.lanes(), select(exponent > 1023, up, down), result)


def _div_fixup(quotient: Value, denominator: Value, numerator: Value) -> Value:
    """The quotient with its sign, or what IEEE division gives in a special case.

    A NaN for a quotient of ordinary numbers comes from an estimate that overflowed (later guides than gfx11's say so).
    """
    size, mantissa = FORMATS[quotient.type]
    bias = (1 << (size - 2 - mantissa)) - 1
    (n_negative, n_exponent, _), (d_negative, d_exponent, _) = _parts(numerator), _parts(denominator)
    sign = 1 << (size - 1)
    u, _, _ = float_bits(quotient)
    negative = n_negative ^ d_negative
    result = u & (sign - 1)
    infinite = (2 * bias + 1) << mantissa
    result = select(is_nan(quotient), u & 0 | infinite, result)
    if size != 16:
        result = select(n_exponent - d_exponent < -(bias + mantissa), u & 0, result)
    result = select(is_inf(denominator) | (numerator == 0.0), u & 0, result)
    result = select((denominator == 0.0) | is_inf(numerator), u & 0 | infinite, result)
    result = select(negative, result | sign, result)
    undefined = ((denominator == 0.0) & (numerator == 0.0)) | (is_inf(denominator) & is_inf(numerator))
    result = select(undefined, u & 0 | (_QUIET_NAN[quotient.type] | sign), result)
    quiet = 1 << (mantissa - 1)
    result = select(is_nan(denominator), float_bits(denominator)[0] | quiet, result)
    return select(is_nan(numerator), float_bits(numerator)[0] | quiet, result).bits(quotient.type)


_UNITS: tuple[tuple[str, Unit], ...] = (("f32", "valu"), ("f64", "valu64"))
for kind, unit in _UNITS:
    inst(f"v_div_scale_{kind} =v.{kind}, =m, a.{kind}, a.{kind}, a.{kind}", _div_scale, unit=unit)
    inst(f"v_div_fmas_{kind} =v.{kind}, a.{kind}, a.{kind}, a.{kind}", _div_fmas, unit=unit, reads="vcc")
    inst(f"v_div_fixup_{kind} =v.{kind}, a.{kind}, a.{kind}, a.{kind}", _div_fixup, unit=unit)
inst("v_div_fixup_f16 =v.f16, a.f16, a.f16, a.f16", _div_fixup, unit="valu")

# --- argument reduction


def _two_over_pi(bits: int) -> int:
    """floor(2/pi * 2**bits), by Machin's formula with spare bits."""
    spare = bits + 64

    def arctan_inverse(x: int) -> int:
        total, term, n = 0, (1 << spare) // x, 1
        while term:
            total += term // n if n % 4 == 1 else -(term // n)
            term //= x * x
            n += 2
        return total

    pi = 4 * (4 * arctan_inverse(5) - arctan_inverse(239))
    return (2 << (spare + bits)) // pi


_DIGITS = 1201


def _trig_preop(a: Value, segment: Value) -> Value:
    """53 bits of 2/pi, from bit 53 * segment on (later for large a), as a number of their weight."""
    _, exponent, _ = _parts(a)
    shift = (segment & 31).bits("i32") * 53 + maximum(exponent - 1077, 0).to("i32")
    # The bits stand at the top of two 64-bit words of 2/pi, which is padded with zeros behind its last digit.
    number = _two_over_pi(_DIGITS) << 64 * 60
    total = _DIGITS + 64 * 60
    words = [(number >> max(total - 64 * (i + 1), 0)) & (2**64 - 1) for i in range(60)]
    first = (shift >> 6).bits("u32")
    high, low = a.bits("u64") & 0, a.bits("u64") & 0
    for i in range(59):
        high = select(first == i, words[i], high)
        low = select(first == i, words[i + 1], low)
    inside = (shift & 63).bits("u32").to("u64")
    window = (high << inside) | select(inside == 0, 0, low >> ((64 - inside) & 63))
    weight = -53 - shift + (exponent >= 1968).to("i32") * 128
    return ldexp((window >> 11).to("f64"), weight)


inst("v_trig_preop_f64 =v.f64, a.f64, a.u32", _trig_preop, unit="valu64")
