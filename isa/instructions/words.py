"""Shared body functions: operations that several families of instructions use; no instruction is described here."""

from __future__ import annotations

from collections.abc import Callable

from isa.semantics.values import Number, Value, select


def field(a: Value, first: int, count: int) -> Value:
    """`count` bits of `a` from bit `first`, unsigned."""
    return (a >> first) & ((1 << count) - 1)


def ones(count: Value, type_: str) -> Value:
    """A number of `type_` with the low `count` bits set; all of them where count >= the width."""
    size = int(type_[1:])
    n = count.to(type_)
    full = (n & 0) - 1
    return select(n >= size, full, ~(full << (n & (size - 1))))


def sign_extend(a: Value, count: Value) -> Value:
    """The low `count` bits of `a` (no other bit set) as a signed number of a's width; 0 for count 0."""
    size = int(a.type[1:])
    n = minimum(count.to(a.type), size)
    sign = ((a & 0) + 1) << ((n - 1) & (size - 1))
    return select(n == 0, a & 0, (a ^ sign) - sign)


def bitmask(size: int) -> Callable[[Value, Value], Value]:
    """S_BFM, V_BFM: as many ones as the first operand says, shifted left by the second."""
    type_ = f"u{size}"
    return lambda n, first: ones(n & (size - 1), type_) << (first & (size - 1)).to(type_)


def absolute(a: Value) -> Value:
    """|a|; the most negative number stays."""
    return select(a < 0, -a, a)


def pack(low: Value, high: Value) -> Value:
    """Two 16-bit values in one u32."""
    return low.bits("u16").to("u32") | (high.bits("u16").to("u32") << 16)


def below(mask: Value, lane: Value) -> Value:
    """How many bits of `mask` stand below a lane of 0 to 31."""
    return (mask & ((lane & 0 | 1) << lane) - 1).popcount()


def overflow_add(a: Value, b: Number) -> Value:
    """Whether a + b leaves the range of the signed type."""
    total = a + b
    return ((a ^ total) & (total ^ b)) < 0


def overflow_sub(a: Value, b: Value) -> Value:
    """Whether a - b leaves the range of the signed type."""
    return ((a ^ b) & (a ^ (a - b))) < 0


def minimum(a: Value, b: Number) -> Value:
    """The smaller integer."""
    return select(a < b, a, b)


def maximum(a: Value, b: Number) -> Value:
    """The larger integer."""
    return select(a > b, a, b)


def is_nan(a: Value) -> Value:
    """Whether a float is a NaN."""
    return a != a


FORMATS = {"f16": (16, 10), "f32": (32, 23), "f64": (64, 52)}  # width, bits of the mantissa


def float_bits(a: Value) -> tuple[Value, int, int]:
    """(a float's bits as an unsigned number, its width, the bits of its mantissa)."""
    size, mantissa = FORMATS[a.type]
    return a.bits(f"u{size}"), size, mantissa


def is_inf(a: Value) -> Value:
    """Whether a float is an infinity of either sign."""
    return (a == float("inf")) | (a == float("-inf"))


def to_bf16(a: Value) -> Value:
    """An f32 to nearest even as the bits of a bf16, u32; a NaN is made quiet."""
    u = a.bits("u32")
    near = (u + ((u >> 16) & 1) + 0x7FFF) >> 16
    return select(is_nan(a), (u >> 16) | 0x40, near)
