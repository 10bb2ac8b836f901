"""Argument metadata: a `Kernel` of a program -> each argument of `.amdgpu_metadata`, with its line.

Read are YAML's two layouts as compilers and people write them: one key a line under a `- `, or `- {key: value, ...}`.
Entries that lack what the format requires (REQUIRED) are none; `incomplete` tells them. (LLVM AMDGPUUsage, "Code Object
V5 Metadata".)
"""

from __future__ import annotations

import re

from isa.asm import expression
from isa.asm.program import Kernel
from isa.object.code_object import Argument

_KEY = re.compile(r"\.(\w+):\s*([^\s,{}]+)")
_ITEM = re.compile(r"(\s*)(- )?")
REQUIRED = "offset", "size", "value_kind"
_Entry = dict[str, tuple[str, int]]
"""Key -> its value and line."""


def arguments(kernel: Kernel) -> list[tuple[int, Argument]]:
    """(line from 0, argument) in the order of the text: the line of its offset."""
    return [(e["offset"][1], a) for e in _entries(kernel) if (a := _argument(e)) is not None]


def incomplete(kernel: Kernel) -> list[tuple[int, list[str]]]:
    """(line from 0, those of REQUIRED that it lacks, or that are no numbers) of each argument that has not all."""
    found = [
        (min(line for _, line in e.values()), [key for key in REQUIRED if not _has(e, key)]) for e in _entries(kernel)
    ]
    return [(line, keys) for line, keys in found if keys]


def _has(entry: _Entry, key: str) -> bool:
    return key in entry and (key == "value_kind" or _number(entry[key][0]) is not None)


def _number(text: str) -> int | None:
    try:
        return int(text, 0)
    except ValueError:
        return None


def _entries(kernel: Kernel) -> list[_Entry]:
    first = kernel.metadata.get(".args")
    if first is None:
        return []
    entries: list[_Entry] = []
    within = _indent(kernel.program.lines[first].text)
    for number in range(first + 1, len(kernel.program.lines)):
        text = kernel.program.lines[number].text
        if not _KEY.search(text) or _indent(text) <= within:
            break
        if text.lstrip().startswith("- ") or not entries:
            entries.append({})
        entries[-1].update({m[1]: (m[2].strip("'\""), number) for m in _KEY.finditer(text)})
    return entries


def number(kernel: Kernel, key: str) -> int | None:
    """The value of a metadata entry such as `.vgpr_count`; None where it is not given as a number, or as an expression
    that has a value."""
    if key not in kernel.metadata:
        return None
    text = kernel.program.lines[kernel.metadata[key]].text.partition(":")[2].strip()
    found = _number(text)
    return expression.value(text, kernel.program.symbols) if found is None else found


def _indent(text: str) -> int:
    """The column at which an entry's keys stand, a dash before the first one taken for blanks."""
    match = _ITEM.match(text)
    assert match is not None
    return match.end()


def _argument(entry: _Entry) -> Argument | None:
    def text(key: str) -> str:
        return entry.get(key, ("", 0))[0]

    offset, size = (_number(text(key)) for key in REQUIRED[:2])
    if offset is None or size is None:
        return None
    kind, type_ = text("value_kind"), text("type_name") or text("value_type")
    return Argument(offset, size, kind, text("name"), text("address_space"), type_)
