"""Inputs and outputs of verbs: paths that a verb was given -> what it reads, and where its page goes."""

from __future__ import annotations

import os
from pathlib import Path

from isa import errors
from isa.errors import writing


def called(what: str) -> str:
    """What messages call what a user typed."""
    return "<stdin>" if what == "-" else what


def writable(file: Path, *, folder: bool = False) -> Path:
    """A file that can be written, or a folder for files, tried before anybody works for it; makes the folder. IsaError
    where it cannot be."""
    import tempfile

    with writing(file):
        (file if folder else file.parent).mkdir(parents=True, exist_ok=True)
        if folder:
            tempfile.TemporaryFile(dir=file).close()
            return file
        new = not os.path.lexists(file)
        file.open("ab").close()
        if new:
            file.unlink()
    return file


def write(file: Path, what: str | bytes) -> None:
    """Writes a page or a code object, and says so on stderr. IsaError where it cannot be written."""

    from hipgemm.cli import is_quiet, say

    errors.write(file, what.encode() if isinstance(what, str) else what)
    if not is_quiet():
        say(f"wrote {file}", err=True)
