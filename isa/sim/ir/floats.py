"""Arithmetic on floats as LLVM IR, in the wave's mode (FloatMode): what `LlvmValue`'s operators are on floats.

Each operation takes its operands with denormals flushed where the mode drops them, by explicit selects, is computed in
the mode's rounding, has the NaN that `isa.semantics.reference.nans` asks for, and is flushed again. Everything is
exact: no fast-math flags, fma through llvm.fma, f16 arithmetic in f32 or f64: where that is wide enough for the second
rounding to be innocuous as it is, and otherwise (FMAs) with the first one to odd. The transcendental unit's functions
of f32 are in `isa.semantics.reference.transcendental`, as the card has them; most others are what their f64 values
round to.
"""

from __future__ import annotations

import functools

from isa.semantics.reference import transcendental
from isa.semantics.reference.nans import handed_on, settled
from isa.semantics.values import LIFT, MIN_NORMAL, float_bits
from isa.sim.ir.halves import float_from_half, round_half
from isa.sim.ir.ir import Fma, Function, full_name
from isa.sim.ir.llvm_text import EXPONENT, HOST_ROUNDING, llvm_type, suffix
from isa.sim.ir.llvm_values import LlvmValue, Operations, Writer


def flushed(a: LlvmValue, bit: int) -> LlvmValue:
    """Denormals to zero of the same sign, where the mode drops them; bit 0 for an input, 1 for a result."""
    if not a.is_float or a.w.mode.keeps(a.type) >> bit & 1:
        return a
    size, exponent = int(a.type[1:]), EXPONENT[a.type]
    word = a.bits(f"u{size}")
    denormal = (word & exponent) == 0
    return denormal.select((word & (1 << size - 1)).bits(a.type), a)


def arithmetic(name: str, a: LlvmValue, b: LlvmValue) -> LlvmValue:
    """fadd, fsub, fmul or fdiv."""
    a, b = flushed(a, 0), flushed(b, 0)
    rounding = a.w.mode.rounding(a.type)
    if a.type == "f16":
        return _finished(rounded_half(_settled(rounding, name, a.to("f32"), b.to("f32"))), a, b)
    return _finished(_operation(rounding, name, a, b), a, b)


def _finished(result: LlvmValue, *operands: LlvmValue) -> LlvmValue:
    """A result whose NaNs are quiet, with those that the mode wants; operands in their own type."""
    return result if result.w.mode.ieee else handed_on(result, *operands)


def _operation(rounding: int, name: str, *operands: LlvmValue) -> LlvmValue:
    """An operation in f32 or f64: zero, where the mode drops denormals and the result is below the smallest normal
    number when it is rounded to as many bits as that has. So the same is computed of operands that are so much larger
    that no result is denormal. A sum is no candidate: one that small is exact."""
    result = _settled(rounding, name, *operands)
    if result.w.mode.keeps(result.type) >> 1 & 1 or name in ("fadd", "fsub"):
        return flushed(result, 1)
    lift = LIFT[result.type]
    scales = (lift, 1.0) if name == "fdiv" else (lift**0.5, lift**0.5, lift)
    lifted = (x._raw("fmul", x.number(x.type, scale)) for x, scale in zip(operands, scales, strict=False))
    return _zero_if_small(flushed(result, 1), _computed(rounding, name, *lifted))


def _zero_if_small(result: LlvmValue, lifted: LlvmValue) -> LlvmValue:
    """Zero of the result's sign where `lifted`, LIFT times as large, says that it is below the smallest normal one."""
    size, type_ = int(result.type[1:]), result.type
    smallest = MIN_NORMAL[type_] * LIFT[type_]
    word = f"u{size}"
    tiny = (lifted.bits(word) & (1 << size - 1) - 1) < float_bits(smallest, type_)
    return tiny.select((result.bits(word) & (1 << size - 1)).bits(type_), result)


def rounded_half(a: LlvmValue) -> LlvmValue:
    """f32 or f64 -> f16 in the wave's mode, rounded once, and flushed where the mode says so."""
    near = round_half(a)
    if a.w.mode.keeps("f16") >> 1 & 1:
        return near
    lifted = round_half(a._raw("fmul", a.number(a.type, LIFT["f16"])))
    return _zero_if_small(flushed(near, 1), lifted)


def _settled(rounding: int, name: str, *operands: LlvmValue) -> LlvmValue:
    """An operation with the NaN that it has to give."""
    return settled(_computed(rounding, name, *operands), *operands)


