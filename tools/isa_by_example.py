"""Pages of the docs site "RDNA ISA by example": the instruction table -> a page a unit, made with the site.

A row holds an instruction's syntax, which operands are read and written, what it computes, its scheduling class, the
source of that class's timing, and its hazards: the counter to wait for before its result is used, and the rules of lint
that tell of a hazard that begins with it. What it computes is its body's docstring, or the expression that the body is;
of a body that a function makes, that function's, with what it was made from; of what has no body, its access, effect
or words.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from functools import cache
from html import escape
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any

import isa.instructions  # noqa: F401  fills the table
from isa.lint.rules import hazards
from isa.semantics.instruction import TABLE, Description
from isa.semantics.scheduling import CLASSES
from isa.targets.gfx11 import GFX11
from isa.targets.gfx12 import GFX12
from isa.timing.machine.scheduling_classes import COSTS

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

COLUMNS = ("instruction", "operands", "meaning", "hazards", "class", "timing from", "targets")
WIDE = """---
hide: [toc]
---
<style>
.md-grid { max-width: 90rem } .md-typeset table:not([class]) :is(th, td) { padding: .4em .6em; min-width: 0 }
</style>

"""
"""At the top of a page of tables: it takes the room that there is."""
_MARKS = {"r": "", "w": "=", "rw": "+"}
_HEAD = """`=`: written, `+`: read and written, else read; then the kind of register and the type.
Hazards: the counter to wait for (RDNA3's; of what only RDNA4 has, its), and [rules of lint](../lint.md); any VALU
instruction can meet HAZ005 in wave64, and HAZ009 on RDNA4 where it reads SGPRs."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The pages among those of the site."""
    from mkdocs.structure.files import File

    for unit in dict.fromkeys(CLASSES.values()):
        name = f"isa/{unit}.md"
        title = next((titles[name] for titles in _titles(config.nav) if name in titles), unit)
        files.append(File.generated(config, name, content=page(unit, title)))
    return files


def _titles(nav: Any) -> Iterator[dict[str, str]]:
    """File of a page -> its title, section by section."""
    for section in nav or ():
        if isinstance(section, dict):
            pages = [page for page in next(iter(section.values())) if isinstance(page, dict)]
            yield {name: title for page in pages for title, name in page.items()}


def page(unit: str, title: str) -> str:
    """Of the instructions that a unit runs."""
    rows = [(name, *cells(one)) for name, one in sorted(TABLE.items()) if one.unit == unit]
    head = "".join(f"<th>{name}</th>" for name in COLUMNS)
    body = "\n".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"{WIDE}# {title}: instructions\n\n{_HEAD}\n\n<table>\n<tr>{head}</tr>\n{body}\n</table>\n"


def cells(one: Description) -> tuple[str, ...]:
    """By COLUMNS, from the second on."""
    operands = ", ".join(f"{_MARKS[role.access]}{role.kind}.{role.type}" for role in one.roles)
    implicit = [("reads", one.implicit_reads), ("writes", one.implicit_writes)]
    operands += "".join(f"; {how} {', '.join(names)}" for how, names in implicit if names)
    cost = COSTS[one.sched]
    source = cost.source if cost else "not known"
    lasts = [f"from {one.since}"] * bool(one.since) + [f"before {one.until}"] * bool(one.until)
    return operands, meaning(one), _hazards(one), one.sched, source, " ".join(lasts) or "all"


def _hazards(one: Description) -> str:
    returns = one.access is not None and one.access.returns
    counters = (GFX12 if one.since >= "gfx12" else GFX11).counters_of(one.sched, returns)
    return ", ".join([*counters, *hazards.about(one)])


def meaning(one: Description) -> str:
    """What it computes; "" where the table has no words for it."""
    access = f"{one.access.space} {one.access.kind} of {one.access.element}" if one.access else ""
    return ": ".join(filter(None, [access, _told(one.body) if one.body else "", one.effect, one.words]))


def _told(value: Any) -> str:
    """A body, or what one was made from, in words."""
    code = getattr(value, "__code__", None)
    if code is None:
        return str(value)
    if said := inspect.getdoc(value) or _expression(code):
        return " ".join(said.split())
    maker = getattr(sys.modules[value.__module__], value.__qualname__.partition(".<locals>")[0], None)
    cells = zip(code.co_freevars, value.__closure__ or (), strict=True)
    held = [f"{name} = {_told(cell.cell_contents)}" for name, cell in cells]
    return " ".join([*(inspect.getdoc(maker) or "").split(), f"({'; '.join(held)})" if held else ""]).strip()


def _expression(code: CodeType) -> str:
    """What the function of this code computes, as it is written; "" where it has loops or branches, or where (Python
    3.10) its line has several like it."""
    places = {(line, column) for line, _, column, _ in code.co_positions()} if hasattr(code, "co_positions") else None
    found = set()
    for node in _functions(code.co_filename):
        names, steps = [each.arg for each in node.args.args], node.body if isinstance(node.body, list) else [node.body]
        same = node.lineno == code.co_firstlineno and names == list(code.co_varnames[: code.co_argcount])
        if isinstance(node, ast.Lambda) and places is not None:
            same = same and (node.body.lineno, node.body.col_offset) in places
        if same and not any(hasattr(step, "body") for step in steps):
            found.add(f"{', '.join(names)}: {'; '.join(map(ast.unparse, steps))}")
    return found.pop() if len(found) == 1 else ""


@cache
def _functions(file: str) -> list[ast.Lambda | ast.FunctionDef]:
    tree = ast.parse(Path(file).read_text())
    return [node for node in ast.walk(tree) if isinstance(node, (ast.Lambda, ast.FunctionDef))]
