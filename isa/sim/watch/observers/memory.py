"""Global memory: a cell knows the epoch and the wave that wrote it, and that read it.

An epoch is a serial number, from which the workgroup follows. What another workgroup did is never in order; what
another wave did is, if it was in an earlier epoch. Atomics are in order with one another, and so are loads that bypass
caches (glc) with atomics.
"""

from __future__ import annotations

from typing import Any

from isa.sim.state import Context, FaultKind, Wave
from isa.sim.watch.native import at, fetch_add, struct, u16, u32, u64
from isa.sim.watch.observers.common import fault, report
from isa.sim.watch.state import (
    ATOMIC_ACCESS,
    EVERYBODY,
    FLAG,
    GLOBAL_WAVE,
    LOAD,
    NO_WAVE,
    SERIAL_SHIFT,
    SERIALS,
    SHARED_LOAD,
    UNWRITTEN,
    Event,
    Row,
    Thread,
)


def new_serial(t: Thread) -> int:
    serial = fetch_add(t.serials, 1)
    if serial >= SERIALS:
        t.muted = 1
        serial = 1
    else:
        u32[t.owners + 4 * serial] = t.mine
    t.serial = serial
    return 0


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


def in_order(t: Thread, cell: int, me: int) -> int:
    """Whether what the cell tells of came before this wave's access."""
    serial = cell >> SERIAL_SHIFT
    if serial == t.serial:
        return cell & GLOBAL_WAVE == me and not cell & FLAG
    return u32[t.owners + 4 * serial] == t.mine


def whose(t: Thread, cell: int) -> int:
    """(the workgroup's number << 16) + the wave's, NO_WAVE for several."""
    if cell == EVERYBODY:
        return NO_WAVE
    return (u32[t.owners + 4 * (cell >> SERIAL_SHIFT)] - 1) << 16 | cell & GLOBAL_WAVE


def global_write(
    w: Wave, c: Context, t: Thread, row: Row, granule: int, kind: int, site: int, lanes: int, address: int
) -> int:
    me = t.serial << SERIAL_SHIFT | w.index
    place = row.writer + 4 * granule
    writer = u32[place]
    if writer == UNWRITTEN:
        writer = 0
    atomics = kind == ATOMIC_ACCESS and (writer == EVERYBODY or writer & FLAG)
    if writer and not atomics and (writer == EVERYBODY or not in_order(t, writer & ~FLAG, w.index)):
        report(
            c, Event.GLOBAL_WRITE_AFTER_WRITE, site, w.index, lanes, address, whose(t, writer),
            u16[row.writer_site + 2 * granule],
        )  # fmt: skip
    reader = u32[row.reader + 4 * granule]
    if reader and (reader == EVERYBODY or not in_order(t, reader, w.index)):
        report(
            c, Event.GLOBAL_WRITE_AFTER_READ, site, w.index, lanes, address, whose(t, reader),
            u16[row.reader_site + 2 * granule],
        )  # fmt: skip
    if kind == ATOMIC_ACCESS:
        mark = me | FLAG
        if atomics and (writer == EVERYBODY or u32[t.owners + 4 * (writer >> SERIAL_SHIFT)] != t.mine):
            mark = EVERYBODY
        u32[place] = mark
    else:
        u32[place] = me
    u16[row.writer_site + 2 * granule] = site
    return 0


def global_read(
    w: Wave, c: Context, t: Thread, row: Row, granule: int, kind: int, site: int, lanes: int, address: int
) -> int:
    writer = u32[row.writer + 4 * granule]
    if writer:
        if writer == UNWRITTEN:
            report(c, Event.GLOBAL_UNWRITTEN, site, w.index, lanes, address, 0, 0)
            u32[row.writer + 4 * granule] = 0
        elif (kind != SHARED_LOAD or not (writer == EVERYBODY or writer & FLAG)) and (
            writer == EVERYBODY or not in_order(t, writer & ~FLAG, w.index)
        ):
            report(
                c, Event.GLOBAL_READ_AFTER_WRITE, site, w.index, lanes, address, whose(t, writer),
                u16[row.writer_site + 2 * granule],
            )  # fmt: skip
    if kind == SHARED_LOAD:
        return 0
    me = t.serial << SERIAL_SHIFT | w.index
    place = row.reader + 4 * granule
    reader = u32[place]
    if reader in (EVERYBODY, me):
        return 0
    if reader and reader >> SERIAL_SHIFT == t.serial:
        if reader & GLOBAL_WAVE != w.index:
            u32[place] = reader | FLAG
        return 0
    if reader and u32[t.owners + 4 * (reader >> SERIAL_SHIFT)] != t.mine:
        me = EVERYBODY
    u32[place] = me
    u16[row.reader_site + 2 * granule] = site
    return 0


def global_access(w: Wave, c: Context, t: Thread, address: int, kind: int, size: int, site: int, lane: int) -> int:
    """One lane. Gives the host's pointer."""
    row: Row = row_of(t, address, site)
    if row == 0 or address - row.base + size > row.size:
        return fault(w, c, FaultKind.GLOBAL, address, size, site, lane)
    lanes = 1 << lane
    aligned = size
    if size > 4:
        aligned = 4
    if address & (aligned - 1):
        report(c, Event.GLOBAL_MISALIGNED, site, w.index, lanes, address, 0, 0)
    if t.muted:
        return address
    start = address - row.base
    reads = kind in (LOAD, SHARED_LOAD)
    me = t.serial << SERIAL_SHIFT | w.index
    writers = row.writer
    readers = row.reader
    for granule in range(start >> t.shift, ((start + size - 1) >> t.shift) + 1):
        if reads:
            reader = u32[readers + 4 * granule]
            if u32[writers + 4 * granule] or (reader != EVERYBODY and reader != me):
                global_read(w, c, t, row, granule, kind, site, lanes, address)
        else:
            global_write(w, c, t, row, granule, kind, site, lanes, address)
    return address
