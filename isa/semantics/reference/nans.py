"""NaNs of float operations: operands -> the NaN of the result, sign and payload, by one rule for every engine.

    If an operand is a NaN, the result is the first one in the order of the formula (a + b, a * b + c), made quiet;
    otherwise, where the result is no number, it is the negative quiet NaN without payload, 0xffc00000 in f32.

Sources: a NaN keeps sign and payload and has the quiet bit set (LLVM's pull request 214608, of what the card does; ISA
guide 16.12, V_DIV_FIXUP_F32, Quiet); 0xffc00000 is what the guide gives for roots and sines that do not exist (16.8,
V_SQRT_F32, V_SIN_F32) and for 0 / 0 (V_DIV_FIXUP_F32). That the first of two NaNs wins was recorded on a gfx1100 for
additions, multiplications and FMAs (ROCm/rocm-systems, rocjitsu, its tests of VALU float modes), and so were two more
rules: in f16, 0 * infinity + NaN is an invalid product first, so the NaN without payload; and without IEEE mode an
operand's NaN is handed on as it is, signalling or not. The order is also what x86 does, where multiplicands come before
the addend, but for one thing: compilers may exchange the operands of what commutes. `isa.sim.translate.fma_fast_path`
makes use of that, in IEEE mode.

A conversion keeps sign and the upper bits of the payload, and sets the quiet bit.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar


class Float(Protocol):
    """What the rule needs of a value, as `isa.semantics.values.Value` has it, and to know a NaN without regard to the
    mode."""

    type: str

    def bits(self, type_: str) -> Any: ...
    def is_nan(self) -> Any: ...


Some = TypeVar("Some", bound=Float)
QUIET = {"f16": 1 << 9, "f32": 1 << 22, "f64": 1 << 51}
MADE = {"f16": 0xFE00, "f32": 0xFFC0_0000, "f64": 0xFFF8 << 48}


def handed_on(result: Some, *operands: Some) -> Some:
    """`result` in a wave without IEEE mode: the first operand that is a NaN, as it is."""
    for operand in reversed(operands):
        result = operand.is_nan().select(operand, result)
    return result


def settled(result: Some, *operands: Some) -> Some:
    """`result` of an operation with these operands, of one type, with the NaN that it has to be."""
    word = f"u{result.type[1:]}"
    bits = result.bits(word)
    nan = bits & 0 | MADE[result.type]
    for operand in reversed(operands):
        number = getattr(operand, "constant", None)  # as `isa.sim.ir.llvm_values` knows it
        if number is None or number != number:
            nan = operand.is_nan().select(operand.bits(word) | QUIET[result.type], nan)
    chosen: Some = result.is_nan().select(nan, bits).bits(result.type)
    return chosen
