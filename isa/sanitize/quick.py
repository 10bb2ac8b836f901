"""Fast checks: the usual cases of an access, decided in the kernel's own code for a strip of lanes at once.

An access is usual if all its lanes that are on stay inside, are aligned to dwords, and meet cells of which hooks
has nothing to report: not written in this epoch, or by this wave. Then only the marks change. Everything else,
and kernels with accesses below a dword, go to `hook_access`.

LDS cells are bytes, so a lane's one to four dwords are an i8, i16 or i32 of marks: a strip's are one vector.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_

from isa.sanitize import lanes as by_lane
from isa.sanitize.state import FLAG, GLOBAL_WAVE, SERIAL_SHIFT, SEVERAL, WRITTEN, Row, Shadow, Thread, signed
from isa.sim.ir.ir import Function, Region
from isa.sim.ir.llvm_values import LlvmValue, Writer
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

    @cached_property
    def _writer(self) -> Writer:
        return self.address.w.within(self.f, self.region)

    @cached_property
    def _on(self) -> LlvmValue | None:
        return None if self.mask is None else self._value("b1", self.mask.ref, self.lanes)

    def _value(self, type_: str, ref: str, lanes: int = 0) -> LlvmValue:
        return LlvmValue(self._writer, type_, lanes, ref)

    def _marks_of(self, ref: str) -> LlvmValue:
        """The marks of all lanes' cells, of LDS."""
        return self._value("u8", ref, self.lanes * self.cells)

    def _emit(self, form: str, *operands: str | int) -> str:
        return self.f.emit(self.region, form, *operands)

    def _vector(self, type_: str) -> str:
        return f"<{self.lanes} x {type_}>"

    def _pointer(self, number: LlvmValue) -> str:
        return self._emit("inttoptr i64 %s to ptr", number.ref)

    def _any(self, conditions: LlvmValue) -> LlvmValue:
        """Whether one of a vector of b1 holds."""
        count = conditions.lanes_
        bits = self._emit(f"bitcast {conditions.llvm} %s to i{count}", conditions.ref)
        return self._value("b1", self._emit(f"icmp ne i{count} %s, 0", bits))

    def _outside(self, offset: LlvmValue, room: LlvmValue) -> LlvmValue:
        """Whether a lane that is on does not lie inside of so many bytes, or is not aligned."""
        wrong = (offset > (room - self.size).to(offset.type)) | (offset & 3 != 0)
        return self._any(wrong if self._on is None else wrong & self._on) | (room < self.size)

    def _where_on(self, value: LlvmValue, otherwise: LlvmValue | int) -> LlvmValue:
        return value if self._on is None else self._on.select(value, otherwise)

    def _places(self, form: str, *operands: str) -> str:
        """The host's pointers: those of this form where lanes are on, else a sink."""
        pointers, vector = self._emit(form, *operands), self._vector("ptr")
        if self._on is None:
            return pointers
        sink = self.f.splat(self.region, "ptr", self.lanes, "%sink")
        return self._emit(f"select {self._on.llvm} %s, {vector} %s, {vector} %s", self._on.ref, pointers, sink)

    def lds(self, slow: str) -> str:
        """Decide and mark an LDS access. Goes to label `slow` where it is not usual, with nothing changed. Gives the
        host's pointers, a vector."""
        address = self._value("u32", self.address.ref, self.lanes)
        name = self.f.name("lds")
        self.region.branch(
            self._outside(address, self._value("u64", "%lds.size")).ref, slow, f"{name}.inside", f"{name}.inside"
        )
        wide = address.to("u64")
        cell = self._where_on(wide >> 2, self._value("u64", "%dummy")).ref
        writers, readers = (self._marks(base, cell) for base in ("%lds_writer", "%lds_reader"))
        me, mine = (self._marks_of(f"%{whose}{self.cells}") for whose in ("me", "mine"))
        quiet, unread = (writers == mine) | (writers == WRITTEN), (readers == 0) | (readers == me)
        good = (quiet | (writers == 0)) & unread if self.stores else quiet
        if self._on is not None and not self.stores:  # a load's lanes that are off
            good = good | self._spread(~self._on)
        self.region.branch(self._any(~good).ref, slow, f"{name}.usual", f"{name}.usual")
        if self.stores:
            self._mark("%lds_writer", "%lds_writer_site", cell, mine)
        else:
            new = unread.select(me, SEVERAL)
            self.region.branch(self._any(new != readers).ref, f"{name}.mark", f"{name}.marked", f"{name}.mark")
            self._mark("%lds_reader", "%lds_reader_site", cell, new)
            self.region.go_on(f"{name}.marked")
        return self._places(f"getelementptr i8, ptr %s, {wide.llvm} %s", "%lds", wide.ref)

    def _spread(self, on: LlvmValue) -> LlvmValue:
        """A b1 for each lane -> the same for each of its cells."""
        n = self.lanes * self.cells
        order = ", ".join(f"i32 {i // self.cells}" for i in range(n))
        form = f"shufflevector {on.llvm} %s, {on.llvm} poison, <{n} x i32> <{order}>"
        return self._value("b1", self._emit(form, on.ref), n)

    def _marks(self, base: str, cells: str) -> LlvmValue:
        """The marks of the cells of all lanes."""
        type_ = f"i{8 * self.cells}"
        vector = by_lane.gather(self.f, self.region, self.lanes, type_, base, cells)
        if self.cells > 1:
            vector = self._emit(f"bitcast {self._vector(type_)} %s to <{self.lanes * self.cells} x i8>", vector)
        return self._marks_of(vector)

    def _mark(self, base: str, sites: str, cells: str, marks: LlvmValue) -> None:
        """Marks, none for lanes that are off."""
        if self._on is not None:
            marks = self._spread(self._on).select(marks, 0)
        vector = marks.ref
        if self.cells > 1:
            vector = self._emit(f"bitcast {marks.llvm} %s to {self._vector(f'i{8 * self.cells}')}", vector)
        site = signed(self.site, 16)
        by_lane.mark(self.f, self.region, self.lanes, self.cells, base, sites, cells, vector, site)

    def memory(self, slow: str) -> str:
        """The same for a load from global memory; it is usual where nothing was written, and only
        this wave, everybody or earlier workgroups read."""
        f, name = self.f, self.f.name("memory")
        place = self._emit("getelementptr i64, ptr %s, i64 %s", "%cache", self.site)
        row = self._value("u64", self._emit("load i64, ptr %s", place))
        self.region.branch((row != 0).ref, f"{name}.known", slow, f"{name}.known")
        pointer = self._pointer(row)
        base, size, writer, reader = (
            self._value("u64", field(f, self.region, pointer, Row, n)) for n in ("base", "size", "writer", "reader")
        )
        offset = self._value("u64", self.address.ref, self.lanes) - base
        self.region.branch(self._outside(offset, size).ref, slow, f"{name}.inside", f"{name}.inside")
        offsets = self._where_on(offset, 0).ref
        me, oldest = self._value("u32", stamp(f, self.region)), self._value("u32", "%oldest")
        shared = me | (FLAG | GLOBAL_WAVE)
        trouble, fresh = list[LlvmValue](), list[LlvmValue]()
        for cell in range(self.cells):
            writers, readers = (self._cells(self._pointer(b), offsets, cell) for b in (writer, reader))
            marked = (readers == me) | (readers == 0xFFFFFFFF) | (readers | GLOBAL_WAVE == shared)
            if self._on is None:
                fresh.append(readers < oldest)
                marked = marked | fresh[-1]
            trouble.append(~((writers == 0) & marked))
        some = reduce(or_, trouble) if self._on is None else reduce(or_, trouble) & self._on
        self.region.branch(self._any(some).ref, slow, f"{name}.usual", f"{name}.usual")
        if fresh:
            self.region.branch(self._any(reduce(or_, fresh)).ref, f"{name}.mark", f"{name}.marked", f"{name}.mark")
            self._mark_readers(self._pointer(reader), field(f, self.region, pointer, Row, "reader_site"), offsets, me)
            self.region.go_on(f"{name}.marked")
        return self._places(f"inttoptr {self._vector('i64')} %s to {self._vector('ptr')}", self.address.ref)

    def _mark_readers(self, cells: str, sites: str, offsets: str, me: LlvmValue) -> None:
        places = self._emit("inttoptr i64 %s to ptr", sites)
        mine, oldest = (self.f.splat(self.region, "i32", self.cells, value) for value in (me.ref, "%oldest"))
        site = signed(self.site, 16)
        by_lane.mark_readers(self.f, self.region, self.lanes, self.cells, cells, places, offsets, mine, oldest, site)

    def _cells(self, base: str, offsets: str, cell: int) -> LlvmValue:
        # A cell of 4 bytes for each dword: the offset of one is that of the other.
        place = self._emit("getelementptr i8, ptr %s, i64 %s", base, 4 * cell) if cell else base
        return self._value("u32", by_lane.gather(self.f, self.region, self.lanes, "i32", place, offsets), self.lanes)
