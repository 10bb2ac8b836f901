"""What registers hold, as polynomials: the instruction bodies run once more, on `Term`s instead of numbers.

`Machine` walks over instructions in the order in which they run. For each it takes the operands' polynomials, runs the
body that `isa/instructions` gives (the same that simulates), and keeps what comes out. An operation that polynomials
cannot express gives an atom named by the operation and its operands; floating-point results and memory give atoms of
their own.

64-bit numbers live in two registers, as `pairs` says, which puts them together again. In this way an address comes out
as one polynomial, whatever instructions the compiler chose for it.

Assumed, and true of every index computation in C: a 32-bit sum or product that carries no carry out does not wrap.
Callers that move a computation to 64 bits rely on it, and say so.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Mapping
from typing import Any

from isa.asm.program import Imm, Instruction, Modified, Operand
from isa.passes.pairs import high, low, pack
from isa.passes.poly import FULL, ZERO, Atom, Poly, opaque
from isa.passes.term import Term
from isa.registers import SCC, Reg
from isa.semantics.describe import Description, Role, lookup

_INTEGER = frozenset({"u32", "i32", "b32", "u64", "i64", "b64", "u16", "i16", "mask"})


@dataclasses.dataclass
class Machine:
    """Registers by polynomial, and the rules by which instructions change them.

    registers: what is known; a register never mentioned holds the atom of its name.
    arguments: byte of the kernarg segment -> what lies there (`isa.passes.flow`).
    loads:     what memory gave, by atom: (instruction, polynomial of the address, dword within the result).
    """

    registers: dict[Reg, Poly] = dataclasses.field(default_factory=dict)
    arguments: Mapping[int, Poly] = dataclasses.field(default_factory=dict)
    kernarg: Poly | None = None
    loads: dict[Atom, tuple[Instruction, Poly, int]] = dataclasses.field(default_factory=dict)
    steps: int = 0

    def copy(self) -> Machine:
        return dataclasses.replace(self, registers=dict(self.registers), loads=dict(self.loads))

    def __getitem__(self, unit: Reg) -> Poly:
        if unit not in self.registers:
            self.registers[unit] = Poly.of(Atom("register", (str(unit),), uniform=unit.file != "v"))
        return self.registers[unit]

    def forget(self, unit: Reg, why: str, mask: int = FULL) -> None:
        """From here the register holds something new that is not known: `why` names it."""
        self.registers[unit] = Poly.of(Atom(why, (str(unit),), uniform=unit.file != "v", mask=mask))

    def run(self, inst: Instruction) -> None:
        """One instruction. The halves of a VOPD read before either writes."""
        self.steps += 1
        changes: list[tuple[Reg, Poly]] = []
        for half in inst.halves:
            desc = lookup(half)
            changes += self._load(half, desc) if desc.access else self._compute(half, desc)
        self.registers.update(changes)

    def address(self, inst: Instruction) -> Poly:
        """Where a memory instruction goes: address operands and offset, without the bytes of later elements."""
        desc = lookup(inst)
        assert desc.access
        pairs = [(r, o) for r, o in desc.roles_of(inst) if not r.written]
        role, operand = pairs[0]
        assert isinstance(operand, Reg)
        count = operand.count
        total = self._read_units(operand) if count > 1 else self[next(operand.units())]
        for role, operand in pairs[1:]:
            if role.kind == "sa" and isinstance(operand, Reg):
                total = total + self._read_units(operand)
        if desc.access.space == "scalar":
            offset = next((o for r, o in pairs[1:]), None)
            if isinstance(offset, Imm):
                return total + Poly.const(int(offset.value))
            return total + self[offset] if isinstance(offset, Reg) else total
        return total + Poly.const(0 if desc.access.pair else inst.offset)

    def _read_units(self, reg: Reg) -> Poly:
        units = [self[u] for u in reg.units()]
        return pack(units[0], units[1]) if len(units) == 2 else units[0]

    def _fresh(self, inst: Instruction, reg: Reg, uniform: bool) -> Poly:
        return Poly.of(Atom("result", (self.steps, str(inst), str(reg)), uniform))

    def _load(self, inst: Instruction, desc: Description) -> list[tuple[Reg, Poly]]:
        access = desc.access
        assert access
        address = self.address(inst)
        written = [u for r, o in desc.roles_of(inst) if r.written and isinstance(o, Reg) for u in o.units()]
        changes = []
        for number, unit in enumerate(written):
            poly = self._fresh(inst, unit, access.space == "scalar")
            at = address - self.kernarg if self.kernarg is not None else address
            if access.space == "scalar" and at.value is not None:
                poly = self.arguments.get(at.value + 4 * number, poly)
            elif poly.atom:
                self.loads[poly.atom] = (inst, address, number)
            changes.append((unit, poly))
        return changes

    def _compute(self, inst: Instruction, desc: Description) -> list[tuple[Reg, Poly]]:
        roles = desc.roles_of(inst)
        implicit = [Reg("scc", 0) if n == "scc" else None for n in desc.implicit_reads]
        written = desc.writes(dataclasses.replace(inst, pair=None))
        plain = all(r.type in _INTEGER or not (r.read or r.written) for r, _ in roles if r.kind not in "lif")
        known = plain and desc.body and None not in implicit and set(desc.fields) <= {"clamp"}
        known = known and set(desc.implicit_writes) <= {"scc"} and not inst.has("clamp") and not desc.relative
        if not known or any(isinstance(o, Modified) for _, o in roles):
            uniform = all(not r.is_vgpr for r in desc.reads(dataclasses.replace(inst, pair=None)))
            return [(u, self._fresh(inst, u, uniform or not u.is_vgpr)) for u in written]
        arguments: list[Any] = [self._value(r, o) for r, o in roles if r.read and r.kind not in "lf"]
        arguments += [Term("b1", self[SCC]) for _ in implicit]
        arguments += [False for _ in desc.fields]
        assert desc.body
        results = desc.body(*arguments)
        results = [_term(x) for x in (results if isinstance(results, tuple) else (results,))]
        changes: list[tuple[Reg, Poly]] = []
        for role, operand in roles:
            if role.written:
                value = results.pop(0)
                if isinstance(operand, Reg) and not operand.is_null:
                    changes += self._store(operand, value, role)
        changes += [(SCC, results.pop(0).poly) for _ in desc.implicit_writes]
        return changes

    def _value(self, role: Role, operand: Operand) -> Any:
        if isinstance(operand, Imm):
            number = operand.value
            if isinstance(number, float):
                number = struct.unpack("<i", struct.pack("<f", number))[0]
            return number if role.kind == "i" else Term("b1" if role.type == "mask" else role.type, Poly.const(number))
        if not isinstance(operand, Reg):
            return Term(role.type, opaque("source", str(operand)))
        if operand.is_null:
            return Term(role.type, ZERO)
        poly = self._read_units(operand)
        return Term("u32", poly).lanes() if role.type == "mask" else Term(role.type, poly)

    def _store(self, reg: Reg, value: Term, role: Role) -> list[tuple[Reg, Poly]]:
        if role.type == "mask":
            return [(reg, value.mask().poly)]
        units = list(reg.units())
        if len(units) == 1:
            return [(units[0], low(value.poly))]
        return [(units[0], low(value.poly)), (units[1], high(value.poly))]


def _term(value: Term | int) -> Term:
    """What a body returned; one that only hands on an immediate returns the number itself."""
    return value if isinstance(value, Term) else Term("i64", Poly.const(value))
