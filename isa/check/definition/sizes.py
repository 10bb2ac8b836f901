"""Which launches the proof follows where nobody names any: small ones that take every way through a kernel.

The grid is one workgroup or two by two, so that there are workgroups inside of C, at its right edge, at its lower edge
and at its corner; edges are one row or column wide, all but one, and something between. K is 0, 1, and next to the
multiples of `depth` up to a few K blocks. beta is 0, -0, and neither. Whether that was enough is not taken on trust:
each instruction must have run and each branch must have gone both ways (see `isa.check.definition`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from isa.check.definition.launch import LADDER, Beta, Launch, Order, Split

Numbers = Callable[[int, int, int, int, int], tuple[Mapping[str, int], int]]


def usual(
    rows: int, columns: int, threads: int, *, depth: int = 8, trans_a: bool = False, trans_b: bool = False
) -> tuple[Launch, ...]:
    """rows, columns: the tile of C that a workgroup of so many threads computes. depth: steps of k in a K block."""
    inside = max(1, rows // 2), max(1, columns // 2)
    sizes: list[tuple[int, int, int, Beta]] = [
        (rows + 1, columns + 3, 0, "any"),
        (1, 1, 1, "0"),
        (rows - 1, columns, depth // 2 + 1, "-0"),
        (rows + inside[0], columns + 1, depth, "any"),
        (rows, 2 * columns - 1, 2 * depth + depth // 2 + 1, "0"),
        (rows, columns, 2 * depth, "any"),
        (rows, columns, 2 * depth + 1, "0"),
        (rows + 7, columns + inside[1] + 2, 4 * depth, "any"),
    ]
    return tuple(
        Launch(m, n, k, beta, (-(-n // columns), -(-m // rows), 1), threads, trans_a=trans_a, trans_b=trans_b)
        for m, n, k, beta in sizes
    )


def persistent(
    rows: int,
    columns: int,
    depth: int,
    threads: int,
    counters: int,
    split: Numbers,
    *,
    trans_a: bool = False,
    trans_b: bool = False,
) -> tuple[Launch, ...]:
    """The same for kernels whose workgroups take tiles and pieces of tiles. depth: steps of k in a K block; counters:
    bytes of them in the workspace; split: what the host makes of M, N, K, the number of workgroups and that of tiles
    that may be done in pieces: the kernel's arguments behind the workspace, with "streamed" and "chunk" among them (see
    launch.Split), and the bytes of the workspace.

    Tiles in one piece and in two, three and four, ranges over several tiles, tiles dealt out whole; the workgroup with
    the last piece of a tile comes last, or first, or all at once, so that each way to add up is taken.
    """
    sizes: list[tuple[int, int, int, Beta, int, int, Order]] = [
        (rows + 1, columns + 3, 0, "any", 3, 0, "together"),
        (1, 1, 1, "0", 2, 1, "together"),
        (rows, columns + 1, 2 * depth + 5, "-0", 3, 2, "first"),
        (rows, columns, 3 * depth, "any", 3, 1, "last"),
        (rows, columns, 3 * depth, "0", 3, 1, "together"),
        (rows + 5, columns + 7, 3 * depth + 1, "any", 2, 3, "together"),
        (rows, 2 * columns, 4 * depth, "0", 4, 1, "first"),
    ]
    found = []
    for m, n, k, beta, groups, streamed, order in sizes:
        numbers, workspace = split(m, n, k, groups, streamed)
        pieces = Split(rows, columns, depth, numbers["streamed"], numbers["chunk"])
        found.append(
            Launch(
                m, n, k, beta, (groups, 1, 1), threads, (*LADDER, "workspace", *numbers), numbers, workspace // 4,
                counters // 4, pieces, order, trans_a, trans_b,
            )
        )  # fmt: skip
    return tuple(found)
