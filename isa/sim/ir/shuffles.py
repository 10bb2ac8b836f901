"""Shuffles as LLVM IR: vectors joined, split and transposed.

What a lane has side by side in memory is a cell, a vector of some words; `columns` and `cells_of` turn the cells of
lanes into one vector a word, and back.
"""

from __future__ import annotations

from collections.abc import Sequence

from isa.sim.ir.ir import Function, Region


def shuffle(f: Function, region: Region, a: str, b: str, lanes: int, order: Sequence[int]) -> str:
    """Elements of a and b, vectors of `lanes`: those that `order` names, b's from `lanes` on."""
    picks, type_ = ", ".join(f"i32 {i}" for i in order), f"<{lanes} x i32>"
    return f.emit(region, f"shufflevector {type_} %s, {type_} %s, <{len(order)} x i32> <{picks}>", a, b)


def columns(f: Function, region: Region, cells: Sequence[str], count: int) -> list[str]:
    """Cells of `count` words -> one vector a word, with an element a cell."""
    n = len(cells)
    if count == 4 and n > 8:
        halves = [columns(f, region, cells[i : i + n // 2], count) for i in (0, n // 2)]
        return [concatenate(f, region, list(pair), n // 2) for pair in zip(*halves, strict=True)]
    if (count, n) != (4, 8):
        every = concatenate(f, region, list(cells), count)
        return [shuffle(f, region, every, every, count * n, range(i, count * n, count)) for i in range(count)]
    # Cell i below cell i + 4, so that all further shuffles stay within 128 bits.
    rows = [shuffle(f, region, cells[i], cells[i + 4], 4, range(8)) for i in range(4)]
    low = [shuffle(f, region, rows[i], rows[i + 1], 8, (0, 8, 1, 9, 4, 12, 5, 13)) for i in (0, 2)]
    high = [shuffle(f, region, rows[i], rows[i + 1], 8, (2, 10, 3, 11, 6, 14, 7, 15)) for i in (0, 2)]
    orders = (0, 1, 8, 9, 4, 5, 12, 13), (2, 3, 10, 11, 6, 7, 14, 15)
    return [shuffle(f, region, a, b, 8, order) for a, b in (low, high) for order in orders]


def cells_of(f: Function, region: Region, values: Sequence[str], lanes: int) -> list[str]:
    """The reverse of `columns`: vectors of `lanes` elements, of each lane a word -> a cell a lane."""
    if len(values) < 4:
        orders = [(i, lanes + i)[: len(values)] for i in range(lanes)]
        return [shuffle(f, region, values[0], values[-1], lanes, order) for order in orders]
    cells = []
    for first in range(0, lanes, 4):
        order = [i + side for i in range(first, first + 4) for side in (0, lanes)]
        a, b = (shuffle(f, region, *pair, lanes, order) for pair in ((values[0], values[1]), (values[2], values[3])))
        cells += [shuffle(f, region, a, b, 8, (2 * i, 2 * i + 1, 8 + 2 * i, 9 + 2 * i)) for i in range(4)]
    return cells


def concatenate(f: Function, region: Region, parts: list[str], lanes: int) -> str:
    """Vectors of `lanes` elements, one after the other, as one vector."""
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=True)
        parts = [shuffle(f, region, a, b, lanes, range(2 * lanes)) for a, b in pairs]
        lanes *= 2
    return parts[0]
