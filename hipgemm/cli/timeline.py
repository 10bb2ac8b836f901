"""`hipgemm timeline KERNEL|FILE -o PAGE`: waves over time and the main loop's latencies, as a page or for Perfetto."""

from __future__ import annotations

from pathlib import Path

import click

from hipgemm.cli.options import (
    CodeOptions,
    KernelCommand,
    clock_option,
    code_options,
    kernel_names,
    launch_options,
    problem_options,
    run_option,
)
from hipgemm.cli.progress import steps
from hipgemm.launch_request import LaunchRequest
from hipgemm.problem import Problem
from isa.errors import IsaError


@click.command("timeline", cls=KernelCommand)
@click.argument("what", metavar="KERNEL|FILE", shell_complete=kernel_names)
@click.option("-o", "out", required=True, type=click.Path(path_type=Path), help="FILE.html, or FILE.json for Perfetto.")
@problem_options()
@launch_options
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
@click.option("--card", "card_name", default="7900 XTX", show_default=True, help="A card of isa/timing/cards.py.")
@clock_option
@run_option
@code_options
def command(
    what: str, out: Path, problem: Problem, request: LaunchRequest, window: int | None,
    begin: int | None, card_name: str, clock: float | None, run: bool, code: CodeOptions,
) -> None:  # fmt: skip
    """Show what the waves of a kernel's busiest CU or WGP do, by the cycle model; nothing is launched. What it takes,
    and how a kernel that is not of the ladder is launched, is as of `hipgemm time`."""
    from hipgemm.cli import inputs
    from hipgemm.launch_request import prepared
    from hipgemm.predict import timed
    from hipgemm.report import timeline as shown
    from hipgemm.source_lines import places
    from hipgemm.timeline import timeline
    from isa.timing import cards

    if out.suffix not in (".html", ".json"):
        raise IsaError(f"{out}: which format?", expected="a name that ends in .html or .json", got=out.suffix or "none")
    inputs.writable(out)
    on = cards.card(card_name)
    with steps() as step:
        kernel = inputs.kernel(what, code)
        step(f"building {what}")
        made, launch = prepared(
            kernel, request, problem, arch=code.arch or on.arch, hipcc=code.hipcc, cus=on.cus, runs=False
        )
        step("following its addresses")
        ready = timed(made.code_object, made.name, launch, on, run=run).prepared
        step("playing it")
        size = "" if launch.problem is None else f", N = {problem.n}"
        found = timeline(
            ready, f"{made.name}{size}, {on.name}", clock or on.clock_mhz, window=window, begin=begin,
            places=places(made.program, made.name, made.source) if made.program else (),
        )  # fmt: skip
    inputs.write(out, shown.page(found) if out.suffix == ".html" else shown.perfetto(found))
    click.echo(f"cycles {found.start} to {found.end}, {found.issues} instructions", err=True)
