"""Types of a GEMM's elements: what NumPy holds them in, and how they round.

NumPy has no bf16: its words are held as u16, the upper halves of f32.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, slots=True)
class Element:
    """dtype: NumPy's. digits: bits of the significand, with the hidden one. smallest: the smallest positive number."""

    dtype: str
    digits: int
    smallest: float

    @property
    def bytes(self) -> int:
        return int(self.dtype[-1])

    @property
    def roundoff(self) -> float:
        """The largest relative error of rounding to nearest."""
        return 2.0**-self.digits

    def stored(self, values: np.ndarray) -> np.ndarray:
        """f32 values, rounded to nearest even, as they lie in memory."""
        import numpy as np

        if self.dtype != "<u2":
            return values.astype(self.dtype, copy=False)
        bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
        nan = (bits & 0x7FFFFFFF) > 0x7F800000
        rounded = (bits + (0x7FFF + (bits >> 16 & 1)).astype(np.uint32)) >> 16
        return np.where(nan, bits >> 16 | 0x40, rounded).astype(np.uint16)

    def numbers(self, stored: np.ndarray) -> np.ndarray:
        """What lies in memory, as f32, which holds each exactly."""
        import numpy as np

        if self.dtype != "<u2":
            return stored.astype(np.float32, copy=False)
        return (stored.astype(np.uint32) << 16).view(np.float32)


ELEMENTS = {
    "f32": Element("<f4", 24, 2.0**-149),
    "f16": Element("<f2", 11, 2.0**-24),
    "bf16": Element("<u2", 8, 2.0**-133),
}


@dataclass(frozen=True, slots=True)
class Types:
    """factor: of A and B. result: of C. Sums are f32."""

    factor: str = "f32"
    result: str = "f32"

    @property
    def of_factor(self) -> Element:
        return ELEMENTS[self.factor]

    @property
    def of_result(self) -> Element:
        return ELEMENTS[self.result]

    def __str__(self) -> str:
        return self.factor if self.factor == self.result else f"{self.factor} to {self.result}"


FP32 = Types()
