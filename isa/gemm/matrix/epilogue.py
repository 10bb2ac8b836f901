"""Epilogue of a tile: sums -> C = alpha * sums + beta * C, row after row; `element` computes a row's elements.

VGPR v of a fragment's sums is its row 2 v + (lane / 16), RDNA4's row v + 8 (lane / 16), in column lane % 16: rows of A
and columns of B by slot (`isa.gemm.matrix.sides`). So a lane has neighbouring columns of C in the fragments of a wave
that lie side by side, and one store takes them. The rows of a wave are walked by an SGPR base.

A workgroup that reaches beyond C does all this element by element under EXEC.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from isa.gemm.matrix import element, fetch
from isa.gemm.matrix.element import Spare
from isa.gemm.matrix.parameters import MatrixParameters
from isa.gemm.matrix.registers import SCALARS, MatrixRegisters
from isa.gemm.matrix.sides import CHUNK_BYTES, FRAGMENT
from isa.gemm.text import add64, log2, wide
from isa.registers import Reg

_MOST_WORDS = 4
"""Of one access."""
_LAST_ROW, _LAST_COLUMN = SCALARS.fetches, SCALARS.line_a
"""Of C, from the tile's first on; these are free by now."""


@dataclass(frozen=True)
class _Places:
    """offset: the lane's byte offset, from the tile's first element in `base` on. row, column: of the lane, in the
    tile. scratch: free."""

    base: Reg
    offset: Reg
    row: Reg
    column: Reg
    scratch: Reg


def epilogue(p: MatrixParameters, r: MatrixRegisters, label: str) -> Iterator[str]:
    """All of it, to the end of the kernel or, of a stream-K kernel, of the tile. label: how labels begin."""
    end = f"s_branch {label}_next" if p.stream_k else "s_endpgm"
    s, t = SCALARS, SCALARS.t
    at = _Places(s.a, r.a.write, r.a.read[0], r.b.read[0], r.b.write)
    spare = Spare.of(p, r)
    yield from _places(p, r, at)
    # What is left of C from here on, rows and columns; and whether it is read.
    yield f"s_sub_i32 {t.sub(0)}, {s.m}, {s.top}"
    yield f"s_sub_i32 {t.sub(1)}, {s.n}, {s.left}"
    if not p.gate:
        yield f"s_and_b32 {s.u}, {s.beta}, {'-1' if p.result == 'i32' else '0x7fffffff'}"
    yield from element.constants(p)
    yield from _vectors(p, at, spare)
    yield f"s_cmp_lt_i32 {t.sub(0)}, {p.rows}"
    yield f"s_cbranch_scc1 {label}_edge"
    yield f"s_cmp_lt_i32 {t.sub(1)}, {p.columns}"
    yield f"s_cbranch_scc1 {label}_edge"
    if not p.gate:
        yield f"s_cmp_lg_u32 {s.u}, 0"
        yield f"s_cbranch_scc1 {label}_add"
        yield from _whole(p, r, at, spare, adds=False)
        yield end
        yield f"{label}_add:"
    yield from _whole(p, r, at, spare, adds=True)
    yield end
    yield f"{label}_edge:"
    yield from _edge(p, r, at, spare, label)
    yield end


def _places(p: MatrixParameters, r: MatrixRegisters, at: _Places) -> Iterator[str]:
    """`row` and `column` hold what the lane reads first in LDS, 16 times its slot: line 0 is as it is."""
    s, t = SCALARS, SCALARS.t
    yield f"v_lshrrev_b32_e32 {at.row}, {log2(CHUNK_BYTES)}, {at.row}"
    yield f"v_lshrrev_b32_e32 {at.column}, {log2(CHUNK_BYTES)}, {at.column}"
    if p.split:  # the other half of the wave reads line 1
        yield f"v_mbcnt_lo_u32_b32 {at.scratch}, -1, 0"
        yield f"v_lshrrev_b32_e32 {at.scratch}, 4, {at.scratch}"
        yield from fetch.swizzled(p.b, at.column, at.scratch, at.offset)
        yield f"v_and_b32_e32 {at.row}, {p.a.extent - 1}, {at.row}"
        yield f"v_and_b32_e32 {at.column}, {p.b.extent - 1}, {at.column}"
    if p.b.paired:  # lane i has the columns of place 2 (i % 8) + i / 8
        yield f"v_bfe_u32 {at.scratch}, {at.column}, 3, 1"
        yield f"v_and_b32_e32 {at.offset}, 7, {at.column}"
        yield f"v_lshl_or_b32 {at.scratch}, {at.offset}, 1, {at.scratch}"
    else:
        yield f"v_and_b32_e32 {at.scratch}, {FRAGMENT - 1}, {at.column}"
    yield f"v_and_b32_e32 {at.column}, {-p.b.wave}, {at.column}"
    yield f"v_lshl_add_u32 {at.column}, {at.scratch}, {log2(p.b.near)}, {at.column}"
    # Lanes 16 and up hold other rows of a fragment.
    yield f"v_mbcnt_lo_u32_b32 {at.scratch}, -1, 0"
    yield f"v_lshrrev_b32_e32 {at.scratch}, 4, {at.scratch}"
    yield f"v_and_b32_e32 {at.row}, {-p.a.wave}, {at.row}"
    yield f"v_lshl_add_u32 {at.row}, {at.scratch}, {log2(p.a.near * p.a.place(p.sum_slot(1, 0)))}, {at.row}"
    yield f"v_mul_lo_u32 {at.offset}, {at.row}, {s.line_c}"
    yield f"v_lshl_add_u32 {at.offset}, {at.column}, {log2(p.result_bytes)}, {at.offset}"
    yield from wide(t, s.top, r.leading_c)
    yield from add64(t, s.left)
    yield f"s_lshl_b64 {t}, {t}, {log2(p.result_bytes)}"
    yield f"s_add_u32 {at.base.sub(0)}, {s.c.sub(0)}, {t.sub(0)}"
    yield f"s_addc_u32 {at.base.sub(1)}, {s.c.sub(1)}, {t.sub(1)}"


