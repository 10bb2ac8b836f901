"""Buffer descriptors in Python's numbers: a second reading of RDNA3 ISA guide 8.2.1 and 9.1, that of
`isa.semantics.buffers` being on values of an engine."""

from __future__ import annotations

import random
from dataclasses import dataclass

STRUCTURED, INDEXED, UNCHECKED, RAW = range(4)


@dataclass(frozen=True)
class Buffer:
    """element: bytes of a swizzled element, 0 for none; group: index stride."""

    base: int
    stride: int
    records: int
    rule: int
    element: int = 0
    group: int = 8
    by_lane: bool = False

    def words(self) -> list[int]:
        swizzle = {0: 0, 4: 1, 8: 2, 16: 3}[self.element]
        groups = {8: 0, 16: 1, 32: 2, 64: 3}
        high = self.base >> 32 & 0xFFFF | self.stride << 16 | swizzle << 30
        more = groups[self.group] << 21 | self.by_lane << 23 | self.rule << 28 | 0x14FAC
        return [self.base & 0xFFFFFFFF, high, self.records, more]

    @staticmethod
    def of(words: list[int]) -> Buffer:
        low, high, records, more = words
        return Buffer(
            low | (high & 0xFFFF) << 32, high >> 16 & 0x3FFF, records, more >> 28 & 3, (0, 4, 8, 16)[high >> 30],
            (8, 16, 32, 64)[more >> 21 & 3], bool(more >> 23 & 1),
        )  # fmt: skip

    def place(self, index: int, offset: int) -> int:
        """Bytes from the base."""
        if not self.element:
            return index * self.stride + offset
        e, s = self.element, self.group
        of_group, of_element = divmod(index, s), divmod(offset, e)
        return (of_group[0] * self.stride + of_element[0] * e) * s + of_group[1] * e + of_element[1]

    def holds(self, index: int, offset: int, size: int, apart: int) -> bool:
        """Whether an access of `size` bytes is in range. apart: the scalar offset."""
        rule = self.rule
        if rule == RAW:
            if not (self.element and self.stride):
                return apart + index * self.stride + offset + size <= self.records
            rule = STRUCTURED
        if rule == STRUCTURED:
            return index < self.records and offset + size <= self.stride
        return index < self.records if rule == INDEXED else self.records != 0


def draw(chosen: random.Random, base: int, size: int, indexed: bool) -> Buffer:
    """A descriptor of which some accesses are out of range. base: of 4096 bytes; size: of an access; indexed: it has an
    index."""
    kind = chosen.randrange(6 if indexed else 3)
    grain = 16 if size > 8 else max(size, 4)
    if kind == 0:
        return Buffer(base, 0, chosen.choice((0, 200, 1001, 1500)), RAW)
    if kind == 1:
        return Buffer(base, 0, chosen.choice((0, 1, 77)), UNCHECKED)
    stride = grain * chosen.randrange(1, 32 // grain + 1)
    records = chosen.randrange(25)
    if kind in (2, 3):
        return Buffer(base, stride, records, chosen.randrange(3), by_lane=chosen.random() < 0.4)
    if kind == 4:
        return Buffer(base, stride, chosen.randrange(900), RAW)
    element = chosen.choice([e for e in (4, 8, 16) if e >= min(size, 8)])
    return Buffer(
        base, 16 * chosen.randrange(1, 3), records, chosen.choice((0, 1, 3)), element, chosen.choice((8, 16)),
        chosen.random() < 0.4,
    )  # fmt: skip
