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
from numpy.typing import NDArray

from isa.check.spec_proof import halves
from isa.check.spec_proof.epilogue import PLAIN, VECTORS, Epilogue
from isa.check.spec_proof.names import Names, leaves
from isa.check.spec_proof.narrow import BYTES, PACK, NarrowMatrix
from isa.check.spec_proof.pointers import words

Beta = Literal["0", "-0", "any"]
Order = Literal["together", "first", "last"]
MATRICES = ("A", "B", "C")
POINTERS = (*MATRICES, "workspace", *VECTORS)
LADDER = ("A", "B", "C", "M", "N", "K", "alpha", "beta")
"""The arguments in their order; pointers take 8 bytes, all others 4."""
ALPHA, BETA, BETA_SIZE, UNWRITTEN, OPEN, ELSEWHERE = (leaves(1, 6)[:, i] for i in range(6))
"""BETA: a beta that is neither 0 nor -0. BETA_SIZE: its bits but the sign, hence not 0. UNWRITTEN: what a register or
LDS holds before it is written. OPEN: what is not known for every K (see `induction`). ELSEWHERE: an element that is not
held (see Part)."""
LINES = ("lda", "ldb", "ldc")
STRIDES = ("stride_a", "stride_b", "stride_c")
"""Arguments of kernels that take a batch; those of 8 bytes."""
_WIDEST = 16
"""Dwords that one load takes at most."""
ELEMENTS = dict(zip((*MATRICES, *VECTORS), range(16, 22), strict=True))
"""The tags of the matrices' elements, which are numbered row by row (`names.leaves`), and of vectors'."""


