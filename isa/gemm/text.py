"""Pieces of assembly that all generators write."""

from __future__ import annotations

from collections.abc import Iterator

from isa.registers import Reg


def log2(n: int) -> int:
    """Of a power of two."""
    return n.bit_length() - 1


def add64(target: Reg, low: object, high: object = 0) -> Iterator[str]:
    """To an SGPR pair; SCC is lost."""
    yield f"s_add_u32 {target.sub(0)}, {target.sub(0)}, {low}"
    yield f"s_addc_u32 {target.sub(1)}, {target.sub(1)}, {high}"
