"""Every result of a study, on disk the moment it is known: JSON lines.

A line is a mutant's judgement by lint and proof, or what a launch of it broke:

    {"mutant": key, "by": hash, "judged": {"verdict": ..., "lint": ..., "proof": ..., "reason": ...}}
    {"mutant": key, "by": hash, "launched": rule, "" for nothing}

The key follows from the mutant's whole text. `by` is a hash of the files that the result depends on, so that a later
version's study does not take an earlier one's for its own; they stay in the file. One writer at a time, held by a lock
on the file. A line that was torn is dropped.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from hipgemm.measure.jsonl import Lines
from isa import cache
from isa.asm.emit import emit
from tools.mutation.judge import Judgement
from tools.mutation.mutants import Mutant

_ROOT = Path(__file__).resolve().parents[2]
# What a result depends on: isa but for these parts, and these files.
_JUDGED = ("sim", "sanitize", "timing"), ("hipgemm/kernels/ladder.py", "hipgemm/judge/proving.py")
_LAUNCHED = (
    ("lint", "prove", "timing"),
    (
        *(f"hipgemm/{name}.py" for name in ("kernels/ladder", "launch/launch", "judge/checking", "launch/problem")),
        "tools/mutation/study.py",
    ),
)


def key(kernel: str, mutant: Mutant) -> str:
    """A name for the mutant, whatever it is called that was changed."""
    return cache.key(kernel, emit(mutant.program))


def _by(elsewhere: tuple[str, ...], ours: tuple[str, ...]) -> str:
    return cache.key(cache.made_by(*elsewhere), *((_ROOT / name).read_bytes() for name in ours))[:16]


class Book(Lines):
    """path: None for a book that is kept in memory only. IsaError where the file cannot be written, is in use, or holds
    something else."""

    def __init__(self, path: Path | None) -> None:
        super().__init__(path, "study", "wait for it, or give another file")
        self.by = {"judged": _by(*_JUDGED), "launched": _by(*_LAUNCHED)}
        self._known: dict[tuple[str, str], Any] = {}
        shape = '{"mutant": ..., "by": ..., "judged" or "launched": ...}'
        self.read(self._take, "result of a study", shape, "give another file")

    def _take(self, fields: dict[str, Any]) -> bool:
        mutant, by = fields["mutant"], fields["by"]
        what = next(w for w in self.by if w in fields)
        found = Judgement(**fields[what]) if what == "judged" else fields[what]
        if by == self.by[what]:
            self._known[mutant, what] = found
        return bool(by == self.by[what])

    def judged(self, mutant: str) -> Judgement | None:
        """By its key; None where nothing is known."""
        found: Judgement | None = self._known.get((mutant, "judged"))
        return found

    def launched(self, mutant: str) -> str | None:
        found: str | None = self._known.get((mutant, "launched"))
        return found

    def add(self, mutant: str, judged: Judgement, launched: str | None) -> None:
        """What is new of it is written and flushed."""
        self._add(mutant, "judged", judged)
        if launched is not None:
            self._add(mutant, "launched", launched)

    def _add(self, mutant: str, what: str, result: Judgement | str) -> None:
        if (mutant, what) in self._known:
            return
        self._known[mutant, what] = result
        plain = asdict(result) if isinstance(result, Judgement) else result
        self.write({"mutant": mutant, "by": self.by[what], what: plain})
