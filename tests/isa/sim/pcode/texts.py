"""The texts, by instruction. They lie beside the project, not in it: `TEXTS` is empty where they are not at hand."""

from __future__ import annotations

import functools
import gzip
import json
import re
from pathlib import Path

from isa.semantics.names import RENAMED

_NAME = Path("shared") / "pcode" / "pcode.json.gz"
PATH = next((p / _NAME for p in Path(__file__).resolve().parents if (p / _NAME).exists()), None)
_GENERATIONS = {"gfx11": "rdna3", "gfx12": "rdna4"}


@functools.cache
def texts(family: str = "gfx11") -> dict[str, str]:
    """Name as an assembler writes it (v_add_f32) -> text. All encodings of one name have one text."""
    if PATH is None:
        return {}
    found: dict[str, str] = {}
    for key, text in json.loads(gzip.decompress(PATH.read_bytes()))[_GENERATIONS[family]].items():
        name = re.sub(r"_e(32|64)$", "", key.partition(".")[2].lower())
        assert found.setdefault(name, text) == text, f"the encodings of {name} have different texts"
    return found | {old: found[new] for new, old in RENAMED.items() if new in found}
