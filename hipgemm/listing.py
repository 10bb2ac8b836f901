"""A code object as text that findings can point into: one instruction a line, its address as a comment.

`lint` names places of a code object by address, `check` by the number of an instruction of its kernel; both become
lines of the listing.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence

from isa.errors import Finding, Related, Span
from isa.object.code_object import CodeObject, disassemble

_ADDRESS = re.compile(r"\+0x([0-9a-f]+)")


class Listing:
    """lines: the text. file: what it is called."""

    def __init__(self, code: CodeObject, file: str, kernels: Iterable[str]) -> None:
        self.file = file
        self.lines: list[str] = []
        self._by_address: dict[int, int] = {}
        self._first: dict[str, int] = {}
        for name in kernels:
            kernel = code.kernel(name)
            self.lines.append(f"{name}:")
            self._first[name] = len(self.lines)
            for address, _, text in disassemble(code.code(name), kernel.descriptor.entry, code.arch):
                self._by_address[address] = len(self.lines) + 1
                self.lines.append(f"\t{text.strip():<56} ; {address:#x}")

    def __str__(self) -> str:
        return "\n".join([*self.lines, ""])

    def pointed(self, findings: Sequence[Finding]) -> list[Finding]:
        """The findings with places in the listing, where theirs are in it."""
        return [
            dataclasses.replace(f, span=self._span(f.span, f.where), related=tuple(self._related(r) for r in f.related))
            for f in findings
        ]

    def _related(self, related: Related) -> Related:
        return dataclasses.replace(related, span=self._span(related.span, related.where))

    def _span(self, span: Span | None, where: str) -> Span | None:
        line = None
        if span is not None and span.file in self._first:
            line = self._first[span.file] + span.line
        elif span is None and (match := _ADDRESS.search(where)):
            line = self._by_address.get(int(match[1], 16))
        return span if line is None else Span(self.file, line, 2, self.lines[line - 1])
