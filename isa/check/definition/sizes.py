"""Which launches the proof follows where nobody names any: small ones that take every way through a kernel.

The grid is one workgroup or two by two, so that there are workgroups inside of C, at its right edge, at its lower edge
and at its corner; edges are one row or column wide, all but one, and something between. K is 0, 1, and next to the
multiples of a K block, up to four. beta is 0, -0, and neither. Whether that was enough is not taken on trust: each
instruction must have run and each branch must have gone both ways (see `isa.check.definition`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import product

from isa.check.definition.launch import LADDER, Beta, Launch, Order, Split


@dataclass(frozen=True)
class Tiling:
    """A workgroup of `threads` computes rows x columns of C, `depth` steps of k at a time; see Launch for the rest."""

    rows: int
    columns: int
    depth: int
    threads: int
    trans_a: bool = False
    trans_b: bool = False


@dataclass(frozen=True)
class EveryK:
    """Where the proof speaks of all K from 1 to `most`. launches: M, N and what is known of beta, their K does not
    count; depth: steps of k in a K block."""

    launches: tuple[Launch, ...]
    depth: int
    most: int


@dataclass(frozen=True)
class Given:
    """What the host gives a launch: the grid, the arguments behind the workspace, "streamed" and "chunk" among them
    (see launch.Split), and the bytes of the workspace."""

    grid: tuple[int, int, int]
    numbers: Mapping[str, int]
    workspace: int


Host = Callable[[int, int, int, int, int], Given]
"""M, N, K, the number of workgroups and that of tiles that may be done in pieces -> what such a launch is given."""


def usual(p: Tiling) -> tuple[Launch, ...]:
    """For kernels with a workgroup for each tile."""
    rows, columns, depth = p.rows, p.columns, p.depth
    sizes: list[tuple[int, int, int, Beta]] = [
        (rows + 1, columns + 3, 0, "any"),
        (1, 1, 1, "0"),
        (rows - 1, columns, depth // 2 + 1, "-0"),
        (rows + max(1, rows // 2), columns + 1, depth, "any"),
        (rows, 2 * columns - 1, 2 * depth + depth // 2 + 1, "0"),
        (rows, columns, 2 * depth, "any"),
        (rows, columns, 2 * depth + 1, "0"),
        (rows + 7, columns + max(1, columns // 2) + 2, 4 * depth, "any"),
    ]
    return tuple(tiled(p, *size) for size in sizes)


def every_k(p: Tiling, most: int) -> EveryK:
    """For the same: workgroups inside of C, at each edge and at the corner; each kind of beta."""
    sizes: list[tuple[int, int, Beta]] = [
        (p.rows + 1, p.columns + 3, "any"), (p.rows, p.columns, "0"), (p.rows - 1, p.columns, "-0")
    ]  # fmt: skip
    return EveryK(tuple(tiled(p, m, n, 1, beta) for m, n, beta in sizes), p.depth, most)


def tiled(p: Tiling, m: int, n: int, k: int, beta: Beta) -> Launch:
    """One launch: x runs along the columns of C, y along its rows."""
    grid = -(-n // p.columns), -(-m // p.rows), 1
    return Launch(m, n, k, beta, grid, p.threads, trans_a=p.trans_a, trans_b=p.trans_b)


def stream_k(p: Tiling, counters: int, host: Host) -> tuple[Launch, ...]:
    """For kernels whose workgroups take tiles and pieces of tiles. counters: bytes of them in the workspace.

    Tiles in one piece and in two, three and four, ranges over several tiles, tiles dealt out whole; the workgroup with
    the last piece of a tile comes last, or first, or all at once, so that each way to add up is taken.
    """
    rows, columns, depth = p.rows, p.columns, p.depth
    sizes: list[tuple[int, int, int, Beta, int, int, Order]] = [
        (rows + 1, columns + 3, 0, "any", 3, 0, "together"),
        (1, 1, 1, "0", 2, 1, "together"),
        (rows, columns + 1, 2 * depth + depth // 2 + 1, "-0", 3, 2, "first"),
        (rows, columns, 3 * depth, "any", 3, 1, "last"),
        (rows, columns, 3 * depth, "0", 3, 1, "together"),
        (rows + 5, columns + 7, 3 * depth + 1, "any", 2, 3, "together"),
        (rows, 2 * columns, 4 * depth, "0", 4, 1, "first"),
    ]
    return tuple(streamed(p, counters, host, *size) for size in sizes)


def streamed(
    p: Tiling, counters: int, host: Host, m: int, n: int, k: int, beta: Beta, groups: int, tiles: int, order: Order
) -> Launch:
    """One launch of so many workgroups; `tiles` of the tiles may be done in pieces."""
    given = host(m, n, k, groups, tiles)
    numbers = given.numbers
    pieces = Split(p.rows, p.columns, p.depth, numbers["streamed"], numbers["chunk"])
    return Launch(
        m, n, k, beta, given.grid, p.threads, (*LADDER, "workspace", *numbers), numbers, given.workspace // 4,
        counters // 4, pieces, order, p.trans_a, p.trans_b,
    )  # fmt: skip


def far(p: Tiling, counters: int, host: Host) -> tuple[Launch, ...]:
    """For the same, at the far end of a large workspace: two launches in which the last slot below 8 GiB holds a tile's
    first piece, and its last one, which is done first. There a slot's offset has a high half, and a low half that is
    about to carry. Of each launch only the tile is followed (`Launch.tile`). None where there is no such tile.
    """
    if p.trans_a:
        return ()
    slot, tiles = (1 << 33) // (4 * p.rows * p.columns) - 1, counters // (4 * p.threads // 32)
    found = []
    orders: tuple[tuple[int, Order], ...] = ((0, "together"), (1, "last"))
    for last, order in orders:
        tile, blocks, chunk = _piece_in(slot, tiles, last)
        if tile:
            ranges = -(-(tile + 1) * blocks // chunk)
            m, k = (tile + 1) * p.rows, blocks * p.depth
            launch = streamed(p, counters, host, m, p.columns, k, "0", ranges, tile + 1, order)
            found.append(replace(launch, tile=tile))
    return tuple(found)


_MOST_BLOCKS = 256
"""What `far` looks through: a tile with more pieces takes long to follow."""


def _piece_in(slot: int, tiles: int, last: int) -> tuple[int, int, int]:
    """(tile, K blocks of a tile, K blocks of a range) so that the last of the tiles has its first (its last) piece in
    this slot, with few K blocks; zeros where none does. The piece of range i in tile t has slot i + t."""
    for blocks in range(1, _MOST_BLOCKS):
        for chunk, step in product(range(1, blocks + 1), (-1, 0, 1)):
            tile = slot * chunk // (blocks + chunk) + step
            if 0 < tile < tiles:
                piece = ((tile + last) * blocks - last) // chunk
                if piece + tile == slot:
                    return tile, blocks, chunk
    return 0, 0, 0
