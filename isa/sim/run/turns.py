"""Turns of workgroups: which of those that a launch has begun a host thread runs next, and whether all wait in vain.

In:  what threads tell: each turn that ended because all that could run of a workgroup looked for something in vain
     (`isa.sim.translate.time_slice`), and a number that grows with whatever makes progress: a look that found something
     new, a wave that ended, a workgroup that began or had its whole turn.
Out: how patient the next turn is, and when nobody can be waited for any more.

A launch waits in vain where its looks since the last progress are as many as the budget allows, or where each thread
found all that its waves hold as it was a turn before, and they cannot change memory; and after that every
thread has gone round its workgroups three times: once so that it does not compute; then all of them again, so that
whatever round is counted the third time began after that, and saw all that was stored before. Who computes for long, in
one turn, does not come round, and is waited for. While nothing makes progress turns grow, so that a look costs little
more than the loop's own instructions.

Limit: what the host changes while a kernel looks for it is no progress until it is seen.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from isa.object.code_object import DescribedKernel
from isa.targets import GFX1100

WGPS = 48
"""Of the card whose room decides how many workgroups are begun."""
_PATIENCE = 1024
_ROUNDS = 3
_PAUSE_S = 50e-6


def resident(kernel: DescribedKernel, vgprs: int, halves: int, lds: int, waves: int) -> int:
    """How many workgroups the card holds at once: so many VGPRs a wave, 32-lane halves, bytes of LDS, waves."""
    from isa.analysis import resources  # with the table of instructions, which most launches do without

    cus = 1 if kernel.descriptor.wgp_mode else 2
    limits = resources.workgroup_limits(vgprs * halves, lds, waves, 4 // cus, GFX1100)
    return max(1, WGPS * cus * min(limits.values()))


@dataclass
class Turns:
    """Those of one launch. limit: looks in vain, without progress, after which it waits in vain; progress: the number;
    begun: workgroups that have begun and not ended, at most: at first one of each thread."""

    limit: int
    progress: Callable[[], int]
    begun: int
    _seen: int = -1
    _looks: int = 0
    _held: dict[int, int | None] = field(default_factory=dict)  # thread -> what it held at its last turn
    _stuck: set[int] = field(default_factory=set)  # threads that held the same a turn before
    _rounds: int = 0  # of all threads, after that
    _due: set[int] = field(default_factory=set)  # threads that have not come round in this one
    _threads: set[int] = field(init=False)  # that have workgroups, or have yet to start
    _mine: threading.local = field(default_factory=threading.local)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._threads = set(range(self.begun))

    def join(self, thread: int) -> None:
        """This thread is that one of the launch."""
        self._mine.thread, self._mine.turns, self._mine.patience, self._mine.seen = thread, 0, 1, -1

    def leave(self) -> None:
        """It has no workgroup any more."""
        with self._lock:
            self._threads.discard(self._mine.thread)
            self._seen = -1

    @property
    def patience(self) -> int:
        """How often a workgroup may look in vain before its turn ends."""
        patience: int = self._mine.patience
        return patience

    def may_begin(self, most: int) -> bool:
        """Begin another workgroup, if the card has room for it."""
        with self._lock:
            room = self.begun < most
            self.begun += room
            return room

    def in_vain(self, workgroups: int, holds: Callable[[], int | None]) -> bool:
        """A turn has ended by looks in vain. workgroups: that this thread has begun; holds: gives a digest of all that
        decides what they do next, None where they, or the host, may change memory. Whether all wait in vain."""
        mine = self._mine
        mine.turns += 1
        if mine.turns < workgroups:
            return False
        looks, mine.turns, now = workgroups * mine.patience, 0, self.progress()
        if now != mine.seen:
            mine.seen, mine.patience = now, 1
        elif mine.patience < _PATIENCE:
            mine.patience *= 2
        else:
            time.sleep(_PAUSE_S)
        held = holds() if now == mine.seen and mine.patience == _PATIENCE else None
        with self._lock:
            if now != self._seen:
                self._seen, self._looks, self._rounds, self._due = now, 0, 0, set(self._threads)
                self._held.clear()
                self._stuck.clear()
                return False
            self._looks += looks
            if held is not None and held == self._held.get(mine.thread):
                self._stuck.add(mine.thread)
            else:
                self._stuck.discard(mine.thread)
            self._held[mine.thread] = held
            if self._looks < self.limit and not self._threads <= self._stuck:
                return False
            self._due.discard(mine.thread)
            if not self._due:
                self._rounds, self._due = self._rounds + 1, set(self._threads)
            return self._rounds == _ROUNDS
