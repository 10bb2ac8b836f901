"""Display of results: data -> its text in a terminal and its HTML in a notebook, by formats registered by name. Data
knows no format: it derives from `Shown`. Formats are registered by name, so that none is imported before something is
shown. And how numbers are said (`number_of`), and what of text by others a terminal may get (`printable`)."""

from __future__ import annotations

import importlib
import re
from typing import Any

_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
"""What moves a terminal's cursor, changes its state or the order of what is read, or shows nothing; and what is no
character. Not a tab, not a line feed."""
_FORMATS: dict[tuple[str, str], str] = {}


def register(data: str, *, text: str = "", html: str = "") -> None:
    """How a class is shown. data: its name with its module's. text, html: `module:function`, which gives a string for
    one of the class."""
    _FORMATS.update({(data, kind): place for kind, place in (("text", text), ("html", html)) if place})


class Shown:
    """Data that shows itself as it was registered; a class without a text is shown as Python does."""

    __slots__ = ()

    def __repr__(self) -> str:
        text = _format(self, "text")
        return object.__repr__(self) if text is None else text

    def _repr_html_(self) -> str | None:
        """For a notebook; None where there is only text."""
        return _format(self, "html")


def _format(data: Any, kind: str) -> str | None:
    place = _FORMATS.get((f"{type(data).__module__}.{type(data).__qualname__}", kind))
    if place is None:
        return None
    module, _, function = place.partition(":")
    text: str = getattr(importlib.import_module(module), function)(data)
    return text


def number_of(count: int, one: str, more: str = "", form: str = "") -> str:
    """`1 fault`, `2 faults`. more: the plural that is not `one` with an s; form: of the number."""
    return f"{count:{form}} {one if count == 1 else more or one + 's'}"


def printable(text: str) -> str:
    """The text with what a terminal would obey, or not show, written as Python escapes it: `\\x1b`, `\\u202e`."""
    if text.isprintable():
        return text
    return _UNSEEN.sub(lambda found: ascii(found[0])[1:-1], text.replace("\r\n", "\n"))
