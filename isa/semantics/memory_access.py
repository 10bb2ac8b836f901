"""Memory instructions: addresses, data and destinations. RDNA3 ISA guide 8 (scalar), 11 (flat), 12 (LDS).

Addresses in bytes:

    scalar    SGPR pair + offset operand + offset:
    global    VGPR pair + offset:, or SGPR pair + VGPR (unsigned 32 bit) + offset:
    flat      VGPR pair + offset:
    scratch   within the lane's own scratch: VGPR + SGPR + offset:, either of which may be off
    lds       VGPR + offset:; the two-address forms count offset0: and offset1: in elements (or 64 elements)
"""

from __future__ import annotations

from collections.abc import Callable

from isa.asm.program import Imm, Instruction, Operand, Special
from isa.registers import M0, Reg
from isa.semantics.describe import Access, Description, Role, bit_width, width
from isa.semantics.engine import Engine, Request
from isa.semantics.operands import Sources, value_type, words_of, write
from isa.semantics.values import Value

_Put = Callable[[], None]


def memory(engine: Engine, inst: Instruction, desc: Description, access: Access) -> list[_Put]:
    """Do the access; give back how to write what it loaded."""
    if inst.has("gds"):
        raise inst.error("GDS is not simulated", hint="compute kernels for gfx11 do not use it")
    sources = Sources(engine, inst, desc)
    pairs = list(enumerate(sources.pairs))
    results = [(n, role, operand) for n, (role, operand) in pairs if role.written]
    reads = [(n, role, operand) for n, (role, operand) in pairs if not role.written]
    mask = None if access.space == "scalar" else engine.exec_mask()
    requests = [Request(inst, access, at, mask) for at in _addresses(engine, inst, desc, access, sources, reads)]
    data = [(n, role, operand) for n, role, operand in reads if role.kind not in ("va", "sa")]
    if access.space in ("lds", "flat") and not access.by_lane:
        data = data[1:]
    if access.kind == "load":
        words = [word for at in requests for word in engine.load(at)]
        number, role, operand = results[0]
        assert isinstance(operand, Reg)
        if access.half:
            words = [_one_half(engine.read_vgpr(operand.index), words[0], access.half)]
        return [_put_words(engine, operand, words, mask)]
    if access.kind == "store":
        for at, (_, role, operand) in zip(requests, data, strict=True):
            engine.store(at, _words(engine, sources, role, operand, access))
        return []
    assert desc.body is not None
    values = tuple(v for _, role, operand in data for v in _elements(engine, sources, role, operand, access))
    if access.pair:  # two exchanges, the first address first; both are read before (16.15, DS_STOREXCHG_2ADDR_RTN_B32)
        olds = [engine.atomic(at, desc.body, (new,)) for at, new in zip(requests, values, strict=True)]
        if _offset(inst, "offset0") == _offset(inst, "offset1"):
            olds[1] = olds[0]
        operand = results[0][2]
        assert isinstance(operand, Reg)
        return [_put_words(engine, operand, [word for old in olds for word in words_of(old)], mask)]
    old = engine.atomic(requests[0], desc.body, values)
    if not access.returns:
        return []
    number, role, operand = results[0]
    return [write(engine, inst, desc, number, role, operand, old, mask)]


def _addresses(
    engine: Engine,
    inst: Instruction,
    desc: Description,
    access: Access,
    sources: Sources,
    reads: list[tuple[int, Role, Operand]],
) -> list[Value]:
    number, _, first = reads[0] if reads else (0, None, None)
    if access.by_lane:
        base = engine.lane_ids() * 4 + (engine.read_sgpr(M0.index) & 0xFFFF)
        return [base + inst.offset]
    assert first is not None
    if access.space == "lds":
        base = sources.raw(number, first, "u32", None)
        if not access.pair:
            return [base + inst.offset]
        unit = bit_width(access.element) // 8 * access.pair
        return [base + _offset(inst, name) * unit for name in ("offset0", "offset1")]
    if access.space == "flat":
        return [_plus(sources.raw(number, first, "u64", None), inst.offset)]
    if access.space == "scalar":
        base = sources.raw(number, first, "u64", None)
        extra_number, _, extra = reads[1]
        if isinstance(extra, Imm):
            assert isinstance(extra.value, int)
            # A 21-bit signed offset, which the disassembler prints as it stands.
            value = extra.value & 0x1FFFFF
            return [_plus(base, value - (1 << 21) if value >> 20 else value)]
        return [_plus(base + sources.raw(extra_number, extra, "u32", None).to("u64"), inst.offset)]
    scalar_number, _, scalar = next((n, role, o) for n, role, o in reads if role.kind == "sa")
    if access.space == "scratch":
        address = engine.constant("u32", inst.offset)
        for n, part in ((number, first), (scalar_number, scalar)):
            if not isinstance(part, Special):
                address = address + sources.raw(n, part, "u32", None)
        return [address]
    if isinstance(scalar, Special):
        return [_plus(sources.raw(number, first, "u64", None), inst.offset)]
    base = sources.raw(scalar_number, scalar, "u64", None)
    return [_plus(base + sources.raw(number, first, "u32", None).to("u64"), inst.offset)]


def _plus(address: Value, offset: int) -> Value:
    return address + (offset & (1 << 64) - 1) if offset else address


def _offset(inst: Instruction, name: str) -> int:
    value = inst.modifier(name, 0)
    assert isinstance(value, int)
    return value


def _words(engine: Engine, sources: Sources, role: Role, operand: Operand, access: Access) -> tuple[Value, ...]:
    """A store's data as u32, one a register."""
    assert isinstance(operand, Reg)
    words = tuple(engine.read_vgpr(operand.index + i) for i in range(width(role.type)))
    return (words[0] >> 16,) if access.half == "hi" else words


def _elements(engine: Engine, sources: Sources, role: Role, operand: Operand, access: Access) -> list[Value]:
    """An atomic's data: one element, or two in one run of registers (data, then what is expected)."""
    assert isinstance(operand, Reg)
    words = [engine.read_vgpr(operand.index + i) for i in range(width(role.type))]
    type_ = value_type(access.element)
    if width(access.element) == 2:
        words = [low.joined(high) for low, high in zip(words[::2], words[1::2], strict=True)]
    return [word.bits(type_) for word in words]


def _one_half(old: Value, loaded: Value, half: str) -> Value:
    if half == "hi":
        return (old & 0xFFFF) | (loaded << 16)
    return (old & 0xFFFF0000) | (loaded & 0xFFFF)


def _put_words(engine: Engine, reg: Reg, words: list[Value], mask: Value | None) -> _Put:
    def put() -> None:
        for i, word in enumerate(words):
            if reg.is_vgpr:
                engine.write_vgpr(reg.index + i, word, mask)
            else:
                engine.write_sgpr(reg.index + i, word)

    return put
