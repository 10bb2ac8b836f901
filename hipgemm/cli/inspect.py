"""`hipgemm inspect KERNEL|FILE`: registers, occupancy, instruction mix and the banks of the main loop."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command("inspect")
@click.argument("what", metavar="KERNEL|FILE")
@click.option("--kernel", "name", default=None, help="Which kernel of the file.  [default: the only one]")
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
@click.option("--hipcc", default=None, type=click.Path(path_type=Path), help="The hipcc that builds KERNEL.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    what: str,
    name: str | None,
    threads: int | None,
    every: bool,
    html: Path | None,
    hipcc: Path | None,
    as_json: bool,
) -> None:
    """Show what a kernel is made of: a kernel of the ladder (built first), an assembly file (- for stdin), or a code
    object.

    Occupancy comes with what limits it and the step that would raise it. The bank table of the main loop tells which
    VGPR bank each operand is read from and what the operand caches serve.
    """
    from hipgemm.cli import inputs
    from hipgemm.inspection import inspect
    from hipgemm.report import inspection as shown

    found = inspect(inputs.read(what, hipcc), "stdin" if what == "-" else what, name, threads)
    if html is not None:
        inputs.write(html, shown.page(found))
    if as_json:
        click.echo(json.dumps(found.to_dict()))
        return
    if html is None:
        from rich.console import Console

        shown.show(found, Console(width=max(Console().width, shown.WIDTH)), None if every else shown.ROWS)
