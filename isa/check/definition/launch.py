"""One launch of a GEMM kernel, and the memory that it may touch: A, B, C, the arguments and, where the kernel has one,
a workspace. Where they lie is not known (see `pointers`).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

import numpy as np

from isa.check.definition.names import Names, leaves
from isa.check.definition.pointers import words

Beta = Literal["0", "-0", "any"]
Order = Literal["together", "first", "last"]
MATRICES = ("A", "B", "C")
POINTERS = (*MATRICES, "workspace")
LADDER = ("A", "B", "C", "M", "N", "K", "alpha", "beta")
"""The arguments in their order; pointers take 8 bytes, all others 4."""
ALPHA, BETA, BETA_SIZE, UNWRITTEN, OPEN = (leaves(1, 5)[:, i] for i in range(5))
"""BETA: a beta that is neither 0 nor -0. BETA_SIZE: its bits but the sign, hence not 0. UNWRITTEN: what a register or
LDS holds before it is written. OPEN: what is not known for every K (see `induction`)."""
ELEMENTS = dict(zip(MATRICES, (16, 17, 18), strict=True))
"""The tags of the matrices' elements, which are numbered row by row (`names.leaves`)."""


@dataclass(frozen=True)
class Split:
    """Which sums over k are taken in pieces, as `isa.gemm` states it for its stream-K kernels.

    C's tiles of rows x columns are numbered along its rows. K lies in blocks of `depth`, of which the first holds what
    is left over; there is one at least. The K blocks of the first `streamed` tiles stand in a line, which is cut at the
    multiples of `chunk`. A tile in pieces is the sum of its pieces' sums in ascending k: ((first + second) + third) ...
    """

    rows: int
    columns: int
    depth: int
    streamed: int
    chunk: int

    def blocks(self, k: int) -> int:
        """K blocks of a tile."""
        return max(1, -(-k // self.depth))

    def pieces(self, row: int, column: int, n: int, k: int) -> list[tuple[int, int]]:
        """(first k, the one behind the last) of each piece of a tile."""
        blocks = self.blocks(k)
        tile = row * -(-n // self.columns) + column
        line = range(tile * blocks, (tile + 1) * blocks)
        cuts = [i - line.start for i in line if i % self.chunk == 0 and i > line.start] if tile < self.streamed else []
        steps = [0, *(k - (blocks - cut) * self.depth for cut in cuts), k]
        return list(pairwise(steps))


@dataclass(frozen=True)
class Launch:
    """Sizes, what is known of beta ("any": that it is neither 0 nor -0), workgroups in (x, y, z), threads of one.

    arguments: their names in order, each one of POINTERS, M, N, K, alpha, beta or a key of `numbers`.
    numbers:   other integer arguments.
    trans_a, trans_b: A lies in memory as K x M, B as N x K, row by row. What is said of elements is of A and B as they
    are multiplied.
    workspace: dwords of memory that the kernel may use; the first `zeroed` of them are 0 before and after the launch.
    split:     which sums are taken in pieces; None for none.
    order:     how workgroups run: together, or one after another, the first or the last first.
    tile:      for launches that are too large to follow: only the workgroups with pieces of this tile run. It is the
               last one, all are in pieces and below one another, and A is not transposed. Of memory only what these
               workgroups may touch is held: rows of A and C and slots from the tile before on, with which the first of
               them begins. That one's tile is not finished.
    """

    m: int
    n: int
    k: int
    beta: Beta
    grid: tuple[int, int, int]
    block: int
    arguments: Sequence[str] = LADDER
    numbers: Mapping[str, int] = field(default_factory=dict)
    workspace: int = 0
    zeroed: int = 0
    split: Split | None = None
    order: Order = "together"
    trans_a: bool = False
    trans_b: bool = False
    tile: int | None = None

    @property
    def top(self) -> int:
        """The first row of A and C that is held."""
        return 0 if self.tile is None or self.split is None else (self.tile - 1) * self.split.rows

    @property
    def begun(self) -> int:
        """Rows of those that are held whose tile is not finished."""
        return 0 if self.tile is None or self.split is None else self.tile * self.split.rows - self.top

    @property
    def compared(self) -> int:
        """Elements of C that are compared with the definition."""
        return (self.m - self.top - self.begun) * self.n

    def elements(self) -> dict[str, Names]:
        """The names of the elements of each matrix, (2, rows, columns), as far as it is held."""
        shapes = {"A": (self.m - self.top, self.k), "B": (self.k, self.n), "C": (self.m - self.top, self.n)}
        return {
            matrix: leaves(ELEMENTS[matrix], rows * columns).reshape(2, rows, columns)
            for matrix, (rows, columns) in shapes.items()
        }

    def stored(self) -> dict[str, Names]:
        """The same in the order of memory, (2, dwords)."""
        turned = {"A": self.trans_a, "B": self.trans_b, "C": False}
        return {
            matrix: (names.swapaxes(1, 2) if turned[matrix] else names).reshape(2, -1)
            for matrix, names in self.elements().items()
        }

    @property
    def followed(self) -> range:
        """The numbers of the workgroups that run."""
        if self.tile is None or self.split is None:
            x, y, z = self.grid
            return range(x * y * z)
        blocks, chunk = self.split.blocks(self.k), self.split.chunk
        return range(self.tile * blocks // chunk, ((self.tile + 1) * blocks - 1) // chunk + 1)

    @property
    def groups(self) -> int:
        """How many run."""
        return len(self.followed)

    @property
    def ids(self) -> list[tuple[int, int, int]]:
        """(x, y, z) of each of them."""
        x, y, _ = self.grid
        return [(i % x, i // x % y, i // x // y) for i in self.followed]

    def holes(self) -> dict[str, tuple[int, int]]:
        """(first dword, dwords) of what is not held of a buffer."""
        if self.tile is None or self.split is None:
            return {}
        slot = self.followed.start + self.tile - 1
        slots = slot * self.split.rows * self.split.columns
        return {"A": (0, self.top * self.k), "C": (0, self.top * self.n), "workspace": (self.zeroed, slots)}

    def __str__(self) -> str:
        x, y, z = self.grid
        groups = f" by {x * y * z} workgroups" if self.split else ""
        return f"{self.m} x {self.n} x {self.k}{groups}" + ("" if self.tile is None else f", tile {self.tile}")


@dataclass(frozen=True)
class Buffer:
    """`dwords` of memory, without the `hole` from dword `gap` on; in Memory they lie from `start` on."""

    dwords: int
    start: int
    gap: int = 0
    hole: int = 0


class Memory:
    """All dwords that the launches may touch, by name, and what became of each.

    names:  (2, dwords).
    stored: instruction that stored the dword, plus one; 0 where none did.
    by:     the lane that did, counted over all waves.
    """

    def __init__(self, launches: Sequence[Launch]) -> None:
        self.launches = launches
        self.buffers: list[dict[str, Buffer]] = []
        parts: list[Names] = []
        start = 0
        for launch in launches:
            mine = {}
            for kind, names in _contents(launch).items():
                gap, hole = launch.holes().get(kind, (0, 0))
                mine[kind] = Buffer(names.shape[1] + hole, start, gap, hole)
                parts.append(names)
                start += names.shape[1]
            self.buffers.append(mine)
        self.names = np.concatenate(parts, axis=1)
        self.stored = np.zeros(start, np.int32)
        self.by = np.zeros(start, np.int64)
        for launch, mine in zip(launches, self.buffers, strict=True):
            at = mine["arguments"].start
            for offset, name in layout(launch.arguments):
                value = _words(name, launch)
                first = at + offset // 4
                self.names[:, first : first + value.shape[1]] = value

    def of(self, launch: int, kind: str) -> Names:
        """The names in a buffer, (2, dwords that are held)."""
        buffer = self.buffers[launch][kind]
        return self.names[:, buffer.start : buffer.start + buffer.dwords - buffer.hole]


def layout(arguments: Sequence[str]) -> list[tuple[int, str]]:
    """(offset in bytes, name) of each."""
    found, at = [], 0
    for name in arguments:
        size = 8 if name in POINTERS else 4
        at += -at % size
        found.append((at, name))
        at += size
    return found


def argument_bytes(arguments: Sequence[str]) -> int:
    at, last = layout(arguments)[-1]
    return at + (8 if last in POINTERS else 4)


def _contents(launch: Launch) -> dict[str, Names]:
    found = launch.stored()
    found["arguments"] = np.zeros((2, -(-argument_bytes(launch.arguments) // 4)), np.uint64)
    _, hole = launch.holes().get("workspace", (0, 0))
    found["workspace"] = np.repeat(UNWRITTEN[:, None], launch.workspace - hole, axis=1)
    found["workspace"][:, : launch.zeroed] = 0
    return found


def _words(name: str, launch: Launch) -> Names:
    """An argument's one or two dwords."""
    if name in POINTERS:
        return words(name)
    if name == "alpha":
        return ALPHA[:, None]
    if name == "beta":
        if launch.beta == "any":
            return BETA[:, None]
        return _constant(struct.unpack("<I", struct.pack("<f", float(launch.beta)))[0])
    sizes = {"M": launch.m, "N": launch.n, "K": launch.k, **launch.numbers}
    return _constant(sizes[name] & 0xFFFFFFFF)


def _constant(bits: int) -> Names:
    return np.array([[bits], [0]], np.uint64)
