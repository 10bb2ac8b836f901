"""Lane-by-lane accesses: a memory instruction -> native code that visits one lane after the other.

This is the plain version, right for every pattern of addresses: a loop over the lanes that are on; each address goes
through the runtime's `resolve_*`, which gives a pointer into simulated memory or records a fault. `vector_access.py`
has the fast one.

A site is one access of one instruction; its number (or the IR's name of that) tells a fault where it happened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from isa.semantics.engine import Request
from isa.semantics.instruction import bit_width
from isa.sim.ir.ir import Function, Operation, Region
from isa.sim.ir.llvm_values import LlvmValue, Writer


class Lanes(Protocol):
    """Those that an access is of, `lanes` from the first one on."""

    lanes: int

    def first_number(self) -> str:
        """The first one's number in the wave, as IR."""
        ...


@contextmanager
def within(writer: Writer, region: Region) -> Iterator[None]:
    """Write scalars and vectors into `region`."""
    scalar, vector = writer.scalar, writer.vector
    writer.scalar = writer.vector = region
    try:
        yield
    finally:
        writer.scalar, writer.vector = scalar, vector


def resolve(
    writer: Writer, region: Region, at: Request[LlvmValue], address: LlvmValue, site: int | str, lane: str
) -> str:
    """A host pointer for one lane's part of an access."""
    offset = at.offset.ref if isinstance(at.offset, LlvmValue) else at.offset
    more = ("", ()) if at.access.space != "flat" else (", i64 %s", (offset,))
    return writer.function.emit(
        region,
        f"call ptr @resolve_{at.access.space}(ptr %s, ptr %s, {address.llvm} %s, i32 %s, i32 %s, i32 %s{more[0]})",
        "%w",
        "%c",
        address.ref,
        at.bytes,
        site,
        lane,
        *more[1],
    )


