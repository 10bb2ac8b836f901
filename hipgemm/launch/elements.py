"""Types of a GEMM's elements: what NumPy holds them in, and how they round, or wrap around.

NumPy has no bf16: its words are held as u16, the upper halves of f32. Nor has it OCP's floats of 8 bits, fp8 (E4M3, no
infinity) and bf8 (E5M2), held as u8.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isa.gemm.matrix.parameters import vectors

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Element:
    """dtype: NumPy's. digits: bits of the significand, with the hidden one, or all of an integer's. smallest: the
    smallest positive number. pack: how many lie in one of dtype, along k, the first in the lowest bits."""

    dtype: str
    digits: int
    smallest: float
    pack: int = 1

    @property
    def bytes(self) -> int:
        return int(self.dtype[-1])

    @property
    def integer(self) -> bool:
        return self.dtype[1] == "i"

    @property
    def roundoff(self) -> float:
        """The largest relative error of rounding to nearest."""
        return 2.0**-self.digits

    @property
    def overflow(self) -> float:
        """The least number that is rounded to infinity; of integers none is."""
        return math.inf if self.integer else (2 - self.roundoff) * 2.0 ** (15 if self.dtype == "<f2" else 127)

    def stored(self, values: np.ndarray) -> np.ndarray:
        """f32 values, rounded to nearest even, as they lie in memory; integers in f64, which wrap around. Each by
        itself: see `packed`."""
        import numpy as np

        if self.integer:
            return values.astype(np.int64).astype(self.dtype)
        if self.dtype == "<u1":
            sizes = np.abs(values)
            middles = np.append((self._sizes[1:] + self._sizes[:-1]) / 2, np.nan)
            code = np.searchsorted(middles, sizes)
            code += (code % 2 == 1) & (sizes == middles[code])
            return (np.where(np.isnan(sizes), 0x7F, code) | 0x80 * np.signbit(values)).astype(np.uint8)
        if self.dtype != "<u2":
            return values.astype(self.dtype, copy=False)
        bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
        nan = (bits & 0x7FFFFFFF) > 0x7F800000
        rounded = (bits + (0x7FFF + (bits >> 16 & 1)).astype(np.uint32)) >> 16
        return np.where(nan, bits >> 16 | 0x40, rounded).astype(np.uint16)

    def numbers(self, stored: np.ndarray) -> np.ndarray:
        """What lies in memory, as f32, which holds each exactly, or as f64 where only that does."""
        import numpy as np

        if self.digits > 24:
            return stored.astype(np.float64)
        if self.dtype == "<u1":
            sizes = self._sizes.copy()
            sizes[-1] = np.nan if self.digits == 4 else np.inf
            sizes = np.pad(sizes, (0, 128 - len(sizes)), constant_values=np.nan)
            return np.concatenate((sizes, -sizes)).astype(np.float32)[stored]
        if self.dtype != "<u2":
            return stored.astype(np.float32, copy=False)
        return (stored.astype(np.uint32) << 16).view(np.float32)

    @functools.cached_property
    def _sizes(self) -> np.ndarray:
        """Of 8 bits, what the codes from 0 on stand for, to one above the largest number."""
        import numpy as np

        codes, hidden = np.arange(128 if self.digits == 4 else 125), 1 << self.digits - 1
        exponent = codes // hidden
        return (codes % hidden + hidden * (exponent > 0)) * self.smallest * 2.0 ** (np.maximum(exponent, 1) - 1)

    def packed(self, stored: np.ndarray, axis: int) -> np.ndarray:
        """Matrices of i4, one a byte, as two a byte along k, which is that axis; a zero after an odd K. Others stay as
        they are."""
        import numpy as np

        if self.pack == 1:
            return stored
        lines = np.moveaxis(stored, axis, -1)
        if lines.shape[-1] % 2:
            lines = np.pad(lines, (*[(0, 0)] * (lines.ndim - 1), (0, 1)))
        return np.moveaxis(lines[..., ::2] & 15 | lines[..., 1::2] << 4, -1, axis)


ELEMENTS = {
    "f32": Element("<f4", 24, 2.0**-149),
    "f16": Element("<f2", 11, 2.0**-24),
    "bf16": Element("<u2", 8, 2.0**-133),
    "i8": Element("<i1", 8, 1.0),
    "i4": Element("<i1", 4, 1.0, 2),
    "i32": Element("<i4", 32, 1.0),
    "fp8": Element("<u1", 4, 2.0**-9),
    "bf8": Element("<u1", 3, 2.0**-16),
}


@dataclass(frozen=True, slots=True)
class Types:
    """factor: of A and B. result: of C. weights: how B lies where it is quantised (`isa.gemm.gemv.formats`). half_sums:
    sums have the 16-bit type of A and B; else they are f32, or i32 of integers."""

    factor: str = "f32"
    result: str = "f32"
    weights: str = ""
    half_sums: bool = False

    @property
    def of_factor(self) -> Element:
        return ELEMENTS[self.factor]

    @property
    def of_result(self) -> Element:
        return ELEMENTS[self.result]

    @property
    def bits(self) -> int:
        """Of an element of A."""
        return 8 * self.of_factor.bytes // self.of_factor.pack

    @property
    def integer_scales(self) -> bool:
        """Whether alpha and beta are int32, as C is; else f32."""
        return self.of_result.integer

    @staticmethod
    def named(text: str) -> Types:
        """Of what `--types` takes: f32, or as f16_f32 the types of A and B and of C."""
        factor, _, result = text.partition("_")
        return Types(factor, result or factor)

    def __str__(self) -> str:
        factors = f"{self.factor} x {self.weights}" if self.weights else self.factor
        text = factors if factors == self.result else f"{factors} to {self.result}"
        return f"{text}, sums of {self.factor}" if self.half_sums else text


@dataclass(frozen=True, slots=True)
class Epilogue:
    """What happens to C besides alpha and beta, as `isa.gemm.matrix.element` says. scales: of rows and columns. gate:
    what C held, which is multiplied in the end; beta is 0 then."""

    scales: bool = False
    bias: bool = False
    activation: str = ""
    gate: bool = False

    def lengths(self, m: int, n: int) -> dict[str, int]:
        """Of the vectors of f32 that it takes, in the order of the arguments."""
        return {name: m if name == "row_scale" else n for name in vectors(bias=self.bias, scales=self.scales)}

    def activated(self, x: np.ndarray) -> np.ndarray:
        """Of float64."""
        import numpy as np

        if self.activation == "relu":
            return np.where(x < 0, 0, x)
        if not self.activation:
            return x
        u = x if self.activation == "silu" else 2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
        with np.errstate(over="ignore"):
            found: np.ndarray = x / (1 + np.exp(-u))
        return found


FP32, PLAIN = Types(), Epilogue()
