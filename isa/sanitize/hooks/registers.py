"""Registers: which hold something, and which a load may still fill.

A load puts an entry into its stream (VMEM, LDS, SMEM; FLAT into two) and takes its registers' readiness away; a wait
retires entries and gives it back. Loads of VMEM complete in order, and so do those of LDS; of SMEM nothing is sure
before lgkmcnt(0) (`isa.analysis.waits` has the sources). So vmcnt(n) retires all VMEM entries but the last n,
lgkmcnt(n) all LDS entries but the last n, and SMEM's if n is 0.
"""

from __future__ import annotations

from isa.sanitize.hooks.common import report
from isa.sanitize.hooks.late import arrive_late, is_postponed, postpone, stream_of
from isa.sanitize.native import u32
from isa.sanitize.state import (
    ALL_LANES,
    ALSO,
    ANY_LANE,
    EVERY_LANE,
    LANE_SHIFT,
    LDS,
    MAY_BE_EMPTY,
    RING,
    SMEM,
    SOURCE_MASK,
    SOURCE_SHIFT,
    UNIT_MASK,
    VM,
    WRITES,
    Event,
    Watched,
)
from isa.sim.state import Context, Wave


def make_ready(v: Watched, unit: int, lanes: int) -> int:
    now = v.ready[unit] | lanes
    v.ready[unit] = now
    if now == ALL_LANES:
        v.full[unit >> 6] |= 1 << (unit & 63)
    return 0


def touch(w: Wave, c: Context, table: int, count: int, exec_: int, segment: int) -> int:
    """The slow way: some register of a segment is not ready in all lanes."""
    v: Watched = w.watch
    for i in range(count):
        entry = u32[table + 4 * i]
        unit = entry & UNIT_MASK
        lanes = exec_
        lane = entry >> LANE_SHIFT
        if unit >= 256 or (entry & EVERY_LANE and not lane):
            lanes = ALL_LANES
        elif lane:
            lanes = 1 << (lane - 1)
        if entry & WRITES:
            if v.pending[unit] & lanes:
                report(
                    c, Event.WRITE_IN_FLIGHT, segment, w.index, v.pending[unit] & lanes, unit, 0, v.load[unit] & 0xFFFF
                )
                v.pending[unit] = 0
                v.latest[unit] = 0
                if v.late:
                    postpone(w, v, unit)
            source = entry >> SOURCE_SHIFT & SOURCE_MASK
            if source:
                holds = v.ready[source - 1]
                if unit >= 256 and lane:
                    holds = ALL_LANES * (holds >> (lane - 1) & 1)
                lacks = lanes & ~holds
                if entry & ALSO:
                    lacks &= ~v.ready[unit]
                v.ready[unit] &= ~lacks
                if lacks:
                    v.full[unit >> 6] &= ~(1 << (unit & 63))
                lanes = lanes & ~lacks
            make_ready(v, unit, lanes)
        else:
            missing = lanes & ~v.ready[unit]
            if entry & ANY_LANE and v.ready[unit]:
                missing = missing & v.pending[unit]
            if missing:
                if missing & v.pending[unit]:
                    missing = missing & v.pending[unit]
                    report(c, Event.READ_IN_FLIGHT, segment, w.index, missing, unit, 0, v.load[unit] & 0xFFFF)
                    make_ready(v, unit, lanes)  # what follows from it is not told again
                    if v.late:
                        postpone(w, v, unit)
                elif not entry & MAY_BE_EMPTY:
                    report(c, Event.UNINITIALISED, segment, w.index, missing, unit, 0, 0)
                    make_ready(v, unit, lanes)
    return 0


def retire(w: Wave, v: Watched, stream: int) -> int:
    """The oldest entry of a stream has completed."""
    slot = stream * RING + v.done[stream] % RING
    v.done[stream] += 1
    partner = v.partner[slot]
    if partner and v.done[1 - stream] < partner:
        return 0  # a flat load: the other stream will
    if v.late:
        arrive_late(w, v, slot)
    first = v.first[slot]
    holds = first + v.count[slot] - v.tails[slot]
    for unit in range(first, first + v.count[slot]):
        if v.latest[unit] == v.entry[slot]:
            v.pending[unit] = 0
            v.latest[unit] = 0
            if unit < holds:
                make_ready(v, unit, v.filled[slot])
    return 0


def push(
    w: Wave,
    v: Watched,
    stream: int,
    first: int,
    count: int,
    lanes: int,
    site: int,
    writes: int,
    partner: int,
    kept: int,
) -> int:
    if v.issued[stream] - v.done[stream] >= RING - 1:
        retire(w, v, stream)  # the counter is full: issue waits
    slot = stream * RING + v.issued[stream] % RING
    v.issued[stream] += 1
    v.first[slot] = first
    v.count[slot] = count
    v.filled[slot] = lanes
    v.site[slot] = site
    v.writes[slot] = writes
    v.partner[slot] = partner
    v.kept[slot] = kept
    v.entry[slot] = v.number
    v.tails[slot] = 0
    if stream == SMEM:
        v.tails[slot] = v.tail
        v.tail = 0
    if v.empty_site == site + 1:
        v.filled[slot] &= ~v.empty_lanes
        if not partner or stream == LDS:
            v.empty_site = 0
    return 0


def issue(w: Wave, c: Context, streams: int, first: int, count: int, exec_: int, site: int, writes: int) -> int:
    """A memory instruction that fills `count` registers. streams: bits."""
    v: Watched = w.watch
    lanes = exec_
    if first >= 256:
        lanes = ALL_LANES
    if lanes == 0:
        return 0
    v.number += 1
    v.touched |= streams & 1
    stream = stream_of(streams)
    overtaken = 0
    for unit in range(first, first + count):
        before = v.pending[unit]
        if before & lanes and (v.load[unit] >> 16 != stream or stream == SMEM):
            report(c, Event.WRITE_IN_FLIGHT, site, w.index, before & lanes, unit | WRITES, 0, v.load[unit] & 0xFFFF)
            overtaken = 1
        v.pending[unit] = before | lanes
        v.load[unit] = site | stream << 16
        v.latest[unit] = v.number
        v.ready[unit] &= ~lanes
        v.full[unit >> 6] &= ~(1 << (unit & 63))
    kept = stream * RING + v.issued[stream] % RING
    if streams == 3:
        push(w, v, VM, first, count, lanes, site, writes, v.issued[LDS] + 1, kept)
        push(w, v, LDS, first, count, lanes, site, writes, v.issued[VM], kept)
    else:
        push(w, v, stream, first, count, lanes, site, writes, 0, kept)
    if v.late:
        for unit in range(first, first + count):
            if overtaken or is_postponed(v, unit):
                postpone(w, v, unit)
    return 0


def wait(w: Wave, vm: int, lgkm: int) -> int:
    v: Watched = w.watch
    while v.issued[VM] > v.done[VM] + vm:
        retire(w, v, VM)
    while v.issued[LDS] > v.done[LDS] + lgkm:
        retire(w, v, LDS)
    if lgkm == 0:
        while v.issued[SMEM] > v.done[SMEM]:
            retire(w, v, SMEM)
    return 0
