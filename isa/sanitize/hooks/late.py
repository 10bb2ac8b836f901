"""Loads whose results appear when they are awaited: the memory of registers is put back to what it was.

A load writes its registers when it is issued. In a launch where a register is touched before that is allowed, each
load first keeps what they held (`keep`). Where such a register is touched early, `postpone` exchanges what it holds
with what was kept, from the youngest load in flight that fills it to the oldest: so it holds again what it held before
them, and each load has kept its own result. When a load has completed, `arrive` puts the result in its place, over
whatever was written meanwhile.

What a load keeps lies under its number in the ring of its stream: 32 lanes for each of up to 4 VGPRs, or up to 16
SGPRs.
"""

from __future__ import annotations

from isa.sanitize.native import at, u32
from isa.sanitize.state import KEPT_WORDS, LDS, RING, SMEM, VM, Watched
from isa.sim.state import VGPRS, Wave


def register(w: Wave, v: Watched, unit: int, lane: int) -> int:
    """The address of a register, in one lane."""
    if unit >= 256:
        return at(w) + 4 * (unit - 256)
    return at(w) + VGPRS + 4 * (v.strip * (lane // v.strip * v.vgprs + unit) + lane % v.strip)


def kept(v: Watched, slot: int, n: int, unit: int, lane: int) -> int:
    """The address of what a load has kept of its n-th register."""
    if unit >= 256:
        return v.late + 4 * (slot * KEPT_WORDS + n)
    return v.late + 4 * (slot * KEPT_WORDS + 32 * n + lane)


def stream_of(streams: int) -> int:
    """The stream whose ring an access is kept in: the first of those that it counts in."""
    if streams == 4:
        return SMEM
    if streams & 1:
        return VM
    return LDS


def lanes_of(unit: int) -> int:
    if unit >= 256:
        return 1
    return 32


def keep(w: Wave, streams: int, first: int, count: int) -> int:
    """A load is about to be issued."""
    v: Watched = w.watch
    stream = stream_of(streams)
    slot = stream * RING + v.issued[stream] % RING
    v.swapped[slot] = 0
    for n in range(count):
        for lane in range(lanes_of(first)):
            u32[kept(v, slot, n, first + n, lane)] = u32[register(w, v, first + n, lane)]
    return 0


def exchange(w: Wave, v: Watched, entry: int, unit: int) -> int:
    n = unit - v.first[entry]
    slot = v.kept[entry]
    v.swapped[slot] |= 1 << n
    for lane in range(lanes_of(unit)):
        if unit >= 256 or v.filled[entry] >> lane & 1:
            here = register(w, v, unit, lane)
            there = kept(v, slot, n, unit, lane)
            now = u32[here]
            u32[here] = u32[there]
            u32[there] = now
    return 0


def fills(v: Watched, entry: int, unit: int) -> int:
    return unit >= v.first[entry] and unit < v.first[entry] + v.count[entry]


def swapped(v: Watched, entry: int, unit: int) -> int:
    return v.swapped[v.kept[entry]] >> (unit - v.first[entry]) & 1


def postpone(w: Wave, v: Watched, unit: int) -> int:
    """The register holds again what it held before the loads that are in flight."""
    below = 1 << 62
    while 1:
        youngest = 0
        found = 0
        for stream in range(3):
            for i in range(v.done[stream], v.issued[stream]):
                entry = stream * RING + i % RING
                number = v.entry[entry]
                if number < below and number > youngest and fills(v, entry, unit):
                    youngest = number
                    found = entry
        if youngest == 0:
            return 0
        below = youngest
        if not swapped(v, found, unit):
            exchange(w, v, found, unit)
    return 0


def is_postponed(v: Watched, unit: int) -> int:
    """Whether a load in flight has been put off that fills the register."""
    for stream in range(3):
        for i in range(v.done[stream], v.issued[stream]):
            entry = stream * RING + i % RING
            if fills(v, entry, unit) and swapped(v, entry, unit):
                return 1
    return 0


def arrive_late(w: Wave, v: Watched, entry: int) -> int:
    """A load has completed."""
    first = v.first[entry]
    for unit in range(first, first + v.count[entry]):
        if swapped(v, entry, unit):
            exchange(w, v, entry, unit)
    v.swapped[v.kept[entry]] = 0
    return 0
