"""The usual cases of an access, decided for a strip of lanes at once, in the kernel's own code.

An access is usual if all its lanes that are on stay inside, are aligned to dwords, and meet cells of which hooks
has nothing to report: written by nobody in this epoch, or by this wave. Then only the marks change. Everything else,
and kernels with accesses below a dword, go to `hook_access`.

LDS cells are bytes, so a lane's one to four dwords are an i8, i16 or i32 of marks: a strip's are one vector.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

from isa.sanitize.state import FLAG, GLOBAL_WAVE, SERIAL_SHIFT, SEVERAL, WRITTEN, Row, Shadow, Thread, signed
from isa.sim.ir import Function, Region
from isa.sim.llvm_values import LlvmValue
from isa.sim.runtime import field_pointer
from isa.sim.state import SINK_BYTES, Context

_CELLS = (1, 2, 4)
_SERIAL = Shadow.serial.offset


def prepare(f: Function, region: Region, lanes: int) -> None:
    """What does not change while a wave runs from one barrier to the next; to be written once, in front of all code."""
    thread = f.emit(region, f"load i64, ptr {f.emit(region, field_pointer('C', 'shadow'))}")
    region.line(f"%thread = inttoptr i64 {thread} to ptr")
    for name in ("lds_writer", "lds_reader", "lds_writer_site", "lds_reader_site", "cache"):
        region.line(f"%{name} = inttoptr i64 {field(f, region, '%thread', Thread, name)} to ptr")
    region.line(f"%dummy = add i64 {field(f, region, '%thread', Thread, 'cells')}, 0")
    index = f.emit(region, f"load i32, ptr {f.emit(region, field_pointer('W', 'index'))}")
    one = f.emit(region, f"add i32 {index}, 1")
    byte = f.emit(region, f"trunc i32 {one} to i8")
    region.line(f"%me.byte = or i8 {byte}, 0")
    region.line(f"%mine.byte = or i8 {byte}, {WRITTEN - 256}")
    for cells in _CELLS:
        n = lanes * cells
        for name in ("me", "mine"):
            first = f.emit(region, f"insertelement <{n} x i8> poison, i8 %{name}.byte, i32 0")
            region.line(
                f"%{name}{cells} = shufflevector <{n} x i8> {first}, <{n} x i8> poison, <{n} x i32> zeroinitializer"
            )
    region.line(f"%index = or i32 {index}, 0")
    oldest = field(f, region, "%thread", Thread, "oldest")
    region.line(f"%oldest = trunc i64 {f.emit(region, f'shl i64 {oldest}, {SERIAL_SHIFT}')} to i32")
    region.line(f"%sink = getelementptr i8, ptr %c, i64 {Context.sink.offset}")
    assert SINK_BYTES >= 16


def field(f: Function, region: Region, pointer: str, struct: type[ctypes.Structure], name: str) -> str:
    """A u64 of a struct."""
    place = f.emit(region, f"getelementptr i8, ptr {pointer}, i64 {getattr(struct, name).offset}")
    return f.emit(region, f"load i64, ptr {place}")


def stamp(f: Function, region: Region) -> str:
    """What this wave's accesses to global memory leave now, an i32."""
    serial = f.emit(region, f"load i32, ptr {f.emit(region, f'getelementptr i8, ptr %shadow, i64 {_SERIAL}')}")
    return f.emit(region, f"or i32 {f.emit(region, f'shl i32 {serial}, {SERIAL_SHIFT}')}, %index")


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

    def _emit(self, expression: str) -> str:
        return self.f.emit(self.region, expression)

    def _vector(self, type_: str) -> str:
        return f"<{self.lanes} x {type_}>"

    def _splat(self, type_: str, value: str) -> str:
        one = self._emit(f"insertelement {self._vector(type_)} poison, {type_} {value}, i32 0")
        vector = self._vector(type_)
        return self._emit(f"shufflevector {vector} {one}, {vector} poison, <{self.lanes} x i32> zeroinitializer")

    def _any(self, type_: str, bits: str) -> str:
        """Whether any bit of a vector of b1 is set, as i1; type_ is the vector's."""
        count = int(type_[1:].split(" ")[0])
        return self._emit(f"icmp ne i{count} {self._emit(f'bitcast {type_} {bits} to i{count}')}, 0")

    def _outside(self, type_: str, offset: str, limit: str) -> str:
        """Lanes that are on and not inside, or not aligned: b1. limit: scalar, the last good offset."""
        vector = self._vector(type_)
        beyond = self._emit(f"icmp ugt {vector} {offset}, {self._splat(type_, limit)}")
        odd = self._emit(f"trunc {vector} {offset} to {self._vector('i2')}")
        crooked = self._emit(f"icmp ne {self._vector('i2')} {odd}, zeroinitializer")
        wrong = self._emit(f"or {self._vector('i1')} {beyond}, {crooked}")
        if self.mask is not None:
            wrong = self._emit(f"and {self._vector('i1')} {wrong}, {self.mask.ref}")
        return wrong

    def _where_on(self, type_: str, value: str, otherwise: str) -> str:
        if self.mask is None:
            return value
        vector = self._vector(type_)
        return self._emit(f"select {self.mask!r}, {vector} {value}, {vector} {otherwise}")

    def lds(self, slow: str) -> str:
        """Decide and mark an LDS access. Goes to label `slow` where it is not usual, with nothing changed. Gives the
        host's pointers, a vector."""
        f, cells, lanes = self.f, self.cells, self.lanes
        limit = self._emit(f"trunc i64 {self._emit(f'sub i64 %lds.size, {self.size}')} to i32")
        wrong = self._outside("i32", self.address.ref, limit)
        fits = self._emit(f"icmp uge i64 %lds.size, {self.size}")
        bad = self._emit(f"or i1 {self._any(self._vector('i1'), wrong)}, {self._emit(f'xor i1 {fits}, true')}")
        name = f.name("lds")
        self.region.line(f"br i1 {bad}, label %{slow}, label %{name}.inside")
        self.region.label(f"{name}.inside")
        wide = self._emit(f"zext {self.address!r} to {self._vector('i64')}")
        cell = self._emit(f"lshr {self._vector('i64')} {wide}, splat (i64 2)")
        cell = self._where_on("i64", cell, self._splat("i64", "%dummy"))
        indices = [self._emit(f"extractelement {self._vector('i64')} {cell}, i32 {i}") for i in range(lanes)]
        marks, bytes_ = f"i{8 * cells}", f"<{lanes * cells} x i8>"
        bits = f"<{lanes * cells} x i1>"
        writers, readers = (self._marks(base, indices, marks, bytes_) for base in ("%lds_writer", "%lds_reader"))
        me, mine = f"%me{cells}", f"%mine{cells}"
        none = "zeroinitializer"
        written = f"splat (i8 {WRITTEN - 256})"
        quiet = self._either(bytes_, bits, writers, [mine, written, *([none] if self.stores else [])])
        unread = self._either(bytes_, bits, readers, [none, me])
        if self.mask is not None and not self.stores:  # a load's lanes that are off
            off = self._spread(self._emit(f"xor {self._vector('i1')} {self.mask.ref}, splat (i1 true)"))
            quiet = self._emit(f"or {bits} {quiet}, {off}")
        good = self._emit(f"and {bits} {quiet}, {unread}") if self.stores else quiet
        trouble = self._any(bits, self._emit(f"xor {bits} {good}, splat (i1 true)"))
        self.region.line(f"br i1 {trouble}, label %{slow}, label %{name}.usual")
        self.region.label(f"{name}.usual")
        if self.stores:
            self._mark("%lds_writer", "%lds_writer_site", indices, self._cells_on(mine), marks, bytes_)
        else:
            new = self._emit(f"select {bits} {unread}, {bytes_} {me}, {bytes_} splat (i8 {SEVERAL - 256})")
            changed = self._any(bits, self._emit(f"icmp ne {bytes_} {new}, {readers}"))
            self.region.line(f"br i1 {changed}, label %{name}.mark, label %{name}.marked")
            self.region.label(f"{name}.mark")
            self._mark("%lds_reader", "%lds_reader_site", indices, self._cells_on(new), marks, bytes_)
            self.region.line(f"br label %{name}.marked")
            self.region.label(f"{name}.marked")
        pointers = self._emit(f"getelementptr i8, ptr %lds, {self._vector('i64')} {wide}")
        return self._where_on("ptr", pointers, self._splat("ptr", "%sink"))

    def _cells_on(self, marks: str) -> str:
        """Marks, none for lanes that are off."""
        if self.mask is None:
            return marks
        n = self.lanes * self.cells
        on = self._spread(self.mask.ref)
        return self._emit(f"select <{n} x i1> {on}, <{n} x i8> {marks}, <{n} x i8> zeroinitializer")

    def _spread(self, lanes_bits: str) -> str:
        """A b1 for each lane -> the same for each of its cells."""
        n = self.lanes * self.cells
        order = ", ".join(f"i32 {i // self.cells}" for i in range(n))
        vector = self._vector("i1")
        return self._emit(f"shufflevector {vector} {lanes_bits}, {vector} poison, <{n} x i32> <{order}>")

    def _either(self, bytes_: str, bits: str, value: str, choices: list[str]) -> str:
        found = ""
        for choice in choices:
            same = self._emit(f"icmp eq {bytes_} {value}, {choice}")
            found = self._emit(f"or {bits} {found}, {same}") if found else same
        return found

    def _marks(self, base: str, indices: list[str], marks: str, bytes_: str) -> str:
        """The cells of all lanes as a vector of bytes."""
        vector, type_ = "poison", self._vector(marks)
        for i, index in enumerate(indices):
            place = self._emit(f"getelementptr i8, ptr {base}, i64 {index}")
            vector = self._emit(f"insertelement {type_} {vector}, {marks} {self._load(marks, place)}, i32 {i}")
        return vector if type_ == bytes_ else self._emit(f"bitcast {type_} {vector} to {bytes_}")

    def _load(self, type_: str, place: str) -> str:
        return self._emit(f"load {type_}, ptr {place}, align 1")

    def _mark(self, base: str, sites: str, indices: list[str], new: str, marks: str, bytes_: str) -> None:
        type_ = self._vector(marks)
        vector = new if type_ == bytes_ else self._emit(f"bitcast {bytes_} {new} to {type_}")
        places = f"<{self.cells} x i16>"
        for i, index in enumerate(indices):
            word = self._emit(f"extractelement {type_} {vector}, i32 {i}")
            place = self._emit(f"getelementptr i8, ptr {base}, i64 {index}")
            self.region.line(f"store {marks} {word}, ptr {place}, align 1")
            place = self._emit(f"getelementptr i16, ptr {sites}, i64 {index}")
            self.region.line(f"store {places} splat (i16 {signed(self.site, 16)}), ptr {place}, align 1")

    def memory(self, slow: str) -> str:
        """The same for a load from global memory; it is usual where nobody wrote, and only
        this wave, everybody or earlier workgroups read."""
        f, lanes = self.f, self.lanes
        place = self._emit(f"getelementptr i64, ptr %cache, i64 {self.site}")
        row = self._emit(f"load i64, ptr {place}")
        name = f.name("memory")
        known = self._emit(f"icmp ne i64 {row}, 0")
        self.region.line(f"br i1 {known}, label %{name}.known, label %{slow}")
        self.region.label(f"{name}.known")
        pointer = self._emit(f"inttoptr i64 {row} to ptr")
        base, size, writer, reader = (
            field(f, self.region, pointer, Row, n) for n in ("base", "size", "writer", "reader")
        )
        vector = self._vector("i64")
        offset = self._emit(f"sub {vector} {self.address.ref}, {self._splat('i64', base)}")
        limit = self._emit(f"sub i64 {size}, {self.size}")
        fits = self._emit(f"icmp uge i64 {size}, {self.size}")
        wrong = self._any(self._vector("i1"), self._outside("i64", offset, limit))
        bad = self._emit(f"or i1 {wrong}, {self._emit(f'xor i1 {fits}, true')}")
        self.region.line(f"br i1 {bad}, label %{slow}, label %{name}.inside")
        self.region.label(f"{name}.inside")
        offset = self._where_on("i64", offset, "zeroinitializer")
        at = [self._emit(f"extractelement {vector} {offset}, i32 {i}") for i in range(lanes)]
        words = self._vector("i32")
        mine_now = stamp(f, self.region)
        shared = self._splat("i32", self._emit(f"or i32 {mine_now}, {FLAG | GLOBAL_WAVE}"))
        me, oldest = self._splat("i32", mine_now), self._splat("i32", "%oldest")
        trouble, fresh = "", ""
        for cell in range(self.cells):
            writers, readers = (self._cells(b, at, cell) for b in (writer, reader))
            clean = self._emit(f"icmp eq {words} {writers}, zeroinitializer")
            mine = self._emit(f"icmp eq {words} {readers}, {me}")
            everybody = self._emit(f"icmp eq {words} {readers}, splat (i32 -1)")
            anyone = self._emit(f"or {words} {readers}, splat (i32 {GLOBAL_WAVE})")
            ours = self._emit(f"icmp eq {words} {anyone}, {shared}")
            marked = self._emit(f"or {self._vector('i1')} {mine}, {everybody}")
            marked = self._emit(f"or {self._vector('i1')} {marked}, {ours}")
            if self.mask is None:
                unread = self._emit(f"icmp ult {words} {readers}, {oldest}")
                marked = self._emit(f"or {self._vector('i1')} {marked}, {unread}")
                fresh = self._emit(f"or {self._vector('i1')} {fresh}, {unread}") if fresh else unread
            good = self._emit(f"and {self._vector('i1')} {clean}, {marked}")
            bad_ = self._emit(f"xor {self._vector('i1')} {good}, splat (i1 true)")
            trouble = self._emit(f"or {self._vector('i1')} {trouble}, {bad_}") if trouble else bad_
        if self.mask is not None:
            trouble = self._emit(f"and {self._vector('i1')} {trouble}, {self.mask.ref}")
        self.region.line(
            f"br i1 {self._any(self._vector('i1'), trouble)}, label %{slow}, label %{name}.usual"
        )  # fmt: skip
        self.region.label(f"{name}.usual")
        if fresh:
            self.region.line(
                f"br i1 {self._any(self._vector('i1'), fresh)}, label %{name}.mark, label %{name}.marked"
            )  # fmt: skip
            self.region.label(f"{name}.mark")
            self._mark_readers(reader, field(f, self.region, pointer, Row, "reader_site"), at, mine_now)
            self.region.line(f"br label %{name}.marked")
            self.region.label(f"{name}.marked")
        pointers = self._emit(f"inttoptr {vector} {self.address.ref} to {self._vector('ptr')}")
        return self._where_on("ptr", pointers, self._splat("ptr", "%sink"))

    def _mark_readers(self, base: str, sites: str, offsets: list[str], mine_now: str) -> None:
        """Cells that nobody has read are this wave's, those that earlier workgroups have read everybody's; the others
        stay as they are."""
        cells, places = self._emit(f"inttoptr i64 {base} to ptr"), self._emit(f"inttoptr i64 {sites} to ptr")
        type_, bits = f"<{self.cells} x i32>", f"<{self.cells} x i1>"

        def splat(value: str) -> str:
            one = self._emit(f"insertelement {type_} poison, i32 {value}, i32 0")
            return self._emit(f"shufflevector {type_} {one}, {type_} poison, <{self.cells} x i32> zeroinitializer")

        me, oldest = splat(mine_now), splat("%oldest")
        for offset in offsets:
            cell = self._emit(f"getelementptr i8, ptr {cells}, i64 {offset}")
            old = self._load(type_, cell)
            earlier = self._emit(f"icmp ult {type_} {old}, {oldest}")
            empty = self._emit(f"icmp eq {type_} {old}, zeroinitializer")
            new = self._emit(f"select {bits} {earlier}, {type_} splat (i32 -1), {type_} {old}")
            new = self._emit(f"select {bits} {empty}, {type_} {me}, {type_} {new}")
            self.region.line(f"store {type_} {new}, ptr {cell}, align 1")
            place = self._emit(f"getelementptr i8, ptr {places}, i64 {self._emit(f'lshr i64 {offset}, 1')}")
            self.region.line(f"store <{self.cells} x i16> splat (i16 {signed(self.site, 16)}), ptr {place}, align 1")

    def _cells(self, base: str, offsets: list[str], cell: int) -> str:
        pointer, vector, type_ = self._emit(f"inttoptr i64 {base} to ptr"), "poison", self._vector("i32")
        for i, offset in enumerate(offsets):
            # A cell of 4 bytes for each dword: the offset of one is that of the other.
            place = self._emit(f"getelementptr i8, ptr {pointer}, i64 {offset}")
            place = self._emit(f"getelementptr i8, ptr {place}, i64 {4 * cell}") if cell else place
            vector = self._emit(f"insertelement {type_} {vector}, i32 {self._load('i32', place)}, i32 {i}")
        return vector
