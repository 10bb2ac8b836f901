"""Listings: a kernel's code -> its lines with addresses and facts, for other tools.

`Listing` is a code object as text that findings can point into: one instruction a line, its address as a comment.
`lint` names places of a code object by address, `check` by the number of an instruction of its kernel; both become
lines of the listing.

`explorer` is the object that Compiler Explorer shows (its `ParsedAsmResult`): labels and instructions without
directives and comments, each with its line of the source, and where labels are used. Its lines and columns count from
1, `endCol` is the column after the last. Source: compiler-explorer, types/asmresult, lib/parsers/asm-parser.ts.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hipgemm.kernels.source_lines import source_of
from isa.asm.program import Label, Program
from isa.errors import Finding, Related, SourceLine, Span
from isa.object.code_object import CodeObject

_ADDRESS = re.compile(r"(?:^|:)0x([0-9a-f]+)")
_COMMENT = re.compile(";|//|/\\*")
_NAME = re.compile(r"[A-Za-z_.$][\w.$]*")


class Listing:
    """lines: the text. file: what it is called."""

    def __init__(self, code: CodeObject, file: str, kernels: Iterable[str]) -> None:
        self.file = file
        self.lines: list[str] = []
        self._by_address: dict[int, int] = {}
        self._first: dict[str, int] = {}
        for name in kernels:
            self.lines.append(f"{name}:")
            self._first[name] = len(self.lines)
            for address, _, text in code.disassembled(name):
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
        if (span is None or span.file in self._first) and (match := _ADDRESS.search(where)):
            line = self._by_address.get(int(match[1], 16))
        elif span is not None and span.file in self._first:
            line = self._first[span.file] + span.line
        return span if line is None else Span(self.file, line, 2, self.lines[line - 1])


def explorer(
    given: Program | CodeObject, kernels: Iterable[str], main: str, *, as_source: bool = False
) -> dict[str, Any]:
    """Kernels as Compiler Explorer has them. main: the file that a user gave, by which its own lines are known from
    those of headers. as_source: that file is the assembly itself, whose lines are the source where no other is named.
    """
    rows: list[dict[str, Any]] = []
    for name in kernels:
        rows += _of_text(given, name, main, as_source) if isinstance(given, Program) else _of_binary(given, name)
    used = {found[0] for row in rows if row["mnemonic"] for found in _NAME.finditer(row["text"])} | set(kernels)
    rows = [row for row in rows if row["mnemonic"] or row["text"][:-1] in used]
    defined = {row["text"][:-1]: i for i, row in enumerate(rows, 1) if not row["mnemonic"]}
    for row in rows:
        after = len(row["text"]) if not row["mnemonic"] else row["text"].index(row["mnemonic"]) + len(row["mnemonic"])
        row["labels"] = [
            {"name": found[0], "range": {"startCol": found.start() + 1, "endCol": found.end() + 1}}
            for found in _NAME.finditer(row["text"], after)
            if found[0] in defined
        ]
        del row["mnemonic"]
    return {"asm": rows, "labelDefinitions": defined}


def _of_text(program: Program, name: str, main: str, as_source: bool) -> Iterable[dict[str, Any]]:
    """A kernel's labels and instructions; `mnemonic` is "" of labels."""
    sources: Mapping[int, SourceLine] = source_of(program)
    kernel = program.kernel(name)
    for number, line in enumerate(kernel.lines, kernel.start):
        if isinstance(line.node, Label):
            yield {"text": f"{line.node.name}:", "source": None, "mnemonic": ""}
        elif line.instruction is not None:
            at, source = sources.get(number), None
            if at is not None:
                source = {"file": at.file, "line": at.line, "mainsource": Path(at.file).name == Path(main).name}
            elif as_source:
                source = {"file": main, "line": number + 1, "mainsource": True}
            text = _COMMENT.split(line.text)[0].rstrip().expandtabs()
            yield {"text": text, "source": source, "mnemonic": line.instruction.mnemonic}


def _of_binary(code: CodeObject, name: str) -> Iterable[dict[str, Any]]:
    """The same of machine code, with addresses and bytes; nothing is known of its source."""
    yield {"text": f"{name}:", "source": None, "mnemonic": ""}
    held, entry = code.code(name), code.kernel(name).descriptor.entry
    for address, size, text in code.disassembled(name):
        octets = [f"{octet:02x}" for octet in held[address - entry : address - entry + size]]
        shown = f"  {text.strip()}"
        yield {"text": shown, "source": None, "mnemonic": shown.split()[0], "address": address, "opcodes": octets}
