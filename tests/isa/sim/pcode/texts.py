"""The texts, by instruction. They lie beside the project, not in it: `TEXTS` is empty where they are not at hand."""

from __future__ import annotations

import functools
import gzip
import json
import re
from pathlib import Path

_NAME = Path("shared") / "pcode" / "pcode.json.gz"
PATH = next((p / _NAME for p in Path(__file__).resolve().parents if (p / _NAME).exists()), None)


@functools.cache
def texts() -> dict[str, str]:
    """Name as an assembler writes it (v_add_f32) -> text. All encodings of one name have one text."""
    if PATH is None:
        return {}
    found: dict[str, str] = {}
    for key, text in json.loads(gzip.decompress(PATH.read_bytes()))["rdna3"].items():
        name = re.sub(r"_e(32|64)$", "", key.partition(".")[2].lower())
        assert found.setdefault(name, text) == text, f"the encodings of {name} have different texts"
    return found
