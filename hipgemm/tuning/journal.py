"""Every result of a search, on disk the moment it is known: JSON lines beside the table.

A line is a TrialOutcome with its shape, level and target, and `by`: a hash of what made it (generator and model, or the
generator alone on a card), so that a later version's search does not take an earlier one's results for its own; they
stay in the file. One writer at a time, held by a lock on the file. A line that a power cut tore is dropped, and said.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from types import TracebackType

from hipgemm.jsonl import Lines
from hipgemm.tuning.shapes import Shape
from hipgemm.tuning.trial import TrialOutcome, TrialTarget
from isa.errors import IsaError, Span

Key = tuple[str, ...]


class BadJournal(IsaError):
    """A line in the middle that is no result."""


class Journal:
    """Open with `with`. found: results that are there already. tell: told what a user must know.

    IsaError where the file cannot be written or another search has it, BadJournal where it is no journal.
    """

    def __init__(self, path: Path, by: str, tell: Callable[[str], None]) -> None:
        self.path, self.by = path, by
        self._known: dict[Key, TrialOutcome] = {}
        self._lines = Lines(path, "search", "wait for it, or give another table (-o)")
        self._read(tell)

    def _read(self, tell: Callable[[str], None]) -> None:
        if self._lines.torn:
            tell(f"{self.path}: the last line is not whole and is dropped")
        others = 0
        for number, line in enumerate(self._lines.found, start=1):
            try:
                fields = json.loads(line)
                key, outcome = tuple(fields.pop("key")), TrialOutcome(**fields.pop("outcome"))
                by = fields.pop("by")
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                raise BadJournal(
                    "this is no result of a search", span=Span(str(self.path), number, 1, line[:160]),
                    expected='{"key": [...], "by": ..., "outcome": {...}}', hint="remove the line, or give another -o",
                ) from error  # fmt: skip
            if by == self.by:
                self._known[key] = outcome
            else:
                others += 1
        if others:
            tell(f"{self.path}: {others} results of another generator or model are not used")

    @property
    def held(self) -> int:
        return len(self._known)

    def find(self, kernel: str, shape: Shape, level: str, target: TrialTarget) -> TrialOutcome | None:
        return self._known.get(_key(kernel, shape, level, target))

    def add(self, outcome: TrialOutcome, shape: Shape, level: str, target: TrialTarget) -> None:
        """Written and flushed."""
        key = _key(outcome.kernel, shape, level, target)
        self._known[key] = outcome
        self._lines.add({"key": key, "by": self.by, "outcome": asdict(outcome)})

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._lines.close()


def _key(kernel: str, shape: Shape, level: str, target: TrialTarget) -> Key:
    return kernel, str(shape), level, target.card, f"{target.clock_mhz:g}", target.device or "model"
