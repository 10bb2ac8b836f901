"""`hipgemm diff OLD NEW`: what changed between two kernels, and whether they do the same."""

from __future__ import annotations

import dataclasses
import sys
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from hipgemm.cli import options
from hipgemm.cli.answers import answer
from hipgemm.cli.progress import steps
from hipgemm.launch.problem import Problem
from hipgemm.launch.requests import LaunchRequest

if TYPE_CHECKING:
    from hipgemm.judge.predict import Prediction
    from hipgemm.kernels.object import Kernel
    from isa.timing.machine.cards import Card


@click.command("diff", cls=options.KernelCommand)
@click.argument("old", metavar="OLD", shell_complete=options.kernel_names)
@click.argument("new", metavar="NEW", shell_complete=options.kernel_names)
@options.problem()
@options.assume
@options.launch
@options.card_of_code("The card that times are predicted for.")
@click.option("--all", "every", is_flag=True, help="Show every changed instruction.")
@options.code
@options.as_json
def command(
    old: str, new: str, problem: Problem, assume: tuple[str, ...], request: LaunchRequest, on: Card | None, every: bool,
    code: options.CodeOptions, as_json: bool,
) -> None:  # fmt: skip
    """Show what changed from OLD to NEW: instructions, registers, occupancy, findings of lint, predicted time where a
    launch is known (see `hipgemm time`), and whether both are proved to compute the same.

    --assume, a size and a launch that are given hold for proof and lint, too.

    Either is HIP source, assembly, a code object, or a kernel of the ladder.

    Exit status 1 where NEW is not proved to compute the same, or has faults that OLD does not have.
    """
    from hipgemm.judge import proving
    from hipgemm.judge.inspection.difference import difference
    from hipgemm.launch.launch import BadLaunch
    from hipgemm.report.difference import HUNKS, text
    from isa.lint import sound
    from isa.object.code_object import CodeObject

    unnamed = dataclasses.replace(code, name=None)  # the name is looked up in both
    with steps() as step:
        kernels = [unnamed.kernel(what) for what in (old, new)]
        on = code.card_of(kernels[1], on)
        step("reading both")
        given = [code.readable(kernel, on.arch) for kernel in kernels]
        step("comparing and proving")
        sources = [code.source_lines(kernel, one, on.arch) for kernel, one in zip(kernels, given, strict=True)]
        asked = given[0].kernel(proving.names_of(given[0], given[1], kernels[1], code.name)[0])
        own = click.get_current_context().get_parameter_source
        size = problem if any(own(letter) is ParameterSource.COMMANDLINE for letter in "mnk") else None
        assumed = code.assumed(assume, request, size, kernels[0], asked)
        found = difference(given[0], given[1], (old, new), kernels[1], code.name, sources, assumed)
        step("predicting both")
        named = [dataclasses.replace(kernel, name=kernel.name or code.name or "") for kernel in kernels]
        unfit = [f for one in given for f in sound.of_start(one, found.kernel if found.kernel in one.kernels else None)]
        targets = [one.arch if isinstance(one, CodeObject) else one.target.name if one.target else "" for one in given]
        apart = f"{' -> '.join(targets)}, and no card runs both" if all(targets) and len(set(targets)) > 1 else ""
        try:
            if unfit or apart:
                raise BadLaunch(apart or unfit[0].message)
            times = [_predicted(kernel, request, problem, code, on) for kernel in named]
            found = dataclasses.replace(found, predictions=(times[0], times[1]))
        except BadLaunch as error:
            if not (unfit or apart) and (request.said or request.file):
                raise
            found = dataclasses.replace(found, unlaunched=error.message)
    if as_json:
        answer("diff", found.to_dict())
    else:
        click.echo(text(found, None if every else HUNKS))
    sys.exit(1 if found.worse else 0)


def _predicted(
    kernel: Kernel, request: LaunchRequest, problem: Problem, code: options.CodeOptions, on: Card
) -> Prediction:
    from hipgemm.judge.predict import Prediction, errors_placed, followed

    made, launch = code.prepared(kernel, request, problem, on)
    ready, ran = followed(made, launch, on)
    with errors_placed(made):
        return Prediction(made.name, launch, ready.timing(), ran=ran)
