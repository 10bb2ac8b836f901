"""Terminal text: rows -> a table, or one line a cell where that is too wide; sentences -> lines of a terminal's width.

All consoles are made here: they take no markup, and escape what a terminal would obey in text by others. What is no
terminal gets tables and lines as wide as they are.
"""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
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
    """The terminal; what is none has so many columns at least. look: as of `console`."""
    made = console(**look)
    return made if made.is_terminal else console(width=max(made.width, least), **look)


def filled(text: str, width: int) -> str:
    """Its lines broken between words, further lines 4 columns to the right; words, and lines in columns, stay whole."""
    return "\n".join(
        line
        if len(line) <= width or "  " in line.strip()
        else _broken(line, width, min(len(line) - len(line.lstrip()) + 4, width // 3))
        for line in text.split("\n")
    )


def _broken(line: str, width: int, margin: int) -> str:
    return textwrap.fill(line, width, subsequent_indent=" " * margin, break_long_words=False, break_on_hyphens=False)


def labelled(rows: Sequence[tuple[str, str]], width: int | None) -> str:
    """A line for each label and what is said of it, broken between words where the terminal is so many columns wide."""
    room = max(len(label) for label, _ in rows) + 2
    lines = [f"{label:<{room}}{said}" for label, said in rows]
    if width is None:
        return "\n".join(lines)
    margin = room if 2 * room < width else min(4, width // 4)
    return "\n".join(_broken(line, width, margin) for line in lines)


def columns(stream: Any) -> int | None:
    """Of the terminal that a stream is; None where it is none."""
    return shutil.get_terminal_size().columns if stream.isatty() else None


def console(**look: Any) -> Console:
    """Where to print tables to. look: as of rich's Console; `stderr` for progress."""
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.measure import Measurement
    from rich.segment import Segment
    from rich.table import Table

    class Escaping(Console):
        def print(self, *shown: Any, **how: Any) -> None:
            """A table that has no room even with its cells' words below one another is printed cell by cell."""
            for one in shown or ("",):
                narrow = isinstance(one, Table) and Measurement.get(self, self.options, one).minimum >= self.width
                if narrow:
                    super().print(_cells(one, self.width), **{"soft_wrap": True, **how})
                else:
                    super().print(one, **how)

        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
            for segment in super().render(renderable, options):
                yield segment if segment.control else segment._replace(text=printable(segment.text))

    stream = sys.stderr if look.get("stderr") else sys.stdout
    return Escaping(**{"markup": False, "file": getattr(stream, "unescaped", None), **look})


def _cells(table: Table, width: int) -> str:
    """Its rows as lines, `title: cell` each, with an empty line between rows."""
    titles = [" ".join(str(column.header).split()) for column in table.columns]
    rows = zip(*(column.cells for column in table.columns), strict=True)
    said = ["\n".join(f"{t}: {c}" if t else str(c) for t, c in zip(titles, row, strict=True) if str(c)) for row in rows]
    around = [str(table.title or ""), *said, str(table.caption or "")]
    return filled("\n\n".join(part for part in around if part), width)


def plain(show: Callable[[Console], None], width: int, **look: Any) -> str:
    """What it prints. In a notebook too, where rich would show it at once and beside the file."""
    out = StringIO()
    show(console(file=out, width=width, force_jupyter=False, **look))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())
