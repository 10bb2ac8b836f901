"""Engine on terms: an instruction -> the terms that it leaves in registers, all lanes on."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from isa.algebra.term import Term
from isa.algebra.terms import Terms
from isa.algebra.truth import TooLarge
from isa.algebra.values import Setting, SymbolicValue, number_bits
from isa.registers import SCC, Reg, s, v
from isa.semantics.engine import UNKNOWN, Request, Straight
from isa.semantics.execute import execute
from isa.semantics.instruction import Instruction, bit_width


class TermMachine(Straight):
    """What a register holds says who subclasses it. changes: what the instruction has written so far."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.changes: dict[Reg, Term] = {}

    @property
    def terms(self) -> Terms:
        return self.setting.terms

    @abstractmethod
    def term(self, unit: Reg) -> Term:
        """What a register holds."""

    def follow(self, inst: Instruction) -> dict[Reg, Term] | None:
        """What an instruction, or a half of one, writes; None where its body wants more of terms than they have."""
        self.changes = {}
        try:
            execute(self, inst)
        except (*UNKNOWN, TooLarge):
            return None
        return self.changes

    def value(self, type_: str, term: Term) -> SymbolicValue:
        return SymbolicValue(type_, term, self.setting)

    # --- isa.semantics.engine.Engine
    def constant(self, type_: str, number: float) -> SymbolicValue:
        return self.value(type_, self.terms.const(number_bits(number, type_), bit_width(type_)))

    def lane_ids(self) -> SymbolicValue:
        return self.value("u32", self.terms.unknown("lane id", 32, uniform=False, ones=31))

    def read_vgpr(self, index: int, relative: object = None) -> SymbolicValue:
        return self._read(v(index), relative)

    def write_vgpr(self, index: int, value: SymbolicValue, mask: SymbolicValue | None, relative: object = None) -> None:
        self._write(v(index), value if mask is None else mask.select(value, self.read_vgpr(index)), relative)

    def read_sgpr(self, index: int, relative: object = None) -> SymbolicValue:
        return self._read(s(index), relative)

    def write_sgpr(self, index: int, value: SymbolicValue, relative: object = None) -> None:
        self._write(s(index), value, relative)

    def _read(self, reg: Reg, relative: object) -> SymbolicValue:
        if relative is not None:
            raise ValueError("the register is not known")
        return self.value("u32", self.term(reg))

    def _write(self, reg: Reg, value: SymbolicValue, relative: object) -> None:
        if relative is not None:
            raise ValueError("the register is not known")
        self.changes[reg] = value.term

    def read_scc(self) -> SymbolicValue:
        return self.value("b1", self.term(SCC))

    def write_scc(self, value: SymbolicValue) -> None:
        self.changes[SCC] = value.term

    def special(self, name: str) -> SymbolicValue:
        return self.value("u64", self.terms.unknown(name, 64, uniform=True))

    def load(self, at: Request[SymbolicValue]) -> tuple[SymbolicValue, ...]:
        raise ValueError("memory is not known")

    def store(self, at: Request[SymbolicValue], values: tuple[SymbolicValue, ...]) -> None: ...

    def atomic(self, at: Request[SymbolicValue], body: Callable[..., Any], data: tuple[Any, ...]) -> SymbolicValue:
        raise ValueError("memory is not known")
