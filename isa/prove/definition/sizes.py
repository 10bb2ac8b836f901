"""Default launches for the proof by definition: a kernel -> the sizes that are followed where none are given.

Small ones that take every path through a kernel (`usual`, `stream_k`). The grid is one workgroup or two by two, so that
there are workgroups inside of C, at its right edge, at its lower edge and at its corner; K is 0, 1, and next to the
multiples of a K block, up to four; beta is 0, -0, and neither. Whether that was enough is not taken on trust: each
instruction must have run and each branch must have been taken and not taken (see `isa.prove.definition`).

All edges (`edges`): what a lane at an edge loads and stores depends on how many rows and columns are left, and on
nothing else of M and N. So each number of rows and each of columns is tried: at one edge alone, and at the corner one
with another as chance has it.

Far ones (`far_tiles`, `far_pieces`, `far`): M, N, or both, are as large as may be, some of the sums of low halves carry
and some do not. M and N differ, as do row and column, so that one does not do for the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from random import Random

from isa.prove.definition.epilogue import PLAIN, Epilogue
from isa.prove.definition.launch import (
    LADDER,
    LINES,
    STRIDES,
    Beta,
    Layer,
    Order,
    Part,
    Shares,
    Split,
    SymbolicLaunch,
    number_of,
)
from isa.prove.definition.narrow import PACK
from isa.prove.definition.weights import arguments


@dataclass(frozen=True)
class Tiling:
    """A workgroup of `threads` computes rows x columns of C, `depth` steps of k at a time; see Launch for the rest.

    group: workgroups, in the order of x, then y, go down so many rows of tiles before they go on to the next column;
    those whose group would reach beyond C have their own x and y. strided: of a kernel
    that takes a batch, and leading dimensions: the most that these may be, of A, B and C. shares: of a kernel for few
    rows; its K is whole blocks of `depth`.
    """

    rows: int
    columns: int
    depth: int
    threads: int
    trans_a: bool = False
    trans_b: bool = False
    factor: str = "f32"
    half_sums: bool = False
    group: int = 1
    epilogue: Epilogue = PLAIN
    strided: tuple[int, int, int] | None = None
    shares: Shares | None = None

    def workgroup(self, row: int, column: int, m: int, n: int) -> int:
        """The number of the workgroup that has a tile."""
        return number_of(row, column, m, -(-n // self.columns), self.rows, self.group)


@dataclass(frozen=True)
class EveryK:
    """Where the proof speaks of all K from 1 to `most`. launches: M, N and what is known of beta, their K does not
    count; depth: steps of k in a K block; corners: more launches, those of `edges` that have three K blocks."""

    launches: tuple[SymbolicLaunch, ...]
    depth: int
    most: int
    corners: tuple[SymbolicLaunch, ...] = ()


@dataclass(frozen=True)
class Given:
    """What the host gives a launch: the grid, the arguments after the workspace, "streamed" and "chunk" among them
    (see launch.Split), and the bytes of the workspace."""

    grid: tuple[int, int, int]
    numbers: Mapping[str, int]
    workspace: int


Host = Callable[[int, int, int, int, int], Given]
"""M, N, K, the number of workgroups and that of tiles that may be done in pieces -> what such a launch is given."""
Pieces = tuple[int, Host]
"""Of a kernel whose workgroups take tiles and pieces of tiles: bytes of counters in its workspace, and its host."""


def usual(p: Tiling) -> tuple[SymbolicLaunch, ...]:
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


def edges(p: Tiling, pieces: Pieces | None = None) -> tuple[SymbolicLaunch, ...]:
    """For both: one workgroup, at the corner of C with each number of its rows and each number of its columns, three K
    blocks and a term of C; and at one edge only, with each number of rows or of columns. There K is 0, so that no sums
    need be followed, and there is no term of C: both sides of the epilogue.

    At the corner no bit of the number of rows goes with a bit of that of columns. Of narrow elements, whose first loads
    are made one by one where it is not whole, the first of two K blocks lacks each number of steps there; and it is the
    only one, whole and with some steps, so that what is read beyond its last step is beyond the matrix."""
    corners, ends = rests(p)
    some = p.factor != "f32"
    pack = PACK.get(p.factor, 1)
    steps = [p.depth + pack * (1 + i % (p.depth // pack)) if some else 2 * p.depth + 1 for i in range(len(corners))]
    found = [_dealt(p, pieces, m, n, k, "any") for (m, n), k in zip(corners, steps, strict=True)]
    if some:  # with 1 to 7 columns, or rows, beyond a multiple of 8
        alone = (pack, p.depth // 2 + pack, p.depth - pack, p.depth)
        for i, (k, rest) in enumerate(product(alone, range(1, 8))):
            m, n = rest + 8 * (i % (p.rows // 8)), 8 - rest + 8 * (i % (p.columns // 8))
            found.append(_dealt(p, pieces, m, n, k, "any"))
    return (*found, *(_dealt(p, pieces, m, n, 0, "0") for m, n in ends))


def rests(p: Tiling) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Rows and columns of a tile at the edges of C: of one at the corner, as chance has it; at one edge only."""
    columns = Random(1).sample(range(p.columns), p.columns)
    corners = [(i % p.rows + 1, columns[i % p.columns] + 1) for i in range(max(p.rows, p.columns))]
    lower = [(i, p.columns) for i in range(1, p.rows)]
    return corners, [*lower, *((p.rows, j) for j in range(1, p.columns + 1))]


