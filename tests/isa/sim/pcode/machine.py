"""One instruction from the state of a wave, by its text: the state that it must leave.

In:  the instruction (its operands are read as the assembler wrote them), its text, the state before (`State`).
Out: the state after, and where it holds a NaN that no text describes (`State.loose`).

Names of the texts are bound by the place of an operand: D0 the first that is written, S0 to S2 those that are read,
VCC a mask of lanes, DATA and DATA2 what goes to memory, ADDR what the memory instruction's address comes to (ISA guide
10 to 13). Where the text of a DS instruction adds the offset by itself, ADDR comes without it. A text that names
`VGPR[lane]` of other lanes runs once a wave, any other vector text once for each lane that is on, lowest first. Of what
lanes that are off get the guide says (3.3.1): their VGPRs stay, their bits of a mask become 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from isa.program import Fields, Imm, Instruction, Modified, Special
from isa.registers import Reg
from pcode.evaluate import Env, Statement
from pcode.floats import Format
from pcode.values import NO, ONE, Value, integer

LANES = 32
VCC, M0, EXEC = 106, 125, 126
SHARED, PRIVATE = 0x10000000, 0x20000000
"""High halves of flat addresses that mean LDS and scratch: the simulated card's choice."""
_RESULTS = ("RETURN_DATA", "VDATA", "SDATA")


@dataclass
class State:
    """vgprs [256, 32] and sgprs [128] of u32; memory from address `base` on; one scratch a lane.

    loose: (file, register or place in the memory, lane, first bit) -> format of NaNs that may be any.
    """

    vgprs: np.ndarray
    sgprs: np.ndarray
    scc: bool
    memory: bytearray
    base: int
    lds: bytearray
    scratch: list[bytearray]
    pc: int
    mode: int
    loose: dict[tuple[str, int, int, int], Format] = field(default_factory=dict)

    def copy(self) -> State:
        return State(
            self.vgprs.copy(), self.sgprs.copy(), self.scc, bytearray(self.memory), self.base, bytearray(self.lds),
            [bytearray(s) for s in self.scratch], self.pc, self.mode,
        )  # fmt: skip


