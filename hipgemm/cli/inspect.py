"""`hipgemm inspect KERNEL|FILE`: registers, occupancy, instruction mix and the banks of the main loop."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hipgemm.cli import options, say
from hipgemm.cli.answers import answer
from isa.display import number_of

if TYPE_CHECKING:
    from hipgemm.judge.inspection import Held


@click.command("inspect", cls=options.KernelCommand)
@click.argument("what", metavar="KERNEL|FILE", shell_complete=options.kernel_names)
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
@click.option(
    "--explorer", is_flag=True, help="Print its instructions as Compiler Explorer's JSON, with their sources."
)
@options.code
@options.as_json
def command(
    what: str, threads: int | None, every: bool, html: Path | None, explorer: bool, code: options.CodeOptions,
    as_json: bool,
) -> None:  # fmt: skip
    """Show a kernel's resources and instructions: a kernel of the ladder, HIP source, assembly (- for stdin), a code
    object, or a library with kernels. For several kernels without --kernel: their names and resources.

    Occupancy is shown with its limit and the step that would raise it. The bank table of the main loop shows which VGPR
    bank each operand is read from, and which reads the operand caches serve.
    """
    from hipgemm.cli import inputs
    from hipgemm.judge.inspection import contents, inspect
    from hipgemm.report import inspection as shown
    from hipgemm.report.terminal import wide

    if html is not None:
        inputs.writable(html)
    titled = "stdin" if what == "-" else what
    if explorer:
        code = dataclasses.replace(code, lines=True)
    kernels = code.kernels(what)
    given = [code.readable(k) for k in kernels]
    if explorer:
        if len(given) > 1:
            raise click.UsageError(f"--explorer takes one code object, and {what} has {len(given)}: name a kernel")
        from hipgemm.judge.inspection.listing import explorer as explored

        main = kernels[0].source or titled
        names = [code.name] if code.name else list(given[0].kernels)
        click.echo(json.dumps(explored(given[0], names, main, as_source=kernels[0].code is not None)))
        return
    if code.name is None and sum(len(one.kernels) for one in given) > 1:
        _list(titled, [row for one in given for row in contents(one)], html, as_json)
        return
    found = inspect(given[0], titled, code.name, threads)
    if html is not None:
        inputs.write(html, shown.page(found))
    if as_json:
        answer("inspect", found.to_dict())
        return
    if html is None:
        shown.show(found, wide(shown.WIDTH), None if every else shown.ROWS)


def _list(what: str, rows: Sequence[Held], html: Path | None, as_json: bool) -> None:
    """Names and resources of several kernels."""
    if html is not None:
        raise click.UsageError(f"--html is for one kernel, and {what} has {len(rows)}: name it with --kernel")
    if as_json:
        answer("inspect", {"input": what, "kernels": [dataclasses.asdict(row) for row in rows]})
        return
    from hipgemm.report.inspection import contents_table
    from hipgemm.report.terminal import wide

    wide(100).print(contents_table(rows))
    say(f"{what}: {number_of(len(rows), 'kernel')}; --kernel NAME shows one", err=True)
