"""A pipeline is text: names of passes with commas between, options in braces.

    bank-balance,unroll,batch-loads
    bank-balance{rows=8 columns=16},unroll

Each pass is a frozen dataclass with a `name`, whose fields are its options, and `run`, Program -> Program, in a module
of `general`, `gemm` or `schedule`, where it is found. The input is verified before the first one, so that no pass is
blamed for it. After each one the text is read again, so that places in errors are places in what the pass wrote, and
the program is verified; a pass that broke it is an error that names the pass.
"""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, ClassVar, Protocol, cast, get_type_hints

from isa.asm.parse import reread
from isa.asm.program import Program
from isa.errors import IsaError, Span, meant
from isa.lint.verify import verify
from isa.passes import gemm, general, schedule


class Pass(Protocol):
    """Program -> Program. The docstring of each says what it requires, guarantees and leaves alone."""

    name: ClassVar[str]

    def run(self, program: Program) -> Program: ...


def _passes() -> Iterator[type[Any]]:
    """The passes that the modules of this package define: dataclasses with a `name`."""
    for folder in (general, gemm, schedule):
        for found in pkgutil.iter_modules(folder.__path__, f"{folder.__name__}."):
            defined = vars(importlib.import_module(found.name)).values()
            yield from (c for c in defined if isinstance(c, type) and "name" in vars(c) and c.__module__ == found.name)


PASSES: dict[str, type[Any]] = {p.name: p for p in _passes()}
NameFile = Callable[[int, str], str]
"""(number from 1, name of a pass) -> the file name of the text that it leaves."""
_REPORT = "this is a bug in the pass, not in its input: please report it with the input"
_LEGAL: list[Program] = []
_MOST_LEGAL = 32
"""The last programs that were verified: a search gives each to many pipelines."""
_ITEM = re.compile(r"\s*([\w-]*)\s*(?:\{([^{}]*)\})?\s*(,|$)")


def parse_pipeline(text: str) -> list[Pass]:
    """The passes that `text` names, with their options. IsaError at the column that cannot be read."""
    passes: list[Pass] = []
    at = 0
    while at < len(text) or (passes and text.endswith(",")):
        m = _ITEM.match(text, at)
        if m is None or not m[1]:
            message = "a pass is missing here" if m else "this is not a pipeline"
            raise _error(text, at, message, expected="names with commas between, options in {}: pair{first},schedule")
        if m[1] not in PASSES:
            raise _error(
                text, m.start(1), f"there is no pass {m[1]!r}", expected=", ".join(PASSES), hint=meant(m[1], PASSES)
            )
        passes.append(PASSES[m[1]](**_options(text, m)))
        at = m.end()
        if m[3] != ",":
            break
    return passes


def _options(text: str, item: re.Match[str]) -> dict[str, int | bool | str]:
    """The options in the braces of one pass, in the types of its fields."""
    if item[2] is None:
        return {}
    fields = {f.name: f for f in dataclasses.fields(PASSES[item[1]])}
    types = get_type_hints(PASSES[item[1]])
    values: dict[str, int | bool | str] = {}
    for m in re.finditer(r"[^\s]+", item[2]):
        at = item.start(2) + m.start()
        key, equals, value = m[0].partition("=")
        field = key.replace("-", "_")
        if field not in fields:
            known = ", ".join(f"{f.name.replace('_', '-')}={f.default}" for f in fields.values())
            raise _error(text, at, f"{item[1]} has no option {key!r}", expected=known or "no options")
        if types[field] is bool and value in ("", "true", "false"):
            values[field] = value != "false"
        elif types[field] is int and re.fullmatch(r"\d+", value):
            values[field] = int(value)
        elif types[field] is str and equals:
            values[field] = value
        else:
            raise _error(text, at, f"{key} takes {types[field].__name__}", got=repr(value))
    return values


def _error(text: str, at: int, message: str, **details: str | None) -> IsaError:
    return IsaError(message, span=Span("<pipeline>", 1, at + 1, text), **details)


def run_pipeline(
    program: Program, text: str, name_file: NameFile | None = None, kernel: str = ""
) -> Iterator[tuple[str, Program]]:
    """Yields (name of the pass, the verified program after it) for each pass of the pipeline `text`; the very program
    that the pass got where it left it alone. kernel: which one passes rewrite that look at one kernel.

    name_file gives each program its file name; default: "<file> after <pass>". Raises IsaError: a pipeline that cannot
    be read, a program that is not legal or has not the shape a pass needs, or what a pass broke.
    """
    origin = program.file
    steps = parse_pipeline(text)
    if kernel:
        steps = [cast(Pass, replace(cast(Any, s), kernel=kernel)) if hasattr(s, "kernel") else s for s in steps]
    if steps:
        _verify("the pipeline's input is not legal", "fix it first: no pass has run yet", program)
    for number, step in enumerate(steps, start=1):
        file = name_file(number, step.name) if name_file else f"{origin} after {step.name}"
        changed = step.run(program)
        if changed is not program:
            program = reread(changed, file)
            _verify(f"the pass {step.name} broke the program", _REPORT, program)
        yield step.name, program


def _verify(blamed: str, hint: str, program: Program) -> None:
    if any(known is program for known in _LEGAL):
        return
    try:
        verify(program)
        _LEGAL.append(program)
        del _LEGAL[:-_MOST_LEGAL]
    except IsaError as e:
        raise IsaError(f"{blamed}: {e.message}", span=e.span, expected=e.expected, got=e.got, hint=hint) from e
