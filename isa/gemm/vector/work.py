"""Work of a stream-K launch: sizes -> the tiles and pieces of each workgroup.

All tiles of C stand in a row, numbered along its rows, or in the order of `isa.gemm.matrix.order`; a tile is K blocks,
`blocks` of them. The first `streamed` tiles are a line of `streamed * blocks` K blocks that is cut into equal ranges of
`chunk` (stream-K). The other tiles are whole. The first `dealt` workgroups have whole tiles: workgroup i takes tiles
streamed + i, streamed + i + dealt, ... Those after them have a range each.

A range is done from its end to its beginning, piece by piece, a piece being what lies in one tile: first the head of
its last tile, then whole tiles, at last the tail of its first tile, by when those with the earlier parts of that tile
have most likely done them.

Every split is one of these: streamed = tiles is stream-K, with s ranges a tile split-K; streamed = 0 with few
workgroups is a kernel whose workgroups stay. `filling` says which is taken.

**Workspace.** COUNTERS bytes of counters, one for each wave of a tile in pieces, then a slot for each piece: piece of
range i in tile t has slot i + t, as along the line each next piece has the next range, or tile, or both. The counters
must be 0 when a launch begins, and are when it has ended; slots may hold anything. Two launches that may run at once
need two.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt
from typing import Protocol

from isa.errors import IsaError
from isa.registers import LANES

COUNTERS = 65536
"""Bytes of counters at the start of a workspace: room for tiles in pieces, and the same place at any split."""
ARGUMENTS = 36
"""Bytes of a stream-K kernel's further arguments."""
LARGEST_GRID_Y = 65535
"""Workgroups in y: HIP's limit, and RDNA4 counts them in 16 bits."""
_MOST_BLOCKS = 2**31 - 1


class Tiled(Protocol):
    """What of a kernel's parameters a split depends on: `Parameters`, or `MatrixParameters`."""

    @property
    def rows(self) -> int: ...
    @property
    def columns(self) -> int: ...
    @property
    def depth(self) -> int: ...
    @property
    def waves(self) -> int: ...


class WorkError(IsaError, ValueError):
    """A split that no launch can have."""


