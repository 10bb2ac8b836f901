"""Lint of whatever a kernel's code is: assembly with its suppressing comments, or a code object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hipgemm.judge import kept
from isa.asm.program import Program
from isa.errors import Finding, Related, Span
from isa.lint import suppress
from isa.lint.lint import NO_ASSUMPTION, Assumed, lint_code_object, lint_program
from isa.object.code_object import CodeObject

if TYPE_CHECKING:
    from hipgemm.kernels.object import Kernel


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


def kept_lint(
    kernel: Kernel, given: Program | CodeObject, file: str, name: str | None = None, *, notes: bool = True,
    assumed: Assumed = NO_ASSUMPTION,
) -> list[Finding]:  # fmt: skip
    """The same of what `hipgemm.kernels.build.readable` gives for a kernel, from the cache where it was said before.
    What somebody else's text was expanded to is looked at anew."""
    code: list[str | bytes] = [kernel.code] if isinstance(kernel.code, bytes) else []
    if isinstance(given, Program) and not given.units:
        code = [given.file, given.title, str(given.target), "\n".join(line.text for line in given.lines)]

    def make() -> tuple[Finding, ...]:
        return tuple(lint(given, file, name, notes=notes, assumed=assumed))

    asked = ("lint", file, name, notes, sorted((n, sorted(known.items())) for n, known in assumed.items()))
    return list(kept.of_code(code, asked, make, (Finding, Related, Span)))
