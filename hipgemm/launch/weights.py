"""Quantised weights: what a GEMV kernel reads in place of a matrix of floats (`isa.gemm.gemv.formats`).

    >>> w = hipgemm.Weights.quantised(dense, "q4_0")       # dense: N x K floats; or hipgemm.Weights("awq", ...)
    >>> y = hipgemm.gemm(x, w)                              # as x @ w.numbers().T, x float16

`quantised` rounds to nearest, with the scale that the largest of a group gets: a start, no calibrated quantiser.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hipgemm.product.arrays import View, type_name, view
from isa.errors import IsaError
from isa.gemm.gemv.formats import FORMATS

if TYPE_CHECKING:
    import numpy as np

_WORD = 8  # zero points of a word
_HELD = ("int8", "uint8", "uint32", "float16", "float32")


class WeightsError(IsaError, ValueError):
    """Arrays that are no weights of a format."""


def layout(format: str, n: int, k: int) -> dict[str, tuple[str, tuple[int, ...]]]:
    """The arrays of N x K weights: name -> (dtype, shape)."""
    of = FORMATS[format]
    found: dict[str, tuple[str, tuple[int, ...]]] = {"words": ("|u1" if of.bits < 8 else "|i1", (n, k * of.bits // 8))}
    found["scales"] = ("<f2", (n, k // of.group)) if of.group else ("<f4", (n,))
    if of.zeros:
        found["zeros"] = ("<u4", (n, -(-k // of.group // _WORD)))
    return found


@dataclass(frozen=True, eq=False)
class Weights:
    """N rows of K weights. words, scales, zeros: as the format requires, C-contiguous; zeros: None where it has none.
    NumPy arrays, or any arrays on the host or on the device that `hipgemm.gemm` takes.

    WeightsError names the array that does not match."""

    format: str
    words: Any
    scales: Any
    zeros: Any = None

    def __post_init__(self) -> None:
        if self.format not in FORMATS:
            raise WeightsError(f"there is no format {self.format!r}", expected=", ".join(FORMATS))
        of = FORMATS[self.format]
        words = view("words", self.words, _HELD, (1, 2, 3))
        if len(words.shape) != 2 or self.k % max(1, of.group):
            raise WeightsError(
                f"words are not rows of complete groups of {max(1, of.group)} weights", got=f"shape {words.shape}"
            )
        for name, (dtype, shape) in layout(self.format, words.shape[0], self.k).items():
            array = getattr(self, name)
            seen = None if array is None else view(name, array, _HELD, (1, 2))
            if seen is None or seen.dtype != type_name(dtype) or seen.shape != shape or not seen.dense:
                raise WeightsError(
                    f"{name} does not match weights of {self.format}", expected=f"{dtype}, {shape}, C-contiguous",
                    got="none" if seen is None else f"{seen.dtype}, {seen.shape}",
                )  # fmt: skip

    @property
    def k(self) -> int:
        """Weights of a row."""
        return int(self.words.shape[1]) * 8 // FORMATS[self.format].bits

    @property
    def shape(self) -> tuple[int, int]:
        """Of the matrix B that they are: K x N."""
        return self.k, int(self.words.shape[0])

    @property
    def arrays(self) -> tuple[Any, ...]:
        """In the order of a kernel's arguments: words, scales, zero points."""
        return tuple(x for x in (self.words, self.scales, self.zeros) if x is not None)

    @property
    def views(self) -> list[View]:
        """The same as views, on the host or on the device."""
        names = ("words", "scales", "zeros")
        return [view(name, x, _HELD, (1, 2)) for name, x in zip(names, self.arrays, strict=False)]

    def numbers(self) -> np.ndarray:
        """Their values, N x K float64; for NumPy arrays only."""
        import numpy as np

        of = FORMATS[self.format]
        if not of.group:
            return self.words * self.scales.astype(np.float64)[:, None]
        if of.bits == 8:
            whole = self.words.astype(np.float64)
        else:
            whole = _nibbles(self.words, of.group if self.format == "q4_0" else 0).astype(np.float64) - of.bias
        if self.zeros is not None:
            fields = self.zeros[..., None] >> (4 * np.arange(_WORD, dtype=np.uint32)) & 15
            zeros = fields.reshape(len(whole), -1)[:, : self.k // of.group]
            whole -= np.repeat(zeros, of.group, axis=1)
        return whole * np.repeat(self.scales.astype(np.float64), of.group, axis=1)

    @staticmethod
    def quantised(values: np.ndarray, format: str) -> Weights:
        """The weights nearest to N x K floats. K: a multiple of the format's group."""
        import numpy as np

        if format not in FORMATS:
            raise WeightsError(f"there is no format {format!r}", expected=", ".join(FORMATS))
        of = FORMATS[format]
        n, k = values.shape
        group = of.group or k
        if k % group:
            raise WeightsError(
                f"{format} has a scale for each {group} weights", expected="whole groups", got=f"K = {k}"
            )
        x = values.astype(np.float64).reshape(n, k // group, group)
        zeros = np.zeros((n, k // group))
        if of.zeros:
            low, high = np.minimum(x.min(axis=2), 0), np.maximum(x.max(axis=2), 0)
            scale = _as_half((high - low) / 15)
            zeros = np.clip(np.rint(-low / scale), 0, 15)
        else:
            most = np.take_along_axis(x, np.abs(x).argmax(axis=2)[..., None], 2)[..., 0]
            scale = _as_half(np.abs(most) / 127 if of.bits == 8 else most / -8)
        lowest, highest = (-128, 127) if of.bits == 8 else (0, 15)
        bias = 0 if of.bits == 8 else of.bias
        whole = np.clip(np.rint(x / scale[..., None]) + bias + zeros[..., None], lowest, highest).reshape(n, k)
        if of.bits == 8:
            words = whole.astype(np.int8)
        else:
            words = _packed(whole.astype(np.uint8), of.group if format == "q4_0" else 0)
        packed = None
        if of.zeros:
            fields = np.zeros((n, -(-zeros.shape[1] // _WORD) * _WORD), np.uint32)
            fields[:, : zeros.shape[1]] = zeros
            shifts = 4 * np.arange(_WORD, dtype=np.uint32)
            packed = np.bitwise_or.reduce(fields.reshape(n, -1, _WORD) << shifts, axis=2).astype("<u4")
        scales = scale.astype(np.float16) if of.group else scale[:, 0].astype(np.float32)
        return Weights(format, np.ascontiguousarray(words), np.ascontiguousarray(scales), packed)


def _as_half(scale: np.ndarray) -> np.ndarray:
    """As float16 holds it; 1 where there is nothing to scale."""
    import numpy as np

    found: np.ndarray = scale.astype(np.float16).astype(np.float64)
    return np.where(found == 0, 1.0, found)


def _nibbles(words: np.ndarray, halves: int) -> np.ndarray:
    """Bytes -> their halves, the low one first. halves: of so many, the first half lies in the low ones; 0: in turn."""
    import numpy as np

    low, high = words & 15, words >> 4
    if not halves:
        return np.stack([low, high], axis=2).reshape(len(words), -1)
    both = [x.reshape(len(words), -1, 1, halves // 2) for x in (low, high)]
    return np.concatenate(both, axis=2).reshape(len(words), -1)


def _packed(whole: np.ndarray, halves: int) -> np.ndarray:
    """`_nibbles`, backwards."""
    if not halves:
        low, high = whole[:, 0::2], whole[:, 1::2]
    else:
        both = whole.reshape(len(whole), -1, 2, halves // 2)
        low, high = both[:, :, 0].reshape(len(whole), -1), both[:, :, 1].reshape(len(whole), -1)
    found: np.ndarray = low | high << 4
    return found
