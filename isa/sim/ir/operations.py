"""Operations that take several instructions of LLVM IR, as a `Writer` is given them: of floats, and across products."""

from __future__ import annotations

from isa.semantics.values import RDNA4_SUMS
from isa.sim.ir.dots_llvm import dot2
from isa.sim.ir.floats import (
    arithmetic,
    compared,
    converted,
    fma,
    from_integer,
    function,
    product,
    sqrt,
    to_integer,
    to_integral,
)
from isa.sim.ir.halves import bfloat
from isa.sim.ir.llvm_values import LlvmValue
from isa.sim.ir.matrices_llvm import integer_wmma, spread_wmma, wmma
from isa.sim.ir.scaled import scaled_fma

__all__ = [
    "arithmetic", "bfloat", "compared", "converted", "fma", "from_integer", "function", "primitive", "primitives",
    "product", "sqrt", "to_integer", "to_integral",
]  # fmt: skip


def primitive(name: str, operands: list[LlvmValue]) -> LlvmValue:
    """`isa.semantics.values.Value.primitive` of vectors; ValueError for a name that is none."""
    if name == "scaled_fma":
        return scaled_fma(*operands)
    if name.startswith("dot2 "):
        return dot2(name.removeprefix("dot2 "), *operands)
    raise ValueError(f"no primitive {name!r}")


def primitives(name: str, operands: list[LlvmValue]) -> tuple[LlvmValue, ...]:
    """`isa.semantics.values.Value.primitives` of whole waves: matrix products."""
    kind = name.removeprefix("wmma ")
    if kind.endswith(RDNA4_SUMS):
        return spread_wmma(kind.removesuffix(RDNA4_SUMS), operands)
    return integer_wmma(kind.removeprefix("iu"), operands) if kind[0] == "i" else wmma(kind, operands)
