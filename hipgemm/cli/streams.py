"""The standard streams of a verb: text by others, on its way to a terminal or a log, with nothing that these obey.

In: whatever a verb prints, among it names, excerpts and messages out of files that anybody may have written. Out: the
same with control characters, and what the stream's encoding does not have, escaped as Python writes them
(`isa.display.printable`). What is written as bytes goes to a program, and stays as it is; a table's colours come from
`hipgemm.report.terminal`, which escapes what they colour.

Streams that are closed read as empty and swallow what they get, so that no file that is opened later takes their place.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from typing import Any, NoReturn, TextIO

from isa.display import printable

UNWRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EPIPE, errno.EIO, errno.EBADF)


class Escaped:
    """A stream that takes text. unescaped: what it writes to."""

    def __init__(self, stream: TextIO) -> None:
        self.unescaped = stream
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")

    @property
    def encoding(self) -> str:
        """click takes one that is ASCII for a mistake, and goes past this to the bytes below."""
        name = self.unescaped.encoding or "utf-8"
        return name if name.lower().startswith(("utf", "cp65001")) else f"{name}, escaped"

    def write(self, text: str) -> int:
        return self.unescaped.write(printable(text))

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.unescaped, name)


@contextmanager
def escaped() -> Iterator[None]:
    """Both streams are, until the end. What stdout did not take is said, and the status is then 2."""
    _opened()
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = Escaped(sys.stdout), Escaped(sys.stderr)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
        try:
            sys.stdout.flush()
        except OSError as error:
            unwritten(error)


def unwritten(error: OSError) -> NoReturn:
    """The end where stdout takes no more, without what is still held for it."""
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
    if error.errno == errno.EPIPE:  # who reads has enough
        sys.exit(1)
    with suppress(OSError):
        sys.stderr.write(f"hipgemm: cannot write the output: {error.strerror}\n")
    sys.exit(2)


def _opened() -> None:
    """Whoever started this may have closed some."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            while (null := os.open(os.devnull, os.O_RDWR)) < number:
                pass
            setattr(sys, name, os.fdopen(null, mode))
