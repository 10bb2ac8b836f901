"""`hipgemm inspect KERNEL|FILE`: registers, occupancy, instruction mix and the banks of the main loop."""

from __future__ import annotations

import json
from pathlib import Path

import click

from hipgemm.cli.options import CodeOptions, KernelCommand, code_options, kernel_names


@click.command("inspect", cls=KernelCommand)
@click.argument("what", metavar="KERNEL|FILE", shell_complete=kernel_names)
@click.option(
    "--threads",
    default=None,
    type=click.IntRange(1, 1024),
    help="Threads of a workgroup, for the occupancy.  [default: the most that the metadata allows]",
)
@click.option("--all", "every", is_flag=True, help="Show every row of the bank table.")
@click.option(
    "--html", default=None, type=click.Path(path_type=Path, dir_okay=False), help="Write a page to this file."
)
@code_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    what: str, threads: int | None, every: bool, html: Path | None, code: CodeOptions, as_json: bool
) -> None:  # fmt: skip
    """Show what a kernel is made of: a kernel of the ladder, HIP source, assembly (- for stdin), or a code object.

    Occupancy comes with what limits it and the step that would raise it. The bank table of the main loop tells which
    VGPR bank each operand is read from and what the operand caches serve.
    """
    from hipgemm.build import readable
    from hipgemm.cli import inputs
    from hipgemm.inspection import inspect
    from hipgemm.report import inspection as shown

    if html is not None:
        inputs.writable(html)
    given = readable(inputs.kernel(what, code), arch=code.arch or "gfx1100", hipcc=code.hipcc)
    found = inspect(given, "stdin" if what == "-" else what, code.name, threads)
    if html is not None:
        inputs.write(html, shown.page(found))
    if as_json:
        click.echo(json.dumps(found.to_dict()))
        return
    if html is None:
        from rich.console import Console

        shown.show(found, Console(width=max(Console().width, shown.WIDTH)), None if every else shown.ROWS)
