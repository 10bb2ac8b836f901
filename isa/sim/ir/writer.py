"""Where values write themselves, and in which mode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from isa.semantics.float_mode import FloatMode
from isa.sim.ir.ir import Function, Region

if TYPE_CHECKING:
    from isa.sim.ir.llvm_values import LlvmValue
    from isa.sim.translate.registers import Whole


def masked(strip: int) -> bool:
    """Whether the vector instructions of a processor with so many lanes in a register take masks: AVX-512's alone."""
    return strip == 16


@dataclass(eq=False)
class Writer:
    """Scalars write themselves into one region, vectors into another.

    splats: scalars that are in each lane of a vector already.
    native_half: the processor converts f16 by itself; native_nans: its FMA takes NaNs as
    `isa.sim.translate.fma_fast_path` needs it. masked: the processor's vector instructions take a mask
    (`LlvmValue.select` says what follows). baseline: few lines count for more than quick code. tables: matrix factors
    that the block has taken apart (`isa.sim.ir.matrix_factors`), by the values in their registers. whole: the VGPRs,
    for what works on all lanes at once. strip_of, mask_of: inside a loop over strips, how a scalar mask becomes the
    strip's b1, and that a scalar mask.
    """

    function: Function
    scalar: Region
    vector: Region
    mode: FloatMode = field(default_factory=FloatMode)
    native_half: bool = True
    native_nans: bool = False
    masked: bool = False
    baseline: bool = False
    splats: dict[tuple[str, str, int], str] = field(default_factory=dict)
    tables: dict[tuple[str, ...], tuple[int, str]] = field(default_factory=dict)
    strip_of: Callable[[LlvmValue], LlvmValue] | None = None
    mask_of: Callable[[LlvmValue], LlvmValue] | None = None
    whole: Whole | None = None

    def at(self, lanes: int) -> Region:
        return self.vector if lanes else self.scalar
