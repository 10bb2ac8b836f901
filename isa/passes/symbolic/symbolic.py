"""Polynomial engine: instructions, on the terms of `isa.algebra` -> what registers hold, as polynomials.

`PolynomialMachine` walks over instructions in the order in which they run and keeps what comes out of them: an address
comes out as one polynomial, whatever instructions the compiler chose for it. Floating-point results and memory give
unknowns of their own.

Assumed, and true of every index computation in C: a 32-bit sum or product that carries no carry out does not wrap.
Callers that move a computation to 64 bits rely on it, and say so. All lanes are taken to be on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import copy

from isa.algebra.machine import TermMachine
from isa.algebra.term import Term
from isa.algebra.terms import Terms
from isa.algebra.values import Setting, SymbolicValue
from isa.passes.symbolic.poly import NoWrap, Poly
from isa.registers import SCC, Reg
from isa.semantics.engine import Request
from isa.semantics.instruction import Instruction, bit_width, lookup

_FLOAT = re.compile(r"(pk)?b?f\d|mix")
CHANGING = "changing"
"""The owner of unknowns that are not the same all the time that a wave runs."""


def without_wraps() -> Setting:
    """A table of terms in which no 32-bit sum wraps."""
    terms = Terms()
    terms.ranges = NoWrap()
    return Setting(terms)


class PolynomialMachine(TermMachine):
    """Registers by term, and the rules by which instructions change them.

    registers: what is known; a register never mentioned holds the unknown of its name.
    arguments: byte of the kernarg segment -> what lies there (`isa.passes.symbolic.flow`).
    loads:     what memory gave: (instruction, polynomial of the element's address, dword within the element).
    condition: of the last branch, where it has one.
    """

    def __init__(self, setting: Setting | None = None) -> None:
        super().__init__(setting or without_wraps())
        self.registers: dict[Reg, Term] = {}
        self.arguments: Mapping[int, Term] = {}
        self.kernarg: Term | None = None
        self.loads: dict[Term, tuple[Instruction, Poly, int]] = {}
        self.condition: Term | None = None
        self._steps = 0
        self._asked: list[Term] = []

    def copy(self) -> PolynomialMachine:
        made = copy(self)
        made.registers, made.loads = dict(self.registers), dict(self.loads)
        return made

    def __getitem__(self, unit: Reg) -> Poly:
        return Poly.of(self.term(unit))

    def term(self, unit: Reg) -> Term:
        if unit not in self.registers:
            self.forget(unit, "register")
        return self.registers[unit]

    def forget(self, unit: Reg, why: str, ones: int = -1) -> None:
        """From here the register holds something new that is not known: `why` names it. ones: bits that it may have."""
        width = 1 if unit == SCC else 32
        self.registers[unit] = self._unknown(f"{why}({unit})", width, uniform=unit.file != "v", ones=ones)

    def _unknown(self, name: str, width: int = 32, *, uniform: bool, ones: int = -1) -> Term:
        return self.terms.unknown(name, width, uniform=uniform, owner=CHANGING, ones=ones)

    def polynomials(self) -> dict[Reg, Poly]:
        """What is known, in the order of registers."""
        return {unit: self[unit] for unit in sorted(self.registers)}

    def hold(self, at: Reg, wide: Term) -> None:
        """A pair of registers holds 64 bits."""
        low, high = at.units()
        self.registers[low], self.registers[high] = self.terms.trunc(wide), self.terms.hi(wide)

    def pair(self, at: Reg) -> Poly:
        """The 64-bit number in a pair of registers."""
        low, high = at.units()
        return Poly.of(self.terms.joined(self.term(low), self.term(high)))

    def run(self, inst: Instruction) -> None:
        """One instruction. The halves of a VOPD read before either writes."""
        self._steps += 1
        self._asked, changes = [], dict[Reg, Term]()
        for half in inst.halves:
            floats = any(_FLOAT.match(role.type) for role in lookup(half).roles if role.read or role.written)
            found = None if floats else self.follow(half)
            if found is None:
                uniform = all(not r.is_vgpr for r in half.reads())
                found = {u: self._fresh(half, u, uniform or not u.is_vgpr) for u in half.writes()}
            changes |= found
        self.registers.update(changes)

    def address(self, inst: Instruction) -> Poly:
        """Where a memory instruction goes, of one with two addresses the first."""
        probe = self.copy()
        probe.run(inst)
        return Poly.of(probe._asked[0])

    def _fresh(self, inst: Instruction, reg: Reg, uniform: bool) -> Term:
        width = 1 if reg == SCC else 32
        return self._unknown(f"result({self._steps}, {inst}, {reg})", width, uniform=uniform)

    # --- memory and control
    def load(self, at: Request[SymbolicValue]) -> tuple[SymbolicValue, ...]:
        if at.access.buffer:
            raise ValueError("what is beyond a buffer's end is not known")
        address, done = at.address.term, at.words * len(self._asked)
        self._asked.append(address)
        target = next(o for role, o in at.inst.desc.roles_of(at.inst) if role.written)
        assert isinstance(target, Reg)
        scalar, words = at.access.space == "scalar", []
        offset = self.terms.sub(address, self.kernarg).value if scalar and self.kernarg is not None else None
        for k in range(at.words):
            found = None if offset is None else self.arguments.get(offset + 4 * k)
            if found is None:
                found = self._fresh(at.inst, target.sub(done + k), scalar)
                self.loads[found] = (at.inst, Poly.of(address), k)
            words.append(self.value("u32", found))
        return tuple(words)

    def store(self, at: Request[SymbolicValue], values: tuple[SymbolicValue, ...]) -> None:
        self._asked.append(at.address.term)

    def atomic(self, at: Request[SymbolicValue], *_: object) -> SymbolicValue:
        self._asked.append(at.address.term)
        type_ = at.access.element.replace("b", "u")
        return self.value(type_, self._unknown(f"result({self._steps}, {at.inst})", bit_width(type_), uniform=False))

    def branch(self, inst: Instruction, condition: SymbolicValue | None) -> None:
        self.condition = None if condition is None else condition.term
