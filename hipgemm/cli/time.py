"""`hipgemm time KERNEL|FILE`: how long a kernel would take on a card, and where its cycles go. Nothing is launched."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hipgemm.cli.options import clock_option, launch_options, size_options
from hipgemm.cli.progress import steps
from isa.errors import IsaError

if TYPE_CHECKING:
    from hipgemm.predict import LaunchPrediction, Prediction
    from isa.timing.cards import Card
    from isa.timing.ensemble import Timing
    from isa.timing.predict import TimedLaunch

Triple = tuple[int, int, int]


@click.command("time")
@click.argument("what", metavar="KERNEL|FILE")
@size_options
@launch_options
@click.option("--card", "card_name", default="7900 XTX", show_default=True, help="A card of isa/timing/cards.py.")
@clock_option
@click.option("--bank-rule", default=None, help="What operand reads cost: a rule of isa/timing/bank_rules.py.")
@click.option("--sensitivity", is_flag=True, help="How much each uncertain machine number matters.")
@click.option("--hipcc", default=None, type=click.Path(path_type=Path), help="The hipcc that builds KERNEL.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    what: str, n: int, m: int | None, k: int | None, name: str | None, grid: tuple[int, int, int] | None,
    block: tuple[int, int, int] | None, arguments: tuple[str, ...], card_name: str, clock: float | None,
    bank_rule: str | None, sensitivity: bool, hipcc: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Predict the time of a kernel by the cycle model: a median with its band, and the causes.

    A kernel of the ladder (`hipgemm list`) is built for the card's target and gets an M x N x K problem. An
    assembly file (- for stdin) or a code object needs --grid, --block, and an --arg for each argument of its kernel.

    The model plays the busiest CU or WGP of the card cycle by cycle; docs/timing.md says how far to trust it.
    """
    from hipgemm.kernels import known
    from hipgemm.report import timing as shown
    from isa.timing import bank_rules, cards, ensemble, rdna3, uncertainty

    rule = bank_rule or bank_rules.DEFAULT
    if rule not in bank_rules.RULES:
        raise IsaError(f"no bank rule {rule!r}", expected="one of " + ", ".join(bank_rules.RULES), got=rule)
    on = cards.card(card_name)
    shape = (grid, block) if grid and block else None
    predicted: Callable[[Timing], Prediction | LaunchPrediction]
    with steps() as step:
        if known(what) and not Path(what).exists():
            if grid or block or name or arguments:
                raise IsaError(f"{what} has a launch of its own", hint="-n, -m and -k give its size")
            sizes = n if m is None else m, n, n if k is None else k
            launch, predicted = _of_ladder(what, sizes, on, hipcc, rule, step)
        else:
            launch, predicted = _of_file(what, name, shape, arguments, on, hipcc, rule)
        step("following its addresses and playing it")
        timing = launch.timing(clock)
        ends = []
        if sensitivity:
            step("varying the machine")
            ends = uncertainty.sensitivity(launch.prepared, timing.clock_mhz, ensemble.BUDGET)
    prediction = predicted(timing)
    if as_json:
        found = shown.as_json(prediction)
        if sensitivity:
            found["sensitivity"] = [{"number": name, "low": low, "high": high} for name, low, high in ends]
        click.echo(json.dumps(found))
        return
    click.echo(shown.text(prediction))
    if sensitivity:
        click.echo("\n  machine number, its range, and the time at its ends")
        for name, low, high in ends:
            number = rdna3.NUMBERS[name]
            click.echo(
                f"  {name:<22} {number.low:g} to {number.high:g} {number.unit}: {100 * (low - 1):+.1f} % to "
                f"{100 * (high - 1):+.1f} %  ({number.confidence})"
            )


def _of_ladder(
    what: str, sizes: tuple[int, int, int], on: Card, hipcc: Path | None, rule: str, step: Callable[[str], None]
) -> tuple[TimedLaunch, Callable[[Timing], Prediction]]:
    from hipgemm.build import build
    from hipgemm.kernels import rung
    from hipgemm.predict import Prediction, ready

    row = rung(what)
    row.check_size(*sizes)
    step(f"building {what}")
    code = build(what, arch=on.arch, hipcc=hipcc).code_object()
    return ready(code, row, sizes, on, bank_rule=rule), lambda timing: Prediction(row, *sizes, timing)


def _of_file(
    what: str, name: str | None, shape: tuple[Triple, Triple] | None, arguments: Sequence[str], on: Card,
    hipcc: Path | None, rule: str,
) -> tuple[TimedLaunch, Callable[[Timing], LaunchPrediction]]:  # fmt: skip
    from hipgemm.checking import Given
    from hipgemm.cli import inputs
    from hipgemm.predict import LaunchPrediction, ready_launch

    code = inputs.code_object(what, hipcc, on.arch)
    if shape is None:
        raise IsaError(
            f"how is {' or '.join(code.kernels)} launched?", expected="--grid, --block, and an --arg for each argument"
        )
    launch = ready_launch(code, name, *shape, [Given.read(text) for text in arguments], on, bank_rule=rule)
    return launch, lambda timing: LaunchPrediction(launch.name, *shape, timing)