@dataclass(frozen=True)
class Split:
    """Which sums over k are taken in pieces, as `isa.gemm` states it for its stream-K kernels.

    C's tiles of rows x columns are numbered along its rows. K lies in blocks of `depth`, of which the first holds what
    is left over; there is one at least. The K blocks of the first `streamed` tiles stand in a line, which is cut at the
    multiples of `chunk`. With `group` > 1 tiles are numbered as `number_of` says. A tile in pieces is the sum of
    its pieces' sums in ascending k: ((first + second) + third) ...
    """

    rows: int
    columns: int
    depth: int
    streamed: int
    chunk: int
    group: int = 1

    def blocks(self, k: int) -> int:
        """K blocks of a tile."""
        return max(1, -(-k // self.depth))

    def pieces(self, row: int, column: int, m: int, n: int, k: int) -> list[tuple[int, int]]:
        """(first k, the one after the last) of each piece of a tile."""
        blocks = self.blocks(k)
        tile = number_of(row, column, m, -(-n // self.columns), self.rows, self.group)
        line = range(tile * blocks, (tile + 1) * blocks)
        cuts = [i - line.start for i in line if i % self.chunk == 0 and i > line.start] if tile < self.streamed else []
        steps = [0, *(k - (blocks - cut) * self.depth for cut in cuts), k]
        return list(pairwise(steps))


def number_of(row: int, column: int, m: int, across: int, rows: int, group: int) -> int:
    """Of a tile, where groups of so many rows of tiles are numbered column by column. across: tiles in a row of C."""
    first = row - row % group
    if (first + group - 1) * rows >= m:
        return row * across + column
    return first * across + column * group + row % group


@dataclass(frozen=True)
class Layer:
    """One matrix of a batch, all that is followed of it. number: z of its workgroups. lines: elements from one line of
    A, B and C to the next; strides: from the first matrix of a batch to the second; both as they lie in memory, and
    arguments of the kernel (LINES, STRIDES). The pointers are those of the first matrix; what is held is this one's.
    """

    number: int
    lines: tuple[int, int, int]
    strides: tuple[int, int, int]


@dataclass(frozen=True)
class Part:
    """What is followed of a launch that is too large to follow.

    name:    of it, for people.
    groups:  numbers of the workgroups that run.
    rows, columns: of C that are held in memory, and so those of A and of B. What is loaded of A, B and C elsewhere is
             not known; nothing may be stored there.
    whole:   rows and columns, among these, that the workgroups finish. They store nothing to the others.
    slots:   dwords of the workspace after its counters that come before those that are held.
    """

    name: str
    groups: Sequence[int]
    rows: range
    columns: range
    whole: tuple[range, range]
    slots: int = 0


@dataclass(frozen=True)
class SymbolicLaunch:
    """Sizes, what is known of beta ("any": that it is neither 0 nor -0), workgroups in (x, y, z), threads of one.

    arguments: their names in order, each one of POINTERS, M, N, K, alpha, beta or a key of `numbers`.
    numbers:   other integer arguments; None for what is not known, as it depends on K.
    trans_a, trans_b: A lies in memory as K x M, B as N x K, row by row. What is said of elements is of A and B as they
    are multiplied.
    workspace: dwords of memory that the kernel may use; the first `zeroed` of them are 0 before and after the launch.
    split:     which sums are taken in pieces; None for none.
    order:     how workgroups run: together, or one after another, the first or the last first.
    part:      of a launch that is too large to follow: what is followed; None: all of it.
    factor:    type of A's and B's elements, a key of narrow.BYTES.
    epilogue:  type of C, and what becomes of sums. If C is i32, so are alpha and beta.
    layer:     of kernels that take a batch, and leading dimensions; None: lines stand one after the other.
    """

    m: int
    n: int
    k: int
    beta: Beta
    grid: tuple[int, int, int]
    block: int
    arguments: Sequence[str] = LADDER
    numbers: Mapping[str, int | None] = field(default_factory=dict)
    workspace: int = 0
    zeroed: int = 0
    split: Split | None = None
    order: Order = "together"
    trans_a: bool = False
    trans_b: bool = False
    part: Part | None = None
    factor: str = "f32"
    epilogue: Epilogue = PLAIN
    layer: Layer | None = None

    @property
    def narrow(self) -> bool:
        """Elements of A and B are less than a dword."""
        return BYTES[self.factor] < 4

    @property
    def elements_of_name(self) -> int:
        """Elements of A and B that one name stands for."""
        return 4 // BYTES[self.factor]

    def name_of(self, k: int) -> int:
        """The name along k that this step is the first of: of words, zeros stand before the first step."""
        each = self.elements_of_name
        return 0 if not k else -(-self.units // each) - (self.k - k) // self.pack // each

    @property
    def pack(self) -> int:
        """Steps of k that lie together in memory."""
        return PACK.get(self.factor, 1)

    @property
    def units(self) -> int:
        """Elements of a row of A, as they lie in memory."""
        return self.k // self.pack

    def narrow_matrix(self, matrix: str) -> NarrowMatrix:
        """A or B, whose elements are less than a dword."""
        if matrix == "A":
            return NarrowMatrix.of(
                "A", self.m, self.rows, self.units, self.factor, not self.trans_a, self.pitch("A", 0)
            )
        return NarrowMatrix.of("B", self.n, self.columns, self.units, self.factor, self.trans_b, self.pitch("B", 0))

    def pitch(self, matrix: str, tight: int) -> int:
        """Elements from one of its lines to the next. tight: where they stand one after the other."""
        return self.layer.lines[MATRICES.index(matrix)] if self.layer else tight

    @property
    def rows(self) -> range:
        """Rows of A and C that are held."""
        return range(self.m) if self.part is None else self.part.rows

    @property
    def columns(self) -> range:
        """Columns of B and C that are held."""
        return range(self.n) if self.part is None else self.part.columns

    @property
    def finished(self) -> NDArray[np.bool_]:
        """Of each element of C that is held, whether the workgroups that run store it."""
        found = np.zeros((len(self.rows), len(self.columns)), bool)
        rows, columns = (self.rows, self.columns) if self.part is None else self.part.whole
        top, left = self.rows.start, self.columns.start
        found[rows.start - top : rows.stop - top, columns.start - left : columns.stop - left] = True
        return found

    def elements(self) -> dict[str, Names]:
        """The names of the elements of each matrix, (2, rows, columns), as far as it is held. Of A and B with narrow
        elements: of the words along k."""
        rows, columns = len(self.rows), len(self.columns)
        if self.narrow:
            c = leaves(ELEMENTS["C"], rows * columns).reshape(2, rows, columns)
            c = halves.entries(halves.of_entries(c)) if self.epilogue.halves else c
            return {"A": self.narrow_matrix("A").words(), "B": self.narrow_matrix("B").words().swapaxes(1, 2), "C": c}
        return {
            matrix: leaves(ELEMENTS[matrix], height * width).reshape(2, height, width)
            for matrix, height, width in (("A", rows, self.k), ("B", self.k, columns), ("C", rows, columns))
        }

    def stored(self) -> dict[str, Names]:
        """The same in the order of memory, (2, dwords); without A and B that have narrow elements."""
        turned = {"C": False} if self.narrow else {"A": self.trans_a, "B": self.trans_b, "C": False}
        return {
            matrix: (names.swapaxes(1, 2) if turned[matrix] else names).reshape(2, -1)
            for matrix, names in self.elements().items()
            if matrix in turned
        } | {name: names.reshape(2, -1) for name, names in self.vectors().items()}

    def vectors(self) -> dict[str, Names]:
        """Of the epilogue, as far as they are held, as they broadcast to C."""
        held = {name: self.rows if name == "row_scale" else self.columns for name in self.epilogue.vectors}
        return {
            name: leaves(ELEMENTS[name], len(of)).reshape((2, -1, 1) if name == "row_scale" else (2, 1, -1))
            for name, of in held.items()
        }

    def lines(self, kind: str) -> tuple[int, int, range, range]:
        """Of a matrix as it lies in memory: lines, elements of each, and which lines, and of these which elements, are
        held."""
        m, n, k = (self.m, self.rows), (self.n, self.columns), (self.k, range(self.k))
        if kind in VECTORS:
            outer, inner = (1, range(1)), m if kind == "row_scale" else n
            return outer[0], inner[0], outer[1], inner[1]
        outer, inner = {"A": (m, k), "B": (k, n), "C": (m, n)}[kind]
        if (kind == "A" and self.trans_a) or (kind == "B" and self.trans_b):
            outer, inner = inner, outer
        return outer[0], inner[0], outer[1], inner[1]

    @property
    def followed(self) -> Sequence[int]:
        """The numbers of the workgroups that run."""
        x, y, z = self.grid
        return range(x * y * z) if self.part is None else self.part.groups

    @property
    def groups(self) -> int:
        """How many run."""
        return len(self.followed)

    @property
    def ids(self) -> list[tuple[int, int, int]]:
        """(x, y, z) of each of them."""
        x, y, _ = self.grid
        layer = self.layer.number if self.layer else 0
        return [(i % x, i // x % y, layer + i // x // y) for i in self.followed]

    def __str__(self) -> str:
        x, y, z = self.grid
        groups = f" by {x * y * z} workgroups" if self.split else ""
        return f"{self.m} x {self.n} x {self.k}{groups}" + ("" if self.part is None else f", {self.part.name}")


@dataclass(frozen=True)
class Buffer:
    """A buffer of `dwords`, or of so many elements of 16 bits, of which not all need be held: the first `front`, and in
    lines of `line` dwords the `columns` of the `lines`. In Memory they lie one after the other from `start` on, `held`
    of them. width: dwords of a line that are the matrix's."""

    dwords: int
    start: int
    held: int
    line: int
    lines: range
    columns: range
    front: int = 0
    width: int = 0

    @property
    def whole(self) -> bool:
        return self.held == self.dwords


@dataclass(frozen=True)
class Places:
    """The buffers of one kind, one of each launch: fields of Buffer, lines and columns by the first and the one after
    the last. whole: all are held whole."""

    whole: bool
    dwords: NDArray[np.int64]
    start: NDArray[np.int64]
    line: NDArray[np.int64]
    top: NDArray[np.int64]
    bottom: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    front: NDArray[np.int64]
    width: NDArray[np.int64]

    @staticmethod
    def of(buffers: Sequence[Buffer]) -> Places:
        numbers = [
            (
                b.dwords,
                b.start,
                max(1, b.line),
                b.lines.start,
                b.lines.stop,
                b.columns.start,
                b.columns.stop,
                b.front,
                b.width or max(1, b.line),
            )
            for b in buffers
        ]
        return Places(all(b.whole for b in buffers), *np.array(numbers, np.int64).T)


class SymbolicMemory:
    """All dwords that the launches may touch, by name, and what became of each.

    names:  (2, dwords). The last ones, from `elsewhere` on, stand for all that is not held.
    stored: instruction that stored the dword, plus one; 0 where none did.
    by:     the lane that did, counted over all waves.
    places: where the buffers of each kind lie.
    narrow: the matrices whose elements are less than a dword, of all launches: they are no dwords here.
    halves: the same of which each element has a name here.
    """

    def __init__(self, launches: Sequence[SymbolicLaunch]) -> None:
        self.launches = launches
        self.narrow = ("A", "B") if any(launch.narrow for launch in launches) else ()
        self.halves = ("C",) if launches[0].epilogue.halves else ()
        self.buffers: list[dict[str, Buffer]] = []
        parts: list[Names] = []
        start = 0
        for launch in launches:
            mine = {}
            for kind, names in _contents(launch).items():
                mine[kind] = _buffer(launch, kind, start, names.shape[1])
                parts.append(names)
                start += names.shape[1]
            self.buffers.append(mine)
        self.places = {kind: Places.of([mine[kind] for mine in self.buffers]) for kind in self.buffers[0]}
        self.elsewhere = start
        parts.append(np.repeat(ELSEWHERE[:, None], _WIDEST, axis=1))
        self.names = np.concatenate(parts, axis=1)
        self.stored = np.zeros(start + _WIDEST, np.int32)
        self.by = np.zeros(start + _WIDEST, np.int64)
        for launch, mine in zip(launches, self.buffers, strict=True):
            at = mine["arguments"].start
            for offset, name in layout(launch.arguments):
                value = _words(name, launch)
                first = at + offset // 4
                self.names[:, first : first + value.shape[1]] = value

    def of(self, launch: int, kind: str) -> Names:
        """The names in a buffer, (2, dwords that are held)."""
        buffer = self.buffers[launch][kind]
        return self.names[:, buffer.start : buffer.start + buffer.held]

    def in_c(self, launch: int) -> tuple[Names, NDArray[np.int32], NDArray[np.int64]]:
        """Of the elements of C that are held, (rows, columns): their names, who stored them (see `stored`, `by`)."""
        buffer, of = self.buffers[launch]["C"], self.launches[launch]
        here, shape = slice(buffer.start, buffer.start + buffer.held), (len(of.rows), len(of.columns))
        return self.names[:, here].reshape(2, *shape), self.stored[here].reshape(shape), self.by[here].reshape(shape)


def _buffer(launch: SymbolicLaunch, kind: str, start: int, held: int) -> Buffer:
    if kind in (*MATRICES, *VECTORS):
        count, line, lines, columns = launch.lines(kind)
        pitch = launch.pitch(kind, line) if kind in MATRICES else line
        size = (count - 1) * pitch + line if count and line else 0
        return Buffer(size, start, held, pitch, lines, columns, width=line)
    front, slots = 0, launch.part.slots if launch.part and kind == "workspace" else 0
    if slots:
        front = launch.zeroed
    return Buffer(held + slots, start, held, 1, range(front + slots, held + slots), range(1), front)


def layout(arguments: Sequence[str]) -> list[tuple[int, str]]:
    """(offset in bytes, name) of each."""
    found, at = [], 0
    for name in arguments:
        size = argument_size(name)
        at += -at % size
        found.append((at, name))
        at += size
    return found


def argument_size(name: str) -> int:
    return 8 if name in POINTERS or name in STRIDES else 4


def argument_bytes(arguments: Sequence[str]) -> int:
    at, last = layout(arguments)[-1]
    return at + argument_size(last)


def _contents(launch: SymbolicLaunch) -> dict[str, Names]:
    found = launch.stored()
    found["arguments"] = np.zeros((2, -(-argument_bytes(launch.arguments) // 4)), np.uint64)
    slots = launch.part.slots if launch.part else 0
    found["workspace"] = np.repeat(UNWRITTEN[:, None], launch.workspace - slots, axis=1)
    found["workspace"][:, : launch.zeroed] = 0
    return found


def _words(name: str, launch: SymbolicLaunch) -> Names:
    """An argument's one or two dwords."""
    layer = launch.layer
    if name in POINTERS:
        if layer is None or name not in MATRICES:
            return words(name)
        bytes_ = BYTES[launch.factor] if name != "C" else 2 if launch.epilogue.halves else 4
        return words(name, -layer.number * layer.strides[MATRICES.index(name)] * bytes_)
    if layer and name in STRIDES:
        stride = layer.strides[STRIDES.index(name)]
        return np.concatenate([_constant(stride >> shift & 0xFFFFFFFF) for shift in (0, 32)], axis=1)
    if layer and name in LINES:
        return _constant(layer.lines[LINES.index(name)])
    if name == "alpha":
        return ALPHA[:, None]
    if name == "beta":
        if launch.epilogue.result == "i32" and launch.beta != "any":
            return _constant(0)
        if launch.beta == "any":
            return BETA[:, None]
        return _constant(struct.unpack("<I", struct.pack("<f", float(launch.beta)))[0])
    sizes = {"M": launch.m, "N": launch.n, "K": launch.k, **launch.numbers}
    value = sizes[name]
    return OPEN[:, None] if value is None else _constant(value & 0xFFFFFFFF)


def _constant(bits: int) -> Names:
    return np.array([[bits], [0]], np.uint64)
