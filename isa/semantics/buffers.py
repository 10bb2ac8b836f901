"""Memory through a buffer descriptor (V#): MUBUF, MTBUF and s_buffer_load. RDNA3 ISA guide 8.2.1 and 9.1.

A descriptor is four SGPRs, of whose bits count:

    0-47       base address                         48-61      stride in bytes
    62-63      swizzle: 0 none, else elements of 4, 8 or 16 bytes
    64-95      number of records                    117-118    index stride where swizzled: 8, 16, 32, 64
    119        the index is one lane further for each lane
    124-125    which rule says what is out of range

A vector access has an index (the lane's with idxen, else 0), an offset (the lane's with offen, plus `offset:`) and a
scalar offset, which no swizzle sees. Its address is base + scalar offset + place. With e for the element and s for the
index stride:

    linear      place = index * stride + offset
    swizzled    place = ((index / s) * stride + (offset / e) * e) * s + (index % s) * e + offset % e

Out of range is, by the rule's number (Mesa, radv_buffer_view.c, "OOB_SELECT chooses the out-of-bounds check", GFX11):

    0    index >= records or offset + payload > stride
    1    index >= records
    2    records == 0
    3    as 0 where it is swizzled and has a stride; else scalar offset + place + payload > records

Loads that are out of range give 0, stores and atomics do nothing. Loads and stores of several dwords are checked dword
by dword, atomics as a whole (ISA guide 9.1.5). Sums do not wrap (LLVM AMDGPUUsage, "Relaxed Buffer OOB Mode").

A scalar load reads at base + (offset with its two low bits cleared), a dword where its offset is less than records
times stride, or than records without a stride; 0 elsewhere.

What the guide leaves open: rule 3 of a buffer with a stride and no swizzle is taken to see the whole place. That this
rule counts the scalar offset ("offset + lengthOfOp > numRecords - sgproffset", rocMLIR pull request 678) is inferred,
too: rocBLAS's kernels put the column of a tile into it and rely on the rule at the matrix's edge, while LLVM's
IntrinsicsAMDGPU.td calls it "excluded from bounds checking", which is so for rules 0 to 2.

Typed buffers: MTBUF loads and stores. RDNA3 ISA guide 9.1; numbers and formats are in `isa.semantics.formats`.

An element is in range as a whole or not at all (guide 9.1.5). A store of fewer components than the format has leaves
the others as they are; where they share a dword that is not of whole bytes each, it is rejected: what a card does with
the rest is not known. In a swizzled buffer the dwords of an element may lie apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from isa.registers import Reg
from isa.semantics.engine import Engine, Request
from isa.semantics.formats import expand, format_of, narrow
from isa.semantics.instruction import Access, Imm, Instruction, Operand, Role, Special, bit_width, width
from isa.semantics.operands import Put, Sources, put_words
from isa.semantics.values import Number, Value, select

Rows = list[tuple[int, Role, Operand]]
_NO_LIMIT = 1 << 62


@dataclass(frozen=True)
class BufferPlace:
    """Where an access goes. at: how many bytes after its first one -> address, u64. whole: b1 scalar, whether these lie
    side by side. offset: what the range check sees, u64; limit: what it must not exceed with the payload; sound: b1,
    whether the rest of the rule holds."""

    at: Callable[[int], Value]
    whole: Value
    offset: Value
    limit: Value
    sound: Value

    def inside(self, first: int, size: int) -> Value:
        """b1: whether `size` bytes from byte `first` on are in range."""
        return (self.offset + (first + size) <= self.limit) & self.sound


def place(inst: Instruction, sources: Sources, rows: Rows) -> Callable[[Engine], BufferPlace]:
    """Of a vector access. rows: its operands that are only read, with their numbers."""
    if inst.has("tfe"):
        raise inst.error("tfe is not simulated: it reports lanes that accessed unmapped pages")
    number, operand = next((n, o) for n, role, o in rows if role.kind == "vb")
    named = [name for name in ("idxen", "offen") if inst.has(name)]
    count = 0 if isinstance(operand, Special) else getattr(operand, "count", 0)
    if count != len(named):
        raise inst.error(
            f"{' and '.join(named) or 'no idxen and no offen'}: {len(named)} VGPRs of address",
            operand=number,
            expected=f"{len(named)} VGPRs" if named else "off",
            got=str(operand),
        )
    lane = dict(zip(named, operand.units(), strict=True)) if isinstance(operand, Reg) else {}
    words = _descriptor(inst, rows)
    scalar_number, _, scalar = rows[-1]
    scalar_offset = sources.raw(scalar_number, scalar, "u32")

    def at(engine: Engine) -> BufferPlace:
        low, high, records, rule_word = (engine.read_sgpr(w).to("u64") for w in words)
        zero = engine.constant("u64", 0)
        stride, swizzle, rule = high >> 16 & 0x3FFF, high >> 30 & 3, rule_word >> 28 & 3
        index = engine.read_vgpr(lane["idxen"].index).to("u64") if "idxen" in lane else zero
        index = index + select((rule_word >> 23 & 1) == 1, engine.lane_ids().to("u64"), zero)
        offset = (engine.read_vgpr(lane["offen"].index).to("u64") if "offen" in lane else zero) + engine.offset(inst)
        linear = index * stride + offset
        element, group = swizzle + 1, (rule_word >> 21 & 3) + 3
        apart = scalar_offset(engine, None).to("u64")
        base = (low | (high & 0xFFFF) << 32) + apart

        def address(first: int) -> Value:
            inner = offset + first
            turned = ((index >> group) * stride + (inner >> element << element)) << group
            turned = turned + ((_low(index, group) << element) + _low(inner, element))
            found: Value = base + select(swizzle == 0, linear + first, turned)
            return found

        structured = (rule == 0) | ((rule == 3) & (swizzle != 0) & (stride != 0))
        limit = select(structured, stride, select(rule == 3, records, zero + _NO_LIMIT))
        below = select(structured | (rule == 1), records, zero + _NO_LIMIT)
        sound = (index < below) & (engine.lane_ids() >= 0) & ((rule != 2) | (records != 0))
        return BufferPlace(address, swizzle == 0, select(structured, offset, linear + apart), limit, sound)

    return at


def scalar_place(inst: Instruction, sources: Sources, rows: Rows) -> Callable[[Engine], BufferPlace]:
    """Of s_buffer_load: in dwords, or in the bytes or halves that it loads."""
    words = _descriptor(inst, rows)
    assert inst.desc.access is not None
    unit = min(4, bit_width(inst.desc.access.element) // 8)
    number, _, operand = rows[-1]
    extra = inst.offset
    given: Callable[[Engine], Number]
    if isinstance(operand, Imm):
        assert isinstance(operand.value, int)
        fixed = operand.value & 0xFFFFFFFF
        given = lambda e: e.constant("u64", fixed)  # noqa: E731
    else:
        raw = sources.raw(number, operand, "u32")
        given = lambda e: raw(e, None).to("u64")  # noqa: E731

    def at(engine: Engine) -> BufferPlace:
        low, high, records = (engine.read_sgpr(w).to("u64") for w in words[:3])
        stride = high >> 16 & 0x3FFF
        offset = (given(engine) + extra) & -unit
        limit = records * select(stride == 0, 1, stride) + (unit - 1)  # a unit that begins below is whole
        base = (low | (high & 0xFFFF) << 32) + offset
        return BufferPlace(lambda first: base + first, stride >= 0, offset, limit, offset >= 0)

    return at


def _descriptor(inst: Instruction, rows: Rows) -> list[int]:
    """The numbers of its four SGPRs."""
    number, role, operand = next(row for row in rows if row[1].kind == "rs")
    if not isinstance(operand, Reg) or operand.count != width(role.type):
        raise inst.error("a buffer descriptor is four SGPRs", operand=number, got=str(operand))
    return [operand.index + i for i in range(operand.count)]


def _low(number: Value, bits: Value) -> Value:
    return number - (number >> bits << bits)


_PIECES = {1: (1,), 2: (2,), 3: (2, 1), 4: (4,), 6: (4, 2), 8: (8,), 12: (12,), 16: (16,)}
"""Bytes of an element -> those of the accesses that reach all of them."""


def typed(inst: Instruction, access: Access, sources: Sources) -> Callable[[Engine], Sequence[Put]]:
    """Does the access; gives back how to write what it loaded."""
    rows = [(n, role, operand) for n, (role, operand) in enumerate(sources.pairs) if not role.written]
    form, count, halves = format_of(inst), access.components, access.half != ""
    place_of, reach = place(inst, sources, rows), form.reach(count)
    if access.kind == "store" and form.packed and count < len(form.bits):
        whole = f"all of its {len(form.bits)} components"
        raise inst.error("a store of a part of a packed element is not simulated", expected=whole, got=f"{count}")

    def requests(engine: Engine) -> list[tuple[int, Request[Value]]]:
        """(first byte, request)."""
        at, mask, found, first = place_of(engine), engine.exec_mask(), [], 0
        where = at.inside(0, form.size)

        def part(first: int, size: int, where: Value, rest: bool = False) -> tuple[int, Request[Value]]:
            element = f"b{8 * size}" if size >= 4 or access.kind == "store" else f"u{8 * size}"
            on = where if mask is None else mask & where
            return first, Request(inst, replace(access, element=element, half=""), at.at(first), on, rest)

        for size in _PIECES[reach]:
            found.append(part(first, size, where & at.whole if size > 4 else where))
            if size > 4:
                found += [part(k, 4, where & ~at.whole, True) for k in range(0, size, 4)]
            first += size
        return found

    if access.kind == "store" and form.kind.endswith("SCALED"):
        raise inst.error(
            "a store of scaled integers is not simulated", expected="a format of another kind", got=form.kind
        )
    operand = next(o for role, o in sources.pairs if role.kind == "v")
    assert isinstance(operand, Reg)
    run = range(operand.index, operand.index + operand.count)

    def load(engine: Engine) -> Sequence[Put]:
        words = [engine.constant("u32", 0)] * ((reach + 3) // 4)
        for first, request in requests(engine):
            for k, word in enumerate(engine.load(request), first // 4):
                assert request.mask is not None
                words[k] = words[k] | select(request.mask, word, 0) << 8 * (first % 4)
        found = expand(words, form, count, halves)
        if halves:
            found += [engine.read_vgpr(run[-1]) >> 16] * (count % 2)
            found = [low | high << 16 for low, high in zip(found[::2], found[1::2], strict=True)]
        return [put_words(engine, operand, found, engine.exec_mask())]

    def store(engine: Engine) -> Sequence[Put]:
        values = [engine.read_vgpr(i) for i in run]
        if halves:
            values = [half for word in values for half in (word & 0xFFFF, word >> 16)][:count]
        words = narrow(values, form, halves)
        for first, request in requests(engine):
            own = words[first // 4 : first // 4 + request.words]
            engine.store(request, (own[0] >> 8 * (first % 4), *own[1:]))
        return ()

    return load if access.kind == "load" else store
