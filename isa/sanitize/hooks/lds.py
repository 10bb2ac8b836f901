"""LDS: a cell knows who wrote it since the last barrier, and who read it.

Two waves, one of which writes, in one epoch: a race. A load that has not completed when its wave arrives at a barrier
still reads behind it.
"""

from __future__ import annotations

from isa.sanitize.hooks.common import crooked, doubt, fault, report
from isa.sanitize.native import u8, u16, u32, u64
from isa.sanitize.state import (
    ATOMIC,
    ATOMIC_ACCESS,
    EIGHT_WRITTEN,
    LDS,
    LOAD,
    RING,
    SEVERAL,
    SEVERAL_ATOMICS,
    SHARED_LOAD,
    STORE,
    WAVE_MASK,
    WRITTEN,
    Event,
    Thread,
    Watched,
)
from isa.sim.state import Context, FaultKind, Wave


def lds_cells(w: Wave, c: Context, t: Thread, address: int, kind: int, size: int, site: int, lane: int) -> int:
    """The whole rule, cell by cell."""
    me = w.index + 1
    lanes = 1 << lane
    doubted = 0
    for cell in range(address >> t.shift, ((address + size - 1) >> t.shift) + 1):
        writer = u8[t.lds_writer + cell]
        by = writer & WAVE_MASK
        if kind != STORE and not writer & WRITTEN:
            report(c, Event.LDS_UNWRITTEN, site, w.index, lanes, address, 0, 0)
            u8[t.lds_writer + cell] = writer | WRITTEN
        shared = kind >= ATOMIC_ACCESS and writer & ATOMIC
        if by and by != me and not shared:
            event = Event.LDS_WRITE_AFTER_WRITE
            if kind in (LOAD, SHARED_LOAD):
                event = Event.LDS_READ_AFTER_WRITE
            other_site = u16[t.lds_writer_site + 2 * cell]
            if kind == STORE and not writer & ATOMIC:
                if not doubted:
                    doubt(w, c, event, site, lanes, address, by - 1, other_site, c.lds + address, size)
                doubted = 1
            else:
                report(c, event, site, w.index, lanes, address, by - 1, other_site)
        reader = u8[t.lds_reader + cell]
        if kind in (LOAD, SHARED_LOAD):
            if reader == 0:
                u8[t.lds_reader + cell] = me
            elif reader != me:
                u8[t.lds_reader + cell] = SEVERAL
            u16[t.lds_reader_site + 2 * cell] = site
        else:
            if reader and reader != me:
                report(
                    c, Event.LDS_WRITE_AFTER_READ, site, w.index, lanes, address, reader - 1,
                    u16[t.lds_reader_site + 2 * cell],
                )  # fmt: skip
            mark = WRITTEN | me
            if kind == ATOMIC_ACCESS and (by == 0 or writer & ATOMIC):
                mark = mark | ATOMIC
                if by and by != me:
                    mark = WRITTEN | ATOMIC | SEVERAL_ATOMICS
            u8[t.lds_writer + cell] = mark
            u16[t.lds_writer_site + 2 * cell] = site
    return 0


def lds_access(w: Wave, c: Context, t: Thread, address: int, kind: int, size: int, site: int, lane: int) -> int:
    """One lane. Gives the host's pointer. The usual cases are decided for up to four cells at a time."""
    if address + size > c.lds_bytes:
        return fault(w, c, FaultKind.LDS, address, size, site, lane)
    if crooked(address, size):
        report(c, Event.LDS_MISALIGNED, site, w.index, 1 << lane, address, 0, 0)
    cell = address >> t.shift
    cells = ((address + size - 1) >> t.shift) - cell + 1
    quick = 0
    if cells <= 4:
        ones = 0x01010101 >> 32 - 8 * cells
        mask = 0xFF * ones
        me = (w.index + 1) * ones
        old = u32[t.lds_writer + cell]
        writer = old & mask
        reading = u32[t.lds_reader + cell]
        reader = reading & mask
        own = writer == WRITTEN * ones or writer == WRITTEN * ones + me
        if kind == LOAD and own:
            quick = 1
            if reader == 0:
                u32[t.lds_reader + cell] = reading | me
            elif reader != me and reader != mask:
                quick = reader == (reader & 0xFF) * ones
                if quick:
                    u32[t.lds_reader + cell] = reading | mask
            if quick and reader != me and reader != mask:
                for i in range(cells):
                    u16[t.lds_reader_site + 2 * (cell + i)] = site
        if kind == STORE and (own or writer == 0) and (reader in (0, me)):
            quick = 1
            u32[t.lds_writer + cell] = (old & ~mask) | WRITTEN * ones | me
            for i in range(cells):
                u16[t.lds_writer_site + 2 * (cell + i)] = site
    if not quick:
        lds_cells(w, c, t, address, kind, size, site, lane)
    return c.lds + address


def still_reads(v: Watched, site: int) -> int:
    """Whether an LDS load of this site is in flight."""
    for i in range(v.done[LDS], v.issued[LDS]):
        slot = LDS * RING + i % RING
        if v.site[slot] == site and not v.writes[slot]:
            return 1
    return 0


def next_epoch(c: Context, t: Thread) -> int:
    late = 0
    for i in range(c.wave_count):
        w: Wave = c.waves + i * c.wave_bytes
        v: Watched = w.watch
        if v.issued[LDS] > v.done[LDS]:
            late = 1
    if not late:
        for word in range(t.cells // 8 + 1):  # there is room for a whole one at the end
            u64[t.lds_writer + 8 * word] = u64[t.lds_writer + 8 * word] & EIGHT_WRITTEN
            u64[t.lds_reader + 8 * word] = 0
        return 0
    for cell in range(t.cells):
        u8[t.lds_writer + cell] = u8[t.lds_writer + cell] & WRITTEN
        reader = u8[t.lds_reader + cell]
        if reader:
            keep = 0
            if reader != SEVERAL:
                r: Wave = c.waves + (reader - 1) * c.wave_bytes
                keep = still_reads(r.watch, u16[t.lds_reader_site + 2 * cell])
            if not keep:
                u8[t.lds_reader + cell] = 0
    return 0
