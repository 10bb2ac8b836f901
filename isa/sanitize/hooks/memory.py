"""Global memory: a cell knows the epoch and the wave that wrote it, and that read it.

An epoch is a serial number, from which the workgroup follows. What another wave of the workgroup did is in order, if it
was before the last barrier; what another workgroup did, if it was published (`order.py`). Atomics are in order with one
another, and so are loads that bypass caches (glc) with atomics. A load with glc of what may be a flag is no race. A
store to where atomics are, one of this workgroup among them, is atomic, too: an unlock, which compilers write as a
plain store behind its wait.
"""

from __future__ import annotations

from typing import Any

from isa.sanitize.hooks.common import crooked, doubt, enough, fault, report
from isa.sanitize.hooks.workgroup_order import atomic_stamp, flag_read, in_order, missing, took_part, written_in_order
from isa.sanitize.native import at, struct, u16, u32, u64
from isa.sanitize.state import (
    ATOMIC_ACCESS,
    COHERENT,
    EVERYBODY,
    FLAG,
    FLAG_BYTES,
    GLOBAL_WAVE,
    LOAD,
    NO_WAVE,
    OPEN_ATOMICS,
    OPEN_STORES,
    SCALAR,
    SERIAL_SHIFT,
    SHARED_LOAD,
    STORE,
    UNWRITTEN,
    Event,
    Row,
    Thread,
    Watched,
)
from isa.sim.state import PAGE_BYTES, Context, FaultKind, Wave


def row_of(t: Thread, address: int, site: int) -> Any:
    """The allocation's row, 0 for none."""
    row: Row = struct(u64[t.cache + 8 * site])
    if row and address - row.base < row.size:
        return row
    low = 0
    high = t.row_count
    while low < high:
        middle = (low + high) // 2
        middle_row: Row = t.rows + 48 * middle
        if middle_row.base <= address:
            low = middle + 1
        else:
            high = middle
    if low == 0:
        return 0
    found: Row = t.rows + 48 * (low - 1)
    if address - found.base >= found.size:
        return 0
    u64[t.cache + 8 * site] = at(found)
    return found


def whose(t: Thread, cell: int) -> int:
    """(the workgroup's number << 16) + the wave's, NO_WAVE for several."""
    if cell == EVERYBODY:
        return NO_WAVE
    return (u32[t.owners + 4 * (cell >> SERIAL_SHIFT)] - 1) << 16 | cell & GLOBAL_WAVE


def global_write(
    w: Wave, c: Context, t: Thread, row: Row, granule: int, kind: int, shared: int, site: int, lanes: int, address: int,
    size: int,
) -> int:  # fmt: skip
    """shared: a store that is one of a flag."""
    v: Watched = w.watch
    me = v.serial << SERIAL_SHIFT | w.index
    place = row.writer + 4 * granule
    writer = u32[place]
    if writer == UNWRITTEN:
        writer = 0
    released = kind == STORE and writer & FLAG and took_part(t, writer)
    atomics = (kind == ATOMIC_ACCESS or shared or released) and (writer == EVERYBODY or writer & FLAG)
    if writer and not atomics and not written_in_order(t, v, place, writer, w.index, v.serial):
        lacks = 0
        if not enough(c, Event.GLOBAL_WRITE_AFTER_WRITE, site):
            lacks = missing(t, v, writer)
        other_site = u16[row.writer_site + 2 * granule] | lacks << 16
        if kind == STORE and writer != EVERYBODY and not writer & FLAG:
            doubt(
                w, c, Event.GLOBAL_WRITE_AFTER_WRITE, site, lanes, address, whose(t, writer), other_site, address, size
            )
        else:
            report(
                c, Event.GLOBAL_WRITE_AFTER_WRITE, site, w.index, lanes, address, whose(t, writer), other_site
            )  # fmt: skip
    reader = u32[row.reader + 4 * granule]
    if reader and (reader == EVERYBODY or not in_order(t, reader, w.index, v.serial, 1)):
        report(
            c, Event.GLOBAL_WRITE_AFTER_READ, site, w.index, lanes, address, whose(t, reader),
            u16[row.reader_site + 2 * granule],
        )  # fmt: skip
    if kind == ATOMIC_ACCESS:
        u32[place] = atomic_stamp(t, v, me, writer)
    elif shared or released:
        u32[place] = me | FLAG
    else:
        u32[place] = me
    u16[row.writer_site + 2 * granule] = site
    return 0


