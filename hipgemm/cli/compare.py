"""`hipgemm compare A B`: where the predicted cycles of B go that A does not spend."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hipgemm.cli import options, say
from hipgemm.cli.answers import answer
from hipgemm.cli.progress import steps
from hipgemm.launch.problem import Problem
from hipgemm.launch.requests import LaunchRequest

if TYPE_CHECKING:
    from isa.timing.machine.cards import Card


@click.command("compare", cls=options.KernelCommand)
@click.argument("a", metavar="A", shell_complete=options.kernel_names)
@click.argument("b", metavar="B", shell_complete=options.kernel_names)
@options.problem()
@options.launch
@click.option("--kernel-b", default=None, help="The kernel in B.  [default: --kernel]")
@click.option(
    "--launch-b", default=None, type=click.Path(path_type=Path),
    help="The launch file of B.  [default: A's launch, or the file beside B]",
)  # fmt: skip
@click.option("--optimise-b", default=None, type=click.Choice(options.LEVELS_OF_O), help="-O of B.  [default: A's]")
@options.card_of_code()
@options.clock
@options.run
@options.code
@options.as_json
def command(
    a: str, b: str, problem: Problem, request: LaunchRequest, kernel_b: str | None, launch_b: Path | None,
    optimise_b: str | None, on: Card | None, clock: float | None, run: bool | None, code: options.CodeOptions,
    as_json: bool,
) -> None:  # fmt: skip
    """Compare two kernels for the same work by the cycle model: what B spends that A does not, by cause, loop and line.

    Either is HIP source, assembly, a code object (of any compiler) or a kernel of the ladder, with a launch as for
    `hipgemm time`.
    """
    from hipgemm.judge.comparison import compared
    from hipgemm.judge.predict import predicted
    from hipgemm.report import difference as shown

    other = dataclasses.replace(code, name=kernel_b or code.name, optimise=optimise_b or code.optimise)
    asked = dataclasses.replace(LaunchRequest(), file=launch_b) if launch_b else request
    found = []
    with steps() as step:
        for what, options_, wanted in ((a, code, request), (b, other, asked)):
            step(f"building {what}")
            kernel = options_.kernel(what)
            on = options_.card_of(kernel, on)
            made, launch = options_.prepared(kernel, wanted, problem, on, runs=False)
            step(f"playing {what}")
            found.append(predicted(made, launch, on, clock, run=run, advise=True))
    names = (f"{a}: {found[0][1].kernel}", f"{b}: {found[1][1].kernel}")
    comparison = compared(names, [ready.prepared for ready, _ in found], [p for _, p in found])
    if as_json:
        answer("compare", comparison.to_dict())
    else:
        say(shown.compared(comparison))
