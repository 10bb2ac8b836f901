"""Triton's cache: its compiled kernels -> optimised ones, where TRITON_KERNEL_OVERRIDE=1 picks them up.

Triton keeps what it compiles as KEY/NAME.amdgcn, with its options in KEY/NAME.json, under a key of source, target and
options. With TRITON_KERNEL_DUMP=1 it leaves the same assembly under another key, of the source, its types and constants
alone, and under that one it looks for an override (triton/compiler/compiler.py, runtime/cache.py of 3.9). So two
folders are read: the dump says where an override goes, the cache which kernels there are.

One override serves all launches of a source, whatever their num_warps or num_stages: in one that another number of
warps starts it computes nonsense. So where the cache holds a kernel of that name that is not the dumped one, none of
that name is written, and a line says so.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hipgemm.kernels.object import Kernel
from hipgemm.measure.jsonl import parsed
from hipgemm.optimise import rewriting
from isa import toolchain
from isa.asm.emit import emit
from isa.asm.parse import parse
from isa.errors import IsaError, write


@dataclass(frozen=True)
class Entry:
    """A kernel of the cache. options: its JSON."""

    name: str
    file: Path
    options: dict[str, Any]

    @property
    def called(self) -> str:
        """What tells it from others of its name."""
        words = [f"{key} {self.options[key]}" for key in ("num_warps", "num_stages") if key in self.options]
        return f"{self.name} ({', '.join(words)})"


def folder(variable: str, name: str) -> Path:
    """Where Triton has its `cache`, `dump` or `override`."""
    home = Path(os.environ.get("TRITON_HOME") or Path.home())
    return Path(os.environ.get(variable) or home / ".triton" / name)


def entries(cache: Path) -> list[Entry]:
    """The kernels for gfx11. IsaError where the folder is no cache."""
    found, seen = [], False
    for group in sorted(cache.glob("*/__grp__*.json")):
        seen = True
        name = group.name.removeprefix("__grp__").removesuffix(".json")
        text, options = group.with_name(f"{name}.amdgcn"), _json(group.with_name(f"{name}.json"))
        target = options.get("target")
        arch = options.get("arch") or (target.get("arch", "") if isinstance(target, dict) else "")
        if text.is_file() and str(arch).partition(":")[0] in toolchain.ARCHS:
            found.append(Entry(name, text, options))
    if not seen:
        raise IsaError(
            f"{cache} is not a Triton cache", expected="KEY/__grp__NAME.json, as Triton 3 writes them",
            hint="run the program with TRITON_CACHE_DIR and TRITON_DUMP_DIR, and TRITON_KERNEL_DUMP=1",
        )  # fmt: skip
    return found


def _json(file: Path) -> dict[str, Any]:
    try:
        found = parsed(file.read_text())
    except (OSError, ValueError) as error:
        raise IsaError(f"{file} cannot be read: {error}", expected="a kernel's options in JSON") from error
    return found if isinstance(found, dict) else {}


def override(
    cache: Path, dump: Path, out: Path, search: rewriting.Search, say: Callable[[str], None],
    on_step: Callable[[str], None] | None = None,
) -> int:  # fmt: skip
    """How many kernels were written."""
    written = 0
    for entry, key in _placed(entries(cache), dump, say):
        text = entry.file.read_text()
        try:
            program = parse(text, f"{entry.name}.amdgcn")
            kernel = Kernel(entry.name, program.file, "", "", False, code=program)
            made, (outcome,) = rewriting.of_program(program, list(program.kernels), search, kernel, on_step)
        except IsaError as error:
            say(f"{entry.called}: unchanged: {error.message}")
            continue
        words = outcome.line.partition(": ")[2]
        say(f"{entry.called}: {words}")
        if not outcome.kept:
            file = out / key / entry.file.name
            file.parent.mkdir(parents=True, exist_ok=True)
            write(file, emit(made).encode())
            written += 1
    return written


def _placed(found: list[Entry], dump: Path, say: Callable[[str], None]) -> Iterator[tuple[Entry, str]]:
    """Each kernel that an override can mean, and the key of its override."""
    by_name = defaultdict(list)
    for entry in found:
        by_name[entry.name].append(entry)
    for name, group in sorted(by_name.items()):
        keys = {file.read_text(): file.parent.name for file in sorted(dump.glob(f"*/{name}.amdgcn"))}
        texts = {entry.file.read_text(): entry for entry in group}
        lost = [entry for text, entry in texts.items() if text not in keys]
        if lost and len(lost) < len(texts):
            say(
                f"{name}: unchanged: its override would also apply to {lost[0].called}, which differs in options that "
                "Triton's override ignores"
            )
        elif lost:
            say(f"{name}: unchanged: not in {dump}; run the program with TRITON_KERNEL_DUMP=1 TRITON_ALWAYS_COMPILE=1")
        else:
            for text, entry in texts.items():
                yield entry, keys[text]
