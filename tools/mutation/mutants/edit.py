"""A mutant, and the ways to make one: a line is taken out, or written again as another instruction or another text."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from isa.asm.emit import instruction_line
from isa.asm.parse import parse_line
from isa.asm.program import Kernel, Line, Program
from isa.errors import IsaError
from isa.semantics.instruction import Imm, Instruction

T = TypeVar("T")


@dataclass(frozen=True)
class Mutant:
    """One changed copy. `line` counts from 0; `what` is the line before and after."""

    kind: str
    line: int
    what: str
    program: Program


def mutant(kernel: Kernel, kind: str, number: int, new: Line) -> Mutant:
    """The kernel with another line in place of the one of this number."""
    lines = list(kernel.program.lines)
    before = lines[number].text.partition(";")[0].strip()
    lines[number] = new
    after = new.text.strip() or "removed"
    return Mutant(kind, number, f"{before} -> {after}", kernel.program.with_lines(lines))


def removed(kernel: Kernel, kind: str, number: int) -> Mutant:
    return mutant(kernel, kind, number, Line(""))


def written(kernel: Kernel, kind: str, number: int, inst: Instruction) -> Mutant:
    """The line with another instruction, read again so that its place and columns are right."""
    text = instruction_line(inst).text
    return mutant(kernel, kind, number, parse_line(text, kernel.program.file, number))


def raised(inst: Instruction, at: int, by: int = 1) -> Instruction | None:
    """The instruction with so much more for the integer that its operand is; None where it is none."""
    old = inst.operands[at] if at < len(inst.operands) else None
    if not isinstance(old, Imm) or not isinstance(old.value, int):
        return None
    return replace(inst, operands=(*inst.operands[:at], Imm(old.value + by), *inst.operands[at + 1 :]))


def legal(kernel: Kernel, kind: str, number: int, text: str) -> Iterator[Mutant]:
    """The line with another text, where that is an instruction that somebody described, with such operands."""
    try:
        line = parse_line(text, kernel.program.file, number)
        inst = line.instruction
        for half in inst.halves if inst else ():
            half.desc.roles_of(half)
    except IsaError:
        return
    if line.text.strip() != kernel.program.lines[number].text.partition(";")[0].strip():
        yield mutant(kernel, kind, number, line)


def sample(found: Sequence[tuple[int, T]], count: int, seed: int) -> list[tuple[int, T]]:
    """So many of them, in their order."""
    return sorted(random.Random(seed).sample(found, min(count, len(found))), key=lambda x: x[0])


def plain(kernel: Kernel, number: int) -> str:
    """The line's text without its comment."""
    return kernel.program.lines[number].text.partition(";")[0].rstrip()
