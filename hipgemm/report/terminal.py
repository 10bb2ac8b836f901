"""Tables for a terminal, and what a terminal would show as plain text."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from typing import TYPE_CHECKING, Any

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


def wide(least: int) -> Console:
    """The terminal, with so many columns at least: cells that wrap are no table."""
    from rich.console import Console

    return Console(width=max(Console().width, least))


def plain(show: Callable[[Console], None], width: int, **look: Any) -> str:
    """What it prints."""
    from rich.console import Console

    out = StringIO()
    show(Console(file=out, width=width, **look))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())
