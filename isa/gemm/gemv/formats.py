"""Formats of weights: how a GEMV kernel's N rows lie along k in memory, so that B is their transpose.

    ""      of A's type
    q8      int8, a float32 scale for each row
    q8_0    int8, a float16 scale for each 32 of a row
    q4_0    4 bits, 0 to 15 for -8 to 7, a float16 scale for each 32 of a row; of the 16 bytes that hold these, byte i
            has weight i in its low bits and weight 16 + i in its high bits
    awq     4 bits, 0 to 15, less a zero point of 4 bits, times a float16 scale, both for each 128 of a row; word i has
            weights 8 i to 8 i + 7, the first in its lowest bits

q8_0 and q4_0 are ggml's blocks with the scales in an array of their own: N x K / 32. awq is what AWQ's GEMV layout
packs: scales N x K / 128, zero points 8 to a word, N rows of ceil(K / 1024) words.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Format:
    """bits: of a weight. group: weights that have a scale together, 0 where the whole row has. zeros: groups have zero
    points. bias: what an unsigned weight is less."""

    bits: int
    group: int
    zeros: bool = False
    bias: int = 0


FORMATS = {
    "q8": Format(8, 0, bias=128),
    "q8_0": Format(8, 32, bias=128),
    "q4_0": Format(4, 32, bias=8),
    "awq": Format(4, 128, zeros=True),
}
