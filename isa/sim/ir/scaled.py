"""(a * b + c) * 2**n on LLVM IR, rounded once: what V_DIV_FMAS does (`isa.semantics.values.Value.scaled_fma`).

Where n is 0 it is an FMA. Elsewhere the FMA's rounding and that of a denormal result would be two, and the FMA may
overflow where the scaled number does not. So those lanes, which are rare, go one by one through integers of 128 bits:

    product and addend, each moved to bit 126 -> the smaller one shifted right, what falls off kept as a last bit ->
    their sum -> moved to bit 125 -> cut to the result's place -> rounded as the wave's mode says -> put together

The last bit that stands for the rest does no harm: a product has 106 bits at most, so that it is only ever set where
the terms are far apart, and then the sum loses no more than one bit at its top.
"""

from __future__ import annotations

from isa.semantics.float_mode import FloatMode
from isa.sim.ir.ir import Function
from isa.sim.ir.llvm_text import llvm_type
from isa.sim.ir.llvm_values import LlvmValue

_FORMATS = {"f32": (32, 23), "f64": (64, 52)}
_NONE = -100000
"""The place of the first bit of what is 0."""


def scaled_fma(x: LlvmValue, y: LlvmValue, z: LlvmValue, n: LlvmValue) -> LlvmValue:
    """Operands of one type and as many lanes, at least one."""
    mode = x.w.mode.with_inputs_kept()
    name = f"scaled_fma_{x.type}_r{mode.rounding(x.type)}_d{mode.keeps(x.type) >> 1 & 1}"
    for function in (_lane(name, x, mode), _vector(name, x, mode)):
        x.w.function.define(function)
    form = f"call {x.llvm} @{name}_v{x.lanes_}({', '.join(f'{v.llvm} %s' for v in (x, y, z, n))})"
    return x._emit(x.type, x.lanes_, form, x.ref, y.ref, z.ref, n.ref)


def _vector(name: str, x: LlvmValue, mode: FloatMode) -> Function:
    lanes, type_, one = x.lanes_, x.llvm, llvm_type(x.type, 0)
    f = Function(f"internal {type_} @{name}_v{lanes}({type_} %x, {type_} %y, {type_} %z, <{lanes} x i32> %n) noinline")
    writer = x.w.within(f, f.entry, mode)
    a, b, c = (LlvmValue(writer, x.type, lanes, f"%{name}") for name in "xyz")
    plain = a.fma(b, c)
    nothing = f"{type_} {plain.ref}"
    f.entry.lines += f"""\
  %scaled = icmp ne <{lanes} x i32> %n, zeroinitializer
  %mask = bitcast <{lanes} x i1> %scaled to i{lanes}
  %some = icmp ne i{lanes} %mask, 0
  br i1 %some, label %lane, label %done
lane:
  %i = phi i32 [ 0, %entry ], [ %next, %behind ]
  %sum = phi {type_} [ {plain.ref}, %entry ], [ %changed, %behind ]
  %on = extractelement <{lanes} x i1> %scaled, i32 %i
  br i1 %on, label %work, label %behind
work:
  %a = extractelement {type_} %x, i32 %i
  %b = extractelement {type_} %y, i32 %i
  %c = extractelement {type_} %z, i32 %i
  %s = extractelement <{lanes} x i32> %n, i32 %i
  %p = extractelement {nothing}, i32 %i
  %r = call {one} @{name}({one} %a, {one} %b, {one} %c, i32 %s, {one} %p)
  %with = insertelement {type_} %sum, {one} %r, i32 %i
  br label %behind
behind:
  %changed = phi {type_} [ %sum, %lane ], [ %with, %work ]
  %next = add i32 %i, 1
  %last = icmp eq i32 %next, {lanes}
  br i1 %last, label %done, label %lane
done:
  %result = phi {type_} [ {plain.ref}, %entry ], [ %changed, %behind ]
  ret {type_} %result""".splitlines()
    return f


