"""Per-lane helpers: code for each lane of a strip, outlined once per module, so that a strip is one call.

LLVM's time goes by lines, and an access under the sanitizer looks at several cells of each lane.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from isa.semantics.instruction import bit_width
from isa.sim.ir.ir import Function, Region
from isa.sim.ir.llvm_values import LlvmValue
from isa.sim.translate.scalar_access import load_words, store_words

_Lane = Callable[[Function, Region, int], Sequence[str]]
"""Writes what is done for one lane; gives an element of each result."""


def _function(name: str, result: str, parameters: Sequence[str], lanes: int, lane: _Lane) -> str:
    """The text of a function; `result` is the type of each of its vectors' elements."""
    f = Function(f"internal {result or 'void'} @{name}({', '.join(parameters)}) noinline")
    f.entry.line("br label %body")
    region = f.region("body")
    vectors: list[str] = []
    element = result.rpartition(" x ")[2].rstrip(">} ")
    for i in range(lanes):
        found = lane(f, region, i)
        vectors = vectors or ["poison"] * len(found)
        form = f"insertelement <{lanes} x {element}> %s, {element} %s, i32 {i}"
        vectors = [f.emit(region, form, vector, one) for vector, one in zip(vectors, found, strict=True)]
    whole = vectors[0] if len(vectors) == 1 else "poison"
    for n, vector in enumerate(vectors if len(vectors) > 1 else ()):
        whole = f.emit(region, f"insertvalue {result} %s, <{lanes} x {element}> %s, {n}", whole, vector)
    region.line(f"ret {result} {whole}" if result else "ret void")
    return "\n".join(f.lines())


def _each(lanes: int, type_: str, vector: str) -> Callable[[Function, Region, int], str]:
    form = f"extractelement <{lanes} x {type_}> %s, i32 %s"
    return lambda f, region, i: f.emit(region, form, vector, i)


@functools.cache
def _gather(lanes: int, type_: str) -> str:
    offset = _each(lanes, "i64", "%at")

    def lane(f: Function, region: Region, i: int) -> list[str]:
        place = f.emit(region, "getelementptr i8, ptr %s, i64 %s", "%base", offset(f, region, i))
        return [f.emit(region, f"load {type_}, ptr %s, align 1", place)]

    parameters = ("ptr %base", f"<{lanes} x i64> %at")
    return _function(f"lanes.gather.{type_}", f"<{lanes} x {type_}>", parameters, lanes, lane)


def gather(f: Function, region: Region, lanes: int, type_: str, base: str, offsets: str) -> str:
    """The element of each lane at base + offset: a vector."""
    f.declare(_gather(lanes, type_))
    form = f"call <{lanes} x {type_}> @lanes.gather.{type_}(ptr %s, <{lanes} x i64> %s)"
    return f.emit(region, form, base, offsets)


@functools.cache
def _mark(lanes: int, cells: int) -> str:
    offset, mark = _each(lanes, "i64", "%at"), _each(lanes, f"i{8 * cells}", "%marks")

    def lane(f: Function, region: Region, i: int) -> Sequence[str]:
        at = offset(f, region, i)
        place = f.emit(region, "getelementptr i8, ptr %s, i64 %s", "%base", at)
        region.line(f"store i{8 * cells} {mark(f, region, i)}, ptr {place}, align 1")
        place = f.emit(region, "getelementptr i16, ptr %s, i64 %s", "%sites", at)
        region.line(f"store <{cells} x i16> %site, ptr {place}, align 1")
        return ()

    vectors = (f"<{lanes} x i64> %at", f"<{lanes} x i{8 * cells}> %marks", f"<{cells} x i16> %site")
    return _function(f"lanes.mark{cells}", "", ("ptr %base", "ptr %sites", *vectors), lanes, lane)


def mark(
    f: Function, region: Region, lanes: int, cells: int, base: str, sites: str, at: str, marks: str, site: int
) -> None:
    """Cells of LDS: each lane's marks at base + at, and who left them, at sites."""
    f.declare(_mark(lanes, cells))
    vectors = f"<{lanes} x i64> {at}, <{lanes} x i{8 * cells}> {marks}, <{cells} x i16> splat (i16 {site})"
    region.line(f"call void @lanes.mark{cells}(ptr {base}, ptr {sites}, {vectors})")


