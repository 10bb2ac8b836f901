"""One launch of a GEMM kernel, and the memory that it may touch: A, B, C, the arguments and, where the kernel has one,
a workspace. Where they lie is not known (see `pointers`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from isa.prove.definition import halves, weights
from isa.prove.definition.epilogue import PLAIN, VECTORS, Epilogue
from isa.prove.definition.names import Names, leaves
from isa.prove.definition.narrow import BYTES, PACK, NarrowMatrix
from isa.prove.definition.weights import FORMATS, WEIGHTS

Beta = Literal["0", "-0", "any"]
Order = Literal["together", "first", "last"]
MATRICES = ("A", "B", "C")
POINTERS = (*MATRICES, "workspace", *VECTORS, *WEIGHTS)
LADDER = ("A", "B", "C", "M", "N", "K", "alpha", "beta")
"""The arguments in their order; pointers take 8 bytes, all others 4."""
ALPHA, BETA, BETA_SIZE, UNWRITTEN, OPEN, ELSEWHERE = (leaves(1, 6)[:, i] for i in range(6))
"""BETA: a beta that is neither 0 nor -0. BETA_SIZE: its bits but the sign, hence not 0. UNWRITTEN: what a register or
LDS holds before it is written. OPEN: what is not known for every K (see `induction`). ELSEWHERE: an element that is not
held (see Part)."""
LINES = ("lda", "ldb", "ldc")
STRIDES = ("stride_a", "stride_b", "stride_c")
"""Arguments of kernels that take a batch; those of 8 bytes."""
ELEMENTS = dict(zip((*MATRICES, *VECTORS, "weight_scales"), range(16, 23), strict=True))
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
class Shares:
    """How waves share k out, as `isa.gemm.gemv` states it for its kernels: of blocks of `depth` steps wave w takes the
    blocks w, w + waves, ... Each has a sum of its own, from 0, and C's is ((first + second) + third) ... Weights of a
    format (`weights.FORMATS`, "" for A's type) with groups: a group's sum, from 0, goes to the wave's times its scale,
    by a fused multiply-add.
    """

    waves: int
    depth: int
    weights: str = ""

    def __str__(self) -> str:
        """How sums are taken, for people."""
        of = FORMATS.get(self.weights)
        scaled = f", those of {of.group} steps times their scale" if of and of.group else ""
        weights_ = f"of {self.weights} weights " if of else ""
        by = f"by {self.waves} waves in turn and then" if self.waves > 1 else "by one wave"
        return f"{weights_}by v_wmma{scaled}, blocks of {self.depth} steps {by} in ascending order"


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
    factor:    type of A's and B's elements, a key of narrow.BYTES. half_sums: sums have that type, of 16 bits, too.
    epilogue:  type of C, and what becomes of sums. If C is i32, so are alpha and beta.
    layer:     of kernels that take a batch, and leading dimensions; None: lines stand one after the other.
    shares:    of kernels whose waves share k out; B may hold weights of a format then.
    quads:     the matrix units add as RDNA4's do (`narrow.QUADS`).
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
    half_sums: bool = False
    epilogue: Epilogue = PLAIN
    layer: Layer | None = None
    shares: Shares | None = None
    quads: bool = False

    @property
    def weights(self) -> str:
        """The format of B, "" for A's type."""
        return self.shares.weights if self.shares else ""

    @property
    def grouped(self) -> bool:
        """Weights have scales of f16, each for some steps of k."""
        return bool(self.weights and FORMATS[self.weights].group)

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
        """A or B, whose elements are less than a dword, or the weights' zero points."""
        if matrix == "weight_zeros":
            return weights.zero_points(self.n, self.columns, self.k)
        if matrix == "B" and self.weights:
            return weights.stored(self.weights, self.n, self.columns, self.k)
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
            c = self._c()
            if self.weights:
                order = weights.in_order(self.weights, self.k)
                b = weights.words(self.weights, self.n, self.columns, self.k)
                return {"A": self.narrow_matrix("A").words(order), "B": b, "C": c}
            return {"A": self.narrow_matrix("A").words(), "B": self.narrow_matrix("B").words().swapaxes(1, 2), "C": c}
        return {
            matrix: leaves(ELEMENTS[matrix], height * width).reshape(2, height, width)
            for matrix, height, width in (("A", rows, self.k), ("B", self.k, columns))
        } | {"C": self._c()}

    def _c(self) -> Names:
        rows, columns = len(self.rows), len(self.columns)
        c = leaves(ELEMENTS["C"], rows * columns).reshape(2, rows, columns)
        return halves.entries(halves.of_entries(c)) if self.narrow and self.epilogue.halves else c

    def stored(self) -> dict[str, Names]:
        """The same in the order of memory, (2, dwords); without A and B that have narrow elements."""
        turned = {"A": self.trans_a, "B": self.trans_b, "C": False}
        elements = {"C": self._c()} if self.narrow else self.elements()
        return {
            matrix: (names.swapaxes(1, 2) if turned[matrix] else names).reshape(2, -1)
            for matrix, names in elements.items()
        } | {name: names.reshape(2, -1) for name, names in (self.vectors() | self.scales()).items()}

    def vectors(self) -> dict[str, Names]:
        """Of the epilogue, as far as they are held, as they broadcast to C."""
        held = {name: self.rows if name == "row_scale" else self.columns for name in self.epilogue.vectors}
        return {
            name: leaves(ELEMENTS[name], len(of)).reshape((2, -1, 1) if name == "row_scale" else (2, 1, -1))
            for name, of in held.items()
        }

    def scales(self) -> dict[str, Names]:
        """Those of weights, (2, rows of weights that are held, scales of each); of f16 as memory holds them."""
        if not self.weights:
            return {}
        count = weights.scales(self.weights, self.k)
        found = leaves(ELEMENTS["weight_scales"], len(self.columns) * count).reshape(2, len(self.columns), count)
        return {"weight_scales": halves.entries(halves.of_entries(found)) if self.grouped else found}

    def lines(self, kind: str) -> tuple[int, int, range, range]:
        """Of a matrix as it lies in memory: lines, elements of each, and which lines, and of these which elements, are
        held."""
        m, n, k = (self.m, self.rows), (self.n, self.columns), (self.k, range(self.k))
        if kind == "weight_scales":
            count = weights.scales(self.weights, self.k)
            return self.n, count, self.columns, range(count)
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
