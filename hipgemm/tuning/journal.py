"""Journal of a search: every result on disk the moment it is known, as JSON lines beside the table.

A line is a TrialOutcome with its shape, level and target, and `by`: a hash of what made it (generator and model, or the
generator alone on a card), so that a later version's search does not take an earlier one's results for its own; they
stay in the file. One writer at a time, held by a lock on the file. A line that a power cut tore is dropped, and said.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hipgemm.measure.jsonl import Lines
from hipgemm.tuning.shapes import Shape
from hipgemm.tuning.trial import TrialOutcome, TrialTarget
from isa.display import number_of

Key = tuple[str, ...]


class Journal(Lines):
    """found: results that are there already. tell: called with what a user must know.

    IsaError where the file cannot be written, another search has it, or it is no journal.
    """

    def __init__(self, path: Path, by: str, tell: Callable[[str], None]) -> None:
        super().__init__(path, "search", "wait for it, or choose another table (-o)")
        self.by = by
        self._known: dict[Key, TrialOutcome] = {}
        if self.torn:
            tell(f"{path}: the last line is incomplete and is dropped")
        shape = '{"key": [...], "by": ..., "outcome": {...}}'
        if others := self.read(self._take, "result of a search", shape, "remove the line, or choose another -o"):
            tell(f"{path}: not used: {number_of(others, 'result')} of another generator or model")

    def _take(self, fields: dict[str, Any]) -> bool:
        key, outcome, ours = tuple(fields["key"]), TrialOutcome(**fields["outcome"]), fields["by"] == self.by
        if ours:
            self._known[key] = outcome
        return ours

    @property
    def held(self) -> int:
        return len(self._known)

    def find(self, kernel: str, shape: Shape, level: str, target: TrialTarget) -> TrialOutcome | None:
        return self._known.get(_key(kernel, shape, level, target))

    def add(self, outcome: TrialOutcome, shape: Shape, level: str, target: TrialTarget) -> None:
        """Written and flushed."""
        key = _key(outcome.kernel, shape, level, target)
        self._known[key] = outcome
        self.write({"key": key, "by": self.by, "outcome": asdict(outcome)})


def _key(kernel: str, shape: Shape, level: str, target: TrialTarget) -> Key:
    return kernel, str(shape), level, target.card, f"{target.clock_mhz:g}", target.device or "model"
