"""Program -> assembly text, and new lines for a program.

Lines that were read are emitted as they were read; a line for an instruction that a pass made is written here. A
changed line loses its old comment, because a comment that speaks of the old instruction would lie.
"""

from __future__ import annotations

import dataclasses

from isa.asm.program import Directive, Kernel, Label, Line, Program
from isa.errors import IsaError
from isa.semantics.instruction import Instruction


def emit(program: Program) -> str:
    """The program's text; `emit(parse(text)) == text`."""
    return "\n".join(line.text for line in program.lines) + ("\n" if program.newline_at_end else "")


def instruction_line(inst: Instruction) -> Line:
    """A line for an instruction that a pass made."""
    return Line(f"\t{inst}", inst)


def label_line(name: str) -> Line:
    return Line(f"{name}:", Label(name))


def set_directives(kernel: Kernel, descriptor: dict[str, int], metadata: dict[str, int]) -> Program:
    """The program with `.amdhsa_<key>` directives and metadata entries (`.vgpr_count`) of one kernel replaced.

    Both must exist already: a count that the compiler did not write has no place to stand. Raises IsaError otherwise.
    """
    lines = list(kernel.program.lines)
    for key, value in descriptor.items():
        number = kernel.descriptor.get(key)
        if number is None:
            raise _no_place(kernel, f".amdhsa_{key}")
        node = lines[number].node
        assert isinstance(node, Directive)
        head = lines[number].text[: lines[number].text.index(node.name) + len(node.name)]
        lines[number] = Line(f"{head} {value}", dataclasses.replace(node, args=str(value)))
    for key, value in metadata.items():
        number = kernel.metadata.get(key)
        if number is None:
            raise _no_place(kernel, key)
        text = lines[number].text
        colon = text.index(":", text.index(key)) + 1
        gap = len(text[colon:]) - len(text[colon:].lstrip())
        lines[number] = Line(text[: colon + gap] + str(value))
    return kernel.program.with_lines(lines)


def _no_place(kernel: Kernel, key: str) -> IsaError:
    return IsaError(
        f"kernel {kernel.name} has no {key} to set",
        span=kernel.program.span(kernel.start),
        expected="a .s that clang wrote, with its descriptor and metadata",
    )
