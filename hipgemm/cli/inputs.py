"""The kernel that a verb was given, and where its page goes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from isa.errors import writing

if TYPE_CHECKING:
    from hipgemm.cli.options import CodeOptions
    from hipgemm.kernel_object import Kernel


def kernel(what: str, options: CodeOptions) -> Kernel:
    """What a user typed, as a kernel object; see `hipgemm.kernel_files`."""
    from hipgemm.kernel_files import read_kernel

    _known(options)
    return read_kernel(what, options.name, options.flags, options.cu_mode, options.arch)


def called(what: str) -> str:
    """What messages call what a user typed."""
    return "<stdin>" if what == "-" else what


def kernels(what: str, options: CodeOptions) -> list[Kernel]:
    """The same; of a library without a kernel's name, one for each of its code objects."""
    from hipgemm.kernel_files import read_kernels

    _known(options)
    return read_kernels(what, options.name, options.flags, options.cu_mode, options.arch)


def _known(options: CodeOptions) -> None:
    """--arch is a target, whatever is read."""
    from isa.targets import target

    if options.arch is not None:
        target(options.arch)


def writable(file: Path, *, folder: bool = False) -> Path:
    """A file that can be written, or a folder for files, tried before anybody works for it; makes the folder. IsaError
    where it cannot be."""
    probe = file / ".tried" if folder else file
    with writing(file):
        probe.parent.mkdir(parents=True, exist_ok=True)
        new = not probe.exists()
        probe.open("ab").close()
        if new:
            probe.unlink()
    return file


def write(file: Path, what: str | bytes) -> None:
    """Writes a page or a code object, and says so on stderr. IsaError where it cannot be written."""
    import click

    with writing(file):
        file.write_bytes(what.encode() if isinstance(what, str) else what)
    click.echo(f"wrote {file}", err=True)
