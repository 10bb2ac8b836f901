"""Operands by the names that the texts have for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from descriptors import Buffer

from isa.registers import Reg
from isa.semantics.instruction import Fields, Imm, Modified, Special
from pcode.evaluate import Env
from pcode.values import Value, integer

if TYPE_CHECKING:
    from pcode.machine import Machine

RESULTS = ("RETURN_DATA", "VDATA", "SDATA")


def _reader(machine: Machine, operand: object) -> Callable[[int], Value]:
    """Lane -> what a source holds."""
    if isinstance(operand, Imm):
        assert isinstance(operand.value, int)
        value = integer("B", 32, operand.value)
        return lambda lane: value
    assert isinstance(operand, Reg), operand
    before = machine.before
    if operand.is_null:
        nothing = Value("B", 32 * operand.count, 0)
        return lambda lane: nothing
    if not operand.is_vgpr:
        words = [int(w) for w in before.sgprs[operand.index : operand.index + operand.count]]
        value = Value("B", 32 * len(words), sum(w << 32 * i for i, w in enumerate(words)))
        return lambda lane: value
    rows = [before.vgprs[operand.index + i].tolist() for i in range(operand.count)]
    if operand.half == "h":
        return lambda lane: Value("B", 16, rows[0][lane] >> 16)
    if len(rows) == 1:
        return lambda lane: Value("B", 32, rows[0][lane])
    return lambda lane: Value("B", 32 * len(rows), sum(row[lane] << 32 * i for i, row in enumerate(rows)))


def bound(machine: Machine) -> dict[str, Callable[[int], object]]:
    """Name -> what it holds in a lane; `machine.registers` says which registers the names are."""
    name = machine.inst.desc.name
    plain = [o.operand if isinstance(o, Modified) else o for _, o in machine.roles]
    if machine.inst.desc.access is not None or name.startswith("ds_"):
        return _memory_operands(machine, plain)
    registers: dict[str, object] = {}
    sources = 0
    numbers: dict[str, object] = {}
    constant = {"_fmaak": 3, "_fmamk": 2}.get(name[1:7])
    for number, ((role, _), operand) in enumerate(zip(machine.roles, plain, strict=True)):
        if role.kind == "m":
            if role.read:
                numbers["VCC"] = operand
        elif number == constant or role.kind in ("i", "l"):
            pass  # SIMM32, SIMM16
        elif isinstance(operand, Fields):
            pass
        elif role.written and "D0" not in registers:
            registers["D0"] = operand
        else:
            key = f"S{sources}"
            sources += 1
            (registers if role.written else numbers)[key] = operand
    machine.registers = registers
    found: dict[str, Callable[[int], object]] = {
        key: _reader(machine, operand) for key, operand in (registers | numbers).items()
    }
    raw = {"VDST": registers.get("D0"), "DST": registers.get("D0")}
    raw |= {f"SRC{i}": numbers.get(f"S{i}", registers.get(f"S{i}")) for i in range(3)}
    for key, operand in raw.items():
        if isinstance(operand, Reg):
            found[key] = _constant(Value("U", 32, operand.index))
    if "mix" in name:
        machine_sources = [found[f"S{i}"] for i in range(3)]
        found["S"] = lambda lane: [s(lane) for s in machine_sources]
    if "D0.u64[laneId]" in machine.text:
        found["D0"] = _constant(Value("B", 64, 0))
    return found


def _constant(value: object) -> Callable[[int], object]:
    return lambda lane: value


def _mask(values: object, sources: int = 3) -> Value:
    """[1, 0, 1] of op_sel; what comes after the sources is for the result, bit 3."""
    bits = enumerate(values) if isinstance(values, Sequence) else ()
    return Value("B", 4, sum(bit << (i if i < sources else 3) for i, bit in bits))


def immediates(machine: Machine) -> Env:
    inst, name = machine.inst, machine.inst.desc.name
    env: Env = {"OTHER_ROW": integer("U", 32, 16 if name.startswith("v_permlanex16") else 0)}
    operands = [inst.operands[2]] if name[1:].startswith("_fmamk") else inst.operands
    for operand in operands:
        if isinstance(operand, Imm):
            assert isinstance(operand.value, int)
            env["SIMM32"] = integer("B", 32, operand.value)
            env.setdefault("SIMM16", integer("B", 16, operand.value))
            if "SIMM16" not in machine.text:  # texts of RDNA4
                env["S0"] = env["SIMM16"]
        elif isinstance(operand, Fields):
            register, *place = operand.get("hwreg") or ("",)
            first, count = (int(place[0]), int(place[1])) if place else (0, 32)
            assert register in ("HW_REG_MODE", "HW_REG_WAVE_MODE")
            env["SIMM16"] = Value("B", 16, 1 | first << 6 | count - 1 << 11)
    env["OPSEL"] = _mask(inst.modifier("op_sel"), sum(not role.written for role, _ in machine.roles))
    byte = inst.number("byte_sel")
    if byte:  # its bits are in reverse order
        env["OPSEL"] = Value("B", 2, byte >> 1 | (byte & 1) << 1)
    elif "VGPR[laneId][SRC0" in machine.text and getattr(inst.operands[-1], "half", "") == "h":  # a half by name
        env["OPSEL"] = Value("B", 1, 1)
    env["OPSEL_HI"] = _mask(inst.modifier("op_sel_hi"))
    env["NEG"] = _mask(inst.modifier("neg_lo"))
    if "addtid" in name and name.startswith("global"):
        offset = inst.modifier("offset", 0)
        assert isinstance(offset, int)
        env["INST_OFFSET"] = Value("B", 12, offset)
    if name.startswith("ds_"):
        offset = inst.modifier("offset", 0)
        assert isinstance(offset, int)
        pair = [inst.modifier(f"offset{i}", offset >> 8 * i & 0xFF) for i in (0, 1)]
        env["OFFSET"] = Value("B", 16, offset)
        env["OFFSET0"], env["OFFSET1"] = (Value("B", 8, n) for n in pair)
    return env


# --- memory


def _memory_operands(machine: Machine, plain: list[object]) -> dict[str, Callable[[int], object]]:
    """Of DS, FLAT, GLOBAL, SCRATCH and SMEM: result, address, data, further data, scalar address."""
    inst, roles = machine.inst, machine.roles
    name = inst.desc.name
    left = list(zip(roles, plain, strict=True))
    registers: dict[str, object] = {}
    if left[0][0][0].written:
        result = left.pop(0)[1]
        registers = dict.fromkeys(RESULTS, result)
    machine.registers = registers
    found = {key: _reader(machine, operand) for key, operand in registers.items()}
    rest = [operand for _, operand in left]
    if "permute" in name:
        address, data = rest
        numbers = {"ADDR": address, "DATA0": data, "VDST": registers["VDATA"]}
        return {key: _constant(Value("U", 32, reg.index)) for key, reg in numbers.items()}
    if inst.desc.access is not None and inst.desc.access.by_wave:
        result = registers["VDATA"]
        assert isinstance(result, Reg)
        return {"VDST": _constant(Value("U", 32, result.index))}
    if "addtid" in name:
        if name.startswith("global"):
            found["SGPR_ADDR"] = _reader(machine, rest.pop())
        return found | ({key: _reader(machine, rest[0]) for key in ("DATA", "DATA0")} if rest else {})
    if name.startswith("ds_"):
        address, *data = rest
        readers = [_reader(machine, operand) for operand in data]
        at = _reader(machine, address)
        offset = 0 if "OFFSET" in machine.text else inst.modifier("offset", 0)
        found["ADDR"] = lambda lane: Value("U", 32, at(lane).bits + offset & 0xFFFFFFFF)
        found["ADDR_BASE"] = found["ADDR"]
        found |= dict(zip(("DATA", "DATA2"), readers, strict=False))
        return found
    if inst.desc.access is not None and inst.desc.access.buffer:
        return found | _buffer_operands(machine)
    if not name.startswith("s_"):
        for operand in [o for (role, _), o in left[1:] if role.kind == "v"]:
            found["DATA"] = _reader(machine, operand)
            found.setdefault("VDATA", found["DATA"])
            rest.remove(operand)
    found["ADDR"] = _address(machine, rest)
    return found


def _buffer_operands(machine: Machine) -> dict[str, Callable[[int], object]]:
    """Data; ADDR is 0: `places.Memory` finds the place of each byte from it on by itself."""
    found: dict[str, Callable[[int], object]] = {"ADDR": _constant(integer("U", 64, 0))}
    for role, operand in machine.roles:
        if role.kind == "v" and role.read:
            found["DATA"] = _reader(machine, operand)
            found.setdefault("VDATA", found["DATA"])
    return found


def buffer_place(machine: Machine) -> Callable[[int, int], int | None]:
    """(byte of the access, bits) -> its address, None where it is out of range."""
    inst, before = machine.inst, machine.before
    rows = [(role, operand) for role, operand in machine.roles if not role.written]
    first = next(o.index for r, o in rows if r.kind == "rs")
    buffer = Buffer.of([int(word) for word in before.sgprs[first : first + 4]])
    last = _reader(machine, rows[-1][1])(0).bits
    constant = inst.modifier("offset", 0)
    assert isinstance(constant, int)
    if inst.desc.space == "scalar":
        start = last + constant & -min(4, int(inst.desc.access.element[1:]) // 8)
        limit = buffer.records * (buffer.stride or 1)
        return lambda byte, bits: buffer.base + start + byte if start + byte < limit else None
    address = next(o for r, o in rows if r.kind == "vb")
    lane = machine.lane
    given = [int(before.vgprs[r.index, lane]) for r in address.units()] if isinstance(address, Reg) else []
    index = given.pop(0) if inst.has("idxen") else 0
    index += lane if buffer.by_lane else 0
    offset = constant + (given.pop(0) if inst.has("offen") else 0)

    def place(byte: int, bits: int) -> int | None:
        if not buffer.holds(index, offset + byte, bits // 8, last):
            return None
        return buffer.base + last + buffer.place(index, offset + byte)

    return place


def _address(machine: Machine, parts: list[object]) -> Callable[[int], Value]:
    """The sum of vector address, scalar address and offset; the offset of a scalar load may be a register."""
    offset = machine.inst.modifier("offset", 0)
    assert isinstance(offset, int)
    for operand in parts:
        if isinstance(operand, Imm):
            assert isinstance(operand.value, int)
            offset += operand.value
    readers = [_reader(machine, operand) for operand in parts if not isinstance(operand, Imm | Special)]
    return lambda lane: integer("U", 64, sum(r(lane).bits for r in readers) + offset)
