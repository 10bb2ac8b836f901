"""What a verb was given (assembly, a code object, or a kernel of the ladder, which is built first), and where its
page goes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from isa.errors import IsaError

if TYPE_CHECKING:
    from hipgemm.build import Build
    from isa.asm.program import Program
    from isa.object.code_object import CodeObject


def built(what: str, hipcc: Path | None = None) -> Build | None:
    """The build of a rung; None where `what` is no rung's name, or there is a file of that name."""
    from hipgemm.kernels import known

    if not known(what) or Path(what).exists():
        return None
    from hipgemm.build import build

    return build(what, hipcc=hipcc)


def same_kernel(rung: str, name: str | None) -> None:
    """IsaError where --kernel names another kernel than the rung's own."""
    if name not in (None, rung):
        raise IsaError(f"{rung} has no kernel {name!r}", expected=rung, got=name)


def read(what: str, hipcc: Path | None = None, *, runs: bool = False) -> Program | CodeObject:
    """The Program of an assembly file, of stdin ("-") or of a rung as it was assembled; a code object as it is. runs:
    whether it will be run, see `isa.object.code_object.load`.

    IsaError where it cannot be read.
    """
    from hipgemm.kernels import LADDER
    from isa.asm.parse import parse
    from isa.object.code_object import load

    if (made := built(what, hipcc)) is not None:
        return parse(made.assembly.read_text(), str(made.assembly))
    try:
        data = sys.stdin.buffer.read() if what == "-" else Path(what).read_bytes()
    except OSError as error:
        raise IsaError(
            f"{what}: {error.strerror}",
            expected=f"an assembly file, a code object, or one of {', '.join(LADDER)}",
        ) from error
    if data.startswith((b"\x7fELF", b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB")):
        return load(data, runs=runs)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise IsaError(f"{what} is neither assembly nor a code object", hint="is it a file for gfx11?") from error
    return parse(text, "<stdin>" if what == "-" else what)


def code_object(what: str, hipcc: Path | None = None, arch: str = "gfx1100") -> CodeObject:
    """A code object as it is, or made from assembly, for `arch` where that names no target. IsaError where it cannot be
    read, ToolError where the assembler refuses it."""
    from hipgemm.checking import assembled
    from isa.object.code_object import CodeObject

    given = read(what, hipcc, runs=True)
    return given if isinstance(given, CodeObject) else assembled(given, hipcc, arch)


def folder_of(file: Path) -> Path:
    """Makes the folder that a file will lie in, before anybody works for the file. IsaError where that cannot be."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise IsaError(f"cannot write {file}: {error.strerror}") from error
    return file


def write(file: Path, text: str) -> None:
    """Writes a page, and says so on stderr. IsaError where it cannot be written."""
    import click

    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise IsaError(f"cannot write {file}: {error.strerror}") from error
    click.echo(f"wrote {file}", err=True)
