"""`hipgemm check KERNEL|FILE ...`: a launch on the simulated card, under the sanitizer."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import click

from hipgemm.cli import options
from hipgemm.cli.findings import as_object, listed, of_rules, rule_options, show
from hipgemm.cli.progress import steps
from hipgemm.launch_request import LaunchRequest
from hipgemm.problem import Problem
from isa.errors import Finding, SourceLine


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
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    default=None,
    help="Instructions on a core after which the launch is stopped.",
)
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
    from hipgemm.checking import Schedules, check
    from hipgemm.cli import inputs
    from isa.check import suppress
    from isa.check.registry import chosen
    from isa.timing import cards

    ids = chosen(select, ignore)
    found: list[tuple[str, list[Finding], Mapping[int, SourceLine]]] = []
    rows: list[dict[str, object]] = []
    for one in what:
        with steps() as step:
            step(f"building {one}")
            made, launch = code.prepared(code.kernel(one), request, problem, cards.card("7900 XTX"))
            program, name = made.program, made.name
            schedules = Schedules(count, problem.seed, None, budget)
            step(f"checking {one}")
            seen = check(made.code_object, name, launch, program=program, schedules=schedules)
        if program is not None:
            seen = suppress.apply(seen, program, "check", suppress.lines_of(program, name))
        seen = listed(of_rules(seen, ids), program or made.code_object, [name], listing)
        source, one = made.source if seen else {}, inputs.called(one)
        found.append((one, seen, source))
        rows.append({"input": one, "findings": [as_object(f, source) for f in seen]})
        if not as_json and not sarif:
            show(one, seen, source)
    faults = sum(f.severity == "fault" for _, findings, _ in found for f in findings)
    if sarif:
        from hipgemm.cli.sarif import log

        click.echo(json.dumps(log("check", ((one, f, source) for one, findings, source in found for f in findings))))
    elif as_json:
        click.echo(json.dumps({"faults": faults, "schedules": count, "seed": problem.seed, "checked": rows}))
    sys.exit(1 if faults else 0)
