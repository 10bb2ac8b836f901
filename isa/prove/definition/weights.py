"""The definition of quantised weights: what B of a kernel for few rows holds, N rows along k.

Written from the formulas that ggml (`dequantize_row_q8_0`, `dequantize_row_q4_0` of ggml-quants.c) and AWQ (its GEMV
kernel, gemv_cuda.cu) publish, of which B[k,n] is y[k] of row n:

    q8      y[k] = q[k] d                                 q: int8; d: f32, of the row
    q8_0    y[k] = q[k] d[k / 32]                         q: int8; d: f16
    q4_0    y[32 b + j]      = ((q[16 b + j] & 15) - 8) d[b]       q: bytes; d: f16; j: 0 to 15
            y[32 b + 16 + j] = ((q[16 b + j] >> 4) - 8) d[b]
    awq     y[k] = ((q[k / 8] >> 4 (k % 8) & 15) - (z[g / 8] >> 4 (g % 8) & 15)) d[g]
                                                          q, z: 32-bit words; d: f16; g = k / 128

The bracket is an integer from -128 to 127, which is an f16 without error: a term of two numbers (`whole`), that of the
byte or nibble and that of what is taken from it. The scale goes to the sum of a group's products, in f32; that of a row
to the sum of all.

A byte's number (`narrow`) has 25 bits that say which one it is, and two that say what of it: all, its low or its high
four bits, or all with the highest bit turned around, which is the signed byte and 128 more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isa.prove.definition import halves
from isa.prove.definition.names import Names
from isa.prove.definition.narrow import FIRST_OF_B, Bytes, NarrowMatrix

WEIGHTS = ("weight_scales", "weight_zeros")
"""Arguments of kernels that take such weights: pointers after those of the epilogue."""
LOW, HIGH, TURNED = (np.uint64(i << 25) for i in (1, 2, 3))
"""What of a byte."""
ZEROS = 1 << 24
"""Zero points have the numbers after so many bytes of weights."""


@dataclass(frozen=True)
class Format:
    """bits: of a weight; group: steps of k that have a scale in common, 0 for a row; less: what is taken from it;
    zeros: groups have zero points; order: in which each eight steps of k are added, two at a time."""

    bits: int
    group: int
    less: int = 0
    zeros: bool = False
    order: tuple[int, ...] = tuple(range(8))


FORMATS = {
    "q8": Format(8, 0),
    "q8_0": Format(8, 32),
    "q4_0": Format(4, 32, less=8),
    "awq": Format(4, 128, zeros=True, order=(0, 4, 1, 5, 2, 6, 3, 7)),
}


def arguments(name: str) -> tuple[str, ...]:
    """Of a kernel that takes this format, after all others; "" is that of A."""
    return WEIGHTS[: 1 + FORMATS[name].zeros] if name else ()


def stored(name: str, n: int, held: range, k: int) -> NarrowMatrix:
    """The weights as bytes in memory."""
    line = k * FORMATS[name].bits // 8
    assert len(held) * line < ZEROS
    return NarrowMatrix(FIRST_OF_B, n, held, line, 1, True, max(1, line))


def zero_points(n: int, held: range, k: int) -> NarrowMatrix:
    """The words of zero points as bytes in memory, eight to a word."""
    line = 4 * -(-k // (8 * FORMATS["awq"].group))
    assert len(held) * line < ZEROS
    return NarrowMatrix(FIRST_OF_B + ZEROS, n, held, line, 1, True, max(1, line))


def scales(name: str, k: int) -> int:
    """Of a row."""
    group = FORMATS[name].group
    return k // group if group else 1


def whole(x: NDArray[np.uint64], less: NDArray[np.uint64]) -> halves.Halves:
    """The f16 of the integer x - less, each a number below 256 or what of a byte."""
    return halves.made("f16 of a difference", np.stack(np.broadcast_arrays(x, less)))


def words(name: str, n: int, held: range, k: int) -> Names:
    """The names of two weights at a time as f16, in the order in which they are added: (2, words, columns held)."""
    of = FORMATS[name]
    steps = in_order(name, k)
    rows = np.array(held, np.int64)[:, None]
    bytes_ = stored(name, n, held, k)
    if of.bits == 8:
        x = bytes_.number(rows, steps[None], np.int64(0)) | TURNED
        less = np.full_like(x, 128)
    elif name == "q4_0":
        block, j = np.divmod(steps, 32)
        x = bytes_.number(rows, (16 * block + j % 16)[None], np.int64(0)) | np.where(j < 16, LOW, HIGH)
        less = np.full_like(x, of.less)
    else:
        x = _nibble(bytes_, rows, steps)
        less = _nibble(zero_points(n, held, k), rows, steps // of.group)
    found = whole(x, less)
    result: Names = halves.packed(found[:, 0::2], found[:, 1::2]).swapaxes(1, 2)
    return result


def in_order(name: str, k: int) -> NDArray[np.int64]:
    """The steps of k in the order in which they are added."""
    order = np.array(FORMATS[name].order, np.int64)
    return (np.arange(0, k, 8)[:, None] + order).ravel()


def _nibble(of: NarrowMatrix, rows: NDArray[np.int64], number: NDArray[np.int64]) -> Bytes:
    """Four bits of rows of words, the lowest first: of word i the numbers 8 i to 8 i + 7, in bytes 4 i to 4 i + 3."""
    word, place = np.divmod(number, 8)
    byte = 4 * word + place // 2
    found: Bytes = of.number(rows, byte[None], np.int64(0)) | np.where(place % 2, HIGH, LOW)
    return found


def as_float(scale: Names) -> Names:
    """An f16 as memory holds it, as f32."""
    return halves.widened("f16", halves.of_entries(scale))
