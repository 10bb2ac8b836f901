"""A side's instructions: where a thread stands in the K block, its byte offsets, global loads and stores to LDS.

Each fetch of a thread has its own byte offset in a VGPR, from a 64-bit base in SGPRs that goes on by a K block. Rows of
A and columns of B after the last one read the last one instead: nothing of them is stored. The first K block holds
what K leaves over, at its end; what lies before that stays zero. (After it, 0 * 0 would be added to sums, and -0
become +0.)

A load of several elements across may begin inside the matrix and end outside of it, where a workgroup lies on the edge
of a matrix whose lines are no multiple of the load. Such workgroups, and only these, are *ragged*: they fetch each
element by a load of its own, under EXEC. A load of several elements needs no more alignment than a dword has (RDNA3 ISA
guide, "Memory alignment": ROCm runs kernels in the mode UNALIGNED).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from isa.gemm.text import add64, begin, go_back, is_ragged, log2, wide
from isa.gemm.vector.registers import SCALARS, Operand
from isa.gemm.vector.sides import Side
from isa.outer_product.text import Store
from isa.registers import Reg

_ALL_LANES = f"s_mov_b32 exec_lo, {SCALARS.all_lanes}"


def place(side: Side, k: Reg, x: Reg) -> Iterator[str]:
    """Where the thread's first fetch lies in the K block, of thread number v0."""
    part, line = (k, x) if side.along_k else (x, k)
    if side.line_threads & (side.line_threads - 1):
        which = [f"v_mov_b32_e32 {line}, 0", f"v_mov_b32_e32 {part}, v0"]
    else:
        which = [
            f"v_lshrrev_b32_e32 {line}, {log2(side.line_threads)}, v0",
            f"v_and_b32_e32 {part}, {side.line_threads - 1}, v0",
        ]
    yield from reversed(which) if side.along_k else which
    if side.width > 1:
        yield f"v_lshlrev_b32_e32 {part}, {log2(side.width)}, {part}"


def store_address(side: Side, o: Operand, k: Reg, x: Reg, t: Reg) -> Iterator[str]:
    yield f"v_mul_u32_u24_e32 {t}, {side.pitch}, {k}"
    yield f"v_lshl_add_u32 {o.write}, {x}, 2, {t}"


def base(side: Side, o: Operand) -> Iterator[str]:
    """The matrix from the tile's first row or column on."""
    yield from begin(o.scalars.base, o.scalars.start, SCALARS.k if side.along_k else None, 4, SCALARS.t)


def offsets(side: Side, o: Operand, k: Reg, x: Reg, t: Reg, u: Reg) -> Iterator[str]:
    """t, u: free."""
    s = o.scalars
    last, bound = SCALARS.t.sub(0), SCALARS.t.sub(0)
    yield f"s_sub_i32 {last}, {s.size}, {s.start}"
    yield f"s_sub_i32 {last}, {last}, 1"
    if side.ragged:
        bound = SCALARS.u
        yield from is_ragged(SCALARS.ragged, s.size, (side.extent, side.width), last, bound, SCALARS.t.sub(1))
    seen, at = set(), None
    for (row, column), offset in zip(side.fetches, o.offset, strict=True):
        if side.along_k or column != at:  # else t holds it
            at = column
            yield f"v_add_nc_u32_e32 {t}, {column}, {x}"
            yield f"v_min_u32_e32 {t}, {bound}, {t}"
        if side.along_k:
            yield f"v_mul_lo_u32 {t}, {t}, {s.line}"
            yield f"v_lshl_add_u32 {offset}, {k}, 2, {t}"
            continue
        if side.ragged and column not in seen:
            seen.add(column)
            yield f"v_sub_nc_u32_e32 {u}, {last}, {t}"
            for j, lanes in enumerate(o.inside[column], 1):
                yield f"v_cmp_le_i32_e64 {lanes}, {j}, {u}"
        yield f"v_add_nc_u32_e32 {u}, {row}, {k}"
        yield f"v_mul_lo_u32 {u}, {u}, {s.line}"
        yield f"v_lshl_add_u32 {offset}, {t}, 2, {u}"