def most_tiles(p: Tiled) -> int:
    """Of C: tiles and workgroups are counted in 31 bits, and workgroups in one row have less than 2^32 work-items."""
    return min(2**30, 2**32 // (LANES * p.waves) - COUNTERS) - 1


def slot_bytes(p: Tiled) -> int:
    """The sums of a workgroup."""
    return 4 * p.rows * p.columns


@dataclass(frozen=True)
class Work:
    """One launch.

    across:   tiles in a row of C.
    tiles:    of C.
    blocks:   K blocks of a tile, 1 at least.
    streamed: tiles that may be done in pieces; the others are done whole.
    dealt:    workgroups that have whole tiles.
    ranges:   workgroups that have a range.

    Raises WorkError, which says what would do.
    """

    p: Tiled
    across: int
    tiles: int
    blocks: int
    streamed: int
    dealt: int
    ranges: int

    def __post_init__(self) -> None:
        if self.blocks < 1:
            raise WorkError("a tile has K blocks", expected="blocks = 1 or more", got=str(self.blocks))
        most = min(self.tiles, most_streamed(self.p, self.blocks))
        if not 0 <= self.streamed <= most:
            raise WorkError("too many tiles in pieces", expected=f"0 to {most}", got=str(self.streamed))
        whole = self.tiles - self.streamed
        for name, found, tiles in (("dealt", self.dealt, whole), ("ranges", self.ranges, self.streamed)):
            if not min(1, tiles) <= found < 2**30 or self.tiles >= 2**30:
                raise WorkError(
                    f"a launch cannot have this many workgroups, {name}",
                    expected=f"{min(1, tiles)} or more",
                    got=str(found),
                )
        # Those of the grid that have no range find that out from where it would begin.
        x, y, _ = self.grid
        if self.streamed and (x * y - self.dealt) * self.chunk >= 2**32:
            raise WorkError(
                "ranges of this many K blocks cannot be distinguished from those of workgroups that have none",
                expected=f"chunk below {-(-(2**32) // (x * y - self.dealt))}", got=str(self.chunk),
            )  # fmt: skip

    @staticmethod
    def of(p: Tiled, m: int, n: int, k: int, groups: int, streamed: int | None = None) -> Work:
        """So many workgroups; where there are tiles of both kinds, half of them for each. streamed: if None, what
        rounds of so many leave over."""
        across, blocks = -(-n // p.columns), max(1, -(-k // p.depth))
        tiles = -(-m // p.rows) * across
        if streamed is None:
            streamed = min(tiles % groups, most_streamed(p, blocks))
        dealt = 0 if streamed == tiles else groups if not streamed else groups - groups // 2
        return Work(p, across, tiles, blocks, streamed, dealt, groups - dealt)

    @staticmethod
    def filling(p: Tiled, m: int, n: int, k: int, cus: int) -> Work:
        """For a card with so many CUs. The card starts workgroups in order, each where one has ended: so those that the
        SIMDs favour do more, and the small ranges at the end even it out. Found on the cycle model: a workgroup for
        each whole tile, as many as fill all CUs alike; half a round or more of tiles after them, cut into ranges three
        for a tile, or two for each CU where that is more.

        Whoever adds up a tile makes a round trip to memory for each other piece. So of s ranges a tile, blocks / s K
        blocks and s trips take least time where s is in proportion to the root of blocks; a trip takes about as long as
        four K blocks, which makes root / 2. Where that makes between one and two ranges for each CU, some would have
        two and others one: beside whole tiles, which hide its waits, each has one that is longer."""
        across, blocks = -(-n // p.columns), max(1, -(-k // p.depth))
        tiles = -(-m // p.rows) * across
        streamed = tiles % cus
        if 2 * streamed < cus:
            streamed = min(tiles, streamed + cus)
        streamed = min(streamed, most_streamed(p, blocks))
        ranges = max(streamed, min(max(3 * streamed, 2 * cus), streamed * (isqrt(blocks) // 2)))
        if streamed < tiles and cus < ranges < 2 * cus:
            ranges = max(streamed, cus)
        chunk = -(-streamed * blocks // max(1, ranges))
        return Work(p, across, tiles, blocks, streamed, tiles - streamed, -(-streamed * blocks // max(1, chunk)))

    @property
    def groups(self) -> int:
        """Workgroups that have something to do."""
        return self.dealt + self.ranges

    @property
    def grid(self) -> tuple[int, int, int]:
        """Workgroup (x, y) has number y * across + x, so that neighbours in C are neighbours in the grid; where these
        are too many rows all stand in one."""
        rows = -(-self.groups // self.across)
        return (self.across, rows, 1) if self.dealt and rows <= LARGEST_GRID_Y else (self.groups, 1, 1)

    @property
    def chunk(self) -> int:
        """K blocks of a range."""
        return -(-self.streamed * self.blocks // self.ranges) if self.streamed else 1

    @property
    def most_pieces(self) -> int:
        """Of a tile."""
        return min(self.blocks, -(-self.blocks // self.chunk) + 1) if self.streamed else 1

    @property
    def workspace_bytes(self) -> int:
        """What the launch needs, counters and slots."""
        return COUNTERS + (self.ranges + self.streamed) * slot_bytes(self.p) if self.streamed else COUNTERS

    @property
    def numbers(self) -> dict[str, int]:
        """The kernel's arguments after the workspace, by name, in their order: the split, and reciprocals of divisors
        (`stream_k.divide`)."""
        by = {
            f"by_{name}": (2**32 - 1) // n
            for name, n in (("across", self.across), ("blocks", self.blocks), ("chunk", self.chunk))
        }
        return {"dealt": self.dealt, "streamed": self.streamed, "chunk": self.chunk, **by}

    def check_size(self, m: int, n: int, k: int) -> None:
        """WorkError unless this is a split of C (M x N) with sums of K products: the kernel counts tiles and K blocks
        itself, and goes astray where the split counts others."""
        across = -(-n // self.p.columns)
        expected = {"across": across, "tiles": -(-m // self.p.rows) * across, "blocks": max(1, -(-k // self.p.depth))}
        for name, right in expected.items():
            if (found := getattr(self, name)) != right:
                raise WorkError(
                    f"this is not a division of {m} x {n} x {k}", expected=f"{name} = {right}", got=f"{name} = {found}"
                )

    def arguments(self, sizes: tuple[int, int, int], workspace: int) -> bytes:
        """All arguments after those of every rung, as they lie in memory. sizes: M, N and K, WorkError where the split
        is for others; workspace: its address."""
        self.check_size(*sizes)
        return struct.pack("<4xQ6I", workspace, *self.numbers.values())

    def pieces(self, group: int) -> Iterator[tuple[int, int, int]]:
        """(tile, first K block, K blocks) of what a workgroup does, in its order."""
        if group < self.dealt:
            for tile in range(self.streamed + group, self.tiles, self.dealt):
                yield tile, 0, self.blocks
            return
        total = self.streamed * self.blocks
        begin = min((group - self.dealt) * self.chunk, total)
        end = min(begin + self.chunk, total)
        while end > begin:
            tile = (end - 1) // self.blocks
            start = max(begin, tile * self.blocks)
            yield tile, start - tile * self.blocks, end - start
            end = start

    def parts(self, tile: int) -> list[tuple[int, int]]:
        """(first K block, K blocks) of each part of a tile, in ascending k: the order of sums."""
        if tile >= self.streamed:
            return [(0, self.blocks)]
        first, end = tile * self.blocks, (tile + 1) * self.blocks
        cuts = [first, *range((first // self.chunk + 1) * self.chunk, end, self.chunk), end]
        return [(cut - first, after - cut) for cut, after in pairwise(cuts)]


def most_streamed(p: Tiled, blocks: int) -> int:
    """How many tiles may be done in pieces: each wave of them has a counter, and K blocks are counted in 31 bits."""
    return min(COUNTERS // (4 * p.waves), _MOST_BLOCKS // blocks)
