"""Comments in assembly that ignore rules: findings and the text that they are of -> those that are left.

    ds_load_b32 v5, v2      ; hipgemm: ignore LDS001 (each wave keeps to its own half)
    // hipgemm: ignore WAIT004, WAIT005
    s_waitcnt vmcnt(0)

A comment after an instruction is for its line; one on a line of its own for the next line that is more than a comment.
It names ids or prefixes of ids, with commas or blanks between; what follows in parentheses is for the reader. Where a
finding has several places, those that are ignored leave it, and it stands at the first one that is left.

A comment that ignores nothing is a note (SUP001), what is not a rule a fault (SUP002). Only rules of the tool that asks
count, so that `check` leaves alone what is for `lint`; and only lines that it looked at can be said to hold nothing.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from isa.asm.program import Program
from isa.errors import Finding, Span
from isa.lint import registry

UNUSED = registry.RULES["SUP001"]
UNKNOWN = registry.RULES["SUP002"]
_COMMENT = re.compile(r"(;|//)\s*hipgemm:\s*ignore\b(?P<ids>[^(;]*)")
_ONLY_COMMENT = re.compile(r"\s*(;|//|$)")


@dataclass(frozen=True)
class _Suppression:
    """ids: what it ignores; line: of the text (from 1) that it is for; at: where it stands."""

    name: str
    ids: frozenset[str]
    line: int
    at: Span


def apply(
    findings: Iterable[Finding], program: Program, tool: str, looked_at: Collection[int] | None = None
) -> list[Finding]:
    """The findings that no comment ignores, and what is wrong with the comments. tool: "lint" or "check"; looked_at:
    the lines (from 1) that it looked at, None for all."""
    suppressions = list(_read(program))
    used: set[int] = set()

    def ignored(id: str, span: Span | None) -> bool:
        if span is None or span.file != program.file:
            return False
        hit = {k for k, s in enumerate(suppressions) if s.line == span.line and id in s.ids}
        used.update(hit)
        return bool(hit)

    left = []
    for finding in findings:
        others = tuple(r for r in finding.related if not ignored(finding.id, r.span))
        if not ignored(finding.id, finding.span):
            left.append(dataclasses.replace(finding, related=others))
        elif others:
            now, *more = others
            left.append(
                dataclasses.replace(
                    finding, message=now.message, span=now.span, where=now.where, related=tuple(more), got=None
                )
            )
    for k, s in enumerate(suppressions):
        if not s.ids:
            left.append(
                UNKNOWN.found(
                    f"{s.name!r} is not a rule", s.at, expected="an id such as LDS001, or a prefix of ids such as LDS",
                    hint="hipgemm lint --rules lists them",
                )
            )  # fmt: skip
            continue
        asked = any(tool in registry.RULES[id].tools for id in s.ids)
        if asked and k not in used and (looked_at is None or s.line in looked_at):
            left.append(UNUSED.found(f"there is no {s.name} in line {s.line}", s.at, hint="remove the comment"))
    return left


def stands_in(text: str) -> bool:
    """Whether a text has such a comment."""
    return bool(_COMMENT.search(text))


def lines_of(program: Program, kernel: str | None) -> Collection[int] | None:
    """The lines (from 1) of one kernel's code; None for the whole text."""
    if kernel is None or kernel not in program.kernels:
        return None
    return {number + 1 for number, _ in program.kernel(kernel).instructions()}


def _read(program: Program) -> Iterable[_Suppression]:
    for number, line in enumerate(program.lines):
        match = _COMMENT.search(line.text)
        if match is None:
            continue
        target = number
        if _ONLY_COMMENT.match(line.text):
            after = range(number + 1, len(program.lines))
            target = next((k for k in after if not _ONLY_COMMENT.match(program.lines[k].text)), number)
        names = list(re.finditer(r"[^\s,]+", match["ids"]))
        for name in names:
            at = program.span(number, match.start("ids") + name.start() + 1)
            yield _Suppression(name[0], registry.named(name[0].upper()), target + 1, at)
        if not names:
            yield _Suppression("", frozenset(), target + 1, program.span(number, match.start() + 1))
