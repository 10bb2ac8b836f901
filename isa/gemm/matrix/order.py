"""Order of tiles: a workgroup's number -> SGPRs `top` and `left`, the first row and column of its tile of C.

Workgroups start in the order of x, then y. In that order those that run at a time have whole rows of tiles, and read
all of B for a few rows of A. With `group` G they go down G rows of tiles before they go on to the next column:

     0  1  2  3  4        0  4  8 12 16       G = 4: of 4 workgroups that run at a time,
     5  6  7  8  9        1  5  9 13 17       one column of tiles and 4 rows
    10 11 12 13 14        2  6 10 14 18
    15 16 17 18 19        3  7 11 15 19
    20 21 22 23 24       20 21 22 23 24       fewer rows than G are left: as without

G is a power of two, so that all of it is shifts: workgroup (x, y) has number i = (y mod G) * across + x of its group,
row i mod G and column i / G of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from isa.gemm.matrix import frame
from isa.gemm.matrix.parameters import MatrixParameters
from isa.gemm.matrix.registers import SCALARS
from isa.gemm.text import log2
from isa.registers import Reg


def workgroup(p: MatrixParameters) -> Iterator[str]:
    """`top` and `left`, or what `tile` makes them from: y and x, before the arguments take their place."""
    if p.group == 1:
        yield from frame.place(p)
    else:
        yield f"s_mov_b32 {SCALARS.top}, {SCALARS.group_y}"
        yield f"s_mov_b32 {SCALARS.left}, {SCALARS.group_x}"


def tile(p: MatrixParameters) -> Iterator[str]:
    """When M and N are there."""
    if p.group > 1:
        yield from _grouped(p)


def tile_of(p: MatrixParameters, row: Reg, column: Reg) -> Iterator[str]:
    """`top` and `left` of the workgroup that stands in this row and column of a plain launch."""
    s = SCALARS
    if p.group == 1:
        yield f"s_mul_i32 {s.top}, {row}, {p.rows}"
        yield f"s_mul_i32 {s.left}, {column}, {p.columns}"
        return
    yield f"s_mov_b32 {s.top}, {row}"
    yield f"s_mov_b32 {s.left}, {column}"
    yield from _grouped(p)


def _grouped(p: MatrixParameters) -> Iterator[str]:
    s = SCALARS
    number, last, row = s.t.sub(0), s.t.sub(1), s.u
    yield f"s_add_i32 {number}, {s.n}, {p.columns - 1}"
    yield f"s_lshr_b32 {number}, {number}, {log2(p.columns)}"
    yield f"s_and_b32 {row}, {s.top}, {p.group - 1}"
    yield f"s_mul_i32 {number}, {number}, {row}"
    yield f"s_add_i32 {number}, {number}, {s.left}"
    yield f"s_or_b32 {last}, {s.top}, {p.group - 1}"
    yield f"s_mul_i32 {last}, {last}, {p.rows}"  # the first row of the group's last tiles
    yield f"s_and_b32 {row}, {number}, {p.group - 1}"
    yield f"s_andn2_b32 {s.fetches}, {s.top}, {p.group - 1}"
    yield f"s_or_b32 {row}, {s.fetches}, {row}"
    yield f"s_lshr_b32 {number}, {number}, {log2(p.group)}"
    yield f"s_cmp_lt_u32 {last}, {s.m}"
    yield f"s_cselect_b32 {s.top}, {row}, {s.top}"
    yield f"s_cselect_b32 {s.left}, {number}, {s.left}"
    yield f"s_mul_i32 {s.top}, {s.top}, {p.rows}"
    yield f"s_mul_i32 {s.left}, {s.left}, {p.columns}"
