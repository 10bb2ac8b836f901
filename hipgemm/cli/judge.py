"""`hipgemm judge KERNEL|FILE`: all that is known of a kernel in one answer, for programs that write kernels."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from hipgemm.cli import options, say
from hipgemm.cli.answers import answer
from hipgemm.cli.findings import as_object as finding_object
from hipgemm.cli.progress import steps
from hipgemm.launch.problem import Problem
from hipgemm.launch.requests import LaunchRequest

if TYPE_CHECKING:
    from hipgemm.judge.judgement import Judgement
    from isa.timing.machine.cards import Card


@click.command("judge", cls=options.KernelCommand)
@click.argument("what", metavar="KERNEL|FILE", shell_complete=options.kernel_names)
@options.problem(n=256)
@click.option("--schedules", "count", type=click.IntRange(min=1), default=1, show_default=True,
              help="Orders of waves and workgroups under the sanitizer.")  # fmt: skip
@options.budget
@options.launch
@options.card_of_code()
@options.code
@options.as_json
def command(
    what: str, problem: Problem, count: int, budget: int | None, request: LaunchRequest, on: Card | None,
    code: options.CodeOptions, as_json: bool,
) -> None:  # fmt: skip
    """Say whether a kernel is right, what is wrong with it, what it takes and how long: run, lint, check, inspect and
    time in one answer, on the simulated card. With --reference FILE.py its answer is compared with what NumPy says:

    \b
        def reference(x, y, a, **others):     # the kernel's arguments by name
            return {"y": a * x + y}           # or one array, for the last one

    The launch is given as for `hipgemm run`. Exit status 1 where the answer is wrong or there is a fault, 2 where the
    input cannot be used.
    """
    from hipgemm.judge.checking import Schedules
    from hipgemm.judge.judgement import as_object, judged

    with steps() as step:
        step(f"building {what}")
        kernel = code.kernel(what)
        on = code.card_of(kernel, on)
        made, launch = code.prepared(kernel, request, problem, on)
        step("judging it")
        found = judged(made, launch, on, Schedules(count, budget=budget))
    if as_json:
        answer("judge", as_object(found, [finding_object(f) for f in found.findings]))
    else:
        _show(found)
    sys.exit(0 if found.good else 1)


def _show(found: Judgement) -> None:
    for finding in found.findings:
        say(f"{finding}\n")
    if found.result is not None:
        say(repr(found.result))
    for said in [*found.guidance, *([f"no time: {found.untimed}"] if found.untimed else [])]:
        say(f"  {said}")
