"""A file of results: JSON lines, one record a line, so that runs append to it and people send it on.

A record is a Result's fields, or {"kernel", "refused"} for a kernel that gave none, each with `record`: this format's
version. Fields that a later version adds are left alone when it is read here.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable
from typing import Any

from hipgemm.measure.bench import Refusal
from hipgemm.measure.jsonl import parsed
from hipgemm.measure.result import Result
from isa.errors import IsaError, Span, contents

VERSION = 1
_FIELDS = {f.name: f for f in dataclasses.fields(Result)}
_NEEDED = {name for name, f in _FIELDS.items() if f.default is f.default_factory is dataclasses.MISSING}


def as_object(entry: Result | Refusal) -> dict[str, Any]:
    """A record."""
    fields = entry.to_dict() if isinstance(entry, Result) else {"kernel": entry.kernel, "refused": entry.why}
    return {"record": VERSION, **fields}


def line(entry: Result | Refusal) -> str:
    """A record as a line of the file, with its newline."""
    return json.dumps(as_object(entry), allow_nan=False) + "\n"


def read(lines: Iterable[str], name: str) -> list[Result | Refusal]:
    """All records of a file. Empty lines are skipped. Raises IsaError with file, line and column."""
    return [_entry(text.rstrip("\n"), name, i) for i, text in enumerate(lines, start=1) if text.strip()]


def load(path: str) -> list[Result | Refusal]:
    """The records of a file, of stdin for "-". IsaError where it cannot be read or is not text, too."""
    name = "<stdin>" if path == "-" else path
    try:
        return read(contents(path).decode().split("\n"), name)
    except OSError as error:
        raise IsaError(f"{path}: {error.strerror}", expected="results, as `hipgemm bench --out` writes them") from error
    except UnicodeDecodeError as error:
        raise IsaError(f"{name} is not text: {error.reason}", expected="JSON lines in UTF-8") from error


def _entry(text: str, name: str, number: int) -> Result | Refusal:
    def bad(message: str, column: int = 1, expected: str | None = None) -> IsaError:
        shown = text if len(text) < 160 else text[:157] + "..."
        return IsaError(message, span=Span(name, number, min(column, len(shown)), shown), expected=expected)

    try:
        fields = parsed(text)
    except ValueError as error:
        # Its text counts lines within this one.
        said, column = (error.msg, error.colno) if isinstance(error, json.JSONDecodeError) else (str(error), 1)
        raise bad(f"this is not JSON: {said}", column, "one object a line, as `hipgemm bench --out` writes") from error
    if not isinstance(fields, dict):
        raise bad("a record must be an object", expected='{"record": 1, "kernel": ...}')
    if fields.get("record") != VERSION:
        raise bad("this is not a record of a known version", expected=f'"record": {VERSION}')
    if isinstance(fields.get("kernel"), str) and isinstance(fields.get("refused"), str):
        return Refusal(fields["kernel"], fields["refused"])
    if missing := sorted(_NEEDED - fields.keys()):
        raise bad(f"the record lacks {', '.join(missing)}")
    for key, value in fields.items():
        if key in _FIELDS and not _fits(value, str(_FIELDS[key].type), key == "worst"):
            raise bad(f"{key} cannot be {json.dumps(value)[:40]}", expected=str(_FIELDS[key].type))
    if not all(fields.get(key, 1) >= 1 for key in ("m", "n", "k", "batch")):
        raise bad("m, n, k and batch are at least 1")
    times = [fields.get(key) for key in ("time_ms", "mean_ms", "deviation_ms")]
    if any(t is not None and not 0 <= t < math.inf for t in times) or times[0] == 0:
        raise bad("times are positive numbers")
    if times[1] is None and times[2] is not None:
        raise bad("deviation_ms needs mean_ms")
    kept: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in fields.items() if k in _FIELDS}
    if kept.get("worst"):
        if len(kept["worst"]) < 3 or not all(type(i) is int for i in kept["worst"][:-2]):
            raise bad(f"worst cannot be {json.dumps(fields['worst'])[:40]}", expected="[indices ..., got, expected]")
        *indices, got, expected = kept["worst"]
        kept["worst"] = (*indices, float(got), float(expected))
    return Result(**kept)


def _fits(value: object, declared: str, text: bool = False) -> bool:
    """Whether a JSON value can be what a field of Result is declared as. text: NaN and infinities may be text."""
    kinds: dict[str, type | tuple[type, ...]] = {
        "str": str,
        "bool": bool,
        "int": int,
        "float": (int, float),
        "tuple": list,
        "dict": dict,
        "None": type(None),
    }
    for part in declared.split(" | "):
        kind = part.split("[")[0]
        if isinstance(value, kinds[kind]) and (kind == "bool" or not isinstance(value, bool)):
            if isinstance(value, int) and value.bit_length() > 63:
                return False
            return kind != "tuple" or _items_fit(value, part, text)
    return False


def _items_fit(value: object, declared: str, text: bool) -> bool:
    """Length and items of a list for a declared tuple."""
    items = value if isinstance(value, list) else []
    kinds = declared.removeprefix("tuple[").removesuffix("]").split(", ")
    if kinds[-1] == "...":
        kinds = kinds[:1] * len(items)
    return len(items) == len(kinds) and all(
        _fits(v, k) or (text and k == "float" and v in ("nan", "inf", "-inf"))
        for v, k in zip(items, kinds, strict=True)
    )
