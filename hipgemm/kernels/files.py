"""Kernels from inputs: the name of a rung, a file, text, or "-" for stdin -> a kernel object.

A folder that `hipgemm simulate --record` made is the kernel of that launch. A file is HIP source (.hip, .cpp and their
like), assembly, a code object, or a library or program for the host that holds code objects: then one of them has the
kernel that is meant. What it is, its first bytes say, and its suffix only where it is text; text without a suffix is
HIP source where it says __global__.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hipgemm.kernels.compiling import command_line
from hipgemm.kernels.ladder import NAMED, known, rung
from hipgemm.kernels.object import FLAGS, Kernel
from hipgemm.measure.jsonl import parsed
from isa import cache
from isa.errors import IsaError, contents, meant
from isa.mangling import meant_by, one_of, which
from isa.object import bundle, code_object
from isa.targets import runs_on

if TYPE_CHECKING:
    from isa.asm.program import Program

HEADERS = (".h", ".hpp")
HIP = (".hip", ".cpp", ".cc", ".cxx", ".cu", *HEADERS)
ASSEMBLY = (".s", ".S", ".asm", ".isa")
TAKEN = (
    "HIP source (.hip, .cpp), assembly (.s), a code object or library (.hsaco, .so), - for stdin, or a kernel's name"
)
RECORDED = "kernel.toml"
"""The launch file of a recorded launch, beside its kernel.hsaco (`hipgemm.simulated_hip.recorded`)."""
_LINKED = (b"\x7fELF", bundle.MAGIC, bundle.COMPRESSED)
_NAMES = "-fno-discard-value-names"
"""The code object then has the names of a kernel's arguments."""


def read_kernel(
    what: str, name: str | None = None, flags: Sequence[str] = (), cu_mode: bool = False, arch: str | None = None
) -> Kernel:
    """The kernel of that name or file; a text of several lines that is no file's name is HIP source or assembly. name:
    of the kernel, where there are more; flags, cu_mode: for HIP source; arch: of several code objects, the target, and
    that of assembly that names none. IsaError where there is no such kernel or file, where a library's kernel is not
    named, and for text that is neither HIP nor assembly."""
    found = read_kernels(what, name, flags, cu_mode, arch)
    if name is None and len(found) > 1:
        names = _names(found)
        raise IsaError(
            f"{found[0].title} has several kernels", expected=one_of(names), got=f"{len(names)} kernels",
            hint=f"--kernel NAME; hipgemm inspect {found[0].title} lists them",
        )  # fmt: skip
    return found[0]


def read_kernels(
    what: str, name: str | None = None, flags: Sequence[str] = (), cu_mode: bool = False, arch: str | None = None
) -> list[Kernel]:
    """As `read_kernel`; of a library one for each of its code objects, or for each that has the kernel `name`."""
    if known(what) and not Path(what).exists():
        row = rung(what)
        if name not in (None, what):
            raise IsaError(f"{what} has no kernel {name!r}", expected=what, got=name)
        if flags and row.parameters:
            raise IsaError(f"{what} is generated: there is nothing to compile", got=" ".join(flags))
        return [dataclasses.replace(row, flags=(*row.flags, *flags))]
    is_text = "\n" in what and not os.path.lexists(what)
    if not is_text and (launch := Path(what) / RECORDED).is_file():
        found = re.match(r'\[(".*")\]', launch.read_text(encoding="utf-8"))
        name, what = name or (parsed(found[1]) if found else None), str(launch.with_suffix(".hsaco"))
    data, title = (what.encode(), "<text>") if is_text else (_read(what), "<stdin>" if what == "-" else what)
    if data.startswith(_LINKED):
        images = _images(data, title, name, arch)
        return [_aimed(Kernel(name or "", title, "", "", cu_mode, code=image), arch) for image in images]
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise IsaError(
            f"{title} is neither text nor a code object", expected=TAKEN, hint="is it a file for gfx11?"
        ) from error
    suffix = "" if is_text else Path(what).suffix
    if suffix in HIP or (suffix not in ASSEMBLY and "__global__" in text):
        source = str(_kept(text) if is_text or what == "-" else Path(what).resolve())
        compiled = (*FLAGS, _NAMES, *command_line.all_from_anywhere(flags))
        return [Kernel(name or "", title, source, "", cu_mode, flags=compiled)]
    folder = None if is_text or what == "-" else Path(what).parent
    return [_aimed(Kernel(name or "", title, "", "", cu_mode, code=_parsed(text, title, suffix, folder, arch)), arch)]


def _aimed(kernel: Kernel, arch: str | None) -> Kernel:
    """Code that is there already. IsaError where it is for another target than the one that was asked for."""
    if arch and kernel.arch and not runs_on(kernel.arch, arch):
        raise IsaError(
            f"{kernel.title} is code for {kernel.arch} already", expected=arch, got=kernel.arch,
            hint="--arch is the target that HIP source is built for, and assembly that names none",
        )  # fmt: skip
    return kernel


def _images(data: bytes, title: str, name: str | None, arch: str | None) -> list[bytes]:
    """The code objects in a file; of several, those that have the kernel `name`."""
    try:
        found = bundle.images(data, arch)
        if len(found) == 1:
            return found
        having = [i for i in found if name is None or meant_by(name, code_object.load(i, runs=False).kernels)]
    except IsaError as error:
        if error.span is None:
            error.message = f"{title}: {error.message}"
        raise
    if not having:
        names = _names([Kernel("", title, "", "", False, code=image) for image in found])
        raise IsaError(
            f"{title} has no kernel {name!r}", expected=one_of(names),
            hint=which(name or "", names) or f"hipgemm inspect {title} lists them",
        )  # fmt: skip
    return having


def _names(kernels: Sequence[Kernel]) -> list[str]:
    """The names of all kernels in code objects, each once."""
    codes = (code_object.load(k.code, runs=False) for k in kernels if isinstance(k.code, bytes))
    return list(dict.fromkeys(name for code in codes for name in code.kernels))


def _read(what: str) -> bytes:
    """The bytes of a file; of what is none (a pipe, a device) no more than a bundle may have."""
    try:
        return contents(what, bundle.LARGEST_BUNDLE)
    except OSError as error:
        hint = meant(what, NAMED, f"the ladder's kernels are {', '.join(NAMED)}")
        raise IsaError(f"{what}: {error.strerror}", expected=TAKEN, hint=hint) from error
    except ValueError as error:  # a null byte
        raise IsaError(f"{what!r} is not the name of a file", expected=TAKEN) from error


def _parsed(text: str, title: str, suffix: str, folder: Path | None, arch: str | None) -> Program:
    from isa.asm.expand import read
    from isa.targets import target

    try:
        return read(text, title, folder, target(arch) if arch else None)
    except IsaError as error:
        if suffix in ("", *ASSEMBLY):
            raise
        raise IsaError(
            f"unknown kind of file. Read as assembly: {error.message}", span=error.span, expected=TAKEN,
            got=f"a file ending in {suffix}",
        ) from error  # fmt: skip


def _kept(text: str) -> Path:
    """HIP source that is in no file, in one that a compiler can read."""

    def fill(folder: Path) -> None:
        (folder / "stdin.hip").write_text(text)

    return cache.make("stdin", cache.key(text), fill) / "stdin.hip"
