"""`hipgemm run KERNEL|FILE`: build, run, check, and show the result."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hipgemm.cli import options, say
from hipgemm.cli.answers import answer
from hipgemm.cli.progress import steps
from hipgemm.launch.problem import Problem
from hipgemm.launch.requests import LaunchRequest
from isa.errors import IsaError, replacing, writing

if TYPE_CHECKING:
    from hipgemm.kernels.build import Linked
    from hipgemm.launch.launch import Launch
    from hipgemm.measure.measure import Measured
    from hipgemm.measure.result import LaunchResult
    from isa.timing.machine.cards import Card


@click.command("run", cls=options.KernelCommand)
@click.argument("what", metavar="KERNEL|FILE", shell_complete=options.kernel_names)
@options.measure
@options.stands_for("one that runs the code")
@options.cpu
@options.budget
@options.launch
@click.option("--out", "outs", multiple=True, metavar="[ARG=]FILE.npy",
              help="Save what an array holds afterwards; the last one if not named.")  # fmt: skip
@click.option("--no-check", is_flag=True, help="On a card: do not hold it against the simulated card.")
@options.code
@options.as_json
def command(
    what: str, problem: Problem, repeats: int | None, cold: bool, device: str | None, card_name: str | None, cpu: str,
    budget: int | None, request: LaunchRequest, outs: tuple[str, ...], no_check: bool, code: options.CodeOptions,
    as_json: bool,
) -> None:  # fmt: skip
    """Build a kernel, run it and check its answer.

    A kernel of the ladder (`hipgemm list`) computes C = alpha A B + beta C, which is compared with a float64 product.
    HIP source, assembly (- for stdin) or a code object needs --grid, --block, and an --arg for each argument of its
    kernel, or a launch file beside it; --expect gives the expected result, --out keeps the result. On a card without
    --expect, it is compared with the simulated card's result, element by element.

    Exit status 1 if the answer is wrong or the kernel faults, 2 where the input cannot be used.
    """
    from hipgemm.cli import inputs
    from hipgemm.launch.words import named
    from hipgemm.measure.device import Device
    from hipgemm.measure.measure import measure_launch
    from isa.timing.machine import cards

    kernel = code.kernel(what)
    with steps() as step:
        on = code.card_of(kernel, cards.card(card_name) if card_name else None)
        opened = Device.open(device, cpu=cpu, card=card_name, arch=code.arch or kernel.arch)
        if budget is not None:
            opened.limit(budget)
        step(f"building {what} for {opened.arch}")
        made, launch = code.prepared(kernel, request, problem, opened)
        places = {launch.array(name): inputs.writable(Path(path)) for name, path in map(named, outs)}
        measured = measure_launch(
            made, launch, opened, repeats=repeats, cold=cold, step=step, simulate=not no_check,
            tolerance=request.tolerance,
        )  # fmt: skip
        if opened.simulated and measured.result.time_ms is None and launch.problem is None:
            step("following the data, for the time")
            measured = dataclasses.replace(measured, result=_timed(measured.result, made, launch, on))
    _save(places, measured, launch)
    if as_json:
        answer("run", measured.result.to_dict())
    else:
        say(repr(measured.result))
    sys.exit(1 if measured.result.correct is False else 0)


def _timed(result: LaunchResult, made: Linked, launch: Launch, on: Card) -> LaunchResult:
    """With the predicted time of a launch whose path data decide, where there is one: events know no data."""
    from hipgemm.judge.predict import predicted

    try:
        found = predicted(made, launch, on, run=True)[1].timing
    except IsaError:
        return result
    ends = (1e3 * found.low_s, 1e3 * found.high_s)
    return dataclasses.replace(
        result, time_ms=1e3 * found.time_s, mean_ms=1e3 * found.time_s, time_kind="predicted", band_ms=ends,
        taken_from_a_run="the launch's data decide its path",
    )  # fmt: skip


def _save(places: dict[int, Path], measured: Measured, launch: Launch) -> None:
    import numpy as np

    for number, path in places.items():
        if number not in measured.arrays:
            raise IsaError(
                f"{launch.arrays[number].name} is no result of this kernel", expected="an array that it fills"
            )
        with writing(path), replacing(path) as file:
            np.save(file, measured.arrays[number])
        say(f"wrote {path}", err=True)