def global_read(
    w: Wave, c: Context, t: Thread, row: Row, granule: int, kind: int, how: int, site: int, lanes: int, address: int
) -> int:
    """how: SCALAR, COHERENT; the latter only where it may be of a flag."""
    v: Watched = w.watch
    place = row.writer + 4 * granule
    writer = u32[place]
    known = v.level0
    if how & SCALAR:
        known = 0
    elif kind == SHARED_LOAD:
        known = v.serial
    flag = how == COHERENT or (kind == SHARED_LOAD and (writer == EVERYBODY or writer & FLAG))
    if writer:
        if writer == UNWRITTEN:
            report(c, Event.GLOBAL_UNWRITTEN, site, w.index, lanes, address, 0, 0)
            u32[place] = 0
        elif not flag and not written_in_order(t, v, place, writer, w.index, known):
            lacks = 0
            if not how & SCALAR and not enough(c, Event.GLOBAL_READ_AFTER_WRITE, site):
                lacks = missing(t, v, writer)
            report(
                c, Event.GLOBAL_READ_AFTER_WRITE, site, w.index, lanes, address, whose(t, writer),
                u16[row.writer_site + 2 * granule] | lacks << 16,
            )  # fmt: skip
    if how == COHERENT:
        flag_read(v, place, writer, 1, row.writer_site + 2 * granule)
    if kind == SHARED_LOAD:
        return 0
    me = v.serial << SERIAL_SHIFT | w.index
    place = row.reader + 4 * granule
    reader = u32[place]
    if reader in (EVERYBODY, me):
        return 0
    if reader:
        owner = u32[t.owners + 4 * (reader >> SERIAL_SHIFT)]
        if owner == t.mine:
            if reader >> SERIAL_SHIFT >= t.epoch and (reader & FLAG or reader & GLOBAL_WAVE != w.index):
                u32[place] = reader | FLAG
                return 0
        elif not in_order(t, reader, w.index, v.serial, 1):
            me = EVERYBODY
    u32[place] = me
    u16[row.reader_site + 2 * granule] = site
    return 0


def widened(address: int, size: int, end: int) -> int:
    """Whether a scalar load, which begins inside, may end outside: `isa.sim.resolve` has the rule."""
    half = size // 2 + 1
    if size <= 4:
        half = 1
    return end - address >= half and address + size - 1 <= (end - 1 | PAGE_BYTES - 1)


def global_access(
    w: Wave, c: Context, t: Thread, address: int, kind: int, how: int, size: int, site: int, lane: int
) -> int:
    """One lane. Gives the host's pointer. how: COHERENT, SCALAR."""
    row: Row = row_of(t, address, site)
    v: Watched = w.watch
    if row == 0 or address - row.base + size > row.size:
        if row == 0 or not how & SCALAR or not widened(address, size, row.base + row.size):
            return fault(w, c, FaultKind.GLOBAL, address, size, site, lane)
        v.tail = (size >> 2) - (row.base + row.size - address + 3 >> 2)
        size = row.base + row.size - address
    lanes = 1 << lane
    if crooked(address, size):
        report(c, Event.GLOBAL_MISALIGNED, site, w.index, lanes, address, 0, 0)
    if t.muted:
        return address
    start = address - row.base
    me = v.serial << SERIAL_SHIFT | w.index
    writers = row.writer
    readers = row.reader
    if size > FLAG_BYTES:
        how = how & SCALAR
    if kind in (STORE, ATOMIC_ACCESS):
        v.touched = 1
        if kind == ATOMIC_ACCESS and how & COHERENT:
            v.open |= OPEN_ATOMICS
        else:
            v.open |= OPEN_STORES
    for granule in range(start >> t.shift, ((start + size - 1) >> t.shift) + 1):
        if kind in (LOAD, SHARED_LOAD):
            reader = u32[readers + 4 * granule]
            if how or u32[writers + 4 * granule] or (reader != EVERYBODY and reader != me):
                global_read(w, c, t, row, granule, kind, how, site, lanes, address)
        else:
            if kind == ATOMIC_ACCESS and how == COHERENT and t.orders:
                place = writers + 4 * granule
                flag_read(v, place, u32[place], 0, row.writer_site + 2 * granule)
            global_write(w, c, t, row, granule, kind, kind == STORE and how == COHERENT, site, lanes, address, size)
    return address
