"""A side's instructions: where a thread stands in the K block, its byte offsets, global loads and stores to LDS.

Each fetch of a thread has its own byte offset in a VGPR, from a 64-bit base in SGPRs that goes on by a K block. Rows of
A and columns of B behind the last one read the last one instead: nothing of them is stored. The first K block holds
what K leaves over; what lies behind that stays zero.
"""

from __future__ import annotations

from collections.abc import Iterator

from isa.gemm.registers import SCALARS, Operand
from isa.gemm.sides import Side
from isa.registers import Reg


def place(side: Side, k: Reg, x: Reg) -> Iterator[str]:
    """Where the thread's first fetch lies in the K block, of thread number v0."""
    part, line = (k, x) if side.along_k else (x, k)
    if side.line_threads & (side.line_threads - 1):
        which = [f"v_mov_b32_e32 {line}, 0", f"v_mov_b32_e32 {part}, v0"]
    else:
        which = [
            f"v_lshrrev_b32_e32 {line}, {_log2(side.line_threads)}, v0",
            f"v_and_b32_e32 {part}, {side.line_threads - 1}, v0",
        ]
    yield from reversed(which) if side.along_k else which
    if side.width > 1:
        yield f"v_lshlrev_b32_e32 {part}, {_log2(side.width)}, {part}"


def store_address(side: Side, o: Operand, k: Reg, x: Reg, t: Reg) -> Iterator[str]:
    yield f"v_mul_u32_u24_e32 {t}, {side.pitch}, {k}"
    yield f"v_lshl_add_u32 {o.write}, {x}, 2, {t}"


def base(side: Side, o: Operand) -> Iterator[str]:
    """The matrix from the tile's first row or column on."""
    t, s = SCALARS.t, o.scalars
    if side.along_k:
        yield f"s_mul_i32 {t.sub(0)}, {s.start}, {SCALARS.k}"
        yield f"s_mul_hi_u32 {t.sub(1)}, {s.start}, {SCALARS.k}"
    else:
        yield f"s_mov_b32 {t.sub(0)}, {s.start}"
        yield f"s_mov_b32 {t.sub(1)}, 0"
    yield f"s_lshl_b64 {t}, {t}, 2"
    yield from _add(s.base, str(t.sub(0)), str(t.sub(1)))


def offsets(side: Side, o: Operand, k: Reg, x: Reg, t: Reg, u: Reg) -> Iterator[str]:
    """t, u: free."""
    s = o.scalars
    last = SCALARS.t.sub(0)
    yield f"s_sub_i32 {last}, {s.size}, {s.start}"
    yield f"s_sub_i32 {last}, {last}, 1"
    for (row, column), offset in zip(side.fetches, o.offset, strict=True):
        yield f"v_add_nc_u32_e32 {t}, {column}, {x}"
        yield f"v_min_u32_e32 {t}, {last}, {t}"
        if side.along_k:
            yield f"v_mul_lo_u32 {t}, {t}, {s.line}"
            yield f"v_lshl_add_u32 {offset}, {k}, 2, {t}"
        else:
            yield f"v_add_nc_u32_e32 {u}, {row}, {k}"
            yield f"v_mul_lo_u32 {u}, {u}, {s.line}"
            yield f"v_lshl_add_u32 {offset}, {t}, 2, {u}"


def first_loads(side: Side, o: Operand, k: Reg, t: Reg) -> Iterator[str]:
    """Loads of the first K block: the lanes whose k lies in it. t: free. EXEC is all lanes before and behind."""

    def inside(k: Reg) -> Iterator[str]:
        yield f"v_cmp_gt_u32_e32 vcc_lo, {SCALARS.first}, {k}"
        yield "s_mov_b32 exec_lo, vcc_lo"

    all_lanes = f"s_mov_b32 exec_lo, {SCALARS.all_lanes}"
    if side.along_k:
        for j in range(side.width):
            if j:
                yield f"v_add_nc_u32_e32 {t}, {j}, {k}"
            yield from inside(t if j else k)
            at = f" offset:{4 * j}" if j else ""
            for target, offset in zip(o.fetched, o.offset, strict=True):
                yield f"global_load_b32 {target.sub(j)}, {offset}, {o.scalars.base}{at}"
            yield all_lanes
        return
    for (row, _), load in zip(side.fetches, loads(side, o), strict=True):
        yield f"v_add_nc_u32_e32 {t}, {row}, {k}"
        yield from inside(t)
        yield load
        yield all_lanes


def behind_first(side: Side, o: Operand) -> Iterator[str]:
    """The base goes behind the first K block, and `step` becomes what it goes on by from there."""
    t, s = SCALARS.t, o.scalars
    if side.along_k:
        yield f"s_lshl_b32 {t.sub(0)}, {SCALARS.first}, 2"
        yield from _add(s.base, str(t.sub(0)), "0")
        return
    yield f"s_mul_i32 {t.sub(0)}, {SCALARS.first}, {s.line}"
    yield f"s_mul_hi_u32 {t.sub(1)}, {SCALARS.first}, {s.line}"
    yield from _add(s.base, str(t.sub(0)), str(t.sub(1)))
    yield f"s_mul_i32 {s.step.sub(0)}, {side.depth}, {s.line}"
    yield f"s_mul_hi_u32 {s.step.sub(1)}, {side.depth}, {s.line}"


def loads(side: Side, o: Operand) -> Iterator[str]:
    """The global loads of a K block."""
    for target, offset in zip(o.fetched, o.offset, strict=True):
        yield f"global_load_b{32 * side.width} {target}, {offset}, {o.scalars.base}"


def advance(side: Side, o: Operand) -> Iterator[str]:
    """The base goes one K block on."""
    step = o.scalars.step
    low, high = (str(4 * side.depth), "0") if side.along_k else (str(step.sub(0)), str(step.sub(1)))
    yield from _add(o.scalars.base, low, high)


def stores(side: Side, o: Operand, start: int) -> Iterator[str]:
    """What was fetched goes to LDS, where the side's part of a buffer begins at byte `start`."""
    n = side.store_width
    for (k, x), value in zip(side.fetches, o.fetched, strict=True):
        for j in range(0, side.width, n):
            part = Reg("v", value.index + j, n)
            yield f"ds_store_b{32 * n} {o.write}, {part} offset:{start + (k + j) * side.pitch + 4 * x}"


def _add(target: Reg, low: str, high: str) -> Iterator[str]:
    yield f"s_add_u32 {target.sub(0)}, {target.sub(0)}, {low}"
    yield f"s_addc_u32 {target.sub(1)}, {target.sub(1)}, {high}"


def _log2(n: int) -> int:
    return n.bit_length() - 1
