"""PC-relative addresses (s_getpc_b64): of a symbol, or of a symbol's slot in the global offset table.

    s_getpc_b64 s[0:1]                        the address of what follows
    s_add_u32 s0, s0, f@rel32@lo+4            the literal stands 4 bytes after that, and counts from itself
    s_addc_u32 s1, s1, f@rel32@hi+12          this one stands 12 after

What is added to the symbol, less the distance of the literal, is the offset from the symbol. Nothing may come to stand
between the three that the numbers do not count.

Source: LLVM AMDGPUUsage, "Relocation Records" (R_AMDGPU_REL32_LO: S + A - P).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from isa.semantics.instruction import Instruction, Symbol

_TEXT = re.compile(r"(.+)@(?:rel32|(gotpcrel32))@(lo|hi)([+-]\d+)?$")
EXTENDS = "s_sext_i32_i16"
"""What RDNA4's compilers put behind s_getpc_b64, for the high half: it leaves any address that code has as it is."""
LITERAL_AT = 4
"""Bytes of an instruction before its literal."""


@dataclass(frozen=True)
class Distance:
    """slot: whether it is that of the symbol's slot; high: the high half; added: to the address."""

    symbol: str
    slot: bool
    high: bool
    added: int

    def offset(self, between: int) -> int:
        """From the symbol or its slot, where so many bytes stand between s_getpc_b64 and the instruction."""
        return self.added - between - LITERAL_AT


def distance(inst: Instruction) -> Distance | None:
    """The distance that an instruction's literal holds."""
    for operand in inst.operands:
        found = _TEXT.match(operand.text) if isinstance(operand, Symbol) else None
        if found:
            name, slot, half, added = found.groups()
            return Distance(name, bool(slot), half == "hi", int(added or 0))
    return None


def counts_from_itself(inst: Instruction) -> bool:
    """Whether it is one of those that stay together: the three, or one that adds the distance of a label, whose literal
    counts from itself as well."""
    named = inst.desc.is_salu and any(isinstance(operand, Symbol) for operand in inst.operands)
    return inst.desc.name == "s_getpc_b64" or named or distance(inst) is not None
