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
from collections.abc import Iterator

from isa.registers import Reg
from isa.semantics.instruction import Instruction
from pcode.evaluate import Env, Statement
from pcode.operands import RESULTS, bound, immediates
from pcode.places import Memory, Mode, Registers
from pcode.state import EXEC, LANES, M0, VCC, State
from pcode.texts import texts
from pcode.values import NO, ONE, Value, integer

_REGISTERS = {"D0", "D1", "S0", "SCC", "VCC", "EXEC", "PC", *RESULTS}


class Machine:
    """Runs `text` for one instruction; `after` is the state that it leaves."""

    def __init__(self, inst: Instruction, text: str, run: Statement, before: State) -> None:
        self.inst, self.text, self.run, self.before = inst, text, run, before
        self.after = before.copy()
        self.roles = inst.desc.roles_of(inst)
        self.lane = 0
        self.registers: dict[str, object] = {}  # name -> the operand that it is, of those that may be written
        self.operands = bound(self)

    def execute(self) -> State:
        inst, before, after = self.inst, self.before, self.after
        after.pc = before.pc + inst.size
        by_lane = ("v_", "ds_", "flat_", "global_", "scratch_", "buffer_")
        if inst.mnemonic.startswith("v_s_") or not inst.mnemonic.startswith(by_lane):
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
        writeable = integer("U", 32, 0x3FF if self.inst.family.mode_bits else 0xFF)
        env: Env = {
            "registers": _REGISTERS,
            "TEXTS": texts(self.inst.family.name),
            "WAVE_MODE": {"IEEE": Value("U", 1, before.mode >> 9 & 1)},
            "SCC": ONE if before.scc else NO,
            "VCC": Value("B", 64, vcc | int(before.sgprs[VCC + 1]) << 32),
            "EXEC": Value("B", 64, exec_ | int(before.sgprs[EXEC + 1]) << 32),
            "EXEC_LO": Value("B", 32, exec_),
            "EXECZ": Value("U", 1, int(exec_ == 0)),
            "VCCZ": Value("U", 1, int(vcc == 0)),
            "M0": Value("B", 32, int(before.sgprs[M0])),
            "PC": integer("I", 64, before.pc),
            "VGPR": Registers(self, "v"),
            "SGPR": Registers(self, "s"),
            "MEM": Memory(self),
            "HW_REGISTERS": Mode(self),
            **dict.fromkeys(("writeableBitMask", "HwRegWriteMask"), lambda register, privileged: writeable),
            "WAVE_STATUS": {"PRIV": NO},
            **immediates(self),
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
                for at, form in value.loose:
                    self.after.loose["s", reg.index + at // 32, 0, at % 32] = form
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