def _vectors(p: MatrixParameters, at: _Places, spare: Spare) -> Iterator[str]:
    """Bias and column scales of the lane; `b` is the address of the tile's first row scale. After the last column or
    row is the last one."""
    if not p.vectors:
        return
    s = SCALARS
    if p.scales:
        yield f"s_sub_i32 {_LAST_ROW}, {s.t.sub(0)}, 1"
    yield f"s_sub_i32 {_LAST_COLUMN}, {s.t.sub(1)}, 1"
    low, high = s.step_a.units()
    for name, offset in p.vectors.items():
        base, first = (s.b, s.top) if name == "row_scale" else (s.step_b, s.left)
        yield f"s_load_b64 {base}, {s.kernarg}, {offset:#x}"
        yield f"s_lshl_b32 {low}, {first}, 2"
        yield f"s_lshr_b32 {high}, {first}, 30"
        yield "wait smem_load 0"
        yield from add64(base, low, high)
        registers = {"bias": spare.bias, "column_scale": spare.column_scale}.get(name, ())
        for j, register in enumerate(registers):
            yield from _of_vector(at, register, base, j, at.column, _LAST_COLUMN)
    if not (p.scales or p.gate):  # else the first wait for row scales, or for C, does
        yield "wait global_load 0"


def _of_vector(at: _Places, register: Reg, base: Reg, number: int, first: Reg, last: Reg) -> Iterator[str]:
    yield f"v_add_nc_u32_e32 {at.scratch}, {number}, {first}"
    yield f"v_min_u32_e32 {at.scratch}, {last}, {at.scratch}"
    yield f"v_lshlrev_b32_e32 {at.scratch}, 2, {at.scratch}"
    yield f"global_load_b32 {register}, {at.scratch}, {base}"


def _next_scales(p: MatrixParameters, at: _Places, spare: Spare, turn: int, i: int) -> Iterator[str]:
    """The row scales of the next turn of `_rows` are in flight while those of this one are used."""
    if not p.scales or i:
        return
    for group in (0, 1) if turn == 0 else (turn + 1,) if turn < 7 else ():
        first = _row(p, _turns(p)[group])
        for n, register in enumerate(spare.row_scale[group % 2]):
            yield from _of_vector(at, register, SCALARS.b, first + n, at.row, _LAST_ROW)


def _scales_there(p: MatrixParameters, turn: int, i: int) -> Iterator[str]:
    if p.scales and not i:
        yield f"wait global_load {p.a.near if turn < 7 else 0}"


def _scale(spare: Spare, turn: int, i: int) -> Reg | None:
    return spare.row_scale[turn % 2][i] if spare.row_scale else None


def _row(p: MatrixParameters, v: int) -> int:
    """The first row of C of a row of a fragment's sums, after the lane's first."""
    return p.a.place(p.sum_slot(0, v)) * p.a.near


def _turns(p: MatrixParameters) -> list[int]:
    """Rows of a fragment's sums in ascending order of rows of C."""
    return sorted(range(8), key=lambda v: _row(p, v))


def _rows(p: MatrixParameters) -> Iterator[tuple[int, int, int, int]]:
    """(turn, row of a fragment's sums, fragment, rows of C after the lane's first), in ascending order of rows."""
    for turn, v in enumerate(_turns(p)):
        for i in range(p.a.near):
            yield turn, v, i, _row(p, v) + i


