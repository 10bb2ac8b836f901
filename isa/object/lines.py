"""Line table: an assembly text and its code object -> the line at each address.

In: a `Program`, the code object that was made of it, and an assembler. Out: for an address, the line whose bytes lie
there; for an instruction that was disassembled, its place in the text.

The assembler itself says it. The text is assembled and linked once more with a symbol before each instruction, and
before each directive among them, which may put padding or data there; a symbol changes no code. Where the code of both
is the same, bytes and addresses, what lies from one symbol to the next comes from that symbol's line, encodings written
as numbers and padding too. It is done when first asked for, in 10 to 100 ms.

`TextCode` has no bytes, and its instructions stand in the text. Limit: nothing is known where the assembler makes other
code of the text than was given. Macros and repetitions are expanded before (`isa.asm.expand`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from isa.asm.program import Directive, Program
from isa.errors import Span
from isa.object.code_object import CodeObject, load
from isa.object.from_text import TextCode
from isa.semantics.instruction import Instruction

_EXECUTE = 1


@dataclass(frozen=True)
class Lines:
    """given: the text, or what reads it when a line is asked for; None where there is none, then places are addresses.
    code: made of the text; assemble: makes the code object of a text in the same way."""

    given: Program | Callable[[], Program | None] | None = None
    code: CodeObject | None = None
    assemble: Callable[[str], bytes] | None = None

    @cached_property
    def program(self) -> Program | None:
        return self.given() if callable(self.given) else self.given

    def of(self, inst: Instruction) -> Span | None:
        """Its place in the text; None where there is no text, or it is not known there."""
        if inst.address is None or isinstance(self.code, TextCode):
            return inst.span
        return self.at(inst.address)

    def at(self, address: int) -> Span | None:
        """The line whose bytes lie at an address."""
        before = bisect_right(self._starts, address)
        if not before or self.program is None:
            return None
        number = self._numbers[self._starts[before - 1]]
        text = self.program.lines[number].text
        return self.program.span(number, len(text) - len(text.lstrip()) + 1)

    def written(self, inst: Instruction) -> Instruction:
        """As it stands in the text; as it was disassembled, where that is not known."""
        number = None if inst.address is None else self._numbers.get(inst.address)
        if number is None or self.program is None:
            return inst
        return self.program.lines[number].instruction or inst

    def place(self, inst: Instruction) -> str:
        """An instruction, and where it is."""
        span = self.of(inst)
        return f"`{self.written(inst)}` ({f'line {span.line}' if span else f'at {inst.address or 0:#x}'})"

    @cached_property
    def _starts(self) -> list[int]:
        return sorted(self._numbers)

    @cached_property
    def _numbers(self) -> dict[int, int]:
        """Address -> the line whose bytes begin there."""
        if self.program is None or self.code is None or self.assemble is None:
            return {}
        prefix = "line."
        while any(prefix in line.text for line in self.program.lines):
            prefix = f"_{prefix}"
        marked = set(_marked(self.program))
        rows = [
            f"{prefix}{number}:\n{line.text}" if number in marked else line.text
            for number, line in enumerate(self.program.lines)
        ]
        made = load(self.assemble("\n".join((*rows, ""))), runs=False)
        if _executable(made) != _executable(self.code):
            return {}
        names = ((f"{prefix}{number}", number) for number in sorted(marked))
        return {made.symbols[name].address: number for name, number in names if name in made.symbols}


NO_LINES = Lines()
"""Of code without a text."""


def _marked(program: Program) -> Iterator[int]:
    """The lines that may put bytes into code."""
    inside, ends = 0, 0
    functions = {program.labels[n] for n in program.labels if not n.startswith(".L")}
    for number, line in enumerate(program.lines):
        node = line.node
        if number in functions and number >= ends:
            ends = program.code_end(number)
        if isinstance(node, Directive) and node.name == ".popsection":
            inside -= 1
        elif not inside and (isinstance(node, Instruction) or (isinstance(node, Directive) and number < ends)):
            yield number
        if isinstance(node, Directive) and node.name == ".pushsection":
            inside += 1


def _executable(code: CodeObject) -> list[tuple[int, bytes]]:
    return [(s.address, s.data) for s in code.segments if s.flags & _EXECUTE]
