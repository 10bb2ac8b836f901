"""LLVM IR, written from the top down and in pieces: records while passes look at it, text at the end.

A `Function` is a list of `Region`s. A region is a run of lines that may still grow while later regions are written, so
that what is found to be loop-invariant can be put in front of a loop whose body is being written. A region may hold
several basic blocks; `Region.block` is the label of the one that it ends in, for phi nodes of others.

What computes a value is an `Operation`, which passes may reorder, rename and recognize. Labels,
branches, stores and other effects, which no pass goes across, are lines of text.

Records are plain tuples: a kernel is tens of thousands of lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

Operation: TypeAlias = tuple[str, str, tuple[str | int, ...]]
"""(result, form, operands) of one instruction. result: its name, empty for none. form: opcode, types and flags as LLVM
writes them, with %s for each operand. operands: names, and constants as LLVM writes them or as numbers."""


def opcode(operation: Operation) -> str:
    return operation[1].partition(" ")[0]


def full_name(type_: str) -> str:
    """The function that computes an FMA in full; type_: of LLVM, `<8 x float>`."""
    return f"full_fma_v{type_[1:].split(' ')[0]}"


@dataclass(frozen=True, eq=False)
class Fma:
    """An FMA that `isa.sim.translate.fma_fast_path` may leave to the host, as one line. native: the host's instruction;
    written: with the NaN that it has to be, empty in baseline code, which calls a function for that; type_: of LLVM,
    `<8 x float>`; operands: the multiplicands and the addend."""

    native: Operation
    written: tuple[Operation, ...]
    type_: str
    operands: tuple[str, str, str]

    @property
    def result(self) -> str:
        return self.native[0]

    @property
    def full(self) -> tuple[Operation, ...]:
        """With the NaN that it has to be."""
        return self.written or (self.call,)

    @property
    def call(self) -> Operation:
        """The same by the function of `full_name`."""
        parameters = ", ".join([f"{self.type_} %s"] * 3)
        return self.result, f"call {self.type_} @{full_name(self.type_)}({parameters})", self.operands


Line: TypeAlias = Operation | Fma | str


def written(lines: Iterable[Line]) -> Iterator[str]:
    """The lines as LLVM reads them."""
    for line in lines:
        if isinstance(line, tuple):
            result, form, operands = line
            text = form % operands if operands else form
            yield f"  {result} = {text}" if result else f"  {text}"
        elif isinstance(line, str):
            yield line
        else:
            yield from written(line.full)


@dataclass(eq=False)
class Region:
    """Lines of IR. `block` is the label of the basic block in which the next line stands."""

    block: str
    lines: list[Line] = field(default_factory=list)

    def line(self, text: str) -> None:
        self.lines.append("  " + text)

    def label(self, name: str) -> None:
        """Begin a basic block; the line before must be a terminator."""
        self.lines.append(f"{name}:")
        self.block = name

    def go_on(self, name: str) -> None:
        """To a basic block, which begins."""
        self.line(f"br label %{name}")
        self.label(name)

    def branch(self, condition: str, yes: str, no: str, name: str) -> None:
        """To one of two basic blocks; the one of that name begins."""
        self.line(f"br i1 {condition}, label %{yes}, label %{no}")
        self.label(name)


class Function:
    """One function under construction. Names are unique in it; `allocas` go to its entry block."""

    def __init__(self, signature: str) -> None:
        self.signature = signature
        self._count = 0
        self.entry = Region("entry")
        self.regions: list[Region] = []
        self.declarations: set[str] = set()
        self._places: dict[str, str] = {}

    def name(self, hint: str = "t") -> str:
        """A new local name, without its %."""
        self._count += 1
        return f"{hint}{self._count}"

    @property
    def size(self) -> int:
        """How many names there are: about as many as lines."""
        return self._count

    def region(self, label: str, *, begins: bool = True) -> Region:
        """A new region after those there are. `begins`: whether it starts with a label of its own."""
        region = Region(label)
        if begins:
            region.lines.append(f"{label}:")
        self.regions.append(region)
        return region

    def emit(self, region: Region, form: str, *operands: str | int) -> str:
        """A new value's instruction; gives its name."""
        return self.append(region, form, operands)

    def append(self, region: Region, form: str, operands: tuple[str | int, ...]) -> str:
        self._count += 1
        name = f"%t{self._count}"
        region.lines.append((name, form, operands))
        return name

    def splat(self, region: Region, element: str, lanes: int, value: str) -> str:
        """A vector with the scalar in each lane."""
        vector = f"<{lanes} x {element}>"
        one = self.emit(region, f"insertelement {vector} poison, {element} %s, i32 0", value)
        return self.emit(region, f"shufflevector {vector} %s, {vector} poison, <{lanes} x i32> zeroinitializer", one)

    def alloca(self, type_: str, align: int = 64) -> str:
        return self.emit(self.entry, f"alloca {type_}, align {align}")

    def place(self, name: str, type_: str) -> str:
        """The alloca of that name; each call but the first finds it."""
        if name not in self._places:
            self._places[name] = self.alloca(type_)
        return self._places[name]

    def declare(self, declaration: str) -> None:
        self.declarations.add(declaration)

    def define(self, other: Function) -> None:
        """Have the module of this function hold that one, and what it declares."""
        for declaration in other.declarations:
            self.declare(declaration)
        self.declare("\n".join(other.lines()))

    def lines(self) -> Iterator[str]:
        yield f"define {self.signature} {{"
        yield "entry:"
        for region in (self.entry, *self.regions):
            yield from written(region.lines)
        yield "}"


def splat_constant(type_: str, text: str) -> str:
    """The operand text of a constant with the same element in each lane; `type_` is the vector's."""
    element = type_[type_.index(" x ") + 3 : -1]
    return f"splat ({element} {text})"
