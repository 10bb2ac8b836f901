"""Reports of stores: IR that hands a strip's stores to the hooks of lanes (`hooks/lanes.c`).

kept        of a store lane by lane: where each lane stores and what, for `stored` after the loop
near        of a store by wide moves, in front of the loop: a call of `granules_meet`, if granules are so near that
            their lanes may meet; lanes of one granule must not (`overlaps`)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from isa.registers import LANES
from isa.sim.ir.ir import Function, Region
from isa.sim.ir.llvm_values import LlvmValue
from isa.sim.translate.lane_strides import Pattern

Call = Callable[..., None]
"""Writes a call of a hook: (region, its name, arguments)."""


@dataclass(frozen=True)
class Kept:
    """Arrays of one store: the host's pointers of 32 lanes; 32 lanes of each register. what: its site and bytes."""

    places: str
    words: str
    what: int

    def check(self, f: Function, region: Region, call: Call, exec_: str) -> None:
        """The store is done."""
        arrays = [f.emit(region, "ptrtoint ptr %s to i64", array) for array in (self.places, self.words)]
        call(region, "stored", "%w.int", "%c.int", *arrays, self.what, exec_)


def kept(
    f: Function, region: Region, lanes: int, pointers: str, data: Sequence[LlvmValue], first: str, site: int, size: int
) -> Kept:
    """One strip's part. pointers: a vector; first: the number of its first lane, i64."""
    places, words = f.alloca(f"[{LANES} x i64]", 64), f.alloca(f"[{LANES * len(data)} x i32]", 64)
    mine = f.emit(region, "getelementptr i64, ptr %s, i64 %s", places, first)
    wide = f.emit(region, f"ptrtoint <{lanes} x ptr> %s to <{lanes} x i64>", pointers)
    region.line(f"store <{lanes} x i64> {wide}, ptr {mine}, align 8")
    for i, value in enumerate(data):
        whole = value.to("u32") if value.type != "u32" else value
        place = f.emit(region, f"getelementptr [{LANES} x i32], ptr %s, i64 %s, i64 %s", words, i, first)
        region.line(f"store {whole!r}, ptr {place}, align 4")
    return Kept(places, words, site << 8 | size)


def overlaps(pattern: Pattern, size: int) -> bool:
    """Whether lanes of a granule meet."""
    apart = sorted(pattern)
    return any(b - a < size for a, b in pairwise(apart))


def near(
    f: Function, region: Region, bases: Sequence[str], pattern: Pattern, what: int, call: Call, tables: list[str]
) -> None:
    """bases: the first lane of each granule, i64."""
    size = what & 0xFF
    extent = max(pattern) - min(pattern) + size
    close = None
    for i, base in enumerate(bases):
        for other in bases[:i]:
            apart = f.emit(region, "add i64 %s, %s", f.emit(region, "sub i64 %s, %s", base, other), extent - 1)
            one = f.emit(region, "icmp ult i64 %s, %s", apart, 2 * extent - 1)
            close = one if close is None else f.emit(region, "or i1 %s, %s", close, one)
    if close is None:
        return
    name = f.name("near")
    region.branch(close, name, f"{name}.not", name)
    slot = f.alloca(f"[{len(bases)} x i64]", 64)
    for i, base in enumerate(bases):
        place = f.emit(region, "getelementptr i64, ptr %s, i64 %s", slot, i)
        region.line(f"store i64 {base}, ptr {place}")
    table = f"@{f.name('lanes')}"
    distances = ", ".join(f"i64 {d}" for d in pattern)
    tables.append(f"{table} = internal constant [{len(pattern)} x i64] [{distances}]")
    arrays = [f.emit(region, "ptrtoint ptr %s to i64", array) for array in (slot, table)]
    call(region, "granules_meet", "%w.int", "%c.int", arrays[0], len(bases), arrays[1], len(pattern), what)
    region.go_on(f"{name}.not")
