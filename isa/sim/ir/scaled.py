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


def scaled_fma(x: LlvmValue, y: LlvmValue, z: LlvmValue, n: LlvmValue) -> LlvmValue:
    """Operands of one type and as many lanes, at least one."""
    mode = x.w.mode.with_inputs_kept()
    rounding, kept = mode.rounding(x.type), mode.keeps(x.type) >> 1 & 1
    name = f"scaled_fma_{x.type}_r{rounding}_d{kept}"
    function = x.w.function
    function.declare("declare i128 @llvm.ctlz.i128(i128, i1)")
    for pick in ("smax", "smin", "umin"):
        function.declare(f"declare i32 @llvm.{pick}.i32(i32, i32)")
    function.declare(_scalar(name, x.type, rounding, bool(kept)))
    function.declare(_vector(name, x, mode))
    form = f"call {x.llvm} @{name}_v{x.lanes_}({', '.join(f'{v.llvm} %s' for v in (x, y, z, n))})"
    return x._emit(x.type, x.lanes_, form, x.ref, y.ref, z.ref, n.ref)


def _vector(name: str, x: LlvmValue, mode: FloatMode) -> str:
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
    for declaration in sorted(f.declarations):
        x.w.function.declare(declaration)
    return "\n".join(f.lines())


def _scalar(name: str, type_: str, rounding: int, keeps_denormals: bool) -> str:
    """One lane. %plain is the FMA, which stands where an operand is no finite number and where the sum is 0."""
    size, mantissa = _FORMATS[type_]
    t, i = llvm_type(type_, 0), f"i{size}"
    bias, top = (1 << (size - 2 - mantissa)) - 1, (1 << (size - 1 - mantissa)) - 1
    lowest = 1 - bias
    infinity, sign_bit = top << mantissa, 1 << (size - 1)
    lines = [f"define internal {t} @{name}({t} %a, {t} %b, {t} %c, i32 %n, {t} %plain) noinline {{"]
    for v in "abc":
        lines += f"""\
  %{v}.u = bitcast {t} %{v} to {i}
  %{v}.m = lshr {i} %{v}.u, {mantissa}
  %{v}.f = and {i} %{v}.m, {top}
  %{v}.special = icmp eq {i} %{v}.f, {top}
  %{v}.normal = icmp ne {i} %{v}.f, 0
  %{v}.p = select i1 %{v}.normal, {i} %{v}.f, {i} 1
  %{v}.e = trunc {i} %{v}.p to i{min(size, 32)}
  %{v}.r = and {i} %{v}.u, {(1 << mantissa) - 1}
  %{v}.o = zext i1 %{v}.normal to {i}
  %{v}.t = shl {i} %{v}.o, {mantissa}
  %{v}.s = or {i} %{v}.r, %{v}.t
  %{v}.w = zext {i} %{v}.s to i128
  %{v}.neg = icmp slt {i} %{v}.u, 0""".splitlines()
    if size == 32:  # trunc to the same width is none
        lines = [line.replace(" = trunc i32 ", " = add i32 ").replace(" to i32", ", 0") if ".e = " in line else line
                 for line in lines]  # fmt: skip
    up = {
        0: "%up0 = icmp ugt i128 %rest, %half\n  %tie = icmp eq i128 %rest, %half\n  %odd = trunc i128 %cut to i1\n"
        "  %even = and i1 %tie, %odd\n  %up = or i1 %up0, %even",
        1: "%inexact = icmp ne i128 %rest, 0\n  %pos = xor i1 %neg, true\n  %up = and i1 %inexact, %pos",
        2: "%inexact = icmp ne i128 %rest, 0\n  %up = and i1 %inexact, %neg",
        3: "%up = add i1 false, false",
    }[rounding]
    largest = {
        0: f"{infinity}",
        1: f"select i1 %neg, {i} {infinity - 1}, {i} {infinity}",
        2: f"select i1 %neg, {i} {infinity}, {i} {infinity - 1}",
        3: f"{infinity - 1}",
    }[rounding]
    over = f"%over = {largest}" if largest.startswith("select") else f"%over = add {i} {largest}, 0"
    dropped = f"icmp ult {i} %bounded, {1 << mantissa}" if not keeps_denormals else "icmp eq i1 false, true"
    lines += f"""\
  %s0 = or i1 %a.special, %b.special
  %s1 = or i1 %s0, %c.special
  br i1 %s1, label %as.plain, label %finite
as.plain:
  ret {t} %plain
finite:
  %p = mul i128 %a.w, %b.w
  %p.lz = call i128 @llvm.ctlz.i128(i128 %p, i1 false)
  %c.lz = call i128 @llvm.ctlz.i128(i128 %c.w, i1 false)
  %p.lz32 = trunc i128 %p.lz to i32
  %c.lz32 = trunc i128 %c.lz to i32
  %ab.e = add i32 %a.e, %b.e
  %p.top0 = sub i32 %ab.e, %p.lz32
  %p.top1 = add i32 %p.top0, {127 - 2 * (bias + mantissa)}
  %p.none = icmp eq i128 %p, 0
  %p.top = select i1 %p.none, i32 -100000, i32 %p.top1
  %c.top0 = sub i32 %c.e, %c.lz32
  %c.top1 = add i32 %c.top0, {127 - bias - mantissa}
  %c.none = icmp eq i128 %c.w, 0
  %c.top = select i1 %c.none, i32 -100000, i32 %c.top1
  %most = call i32 @llvm.smax.i32(i32 %p.top, i32 %c.top)
  %p.neg = xor i1 %a.neg, %b.neg
  %same = icmp eq i1 %p.neg, %c.neg""".splitlines()
    for v, word in (("p", "%p"), ("c", "%c.w")):
        lines += f"""\
  %{v}.l0 = sub i128 %{v}.lz, 1
  %{v}.l1 = and i128 %{v}.l0, 127
  %{v}.n = shl i128 {word}, %{v}.l1
  %{v}.d0 = sub i32 %most, %{v}.top
  %{v}.d1 = call i32 @llvm.umin.i32(i32 %{v}.d0, i32 127)
  %{v}.d = zext i32 %{v}.d1 to i128
  %{v}.h = lshr i128 %{v}.n, %{v}.d
  %{v}.back = shl i128 %{v}.h, %{v}.d
  %{v}.lost = icmp ne i128 %{v}.back, %{v}.n
  %{v}.j = zext i1 %{v}.lost to i128
  %{v}.v = or i128 %{v}.h, %{v}.j""".splitlines()
    lines += f"""\
  %total = add i128 %p.v, %c.v
  %diff = sub i128 %p.v, %c.v
  %less = icmp ult i128 %p.v, %c.v
  %minus = sub i128 0, %diff
  %size = select i1 %less, i128 %minus, i128 %diff
  %sum = select i1 %same, i128 %total, i128 %size
  %flip = xor i1 %same, true
  %other = and i1 %less, %flip
  %neg = xor i1 %p.neg, %other
  %zero = icmp eq i128 %sum, 0
  br i1 %zero, label %as.plain, label %round
round:
  %lz = call i128 @llvm.ctlz.i128(i128 %sum, i1 true)
  %high = shl i128 %sum, %lz
  %q0 = lshr i128 %high, 2
  %low = and i128 %high, 3
  %rough = icmp ne i128 %low, 0
  %jam = zext i1 %rough to i128
  %q = or i128 %q0, %jam
  %lz32 = trunc i128 %lz to i32
  %x0 = sub i32 %most, %lz32
  %x1 = add i32 %x0, %n
  %x = add i32 %x1, 1
  %below0 = sub i32 {lowest}, %x
  %below = call i32 @llvm.smax.i32(i32 %below0, i32 0)
  %shift0 = add i32 %below, {125 - mantissa}
  %shift1 = call i32 @llvm.smin.i32(i32 %shift0, i32 127)
  %shift = zext i32 %shift1 to i128
  %cut = lshr i128 %q, %shift
  %whole = shl i128 %cut, %shift
  %rest = sub i128 %q, %whole
  %shift.less = sub i128 %shift, 1
  %half = shl i128 1, %shift.less
  {up}
  %one = zext i1 %up to i128
  %rounded = add i128 %cut, %one
  %fraction = trunc i128 %rounded to {i}
  %above0 = sub i32 %x, {lowest}
  %above1 = call i32 @llvm.smax.i32(i32 %above0, i32 0)
  %above2 = call i32 @llvm.smin.i32(i32 %above1, i32 {2 * bias})
  %above = {"add i32 %above2, 0" if size == 32 else "zext i32 %above2 to i64"}
  %field = shl {i} %above, {mantissa}
  %word = add {i} %field, %fraction
  {over}
  %beyond = icmp uge {i} %word, {infinity}
  %bounded = select i1 %beyond, {i} %over, {i} %word
  %dropped = {dropped}
  %kept = select i1 %dropped, {i} 0, {i} %bounded
  %signed = select i1 %neg, {i} {sign_bit - (1 << size)}, {i} 0
  %bits = or {i} %kept, %signed
  %result = bitcast {i} %bits to {t}
  ret {t} %result
}}""".splitlines()
    return "\n".join(lines)
