"""`hipgemm time KERNEL|FILE`: how long a kernel would take on a card, and where its cycles go. Nothing is launched."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hipgemm.cli import options, say
from hipgemm.cli.answers import answer
from hipgemm.cli.progress import steps
from hipgemm.launch.problem import Problem
from hipgemm.launch.requests import LaunchRequest
from isa.errors import IsaError, meant

if TYPE_CHECKING:
    from isa.timing.machine.cards import Card


def _numbers(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> dict[str, float]:
    found = {}
    for word in given:
        name, _, value = word.partition("=")
        try:
            found[name] = float(value)
        except ValueError:
            raise click.BadParameter(f"{word!r} is not NAME=VALUE with a number") from None
    return found


def _overhead(context: click.Context, option: click.Parameter, given: str) -> float:
    from isa.timing.model.as_measured import WAITED_US

    known = {name.lower(): us for name, us in WAITED_US.items() if name}
    return known[given.lower()] if given.lower() in known else float(click.FloatRange(0)(given, option, context))


@click.command("time", cls=options.KernelCommand)
@click.argument("what", metavar="KERNEL|FILE", shell_complete=options.kernel_names)
@options.problem()
@options.launch
@options.card_of_code()
@options.clock
@click.option("--load", default=None, help="As events measure it: the clock under a light or a heavy load.")
@click.option("--above-boost", is_flag=True, help="With --load: a light one lets the clock rise above boost.")
@click.option(
    "--overhead", default="0", show_default=True, metavar="US|linux|wsl2", callback=_overhead,
    help="As events measure it: with the microseconds of the launch itself, or those of one that is waited for there.",
)  # fmt: skip
@click.option(
    "--card-file", default=None, type=click.Path(path_type=Path),
    help="Machine numbers of a card, as hipgemm calibrate found them.",
)  # fmt: skip
@click.option(
    "--number", "changed", multiple=True, metavar="NAME=VALUE", callback=_numbers,
    help="A different value for a machine number of isa/timing/machine/rdna3.py.",
)  # fmt: skip
@click.option("--warm", is_flag=True, help="The launch was made before, and L3 contains what it left.")
@options.run
@options.follow
@click.option(
    "--bank-rule", default=None, help="The bank rule of isa/timing/machine/bank_rules.py that operand reads follow."
)
@click.option("--sensitivity", is_flag=True, help="Show how much each uncertain machine number matters.")
@options.code
@options.as_json
def command(
    what: str, problem: Problem, request: LaunchRequest, on: Card | None, clock: float | None,
    card_file: Path | None, load: str | None, above_boost: bool, overhead: float, warm: bool, run: bool | None,
    budget: int | None, bank_rule: str | None, changed: dict[str, float], sensitivity: bool,
    code: options.CodeOptions, as_json: bool,
) -> None:  # fmt: skip
    """Predict the time of a kernel by the cycle model: a median with its band, and the causes.

    A kernel of the ladder (`hipgemm list`) gets an M x N x K problem. HIP source, assembly (- for stdin) or a code
    object needs --grid, --block, and an --arg for each argument of its kernel, or a launch file beside it. All are
    built for the card's target.

    The model simulates the busiest CU or WGP of the card cycle by cycle. How far to trust it: docs/timing.md.
    """
    from hipgemm.judge.predict import predicted
    from hipgemm.report import timing as shown
    from isa.timing.machine import bank_rules, cards, rdna3
    from isa.timing.model import as_measured, ensemble, uncertainty

    if load is not None:
        as_measured.load(load)
    elif above_boost:
        raise IsaError("--above-boost without a load", expected="--load light or --load heavy beside it")
    rule = bank_rule or bank_rules.DEFAULT
    if rule not in bank_rules.RULES:
        raise IsaError(
            f"no bank rule {rule!r}",
            expected="one of " + ", ".join(bank_rules.RULES),
            hint=meant(rule, bank_rules.RULES),
        )
    found = None
    if card_file:
        from hipgemm.measure.card import calibration

        found = calibration.read(card_file)
    kernel = code.kernel(what)
    on = code.card_of(kernel, on)
    if found and not cards.same(found.card, on.name):
        raise IsaError(f"{card_file} is of another card", expected=on.name, got=found.card, hint="name it with --card")
    with steps() as step:
        step(f"building {what}")
        made, launch = code.prepared(kernel, request, problem, on, runs=False)
        step("following its addresses and playing it")
        ready, prediction = predicted(
            made, launch, on, clock, bank_rule=rule, run=run, warm=warm, calibrated=found, load=load,
            overhead_us=overhead, above_boost=above_boost, numbers=changed, budget=budget, advise=True,
        )  # fmt: skip
        ends = []
        if sensitivity:
            step("varying the machine")
            ends = uncertainty.sensitivity(ready.prepared, prediction.timing.clock_mhz, ensemble.BUDGET)
    if as_json:
        found_out = shown.as_json(prediction)
        if sensitivity:
            found_out["sensitivity"] = [{"number": name, "low": low, "high": high} for name, low, high in ends]
        answer("time", found_out)
        return
    say(shown.text(prediction))
    if sensitivity:
        say("\n  machine number, its range, and the time at its ends")
        for name, low, high in ends:
            number = rdna3.NUMBERS[name]
            say(
                f"  {name:<22} {number.low:g} to {number.high:g} {number.unit}: {100 * (low - 1):+.1f} % to "
                f"{100 * (high - 1):+.1f} %  ({number.confidence})"
            )
