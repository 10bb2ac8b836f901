"""Which wave reaches which byte of LDS in one access."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

LDS_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Footprint:
    """waves: one number for each unit of `grain` bytes from `low` on, with a bit for each wave that reaches it."""

    low: int
    grain: int
    waves: Any

    @property
    def content(self) -> tuple[int, int, bytes]:
        """What makes two the same."""
        return self.low, self.grain, self.waves.tobytes()

    def parted_by(self, end: int) -> bool:
        """Whether the first wave reaches bytes before `end` alone and the second others from there on alone."""
        starts = self.low + self.grain * np.arange(len(self.waves))
        first, second = (starts[self.waves >> np.uint32(w) & np.uint32(1) != 0] for w in (0, 1))
        return bool(len(first) and len(second) and first[-1] < end <= second[0])

    def outside(self, end: int) -> int:
        """Bits of the waves all of whose bytes are at `end` or after it, where the first wave begins before `end`."""
        starts = self.low + self.grain * np.arange(len(self.waves))
        before = int(np.bitwise_or.reduce(self.waves[starts < end], initial=0))
        return int(np.bitwise_or.reduce(self.waves, initial=0)) & ~before if before & 1 else 0

    def without(self, waves: int) -> Footprint:
        """The same, but for these waves."""
        return Footprint(self.low, self.grain, self.waves & np.uint32(~waves & 0xFFFFFFFF)) if waves else self

    def meets(self, other: Footprint) -> tuple[int, int, int] | None:
        """(byte, a wave that reaches it here, another that reaches it there); None where there is no such byte."""
        grain = min(self.grain, other.grain)
        a, b = (np.repeat(f.waves, f.grain // grain) if f.grain > grain else f.waves for f in (self, other))
        start = max(self.low, other.low)
        end = min(self.low + len(a) * grain, other.low + len(b) * grain)
        if start >= end:
            return None
        a = a[(start - self.low) // grain : (end - self.low) // grain]
        b = b[(start - other.low) // grain : (end - other.low) // grain]
        both = a | b
        apart = (a != 0) & (b != 0) & (both & (both - np.uint32(1)) != 0)
        if not apart.any():
            return None
        at = int(np.argmax(apart))
        mine, theirs = int(a[at]), int(b[at])
        first = next(w for w in range(32) if mine >> w & 1 and theirs & ~(1 << w))
        return start + at * grain, first, next(w for w in range(32) if theirs & ~(1 << first) & 1 << w)


def footprint(addresses: Any, waves: Any, size: int) -> Footprint | None:
    """Of accesses of `size` bytes at `addresses`, each by the wave of its number; None where none lies within LDS."""
    inside = addresses + size <= LDS_BYTES
    addresses, waves = addresses[inside].astype(np.int64), waves[inside]
    if not len(addresses):
        return None
    grain = 4 if not size % 4 and not (addresses % 4).any() else 1
    low = int(addresses.min())
    units = (addresses - low) // grain
    found = np.zeros(int(units.max()) + size // grain, np.uint32)
    bits = np.uint32(1) << waves.astype(np.uint32)
    for k in range(size // grain):
        np.bitwise_or.at(found, units + k, bits)
    return Footprint(low, grain, found)
