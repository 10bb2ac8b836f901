"""A wave's own part of LDS, through which weights come from the order of memory to that of `v_wmma`.

Memory is read in whole lines: neighbouring lanes take neighbouring 16 bytes of a row. `v_wmma` wants 16 rows in 16 lanes,
16 steps of k of each, and in lanes 16 to 31 the same once more. So each wave writes what it fetched, unpacked, to rows
of LDS and reads fragments back; nobody else sees it, hence no barrier.

A row is 256 bytes, 16 *slots* of 16 bytes, slot s being 8 steps of k of 16-bit floats, or 16 of bytes. Slots are
exclusive-ored with the row's number, so that the lanes that are served at once meet on no bank, neither those that read
one slot of many rows nor those that write several of a row; of the upper eight slots also with `twist`, since the lanes
of a row are `expand` slots apart.

    A: `rows_a` rows    B: 16 rows, a fragment after the other
"""

from __future__ import annotations

from collections.abc import Iterator

from isa.gemm.gemv.parameters import GemvParameters
from isa.gemm.gemv.registers import SCALARS, GemvRegisters
from isa.gemm.matrix.sides import FRAGMENT
from isa.registers import Reg

ROW = 256
SLOT = 16
_ALIKE = 8
"""Rows after which slots are exclusive-ored with the same."""


def places(p: GemvParameters, r: GemvRegisters) -> Iterator[str]:
    """Addresses, once and for all. v0: the thread's number."""
    lane, row, base, t = r.free.units()
    yield f"s_mul_i32 {SCALARS.t.sub(0)}, {SCALARS.wave}, {p.stage_bytes}"
    yield f"v_mov_b32_e32 {base}, {SCALARS.t.sub(0)}"
    # Reading: lane i has row i; of A the last one behind it.
    yield f"v_and_b32_e32 {lane}, {FRAGMENT - 1}, v0"
    yield from _reads(r.b_reads, lane, base, t, p.rows_a * ROW)
    if p.rows < FRAGMENT:
        yield f"v_min_u32_e32 {lane}, {p.rows - 1}, {lane}"
    yield from _reads(r.a_reads, lane, base, t, 0)
    # Writing: lane / lanes of a row says which row, what is left which slots.
    yield from _writes(r.a_writes, 16, p.twist, (lane, row, base, t), 0)
    yield from _writes(r.b_writes, p.lanes, p.twist, (lane, row, base, t), p.rows_a * ROW)


def _reads(registers: tuple[Reg, ...], row: Reg, base: Reg, t: Reg, start: int) -> Iterator[str]:
    for slot, register in enumerate(registers):
        yield f"v_xor_b32_e32 {t}, {slot}, {row}"
        yield f"v_and_b32_e32 {t}, {_ALIKE - 1}, {t}"
        yield f"v_lshl_add_u32 {register}, {t}, 4, {base}"
        yield f"v_lshl_add_u32 {register}, {row}, 8, {register}"
        if start:
            yield f"v_add_nc_u32_e32 {register}, {start}, {register}"


def _writes(
    registers: tuple[Reg, ...], lanes: int, twist: int, spare: tuple[Reg, ...], start: int
) -> Iterator[str]:
    """lanes: of a row."""
    lane, row, base, t = spare
    expand, rows = 16 // lanes, 32 // lanes
    for number, register in enumerate(registers):
        part, slot = divmod(number, expand)
        yield f"v_and_b32_e32 {lane}, 31, v0"
        yield f"v_lshrrev_b32_e32 {row}, {_log2(lanes)}, {lane}"
        if part:
            yield f"v_add_nc_u32_e32 {row}, {part * rows}, {row}"
        yield f"v_and_b32_e32 {lane}, {lanes - 1}, {lane}"
        yield f"v_lshlrev_b32_e32 {lane}, {_log2(expand)}, {lane}"
        if slot:
            yield f"v_or_b32_e32 {lane}, {slot}, {lane}"
        yield f"v_lshrrev_b32_e32 {t}, 3, {lane}"
        if twist > 1:
            yield f"v_lshlrev_b32_e32 {t}, {_log2(twist)}, {t}"
        yield f"v_xor_b32_e32 {lane}, {lane}, {t}"
        yield f"v_and_b32_e32 {t}, {_ALIKE - 1}, {row}"
        yield f"v_xor_b32_e32 {lane}, {lane}, {t}"
        yield f"v_lshl_add_u32 {register}, {lane}, 4, {base}"
        yield f"v_lshl_add_u32 {register}, {row}, 8, {register}"
        if start:
            yield f"v_add_nc_u32_e32 {register}, {start}, {register}"


def write(writes: tuple[Reg, ...], lanes: int, load: int, slot: int, data: Reg) -> str:
    """A lane's slot of what load number `load` brought."""
    expand, rows = 16 // lanes, 32 // lanes
    part = load % (_ALIKE // rows)
    return f"ds_store_b128 {writes[part * expand + slot]}, {data}{at(load // (_ALIKE // rows) * _ALIKE * ROW)}"


def read(reads: tuple[Reg, ...], twist: int, slot: int, data: Reg) -> str:
    """A slot of the lane's row."""
    high = slot // _ALIKE
    return f"ds_load_b128 {data}, {reads[slot % _ALIKE ^ high * twist]}{at(high * _ALIKE * SLOT)}"


def at(offset: int) -> str:
    """Of an instruction's operands."""
    return f" offset:{offset}" if offset else ""


def _log2(n: int) -> int:
    return n.bit_length() - 1
