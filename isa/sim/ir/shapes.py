"""Instructions that differ in the numbers of their registers only: what they share, and where they differ.

`shape` is equal for those; `apart` gives the one of them whose registers are all different, of which code can be
written once. `Name` is a register by its place in the instruction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from isa.registers import SGPR_LIMIT, Reg
from isa.semantics.instruction import Imm, Instruction, Modified, Operand, bare

OFFSETS = ("offset", "offset0", "offset1")


@dataclass(frozen=True)
class Name:
    """A register of an instruction, as those that share its function have it: unit `unit` of its `operand`-th register;
    operand -1: of one that is the same in all, by its number."""

    file: str
    operand: int
    unit: int

    def of(self, registers: list[Reg]) -> int:
        return self.unit if self.operand < 0 else registers[self.operand].index + self.unit


def _shared_by_number(operand: Operand) -> bool:
    """Whether it is a register whose number may differ: VCC, EXEC and M0 stand for themselves."""
    return isinstance(operand, Reg) and (operand.is_vgpr or (operand.file == "s" and operand.index < SGPR_LIMIT))


def registers_of(inst: Instruction) -> Iterator[Reg]:
    """Those of an instruction that differ among those that share its function."""
    for operand in inst.operands:
        reg = bare(operand)
        if isinstance(reg, Reg) and _shared_by_number(reg):
            yield reg
    if inst.pair is not None:
        yield from registers_of(inst.pair)


def shape(inst: Instruction) -> object:
    """Equal for instructions that share a function."""
    pair = None if inst.pair is None else shape(inst.pair)
    modifiers = inst.modifiers
    access = inst.desc.access
    if access is not None and not (access.pair and access.kind == "atomic"):  # which asks whether both are the same
        modifiers = tuple(m for m in modifiers if m[0] not in OFFSETS)
    return inst.mnemonic, modifiers, tuple(map(_operand_shape, inst.operands)), pair


def _operand_shape(operand: Operand) -> object:
    if isinstance(operand, Modified):
        return operand.neg, operand.abs, operand.sext, _operand_shape(operand.operand)
    if isinstance(operand, Reg) and _shared_by_number(operand):
        return operand.file, operand.count, operand.half
    return (type(operand.value), operand.value) if isinstance(operand, Imm) else operand


def apart(inst: Instruction) -> Instruction:
    """The same with registers that are all different."""
    free = {"v": 0, "s": 0}

    def other(operand: Any) -> Any:
        if isinstance(operand, Modified):
            return replace(operand, operand=other(operand.operand))
        if not _shared_by_number(operand):
            return operand
        index = free[operand.file]
        free[operand.file] += operand.count
        return replace(operand, index=index)

    def half(inst: Instruction) -> Instruction:
        operands = tuple(map(other, inst.operands))
        return replace(inst, operands=operands, pair=None if inst.pair is None else half(inst.pair))

    return half(inst)


def names_of(reg: Reg, registers: list[Reg]) -> list[Name]:
    """A single register's names, one for each operand that it is in."""
    found = [
        Name(reg.file, n, reg.index - run.index)
        for n, run in enumerate(registers)
        if run.file == reg.file and run.index <= reg.index < run.index + run.count
    ]
    return found or [Name(reg.file, -1, reg.index)]
