"""The steps of IEEE division and of argument reduction: V_DIV_SCALE, V_DIV_FMAS, V_DIV_FIXUP, V_TRIG_PREOP.

RDNA3 ISA guide 16.12, and what was checked on cards where its pseudocode is looser than they are.
"""

from __future__ import annotations

from isa.instructions.valu_float import ldexp
from isa.instructions.words import FORMATS, float_bits, is_inf, is_nan, maximum
from isa.semantics.instruction import inst
from isa.semantics.values import Value, select


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


def _kept(a: Value, ieee: bool) -> Value:
    """a, its denormals flushed as MODE has it. A signalling NaN becomes quiet in IEEE mode."""
    return a * 1.0 if ieee else select(is_nan(a), a, a * 1.0)


def _div_scale(s0: Value, denominator: Value, numerator: Value, ieee: bool) -> tuple[Value, Value]:
    """(s0 scaled so that no step of the division over- or underflows, whether V_DIV_FMAS must scale back).

    s0 is the numerator or the denominator, whichever is to be scaled. Both results follow from the exponents as they
    are encoded, 0 for a denormal, where the guide's pseudocode asks for denormal quotients; so it was checked on a
    gfx1100 (ROCm/rocm-systems, pull request 11613). A zero operand gives a NaN, and does not clear VCC.
    """
    size, mantissa = FORMATS[s0.type]
    bias = (1 << (size - 2 - mantissa)) - 1
    step, widest, tiny = (64, 96, 24) if size == 32 else (128, 768, 53)
    # Where MODE drops denormal inputs they are zeros, whose exponent is 0 as well.
    _, n_exponent, _ = _parts(numerator)
    _, d_exponent, _ = _parts(denominator)
    difference = n_exponent - d_exponent
    large, small = difference >= widest, difference <= -widest
    same, up, down = _kept(s0, ieee), _scaled(s0, step), _scaled(s0, -step)
    of_denominator = s0 == denominator
    value = select(n_exponent <= tiny, up, same)
    value = select(small, select(of_denominator, same, up), value)
    # The denominator's reciprocal would be denormal.
    value = select(d_exponent >= 2 * bias - 1, select(small & ~of_denominator, same, down), value)
    value = select(d_exponent == 0, up, value)
    value = select(large, select(of_denominator, up, same), value)
    value = select(is_nan(s0), same, value)
    zero = (numerator == 0.0) | (denominator == 0.0)
    value = select(zero, _constant(s0, _QUIET_NAN[s0.type] | 1 << (size - 1)), value)
    return value, large | ((d_exponent != 0) & small)


_QUIET_NAN = {"f16": 0x7E00, "f32": 0x7FC00000, "f64": 0x7FF8000000000000}


def _div_fmas(a: Value, b: Value, c: Value, vcc: Value) -> Value:
    """fma, and where V_DIV_SCALE said so the scaling undone, rounded once. Denormal operands are kept in any MODE.

    The guide's pseudocode for gfx11 says 2**32 (2**64 for f64), which does not undo V_DIV_SCALE's 2**64 (2**128). The
    guides of later chips say what the card does: by the exponent of the addend, up or down by V_DIV_SCALE's amount
    (ROCm/rocm-systems, pull request 11613, checked on a gfx1100).
    """
    size, mantissa = FORMATS[a.type]
    bias, step = (1 << (size - 2 - mantissa)) - 1, 64 if size == 32 else 128
    _, exponent, _ = _parts(c)
    none = (exponent & 0).to("i32")
    return a.scaled_fma(b, c, select(vcc.lanes(), select(exponent > bias, none + step, none - step), none))


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
    # MODE rounds what is beyond the largest number, and, but in f16, what is below the smallest.
    largest, smallest = (
        select(negative, u & 0 | x | sign, x).bits(quotient.type) for x in (infinite - 1, 1 << mantissa)
    )
    result = select(result >= infinite, (largest * 2.0).bits(f"u{size}") & (sign - 1), result)
    if size != 16:
        below = (smallest * 2.0 ** (1 - bias)).bits(f"u{size}") & (sign - 1)
        result = select(n_exponent - d_exponent < -(bias + mantissa), below, result)
    result = select(is_inf(denominator) | (numerator == 0.0), u & 0, result)
    result = select((denominator == 0.0) | is_inf(numerator), u & 0 | infinite, result)
    result = select(negative, result | sign, result)
    undefined = ((denominator == 0.0) & (numerator == 0.0)) | (is_inf(denominator) & is_inf(numerator))
    result = select(undefined, u & 0 | (_QUIET_NAN[quotient.type] | sign), result)
    quiet = 1 << (mantissa - 1)
    result = select(is_nan(denominator), float_bits(denominator)[0] | quiet, result)
    return select(is_nan(numerator), float_bits(numerator)[0] | quiet, result).bits(quotient.type)


for kind, sched in (("f32", "valu"), ("f64", "f64")):
    inst(f"v_div_scale_{kind} =v.{kind}, =m, a.{kind}, a.{kind}, a.{kind}", _div_scale, sched=sched, fields="ieee")
    inst(f"v_div_fmas_{kind} =v.{kind}, a.{kind}, a.{kind}, a.{kind}", _div_fmas, sched=sched, reads="vcc")
    inst(f"v_div_fixup_{kind} =v.{kind}, a.{kind}, a.{kind}, a.{kind}", _div_fixup, sched=sched)
inst("v_div_fixup_f16 =v.f16, a.f16, a.f16, a.f16", _div_fixup, sched="valu")

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
    # The bits stand at the top of two 64-bit words of 2/pi, which is padded with zeros after its last digit.
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


inst("v_trig_preop_f64 =v.f64, a.f64, a.u32", _trig_preop, sched="f64")
