"""Rules and findings: a rule with its source, and a finding of it at an instruction, for all checks."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from isa.errors import Finding, Related, Span
from isa.registers import Reg
from isa.semantics.instruction import Instruction, Operand, bare


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that programs must keep; all of them stand in `isa.lint.registry`.

    meaning: one line on what breaks it.  source: where it is written down.  severity: "fault" or "note".
    tools: who asks for it, "lint" and "check".
    """

    id: str
    name: str
    meaning: str
    source: str
    severity: str = "fault"
    tools: tuple[str, ...] = ("lint",)
    binding: bool = False  # as `Finding` has it

    def broken(
        self,
        inst: Instruction,
        message: str,
        *,
        operand: int | None = None,
        expected: str | None = None,
        got: str | None = None,
        hint: str | None = None,
        related: tuple[Related, ...] = (),
    ) -> Finding:
        """A finding at an instruction, or at one of its operands."""
        span = inst.span
        if span is not None and operand is not None and operand < len(inst.columns):
            span = dataclasses.replace(span, col=inst.columns[operand])
        where = f"{inst.address:#x}: {inst}" if inst.address is not None else ""
        return self.found(message, span, hint=hint, expected=expected, got=got, where=where, related=related)

    def found(
        self,
        message: str,
        span: Span | None = None,
        *,
        hint: str | None = None,
        expected: str | None = None,
        got: str | None = None,
        where: str = "",
        related: tuple[Related, ...] = (),
    ) -> Finding:
        """A finding at a place in the text, or at none."""
        return Finding(self.name, message, span, hint, expected, got, self.source, self.severity, where, self.id,
                       related, binding=self.binding)  # fmt: skip


def called(inst: Instruction) -> str:
    """An instruction's mnemonic, of a VOPD both halves."""
    return " :: ".join(half.mnemonic for half in inst.halves)


def register(operand: Operand) -> Reg | None:
    """The register that an operand names, its modifiers apart."""
    value = bare(operand)
    return value if isinstance(value, Reg) else None


def place(inst: Instruction, position: int) -> str:
    """Where another instruction stands, for a finding that names it."""
    if inst.address is not None:
        return f"{inst.address:#x}"
    return f"line {inst.span.line}" if inst.span is not None else f"position {position}"
