"""A file of JSON lines that one process writes: each line is there the moment it is known.

The file is locked while it is open. A last line that was torn, by a power cut say, is dropped.
"""

from __future__ import annotations

import fcntl
import json
from pathlib import Path
from typing import Any

from isa.errors import IsaError


class Lines:
    """found: the whole lines that are there already; torn: whether one was dropped. who, hint: what to tell a user
    while another writes it. IsaError then, and where it cannot be written."""

    def __init__(self, path: Path, who: str, hint: str) -> None:
        try:
            self._file = path.open("a+b")
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise IsaError(f"another {who} writes {path}", hint=hint) from error
        except OSError as error:
            raise IsaError(f"cannot write {path}: {error.strerror}") from error
        self._file.seek(0)
        data = self._file.read()
        whole = data.rfind(b"\n") + 1
        self.torn = whole < len(data)
        if self.torn:
            self._file.truncate(whole)
        self.found = data[:whole].decode(errors="replace").splitlines()

    def add(self, fields: dict[str, Any]) -> None:
        """Written and flushed."""
        self._file.write(json.dumps(fields, allow_nan=False).encode() + b"\n")
        self._file.flush()

    def close(self) -> None:
        self._file.close()