def load_words(f: Function, region: Region, pointer: str, element: str) -> list[str]:
    """The element at a host pointer as i32 words; small ones extended by their sign."""
    size = bit_width(element) // 8
    if size < 4:
        narrow = f.emit(region, f"load i{8 * size}, ptr %s, align 1", pointer)
        extend = "sext" if element[0] == "i" else "zext"
        return [f.emit(region, f"{extend} i{8 * size} %s to i32", narrow)]
    words = []
    for j in range(size // 4):
        place = f.emit(region, "getelementptr i8, ptr %s, i64 %s", pointer, 4 * j) if j else pointer
        words.append(f.emit(region, "load i32, ptr %s, align 1", place))
    return words


def load_scalar(writer: Writer, at: Request[LlvmValue], site: int | str) -> list[str]:
    """What a scalar load brings, as i32 words; 0 where its mask does not hold."""
    f, region = writer.function, writer.scalar

    def read() -> list[str]:
        pointer = resolve(writer, region, at, at.address, site, "0")
        return load_words(writer.function, region, pointer, at.access.element)

    if at.mask is None:
        return read()
    name, before = f.name("scalar"), region.block
    region.branch(at.mask.ref, name, f"{name}.end", name)
    words = read()
    block = region.block
    region.go_on(f"{name}.end")
    return [f.emit(region, "phi i32 [%s, %s], [0, %s]", word, f"%{block}", f"%{before}") for word in words]


def store_words(f: Function, region: Region, pointer: str, element: str, words: Sequence[str]) -> None:
    size = bit_width(element) // 8
    if size < 4:
        narrow = f.emit(region, f"trunc i32 %s to i{8 * size}", words[0])
        region.line(f"store i{8 * size} {narrow}, ptr {pointer}, align 1")
        return
    for j, word in enumerate(words):
        place = f.emit(region, "getelementptr i8, ptr %s, i64 %s", pointer, 4 * j) if j else pointer
        region.line(f"store i32 {word}, ptr {place}, align 1")


def fetch(f: Function, place: str) -> Operation:
    """What tells the host to bring what lies there into its L2; a hint, which reads nothing."""
    f.declare("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
    return "", "call void @llvm.prefetch.p0(ptr %s, i32 0, i32 2, i32 1)", (place,)


def each_lane(
    writer: Writer,
    lanes: Lanes,
    mask: LlvmValue | None,
    inputs: Sequence[LlvmValue],
    results: int,
    visit: Callable[[Region, str, list[LlvmValue]], Sequence[str]],
) -> list[LlvmValue]:
    """A loop over the lanes that `mask` (None: all) names.

    visit(region, lane's number in the wave, scalar inputs) writes one lane's work and gives `results` i32 words; they
    come back as vectors, in which lanes that are off hold anything.
    """
    f, region, n = writer.function, writer.vector, lanes.lanes
    inputs = [v.vector(n) for v in inputs]
    slots = [(v, f.alloca(v.llvm, 128)) for v in inputs]
    outputs = [f.alloca(f"<{n} x i32>", 128) for _ in range(results)]
    for v, slot in slots:
        region.line(f"store {v!r}, ptr {slot}")
    bits = f.emit(region, f"bitcast {mask.llvm} %s to i{n}", mask.ref) if mask is not None else None
    first = lanes.first_number()
    name, before = f.name("lanes"), region.block
    if bits is None:
        region.go_on(name)
    else:
        region.branch(f.emit(region, f"icmp ne i{n} %s, 0", bits), name, f"{name}.end", name)
    lane = f"%{name}.lane"
    phi_at = len(region.lines)
    region.line("")
    if bits is not None:
        shifted = f.emit(region, f"lshr i{n} %s, %s", bits, lane if n == 32 else _cut(writer, region, lane, n))
        on = f.emit(region, f"trunc i{n} %s to i1", shifted)
        region.branch(on, f"{name}.on", f"{name}.next", f"{name}.on")
    number = f.emit(region, "add i32 %s, %s", first, lane)
    scalars = []
    for v, slot in slots:
        element = v.llvm[v.llvm.index(" x ") + 3 : -1]
        place = f.emit(region, f"getelementptr {element}, ptr %s, i32 %s", slot, lane)
        scalars.append(LlvmValue(writer, v.type, 0, f.emit(region, f"load {element}, ptr %s", place)))
    with within(writer, region):
        words = visit(region, number, scalars)
    for word, slot in zip(words, outputs, strict=True):
        place = f.emit(region, "getelementptr i32, ptr %s, i32 %s", slot, lane)
        region.line(f"store i32 {word}, ptr {place}")
    if bits is not None:
        region.go_on(f"{name}.next")
    next_ = f.emit(region, "add i32 %s, 1", lane)
    more = f.emit(region, "icmp ult i32 %s, %s", next_, n)
    region.line(f"br i1 {more}, label %{name}, label %{name}.end")
    region.lines[phi_at] = f"  {lane} = phi i32 [0, %{before}], [{next_}, %{region.block}]"
    region.label(f"{name}.end")
    return [LlvmValue(writer, "u32", n, f.emit(region, f"load <{n} x i32>, ptr %s", slot)) for slot in outputs]


def _cut(writer: Writer, region: Region, lane: str, bits: int) -> str:
    return writer.function.emit(region, f"trunc i32 %s to i{bits}", lane)


def load(writer: Writer, lanes: Lanes, at: Request[LlvmValue], site: int | str) -> list[LlvmValue]:
    """The element at each lane's address as u32 values; small ones extended by their sign."""

    def visit(region: Region, lane: str, values: list[LlvmValue]) -> Sequence[str]:
        pointer = resolve(writer, region, at, values[0], site, lane)
        return load_words(writer.function, region, pointer, at.access.element)

    return each_lane(writer, lanes, at.mask, [at.address], at.words, visit)


def store(writer: Writer, lanes: Lanes, at: Request[LlvmValue], data: Sequence[LlvmValue], site: int | str) -> None:
    """The reverse of `load`."""

    def visit(region: Region, lane: str, values: list[LlvmValue]) -> Sequence[str]:
        pointer = resolve(writer, region, at, values[0], site, lane)
        store_words(writer.function, region, pointer, at.access.element, [v.ref for v in values[1:]])
        return ()

    each_lane(writer, lanes, at.mask, [at.address, *data], 0, visit)


def atomic(
    writer: Writer, lanes: Lanes, at: Request[LlvmValue], compute: Callable[..., LlvmValue],
    data: Sequence[LlvmValue], site: int | str,
) -> LlvmValue:  # fmt: skip
    """Lane by lane, memory becomes compute(memory, *data of the lane); gives what each lane found."""
    f, size = writer.function, at.bytes
    kind = {"b32": "u32", "b64": "u64"}.get(at.access.element, at.access.element)

    def visit(region: Region, lane: str, values: list[LlvmValue]) -> Sequence[str]:
        pointer = resolve(writer, region, at, values[0], site, lane)
        old = _replace(writer, region, pointer, kind, lambda old: compute(old, *values[1:]))
        if size == 4:
            return [old.ref]
        low = f.emit(region, "trunc i64 %s to i32", old.ref)
        high = f.emit(region, "lshr i64 %s, 32", old.ref)
        return [low, f.emit(region, "trunc i64 %s to i32", high)]

    words = each_lane(writer, lanes, at.mask, [at.address, *data], at.words, visit)
    old = words[0] if size == 4 else words[0].to("u64") | (words[1].to("u64") << 32)
    return old.bits(kind)


def _replace(
    writer: Writer, region: Region, pointer: str, type_: str, compute: Callable[[LlvmValue], LlvmValue]
) -> LlvmValue:
    """Replace the value at `pointer` by compute(value), as one step for all threads; gives the old value."""
    f, size = writer.function, int(type_[1:])
    name = f.name("atomic")
    start = f.emit(region, f"load atomic i{size}, ptr %s monotonic, align {size // 8}", pointer)
    before = region.block
    region.go_on(name)
    phi_at = len(region.lines)
    region.line("")
    old = LlvmValue(writer, f"u{size}", 0, f"%{name}.old")
    with within(writer, region):
        new = compute(old.bits(type_)).bits(f"u{size}")
    pair = f.emit(
        region,
        f"cmpxchg ptr %s, {old.llvm} %s, {new.llvm} %s seq_cst seq_cst, align {size // 8}",
        pointer,
        old.ref,
        new.ref,
    )
    got = f.emit(region, f"extractvalue {{ i{size}, i1 }} %s, 0", pair)
    done = f.emit(region, f"extractvalue {{ i{size}, i1 }} %s, 1", pair)
    region.line(f"br i1 {done}, label %{name}.end, label %{name}")
    region.lines[phi_at] = f"  {old.ref} = phi i{size} [{start}, %{before}], [{got}, %{region.block}]"
    region.label(f"{name}.end")
    return old
