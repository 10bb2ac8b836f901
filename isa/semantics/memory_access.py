"""Memory instructions: addresses, data and destinations. RDNA3 ISA guide 8 (scalar), 11 (flat), 12 (LDS).

Addresses in bytes:

    scalar    SGPR pair + offset operand + offset:
    global    VGPR pair + offset:, or SGPR pair + VGPR (unsigned 32 bit) + offset:
    flat      VGPR pair + offset:; of LDS or scratch where the pair alone lies in an aperture (LLVM pull request 132353)
    scratch   within the lane's own scratch: VGPR + SGPR + offset:, either of which may be off
    lds       VGPR + offset:; the two-address forms count offset0: and offset1: in elements (or 64 elements)
    buffer    what a descriptor says (`isa.semantics.buffers`); lanes out of range are off, and load 0
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from isa.registers import EXEC_LO, M0, Reg
from isa.semantics import buffers
from isa.semantics.buffers import BufferPlace, typed
from isa.semantics.engine import Engine, Request
from isa.semantics.instruction import Access, Description, Imm, Instruction, Operand, Role, Special, bit_width, width
from isa.semantics.operands import Put, Sources, put_words, value_type, words_of, writer
from isa.semantics.values import Number, Value, select

Addresses = Callable[[Engine], Sequence[Value]]


def memory(inst: Instruction, desc: Description, access: Access) -> Callable[[Engine], Sequence[Put]]:
    """Does the access; gives back how to write what it loaded."""
    if inst.has("gds"):
        raise inst.error("GDS is not simulated", hint="compute kernels for gfx11 do not use it")
    sources = Sources(inst, desc)
    pairs = list(enumerate(sources.pairs))
    results = [(n, role, operand) for n, (role, operand) in pairs if role.written]
    reads = [(n, role, operand) for n, (role, operand) in pairs if not role.written]
    data = [(role, operand) for role, operand in sources.pairs if role.read and role.kind not in ("va", "sa")]
    if access.components:
        return typed(inst, access, sources)
    if access.buffer:
        return _through_buffer(inst, desc, access, sources, [(r, o) for r, o in data if r.kind == "v"])
    if access.by_wave:
        return _once(inst, desc, access, results[0])
    addresses = _addresses(inst, access, sources, reads)
    data = [(role, operand) for role, operand in data if not role.written]
    if access.space in ("lds", "flat") and not access.by_lane:
        data = data[1:]

    def requests(engine: Engine) -> list[Request[Value]]:
        mask = None if access.space == "scalar" else engine.exec_mask()
        if access.space == "flat":
            return [Request(inst, access, at, mask, offset=engine.offset(inst)) for at in addresses(engine)]
        return [Request(inst, access, at, mask) for at in addresses(engine)]

    if access.kind == "load":
        return _load(access, requests, results[0][2])
    if access.kind == "store":
        words = [_words(role, operand, access) for role, operand in data]

        def store(engine: Engine) -> Sequence[Put]:
            for at, read in zip(requests(engine), words, strict=True):
                engine.store(at, read(engine))
            return ()

        return store
    body = desc.body
    assert body is not None
    elements = [_elements(role, operand, access) for role, operand in data]
    write = writer(inst, desc, *results[0]) if access.returns and not access.pair else None

    def atomic(engine: Engine) -> Sequence[Put]:
        places = requests(engine)
        values = tuple(v for read in elements for v in read(engine))
        if access.pair:  # two exchanges, the first address first (16.15, DS_STOREXCHG_2ADDR_RTN_B32)
            olds = [engine.atomic(at, body, (new,)) for at, new in zip(places, values, strict=True)]
            if inst.number("offset0") == inst.number("offset1"):
                olds[1] = olds[0]
            return [put_words(engine, results[0][2], [word for old in olds for word in words_of(old)], places[0].mask)]
        old = engine.atomic(places[0], body, values)
        return () if write is None else [write(engine, old, places[0].mask)]

    return atomic


def _once(
    inst: Instruction, desc: Description, access: Access, result: tuple[int, Role, Operand]
) -> Callable[[Engine], Sequence[Put]]:
    """An atomic of the wave, lane by lane: the last that is on counts for all, so that each finds the same."""
    body, write = desc.body, writer(inst, desc, *result)
    assert body is not None

    def atomic(engine: Engine) -> Sequence[Put]:
        on, lanes, mask = engine.read_sgpr(EXEC_LO.index), engine.lane_ids(), engine.exec_mask()
        count = select(lanes == 31 - on.clz(), on.popcount(), 0)
        at = lanes * 0 + ((engine.read_sgpr(M0.index) & 0xFFFF) + engine.offset(inst, type_="u32"))
        return [write(engine, engine.atomic(Request(inst, access, at, mask), body, (count,)), mask)]

    return atomic


def _load(
    access: Access, requests: Callable[[Engine], list[Request[Value]]], target: Operand
) -> Callable[[Engine], Sequence[Put]]:
    assert isinstance(target, Reg)

    def load(engine: Engine) -> Sequence[Put]:
        places = requests(engine)
        words = [w for at in places for w in engine.load(at)]
        if access.transposed:
            words = _transposed(engine, access.transposed, words, places[0].mask)
        return _loaded(engine, access, target, words, places[0].mask)

    return load


def singly(inst: Instruction, access: Access) -> tuple[Instruction, ...]:
    """A store to two addresses, or an exchange at two, as two of one, the first one first, for an engine that does not
    do all lanes of the one before the other. As it is stays all else, and an exchange whose results overwrite what it
    reads, or whose addresses are the same."""
    if not access.pair or access.kind == "load":
        return (inst,)
    *results, address, one, two = inst.operands
    offsets, targets = inst.offsets, [tuple[Reg, ...](), ()]
    if access.returns:
        (result,) = results
        assert isinstance(result, Reg)
        read = {unit for o in (address, one, two) if isinstance(o, Reg) for unit in o.units()}
        if offsets[0] == offsets[1] or read & set(result.units()):
            return (inst,)
        count = result.count // 2
        targets = [(replace(result, index=result.index + n * count, count=count),) for n in (0, 1)]
    name = inst.mnemonic.replace("_2addr", "").replace("_stride64", "")
    return tuple(
        replace(inst, mnemonic=name, operands=(*target, address, word), modifiers=(("offset", offset),))
        for target, word, offset in zip(targets, (one, two), offsets, strict=True)
    )


def apart(inst: Instruction, access: Access) -> tuple[Instruction, Callable[[Engine], None]]:
    """A load that transposes as two things: the load as it is without, and what lanes exchange then, for an engine that
    does not do both at once."""
    plain, target = replace(inst, mnemonic=inst.mnemonic.replace("_tr", "")), inst.operands[0]
    assert isinstance(target, Reg)

    def exchange(engine: Engine) -> None:
        words, mask = [engine.read_vgpr(reg.index) for reg in target.units()], engine.exec_mask()
        put_words(engine, target, _transposed(engine, access.transposed, words, mask), mask)()

    return plain, exchange


def _transposed(engine: Engine, bits: int, words: list[Value], mask: Value | None) -> list[Value]:
    """What each eight lanes loaded, eight elements a lane, with lanes and elements exchanged. A lane that is off counts
    as 0 (assumed)."""
    lane = engine.lane_ids()
    own, first = lane & 7, lane & ~7
    at = own * bits
    if mask is not None:
        words = [select(mask, word, 0) for word in words]

    def element(of: int) -> Value:
        there = [word.shuffle(first + of) for word in words]
        word = there[0]
        for n in range(1, len(there)):
            word = select((at >> 5) == n, there[n], word)
        return (word >> (at & 31)) & ((1 << bits) - 1)

    each = 32 // bits
    out = []
    for n in range(len(words)):
        word = element(each * n)
        for k in range(1, each):
            word = word | (element(each * n + k) << (k * bits))
        out.append(word)
    return out


def _loaded(engine: Engine, access: Access, target: Operand, words: list[Value], mask: Value | None) -> Sequence[Put]:
    assert isinstance(target, Reg)
    if access.half:
        words = [_one_half(engine.read_vgpr(target.index), words[0], access.half)]
    return [put_words(engine, target, words, mask)]


def _through_buffer(
    inst: Instruction, desc: Description, access: Access, sources: Sources, data: list[tuple[Role, Operand]]
) -> Callable[[Engine], Sequence[Put]]:
    rows = [(n, role, operand) for n, (role, operand) in enumerate(sources.pairs) if not role.written]
    result = next(((n, role, operand) for n, (role, operand) in enumerate(sources.pairs) if role.written), None)
    scalar = access.space == "scalar"
    place = (buffers.scalar_place if scalar else buffers.place)(inst, sources, rows)
    count, dword = bit_width(access.element) // 32, replace(access, element="b32")

    def parts(engine: Engine, at: BufferPlace, mask: Value | None) -> list[tuple[int, Request[Value], Value]]:
        """(first dword, request, lanes): the whole where it is in range, the dwords that are where it is not."""

        def part(first: int, access: Access, where: Value, rest: bool = False) -> tuple[int, Request[Value], Value]:
            on = where if mask is None else mask & where
            return first, Request(inst, access, at.at(4 * first), on, rest), where

        if count < 2:
            return [part(0, access, at.inside(0, max(1, bit_width(access.element) // 8)))]
        if scalar:
            return [part(k, dword, at.inside(4 * k, 4)) for k in range(count)]
        whole = at.inside(0, 4 * count) & at.whole
        return [part(0, access, whole)] + [part(k, dword, at.inside(4 * k, 4) & ~whole, True) for k in range(count)]

    def masked(engine: Engine) -> Value | None:
        return None if scalar else engine.exec_mask()

    if access.kind == "load":
        assert result is not None
        target = result[2]

        def load(engine: Engine) -> Sequence[Put]:
            mask, words = masked(engine), [engine.constant("u32", 0)] * max(1, count)
            for first, request, where in parts(engine, place(engine), mask):
                for k, word in enumerate(engine.load(request), first):
                    words[k] = select(where, word, words[k])
            return _loaded(engine, access, target, words, mask)

        return load
    if access.kind == "store":
        ((role, operand),) = data
        read = _words(role, operand, access)

        def store(engine: Engine) -> Sequence[Put]:
            values = read(engine)
            for first, request, _ in parts(engine, place(engine), masked(engine)):
                engine.store(request, values[first : first + request.words])
            return ()

        return store
    body = desc.body
    assert body is not None
    elements = [_elements(role, operand, access) for role, operand in data]
    write = writer(inst, desc, *result) if result is not None else None

    def atomic(engine: Engine) -> Sequence[Put]:
        mask, at = masked(engine), place(engine)
        where = at.inside(0, bit_width(access.element) // 8)
        request = Request(inst, access, at.at(0), where if mask is None else mask & where)
        old = engine.atomic(request, body, tuple(v for read in elements for v in read(engine)))
        zero = engine.constant("u64" if request.bytes == 8 else "u32", 0).bits(old.type)
        return () if write is None else [write(engine, select(where, old, zero), mask)]

    return atomic


def _addresses(
    inst: Instruction, access: Access, sources: Sources, reads: list[tuple[int, Role, Operand]]
) -> Addresses:
    number, _, first = reads[0] if reads else (0, None, None)
    if access.by_lane and access.space == "global":
        scalar_number, _, scalar = next(row for row in reads if row[1].kind == "sa")
        if isinstance(scalar, Special):
            raise inst.error(f"{inst.mnemonic} without a scalar address", expected="a pair of SGPRs", got=str(scalar))
        start = sources.raw(scalar_number, scalar, "u64")
        return lambda e: [_plus(start(e, None) + (e.lane_ids() * 4).to("u64"), e.offset(inst))]
    if access.by_lane:
        return lambda e: [e.lane_ids() * 4 + (e.read_sgpr(M0.index) & 0xFFFF) + e.offset(inst, type_="u32")]
    assert first is not None
    if access.space == "lds":
        base = sources.raw(number, first, "u32")
        if access.aligned:
            last = (1 << 16) - bit_width(access.element) // 8
            return lambda e: [(base(e, None) + e.offset(inst, type_="u32")) & last]
        if not access.pair:
            return lambda e: [base(e, None) + e.offset(inst, type_="u32")]
        unit = bit_width(access.element) // 8 * access.pair

        def two(engine: Engine) -> list[Value]:
            at = base(engine, None)
            return [at + engine.offset(inst, name, "u32") * unit for name in ("offset0", "offset1")]

        return two
    if access.space == "flat":
        wide = sources.raw(number, first, "u64")
        return lambda e: [_plus(wide(e, None), e.offset(inst))]
    if access.space == "scalar":
        base = sources.raw(number, first, "u64")
        extra_number, _, extra = reads[1]
        if isinstance(extra, Imm):
            assert isinstance(extra.value, int)
            # A signed offset, which the disassembler prints as it stands.
            numbers = inst.family.offsets["scalar"]
            value = (extra.value - numbers.start) % len(numbers) + numbers.start
            return lambda e: [_plus(base(e, None), value)]
        index = sources.raw(extra_number, extra, "u32")
        return lambda e: [_plus(base(e, None) + index(e, None).to("u64"), inst.offset)]
    scalar_number, _, scalar = next((n, role, o) for n, role, o in reads if role.kind == "sa")
    if access.space == "scratch":
        places = ((number, first), (scalar_number, scalar))
        parts = [sources.raw(n, part, "u32") for n, part in places if not isinstance(part, Special)]

        def scratch(engine: Engine) -> list[Value]:
            address = engine.constant("u32", 0) + engine.offset(inst, type_="u32")
            for part in parts:
                address = address + part(engine, None)
            return [address]

        return scratch
    if isinstance(scalar, Special):
        pair = sources.raw(number, first, "u64")
        return lambda e: [_plus(pair(e, None), e.offset(inst))]
    base, lane = sources.raw(scalar_number, scalar, "u64"), sources.raw(number, first, "u32")
    return lambda e: [_plus(base(e, None) + lane(e, None).to("u64"), e.offset(inst))]


def _plus(address: Value, offset: Number) -> Value:
    if isinstance(offset, int):
        return address + (offset & (1 << 64) - 1) if offset else address
    return address + offset


def _words(role: Role, operand: Operand, access: Access) -> Callable[[Engine], tuple[Value, ...]]:
    """A store's data as u32, one a register."""
    assert isinstance(operand, Reg)
    run = range(operand.index, operand.index + width(role.type))
    if access.half == "hi":
        return lambda engine: (engine.read_vgpr(run[0]) >> 16,)
    return lambda engine: tuple(engine.read_vgpr(i) for i in run)


def _elements(role: Role, operand: Operand, access: Access) -> Callable[[Engine], list[Value]]:
    """An atomic's data: one element, or two in one run of registers (data, then what is expected)."""
    assert isinstance(operand, Reg)
    run = range(operand.index, operand.index + width(role.type))
    type_, wide = value_type(access.element), width(access.element) == 2

    def read(engine: Engine) -> list[Value]:
        words = [engine.read_vgpr(i) for i in run]
        if wide:
            words = [low.joined(high) for low, high in zip(words[::2], words[1::2], strict=True)]
        return [word.bits(type_) for word in words]

    return read


def _one_half(old: Value, loaded: Value, half: str) -> Value:
    if half == "hi":
        return (old & 0xFFFF) | (loaded << 16)
    return (old & 0xFFFF0000) | (loaded & 0xFFFF)