def _computed(rounding: int, name: str, a: LlvmValue, *others: LlvmValue, result: str = "") -> LlvmValue:
    """An operation in one of the wave's rounding modes; result: its type where that is not the operands'.

    To nearest even it is the plain one. Otherwise the processor's own mode is set for this one operation, which is
    written as a constrained intrinsic, so that LLVM neither moves nor folds it.
    """
    type_ = result or a.type
    target = llvm_type(type_, a.lanes_)
    if not rounding:
        if name in ("fma", "sqrt"):
            return a._intrinsic(name, a, *others)
        if name in ("fptrunc", "sitofp", "uitofp"):
            return a._emit(type_, a.lanes_, f"{name} {a.llvm} %s to {target}", a.ref)
        return a._raw(name, *others)
    w, lanes = a.w, a.lanes_
    symbol = f"llvm.experimental.constrained.{name}.{suffix(type_, lanes)}"
    if type_ != a.type:
        symbol += f".{suffix(a.type, lanes)}"
    types = ", ".join(x.llvm for x in (a, *others))
    w.function.declare("declare void @llvm.set.rounding(i32)")
    w.function.declare(f"declare {target} @{symbol}({types}, metadata, metadata)")
    region = w.at(lanes)
    region.line(f"call void @llvm.set.rounding(i32 {HOST_ROUNDING[rounding]})")
    gaps = ", ".join(f"{x.llvm} %s" for x in (a, *others))
    form = f'call {target} @{symbol}({gaps}, metadata !"round.dynamic", metadata !"fpexcept.strict") strictfp'
    value = a._emit(type_, lanes, form, *(x.ref for x in (a, *others)))
    region.line(f"call void @llvm.set.rounding(i32 {HOST_ROUNDING[0]})")
    return value


def fma(x: LlvmValue, y: LlvmValue, z: LlvmValue) -> LlvmValue:
    """x * y + z, rounded once."""
    x, y, z = flushed(x, 0), flushed(y, 0), flushed(z, 0)
    rounding = x.w.mode.rounding(x.type)
    if x.type == "f16" and not rounding:
        a, b, c = x.to("f32"), y.to("f32"), z.to("f32")
        return _half_fma(_odd_fma(a, b, c), (a, b, c), (x, y, z))
    if x.type == "f16":
        # f64 holds the product exactly, and the sum well enough for one rounding to 11 bits.
        a, b, c = x.to("f64"), y.to("f64"), z.to("f64")
        return _half_fma(_computed(rounding, "fma", a, b, c), (a, b, c), (x, y, z))
    mode = x.w.mode
    if x.w.native_nans and x.type == "f32" and x.lanes_ and not rounding and mode.ieee and mode.keeps("f32") >> 1 & 1:
        return _fma_of_the_host(x, y, z)
    return _finished(_operation(rounding, "fma", x, y, z), x, y, z)


def _half_fma(wide: LlvmValue, operands: tuple[LlvmValue, ...], halves: tuple[LlvmValue, ...]) -> LlvmValue:
    """The FMA of three f16, from its wide result and operands; an invalid product goes before an addend's NaN."""
    (a, b, c), (x, y, z) = operands, halves
    invalid = a._raw("fmul", b).is_nan()
    return _finished(rounded_half(settled(wide, a, b, invalid.select(0.0, c))), x, y, invalid.select(0.0, z))


def _odd_fma(a: LlvmValue, b: LlvmValue, c: LlvmValue) -> LlvmValue:
    """a * b + c of factors that are f16, as f32 rounded to odd, so that rounding it to f16 is rounding once.

    The product is exact. What is lost of the sum is known exactly, too (Knuth's TwoSum; nothing overflows, and all are
    multiples of 2**-48). Where something is, and the sum's last bit is even, its neighbour on the other side of the
    exact number is odd.
    """
    product = a._raw("fmul", b)
    total = product._raw("fadd", c)
    part = total._raw("fsub", product)
    lost = product._raw("fsub", total._raw("fsub", part))._raw("fadd", c._raw("fsub", part))
    word = total.bits("u32")
    inexact = lost._emit("b1", lost.lanes_, f"fcmp one {lost.llvm} %s, %s", lost.ref, lost.number("f32", 0.0).ref)
    away = (lost.bits("u32") ^ word).bits("i32") >> 31 | 1
    return (inexact & ((word & 1) == 0)).select(word + away.bits("u32"), word).bits("f32")


def _fma_of_the_host(x: LlvmValue, y: LlvmValue, z: LlvmValue) -> LlvmValue:
    """An FMA that `isa.sim.translate.fma_fast_path` may leave to the host. Nothing but its result is known outside of
    it."""
    for operand in (x, y, z):
        operand.bits("u32")
    w, refs = x.w, (x.ref, y.ref, z.ref)
    lines = w.vector.lines
    start = len(lines)
    result = (_computed if w.baseline else _settled)(0, "fma", x, y, z)
    full = [line for line in lines[start:] if isinstance(line, tuple)]
    fma = Fma((result.ref, *full[0][1:]), () if w.baseline else tuple(full), x.llvm, refs)
    for definition in _full_fma(w.operations, x.lanes_, w.masked):
        w.function.declare(definition)
    lines[start:] = [fma]
    return result.alone()


@functools.cache
def _full_fma(operations: Operations, lanes: int, masked: bool) -> tuple[str, ...]:
    """The function that computes an FMA in full: its definition, and what that declares."""
    type_ = llvm_type("f32", lanes)
    f = Function(f"internal {type_} @{full_name(type_)}({type_} %x, {type_} %y, {type_} %z) noinline")
    writer = Writer(f, f.entry, f.entry, operations, masked=masked)
    x, y, z = (LlvmValue(writer, "f32", lanes, f"%{name}") for name in "xyz")
    f.entry.line(f"ret {_settled(0, 'fma', x, y, z)!r}")
    return "\n".join(f.lines()), *f.declarations


