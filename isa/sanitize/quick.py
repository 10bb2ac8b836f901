"""Fast checks: the usual cases of an access, decided in the kernel's own code for a strip of lanes at once.

An access is usual if all its lanes that are on stay inside, are aligned to dwords, and meet cells of which hooks
has nothing to report: not written in this epoch, or by this wave. Then only the marks change. Everything else,
and kernels with accesses below a dword, go to `hook_access`.

LDS cells are bytes, so a lane's one to four dwords are an i8, i16 or i32 of marks: a strip's are one vector.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

from isa.sanitize import lanes as by_lane
from isa.sanitize.state import FLAG, GLOBAL_WAVE, SERIAL_SHIFT, SEVERAL, WRITTEN, Row, Shadow, Thread, signed
from isa.sim.ir.ir import Function, Region
from isa.sim.ir.llvm_values import LlvmValue
from isa.sim.ir.runtime import field_pointer
from isa.sim.ir.state import SINK_BYTES, Context

_CELLS = (1, 2, 4)
_SERIAL = Shadow.serial.offset


def prepare(f: Function, region: Region, lanes: int) -> None:
    """What does not change while a wave runs from one barrier to the next; to be written once, in front of all code."""
    thread = f.emit(region, "load i64, ptr %s", f.emit(region, field_pointer("C", "shadow")))
    region.line(f"%thread = inttoptr i64 {thread} to ptr")
    for name in ("lds_writer", "lds_reader", "lds_writer_site", "lds_reader_site", "cache"):
        region.line(f"%{name} = inttoptr i64 {field(f, region, '%thread', Thread, name)} to ptr")
    region.line(f"%dummy = add i64 {field(f, region, '%thread', Thread, 'cells')}, 0")
    index = f.emit(region, "load i32, ptr %s", f.emit(region, field_pointer("W", "index")))
    one = f.emit(region, "add i32 %s, 1", index)
    byte = f.emit(region, "trunc i32 %s to i8", one)
    region.line(f"%me.byte = or i8 {byte}, 0")
    region.line(f"%mine.byte = or i8 {byte}, {WRITTEN - 256}")
    for cells in _CELLS:
        n = lanes * cells
        for name in ("me", "mine"):
            first = f.emit(region, f"insertelement <{n} x i8> poison, i8 %s, i32 0", f"%{name}.byte")
            region.line(
                f"%{name}{cells} = shufflevector <{n} x i8> {first}, <{n} x i8> poison, <{n} x i32> zeroinitializer"
            )
    region.line(f"%index = or i32 {index}, 0")
    oldest = field(f, region, "%thread", Thread, "oldest")
    region.line(f"%oldest = trunc i64 {f.emit(region, 'shl i64 %s, %s', oldest, SERIAL_SHIFT)} to i32")
    region.line(f"%sink = getelementptr i8, ptr %c, i64 {Context.sink.offset}")
    assert SINK_BYTES >= 16


def field(f: Function, region: Region, pointer: str, struct: type[ctypes.Structure], name: str) -> str:
    """A u64 of a struct."""
    place = f.emit(region, "getelementptr i8, ptr %s, i64 %s", pointer, getattr(struct, name).offset)
    return f.emit(region, "load i64, ptr %s", place)


def stamp(f: Function, region: Region) -> str:
    """What this wave's accesses to global memory leave now, an i32."""
    serial = f.emit(region, "load i32, ptr %s", f.emit(region, f"getelementptr i8, ptr %shadow, i64 {_SERIAL}"))
    return f.emit(region, "or i32 %s, %s", f.emit(region, "shl i32 %s, %s", serial, SERIAL_SHIFT), "%index")


