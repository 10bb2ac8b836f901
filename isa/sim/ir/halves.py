"""16-bit conversions as LLVM IR: f32 and f64 to f16 and bf16, and f16 back.

To nearest even, f16 comes from the host's own conversion where it has one, otherwise from integer arithmetic. The other
rounding modes start from that: the number that it gives, made wide again, is compared with the exact one, and moved by
one step where it lies on the wrong side. So they need no rounding mode of the host, for which LLVM has no code on
vectors of 32 halves and ends the process.
"""

from __future__ import annotations

from isa.sim.ir.llvm_text import llvm_type
from isa.sim.ir.llvm_values import LlvmValue


def round_half(a: LlvmValue) -> LlvmValue:
    """f32 or f64 -> f16, in the wave's mode, rounded once. No denormal is flushed."""
    narrow = a
    if a.type == "f64":
        # Round to odd into f32 first: then the second rounding, to 11 bits, sees where the value really was.
        word = a.bits("u64")
        lost = word & 0x1FFFFFFF
        odd = (word & ~0x1FFFFFFF & (1 << 64) - 1) | (lost != 0).select(word & 0 | 0x20000000, word & 0)
        narrow = _cast(odd.bits("f64"), "fptrunc", "f32")
    near = _cast(narrow, "fptrunc", "f16") if a.w.native_half else _half_from_float(narrow)
    rounding = a.w.mode.rounding("f16")
    return _directed(near, a, rounding) if rounding else near


def _cast(a: LlvmValue, name: str, type_: str) -> LlvmValue:
    """A conversion as the host does it: to nearest even, all denormals kept."""
    return a._emit(type_, a.lanes_, f"{name} {a.llvm} %s to {llvm_type(type_, a.lanes_)}", a.ref)


def _directed(near: LlvmValue, exact: LlvmValue, rounding: int) -> LlvmValue:
    """`near`, or its neighbour where the mode (FloatMode) wants the exact number's other side. A NaN stays."""
    word = near.bits("u16")
    wide = from_half(near)
    if exact.type == "f64":
        wide = _cast(wide, "fpext", "f64")
    above, below = (
        exact._emit("b1", exact.lanes_, f"fcmp {p} {wide.llvm} %s, %s", wide.ref, exact.ref) for p in ("ogt", "olt")
    )
    negative = (word >> 15) == 1
    shrink, grow = word - 1, word + 1
    if rounding == 1:
        moved = below.select(negative.select(shrink, grow), word)
    elif rounding == 2:
        moved = above.select(negative.select(grow, shrink), word)
    else:
        moved = negative.select(below, above).select(shrink, word)
    return moved.bits("f16")


def bfloat(a: LlvmValue) -> LlvmValue:
    """f32 -> bf16, to nearest even; a NaN stays one."""
    word = a.bits("u32")
    rounded = word + ((word >> 16) & 1) + 0x7FFF
    nan = a != a
    return (nan.select(word | 0x400000, rounded) >> 16).to("u16").bits("bf16")


def from_half(a: LlvmValue) -> LlvmValue:
    """f16 -> f32, as the host can. No denormal is flushed."""
    return _cast(a, "fpext", "f32") if a.w.native_half else float_from_half(a)


def float_from_half(a: LlvmValue) -> LlvmValue:
    """f16 -> f32 by integer arithmetic, for processors that cannot. Exact; a NaN is made quiet, as the others do."""
    word = a.bits("u16").to("u32")
    sign, rest = (word & 0x8000) << 16, word & 0x7FFF
    # Exponent and fraction moved into place, then scaled from f16's bias to f32's; denormals come out right.
    magnitude = (rest << 13).bits("f32")._raw("fmul", a.number("f32", 2.0**112))
    special = (rest << 13) | 0x7F800000
    special = (rest > 0x7C00).select(special | 0x400000, special)
    big = (rest >= 0x7C00).select(special, magnitude.bits("u32"))
    return (big | sign).bits("f32")


def _half_from_float(a: LlvmValue) -> LlvmValue:
    """f32 -> f16 by integer arithmetic, to nearest even."""
    word = a.bits("u32")
    sign, rest = (word >> 16) & 0x8000, word & 0x7FFFFFFF
    normal = (rest + 0xFFF + ((rest >> 13) & 1) - (112 << 23)) >> 13
    # Below 2^-14: adding 0.5 makes the f32 adder round at f16's denormal grid.
    grid = rest.bits("f32")._raw("fadd", a.number("f32", 0.5)).bits("u32") - 0x3F000000
    small = (rest < 113 << 23).select(grid, normal)
    finite = (rest >= 0x477FF000).select(small & 0 | 0x7C00, small)
    result = (rest > 0x7F800000).select((rest >> 13) & 0x3FF | 0x7E00, finite)
    return (result | sign).to("u16").bits("f16")
