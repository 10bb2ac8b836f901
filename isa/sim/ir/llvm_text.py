"""LLVM's notation: types, constants and folded integers as text, for `isa.sim.ir.llvm_values`."""

from __future__ import annotations

import functools
import math
import struct
from collections.abc import Callable

ELEMENTS = {
    "b1": "i1", "u8": "i8", "i8": "i8", "u16": "i16", "i16": "i16", "u32": "i32", "i32": "i32", "u64": "i64",
    "i64": "i64", "u128": "i128", "f16": "half", "f32": "float", "f64": "double", "bf16": "i16",
}  # fmt: skip
SHORT = {"half": "f16", "float": "f32", "double": "f64"}
# FloatMode's rounding -> the argument of llvm.set.rounding.
HOST_ROUNDING = (1, 2, 3, 0)
EXPONENT = {"f16": 0x7C00, "f32": 0x7F800000, "f64": 0x7FF0000000000000}


def literal(type_: str, number: float) -> str:
    """A number as LLVM writes it."""
    if type_ == "b1":
        return "true" if number else "false"
    if type_[0] == "f":
        x = float(number)
        if type_ == "f16":
            try:
                packed = struct.pack("<e", x)
            except OverflowError:
                packed = struct.pack("<e", math.copysign(math.inf, x))
            return f"0xH{struct.unpack('<H', packed)[0]:04X}"
        if type_ == "f32":
            try:
                x = struct.unpack("<f", struct.pack("<f", x))[0]
            except OverflowError:
                x = math.copysign(math.inf, x)
        return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"
    size = int(type_.lstrip("bfui"))
    wrapped = int(number) & (1 << size) - 1
    return str(wrapped - (1 << size) if wrapped >> size - 1 else wrapped)


@functools.cache
def llvm_type(type_: str, lanes: int) -> str:
    element = ELEMENTS[type_]
    return f"<{lanes} x {element}>" if lanes else element


def suffix(type_: str, lanes: int) -> str:
    element = ELEMENTS[type_]
    return (f"v{lanes}" if lanes else "") + SHORT.get(element, element)


def _ashr(a: int, b: int, size: int) -> int:
    return (a - (1 << size) if a >> size - 1 else a) >> b


# Integer operations between two constants, on unsigned words of `size` bits; the result is cut to that size.
FOLDS: dict[str, Callable[[int, int, int], int]] = {
    "add": lambda a, b, size: a + b,
    "sub": lambda a, b, size: a - b,
    "mul": lambda a, b, size: a * b,
    "and": lambda a, b, size: a & b,
    "or": lambda a, b, size: a | b,
    "xor": lambda a, b, size: a ^ b,
    "shl": lambda a, b, size: a << b,
    "lshr": lambda a, b, size: a >> b,
    "ashr": _ashr,
}
