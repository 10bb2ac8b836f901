"""Mutants that a page lists as missed, judged again: what better judges say of them is put into the page.

All of a table takes an hour, and a judge that has learnt something is asked about what was missed first. The section
keeps what it says of the others; its numbers change by what is new, and "Judged again" lists these mutants with what
was found, and the command. A study of the whole kernel rewrites the section.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from isa.errors import IsaError
from tools.mutation.outcome import Outcome, Table
from tools.mutation.page import listed, page_of, sections_of

Name = tuple[str, int, str, str]
"""A mutant: kernel, line, kind, what was changed."""
_LINE = re.compile(r"^- (\w+), line (\d+), ([^:]+): `(.*?)`: ", re.MULTILINE)
_AGAIN, _MISSED, _SAME, _LAUNCHES = "Judged again", "Missed", "Equivalent mutants", "What a launch finds"
_NONE = ["None."]


def name(outcome: Outcome) -> Name:
    return outcome.kernel, outcome.line, outcome.kind, outcome.what


def missed(page: str, kernels: Sequence[str]) -> frozenset[Name]:
    """Those of the kernels that the page lists as missed. IsaError where it has no section of one."""
    found: set[Name] = set()
    sections = sections_of(page)
    for kernel in kernels:
        text = next((t for names, t in sections.items() if kernel in names.split(", ")), None)
        if text is None:
            raise IsaError(
                f"the page has no section of {kernel}", expected=", ".join(sections) or "a page with sections"
            )
        lines = "\n".join(_parts(text).get(_MISSED, ()))
        found |= {(m[1], int(m[2]), m[3], m[4]) for m in _LINE.finditer(lines) if m[1] == kernel}
    return frozenset(found)


def amended(page: str, table: Table, command: str) -> str:
    """The page with these outcomes of mutants that it lists as missed."""
    sections = sections_of(page)
    for names, text in sections.items():
        mine = [o for o in table.outcomes if o.kernel in names.split(", ") and name(o) in missed(page, [o.kernel])]
        if mine:
            sections[names] = _amended(text, mine, command)
    return page_of(sections)


def _amended(text: str, some: Sequence[Outcome], command: str) -> str:
    parts = _parts(text)
    gone = {name(o) for o in some}
    left = [line for line in parts[_MISSED] if not ((m := _LINE.match(line)) and (m[1], int(m[2]), m[3], m[4]) in gone)]
    still = [o for o in some if o.verdict == "missed"]
    parts[_MISSED] = [*(line for line in left if line not in _NONE), *(listed(still) if still else ())] or _NONE
    if same := [o for o in some if o.verdict == "equivalent"]:
        parts[_SAME] = [*(line for line in parts[_SAME] if line not in _NONE), *listed(same)]
    if parts.get(_LAUNCHES) == ["None was launched."] and any(o.check is not None for o in some):
        parts[_LAUNCHES] = ["None was launched but of those that were judged again."]
    parts[_AGAIN] = [*parts.get(_AGAIN, ()), f"By `{command}`:", "", *map(_said, some)]
    body = "\n\n".join(
        ("\n".join([f"### {title}", "", *lines]) if title else "\n".join(lines)) for title, lines in parts.items()
    )
    for o in some:
        body = _counted(body, o)
    return body


def _said(o: Outcome) -> str:
    by = [f"{judge}: {rule}" for judge, rule in (("lint", o.lint), ("proof", o.proof), ("check", o.check)) if rule]
    return f"- {o.kernel}, line {o.line}, {o.kind}: `{o.what}`: {o.verdict}" + (f" ({', '.join(by)})" if by else "")


def _counted(body: str, o: Outcome) -> str:
    """With what is new of one mutant in the rows that count it."""
    for first in (f"{o.kernel} | {o.kind}", f"**{o.kernel}** | **all**", "**all** | "):
        row = re.search(rf"^\| {re.escape(first)} \|(.*)\|$", body, re.MULTILINE)
        if row is None:
            continue
        count, lint, proof, check, found, same, gone = (cell.strip() for cell in row[1].split("|"))
        asked = int(check.partition(" of ")[2] or count) + (o.check is not None and " of " in check)
        cells = (
            count, _more(lint, o.lint), _more(proof, o.proof),
            _more(check.partition(" of ")[0] + (f" of {asked}" if asked < int(count) else ""), o.check),
            int(found) + (o.verdict == "found"), int(same) + (o.verdict == "equivalent"),
            int(gone) - (o.verdict != "missed"),
        )  # fmt: skip
        body = body.replace(row[0], f"| {first} | {' | '.join(map(str, cells))} |")
    return body


def _more(cell: str, found: str | None) -> str:
    """A cell that counts what a judge found, perhaps `of` those that it was asked about; a missed one was."""
    hits, of, asked = cell.partition(" of ")
    return f"{int(hits) + bool(found)}{of}{asked}"


def _parts(text: str) -> dict[str, list[str]]:
    """Title -> lines of a section's parts; "" is the one at its top."""
    top, *rest = re.split(r"^### (.*)\n", text, flags=re.MULTILINE)
    bodies = zip(["", *rest[::2]], [top, *rest[1::2]], strict=True)
    return {title: body.strip("\n").splitlines() for title, body in bodies}