@functools.cache
def _mark_readers(lanes: int, cells: int) -> str:
    offset, type_, bits = _each(lanes, "i64", "%at"), f"<{cells} x i32>", f"<{cells} x i1>"

    def lane(f: Function, region: Region, i: int) -> Sequence[str]:
        at = offset(f, region, i)
        cell = f.emit(region, "getelementptr i8, ptr %s, i64 %s", "%base", at)
        old = f.emit(region, f"load {type_}, ptr %s, align 1", cell)
        earlier = f.emit(region, f"icmp ult {type_} %s, %s", old, "%oldest")
        empty = f.emit(region, f"icmp eq {type_} %s, zeroinitializer", old)
        new = f.emit(region, f"select {bits} %s, {type_} splat (i32 -1), {type_} %s", earlier, old)
        new = f.emit(region, f"select {bits} %s, {type_} %s, {type_} %s", empty, "%me", new)
        region.line(f"store {type_} {new}, ptr {cell}, align 1")
        place = f.emit(region, "getelementptr i8, ptr %s, i64 %s", "%sites", f.emit(region, "lshr i64 %s, 1", at))
        region.line(f"store <{cells} x i16> %site, ptr {place}, align 1")
        return ()

    vectors = (f"<{lanes} x i64> %at", f"{type_} %me", f"{type_} %oldest", f"<{cells} x i16> %site")
    return _function(f"lanes.readers{cells}", "", ("ptr %base", "ptr %sites", *vectors), lanes, lane)


def mark_readers(
    f: Function, region: Region, lanes: int, cells: int, base: str, sites: str, at: str, me: str, oldest: str, site: int
) -> None:
    """Cells of global memory that were not read yet are this wave's, those that earlier workgroups have read
    everybody's; the others stay as they are. me, oldest: vectors of as many cells as a lane has."""
    f.declare(_mark_readers(lanes, cells))
    vectors = (
        f"<{lanes} x i64> {at}, <{cells} x i32> {me}, <{cells} x i32> {oldest}, <{cells} x i16> splat (i16 {site})"
    )
    region.line(f"call void @lanes.readers{cells}(ptr {base}, ptr {sites}, {vectors})")


@functools.cache
def _load(lanes: int, element: str) -> tuple[str, str, int]:
    """The function, its result's type and how many vectors that has."""
    pointer, words = _each(lanes, "ptr", "%at"), max(1, bit_width(element) // 32)
    vector = f"<{lanes} x i32>"
    result = vector if words == 1 else f"{{ {', '.join([vector] * words)} }}"

    def lane(f: Function, region: Region, i: int) -> Sequence[str]:
        return load_words(f, region, pointer(f, region, i), element)

    return _function(f"lanes.load.{element}", result, (f"<{lanes} x ptr> %at",), lanes, lane), result, words


def load(f: Function, region: Region, lanes: int, element: str, pointers: str) -> list[str]:
    """The element at each lane's pointer as vectors of i32; small ones extended by their sign."""
    text, result, words = _load(lanes, element)
    f.declare(text)
    found = f.emit(region, f"call {result} @lanes.load.{element}(<{lanes} x ptr> %s)", pointers)
    return [f.emit(region, f"extractvalue {result} %s, {n}", found) for n in range(words)] if words > 1 else [found]


@functools.cache
def _store(lanes: int, element: str, types: tuple[str, ...]) -> str:
    pointer = _each(lanes, "ptr", "%at")
    words = [_each(lanes, type_, f"%word{n}") for n, type_ in enumerate(types)]

    def lane(f: Function, region: Region, i: int) -> Sequence[str]:
        at = pointer(f, region, i)
        store_words(f, region, at, element, [word(f, region, i) for word in words])
        return ()

    vectors = (f"<{lanes} x {type_}> %word{n}" for n, type_ in enumerate(types))
    return _function(f"lanes.store.{element}", "", (f"<{lanes} x ptr> %at", *vectors), lanes, lane)


def store(f: Function, region: Region, lanes: int, element: str, pointers: str, vectors: Sequence[LlvmValue]) -> None:
    """The reverse of `load`."""
    f.declare(_store(lanes, element, tuple(v.llvm.rpartition(" x ")[2].rstrip(">") for v in vectors)))
    listed = ", ".join((f"<{lanes} x ptr> {pointers}", *(f"{v!r}" for v in vectors)))
    region.line(f"call void @lanes.store.{element}({listed})")
