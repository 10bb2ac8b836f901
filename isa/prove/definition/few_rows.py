"""Default launches for the proof of GEMV kernels: those whose waves divide k between them (`launch.Shares`). See
`sizes`; K is whole blocks, and none of it is followed by induction.

Small ones (`usual`): K is nothing; one block, so that waves but one have none; and next to multiples of as many blocks
as there are waves, so that some of them make one more iteration than others. Groups' zero points lie eight to a
word: one K goes beyond the first word.

Edges (`edges`): each number of rows and each of columns that a tile may have, by itself with K = 0, and one with
another, as chance has it, with one block.

Far ones: tiles with a row of C, of B, and of its scales beyond 4 GiB (`far_tiles`), of a few blocks; and, for who has
time, a row of A, or of zero points, that lies there, which takes many blocks (`far`).
"""

from __future__ import annotations

from isa.prove.definition import sizes
from isa.prove.definition.launch import Beta, SymbolicLaunch
from isa.prove.definition.narrow import BYTES
from isa.prove.definition.sizes import Tiling, tiled
from isa.prove.definition.weights import FORMATS

_ZERO_POINTS, _WORD_BYTES, _SCALE_BYTES = 8, 4, 2
"""Of a word, each of a block; bytes of that word; of a scale."""
_MANY = 256
_FAR = 1 << 32


def usual(p: Tiling) -> tuple[SymbolicLaunch, ...]:
    """Small ones that take all paths."""
    assert p.shares is not None
    rows, columns, waves, depth = p.rows, p.columns, p.shares.waves, p.depth
    small: list[tuple[int, int, int, Beta]] = [
        (rows + 1, columns + 3, 0, "any"),
        (1, 1, 1, "0"),
        (max(1, rows - 1), columns, waves + 1, "-0"),
        (rows, 2 * columns - 1, 2 * waves - 1, "any"),
        (rows + 1, columns, max(3 * waves, _ZERO_POINTS + 1), "0"),
        (1, columns + 1, 2 * waves + 1, "any"),
    ]
    return tuple(tiled(p, m, n, blocks * depth, beta) for m, n, blocks, beta in small)


def edges(p: Tiling) -> tuple[SymbolicLaunch, ...]:
    """Of each number of rows, and of columns."""
    corners, ends = sizes.rests(p)
    found = [tiled(p, m, n, p.depth, "any") for m, n in corners]
    return (*found, *(tiled(p, m, n, 0, "0") for m, n in ends))


def far_tiles(p: Tiling, largest: tuple[int, int, int]) -> tuple[SymbolicLaunch, ...]:
    """Of launches that are too large to follow, the workgroup of one tile."""
    assert p.shares is not None
    of, n = FORMATS.get(p.shares.weights), largest[1]
    k = 2 * p.depth
    if of and of.group:  # a row's scales have so many bytes that those of the last lie beyond
        k = max(k, _FAR // n // _SCALE_BYTES * of.group + p.depth)
    return tuple(sizes.far_tiles(p, largest, None, None, k))


def far(p: Tiling, largest: tuple[int, int, int]) -> tuple[SymbolicLaunch, ...]:
    """More, which take long: of the last row of tiles, so far that the offset of its first row of A has a high half,
    and with more blocks for a wave than 8 bits can count; and of the last columns where zero points lie so far."""
    assert p.shares is not None
    m, n, _ = largest
    row, column = m // p.rows - 1, n // p.columns - 1
    k = max(_FAR // (row * p.rows * BYTES[p.factor]), _MANY * p.shares.waves * p.depth)
    found = [sizes.at_tile(p, None, row, 0, m, p.columns, "any", _more(k, p.depth))]
    of = FORMATS.get(p.shares.weights)
    if of and of.zeros:
        k = _FAR // n // _WORD_BYTES * _ZERO_POINTS * of.group
        found.append(sizes.at_tile(p, None, 0, column, p.rows, n, "0", _more(k, p.depth)))
    return tuple(found)


def _more(k: int, depth: int) -> int:
    """The next multiple of depth."""
    return k - k % depth + depth
