"""Lanes of one wave that store different values to one place by one instruction: which of them stays is not defined.

Behind a store, each lane's place is read again (`stored`): where it does not hold what the lane stored, and another
lane stored there, too, the two stored different values. Of stores by wide moves the values are not at hand; that lanes
of different granules meet (`granules_meet`) is told as unclear, and the launch is run again without such moves.

Limits: two addresses of one instruction (ds_store_2addr) are two stores. Lanes that meet by different instructions are
in the order of these.
"""

from __future__ import annotations

from isa.sanitize.hooks.common import report
from isa.sanitize.native import u8, u32, u64
from isa.sanitize.state import APART, Event, Thread
from isa.sim.state import Context, Wave


def lost(place: int, words: int, size: int) -> int:
    """Whether memory does not hold what a lane stored. words: its first register, 32 lanes of each."""
    for i in range(size >> 2):
        if u32[place + 4 * i] != u32[words + 128 * i]:
            return 1
    for i in range(size & ~3, size):
        if u8[place + i] != u8[words + 128 * (i >> 2) + (i & 3)]:
            return 1
    return 0


def meeting(places: int, lane: int, size: int, exec_: int) -> int:
    """The lanes that stored to where this one did, as bits."""
    found = 0
    place = u64[places + 8 * lane]
    for other in range(32):
        if other != lane and exec_ >> other & 1 and u64[places + 8 * other] - place + size - 1 < 2 * size - 1:
            found |= 1 << other
    return found


def stored(w: Wave, c: Context, places: int, words: int, what: int, exec_: int) -> int:
    """A store is done. places: u64[32], the host's pointers; words: u32[register][32]; what: site << 8 | bytes."""
    size = what & 0xFF
    for lane in range(32):
        if exec_ >> lane & 1:
            place = u64[places + 8 * lane]
            if lost(place, words + 4 * lane, size):
                others = meeting(places, lane, size, exec_)
                if others:
                    event = Event.GLOBAL_LANES
                    if place - c.lds < c.lds_bytes:
                        event = Event.LDS_LANES
                        place = place - c.lds
                    report(c, event, what >> 8, w.index, others | 1 << lane, place, 0, 0)
    return 0


def granules_meet(w: Wave, c: Context, bases: int, count: int, pattern: int, lanes: int, what: int) -> int:
    """A store by wide moves whose granules are near one another: tell whether two lanes meet. bases: u64[count], the
    first lane of each; pattern: u64[lanes], the others' distances from it; what: as above. Granules that are as far
    from one another as they were are not looked at again."""
    t: Thread = c.watch
    size = what & 0xFF
    digest = what
    for i in range(1, count):
        digest = (digest + u64[bases + 8 * i] - u64[bases]) * 0x9E3779B97F4A7C15
    known = t.apart + 8 * ((what >> 8) % APART)
    if u64[known] == digest:
        return 0
    for i in range(count):
        for j in range(i):
            apart = u64[bases + 8 * i] - u64[bases + 8 * j]
            for a in range(lanes):
                for b in range(lanes):
                    between = apart + u64[pattern + 8 * a] - u64[pattern + 8 * b]
                    if between + size - 1 < 2 * size - 1:
                        report(c, Event.LANES_UNCLEAR, what >> 8, w.index, 0, 0, 0, 0)
                        return 1
    u64[known] = digest
    return 0
