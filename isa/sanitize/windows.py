"""Windows of accesses: accesses of loops with known patterns, reported to the hooks before the loop that makes them.

In:  accesses that `isa.sim.translate.vector_access` does by a few wide moves: for each its base and the distances of
     the lanes, which the loop's guards have checked. So all lanes are on, and all are inside the LDS, or inside one
     allocation.
Out: a loop over strips that looks at the cells of many lanes, and of all accesses with one base, at once. Where they
     are usual (`quick` says what that is) it marks them; where not, it tells `hook_access` of each access.

Cells are looked at by windows: neighbouring ones as one vector, with a constant mask that leaves out what no lane
touches. `quick` does the same lane by lane, for addresses of which nothing is known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from isa.registers import LANES
from isa.sanitize.quick import field, stamp
from isa.sanitize.state import (
    FLAG,
    GLOBAL_SPACE,
    GLOBAL_WAVE,
    LDS_SPACE,
    LOAD,
    SEVERAL,
    STORE,
    WRITTEN,
    Row,
    Thread,
    signed,
)
from isa.sanitize.stores import Call, near
from isa.sim.ir.ir import Function, Region
from isa.sim.ir.runtime import parts
from isa.sim.translate.guards import Guards
from isa.sim.translate.lane_strides import Pattern

WIDEST = 32
"""Cells of a window of LDS: bytes of one vector register. There are as many spare ones after the cells of LDS."""
WIDEST_GLOBAL = 8


@dataclass(frozen=True)
class Planned:
    """One access. space, kind, how: as `state` counts them; key, constant, pattern: as `WideAccess` takes them; size in
    bytes; site: its number; dwords: whether cells are dwords."""

    space: int
    kind: int
    how: int
    key: object
    constant: int
    pattern: Pattern
    size: int
    site: int
    dwords: bool

    @property
    def may_be_usual(self) -> bool:
        whole = self.dwords and self.size in (4, 8, 16) and all(d % 4 == 0 for d in self.pattern)
        return whole and (self.kind == LOAD or (self.kind == STORE and self.space == LDS_SPACE))

    @property
    def group(self) -> object:
        """Accesses in one group are looked at together."""
        if self.may_be_usual and self.space == LDS_SPACE:
            return self.key, self.kind, self.constant % 4
        return self


@dataclass(frozen=True)
class Window:
    """`start`: its first cell, counted from the group's; `sites`: which access touches each of its cells, -1: none."""

    start: int
    sites: tuple[int, ...]

    def row(self, element: int) -> str:
        """As `windows.ll` has it: the first cell, padding, ones for touched cells (i8 or i32), sites."""
        n = len(self.sites)
        fields = (
            ("i64", str(self.start)),
            ("[24 x i8]", "zeroinitializer"),
            (f"[{n} x i{element}]", "[" + ", ".join(f"i{element} {-(s >= 0)}" for s in self.sites) + "]"),
            (f"[{n} x i16]", "[" + ", ".join(f"i16 {signed(max(s, 0), 16)}" for s in self.sites) + "]"),
        )
        type_ = f"<{{ {', '.join(t for t, _ in fields)} }}>"
        return f"{type_} <{{ {', '.join(f'{t} {v}' for t, v in fields)} }}>"


def windows(cells: dict[int, int], size: int) -> Iterator[Window]:
    """As few as may be. cells: cell -> site."""
    rest = sorted(cells)
    while rest:
        start = rest[0]
        yield Window(start, tuple(cells.get(start + i, -1) for i in range(size)))
        rest = [c for c in rest if c - start >= size]


