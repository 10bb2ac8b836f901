"""Lint of whatever a kernel's code is: assembly with its suppressing comments, or a code object."""

from __future__ import annotations

from isa.asm.program import Program
from isa.errors import Finding
from isa.lint import suppress
from isa.lint.lint import NO_ASSUMPTION, Assumed, lint_code_object, lint_program
from isa.object.code_object import CodeObject


def lint(
    given: Program | CodeObject, file: str, name: str | None = None, *, notes: bool = True, races: bool = True,
    assumed: Assumed = NO_ASSUMPTION,
) -> list[Finding]:  # fmt: skip
    """What an assembler accepts and a card does not forgive, in kernel `name` or all of them; faults only where `notes`
    is false; without `races` those of LDS, which take longest, are left out of assembly. file: what to call a code
    object; assumed: bytes of the arguments by kernel. IsaError where there is no such kernel."""
    if not isinstance(given, Program):
        return list(lint_code_object(given, file, name, notes=notes, assumed=assumed))
    said = lint_program(given, name, notes=notes, races=races, assumed=assumed)
    # A comment may be for a path that is left out.
    found = suppress.apply(said, given, "lint", () if assumed else suppress.lines_of(given, name))
    return [f for f in found if notes or f.severity == "fault"]
