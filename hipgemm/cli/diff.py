"""`hipgemm diff OLD NEW`: what changed between two kernels, and whether they do the same."""

from __future__ import annotations

import dataclasses
import json
import sys
from typing import TYPE_CHECKING

import click

from hipgemm.cli.options import (
    CodeOptions,
    KernelCommand,
    code_options,
    kernel_names,
    launch_options,
    problem_options,
)
from hipgemm.cli.progress import steps
from hipgemm.launch_request import LaunchRequest
from hipgemm.problem import Problem

if TYPE_CHECKING:
    from hipgemm.kernel_object import Kernel
    from hipgemm.predict import Prediction


@click.command("diff", cls=KernelCommand)
@click.argument("old", metavar="OLD", shell_complete=kernel_names)
@click.argument("new", metavar="NEW", shell_complete=kernel_names)
@problem_options()
@launch_options
@click.option("--card", "card_name", default="7900 XTX", show_default=True, help="What times are predicted for.")
@click.option("--all", "every", is_flag=True, help="Show every changed instruction.")
@code_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    old: str, new: str, problem: Problem, request: LaunchRequest, card_name: str, every: bool,
    code: CodeOptions, as_json: bool,
) -> None:  # fmt: skip
    """Say what changed from OLD to NEW: instructions, registers, occupancy, findings of lint, predicted time where a
    launch is known (see `hipgemm time`), and whether it is proven that both compute the same.

    Either is HIP source, assembly, a code object, or a kernel of the ladder.

    Exit status 1 where NEW is not shown to do the same, or has faults that OLD has not.
    """
    from hipgemm.build import readable
    from hipgemm.cli import inputs
    from hipgemm.inspection.difference import difference
    from hipgemm.launch import BadLaunch
    from hipgemm.report.difference import HUNKS, text
    from isa.timing import cards

    on = cards.card(card_name)
    unnamed = dataclasses.replace(code, name=None)  # the name is looked up in both
    with steps() as step:
        kernels = [inputs.kernel(what, unnamed) for what in (old, new)]
        step("reading both")
        given = [readable(kernel, arch=code.arch or on.arch, hipcc=code.hipcc) for kernel in kernels]
        step("comparing and proving")
        found = difference(given[0], given[1], (old, new), kernels[1], code.name)
        step("predicting both")
        named = [dataclasses.replace(kernel, name=kernel.name or code.name or "") for kernel in kernels]
        try:
            times = [_predicted(kernel, request, problem, code, card_name) for kernel in named]
            found = dataclasses.replace(found, predictions=(times[0], times[1]))
        except BadLaunch as error:
            if request.said or request.file:
                raise
            found = dataclasses.replace(found, unlaunched=error.message)
    click.echo(json.dumps(found.to_dict()) if as_json else text(found, None if every else HUNKS))
    sys.exit(1 if found.worse else 0)


def _predicted(
    kernel: Kernel, request: LaunchRequest, problem: Problem, code: CodeOptions, card_name: str
) -> Prediction:
    from hipgemm.launch_request import prepared
    from hipgemm.predict import Prediction, timed
    from isa.timing import cards

    on = cards.card(card_name)
    made, launch = prepared(kernel, request, problem, arch=code.arch or on.arch, hipcc=code.hipcc, cus=on.cus)
    return Prediction(made.name, launch, timed(made.code_object, made.name, launch, on).timing())
