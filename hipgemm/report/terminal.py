"""Terminal tables: rows -> a table, with the control characters of others' text escaped.

All consoles are made here: they take no markup, and escape what a terminal would obey in text by others.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from io import StringIO
from typing import TYPE_CHECKING, Any

from isa.display import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_MARKS: dict[str, dict[str, Any]] = {">": {"justify": "right"}, "<": {"no_wrap": True}, "~": {"overflow": "fold"}}


def grid(*columns: str, **look: Any) -> Table:
    """A table without rows. A title begins with ">" for numbers, "<" for words that do not wrap, "~" for such that may
    be cut; look: as of rich's Table."""
    from rich.box import SIMPLE
    from rich.table import Table

    table = Table(**{"box": SIMPLE, **look})
    for title in columns:
        how = _MARKS.get(title[0], {})
        table.add_column(title[1:] if how else title, **how)
    return table


def wide(least: int, **look: Any) -> Console:
    """The terminal, with so many columns at least: cells that wrap are no table. look: as of `console`."""
    return console(width=max(console().width, least), **look)


def console(**look: Any) -> Console:
    """Where to print tables to. look: as of rich's Console; `stderr` for progress."""
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    class Escaping(Console):
        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
            for segment in super().render(renderable, options):
                yield segment if segment.control else segment._replace(text=printable(segment.text))

    stream = sys.stderr if look.get("stderr") else sys.stdout
    return Escaping(**{"markup": False, "file": getattr(stream, "unescaped", None), **look})


def plain(show: Callable[[Console], None], width: int, **look: Any) -> str:
    """What it prints. In a notebook too, where rich would show it at once and beside the file."""
    out = StringIO()
    show(console(file=out, width=width, force_jupyter=False, **look))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())