class Machine:
    """Runs `text` for one instruction; `after` is the state that it leaves."""

    def __init__(self, inst: Instruction, text: str, run: Statement, before: State) -> None:
        self.inst, self.text, self.run, self.before = inst, text, run, before
        self.after = before.copy()
        self.roles = inst.desc.roles_of(inst)
        self.lane = 0
        self.operands = _bound(self)

    def execute(self) -> State:
        inst, before, after = self.inst, self.before, self.after
        after.pc = before.pc + inst.size
        if not inst.mnemonic.startswith(("v_", "ds_", "flat_", "global_", "scratch_")):
            self._once(self._scalars())
        elif re.search(r"VGPR\[(?!laneId)", self.text):
            self._once(self._scalars() | {k: v(0) for k, v in self.operands.items() if k in ("D0", "S0", "S1", "S2")})
        else:
            self._lanes()
        return after

    # --- what every text sees

    def _scalars(self) -> Env:
        before = self.before
        exec_ = int(before.sgprs[EXEC])
        vcc = int(before.sgprs[VCC])
        env: Env = {
            "registers": _REGISTERS,
            "WAVE_MODE": {"IEEE": Value("U", 1, before.mode >> 9 & 1)},
            "SCC": ONE if before.scc else NO,
            "VCC": Value("B", 64, vcc | int(before.sgprs[VCC + 1]) << 32),
            "EXEC": Value("B", 64, exec_ | int(before.sgprs[EXEC + 1]) << 32),
            "EXEC_LO": Value("B", 32, exec_),
            "EXECZ": Value("U", 1, int(exec_ == 0)),
            "VCCZ": Value("U", 1, int(vcc == 0)),
            "M0": Value("B", 32, int(before.sgprs[M0])),
            "PC": integer("I", 64, before.pc),
            "VGPR": _Registers(self, "v"),
            "SGPR": _Registers(self, "s"),
            "MEM": _Memory(self),
            "HW_REGISTERS": _Mode(self),
            "writeableBitMask": lambda register, privileged: integer("U", 32, 0x3FF),
            "WAVE_STATUS": {"PRIV": NO},
            **_immediates(self),
        }
        return env

    def _once(self, env: Env) -> None:
        env |= {name: value(0) for name, value in self.operands.items()}
        old = dict(env)
        self.run(env)
        self._put(env, old, 0)
        if env["SCC"] is not old["SCC"]:
            self.after.scc = env["SCC"].true
        for name, first in (("EXEC", EXEC), ("VCC", VCC)):
            if env[name] is not old[name]:
                self._put_scalar(first, 2, env[name])
        if env["PC"] is not old["PC"]:
            self.after.pc = env["PC"].number & (1 << 64) - 1

    def _lanes(self) -> None:
        scalars = self._scalars()
        exec_ = int(self.before.sgprs[EXEC])
        masks: dict[str, int] = {"VCC": 0, "D0": 0, "D1": 0, "EXEC": 0}
        written = self.masks()
        for lane in range(LANES):
            if not exec_ >> lane & 1:
                continue
            self.lane = lane
            env = {name: value(lane) for name, value in self.operands.items()}
            env = scalars | env | {"laneId": Value("U", 32, lane), "laneID": Value("U", 32, lane)}
            old = dict(env)
            self.run(env)
            self._put(env, old, lane)
            for name in written:
                bits = env[name].bits
                if name == "D1":  # of this lane alone
                    masks[name] |= (bits & 1) << lane
                else:
                    masks[name] |= bits & 1 << lane
        for name, reg in written.items():
            if not reg.is_null:
                self._put_scalar(reg.index, 1, Value("B", 32, masks[name]))

    def masks(self) -> dict[str, Reg]:
        """Masks of lanes that the instruction writes, by the name that the text has for them."""
        found: dict[str, Reg] = {}
        if "EXEC.u64[laneId] =" in self.text:
            found["EXEC"] = Reg("s", EXEC)
        for role, operand in self.roles:
            if role.kind == "m" and role.written:
                assert isinstance(operand, Reg)
                found["D1" if "D1." in self.text else "D0" if "D0.u64[laneId]" in self.text else "VCC"] = operand
        return found

    # --- writing back

    def _put(self, env: Env, old: Env, lane: int) -> None:
        for name, reg in self._targets():
            value = env.get(name)
            if value is None or value is old.get(name):
                continue
            if not reg.is_vgpr:
                self._put_scalar(reg.index, reg.count, value)
                continue
            shift = 16 if reg.half == "h" else 0
            for i in range(reg.count):
                word = value.bits >> 32 * i & 0xFFFFFFFF
                if shift:
                    word = int(self.before.vgprs[reg.index, lane]) & 0xFFFF | (word & 0xFFFF) << 16
                self.after.vgprs[reg.index + i, lane] = word
            for at, form in value.loose:
                self.after.loose["v", reg.index + (at + shift) // 32, lane, (at + shift) % 32] = form

    def _targets(self) -> Iterator[tuple[str, Reg]]:
        for name, reg in self.registers.items():
            if isinstance(reg, Reg) and not reg.is_null:
                yield name, reg

    def _put_scalar(self, first: int, count: int, value: Value) -> None:
        for i in range(count):
            self.after.sgprs[first + i] = value.bits >> 32 * i & 0xFFFFFFFF


_REGISTERS = {"D0", "D1", "S0", "SCC", "VCC", "EXEC", "PC", *_RESULTS}


# --- operands


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


def _bound(machine: Machine) -> dict[str, Callable[[int], object]]:
    """Name -> what it holds in a lane; `machine.registers` says which registers the names are."""
    name = machine.inst.desc.name
    plain = [o.operand if isinstance(o, Modified) else o for _, o in machine.roles]
    if machine.inst.desc.access is not None or name.startswith("ds_"):
        return _memory_operands(machine, plain)
    registers: dict[str, object] = {}
    sources = 0
    numbers: dict[str, object] = {}
    constant = {"v_fmaak": 3, "v_fmamk": 2}.get(name[:7])
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
    bound: dict[str, Callable[[int], object]] = {
        key: _reader(machine, operand) for key, operand in (registers | numbers).items()
    }
    raw = {"VDST": registers.get("D0"), "DST": registers.get("D0")}
    raw |= {f"SRC{i}": numbers.get(f"S{i}", registers.get(f"S{i}")) for i in range(3)}
    for key, operand in raw.items():
        if isinstance(operand, Reg):
            bound[key] = _constant(Value("U", 32, operand.index))
    if "mix" in name:
        machine_sources = [bound[f"S{i}"] for i in range(3)]
        bound["S"] = lambda lane: [s(lane) for s in machine_sources]
    if "D0.u64[laneId]" in machine.text:
        bound["D0"] = _constant(Value("B", 64, 0))
    return bound


def _constant(value: object) -> Callable[[int], object]:
    return lambda lane: value


def _mask(values: object) -> Value:
    """[1, 0, 1] of op_sel."""
    return Value("B", 3, sum(bit << i for i, bit in enumerate(values)) if isinstance(values, Sequence) else 0)


def _immediates(machine: Machine) -> Env:
    inst, name = machine.inst, machine.inst.desc.name
    env: Env = {"OTHER_ROW": integer("U", 32, 16 if name == "v_permlanex16_b32" else 0)}
    operands = [inst.operands[2]] if name.startswith("v_fmamk") else inst.operands
    for operand in operands:
        if isinstance(operand, Imm):
            assert isinstance(operand.value, int)
            env["SIMM32"] = integer("B", 32, operand.value)
            env.setdefault("SIMM16", integer("B", 16, operand.value))
        elif isinstance(operand, Fields):
            register, *place = operand.get("hwreg") or ("",)
            first, count = (int(place[0]), int(place[1])) if place else (0, 32)
            assert register == "HW_REG_MODE"
            env["SIMM16"] = Value("B", 16, 1 | first << 6 | count - 1 << 11)
    env["OPSEL"] = _mask(inst.modifier("op_sel"))
    env["OPSEL_HI"] = _mask(inst.modifier("op_sel_hi"))
    env["NEG"] = _mask(inst.modifier("neg_lo"))
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
        registers = dict.fromkeys(_RESULTS, result)
    machine.registers = registers
    bound = {key: _reader(machine, operand) for key, operand in registers.items()}
    rest = [operand for _, operand in left]
    if "permute" in name:
        address, data = rest
        numbers = {"ADDR": address, "DATA0": data, "VDST": registers["VDATA"]}
        return {key: _constant(Value("U", 32, reg.index)) for key, reg in numbers.items()}
    if "addtid" in name:
        return bound | ({"DATA0": _reader(machine, rest[0])} if rest else {})
    if name.startswith("ds_"):
        address, *data = rest
        readers = [_reader(machine, operand) for operand in data]
        at = _reader(machine, address)
        offset = 0 if "OFFSET" in machine.text else inst.modifier("offset", 0)
        bound["ADDR"] = lambda lane: Value("U", 32, at(lane).bits + offset & 0xFFFFFFFF)
        bound["ADDR_BASE"] = bound["ADDR"]
        bound |= dict(zip(("DATA", "DATA2"), readers, strict=False))
        return bound
    if not name.startswith("s_"):
        for operand in [o for (role, _), o in left[1:] if role.kind == "v"]:
            bound["DATA"] = _reader(machine, operand)
            bound.setdefault("VDATA", bound["DATA"])
            rest.remove(operand)
    bound["ADDR"] = _address(machine, rest)
    return bound


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


class _Memory:
    """MEM[address]: LDS, global memory or scratch, as the instruction says and, of FLAT, the address."""

    depth = 1

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.space = machine.inst.mnemonic.split("_")[0]

    def _place(self, address: int) -> tuple[str, bytearray, int]:
        after, space = self.machine.after, self.space
        high = address >> 32
        if space == "flat" and high in (SHARED, PRIVATE):
            space, address = ("ds" if high == SHARED else "scratch"), address & 0xFFFFFFFF
        if space == "ds":
            return "lds", after.lds, address
        if space == "scratch":
            return "scratch", after.scratch[self.machine.lane], address & 0xFFFFFFFF
        return "memory", after.memory, address - after.base

    def load(self, at: Sequence[int], bits: int) -> Value:
        name, data, first = self._place(at[0])
        assert 0 <= first <= len(data) - bits // 8, f"the text reads at {at[0]:#x}"
        form = self.machine.after.loose.get((name, first, self._owner(name), 0))
        loose = ((0, form),) if form is not None and form.width == bits else ()
        return Value("B", bits, int.from_bytes(data[first : first + bits // 8], "little"), loose)

    def _owner(self, name: str) -> int:
        return self.machine.lane if name == "scratch" else 0

    def store(self, at: Sequence[int], bits: int, new: Value) -> None:
        name, data, first = self._place(at[0])
        assert 0 <= first <= len(data) - bits // 8, f"the text writes at {at[0]:#x}"
        data[first : first + bits // 8] = new.bits.to_bytes(bits // 8, "little")
        loose, owner = self.machine.after.loose, self._owner(name)
        loose.pop((name, first, owner, 0), None)
        loose |= {(name, first, owner, bit): form for bit, form in new.loose}


class _Registers:
    """VGPR[lane][number] and SGPR[number]: read from the state before, written to the state after."""

    def __init__(self, machine: Machine, file: str) -> None:
        self.machine, self.file = machine, file
        self.depth = 2 if file == "v" else 1

    def load(self, at: Sequence[int], bits: int) -> Value:
        before, number = self.machine.before, at[-1]
        words = [
            before.vgprs[number + i, at[0]] if self.file == "v" else before.sgprs[number + i] for i in range(bits // 32)
        ]
        return Value("B", bits, sum(int(w) << 32 * i for i, w in enumerate(words)))

    def store(self, at: Sequence[int], bits: int, new: Value) -> None:
        after, number = self.machine.after, at[-1]
        for i in range(bits // 32):
            word = new.bits >> 32 * i & 0xFFFFFFFF
            if self.file == "v":
                after.vgprs[number + i, at[0]] = word
                after.loose |= {("v", number, at[0], bit): form for bit, form in new.loose}
            else:
                after.sgprs[number + i] = word


class _Mode:
    """HW_REGISTERS[1], the MODE register."""

    depth = 1

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def load(self, at: Sequence[int], bits: int) -> Value:
        assert at[0] == 1
        return Value("B", 32, self.machine.before.mode)

    def store(self, at: Sequence[int], bits: int, new: Value) -> None:
        assert at[0] == 1
        self.machine.after.mode = new.bits
