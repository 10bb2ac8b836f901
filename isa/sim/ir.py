"""LLVM IR as text, written from the top down and in pieces.

A `Function` is a list of `Region`s. A region is a run of lines that may still grow while later regions are written, so
that what is found to be loop-invariant can be put in front of a loop whose body is being written. A region may hold
several basic blocks; `Region.block` is the label of the one that it ends in, for phi nodes of others.

Text, not llvmlite.ir objects: a kernel is tens of thousands of lines, and a string costs a tenth of an object.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(eq=False)
class Region:
    """Lines of IR. `block` is the label of the basic block in which the next line stands."""

    block: str
    lines: list[str] = field(default_factory=list)

    def line(self, text: str) -> None:
        self.lines.append("  " + text)

    def label(self, name: str) -> None:
        """Begin a basic block; the line before must be a terminator."""
        self.lines.append(f"{name}:")
        self.block = name


class Function:
    """One function under construction. Names are unique in it; `allocas` go to its entry block."""

    def __init__(self, signature: str) -> None:
        self.signature = signature
        self._count = 0
        self.entry = Region("entry")
        self.regions: list[Region] = []
        self.declarations: set[str] = set()

    def name(self, hint: str = "t") -> str:
        """A new local name, without its %."""
        self._count += 1
        return f"{hint}{self._count}"

    def region(self, label: str, *, begins: bool = True) -> Region:
        """A new region behind those there are. `begins`: whether it starts with a label of its own."""
        region = Region(label)
        if begins:
            region.lines.append(f"{label}:")
        self.regions.append(region)
        return region

    def emit(self, region: Region, expression: str) -> str:
        """`%new = expression`; gives %new."""
        self._count += 1
        name = f"%t{self._count}"
        region.lines.append(f"  {name} = {expression}")
        return name

    def alloca(self, type_: str, align: int = 64) -> str:
        return self.emit(self.entry, f"alloca {type_}, align {align}")

    def declare(self, declaration: str) -> None:
        self.declarations.add(declaration)

    def lines(self) -> Iterator[str]:
        yield f"define {self.signature} {{"
        yield "entry:"
        yield from self.entry.lines
        for region in self.regions:
            yield from region.lines
        yield "}"


def splat_constant(type_: str, text: str) -> str:
    """The operand text of a constant with the same element in each lane; `type_` is the vector's."""
    element = type_[type_.index(" x ") + 3 : -1]
    return f"splat ({element} {text})"