def first_loads(side: Side, o: Operand, k: Reg, t: Reg, ragged: bool) -> Iterator[str]:
    """Loads of the first K block: the lanes whose k is not empty. t: free. EXEC is all lanes before and after."""

    def inside(k: Reg) -> str:
        return f"v_cmp_le_u32_e32 vcc_lo, {SCALARS.empty}, {k}"

    if side.along_k:
        for j in range(side.width):
            if j:
                yield f"v_add_nc_u32_e32 {t}, {j}, {k}"
            yield inside(t if j else k)
            yield "s_mov_b32 exec_lo, vcc_lo"
            yield from (_load_element(o, i, j) for i in range(len(o.fetched)))
            yield _ALL_LANES
        return
    for i, (row, column) in enumerate(side.fetches):
        yield f"v_add_nc_u32_e32 {t}, {row}, {k}"
        yield inside(t)
        yield "s_mov_b32 exec_lo, vcc_lo"
        if ragged and side.ragged:
            yield _load_element(o, i, 0)
            for j, lanes in enumerate(o.inside[column], 1):
                yield f"s_and_b32 exec_lo, vcc_lo, {lanes}"
                yield _load_element(o, i, j)
        else:
            yield _load(side, o, i)
        yield _ALL_LANES


def before_first(side: Side, o: Operand) -> Iterator[str]:
    """The base goes back by what stands empty in the first K block, and `step` becomes what it goes on by."""
    t, s = SCALARS.t, o.scalars
    if side.along_k:
        yield f"s_lshl_b32 {t.sub(0)}, {SCALARS.empty}, 2"
        yield f"s_mov_b32 {t.sub(1)}, 0"
    else:
        yield from wide(t, SCALARS.empty, s.line)
        yield from wide(s.step, side.depth, s.line)
    yield from go_back(s.base, t)


def loads(side: Side, o: Operand, ragged: bool) -> Iterator[str]:
    """The global loads of a K block. EXEC is all lanes before and after."""
    if not (ragged and side.ragged):
        yield from (_load(side, o, i) for i in range(len(o.fetched)))
        return
    yield from (_load_element(o, i, 0) for i in range(len(o.fetched)))
    for column, masks in o.inside.items():
        mine = [i for i, (_, x) in enumerate(side.fetches) if x == column]
        for j, lanes in enumerate(masks, 1):
            yield f"s_mov_b32 exec_lo, {lanes}"
            yield from (_load_element(o, i, j) for i in mine)
    yield _ALL_LANES


def either(sides: Iterable[Side], label: str, whole: list[str], ragged: list[str]) -> tuple[list[str], list[str]]:
    """What all workgroups run, and what ragged ones run instead: this may stand anywhere, and comes back."""
    if not any(side.ragged for side in sides):
        return whole, []
    first = [f"s_cmp_lg_u32 {SCALARS.ragged}, 0", f"s_cbranch_scc1 {label}_ragged", *whole, f"{label}_loaded:"]
    return first, [f"{label}_ragged:", *ragged, f"s_branch {label}_loaded"]


def _load(side: Side, o: Operand, fetch: int) -> str:
    return f"global_load_b{32 * side.width} {o.fetched[fetch]}, {o.offset[fetch]}, {o.scalars.base}"


def _load_element(o: Operand, fetch: int, j: int) -> str:
    at = f" offset:{4 * j}" if j else ""
    return f"global_load_b32 {o.fetched[fetch].sub(j)}, {o.offset[fetch]}, {o.scalars.base}{at}"


def advance(side: Side, o: Operand) -> Iterator[str]:
    """The base goes one K block on."""
    step = o.scalars.step
    low, high = (str(4 * side.depth), "0") if side.along_k else (str(step.sub(0)), str(step.sub(1)))
    yield from add64(o.scalars.base, low, high)


def stores(side: Side, o: Operand, start: int) -> Iterator[Store]:
    """What was fetched goes to LDS, where the side's part of a buffer begins at byte `start`."""
    n = side.store_width
    for (k, x), value in zip(side.fetches, o.fetched, strict=True):
        for j in range(0, side.width, n):
            part = Reg("v", value.index + j, n)
            yield Store(o.write, part, start + (k + j) * side.pitch + 4 * x)
