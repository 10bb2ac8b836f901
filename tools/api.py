#!/usr/bin/env python3
"""API page: the public names of hipgemm with their signatures and docstrings -> docs/api.md.

python tools/api.py            # prints the page
python tools/api.py --write    # docs/api.md
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # runs from a checkout, installed or not

import hipgemm  # noqa: E402

PAGE = ROOT / "docs" / "api.md"
HEAD = """# The Python API

Made from the docstrings by `tools/api.py`. What is not listed here may change without notice.
"""


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--write", is_flag=True, help="Write docs/api.md instead of printing it.")
def main(write: bool) -> None:
    if write:
        PAGE.write_text(page())
    else:
        click.echo(page(), nl=False)


def page() -> str:
    return "\n".join([HEAD, *(section(name) for name in sorted(hipgemm.__all__, key=str.lower))])


def section(name: str) -> str:
    what = getattr(hipgemm, name)
    signature = "" if inspect.isclass(what) else _signature(what)
    parts = [f"## hipgemm.{name}{signature and '()'}\n", _fenced("python", f"{name}{signature}") if signature else ""]
    parts += [_fenced("text", inspect.getdoc(what) or "")]
    if inspect.isclass(what):
        parts += [_member(f"{name}.{member}", value) for member, value in _public(what)]
    return "\n".join(filter(None, parts))


def _public(cls: type) -> Iterator[tuple[str, object]]:
    """Methods and properties of the class itself that have a docstring, and what calling it does."""
    for member, value in vars(cls).items():
        public = not member.startswith("_") or member == "__call__"
        if public and (callable(value) or isinstance(value, property)) and inspect.getdoc(value):
            yield member, value


def _member(name: str, value: object) -> str:
    signature = _signature(value) if callable(value) else ""
    return f"**`{name}{signature}`** {' '.join((inspect.getdoc(value) or '').split())}\n"


def _signature(function: Callable[..., object]) -> str:
    """Names and defaults; the docstring has the types of arguments."""
    whole = inspect.signature(function)
    plain = [p.replace(annotation=p.empty) for p in whole.parameters.values() if p.name != "self"]
    return re.sub(r"(-> )'([^']*)'", r"\1\2", str(whole.replace(parameters=plain)))


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text}\n```\n"


if __name__ == "__main__":
    main()