@dataclass(frozen=True)
class Checks:
    """Writes the loop. guards: of the loop that does the accesses; tell: writes a call of `hook_access` for a
    strip, given a pointer to its addresses and the number of its first lane. tables: filled with what the code needs
    beside it; call: writes a call of a hook."""

    f: Function
    region: Region
    guards: Guards
    tell: Callable[[Region, str, Planned, str], None]
    tables: list[str]
    call: Call

    def write(self, accesses: Iterable[Planned]) -> None:
        groups: dict[object, list[Planned]] = {}
        for access in accesses:
            groups.setdefault(access.group, []).append(access)
        f, region = self.f, self.region
        for store in (a for group in groups.values() for a in group if a.kind == STORE):
            self._lanes(store)
        name, before = f.name("told"), region.block
        strip = f"%{name}.strip"
        region.go_on(name)
        phi_at = len(region.lines)
        region.line("")
        for group in groups.values():
            self._write_group(group, strip)
        next_ = self._emit("add nuw nsw i64 %s, 1", strip)
        more = self._emit("icmp ult i64 %s, %s", next_, LANES // self.guards.strip)
        region.line(f"br i1 {more}, label %{name}, label %{name}.end")
        region.lines[phi_at] = f"  {strip} = phi i64 [0, %{before}], [{next_}, %{region.block}]"
        region.label(f"{name}.end")

    def _lanes(self, store: Planned) -> None:
        guards, region = self.guards, self.region
        form, n = guards.ranges[store.key].form, guards.granule
        strips, granules = range(LANES // guards.strip), range(guards.strip // n)
        bases = [guards.base(self.f, region, str(s), form, g) for s in strips for g in granules]
        what = store.site << 8 | store.size
        near(self.f, region, bases, store.pattern[:n], what, self.call, self.tables)

    def _write_group(self, group: Sequence[Planned], strip: str) -> None:
        f, region, one = self.f, self.region, group[0]
        form = self.guards.ranges[one.key].form
        granules = range(self.guards.strip // self.guards.granule)
        bases = [self.guards.base(f, region, strip, form, g) for g in granules]
        name = f.name("group")
        if one.may_be_usual:
            n = self.guards.granule
            first = min(a.constant + min(a.pattern[:n]) - a.pattern[0] for a in group)
            cells = {
                (a.constant - first + d - a.pattern[0]) // 4 + i: a.site
                for a in group for d in a.pattern[:n] for i in range(a.size // 4)
            }  # fmt: skip
            starts = [self._emit("add i64 %s, %s", base, first) for base in bases]
            if one.space == LDS_SPACE:
                self._lds(f"{name}.slow", starts, cells, one.kind == STORE)
            else:
                self._memory(f"{name}.slow", starts, cells, one.site)
            region.line(f"br label %{name}.done")
            region.label(f"{name}.slow")
        number = self._emit("mul nuw nsw i64 %s, %s", strip, self.guards.strip)
        for access in group:
            self.tell(region, self._addresses(bases, access), access, number)
        if one.may_be_usual:
            region.go_on(f"{name}.done")

    def _addresses(self, bases: Sequence[str], access: Planned) -> str:
        """A pointer to the addresses of a strip's lanes, i64."""
        n = self.guards.granule
        vector = f"<{n} x i64>"
        slot = self.f.alloca(f"<{self.guards.strip} x i64>", 64)
        for g, base in enumerate(bases):
            each = ", ".join(f"i64 {access.constant + d - access.pattern[0]}" for d in access.pattern[:n])
            lanes = self._emit(f"add {vector} %s, <{each}>", self.f.splat(self.region, "i64", n, base))
            place = self._emit("getelementptr i8, ptr %s, i64 %s", slot, 8 * n * g)
            self.region.line(f"store {vector} {lanes}, ptr {place}, align 8")
        return slot

    def _emit(self, form: str, *operands: str | int) -> str:
        return self.f.emit(self.region, form, *operands)

    def _go(self, trouble: Sequence[str], slow: str, usual: str) -> None:
        """On to label `usual`, if none of these holds."""
        every = trouble[0]
        for other in trouble[1:]:
            every = self._emit("or i1 %s, %s", every, other)
        self.region.branch(every, slow, usual, usual)

    def _crooked(self, start: str) -> str:
        return self._emit("icmp ne i64 %s, 0", self._emit("and i64 %s, 3", start))

    def _table(self, found: Sequence[Window], element: int) -> str:
        rows = [w.row(element) for w in found]
        name = f"@{self.f.name('windows')}"
        type_ = rows[0].partition("> <")[0] + ">"
        self.tables.append(f"{name} = internal constant [{len(rows)} x {type_}] [{', '.join(rows)}], align 32")
        return name

    # --- the usual cases
    def _lds(self, slow: str, starts: Sequence[str], cells: dict[int, int], stores: bool) -> None:
        found = list(windows(cells, WIDEST))
        table = self._table(found, 8)
        self._go([self._crooked(start) for start in starts], slow, self.f.name("straight"))
        for start in starts:
            cell = self._emit("lshr i64 %s, 2", start)
            kind = "stores" if stores else "loads"
            form = f"call i1 @unusual_lds_{kind}(ptr %s, i64 %s, ptr %s, i64 %s, i8 %s)"
            odd = self._emit(form, "%thread", cell, table, len(found), "%me.byte")
            self._go([odd], slow, self.f.name("usual"))

    def _memory(self, slow: str, starts: Sequence[str], cells: dict[int, int], site: int) -> None:
        """A load."""
        found = list(windows(cells, WIDEST_GLOBAL))
        table = self._table(found, 32)
        row = self._emit("load i64, ptr %s", self._emit("getelementptr i64, ptr %s, i64 %s", "%cache", site))
        self._go([self._emit("icmp eq i64 %s, 0", row)], slow, self.f.name("known"))
        pointer = self._emit("inttoptr i64 %s to ptr", row)
        base, size = (field(self.f, self.region, pointer, Row, n) for n in ("base", "size"))
        reach = 4 * (max(cells) + 1)
        trouble = [self._emit("icmp ult i64 %s, %s", size, reach)]
        limit = self._emit("sub i64 %s, %s", size, reach)
        offsets = [self._emit("sub i64 %s, %s", start, base) for start in starts]
        trouble += [self._crooked(offset) for offset in offsets]
        trouble += [self._emit("icmp ugt i64 %s, %s", offset, limit) for offset in offsets]
        self._go(trouble, slow, self.f.name("inside"))
        mark = stamp(self.f, self.region)
        for offset in offsets:
            form = "call i1 @unusual_memory(ptr %s, i64 %s, ptr %s, i64 %s, i32 %s, i32 %s)"
            odd = self._emit(form, pointer, offset, table, len(found), mark, "%oldest")
            self._go([odd], slow, self.f.name("usual"))


def planned_space(space: str) -> int:
    """As `state` counts them; -1 for those that are not reported here."""
    return {"lds": LDS_SPACE, "global": GLOBAL_SPACE}.get(space, -1)


def runtime() -> str:
    """The functions that the code calls, as IR: each looks at the windows of a table, and marks their cells unless one
    of them is unusual."""
    ir = parts(Path(__file__).with_name("windows.ll"))

    def of(*names: str) -> str:
        return "\n".join(ir[name] for name in names)

    lds = {"cell": "i8", "lanes": 32, "bytes": 128, "align": 32, "least": 1, "who": "i8 %me", "begin": of("lds_begin"),
           "writer": Thread.lds_writer.offset, "reader": Thread.lds_reader.offset}  # fmt: skip
    kinds = (
        {**lds, "kind": "lds_loads", "marks": "reader", "sites": Thread.lds_reader_site.offset,
         "rule": of("lds_rule", "load_rule"), "mark": of("load_mark", "lds_mark")},
        {**lds, "kind": "lds_stores", "marks": "writer", "sites": Thread.lds_writer_site.offset,
         "rule": of("lds_rule", "store_rule"), "mark": of("store_mark", "lds_mark")},
        {"cell": "i32", "lanes": 8, "bytes": 80, "align": 16, "least": 4, "who": "i32 %stamp, i32 %oldest",
         "writer": Row.writer.offset, "reader": Row.reader.offset, "begin": of("memory_begin"),
         "kind": "memory", "marks": "reader", "sites": Row.reader_site.offset,
         "rule": of("memory_rule"), "mark": of("memory_mark")},
    )  # fmt: skip
    numbers = {"WRITTEN": signed(WRITTEN, 8), "SEVERAL": signed(SEVERAL, 8), "FLAGS": FLAG | GLOBAL_WAVE}
    texts = []
    for kind in kinds:
        values = {**kind, **numbers, "GLOBAL_WAVE": GLOBAL_WAVE, "cells": f"<{kind['lanes']} x {kind['cell']}>"}
        text = ir["function"]
        for _ in range(2):  # what is put in has short forms, too
            text = re.sub(r"\{(\w+)\}", lambda m: str(values[m[1]]), text)  # noqa: B023
        texts.append(text)
    return "\n".join([*texts, "declare i8 @llvm.cttz.i8(i8, i1)"])
