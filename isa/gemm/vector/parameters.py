"""Parameters of a fp32 GEMM kernel: the numbers that it is generated from, and what must hold between them.

A workgroup computes a tile of C, `rows` x `columns`. `depth` columns of A and rows of B lie in LDS at a time: a K
block. A wave covers its part of the tile with 32 lanes as a grid of `lane_rows` x (32 / lane_rows). A lane adds up
`thread_rows` x `thread_columns` elements in groups of 4 x 4 neighbours: four neighbours of A or B are two ds_load_b64
that the lanes of a wave read without bank conflicts, four of C are one global_store_b128.

How A and B lie in memory and are fetched: see sides.py. LDS holds a K block as `depth` rows of A, then as many of B.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from isa.analysis.resources import LDS_PER_CU
from isa.errors import IsaError
from isa.gemm.text import is_power_of_two
from isa.gemm.vector.sides import Side
from isa.registers import LANES

WAVE = LANES
GROUP = 4
"""Neighbouring rows, or columns, that one lane holds."""
_DEPTHS = (4, 8, 16, 32)
_WIDTHS = (1, 2, 4)
MOST_THREADS = 1024
LARGEST_INT = 2**31 - 1
_STRIDE64 = 256
"""Bytes that LDS buffers are aligned to."""


class ParameterError(IsaError, ValueError):
    """No kernel has these parameters."""


@dataclass(frozen=True)
class Parameters:
    """One GEMM kernel.

    rows, columns, depth: of the workgroup's tile (BM, BN, BK).
    thread_rows, thread_columns: what one lane computes.
    lane_rows: how many of a wave's 32 lanes lie one below the other.
    group:     steps of k whose LDS loads are issued together, before the FMAs of the first.
    stages:    LDS buffers. With one, a K block ends with two barriers; with two, the next K block is stored beside the
               present one, and one barrier is left.
    trans_a:   A lies in memory as K x M, the matrix that is multiplied is its transpose; else M x K.
    trans_b:   B lies in memory as N x K; else K x N.
    stream_k:  workgroups take tiles and pieces of tiles, as isa/gemm/vector/work.py says; else one tile each.
    width_a, width_b: elements of A and B that a thread fetches with one global load.

    Raises ParameterError, which names the parameter and what it may be.
    """

    rows: int = 128
    columns: int = 128
    depth: int = 8
    thread_rows: int = 8
    thread_columns: int = 16
    lane_rows: int = 4
    group: int = 2
    stages: int = 2
    trans_a: bool = False
    trans_b: bool = False
    stream_k: bool = False
    width_a: int = 1
    width_b: int = 1

    def __post_init__(self) -> None:
        def must(holds: bool, what: str, expected: str, got: object) -> None:
            if not holds:
                raise ParameterError(f"no GEMM kernel has such {what}", expected=expected, got=str(got))

        for name in ("thread_rows", "thread_columns"):
            value = getattr(self, name)
            must(value > 0 and value % GROUP == 0, name, f"a multiple of {GROUP}", value)
        must(self.lane_rows in (1, 2, 4, 8, 16, 32), "lane_rows", f"a divisor of {WAVE}", self.lane_rows)
        must(self.depth in _DEPTHS, "depth", f"one of {_DEPTHS}", self.depth)
        must(
            self.group > 0 and self.depth % self.group == 0,
            "group", f"a divisor of the depth {self.depth}", self.group,
        )  # fmt: skip
        must(self.stages in (1, 2), "stages", "1 or 2", self.stages)
        rows, columns = self.wave_tile
        must(
            self.rows > 0 and self.columns > 0 and self.rows % rows == 0 and self.columns % columns == 0,
            "rows and columns", f"multiples of a wave's tile, {rows} x {columns}", f"{self.rows} x {self.columns}",
        )  # fmt: skip
        must(
            self.threads <= MOST_THREADS and is_power_of_two(self.waves) and is_power_of_two(self.columns // columns),
            "a number of waves", f"a power of two in rows and columns, {MOST_THREADS // WAVE} at most", self.waves,
        )  # fmt: skip
        for side, name in zip(self.sides, ("rows", "columns"), strict=True):
            width = f"width_{side.name.lower()}"
            must(side.width in _WIDTHS, width, f"one of {_WIDTHS}", side.width)
            must(side.line % side.width == 0, width, f"a divisor of {side.line}", side.width)
            must(side.sweeps, name, f"whole sweeps of the {self.threads} threads over {side.name}", side.extent)
        must(self.lds_bytes <= LDS_PER_CU, "LDS", f"at most {LDS_PER_CU} bytes", f"{self.lds_bytes} bytes")

    @cached_property
    def lane_columns(self) -> int:
        return WAVE // self.lane_rows

    @cached_property
    def wave_tile(self) -> tuple[int, int]:
        """Rows and columns of C that a wave computes."""
        return self.lane_rows * self.thread_rows, self.lane_columns * self.thread_columns

    @property
    def wave_columns(self) -> int:
        """How many waves lie side by side."""
        return self.columns // self.wave_tile[1]

    @cached_property
    def waves(self) -> int:
        return self.rows // self.wave_tile[0] * self.wave_columns

    @cached_property
    def threads(self) -> int:
        return WAVE * self.waves

    @cached_property
    def a(self) -> Side:
        return Side("A", self.rows, self.depth, self.threads, not self.trans_a, self.width_a)

    @cached_property
    def b(self) -> Side:
        return Side("B", self.columns, self.depth, self.threads, self.trans_b, self.width_b)

    @property
    def sides(self) -> tuple[Side, Side]:
        return self.a, self.b

    @property
    def start_b(self) -> int:
        """Where B begins in an LDS buffer."""
        return self.a.bytes

    @property
    def stage_bytes(self) -> int:
        """Of one LDS buffer."""
        return -(-(self.start_b + self.b.bytes) // _STRIDE64) * _STRIDE64

    @property
    def lds_bytes(self) -> int:
        return self.stages * self.stage_bytes

    @property
    def largest(self) -> tuple[int, int, int]:
        """The most that M, N and K may be: byte offsets within a tile, of A, B and C, have 32 bits."""
        most = {"M": LARGEST_INT, "N": 2**32 // (4 * self.rows) - 1, "K": LARGEST_INT}
        for side, outer in zip(self.sides, "MN", strict=True):
            letter = "K" if side.along_k else outer
            most[letter] = min(most[letter], side.longest_line)
        return most["M"], most["N"], most["K"]

    def row_of(self, i: int) -> int:
        """The row of C, after the lane's first one, of its row `i`."""
        return i // GROUP * self.lane_rows * GROUP + i % GROUP

    def column_of(self, j: int) -> int:
        return j // GROUP * self.lane_columns * GROUP + j % GROUP
