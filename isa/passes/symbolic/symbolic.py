"""Polynomial engine: an engine of `isa.semantics.execute` on `Term`s instead of numbers -> what registers hold.

`PolynomialMachine` walks over instructions in the order in which they run and keeps what comes out of them. An
operation that polynomials cannot express gives an atom named by the operation and its operands; floating-point results
and memory give atoms of their own.

64-bit numbers live in two registers, as `pairs` says, which puts them together again. In this way an address comes out
as one polynomial, whatever instructions the compiler chose for it.

Assumed, and true of every index computation in C: a 32-bit sum or product that carries no carry out does not wrap.
Callers that move a computation to 64 bits rely on it, and say so. All lanes are taken to be on.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping

from isa.passes.symbolic.poly import FULL, Atom, Poly, opaque
from isa.passes.symbolic.term import Term
from isa.registers import SCC, Reg, s, v
from isa.semantics.engine import UNKNOWN, Request, Straight
from isa.semantics.execute import execute
from isa.semantics.instruction import Instruction, lookup
from isa.semantics.values import Value

_FLOAT = re.compile(r"(pk)?b?f\d|mix")


@dataclasses.dataclass
class PolynomialMachine(Straight):
    """Registers by polynomial, and the rules by which instructions change them.

    registers: what is known; a register never mentioned holds the atom of its name.
    arguments: byte of the kernarg segment -> what lies there (`isa.passes.symbolic.flow`).
    loads:     what memory gave, by atom: (instruction, polynomial of the element's address, dword within the element).
    condition: of the last branch, where it has one.
    """

    registers: dict[Reg, Poly] = dataclasses.field(default_factory=dict)
    arguments: Mapping[int, Poly] = dataclasses.field(default_factory=dict)
    kernarg: Poly | None = None
    loads: dict[Atom, tuple[Instruction, Poly, int]] = dataclasses.field(default_factory=dict)
    steps: int = 0
    condition: Poly | None = None
    _asked: list[Poly] = dataclasses.field(default_factory=list)
    _changes: dict[Reg, Poly] = dataclasses.field(default_factory=dict)

    def copy(self) -> PolynomialMachine:
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
        self._asked, changes = [], dict[Reg, Poly]()
        for half in inst.halves:
            self._changes = {}
            try:
                if any(_FLOAT.match(role.type) for role in lookup(half).roles if role.read or role.written):
                    raise ValueError("floats are not followed")
                execute(self, half)
            except UNKNOWN:
                uniform = all(not r.is_vgpr for r in half.reads())
                self._changes = {u: self._fresh(half, u, uniform or not u.is_vgpr) for u in half.writes()}
            changes |= self._changes
        self.registers.update(changes)

    def address(self, inst: Instruction) -> Poly:
        """Where a memory instruction goes, of one with two addresses the first."""
        probe = self.copy()
        probe.run(inst)
        return probe._asked[0]

    def _fresh(self, inst: Instruction, reg: Reg, uniform: bool) -> Poly:
        return Poly.of(Atom("result", (self.steps, str(inst), str(reg)), uniform))

    # --- isa.semantics.engine.Engine
    def constant(self, type_: str, number: float) -> Term:
        return Term(type_, Poly.const(int(number)))

    def lane_ids(self) -> Term:
        return Term("u32", Poly.of(Atom("lane id", mask=31)))

    def read_vgpr(self, index: int, relative: Value | None = None) -> Term:
        return self._read(v(index), relative)

    def write_vgpr(self, index: int, value: Term, mask: Term | None, relative: Value | None = None) -> None:
        self._write(v(index), value if mask is None else mask.select(value, self.read_vgpr(index)), relative)

    def read_sgpr(self, index: int, relative: Value | None = None) -> Term:
        return self._read(s(index), relative)

    def write_sgpr(self, index: int, value: Term, relative: Value | None = None) -> None:
        self._write(s(index), value, relative)

    def _read(self, reg: Reg, relative: Value | None) -> Term:
        if relative is not None:
            raise ValueError("the register is not known")
        return Term("u32", self[reg])

    def _write(self, reg: Reg, value: Term, relative: Value | None) -> None:
        if relative is not None:
            raise ValueError("the register is not known")
        self._changes[reg] = value.poly

    def read_scc(self) -> Term:
        return Term("b1", self[SCC])

    def write_scc(self, value: Term) -> None:
        self._changes[SCC] = value.poly

    def special(self, name: str) -> Term:
        return Term("u64", opaque("source", name))

    def load(self, at: Request[Term]) -> tuple[Term, ...]:
        if at.access.buffer:
            raise ValueError("what is beyond a buffer's end is not known")
        address, done = at.address.poly, at.words * len(self._asked)
        self._asked.append(address)
        target = next(o for role, o in at.inst.desc.roles_of(at.inst) if role.written)
        assert isinstance(target, Reg)
        scalar, words = at.access.space == "scalar", []
        offset = (address if self.kernarg is None else address - self.kernarg).value if scalar else None
        for k in range(at.words):
            poly = self._fresh(at.inst, target.sub(done + k), scalar)
            if offset is not None:
                poly = self.arguments.get(offset + 4 * k, poly)
            elif poly.atom:
                self.loads[poly.atom] = (at.inst, address, k)
            words.append(Term("u32", poly))
        return tuple(words)

    def store(self, at: Request[Term], values: tuple[Term, ...]) -> None:
        self._asked.append(at.address.poly)

    def atomic(self, at: Request[Term], *_: object) -> Term:
        self._asked.append(at.address.poly)
        found = Atom("result", (self.steps, str(at.inst)))
        return Term(at.access.element.replace("b", "u"), Poly.of(found))

    def branch(self, inst: Instruction, condition: Term | None) -> None:
        self.condition = None if condition is None else condition.poly
