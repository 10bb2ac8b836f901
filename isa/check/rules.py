"""What the checks share: a rule with its source, and a finding of it at an instruction."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from isa.asm.program import Imm, Instruction, Modified, Operand
from isa.errors import Finding, Related, Span
from isa.registers import Reg


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that programs must keep; all of them stand in `isa.check.registry`.

    meaning: one line on what breaks it.  source: where it is written down.  severity: "fault" or "note".
    tools: who asks for it, "lint" and "check".
    """

    id: str
    name: str
    meaning: str
    source: str
    severity: str = "fault"
    tools: tuple[str, ...] = ("lint",)

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
                       related)  # fmt: skip


# Where FMAMK and FMAAK have their literal among their sources, whatever its value (RDNA3 ISA guide 7.2).
LITERAL_AT = {"v_fmamk_f32": 1, "v_fmaak_f32": 2, "v_fmamk_f16": 1, "v_fmaak_f16": 2}

_INLINE_FLOATS = {0.0, 0.5, 1.0, 2.0, 4.0, -0.5, -1.0, -2.0, -4.0, 0.15915494309189535, 0.15915494}
# The same as bits: f16 for 16-bit operands, f32 for 32-bit ones, f64 for 64-bit ones (1/(2 pi) last).
_INLINE_BITS = {
    16: {0x3800, 0x3C00, 0x4000, 0x4400, 0xB800, 0xBC00, 0xC000, 0xC400, 0x3118},
    32: {
        0x3F000000, 0x3F800000, 0x40000000, 0x40800000, 0xBF000000, 0xBF800000, 0xC0000000, 0xC0800000, 0x3E22F983,
    },
    64: {
        0x3FE0000000000000, 0x3FF0000000000000, 0x4000000000000000, 0x4010000000000000,
        0xBFE0000000000000, 0xBFF0000000000000, 0xC000000000000000, 0xC010000000000000, 0x3FC45F306DC9C882,
    },
}  # fmt: skip


def is_literal(operand: Operand, type_: str = "b32") -> bool:
    """Whether a number takes a literal dword of its own: it is none of the inline constants (RDNA3 ISA guide, table
    "SSRC encoding": -16 to 64, +-0.5, +-1, +-2, +-4, 1/(2 pi))."""
    value = operand.operand if isinstance(operand, Modified) else operand
    if not isinstance(value, Imm):
        return False
    if isinstance(value.value, float):
        return value.value not in _INLINE_FLOATS
    size = 64 if type_.endswith("64") else 16 if type_.endswith("16") and not type_.startswith("pk") else 32
    bits = value.value & (1 << size) - 1
    return not (bits <= 64 or bits >= (1 << size) - 16) and bits not in _INLINE_BITS[size]


def literal_value(operand: Operand) -> int | float:
    """The number itself, for asking whether two operands share one literal."""
    value = operand.operand if isinstance(operand, Modified) else operand
    assert isinstance(value, Imm)
    return value.value & 0xFFFFFFFF if isinstance(value.value, int) else value.value


def number_text(value: int | float) -> str:
    """A literal as the assembler would take it."""
    return hex(value) if isinstance(value, int) else str(value)


def register(operand: Operand) -> Reg | None:
    """The register that an operand names, its modifiers apart."""
    value = operand.operand if isinstance(operand, Modified) else operand
    return value if isinstance(value, Reg) else None


def place(inst: Instruction, position: int) -> str:
    """Where another instruction stands, for a finding that names it."""
    if inst.address is not None:
        return f"at {inst.address:#x}"
    return f"line {inst.span.line}" if inst.span is not None else f"position {position}"
