"""A file of JSON lines that one process writes: each line is there the moment it is known. And how JSON is read that
others wrote (`parsed`).

The file is locked while it is open. A last line that was torn, by a power cut say, is dropped.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from isa import cache
from isa.errors import IsaError, Span


def parsed(text: str) -> Any:
    """What JSON says. ValueError for what is none, and for what is nested too deeply to be read."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


Self = TypeVar("Self", bound="Lines")


class Lines:
    """Open with `with`. path: None for lines that are kept in memory only; torn: whether one was dropped. who, hint:
    what to tell a user while another writes it. IsaError then, and where it cannot be written."""

    def __init__(self, path: Path | None, who: str, hint: str) -> None:
        self.path = path
        try:
            self._file = path.open("a+b") if path else io.BytesIO()
            if path:
                cache.lock(self._file.fileno())
        except BlockingIOError as error:
            raise IsaError(f"another {who} is writing {path}", hint=hint) from error
        except OSError as error:
            raise IsaError(f"cannot write {path}: {error.strerror}") from error
        self._file.seek(0)
        data = self._file.read()
        whole = data.rfind(b"\n") + 1
        self.torn = whole < len(data)
        if self.torn:
            self._file.truncate(whole)
        self._found = data[:whole].decode(errors="replace").splitlines()

    def read(self, take: Callable[[dict[str, Any]], bool], what: str, expected: str, hint: str) -> int:
        """Gives the lines that are there already to `take`, which says whether one is of use; how many are not. what,
        expected, hint: for the IsaError where it finds no such line."""
        used = 0
        for number, line in enumerate(self._found, start=1):
            try:
                used += take(parsed(line))
            except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError, StopIteration) as error:
                span = Span(str(self.path), number, 1, line[:160])
                raise IsaError(f"this is no {what}", span=span, expected=expected, hint=hint) from error
        return len(self._found) - used

    def write(self, fields: dict[str, Any]) -> None:
        """Written and flushed."""
        self._file.write(json.dumps(fields, allow_nan=False).encode() + b"\n")
        self._file.flush()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
