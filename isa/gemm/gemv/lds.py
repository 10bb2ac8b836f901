"""LDS of a GEMV wave: the wave's own part, where weights change from the order of memory to that of `v_wmma`.

Memory is read in whole lines: neighbouring lanes take neighbouring 16 bytes of a row. `v_wmma` wants 16 rows in 16
lanes, 16 steps of k of each, and in lanes 16 to 31 the same once more, or, of RDNA4, the next slot. So each wave writes
what it fetched, unpacked, to rows of LDS and reads fragments back; no other wave sees it, hence no barrier.

A row is 256 bytes, 16 *slots* of 16 bytes, slot s being 8 steps of k of 16-bit floats, or 16 of bytes. Slots are
exclusive-ored with the row's number, so that the lanes that are served at once meet on no bank, neither those that read
one slot of many rows nor those that write several of a row; of the upper eight slots also with `twist`, since the lanes
of a row are `expand` slots apart.

    A: `rows_a` rows    B: 16 rows, a fragment after the other
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from isa.gemm.gemv.parameters import GemvParameters
from isa.gemm.gemv.registers import SCALARS, GemvRegisters
from isa.gemm.matrix.sides import FRAGMENT
from isa.gemm.text import log2
from isa.registers import Reg

ROW = 256
SLOT = 16
_ALIKE = 8
"""Rows after which slots are exclusive-ored with the same."""


def places(p: GemvParameters, r: GemvRegisters) -> Iterator[str]:
    """Addresses, once and for all. v0: the thread's number."""
    lane, row, t, half = r.free.units()
    first = SCALARS.t.sub(0)
    yield f"s_mul_i32 {first}, {SCALARS.wave}, {p.wave_bytes}"
    # Reading: lane i has row i; of A the last one after it.
    if p.split:
        yield f"v_bfe_u32 {half}, v0, 4, 1"
    yield f"v_and_b32_e32 {row}, {FRAGMENT - 1}, v0"
    if p.rows < FRAGMENT:
        yield f"v_min_u32_e32 {lane}, {p.rows - 1}, {row}"
    for registers, own, start in ((r.a_reads, lane if p.rows < FRAGMENT else row, 0), (r.b_reads, row, p.rows_a * ROW)):
        yield f"v_and_b32_e32 {t}, {_ALIKE - 1}, {own}"
        if p.split:
            yield f"v_xor_b32_e32 {t}, {t}, {half}"
        yield from _each(registers, own, t, first, start, range(_ALIKE), _read_turns(p))
    # Writing: lane / lanes of a row says which row, what is left which slots.
    for registers, lanes, start in ((r.a_writes, 16, 0), (r.b_writes, p.lanes, p.rows_a * ROW)):
        expand, rows = 16 // lanes, 32 // lanes
        yield f"v_bfe_u32 {row}, v0, {log2(lanes)}, {log2(rows)}"
        yield f"v_and_b32_e32 {lane}, {lanes - 1}, v0"
        yield f"v_bfe_u32 {t}, {lane}, {log2(_ALIKE // expand)}, 1"
        yield f"v_lshlrev_b32_e32 {lane}, {log2(expand)}, {lane}"
        yield f"v_lshlrev_b32_e32 {t}, {log2(p.twist)}, {t}"
        yield f"v_xor_b32_e32 {t}, {t}, {lane}"
        yield f"v_xor_b32_e32 {t}, {t}, {row}"
        turns = [part * rows ^ slot for part in range(_ALIKE // rows) for slot in range(expand)]
        yield from _each(registers, row, t, first, start, turns[: len(registers)])


def _each(
    registers: tuple[Reg, ...],
    row: Reg,
    slot: Reg,
    first: Reg,
    start: int,
    turns: Iterable[int],
    wanted: Collection[int] = range(SLOT),
) -> Iterator[str]:
    """Addresses of a slot of a row, exclusive-ored with each of these numbers, of those that are wanted."""
    zero, *others = registers
    yield f"v_lshlrev_b32_e32 {zero}, 4, {slot}"
    yield f"v_lshl_add_u32 {zero}, {row}, 8, {zero}"
    yield f"v_add_nc_u32_e32 {zero}, {first}, {zero}"
    if start:
        yield f"v_add_nc_u32_e32 {zero}, {start}, {zero}"
    for register, turn in zip(others, list(turns)[1:], strict=True):
        if turn not in wanted:
            continue
        yield f"v_xor_b32_e32 {register}, {turn * SLOT}, {zero}"


def _read_turns(p: GemvParameters) -> set[int]:
    """What slots that loads begin with are exclusive-ored with."""
    return {_turn(slot, p.twist) for slot in range(0, ROW // SLOT, 2 if p.split else 1)}


def _turn(slot: int, twist: int) -> int:
    return slot % _ALIKE ^ slot // _ALIKE * twist


def write(writes: tuple[Reg, ...], lanes: int, load: int, slot: int, data: Reg) -> str:
    """A lane's slot of what load number `load` brought."""
    expand, rows = 16 // lanes, 32 // lanes
    return f"ds_store_b128 {writes[load % (_ALIKE // rows) * expand + slot]}, {data}{at(load * rows * ROW)}"


def read(reads: tuple[Reg, ...], twist: int, slot: int, data: Reg) -> str:
    """A slot of the lane's row."""
    high = slot // _ALIKE
    return f"ds_load_b128 {data}, {reads[_turn(slot, twist)]}{at(high * _ALIKE * SLOT)}"


def at(offset: int) -> str:
    """Of an instruction's operands."""
    return f" offset:{offset}" if offset else ""