def to_integral(a: LlvmValue, name: str) -> LlvmValue:
    """floor, ceil, trunc or rint."""
    a = flushed(a, 0)
    if a.type == "f16":
        wide = a.to("f32")
        return round_half(settled(wide._intrinsic(name, wide), wide))
    return flushed(settled(a._intrinsic(name, a), a), 1)


def sqrt(a: LlvmValue) -> LlvmValue:
    if a.type == "f32":
        return function(a, "sqrt")
    a = flushed(a, 0)
    rounding = a.w.mode.rounding(a.type)
    if a.type == "f16":
        return _finished(round_half(_settled(rounding, "sqrt", a.to("f32"))), a)
    return _finished(flushed(_settled(rounding, "sqrt", a), 1), a)


def function(a: LlvmValue, name: str) -> LlvmValue:
    """A function of the transcendental unit."""
    a = flushed(a, 0)
    if (name, a.type) in transcendental.KNOWN:
        return _finished(settled(transcendental.function(a, name), a), a)
    wide = a.to("f64")
    if name == "rcp":
        result = wide.number("f64", 1.0)._raw("fdiv", wide)
    elif name == "rsq":
        result = wide.number("f64", 1.0)._raw("fdiv", wide._intrinsic("sqrt", wide))
    elif name in ("exp2", "log2"):
        result = wide._intrinsic(name, wide)
    else:
        raise ValueError(f"no function {name!r}")
    result = settled(result, wide)
    return _finished(flushed(result, 1) if a.type == "f64" else result.to(a.type), a)


def product(x: LlvmValue, y: LlvmValue) -> LlvmValue:
    """What `transcendental.product` says, by the host's f32: where that keeps no more bits than are asked, the product,
    elsewhere a sum with a number that leaves none after the point."""
    if not (x.w.native_nans and x.lanes_):
        result: LlvmValue = transcendental.product(x, y)
        return result
    a, b = (_computed(0, "sitofp", v.vector(x.lanes_).bits("i32"), result="f32") for v in (x, y))
    a, point = a._raw("fmul", a.number("f32", 2.0**-23)), a.number("f32", 2.0**23)
    plain, cut = a._raw("fmul", b), a._intrinsic("fma", a, b, point)._raw("fsub", point)
    large = plain._emit("b1", plain.lanes_, f"fcmp oge {plain.llvm} %s, %s", plain.ref, point.ref)
    kept = large.select(plain, cut)
    return kept._emit("u32", x.lanes_, f"fptosi {kept.llvm} %s to {x.llvm}", kept.ref)


def compared(predicate: str, a: LlvmValue, b: LlvmValue) -> LlvmValue:
    """oeq, une, olt ..., as fcmp has them."""
    a, b = flushed(a, 0), flushed(b, 0)
    if a.type == "f16":
        a, b = a.to("f32"), b.to("f32")
    return a._emit("b1", a.lanes_, f"fcmp {predicate} {a.llvm} %s, %s", a.ref, b.ref)


def converted(a: LlvmValue, type_: str) -> LlvmValue:
    """A float as another type of float; not bf16."""
    a = flushed(a, 0)
    if type_ == "f16":
        return rounded_half(a)
    if a.type == "f16" and not a.w.native_half:
        return float_from_half(a).to(type_)
    if int(type_[1:]) < int(a.type[1:]):
        rounding = a.w.mode.rounding(type_)
        result = _computed(rounding, "fptrunc", a, result=type_)
        if a.w.mode.keeps(type_) >> 1 & 1:
            return result
        larger = a._raw("fmul", a.number(a.type, LIFT[type_]))
        return _zero_if_small(flushed(result, 1), _computed(rounding, "fptrunc", larger, result=type_))
    return flushed(a._emit(type_, a.lanes_, f"fpext {a.llvm} %s to {llvm_type(type_, a.lanes_)}", a.ref), 1)


def from_integer(a: LlvmValue, type_: str) -> LlvmValue:
    """An integer as a float."""
    if type_ == "f16":
        return a.to("f32").to("f16")
    rounding = a.w.mode.rounding(type_)
    if a.type[0] == "i":
        return _computed(rounding, "sitofp", a, result=type_)
    result = _computed(rounding, "uitofp", a, result=type_)
    # Towards -inf the host finds a 0 as a difference, which is then -0.
    return result if rounding != 2 else (a == 0).select(0.0, result)


def to_integer(a: LlvmValue, type_: str) -> LlvmValue:
    """A float rounded to zero and clamped to what the type can hold; a NaN is 0."""
    a = a.to("f32") if a.type == "f16" else a
    name = "fptosi.sat" if type_[0] == "i" else "fptoui.sat"
    return a._call(f"llvm.{name}.{suffix(type_, a.lanes_)}.{suffix(a.type, a.lanes_)}", type_, a)
