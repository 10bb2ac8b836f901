"""How results show themselves in a terminal and in a notebook. Data knows no format: it derives from `Shown`. Formats
are registered by name, so that none is imported before something is shown. And how numbers are said (`number_of`)."""

from __future__ import annotations

import importlib
from typing import Any

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
