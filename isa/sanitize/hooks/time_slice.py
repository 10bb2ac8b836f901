"""Accesses by strips, barriers, and whose turn it is.

A wave runs until it waits, ends, or its turn is over. Waves that wait go on when all that have not ended wait.
"""

from __future__ import annotations

from isa.sanitize.hooks.common import SINK, report, settle
from isa.sanitize.hooks.lds import lds_access, next_epoch
from isa.sanitize.hooks.memory import global_access
from isa.sanitize.hooks.registers import make_ready
from isa.sanitize.hooks.scratch import begin_scratch, scratch_access
from isa.sanitize.hooks.workgroup_order import begin_order, next_order
from isa.sanitize.native import at, call, fetch_add, u8, u32, u64
from isa.sanitize.state import (
    ALL_LANES,
    COHERENT,
    FLAT_SPACE,
    LDS,
    LDS_SPACE,
    NO_WAVE,
    RING,
    SCALAR,
    SCRATCH_SPACE,
    UNITS,
    Event,
    Thread,
    Watched,
)
from isa.sim.state import PRIVATE_APERTURE, SHARED_APERTURE, Context, Stop, Wave

EXEC_NUMBER = 126


def access(w: Wave, c: Context, addresses: int, lanes: int, what: int, first: int) -> int:
    """One strip's access. The addresses of its lanes (u64) become the host's pointers, of lanes that are off, and of
    accesses that are outside, to the thread's sink. lanes: a bit for each that is on.

    what: site << 32 | bytes << 16 | lanes of a strip << 8 | COHERENT | SCALAR | space | kind. first: the strip's first
    lane.
    """
    t: Thread = c.watch
    site = what >> 32
    size = what >> 16 & 0xFFFF
    space = what & 0xC
    kind = what & 3
    how = what & (COHERENT | SCALAR)
    for i in range(what >> 8 & 0xFF):
        pointer = at(c) + SINK
        if lanes >> i & 1:
            address = u64[addresses + 8 * i]
            high = address >> 32
            if space == LDS_SPACE or (space == FLAT_SPACE and high == SHARED_APERTURE):
                pointer = lds_access(w, c, t, address & 0xFFFFFFFF, kind, size, site, first + i)
            elif space == SCRATCH_SPACE or (space == FLAT_SPACE and high == PRIVATE_APERTURE):
                pointer = scratch_access(w, c, t, address & 0xFFFFFFFF, kind, size, site, first + i)
            else:
                pointer = global_access(w, c, t, address, kind, how, size, site, first + i)
        u64[addresses + 8 * i] = pointer
    return 0


def arrive(w: Wave, c: Context, site: int) -> int:
    v: Watched = w.watch
    v.barrier = site
    exec_ = w.s[EXEC_NUMBER]
    if exec_ != v.lanes:
        report(c, Event.BARRIER_EXEC, site, w.index, exec_, 0, 0, 0)
    if c.wave_count > 1:
        for i in range(v.done[LDS], v.issued[LDS]):
            slot = LDS * RING + i % RING
            if v.writes[slot]:
                report(c, Event.BARRIER_STORE, site, w.index, v.filled[slot], 0, 0, v.site[slot])
    return 0


def release(c: Context, t: Thread) -> int:
    """All waves that have not ended wait."""
    ended = 0
    first = NO_WAVE
    for i in range(c.wave_count):
        w: Wave = c.waves + i * c.wave_bytes
        if w.done:
            ended = ended | 1 << i
        elif first == NO_WAVE:
            first = i
    leader: Wave = c.waves + first * c.wave_bytes
    lead: Watched = leader.watch
    if ended:
        report(c, Event.BARRIER_ENDED, lead.barrier, first, 0, ended, 0, 0)
    for i in range(c.wave_count):
        o: Wave = c.waves + i * c.wave_bytes
        ov: Watched = o.watch
        if not o.done:
            if ov.barrier != lead.barrier:
                report(c, Event.BARRIER_APART, ov.barrier, i, 0, 0, first, lead.barrier)
            ov.waiting = 0
    next_epoch(c, t)
    next_order(c, t)
    return 0


def random(t: Thread) -> int:
    x = t.random
    x = x ^ x << 13
    x = x ^ x >> 7
    x = x ^ x << 17
    t.random = x
    return x >> 11


def begin(c: Context, t: Thread, group: int) -> int:
    """Nothing is known of the workgroup's waves and LDS but what the hardware sets."""
    t.mine = group + 1
    begin_order(c, t)
    begin_scratch(c, t)
    for cell in range(t.cells):
        u8[t.lds_writer + cell] = 0
        u8[t.lds_reader + cell] = 0
    for i in range(c.wave_count):
        w: Wave = c.waves + i * c.wave_bytes
        v: Watched = w.watch
        v.lanes = w.s[EXEC_NUMBER]
        v.waiting = 0
        v.number = 0
        for stream in range(3):
            v.issued[stream] = 0
            v.done[stream] = 0
        for word in range(7):
            v.full[word] = 0
        for unit in range(UNITS):
            v.ready[unit] = 0
            v.pending[unit] = 0
            v.latest[unit] = 0
            if t.given[unit >> 6] >> (unit & 63) & 1:
                make_ready(v, unit, ALL_LANES)
            elif unit < 256:
                make_ready(v, unit, v.lanes ^ ALL_LANES)  # lanes that do not exist
    return 0


def run_group(c: Context, t: Thread) -> int:
    """Its waves in turns, to the end: Stop.END, or why one stopped."""
    count = c.wave_count
    while 1:
        start = 0
        step = 1
        if t.shuffles:
            start = random(t) % count
            if random(t) & 1:
                step = count - 1
        ready = 0
        waiting = 0
        for i in range(count):
            w: Wave = c.waves + (start + i * step) % count * c.wave_bytes
            v: Watched = w.watch
            if not w.done:
                if not v.waiting:
                    v.slice = 1 << 62
                    if t.slice:
                        v.slice = 1 + random(t) % t.slice
                    stop = call(t.run_wave, at(w), at(c))
                    if t.doubt_count:
                        settle(w, c)
                    if stop == Stop.END:
                        w.done = 1
                    elif stop == Stop.BARRIER:
                        v.waiting = 1
                    elif stop == Stop.YIELD or (stop == Stop.BUDGET and call(t.next_turn, at(c))):
                        ready += 1
                    else:
                        if stop == Stop.BUDGET:
                            c.fault_wave = w.index
                        return stop
                waiting += v.waiting
        if ready == 0:
            if waiting == 0:
                return Stop.END
            release(c, t)
        if u32[c.abort]:
            return Stop.ABORT
    return 0


def run(c: Context) -> int:
    """Workgroups until there are none left."""
    t: Thread = c.watch
    while u32[c.abort] == 0:
        number = fetch_add(c.counter, 1)
        if number >= c.total:
            return Stop.END
        group = (number * t.stride + t.offset) % c.total
        c.group = group
        call(t.start_group, at(c), group)
        begin(c, t, group)
        stop = run_group(c, t)
        if stop != Stop.END:
            return stop
    return Stop.ABORT
