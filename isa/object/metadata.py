"""Argument metadata: a `Kernel` of a program -> each argument of `.amdgpu_metadata`, with its line.

Read are YAML's two layouts as compilers and people write them: one key a line under a `- `, or `- {key: value, ...}`.
Entries that lack an offset or a size are left out. (LLVM AMDGPUUsage, "Code Object V5 Metadata".)
"""

from __future__ import annotations

import re

from isa.asm import expression
from isa.asm.program import Kernel
from isa.object.code_object import Argument

_KEY = re.compile(r"\.(\w+):\s*([^\s,{}]+)")
_ITEM = re.compile(r"(\s*)(- )?")


def arguments(kernel: Kernel) -> list[tuple[int, Argument]]:
    """(line from 0, argument) in the order of the text: the line of its offset."""
    first = kernel.metadata.get(".args")
    if first is None:
        return []
    entries: list[dict[str, tuple[str, int]]] = []
    within = _indent(kernel.program.lines[first].text)
    for number in range(first + 1, len(kernel.program.lines)):
        text = kernel.program.lines[number].text
        if not _KEY.search(text) or _indent(text) <= within:
            break
        if text.lstrip().startswith("- ") or not entries:
            entries.append({})
        entries[-1].update({m[1]: (m[2].strip("'\""), number) for m in _KEY.finditer(text)})
    return [(e["offset"][1], a) for e in entries if (a := _argument(e)) is not None]


def number(kernel: Kernel, key: str) -> int | None:
    """The value of a metadata entry such as `.vgpr_count`; None where it is not given as a number, or as an expression
    that has a value."""
    if key not in kernel.metadata:
        return None
    text = kernel.program.lines[kernel.metadata[key]].text.partition(":")[2].strip()
    try:
        return int(text, 0)
    except ValueError:
        return expression.value(text, kernel.program.symbols)


def _indent(text: str) -> int:
    """The column at which an entry's keys stand, a dash before the first one taken for blanks."""
    match = _ITEM.match(text)
    assert match is not None
    return match.end()


def _argument(entry: dict[str, tuple[str, int]]) -> Argument | None:
    def text(key: str) -> str:
        return entry.get(key, ("", 0))[0]

    try:
        return Argument(
            int(text("offset"), 0), int(text("size"), 0), text("value_kind"), text("name"), text("address_space"),
            text("type_name") or text("value_type"),
        )  # fmt: skip
    except ValueError:
        return None
