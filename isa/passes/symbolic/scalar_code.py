"""Polynomials -> instructions at a kernel's entry, from its own arguments, workgroup numbers and thread number.

What is uniform is computed by the SALU: 32-bit values, or exact 64-bit ones (addresses). What differs by lane is a sum
of products of a uniform factor and a lane factor, computed by the VALU with 32 bits. Temporaries are registers that
hold nothing when the kernel begins; results go where the caller says or into registers that it lends.
"""

from __future__ import annotations

from collections.abc import Iterable

from isa.algebra.ranges import Monomial
from isa.algebra.term import Term
from isa.passes.symbolic.poly import Poly
from isa.passes.symbolic.symbolic import PolynomialMachine
from isa.registers import Reg
from isa.semantics.instruction import Instruction


class EntryCode:
    """Collects the instructions. `arguments` are the loads that must come first, `setup` what follows, as text.

    at: the instruction that errors name.  scalars: SGPRs, vectors: VGPRs that may be used up as temporaries.
    """

    def __init__(self, entry: PolynomialMachine, at: Instruction, scalars: list[Reg], vectors: list[Reg]) -> None:
        self._at = at
        self.scalars, self.vectors = sorted(scalars), sorted(vectors)
        self.arguments: list[tuple[Reg, int]] = []
        self.setup: list[str] = []
        self._where = {t: r for r, t in entry.registers.items()}
        # A pointer's entry is its low word.
        self._offsets = {(t.args[0] if t.op == "word" else t): offset for offset, t in entry.arguments.items()}
        held = None if entry.kernarg is None else self._where.get(entry.terms.trunc(entry.kernarg))
        self.kernarg = None if held is None else Reg(held.file, held.index, 2)

    def scalar(self) -> Reg:
        if not self.scalars:
            raise self._at.error("no SGPR is free for computing base addresses")
        return self.scalars.pop(0)

    def pair(self) -> Reg:
        """An aligned pair of SGPRs."""
        register = take_pair(self.scalars)
        if register is None:
            raise self._at.error("no pair of SGPRs is free for computing base addresses")
        return register

    def vector(self) -> Reg:
        if not self.vectors:
            raise self._at.error("no VGPR is free for computing offsets")
        return self.vectors.pop(0)

    def need(self, polys: Iterable[Poly]) -> None:
        """Loads the arguments that these values are computed from: asked for first, since all loads come first."""
        atoms = {a for p in polys for a in p.atoms() if a in self._offsets}
        for atom in sorted(atoms, key=self._offsets.__getitem__):
            target = self.pair() if atom.width == 64 else self.scalar()
            self.arguments.append((target, self._offsets[atom]))
            self._where[atom] = target

    def _atom(self, atom: Term) -> Reg:
        """Where an atom's value is."""
        if atom not in self._where:
            raise self._at.error(
                "an address depends on what cannot be computed at the kernel's entry",
                expected="kernel arguments, workgroup numbers, the thread number",
                got=str(atom),
            )
        return self._where[atom]

    def _factors(self, monomial: Monomial, c: int) -> list[Reg | int]:
        factors: list[Reg | int] = [self._atom(a) for a in monomial]
        return factors + ([c] if c != 1 or not factors else [])

    def uniform32(self, poly: Poly, target: Reg) -> None:
        """The low 32 bits in an SGPR."""
        for number, (monomial, c) in enumerate(poly.terms.items()):
            part = target if number == 0 else self.scalar()
            first, *rest = self._factors(monomial, c)
            if not rest:
                self.setup.append(f"s_mov_b32 {part}, {first}")
            for factor in rest:
                self.setup.append(f"s_mul_i32 {part}, {first}, {factor}")
                first = part
            if number:
                self.setup.append(f"s_add_u32 {target}, {target}, {part}")

    def uniform64(self, poly: Poly, target: Reg) -> None:
        """The exact 64-bit value in an SGPR pair."""
        terms = sorted(poly.terms.items(), key=lambda t: not _wide(t[0]))
        for number, (monomial, c) in enumerate(terms):
            if number == 0:
                self._product64(monomial, c, target)
            else:
                part = self.pair()
                self._product64(monomial, c, part)
                self.add64(target, target, part)
                self.scalars = sorted([*self.scalars, *part.units()])
        if not terms:
            self.setup.append(f"s_mov_b64 {target}, 0")

    def add64(self, target: Reg, a: Reg, b: Reg) -> None:
        for add, t, x, y in zip(("s_add_u32", "s_addc_u32"), target.units(), a.units(), b.units(), strict=True):
            self.setup.append(f"{add} {t}, {x}, {y}")

    def _product64(self, monomial: Monomial, c: int, target: Reg) -> None:
        low, high = target.units()
        if c < 0 or (_wide(monomial) and (len(monomial) > 1 or c != 1)):
            raise self._at.error("an address is not a pointer plus an offset", got=str(Poly({monomial: c})))
        first, *rest = self._factors(monomial, c)
        if isinstance(first, Reg) and first.count == 2:
            self.setup.append(f"s_mov_b64 {target}, {first}")
            return
        if not rest:
            self.setup += [f"s_mov_b32 {low}, {first}", f"s_mov_b32 {high}, 0"]
            return
        second, *rest = rest
        self.setup += [f"s_mul_hi_u32 {high}, {first}, {second}", f"s_mul_i32 {low}, {first}, {second}"]
        for factor in rest:
            carried = self.scalar()
            self.setup += [
                f"s_mul_hi_u32 {carried}, {low}, {factor}",
                f"s_mul_i32 {high}, {high}, {factor}",
                f"s_add_u32 {high}, {high}, {carried}",
                f"s_mul_i32 {low}, {low}, {factor}",
            ]
            self.scalars = sorted([*self.scalars, carried])

    def lane(self, poly: Poly, target: Reg) -> None:
        """A value that differs by lane, 32 bits, in a VGPR."""
        factors: dict[Term, Poly] = {}
        for monomial, c in poly.terms.items():
            lanes = [a for a in monomial if not a.uniform]
            if len(lanes) != 1:
                raise self._at.error("an offset is not a sum of lane numbers times uniform factors", got=str(poly))
            rest = Poly({tuple(a for a in monomial if a.uniform): c})
            factors[lanes[0]] = factors.get(lanes[0], Poly({})) + rest
        for number, (atom, factor) in enumerate(sorted(factors.items(), key=lambda t: str(t[0]))):
            part = target if number == 0 else self.vector()
            source = self._lane_atom(atom)
            times = factor.value
            if times is not None and times > 0 and times & (times - 1) == 0:
                self.setup.append(f"v_lshlrev_b32_e32 {part}, {times.bit_length() - 1}, {source}")
            else:
                scalar = self.scalar()
                self.uniform32(factor, scalar)
                self.setup.append(f"v_mul_lo_u32 {part}, {source}, {scalar}")
            if number:
                self.setup.append(f"v_add_nc_u32_e32 {target}, {target}, {part}")

    def _lane_atom(self, atom: Term) -> Reg:
        if atom in self._where:
            return self._where[atom]
        operation = {"and": "v_and_b32_e32", "shr": "v_lshrrev_b32_e32"}.get(atom.op)
        if operation is None or atom.args[1].value is None:
            return self._atom(atom)
        inner = Poly.of(atom.args[0])
        if inner.atom is not None:
            source = self._lane_atom(inner.atom)
        else:
            source = self.vector()
            self.lane(inner, source)
        result = self.vector()
        self.setup.append(f"{operation} {result}, {atom.args[1].value}, {source}")
        self._where[atom] = result
        return result


def _wide(monomial: Monomial) -> bool:
    return any(a.width == 64 for a in monomial)


def take_pair(registers: list[Reg]) -> Reg | None:
    """Takes an even register and the next one out of a list, as a pair."""
    for register in registers:
        other = Reg(register.file, register.index + 1)
        if register.parity == 0 and other in registers:
            registers.remove(register)
            registers.remove(other)
            return Reg(register.file, register.index, 2)
    return None
