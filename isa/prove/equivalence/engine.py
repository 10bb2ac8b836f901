"""The engine of `isa.semantics.execute` whose registers hold terms: one generic work-item, all lanes on.

What memory gives and takes is the machine's business: `load` and `store` hand each dword on.
"""

from __future__ import annotations

from collections.abc import Callable

from isa.errors import IsaError
from isa.prove.equivalence.bits import bit_and
from isa.prove.equivalence.decode import SCC_INDEX, SGPR0, Registers
from isa.prove.equivalence.symbolic import Symbolic, modulus
from isa.prove.equivalence.term import Term
from isa.prove.equivalence.terms import Terms
from isa.semantics.engine import Request, Straight
from isa.semantics.float_mode import FloatMode
from isa.semantics.instruction import Instruction, bit_width
from isa.semantics.values import float_bits


class Engine(Straight):
    """registers: those of the state that the next instruction runs on. condition: of the last branch.
    loaded(address), stored(address, value): a dword's, in order."""

    registers: Registers
    condition: Term
    loaded: Callable[[Term], Term]
    stored: Callable[[Term, Term], None]

    def __init__(self, terms: Terms, work_item: Term, mode: FloatMode) -> None:
        self.terms, self.mode = terms, mode
        self._lane = Symbolic("u32", bit_and(terms, work_item, terms.const(31, 32), 32), terms)

    def constant(self, type_: str, number: float) -> Symbolic:
        bits = float_bits(number, type_) if type_[0] == "f" else int(number)
        return Symbolic(type_, self.terms.const(bits, modulus(bit_width(type_))), self.terms)

    def lane_ids(self) -> Symbolic:
        return self._lane

    def read_vgpr(self, index: int, relative: object = None) -> Symbolic:
        return Symbolic("u32", self.registers[index], self.terms)

    def write_vgpr(self, index: int, value: Symbolic, mask: Symbolic | None, relative: object = None) -> None:
        if mask is not None:  # lanes that DPP leaves out
            value = mask.select(value, self.read_vgpr(index))
        self.registers[index] = value.term

    def read_sgpr(self, index: int, relative: object = None) -> Symbolic:
        return Symbolic("u32", self.registers[SGPR0 + index], self.terms)

    def write_sgpr(self, index: int, value: Symbolic, relative: object = None) -> None:
        self.registers[SGPR0 + index] = value.term

    def read_scc(self) -> Symbolic:
        return Symbolic("b1", self.registers[SCC_INDEX], self.terms)

    def write_scc(self, value: Symbolic) -> None:
        self.registers[SCC_INDEX] = value.term

    def special(self, name: str) -> Symbolic:
        return Symbolic("u64", self.terms.atom("unknown", name, 1, width=64), self.terms)

    def load(self, at: Request[Symbolic]) -> tuple[Symbolic, ...]:
        return tuple(Symbolic("u32", self.loaded(self._place(at, k)), self.terms) for k in range(at.words))

    def store(self, at: Request[Symbolic], values: tuple[Symbolic, ...]) -> None:
        for k, value in enumerate(values):
            self.stored(self._place(at, k), value.term)

    def atomic(self, at: Request[Symbolic], *_: object) -> Symbolic:
        raise IsaError("atomics are not followed")

    def _place(self, at: Request[Symbolic], k: int) -> Term:
        return (at.address + 4 * k).term if k else at.address.term

    def branch(self, inst: Instruction, condition: Symbolic | None) -> None:
        if condition is not None:
            self.condition = condition.term