def _dealt(p: Tiling, pieces: Pieces | None, m: int, n: int, k: int, beta: Beta) -> SymbolicLaunch:
    """A launch with a workgroup for each tile."""
    if pieces is None:
        return tiled(p, m, n, k, beta)
    return streamed(p, *pieces, m, n, k, beta, -(-n // p.columns) * -(-m // p.rows), 0, "together")


def every_k(
    p: Tiling,
    largest: tuple[int, int, int],
    pieces: Pieces | None = None,
    tiles: int | None = None,
    *,
    thorough: bool = False,
) -> EveryK:
    """For both, where each workgroup has a tile: inside of C, at each edge and at the corner; each kind of beta; far
    tiles. largest: M, N and K; tiles: the most that there may be, None for any number. thorough: with each number of
    rows, and of columns, at the corner."""
    sizes: list[tuple[int, int, Beta]] = [
        (p.rows + 1, p.columns + 3, "any"), (p.rows, p.columns, "0"), (p.rows - 1, p.columns, "-0")
    ]  # fmt: skip
    launches = [_dealt(p, pieces, m, n, 1, beta) for m, n, beta in sizes]
    launches += far_tiles(p, largest, pieces, tiles, 1)
    if p.strided:  # lines are as long for each K; in two far tiles they have gaps, too
        gaps = [x for x in launches if x.part and max(x.m, x.n) + _FAR_GAP <= min(p.strided)][:2]
        launches = [replace(x, layer=layer(p, x.m, x.n, largest[2], spare=0 if x.part else None)) for x in launches]
        launches += [replace(x, layer=layer(p, x.m, x.n, largest[2], spare=_FAR_GAP)) for x in gaps]
    near = len(launches)
    if thorough:
        corners = [launch for launch in edges(p, pieces) if launch.k]
        launches += [replace(x, layer=layer(p, x.m, x.n, largest[2])) for x in corners]
    if pieces:
        others = [_dealt(p, pieces, p.rows, p.columns, k, "0").numbers for k in (1, 7 * p.depth + 1, largest[2])]
        varying = {name for name in others[0] if len({numbers[name] for numbers in others}) > 1}
        launches = [replace(x, numbers={**x.numbers, **dict.fromkeys(varying)}) for x in launches]
    return EveryK(tuple(launches[:near]), p.depth, largest[2], tuple(launches[near:]))


def far_tiles(
    p: Tiling, largest: tuple[int, int, int], pieces: Pieces | None, tiles: int | None, k: int
) -> list[SymbolicLaunch]:
    """For both: of launches that are too large to follow, the workgroup of one tile. See `every_k`."""
    return [at_tile(p, pieces, *place, k) for place in _far(p, largest, tiles)]


Place = tuple[int, int, int, int, Beta]
"""Row and column of a tile, M, N."""


def _far(p: Tiling, largest: tuple[int, int, int], tiles: int | None) -> Iterator[Place]:
    """A tile at the corner of C and one inside of it, with a term of C and without, where M and N are as large as may
    be, or one of them is. Each where the 64-bit offset of the tile in C has a low half that carries when the tile's
    first column is added, and where it has none that does.
    """
    rows, columns = ((most - 1) // step for most, step in zip(largest[:2], (p.rows, p.columns), strict=True))
    kinds: list[tuple[int, int, bool, Beta]] = [
        (rows, columns, False, "any"),
        (rows * 5 // 7, columns - 1, True, "0"),
        (rows - 1, columns * 3 // 5, True, "any"),
        (rows * 4 // 9, columns * 6 // 7, False, "-0"),
    ]
    for carries, (number, (row, column, inside, beta)) in product((True, False), enumerate(kinds)):
        # Of both, one may have to be less, where tiles are counted.
        if tiles is not None and (row + 2) * (column + 2) > tiles:
            row, column = (row, tiles // (row + 2) - 2) if number % 2 else (tiles // (column + 2) - 2, column)
        if row >= 0 and column >= 0 and (found := _carrying(p, row, column, inside, carries)) is not None:
            yield *found, beta


def _carrying(p: Tiling, row: int, column: int, inside: bool, carries: bool) -> tuple[int, int, int, int] | None:
    """The last tile (row, column) up to these, M and N, so that the sum of low halves carries, or does not."""
    m_more = 2 * p.rows - 1 if inside else max(1, p.rows - 1)
    for n_more in range(max(1, p.columns - 1), (p.columns - 1) // 2, -1):
        n = column * p.columns + n_more + (p.columns if inside else 0)
        for i in range(row, max(-1, row - _LOOKED_AT), -1):
            low = i * p.rows * n % (1 << 32) + column * p.columns
            if (low >> 32 != 0) == carries:
                return i, column, i * p.rows + m_more, n
    return None


_LOOKED_AT = 1 << 11
_FAR_GAP = 1 << 14
"""Elements: times a far tile's first row more than 2^32."""
LARGEST_LAYER = 65534
"""Of a batch: HIP takes 65535 workgroups in z."""


def at_tile(
    p: Tiling, pieces: Pieces | None, row: int, column: int, m: int, n: int, beta: Beta, k: int
) -> SymbolicLaunch:
    """The workgroup of a tile, of a launch that is too large to follow."""
    launch = _dealt(p, pieces, m, n, k, beta)
    rows = range(row * p.rows, min(m, (row + 1) * p.rows))
    columns = range(column * p.columns, min(n, (column + 1) * p.columns))
    groups = (p.workgroup(row, column, m, n),)
    part = Part(f"tile ({column}, {row})", groups, rows, columns, (rows, columns))
    return replace(launch, part=part, layer=layer(p, m, n, k, spare=0))  # `_carrying` is of such lines


def tiled(p: Tiling, m: int, n: int, k: int, beta: Beta) -> SymbolicLaunch:
    """One launch: x runs along the columns of C, y along its rows. Where elements are packed, K is whole packs."""
    k += -k % PACK.get(p.factor, 1)
    grid = -(-n // p.columns), -(-m // p.rows), 1
    more = (*p.epilogue.vectors, *((*STRIDES, *LINES) if p.strided else ()))
    more += arguments(p.shares.weights) if p.shares else ()
    return SymbolicLaunch(
        m, n, k, beta, grid, p.threads, (*LADDER, *more),
        trans_a=p.trans_a, trans_b=p.trans_b, factor=p.factor, half_sums=p.half_sums, epilogue=p.epilogue,
        layer=layer(p, m, n, k), shares=p.shares,
    )  # fmt: skip


def layer(p: Tiling, m: int, n: int, k: int, *, spare: int | None = None) -> Layer | None:
    """Some matrix of a batch of that size, as chance has it: the first, another, or the last that a grid may have;
    one that all of them have, or strides up to more than 2^32. Lines are longer than they need be, by
    so much as `spare` says. None of kernels that take none."""
    if p.strided is None:
        return None
    by = Random(f"{m} {n} {k}")
    inner = -(-k // PACK.get(p.factor, 1))
    widths = m if p.trans_a else inner, inner if p.trans_b else n, n
    more = [by.choice((1, 5, 8, 1000)) if spare is None else spare for _ in widths]
    lines = [min(most, width + gap) for most, width, gap in zip(p.strided, widths, more, strict=True)]
    strides = tuple(by.choice((0, by.randrange(1 << 20), by.randrange(1 << 44))) for _ in widths)
    a, b, c = lines
    return Layer(
        by.choice((0, by.randrange(1, 1 << 16), LARGEST_LAYER)), (a, b, c), (strides[0], strides[1], strides[2])
    )


def stream_k(p: Tiling, counters: int, host: Host) -> tuple[SymbolicLaunch, ...]:
    """For kernels whose workgroups take tiles and pieces of tiles. counters: bytes of them in the workspace.

    Tiles in one piece and in two and three, ranges over several tiles, workgroups without one, tiles dealt out whole;
    the workgroup with the last piece of a tile comes last, or first, or all at once, so that each order of adding up is
    taken.
    """
    rows, columns, depth = p.rows, p.columns, p.depth
    sizes: list[tuple[int, int, int, Beta, int, int, Order]] = [
        (rows + 1, columns + 3, 0, "any", 3, 0, "together"),
        (1, 1, 1, "0", 2, 1, "together"),
        (rows, columns + 1, 2 * depth + depth // 2 + 1, "-0", 3, 2, "first"),
        (rows, columns, 3 * depth, "any", 3, 1, "last"),
        (rows, columns, 3 * depth, "0", 3, 1, "together"),
        (rows + 5, columns + 7, 3 * depth + 1, "any", 2, 3, "together"),
        (rows, 2 * columns, 3 * depth, "0", 5, 1, "first"),  # the sixth of the grid has nothing to do
    ]
    if p.factor != "f32":  # whole K blocks at ragged edges
        sizes.append((rows + 3, columns + 5, 2 * depth, "0", 3, 0, "together"))
    return tuple(streamed(p, counters, host, *size) for size in sizes)


def streamed(
    p: Tiling, counters: int, host: Host, m: int, n: int, k: int, beta: Beta, groups: int, tiles: int, order: Order
) -> SymbolicLaunch:
    """One launch of so many workgroups; `tiles` of the tiles may be done in pieces."""
    k += -k % PACK.get(p.factor, 1)
    given = host(m, n, k, groups, tiles)
    numbers = given.numbers
    pieces = Split(p.rows, p.columns, p.depth, numbers["streamed"], numbers["chunk"], p.group)
    # Where nothing is in pieces the workspace is none of the kernel's business.
    workspace, zeroed = (given.workspace // 4, counters // 4) if pieces.streamed else (0, 0)
    return SymbolicLaunch(
        m, n, k, beta, given.grid, p.threads, (*LADDER, *p.epilogue.vectors, "workspace", *numbers), numbers, workspace,
        zeroed, pieces, order, p.trans_a, p.trans_b, factor=p.factor, epilogue=p.epilogue,
    )  # fmt: skip


def far(p: Tiling, counters: int, host: Host) -> tuple[SymbolicLaunch, ...]:
    """For the same, at the far end of a large workspace: the last slot below 8 GiB. There a slot's offset has a high
    half, and a low half that is about to carry. And a tile in two halves, the last one first, where numbers meet by
    chance: its last range is the number of tiles in a row, its last K block but chunks the number of pieces before."""
    slot = (1 << 33) // (4 * p.rows * p.columns) - 1
    halves = streamed(p, counters, host, p.rows, p.columns, 4 * p.depth, "0", 2, 1, "last")
    return (*_in_slots(p, (counters, host), range(slot, slot + 1)), halves)


def far_pieces(p: Tiling, pieces: Pieces, largest: tuple[int, int, int]) -> tuple[SymbolicLaunch, ...]:
    """For the same: slots after 4 GiB of workspace; and pieces that begin more than 4 GiB after the tile's first
    element of A, or of B, where these lie so that k takes large steps."""
    slot = (1 << 32) // (4 * p.rows * p.columns) + 1
    found = _in_slots(p, pieces, range(slot, slot + _SLOTS))
    m, n, _ = largest
    if not p.trans_b:
        found += (_begun_far(p, pieces, p.rows, n - 1, n - 1),)
    if p.trans_a:
        found += (_begun_far(p, pieces, m - 1, p.columns, m - 1),)
    return found


_SLOTS = 64
"""How many are looked through for one in a tile of few pieces."""


def _begun_far(p: Tiling, pieces: Pieces, m: int, n: int, line: int) -> SymbolicLaunch:
    """Two tiles, each in two pieces; the second one is followed. line: elements from one k to the next."""
    blocks = -(-(1 << 30) // (line * p.depth)) + 2
    launch = streamed(p, *pieces, m, n, 2 * blocks * p.depth - p.depth // 2, "any", 8, 2, "together")
    assert launch.split is not None
    across = -(-n // p.columns)
    rows, columns = (
        (range(p.rows), range(p.columns, 2 * p.columns)) if across > 1 else (range(p.rows, 2 * p.rows), range(n))
    )
    ranges = 2 * launch.split.blocks(launch.k) // launch.split.chunk
    groups = range(8 - ranges // 2, 8)
    return replace(launch, part=Part("tile 1", groups, rows, columns, (rows, columns)))


def _in_slots(p: Tiling, pieces: Pieces, slots: range) -> tuple[SymbolicLaunch, ...]:
    """Two launches in which one of these slots holds a tile's first piece, and its last one, which is done first: who
    adds up then has a slot before these. Of each launch only the tile is followed (`Part`). None where there is no such
    tile."""
    tiles = pieces[0] // (4 * p.threads // 32)
    found = []
    orders: tuple[tuple[int, Order], ...] = ((0, "together"), (1, "last"))
    for last, order in orders:
        tile, blocks, chunk = _piece_in(slots, tiles, last)
        if tile:
            ranges = -(-(tile + 1) * blocks // chunk)
            m, k = (tile + 1) * p.rows, blocks * p.depth
            launch = streamed(p, *pieces, m, p.columns, k, "0", ranges, tile + 1, order)
            found.append(replace(launch, part=_tile(launch, tile)))
    return tuple(found)


def _tile(launch: SymbolicLaunch, tile: int) -> Part:
    """The last tile of tiles that lie below one another, all in pieces. The first of the workgroups with its pieces
    begins with the tile before, which is not finished."""
    split = launch.split
    assert split is not None
    blocks, chunk, rows = split.blocks(launch.k), split.chunk, split.rows
    groups = range(tile * blocks // chunk, ((tile + 1) * blocks - 1) // chunk + 1)
    slots = (groups.start + tile - 1) * rows * split.columns
    columns = range(launch.n)
    whole = range(tile * rows, launch.m), columns
    return Part(f"tile {tile}", groups, range((tile - 1) * rows, launch.m), columns, whole, slots)


_MOST_BLOCKS = 256
"""What is looked through: a tile with more pieces takes long to follow."""


def _piece_in(slots: range, tiles: int, last: int) -> tuple[int, int, int]:
    """(tile, K blocks of a tile, K blocks of a range) so that the last of the tiles has its first (its last) piece in
    one of these slots, with few K blocks; zeros where none does. The piece of range i in tile t has slot i + t."""
    for blocks in range(1, _MOST_BLOCKS):
        for chunk in range(1, blocks + 1):
            if slots.start * chunk // (blocks + chunk) - 1 >= tiles:
                break
            for slot, step in product(slots, (-1, 0, 1)):
                tile = slot * chunk // (blocks + chunk) + step
                if 0 < tile < tiles and ((tile + last) * blocks - last) // chunk + tile == slot:
                    return tile, blocks, chunk
    return 0, 0, 0
