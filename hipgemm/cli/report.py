"""`hipgemm report FILE`: results that were written by `hipgemm bench --out`, shown again."""

from __future__ import annotations

from typing import IO

import click


@click.command("report")
@click.argument("file", type=click.File("r", encoding="utf-8"))
def command(file: IO[str]) -> None:
    """Show the results in FILE (JSON lines; - for stdin) as tables, one for each device and problem."""
    from hipgemm import records
    from hipgemm.report import table

    entries = records.load(file, getattr(file, "name", "-"))
    if not entries:
        raise records.BadRecord("there are no results here", expected="what `hipgemm bench --out FILE` writes")
    click.echo("\n\n".join(table.text(t) for t in table.tables(entries)))
