"""`hipgemm check KERNEL|FILE ...`: a launch on the simulated card, under the sanitizer."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from hipgemm.cli import options
from hipgemm.cli.answers import answer
from hipgemm.cli.findings import as_object, listed, of_rules, rule_options, show
from hipgemm.cli.progress import steps
from hipgemm.launch.problem import Problem
from hipgemm.launch.requests import LaunchRequest
from isa.errors import Finding


@click.command("check", cls=options.KernelCommand)
@click.argument("what", metavar="KERNEL|FILE...", shell_complete=options.kernel_names, nargs=-1, required=True)
@options.problem(
    click.option("--alpha", type=float, default=1.0, show_default=True),
    click.option("--beta", type=float, default=0.0, show_default=True),
    click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True,
                 help="Selects the orders and the data."),
    n=256,
)  # fmt: skip
@click.option("--schedules", "count", type=click.IntRange(min=1), default=3, show_default=True,
              help="Orders of waves and workgroups.")  # fmt: skip
@options.budget
@options.launch
@options.code
@rule_options
def command(
    what: tuple[str, ...], problem: Problem, count: int, budget: int | None, request: LaunchRequest,
    code: options.CodeOptions, select: tuple[str, ...], ignore: tuple[str, ...], listing: Path | None, sarif: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Launch kernels of the ladder, or of HIP, assembly and code objects, and report errors that a card would not.

    Registers used while a load still fills them, races in LDS and memory, uninitialized reads, accesses out of bounds
    or misaligned, barriers that not all waves reach, results that depend on the order of waves or differ from --expect.

    A kernel with a name of the ladder gets its launch on an M x N x K problem. Any other needs --grid, --block, and an
    --arg for each of its arguments, or a launch file beside it.

    Exit status 0 without faults, 1 with faults, 2 where the input cannot be used.
    """
    from hipgemm.cli import inputs
    from hipgemm.judge.checking import Schedules, checked
    from isa.lint.registry import chosen

    ids = chosen(select, ignore)
    found: list[tuple[str, Finding]] = []
    rows: list[dict[str, object]] = []
    for one in what:
        with steps() as step:
            step(f"building {one}")
            kernel = code.kernel(one)
            made, launch = code.prepared(kernel, request, problem, code.card_of(kernel))
            step(f"checking {one}")
            seen = checked(made, launch, Schedules(count, problem.seed, None, budget))
        seen = listed(of_rules(seen, ids), made.program or made.code_object, [made.name], listing)
        one = inputs.called(one)
        found += [(one, f) for f in seen]
        rows.append({"input": one, "findings": [as_object(f) for f in seen]})
        if not as_json and not sarif:
            show(one, seen)
    faults = sum(f.severity == "fault" for _, f in found)
    if sarif:
        from hipgemm.cli.sarif import log

        click.echo(json.dumps(log("check", found)))
    elif as_json:
        answer("check", {"faults": faults, "schedules": count, "seed": problem.seed, "checked": rows})
    sys.exit(1 if faults else 0)
