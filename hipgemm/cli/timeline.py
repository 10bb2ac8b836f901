"""`hipgemm timeline KERNEL|FILE -o PAGE`: waves over time and the main loop's latencies, as a page or for Perfetto."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hipgemm.cli import options, say
from hipgemm.cli.progress import steps
from hipgemm.launch.problem import Problem
from hipgemm.launch.requests import LaunchRequest
from isa.errors import IsaError

if TYPE_CHECKING:
    from isa.timing.machine.cards import Card


@click.command("timeline", cls=options.KernelCommand)
@click.argument("what", metavar="KERNEL|FILE", shell_complete=options.kernel_names)
@click.option("-o", "out", required=True, type=click.Path(path_type=Path), help="FILE.html, or FILE.json for Perfetto.")
@options.problem()
@options.launch
@click.option(
    "--window",
    default=None,
    type=click.IntRange(100, 50_000),
    metavar="CYCLES",
    help="How many to show.  [default: 10,000, or all of 20,000]",
)
@click.option(
    "--from",
    "begin",
    default=None,
    type=click.IntRange(0),
    metavar="CYCLE",
    help="The first of them.  [default: where 400,000 instructions are played]",
)
@options.card_of_code()
@options.clock
@options.run
@options.follow
@options.code
def command(
    what: str, out: Path, problem: Problem, request: LaunchRequest, window: int | None,
    begin: int | None, on: Card | None, clock: float | None, run: bool | None, budget: int | None,
    code: options.CodeOptions,
) -> None:  # fmt: skip
    """Show what the waves of a kernel's busiest CU or WGP do, by the cycle model; nothing is launched. Its inputs, and
    how a kernel outside the ladder is launched, are as for `hipgemm time`."""
    from hipgemm.cli import inputs
    from hipgemm.judge.predict import played
    from hipgemm.report import timeline as shown
    from isa.timing.model.shown import assumed, taken_from_a_run

    if out.suffix not in (".html", ".json"):
        raise IsaError(f"{out}: unknown format", expected="a name ending in .html or .json", got=out.suffix or "none")
    inputs.writable(out)
    with steps() as step:
        kernel = code.kernel(what)
        on = code.card_of(kernel, on)
        step(f"building {what}")
        made, launch = code.prepared(kernel, request, problem, on, runs=False)
        step("following its addresses and playing it")
        found, ready, ran = played(made, launch, on, clock, run=run, budget=budget, window=window, begin=begin)
    inputs.write(out, shown.page(found) if out.suffix == ".html" else shown.perfetto(found))
    if ready.trace.guards:
        say(f"note: {assumed(ready.trace.guards)}", err=True)
    if ran:
        say(f"note: the path is {taken_from_a_run(ran)}", err=True)
    say(repr(found), err=True)
