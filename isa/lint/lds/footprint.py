"""Footprints of LDS accesses: which wave reaches which byte, from the lanes' addresses.

Only what is reached is held, in order, so that a footprint is as large as its access and not as its span.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isa.analysis.resources import LDS_PER_CU


@dataclass(frozen=True, slots=True)
class Footprint:
    """units: the numbers of the units of `grain` bytes that are reached, ascending; waves: for each a bit for each wave
    that reaches it."""

    grain: int
    units: Any
    waves: Any

    @property
    def content(self) -> tuple[int, bytes, bytes]:
        """What makes two the same."""
        return self.grain, self.units.tobytes(), self.waves.tobytes()

    def parted_by(self, end: int) -> bool:
        """Whether the first wave reaches bytes before `end` alone and the second others from there on alone."""
        starts = self.grain * self.units
        first, second = (starts[self.waves >> np.uint32(w) & np.uint32(1) != 0] for w in (0, 1))
        return bool(len(first) and len(second) and first[-1] < end <= second[0])

    def outside(self, end: int) -> int:
        """Bits of the waves all of whose bytes are at `end` or after it, where the first wave begins before `end`."""
        before = int(np.bitwise_or.reduce(self.waves[self.grain * self.units < end], initial=0))
        return int(np.bitwise_or.reduce(self.waves, initial=0)) & ~before if before & 1 else 0

    def without(self, waves: int) -> Footprint:
        """The same, but for these waves."""
        if not waves:
            return self
        left = self.waves & np.uint32(~waves & 0xFFFFFFFF)
        return Footprint(self.grain, self.units[left != 0], left[left != 0])

    def meets(self, other: Footprint) -> tuple[int, int, int] | None:
        """(byte, a wave that reaches it here, another that reaches it there); None where there is no such byte."""
        (low, high), (its_low, its_high) = self._span, other._span
        if low >= its_high or its_low >= high:
            return None
        grain = min(self.grain, other.grain)
        mine, theirs = self._in(grain), other._in(grain)
        shared, here, there = np.intersect1d(mine.units, theirs.units, assume_unique=True, return_indices=True)
        a, b = mine.waves[here], theirs.waves[there]
        both = a | b
        apart = both & (both - np.uint32(1)) != 0
        if not apart.any():
            return None
        at = int(np.argmax(apart))
        a, b = int(a[at]), int(b[at])
        first = next(w for w in range(32) if a >> w & 1 and b & ~(1 << w))
        return int(shared[at]) * grain, first, next(w for w in range(32) if b & ~(1 << first) & 1 << w)

    @property
    def _span(self) -> tuple[int, int]:
        """The first byte, and the one after the last."""
        return (self.grain * int(self.units[0]), self.grain * (int(self.units[-1]) + 1)) if len(self.units) else (0, 0)

    def _in(self, grain: int) -> Footprint:
        """The same in smaller units."""
        parts = self.grain // grain
        if parts == 1:
            return self
        return Footprint(grain, (self.units[:, None] * parts + np.arange(parts)).ravel(), np.repeat(self.waves, parts))


def footprint(addresses: Any, waves: Any, size: int) -> Footprint | None:
    """Of accesses of `size` bytes at `addresses`, each by the wave of its number; None where none lies within LDS."""
    addresses = addresses.astype(np.int64)
    inside = addresses + size <= LDS_PER_CU
    addresses, waves = addresses[inside], waves[inside]
    if not len(addresses):
        return None
    grain = 4 if not size % 4 and not (addresses % 4).any() else 1
    reached = addresses[:, None] // grain + np.arange(size // grain)
    units, which = np.unique(reached, return_inverse=True)
    found = np.zeros(len(units), np.uint32)
    bits = np.uint32(1) << waves.astype(np.uint32)
    np.bitwise_or.at(found, which.reshape(reached.shape), bits[:, None])
    return Footprint(grain, units, found)
