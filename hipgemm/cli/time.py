"""`hipgemm time KERNEL`: how long a kernel would take on a card, and where its cycles go. Nothing is launched."""

from __future__ import annotations

import json
from pathlib import Path

import click

from hipgemm.cli.options import size_options
from hipgemm.cli.progress import steps


@click.command("time")
@click.argument("kernel")
@size_options
@click.option("--card", "card_name", default="7900 XTX", show_default=True, help="A card of isa/timing/cards.py.")
@click.option("--clock", default=None, type=click.FloatRange(1), help="Shader clock in MHz.  [default: the card's]")
@click.option("--bank-rule", default=None, help="What operand reads cost: a rule of isa/timing/bank_rules.py.")
@click.option("--sensitivity", is_flag=True, help="How much each uncertain machine number matters.")
@click.option("--hipcc", default=None, type=click.Path(path_type=Path), help="The hipcc that builds KERNEL.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    kernel: str,
    n: int,
    m: int | None,
    k: int | None,
    card_name: str,
    clock: float | None,
    bank_rule: str | None,
    sensitivity: bool,
    hipcc: Path | None,
    as_json: bool,
) -> None:
    """Predict the time of KERNEL (kernel1 to kernel8) by the cycle model: a median with its band, and the causes.

    The model plays the busiest CU or WGP of the card cycle by cycle; docs/timing.md says how far to trust it.
    """
    from hipgemm.build import build
    from hipgemm.kernels import rung
    from hipgemm.predict import Prediction, ready
    from hipgemm.report import timing as shown
    from isa.errors import IsaError
    from isa.timing import bank_rules, cards, model, rdna3

    rule = bank_rule or bank_rules.DEFAULT
    if rule not in bank_rules.RULES:
        raise IsaError(f"no bank rule {rule!r}", expected="one of " + ", ".join(bank_rules.RULES), got=rule)
    on = cards.card(card_name)
    m, k = n if m is None else m, n if k is None else k
    rung(kernel).check_size(m, n, k)
    with steps() as step:
        step(f"building {kernel}")
        built = build(kernel, arch=on.arch, hipcc=hipcc)
        step("following its addresses")
        prepared = ready(built, m, n, k, on, bank_rule=rule)
        step("playing it")
        timing = model.predict(prepared, clock)
        ends = []
        if sensitivity:
            step("varying the machine")
            ends = model.sensitivity(prepared, timing.clock_mhz)
    prediction = Prediction(rung(kernel), m, n, k, timing)
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
