"""Faults put into the text of a kernel."""

from __future__ import annotations

import re


def replaced(text: str, pattern: str, new: str, number: int) -> str:
    """The text with one match of the pattern replaced, the first being number 0; it must be another text then."""
    match = list(re.finditer(pattern, text))[number]
    assert match.expand(new) != match[0]
    return text[: match.start()] + match.expand(new) + text[match.end() :]
