"""The table: for each tuned shape the kernels that were best, fastest first, and where their times come from.

    {"table": 1,
     "entries": [
       {"shape": [4096, 4096, 4096, "nn"],      M, N, K, and how A and B lie
        "types": "f16_f32",                     of A and B, and of C; left out where all are f32
        "on": "7900 XTX", "clock_mhz": 2500,    the card of the model, or what a card says it is called and null
        "kind": "predicted",                    or "measured"
        "kernels": [{"kernel": "gemm_...", "us": 2481.6, "low_us": 2359.8, "high_us": 2501.7, "limit": "..."}],
        "considered": 676, "tried": 41, "label": "..."}]}

`table` is the format's version. Times are microseconds: predicted ones the median and the extremes of the model's
ensemble, measured ones the best, the best and the worst of the launches; so are those that the simulated card's clock
predicts, of no clock_mhz. There is no date in it: the same search of the same version writes the same bytes. Entries
are sorted by `on`, kind, types, transposition, K, M, N.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hipgemm.measure.jsonl import parsed
from hipgemm.tuning.shapes import LARGEST, TRANSPOSITIONS, TYPES, Shape
from isa.errors import IsaError, Span, contents, write
from isa.gemm.names import parameters_of

VERSION = 1
KINDS = ("predicted", "measured")
SHIPPED = Path(__file__).with_name("tables")


@dataclass(frozen=True)
class Timed:
    """A kernel and its time in microseconds."""

    kernel: str
    us: float
    low_us: float
    high_us: float
    limit: str = ""


@dataclass(frozen=True)
class Entry:
    """One shape. kernels: fastest first; considered, tried: how many the search had bounds of, and saw timed."""

    shape: Shape
    on: str
    clock_mhz: float | None
    kind: str
    kernels: tuple[Timed, ...]
    considered: int
    tried: int

    @property
    def key(self) -> tuple[Any, ...]:
        s = self.shape
        return self.on, self.kind, s.types, s.trans, s.k, s.m, s.n, s.batch


@dataclass(frozen=True)
class TuningTable:
    """Entries, each shape once for each card and kind."""

    entries: tuple[Entry, ...] = field(default=())

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> TuningTable:
        """In order; of those with one key the last."""
        return cls(tuple(sorted({e.key: e for e in entries}.values(), key=lambda e: e.key)))

    def with_(self, entry: Entry) -> TuningTable:
        """The same with this entry, in place of what it had for the shape."""
        return self.of((*self.entries, entry))

    def text(self) -> str:
        rows = ",\n  ".join(json.dumps(as_object(e), allow_nan=False) for e in self.entries)
        return f'{{"table": {VERSION}, "entries": [\n  {rows}\n]}}\n'

    def save(self, path: Path) -> None:
        """Whole or not at all. IsaError where it cannot be written."""
        write(path, self.text().encode())


def load(path: Path) -> TuningTable:
    """A table's file. IsaError says what is wrong where."""
    try:
        text = contents(path).decode()
    except OSError as error:
        raise IsaError(f"{path}: {error.strerror}", expected="a table, as written by `hipgemm tune`") from error
    except UnicodeDecodeError as error:
        raise IsaError(f"{path} is not text: {error.reason}", expected="JSON in UTF-8") from error
    try:
        fields = parsed(text)
    except ValueError as error:
        if not isinstance(error, json.JSONDecodeError):
            raise IsaError(f"{path} cannot be read as JSON: {error}") from error
        line = text.splitlines()[error.lineno - 1] if text.strip() else ""
        span = Span(str(path), error.lineno, min(error.colno, 150), line[:150])
        raise IsaError(f"this is not JSON: {error.msg}", span=span) from error
    if not isinstance(fields, dict) or fields.get("table") != VERSION or not isinstance(fields.get("entries"), list):
        got = fields.get("table") if isinstance(fields, dict) else type(fields).__name__
        raise IsaError(
            f"{path} is not a table of a known version", expected=f'{{"table": {VERSION}, "entries": [...]}}',
            got=json.dumps(got), hint="hipgemm tune makes one",
        )  # fmt: skip
    found = []
    for number, row in enumerate(fields["entries"]):
        try:
            found.append(_entry(row))
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError, IsaError) as error:
            said = error.message if isinstance(error, IsaError) else f"{type(error).__name__}: {error}"
            raise IsaError(f"{path}: entry {number} cannot be taken: {said}") from error
    return TuningTable.of(found)


def shipped() -> TuningTable:
    """What came with the package."""
    return TuningTable.of(entry for file in sorted(SHIPPED.glob("*.json")) for entry in load(file).entries)


def own_path() -> Path:
    """Where a user's own table lies, which comes before the shipped one (XDG base directory specification)."""
    base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(base).expanduser() / "hipgemm" / "table.json"


def as_object(e: Entry) -> dict[str, Any]:
    """As it stands in the file."""
    s = e.shape
    rows = [
        {"kernel": t.kernel, "us": round(t.us, 3), "low_us": round(t.low_us, 3), "high_us": round(t.high_us, 3)}
        | ({"limit": t.limit} if t.limit else {})
        for t in e.kernels
    ]
    fields = {
        "shape": [s.m, s.n, s.k, s.trans], "on": e.on, "clock_mhz": e.clock_mhz, "kind": e.kind, "kernels": rows,
        "considered": e.considered, "tried": e.tried,
    }  # fmt: skip
    fields |= {"types": s.types} if s.types != "f32" else {}
    fields |= {"batch": s.batch} if s.batch > 1 else {}
    return fields | ({"label": s.label} if s.label else {})


def _entry(row: dict[str, Any]) -> Entry:
    m, n, k, trans = row["shape"]
    if trans not in TRANSPOSITIONS or not all(isinstance(x, int) and 1 <= x <= LARGEST for x in (m, n, k)):
        raise ValueError(f"no shape: {row['shape']}")
    types = row.get("types", "f32")
    if types not in TYPES:
        raise ValueError(f"no types: {types}")
    if row["kind"] not in KINDS:
        raise ValueError(f"no kind: {row['kind']}")
    kernels = []
    for t in row["kernels"]:
        parameters_of(t["kernel"])
        us, low, high = (float(t[name]) for name in ("us", "low_us", "high_us"))
        if not 0 < low <= us <= high < float("inf"):
            raise ValueError(f"no times of {t['kernel']}")
        kernels.append(Timed(str(t["kernel"]), us, low, high, str(t.get("limit", ""))))
    if not kernels:
        raise ValueError("no kernel")
    if not isinstance(batch := row.get("batch", 1), int) or not 1 <= batch <= LARGEST:
        raise ValueError(f"no batch: {batch}")
    shape = Shape(m, n, k, trans, str(row.get("label", "")), types, batch)
    clock = None if row["clock_mhz"] is None else float(row["clock_mhz"])
    counts = int(row["considered"]), int(row["tried"])
    return Entry(shape, str(row["on"]), clock, row["kind"], tuple(kernels), *counts)