def _lane(name: str, like: LlvmValue, mode: FloatMode) -> Function:
    """One lane. %plain is the FMA, which stands where an operand is no finite number and where the sum is 0."""
    type_ = like.type
    size, mantissa = _FORMATS[type_]
    t, word = llvm_type(type_, 0), f"u{size}"
    bias, top = (1 << (size - 2 - mantissa)) - 1, (1 << (size - 1 - mantissa)) - 1
    lowest, infinity = 1 - bias, top << mantissa
    f = Function(f"internal {t} @{name}({t} %a, {t} %b, {t} %c, i32 %n, {t} %plain) noinline")
    writer = like.w.within(f, f.entry, mode)

    def parts(ref: str) -> tuple[LlvmValue, LlvmValue, LlvmValue, LlvmValue]:
        """Its size as a whole number, the exponent as it is encoded, whether it is negative, and no finite number."""
        bits = LlvmValue(writer, type_, 0, ref).bits(word)
        field = bits >> mantissa & top
        whole = bits & (1 << mantissa) - 1 | (field != 0).to(word) << mantissa
        exponent = field.larger(1).to("u32").bits("i32")
        return whole.to("u128"), exponent, bits >= 1 << size - 1, field == top

    def first(number: LlvmValue, exponent: LlvmValue) -> LlvmValue:
        """The place of its first bit."""
        return (number == 0).select(_NONE, exponent + 127 - number.clz().to("u32").bits("i32"))

    def moved(number: LlvmValue, place: LlvmValue) -> LlvmValue:
        """To bit 126, and right by how much it is below the larger one."""
        high, by = number << (number.clz() - 1 & 127), (most - place).bits("u32").smaller(127)
        cut = high >> by
        return cut | (cut << by != high).to("u128")

    (a, a_exponent, a_negative, a_end), (b, b_exponent, b_negative, b_end) = parts("%a"), parts("%b")
    c, c_exponent, c_negative, c_end = parts("%c")
    p = a * b
    p_place = first(p, a_exponent + b_exponent - 2 * (bias + mantissa))
    c_place = first(c, c_exponent - (bias + mantissa))
    most = p_place.larger(c_place)
    x, y = moved(p, p_place), moved(c, c_place)
    p_negative = a_negative ^ b_negative
    same, less = p_negative == c_negative, x < y
    total = same.select(x + y, less.select(y - x, x - y))
    negative = p_negative ^ (less & ~same)
    zeros = total.clz()
    high = total << zeros
    number = high >> 2 | (high & 3 != 0).to("u128")
    exponent = most - zeros.to("u32").bits("i32") + LlvmValue(writer, "i32", 0, "%n") + 1
    shift = ((lowest - exponent).larger(0) + (125 - mantissa)).smaller(127)
    cut = number >> shift
    rest, half = number - (cut << shift), LlvmValue.of(writer, "u128", 1) << shift - 1
    infinite, finite = (LlvmValue.of(writer, word, bits) for bits in (infinity, infinity - 1))
    up, beyond = (
        ((rest > half) | ((rest == half) & (cut & 1 == 1)), infinite),
        (~negative & (rest != 0), negative.select(finite, infinite)),
        (negative & (rest != 0), negative.select(infinite, finite)),
        (LlvmValue.of(writer, "b1", 0), finite),
    )[mode.rounding(type_)]
    field = (exponent - lowest).larger(0).smaller(2 * bias).bits("u32").to(word)
    bits = (field << mantissa) + (cut + up.to("u128")).to(word)
    bits = (bits >= infinity).select(beyond, bits)
    if not mode.keeps(type_) >> 1 & 1:
        bits = (bits < 1 << mantissa).select(0, bits)
    result = (bits | negative.to(word) << size - 1).bits(type_)
    result = (a_end | b_end | c_end | (total == 0)).select(LlvmValue(writer, type_, 0, "%plain"), result)
    f.entry.line(f"ret {result!r}")
    return f
