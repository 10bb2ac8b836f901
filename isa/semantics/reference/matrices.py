"""Matrix products of a wave on NumPy arrays: registers of A, B and C -> those of D, V_WMMA_*.

Of floats they are steps of `isa.semantics.dots` for each element, from k = 0 on; each rounds. RDNA3's are eight, two k
at a time. Lane n holds row n % 16 of A and column n % 16 of B, two k a register; lanes 16 to 31 give the odd rows of D,
from their own copies.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

_Array = Any
_LANES = np.arange(32)
_ROWS = 2 * np.arange(8)[:, None] + _LANES // 16 + _LANES // 16 * 16
"""For each register of D and lane, the lane that holds its row of A: one of the same half of the wave."""


def wmma(add: Callable[..., _Array], a: _Array, b: _Array, c: _Array) -> _Array:
    """Registers by lanes, u32: A, B, C and the result [8, 32]; C and the result in low halves where packed. add: a
    step, of words of A, as many of B, and the accumulator."""
    d = np.array(c, np.uint32)
    for k in range(8):
        d = add([a[k][_ROWS]], [np.broadcast_to(b[k], d.shape)], d)
    return d


def integer_wmma(a: _Array, b: _Array, c: _Array, size: int, signed: tuple[bool, bool], clamp: bool) -> _Array:
    """Fields of `size` bits along k; A and B [2 or 4, 32]. Exact, then cut to 32 bits or, with clamp, saturated."""
    x, y = (_fields(m, size, s) for m, s in zip((a, b), signed, strict=True))
    d = np.empty((8, 32), np.uint32)
    for register in range(8):
        total = (x[:, _ROWS[register]] * y).sum(0) + np.asarray(c[register], np.uint32).view(np.int32)
        d[register] = (np.clip(total, -(2**31), 2**31 - 1) if clamp else total).astype(np.uint32)
    return d


def spread_wmma(add: Callable[..., _Array], a: _Array, b: _Array, c: _Array) -> _Array:
    """RDNA4's products: A and B [4, 32], lanes 0 to 15 with k from 0 to 7, the others with 8 to 15. Its steps
    are of two words: k 0 to 3, 8 to 11, 4 to 7, 12 to 15."""
    columns = _LANES % 16
    d = np.array(c, np.uint32)
    for first in (0, 2):
        for half in (0, 16):
            words = [(a[w][_SPREAD + half], np.broadcast_to(b[w][columns + half], d.shape)) for w in (first, first + 1)]
            d = add([x for x, _ in words], [y for _, y in words], d)
    return d


def spread_integer(a: _Array, b: _Array, c: _Array, size: int, signed: tuple[bool, bool], clamp: bool) -> _Array:
    """The same of integers; registers of A and of B [1 or 2, 32]."""
    x, y = (_fields(m, size, s) for m, s in zip((a, b), signed, strict=True))
    total = np.asarray(c, np.uint32).view(np.int32).astype(np.int64)
    for half in (0, 16):
        total = total + (x[:, _SPREAD + half] * y[:, None, _LANES % 16 + half]).sum(0)
    return (np.clip(total, -(2**31), 2**31 - 1) if clamp else total).astype(np.uint32)


_SPREAD = np.arange(8)[:, None] + 8 * (_LANES // 16)
"""For each register of D and lane, the lower lane that holds its row of A."""


def _fields(matrix: _Array, size: int, signed: bool) -> _Array:
    """[16, 32] numbers along k."""
    words = np.asarray(matrix, np.int64)
    fields = np.concatenate([[word >> first & (1 << size) - 1 for first in range(0, 32, size)] for word in words])
    return fields - (fields >> size - 1 << size) if signed else fields
