"""`hipgemm report`: results shown again as text, or the whole ladder as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hipgemm.cli import options, say
from hipgemm.cli.progress import steps

if TYPE_CHECKING:
    from isa.timing.machine.cards import Card


@click.command("report")
@click.argument("file", required=False, type=str)
@click.option("-o", "--out", default=None, type=click.Path(path_type=Path, dir_okay=False), help="Write a page here.")
@click.option("-n", default=4096, show_default=True, type=click.IntRange(1), help="Of the page: M = N = K.")
@options.card("Of the page: the card to predict for.")
@options.clock
@click.option("--kernels", default=None, help="Of the page: some of the ladder, with commas between.  [default: all]")
@click.option("--no-predict", is_flag=True, help="Leave the cycle model out.")
@click.option("--hipcc", default=None, type=click.Path(path_type=Path), help="The hipcc that builds the kernels.")
def command(
    file: str | None, out: Path | None, n: int, on: Card, clock: float | None, kernels: str | None,
    no_predict: bool, hipcc: Path | None,
) -> None:  # fmt: skip
    """Show the results in FILE (what `hipgemm bench --out` wrote; - for stdin) as tables.

    With -o, write a page about the whole ladder instead: what the published study measured, what the cycle model
    predicts for the code built here, and what was measured on a card according to FILE, clearly distinguished; with a
    roofline, where the cycles go, and each kernel's registers, occupancy and banks.
    """
    from hipgemm.measure import records
    from isa.errors import IsaError

    entries = records.load(file) if file is not None else []
    if file is not None and not entries:
        raise IsaError("there are no results here", expected="what `hipgemm bench --out FILE` writes")
    if out is None:
        if file is None:
            raise click.UsageError("give a FILE of results, or -o PAGE.html for a page about the ladder")
        from hipgemm.report import table

        say("\n\n".join(table.text(t) for t in table.tables(entries)))
        return
    from hipgemm.cli import inputs
    from hipgemm.judge.inspection.overview import overview
    from hipgemm.kernels.ladder import LADDER, rung
    from hipgemm.report import ladder

    inputs.writable(out)
    chosen = list(LADDER)
    if kernels is not None:
        chosen = [rung(name.strip()).name for name in kernels.split(",") if name.strip()]
        if not chosen:
            raise IsaError("--kernels names none", expected="some of " + ",".join(LADDER), got=repr(kernels))
    with steps() as step:
        found = overview(
            n, on, clock_mhz=clock, kernels=chosen, records=entries, predict=not no_predict,
            hipcc=hipcc, step=step,
        )  # fmt: skip
    inputs.write(out, ladder.page(found))
