"""Scratch: each lane has its own, so all there is to know is whether a cell was written.

A load of what was not is no fault: compilers reload registers of which they need a part, and the part they do not need
was never saved. What such a load fills does not become ready, so that its use is one of a register that nobody wrote.
"""

from __future__ import annotations

from isa.sanitize.hooks.common import fault
from isa.sanitize.native import u8, u64
from isa.sanitize.state import LDS, LOAD, RING, SHARED_LOAD, Thread, Watched
from isa.sim.state import LANES, Context, FaultKind, Wave


def scratch_access(w: Wave, c: Context, t: Thread, address: int, kind: int, size: int, site: int, lane: int) -> int:
    """One lane. Gives the host's pointer."""
    if address + size > c.scratch_bytes:
        return fault(w, c, FaultKind.SCRATCH, address, size, site, lane)
    cells = t.scratch + (w.index * LANES + lane) * t.scratch_cells
    empty = 0
    for cell in range(address >> t.shift, ((address + size - 1) >> t.shift) + 1):
        if kind in (LOAD, SHARED_LOAD):
            empty |= not u8[cells + cell]
        else:
            u8[cells + cell] = 1
    if empty:
        fills_nothing(w.watch, site, 1 << lane)
    return w.scratch + lane * c.scratch_bytes + address


def fills_nothing(v: Watched, site: int, lane: int) -> int:
    """The load of this site, which was issued before or is issued next, fills nothing in a lane."""
    found = 0
    for stream in range(LDS + 1):
        latest = 0
        for i in range(v.done[stream], v.issued[stream]):
            slot = stream * RING + i % RING
            if v.site[slot] == site and v.count[slot]:
                latest = slot + 1
        if latest:
            v.filled[latest - 1] &= ~lane
            found = 1
    if not found:
        if v.empty_site != site + 1:
            v.empty_site = site + 1
            v.empty_lanes = 0
        v.empty_lanes |= lane
    return 0


def begin_scratch(c: Context, t: Thread) -> int:
    for word in range(c.wave_count * LANES * t.scratch_cells // 8):
        u64[t.scratch + 8 * word] = 0
    for i in range(c.wave_count):
        w: Wave = c.waves + i * c.wave_bytes
        v: Watched = w.watch
        v.empty_site = 0
    return 0