def _sums(p: MatrixParameters, r: MatrixRegisters, i: int, v: int) -> list[Reg]:
    """Where a row's sums lie, of each column."""
    return [r.sums[i, j].sub(v * p.sum_words // 8) for j in range(p.b.near)]


def _go_on(base: Reg, rows: int) -> Iterator[str]:
    """The base goes on by so many rows of C. `step_a` is free."""
    low, high = str(SCALARS.line_c), "0"
    if rows > 1:
        low, high = map(str, SCALARS.step_a.units())
        yield from wide(SCALARS.step_a, SCALARS.line_c, rows)
    if rows:
        yield from add64(base, low, high)


def _whole(p: MatrixParameters, r: MatrixRegisters, at: _Places, spare: Spare, *, adds: bool) -> Iterator[str]:
    words = p.b.near * p.result_bytes // 4
    targets = [
        Reg("v", r.a.fragments[0].index + i, words)
        for i in range(0, len(r.a.fragments) * r.a.fragments[0].count - words + 1, words)
    ]
    here = 0
    for number, (turn, v, i, row) in enumerate(_rows(p)):
        yield from _next_scales(p, at, spare, turn, i)
        yield from _go_on(at.base, row - here)
        here = row
        target = targets[number % len(targets)]
        parts = [(f" offset:{4 * k}" if k else "", Reg("v", target.index + k, min(words - k, _MOST_WORDS)))
                 for k in range(0, words, _MOST_WORDS)]  # fmt: skip
        if adds:
            for offset, part in parts:
                yield f"global_load_b{32 * part.count} {part}, {at.offset}, {at.base}{offset}"
            yield "wait global_load 0"
        else:
            yield from _scales_there(p, turn, i)
        sums = yield from element.widened(p, spare, _sums(p, r, i, v), v)
        yield from element.row(p, spare, target, sums, _scale(spare, turn, i), adds)
        for offset, part in parts:
            yield f"global_store_b{32 * part.count} {at.offset}, {part}, {at.base}{offset}"


def _edge(p: MatrixParameters, r: MatrixRegisters, at: _Places, spare: Spare, label: str) -> Iterator[str]:
    t, inside = SCALARS.t, SCALARS.empty
    columns = [Reg("s", SCALARS.masks + j) for j in range(p.b.near)]
    for j, lanes in enumerate(columns):
        yield f"v_add_nc_u32_e32 {at.scratch}, {j}, {at.column}"
        yield f"v_cmp_gt_i32_e64 {lanes}, {t.sub(1)}, {at.scratch}"
    half = p.result_bytes == 2
    target = Reg("v", r.a.fragments[0].index, p.b.near * p.result_bytes // 4)
    values = [target.sub(j // 2 if half else j) for j in range(p.b.near)]
    offsets = [f" offset:{j * p.result_bytes}" if j else "" for j in range(p.b.near)]
    here = 0
    for turn, v, i, row in _rows(p):
        yield from _next_scales(p, at, spare, turn, i)
        yield from _go_on(at.base, row - here)
        here = row
        yield f"v_add_nc_u32_e32 {at.scratch}, {row}, {at.row}"
        yield f"v_cmp_gt_i32_e64 {inside}, {t.sub(0)}, {at.scratch}"
        for register in target.units():
            yield f"v_mov_b32_e32 {register}, 0"
        if not p.gate:
            yield f"s_cmp_eq_u32 {SCALARS.u}, 0"
            yield f"s_cbranch_scc1 {label}_row_{row}"
        for j, lanes in enumerate(columns):
            name = ("d16_hi_b16" if j % 2 else "d16_b16") if half else "b32"
            yield f"s_and_b32 exec_lo, {inside}, {lanes}"
            yield f"global_load_{name} {values[j]}, {at.offset}, {at.base}{offsets[j]}"
        yield f"s_mov_b32 exec_lo, {SCALARS.all_lanes}"
        scales = list(_scales_there(p, turn, i))
        if p.gate or "wait global_load 0" not in scales:
            yield "wait global_load 0"
        if not p.gate:
            yield f"{label}_row_{row}:"
            yield from scales
        sums = yield from element.widened(p, spare, _sums(p, r, i, v), v)
        yield from element.row(p, spare, target, sums, _scale(spare, turn, i), adds=True)
        for j, lanes in enumerate(columns):
            name = ("d16_hi_b16" if j % 2 else "b16") if half else "b32"
            yield f"s_and_b32 exec_lo, {inside}, {lanes}"
            yield f"global_store_{name} {at.offset}, {values[j]}, {at.base}{offsets[j]}"
        yield f"s_mov_b32 exec_lo, {SCALARS.all_lanes}"
