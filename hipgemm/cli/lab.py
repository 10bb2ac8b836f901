"""`hipgemm lab [NAME]`: run one of the small experiments and show its table."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from hipgemm.cli import options, say
from hipgemm.cli.answers import answer
from hipgemm.cli.progress import steps
from isa.errors import IsaError

_FORMATS = (".svg", ".html")


def _names(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    from hipgemm.lab import EXPERIMENTS

    return [name for name in EXPERIMENTS if name.startswith(begun)]


def _sizes(_: click.Context, __: click.Parameter, text: str | None) -> tuple[int, ...]:
    words = text.split(",") if text else []
    if not all(word.isdecimal() and int(word) for word in words):
        raise click.BadParameter(f"{text!r} is not a list of positive numbers")
    return tuple(map(int, words))


@click.command("lab")
@click.argument("name", required=False, shell_complete=_names)
@click.option("-n", "sizes", callback=_sizes, metavar="N[,N...]", help="M = N = K; several make a curve.")
@click.option("-o", "out", default=None, type=click.Path(path_type=Path), help="Plot: FILE.svg; whole page: FILE.html.")
@click.option("--quick", is_flag=True, help="A quarter of the size that an experiment has by default.")
@options.device
@options.as_json
def command(
    name: str | None, sizes: tuple[int, ...], out: Path | None, quick: bool, device: str | None, as_json: bool
) -> None:
    """Run the experiment NAME, check every kernel's answers, and show the table; without NAME, list the experiments.

    Times are measured on a card and predicted by the cycle model where there is none. Exit status 1 if an answer is
    wrong.
    """
    from hipgemm import lab

    if name is None:
        if as_json:
            answer("lab", {"experiments": lab.EXPERIMENTS})
            return
        say([*lab.EXPERIMENTS.items()])
        return
    chosen = lab.experiment(name)
    if quick and chosen.size:
        sizes = sizes or (chosen.size // 4,)
    if out is not None and out.suffix not in _FORMATS:
        raise IsaError(f"{out}: unknown format", expected="a name ending in " + " or ".join(_FORMATS))
    from hipgemm.cli import inputs
    from hipgemm.lab.frame import study
    from hipgemm.measure.device import Device
    from hipgemm.report import lab as shown

    if out is not None:
        inputs.writable(out)
    with steps() as step:
        found = study(chosen, Device.open(device), *sizes, step=step)
    if as_json:
        answer("lab", found.to_dict())
    else:
        say(shown.text(found))
    if out is not None:
        inputs.write(out, shown.page(found) if out.suffix == ".html" else shown.drawing(found))
    sys.exit(0 if found.correct else 1)
