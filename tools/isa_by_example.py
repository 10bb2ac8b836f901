"""Pages of the docs site "RDNA ISA by example": the instruction table -> a page a unit, made with the site.

A row holds an instruction's syntax, which operands are read and written, what it computes, its scheduling class, and
the source of that class's timing. What it computes is its body's docstring, or the expression that the body is; of what
has no body, its access or effect.
"""

from __future__ import annotations

import ast
import inspect
from functools import cache
from html import escape
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING

import isa.instructions  # noqa: F401  fills the table
from isa.semantics.instruction import TABLE, Description
from isa.semantics.scheduling import CLASSES
from isa.timing.machine.scheduling_classes import COSTS

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

COLUMNS = ("instruction", "operands", "meaning", "class", "timing from", "targets")
_MARKS = {"r": "", "w": "=", "rw": "+"}
_HEAD = "`=`: written, `+`: read and written, else read; then the kind of register and the type."


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The pages among those of the site."""
    from mkdocs.structure.files import File

    for unit in dict.fromkeys(CLASSES.values()):
        files.append(File.generated(config, f"isa/{unit}.md", content=page(unit)))
    return files


def page(unit: str) -> str:
    """Of the instructions that a unit runs."""
    rows = [(name, *cells(one)) for name, one in sorted(TABLE.items()) if one.unit == unit]
    head = "".join(f"<th>{name}</th>" for name in COLUMNS)
    body = "\n".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"# Instructions: {unit}\n\n{_HEAD}\n\n<table>\n<tr>{head}</tr>\n{body}\n</table>\n"


def cells(one: Description) -> tuple[str, ...]:
    """By COLUMNS, from the second on."""
    operands = ", ".join(f"{_MARKS[role.access]}{role.kind}.{role.type}" for role in one.roles)
    implicit = [("reads", one.implicit_reads), ("writes", one.implicit_writes)]
    operands += "".join(f"; {how} {', '.join(names)}" for how, names in implicit if names)
    cost = COSTS[one.sched]
    lasts = [f"from {one.since}"] * bool(one.since) + [f"before {one.until}"] * bool(one.until)
    return operands, meaning(one), one.sched, cost.source if cost else "not known", " ".join(lasts) or "all"


def meaning(one: Description) -> str:
    """What it computes; "" where the table has no words for it."""
    words = [f"{one.access.space} {one.access.kind} of {one.access.element}"] if one.access else []
    if one.body is not None:
        said = inspect.getdoc(one.body)
        code = getattr(one.body, "__code__", None)
        words.append(" ".join(said.split()) if said else _expression(code) if code else "")
    return ": ".join(filter(None, [*words, one.effect]))


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
