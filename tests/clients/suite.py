"""Runs the cases of a client: what is judged, by name -> a row of JSON for each, and all of them as a file."""

from __future__ import annotations

import argparse
import json
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any


def options(description: str | None) -> argparse.ArgumentParser:
    """What every suite takes: a file for the rows, and a word of the cases that are wanted."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json")
    parser.add_argument("--only", default="")
    return parser


def run(asked: argparse.Namespace, cases: Mapping[str, Callable[[], object]], **facts: str) -> int:
    """Calls the cases that are asked for; one is right if it raises nothing. facts: go into the file beside the rows.
    Returns the exit status: 1 if a case is wrong."""
    rows: list[dict[str, Any]] = []
    for name, case in cases.items():
        if asked.only not in name:
            continue
        began, right = time.perf_counter(), True
        try:
            case()
        except Exception as error:
            traceback.print_exc()
            right = f"{type(error).__name__}: {error}".strip().splitlines()[0]
        rows.append({"case": name, "right": right, "seconds": time.perf_counter() - began})
        print(json.dumps(rows[-1]), flush=True)
    if asked.json:
        Path(asked.json).write_text(json.dumps({**facts, "cases": rows}, indent=1))
    return int(any(row["right"] is not True for row in rows))
