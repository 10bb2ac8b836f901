"""The longer texts of a test, assembly or HIP, from the file of its name: `texts/NAME.s` beside `test_NAME.py`."""

from __future__ import annotations

import re
from pathlib import Path

HEADER = re.compile(r"^;; (\w+)\n(?:;;   .*\n)*", re.MULTILINE)
"""A line `;; NAME` begins a text; lines `;;   ...` below it say what it is for."""


def texts(test: str) -> list[str]:
    """Those of the test whose `__file__` is given, in their order, each without the line break before the next."""
    path = Path(test)
    (file,) = (path.parent / "texts").glob(path.stem.removeprefix("test_") + ".*")
    return [text.removesuffix("\n") for text in HEADER.split(file.read_text())[2::2]]
