"""What somebody has -> a kernel object: the name of a rung, a file, text, or "-" for stdin.

A folder that `hipgemm simulate --record` made is the kernel of that launch. A file is HIP source (.hip, .cpp and their
like), assembly, or a code object. What it is, its first bytes say, and its suffix only where it is text; text without a
suffix is HIP source where it says __global__.
"""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hipgemm.kernel_object import FLAGS, Kernel
from hipgemm.kernels import LADDER, known, rung
from isa import cache
from isa.errors import IsaError, meant

if TYPE_CHECKING:
    from isa.asm.program import Program

HIP = (".hip", ".cpp", ".cc", ".cxx", ".cu", ".h", ".hpp")
ASSEMBLY = (".s", ".S", ".asm", ".isa")
TAKEN = "HIP source (.hip, .cpp), assembly (.s), a code object (.hsaco, .so), - for stdin, or a kernel of the ladder"
RECORDED = "kernel.toml"
"""The launch file of a recorded launch, beside its kernel.hsaco (`hipgemm.simulated_hip.recorded`)."""
_LINKED = (b"\x7fELF", b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB")
_NAMES = "-fno-discard-value-names"
"""The code object then has the names of a kernel's arguments."""


def read_kernel(what: str, name: str | None = None, flags: Sequence[str] = (), cu_mode: bool = False) -> Kernel:
    """The kernel of that name or file; a text of several lines is HIP source or assembly. name: of the kernel, where
    there are more; flags, cu_mode: for HIP source. IsaError where there is no such kernel or file, and for text that is
    neither HIP nor assembly."""
    if known(what) and not Path(what).exists():
        row = rung(what)
        if name not in (None, what):
            raise IsaError(f"{what} has no kernel {name!r}", expected=what, got=name)
        if flags and row.parameters:
            raise IsaError(f"{what} is generated: there is nothing to compile", got=" ".join(flags))
        return dataclasses.replace(row, flags=(*row.flags, *flags))
    is_text = "\n" in what
    if not is_text and (launch := Path(what) / RECORDED).is_file():
        found = re.match(r'\[(".*")\]', launch.read_text(encoding="utf-8"))
        name, what = name or (json.loads(found[1]) if found else None), str(launch.with_suffix(".hsaco"))
    data, title = (what.encode(), "<text>") if is_text else (_read(what), "<stdin>" if what == "-" else what)
    if data.startswith(_LINKED):
        return Kernel(name or "", title, "", "", cu_mode, code=data)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise IsaError(
            f"{title} is neither text nor a code object", expected=TAKEN, hint="is it a file for gfx11?"
        ) from error
    suffix = "" if is_text else Path(what).suffix
    if suffix in HIP or (suffix not in ASSEMBLY and "__global__" in text):
        source = str(_kept(text) if is_text or what == "-" else Path(what).resolve())
        return Kernel(name or "", title, source, "", cu_mode, flags=(*FLAGS, _NAMES, *flags))
    return Kernel(name or "", title, "", "", cu_mode, code=_parsed(text, title, suffix))


def _read(what: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if what == "-" else Path(what).read_bytes()
    except OSError as error:
        hint = meant(what, LADDER, f"the ladder's kernels are {', '.join(LADDER)}")
        raise IsaError(f"{what}: {error.strerror}", expected=TAKEN, hint=hint) from error
    except ValueError as error:  # a null byte
        raise IsaError(f"{what!r} is no name of a file", expected=TAKEN) from error


def _parsed(text: str, title: str, suffix: str) -> Program:
    from isa.asm.parse import parse

    try:
        return parse(text, title)
    except IsaError as error:
        if suffix in ("", *ASSEMBLY):
            raise
        raise IsaError(
            f"what kind of file is this? Read as assembly: {error.message}", span=error.span, expected=TAKEN,
            got=f"a file that ends in {suffix}",
        ) from error  # fmt: skip


def _kept(text: str) -> Path:
    """HIP source that is in no file, in one that a compiler can read."""

    def fill(folder: Path) -> None:
        (folder / "stdin.hip").write_text(text)

    return cache.make("stdin", cache.key(text), fill) / "stdin.hip"
