"""What observers share: telling Python, and accesses that are outside."""

from __future__ import annotations

import ctypes

from isa.sanitize.native import at, call, struct, u8, u64
from isa.sanitize.state import DOUBTS, REPORTS, Doubt, Event, Thread
from isa.sim.state import Context, Wave

SINK = Context.sink.offset
DOUBT_STRIDE = ctypes.sizeof(Doubt)
DOUBT_BEFORE = Doubt.before.offset


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


def doubt(
    w: Wave, c: Context, event: int, site: int, lanes: int, address: int, other: int, other_site: int, pointer: int,
    size: int,
) -> int:  # fmt: skip
    """A store over what another wave stored: a race, but if the value stays the same. That is seen at the end of the
    wave's turn (`settle`): the observers come before the store."""
    t: Thread = c.watch
    if enough(c, event, site):
        return 0
    if t.doubt_count == DOUBTS:
        return report(c, event, site, w.index, lanes, address, other, other_site)
    d: Doubt = t.doubts + DOUBT_STRIDE * t.doubt_count
    t.doubt_count += 1
    d.event = event
    d.site = site
    d.lanes = lanes
    d.address = address
    d.other = other
    d.other_site = other_site
    d.pointer = pointer
    d.size = size
    for i in range(size):
        u8[at(d) + DOUBT_BEFORE + i] = u8[pointer + i]
    return 0


def settle(w: Wave, c: Context) -> int:
    """The wave's turn is over: which doubts are races."""
    t: Thread = c.watch
    for i in range(t.doubt_count):
        d: Doubt = struct(t.doubts + DOUBT_STRIDE * i)
        event = d.event
        same = 1
        for j in range(d.size):
            if u8[at(d) + DOUBT_BEFORE + j] != u8[d.pointer + j]:
                same = 0
        if same:
            event = Event.GLOBAL_SAME_VALUE
            if d.event == Event.LDS_WRITE_AFTER_WRITE:
                event = Event.LDS_SAME_VALUE
        report(c, event, d.site, w.index, d.lanes, d.address, d.other, d.other_site)
    t.doubt_count = 0
    return 0


def crooked(address: int, size: int) -> int:
    """Whether an access is misaligned: no multiple of 4, for a dword or more. amdhsa lets vector accesses be unaligned
    (LLVM FeatureUnalignedAccessMode), so that compilers make one of 2 bytes of two neighbours wherever they lie."""
    return size >= 4 and address & 3


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
