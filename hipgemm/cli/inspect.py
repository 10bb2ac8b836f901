"""`hipgemm inspect KERNEL|FILE`: registers, occupancy and what would raise it, instruction mix, bank table."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from isa.errors import IsaError

if TYPE_CHECKING:
    from hipgemm.inspect import Inspection


@click.command("inspect")
@click.argument("what", metavar="FILE|KERNEL")
@click.option("--kernel", "name", default=None, help="Which kernel of the file, where it holds several.")
@click.option("--threads", default=None, type=click.IntRange(1, 1024), help="Work-items of a workgroup.")
@click.option("--banks", is_flag=True, help="Show the bank table of the main loop too.")
@click.option("--html", "page", default=None, type=click.Path(path_type=Path), help="Write a page with everything.")
@click.option("--hipcc", default=None, type=click.Path(path_type=Path), help="The hipcc that builds KERNEL.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    what: str, name: str | None, threads: int | None, banks: bool, page: Path | None, hipcc: Path | None, as_json: bool
) -> None:
    """Show what a kernel is made of: of the ladder, of a code object, or of an assembly file (- for stdin)."""
    from hipgemm.report import inspection

    found = _inspected(what, name, threads, hipcc)
    if page is not None:
        page.write_text(inspection.page(found))
    if as_json:
        click.echo(json.dumps(inspection.as_json(found)))
    else:
        click.echo(inspection.text(found, colour=sys.stdout.isatty(), table=banks))


def _inspected(what: str, name: str | None, threads: int | None, hipcc: Path | None) -> Inspection:
    from hipgemm import inspect
    from hipgemm.kernels import LADDER
    from isa.code_object import load
    from isa.parse import parse

    if what in LADDER and not Path(what).exists():
        from hipgemm.build import build

        return inspect.of_build(build(what, hipcc=hipcc))
    try:
        data = sys.stdin.buffer.read() if what == "-" else Path(what).read_bytes()
    except OSError as error:
        raise IsaError(
            f"{what}: {error.strerror}",
            expected=f"an assembly file, a code object, or one of {', '.join(LADDER)}",
        ) from error
    if data.startswith((b"\x7fELF", b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB")):
        return inspect.of_code_object(load(data), name, threads)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise IsaError(f"{what} is neither assembly nor a code object") from None
    return inspect.of_program(parse(text, what), name, threads)
