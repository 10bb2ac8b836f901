"""What observers share: telling Python, and accesses that are outside."""

from __future__ import annotations

from isa.sim.state import Context, Wave
from isa.sim.watch.native import at, call, u8, u64
from isa.sim.watch.state import REPORTS, Thread

SINK = Context.sink.offset


def report(c: Context, event: int, site: int, wave: int, lanes: int, address: int, other: int, other_site: int) -> int:
    t: Thread = c.watch
    place = t.seen + event * t.sites + site
    count = u8[place]
    if count >= REPORTS:
        return 0
    u8[place] = count + 1
    return call(t.report, at(c), event, site, wave, lanes, address, other, other_site)


def enough(c: Context, event: int, site: int) -> int:
    """Whether this was reported as often as it is."""
    t: Thread = c.watch
    return u8[t.seen + event * t.sites + site] >= REPORTS


def fault(w: Wave, c: Context, kind: int, address: int, size: int, site: int, lane: int) -> int:
    """An access that is outside: leave its description, if it is the first; give where it goes instead."""
    if c.fault == 0:
        c.fault = kind
        c.fault_address = address
        c.fault_site = site
        c.fault_lane = lane
        c.fault_bytes = size
        c.fault_wave = w.index
    for i in range(8):
        u64[at(c) + SINK + 8 * i] = 0
    return at(c) + SINK
