"""`hipgemm calibrate`: the machine numbers of a card, found by small kernels, in a file that `hipgemm time` takes."""

from __future__ import annotations

from pathlib import Path

import click

from hipgemm.cli import options, say
from hipgemm.cli.progress import steps
from isa.errors import IsaError


@click.command("calibrate")
@options.device
@click.option("-o", "out", default=None, type=click.Path(path_type=Path), help="The card file, for time --card-file.")
@click.option("--page", default=None, type=click.Path(path_type=Path), help="FILE.html: model against card.")
@click.option("--number", "only", multiple=True, help="Only these machine numbers.")
def command(device: str | None, out: Path | None, page: Path | None, only: tuple[str, ...]) -> None:
    """Find the cycle model's uncertain numbers on a card, with small kernels that each depend on one.

    On the simulated card, whose times are the model's, it finds the model's own numbers.
    """
    from hipgemm.cli import inputs
    from hipgemm.lab.bench import Bench
    from hipgemm.measure.card import calibration
    from hipgemm.measure.device import Device
    from hipgemm.report.pages import render
    from isa.timing.machine import cards, rdna3

    probes = [p for p in calibration.PROBES if not only or p.number in only]
    if unknown := sorted(set(only) - {p.number for p in probes}):
        raise IsaError(f"no kernel measures {unknown[0]}", expected=", ".join(p.number for p in calibration.PROBES))
    for file in filter(None, (out, page)):
        inputs.writable(file)
    with steps() as step:
        opened = Device.open(device)
        bench = Bench(opened, step)
        found = calibration.calibrate(cards.card(opened.card), calibration.OnDevice(bench), probes, step)
    name = f"{opened.card}, {'simulated' if opened.simulated else 'measured'}"
    say(f"{name}\n{calibration.text(found)}")
    if out is not None:
        calibration.write(out, cards.card(opened.card), name, found)
    if page is not None:
        units = {e.number: rdna3.NUMBERS[e.number].unit for e in found}
        title = f"Machine numbers of a {name}"
        inputs.write(page, render("calibration.html.j2", title=title, found=found, units=units))