@dataclass(frozen=True)
class Quick:
    """One strip's access that may be usual. mask: which lanes are on, None for all; size in bytes; site: its number."""

    f: Function
    region: Region
    lanes: int
    address: LlvmValue
    mask: LlvmValue | None
    size: int
    site: int
    stores: bool

    @property
    def cells(self) -> int:
        return self.size // 4

    def _emit(self, form: str, *operands: str | int) -> str:
        return self.f.emit(self.region, form, *operands)

    def _vector(self, type_: str) -> str:
        return f"<{self.lanes} x {type_}>"

    def _splat(self, type_: str, value: str) -> str:
        return self.f.splat(self.region, type_, self.lanes, value)

    def _any(self, type_: str, bits: str) -> str:
        """Whether any bit of a vector of b1 is set, as i1; type_ is the vector's."""
        count = int(type_[1:].split(" ")[0])
        return self._emit(f"icmp ne i{count} %s, 0", self._emit(f"bitcast {type_} %s to i{count}", bits))

    def _outside(self, type_: str, offset: str, limit: str) -> str:
        """Lanes that are on and not inside, or not aligned: b1. limit: scalar, the last good offset."""
        vector = self._vector(type_)
        beyond = self._emit(f"icmp ugt {vector} %s, %s", offset, self._splat(type_, limit))
        odd = self._emit(f"trunc {vector} %s to {self._vector('i2')}", offset)
        crooked = self._emit(f"icmp ne {self._vector('i2')} %s, zeroinitializer", odd)
        wrong = self._emit(f"or {self._vector('i1')} %s, %s", beyond, crooked)
        if self.mask is not None:
            wrong = self._emit(f"and {self._vector('i1')} %s, %s", wrong, self.mask.ref)
        return wrong

    def _where_on(self, type_: str, value: str, otherwise: str) -> str:
        if self.mask is None:
            return value
        vector = self._vector(type_)
        return self._emit(f"select {self.mask.llvm} %s, {vector} %s, {vector} %s", self.mask.ref, value, otherwise)

    def lds(self, slow: str) -> str:
        """Decide and mark an LDS access. Goes to label `slow` where it is not usual, with nothing changed. Gives the
        host's pointers, a vector."""
        f, cells, lanes = self.f, self.cells, self.lanes
        limit = self._emit("trunc i64 %s to i32", self._emit("sub i64 %s, %s", "%lds.size", self.size))
        wrong = self._outside("i32", self.address.ref, limit)
        fits = self._emit("icmp uge i64 %s, %s", "%lds.size", self.size)
        bad = self._emit("or i1 %s, %s", self._any(self._vector("i1"), wrong), self._emit("xor i1 %s, true", fits))
        name = f.name("lds")
        self.region.line(f"br i1 {bad}, label %{slow}, label %{name}.inside")
        self.region.label(f"{name}.inside")
        wide = self._emit(f"zext {self.address.llvm} %s to {self._vector('i64')}", self.address.ref)
        cell = self._emit(f"lshr {self._vector('i64')} %s, splat (i64 2)", wide)
        cell = self._where_on("i64", cell, self._splat("i64", "%dummy"))
        marks, bytes_ = f"i{8 * cells}", f"<{lanes * cells} x i8>"
        bits = f"<{lanes * cells} x i1>"
        writers, readers = (self._marks(base, cell, marks, bytes_) for base in ("%lds_writer", "%lds_reader"))
        me, mine = f"%me{cells}", f"%mine{cells}"
        none = "zeroinitializer"
        written = f"splat (i8 {WRITTEN - 256})"
        quiet = self._either(bytes_, bits, writers, [mine, written, *([none] if self.stores else [])])
        unread = self._either(bytes_, bits, readers, [none, me])
        if self.mask is not None and not self.stores:  # a load's lanes that are off
            off = self._spread(self._emit(f"xor {self._vector('i1')} %s, splat (i1 true)", self.mask.ref))
            quiet = self._emit(f"or {bits} %s, %s", quiet, off)
        good = self._emit(f"and {bits} %s, %s", quiet, unread) if self.stores else quiet
        trouble = self._any(bits, self._emit(f"xor {bits} %s, splat (i1 true)", good))
        self.region.line(f"br i1 {trouble}, label %{slow}, label %{name}.usual")
        self.region.label(f"{name}.usual")
        if self.stores:
            self._mark("%lds_writer", "%lds_writer_site", cell, self._cells_on(mine), marks, bytes_)
        else:
            new = self._emit(f"select {bits} %s, {bytes_} %s, {bytes_} splat (i8 %s)", unread, me, SEVERAL - 256)
            changed = self._any(bits, self._emit(f"icmp ne {bytes_} %s, %s", new, readers))
            self.region.line(f"br i1 {changed}, label %{name}.mark, label %{name}.marked")
            self.region.label(f"{name}.mark")
            self._mark("%lds_reader", "%lds_reader_site", cell, self._cells_on(new), marks, bytes_)
            self.region.line(f"br label %{name}.marked")
            self.region.label(f"{name}.marked")
        pointers = self._emit(f"getelementptr i8, ptr %s, {self._vector('i64')} %s", "%lds", wide)
        return self._where_on("ptr", pointers, self._splat("ptr", "%sink"))

    def _cells_on(self, marks: str) -> str:
        """Marks, none for lanes that are off."""
        if self.mask is None:
            return marks
        n = self.lanes * self.cells
        on = self._spread(self.mask.ref)
        return self._emit(f"select <{n} x i1> %s, <{n} x i8> %s, <{n} x i8> zeroinitializer", on, marks)

    def _spread(self, lanes_bits: str) -> str:
        """A b1 for each lane -> the same for each of its cells."""
        n = self.lanes * self.cells
        order = ", ".join(f"i32 {i // self.cells}" for i in range(n))
        vector = self._vector("i1")
        return self._emit(f"shufflevector {vector} %s, {vector} poison, <{n} x i32> <{order}>", lanes_bits)

    def _either(self, bytes_: str, bits: str, value: str, choices: list[str]) -> str:
        found = ""
        for choice in choices:
            same = self._emit(f"icmp eq {bytes_} %s, %s", value, choice)
            found = self._emit(f"or {bits} %s, %s", found, same) if found else same
        return found

    def _marks(self, base: str, cells: str, marks: str, bytes_: str) -> str:
        """The cells of all lanes as a vector of bytes."""
        type_ = self._vector(marks)
        vector = by_lane.gather(self.f, self.region, self.lanes, marks, base, cells)
        return vector if type_ == bytes_ else self._emit(f"bitcast {type_} %s to {bytes_}", vector)

    def _mark(self, base: str, sites: str, cells: str, new: str, marks: str, bytes_: str) -> None:
        type_ = self._vector(marks)
        vector = new if type_ == bytes_ else self._emit(f"bitcast {bytes_} %s to {type_}", new)
        site = signed(self.site, 16)
        by_lane.mark(self.f, self.region, self.lanes, self.cells, base, sites, cells, vector, site)

    def memory(self, slow: str) -> str:
        """The same for a load from global memory; it is usual where nothing was written, and only
        this wave, everybody or earlier workgroups read."""
        f = self.f
        place = self._emit("getelementptr i64, ptr %s, i64 %s", "%cache", self.site)
        row = self._emit("load i64, ptr %s", place)
        name = f.name("memory")
        known = self._emit("icmp ne i64 %s, 0", row)
        self.region.line(f"br i1 {known}, label %{name}.known, label %{slow}")
        self.region.label(f"{name}.known")
        pointer = self._emit("inttoptr i64 %s to ptr", row)
        base, size, writer, reader = (
            field(f, self.region, pointer, Row, n) for n in ("base", "size", "writer", "reader")
        )
        vector = self._vector("i64")
        offset = self._emit(f"sub {vector} %s, %s", self.address.ref, self._splat("i64", base))
        limit = self._emit("sub i64 %s, %s", size, self.size)
        fits = self._emit("icmp uge i64 %s, %s", size, self.size)
        wrong = self._any(self._vector("i1"), self._outside("i64", offset, limit))
        bad = self._emit("or i1 %s, %s", wrong, self._emit("xor i1 %s, true", fits))
        self.region.line(f"br i1 {bad}, label %{slow}, label %{name}.inside")
        self.region.label(f"{name}.inside")
        offset = self._where_on("i64", offset, "zeroinitializer")
        words = self._vector("i32")
        mine_now = stamp(f, self.region)
        shared = self._splat("i32", self._emit("or i32 %s, %s", mine_now, FLAG | GLOBAL_WAVE))
        me, oldest = self._splat("i32", mine_now), self._splat("i32", "%oldest")
        trouble, fresh = "", ""
        for cell in range(self.cells):
            writers, readers = (self._cells(b, offset, cell) for b in (writer, reader))
            clean = self._emit(f"icmp eq {words} %s, zeroinitializer", writers)
            mine = self._emit(f"icmp eq {words} %s, %s", readers, me)
            everybody = self._emit(f"icmp eq {words} %s, splat (i32 -1)", readers)
            anyone = self._emit(f"or {words} %s, splat (i32 %s)", readers, GLOBAL_WAVE)
            ours = self._emit(f"icmp eq {words} %s, %s", anyone, shared)
            marked = self._emit(f"or {self._vector('i1')} %s, %s", mine, everybody)
            marked = self._emit(f"or {self._vector('i1')} %s, %s", marked, ours)
            if self.mask is None:
                unread = self._emit(f"icmp ult {words} %s, %s", readers, oldest)
                marked = self._emit(f"or {self._vector('i1')} %s, %s", marked, unread)
                fresh = self._emit(f"or {self._vector('i1')} %s, %s", fresh, unread) if fresh else unread
            good = self._emit(f"and {self._vector('i1')} %s, %s", clean, marked)
            bad_ = self._emit(f"xor {self._vector('i1')} %s, splat (i1 true)", good)
            trouble = self._emit(f"or {self._vector('i1')} %s, %s", trouble, bad_) if trouble else bad_
        if self.mask is not None:
            trouble = self._emit(f"and {self._vector('i1')} %s, %s", trouble, self.mask.ref)
        self.region.line(
            f"br i1 {self._any(self._vector('i1'), trouble)}, label %{slow}, label %{name}.usual"
        )  # fmt: skip
        self.region.label(f"{name}.usual")
        if fresh:
            self.region.line(
                f"br i1 {self._any(self._vector('i1'), fresh)}, label %{name}.mark, label %{name}.marked"
            )  # fmt: skip
            self.region.label(f"{name}.mark")
            self._mark_readers(reader, field(f, self.region, pointer, Row, "reader_site"), offset, mine_now)
            self.region.line(f"br label %{name}.marked")
            self.region.label(f"{name}.marked")
        pointers = self._emit(f"inttoptr {vector} %s to {self._vector('ptr')}", self.address.ref)
        return self._where_on("ptr", pointers, self._splat("ptr", "%sink"))

    def _mark_readers(self, base: str, sites: str, offsets: str, mine_now: str) -> None:
        cells, places = self._emit("inttoptr i64 %s to ptr", base), self._emit("inttoptr i64 %s to ptr", sites)
        me, oldest = (self.f.splat(self.region, "i32", self.cells, value) for value in (mine_now, "%oldest"))
        site = signed(self.site, 16)
        by_lane.mark_readers(self.f, self.region, self.lanes, self.cells, cells, places, offsets, me, oldest, site)

    def _cells(self, base: str, offsets: str, cell: int) -> str:
        pointer = self._emit("inttoptr i64 %s to ptr", base)
        # A cell of 4 bytes for each dword: the offset of one is that of the other.
        place = self._emit("getelementptr i8, ptr %s, i64 %s", pointer, 4 * cell) if cell else pointer
        return by_lane.gather(self.f, self.region, self.lanes, "i32", place, offsets)
