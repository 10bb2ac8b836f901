"""`python tools/bench_sim.py`: how fast the simulated card is on this machine."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout, installed or not

from hipgemm.cli import Reporting, options
from hipgemm.cli.progress import steps
from tools.bench_simulator import Figure, figures, machine


@click.command("bench-sim", cls=Reporting, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("parts", nargs=-1)
@click.option("--quick", is_flag=True, help="Sizes up to 1024, to which most bars do not apply.")
@options.cpu
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines instead of the table.")
def command(parts: tuple[str, ...], quick: bool, cpu: str, as_json: bool) -> None:
    """Measure the simulator itself: PARTS of launches (against numpy.matmul on the same cores), check (under
    the sanitizer, against plain launches), translation, import,
    memory, cores (one against two), command (`hipgemm run` with cold caches) and growth (with n). Default: all.

    Exit status 1 if a figure misses its bar. On a busy machine times are longer; ratios hardly change.
    """
    missed = False
    with steps() as step:
        step("measuring")
        for number, figure in enumerate(figures(parts, quick=quick, cpu=cpu)):
            if not number and not as_json:
                click.echo(f"{machine(cpu)}\n")
            click.echo(_json(figure) if as_json else _row(figure))
            missed |= figure.met is False
    sys.exit(1 if missed else 0)


def _json(figure: Figure) -> str:
    return json.dumps({**dataclasses.asdict(figure), "met": figure.met, "aim_met": figure.aim_met})


def _row(figure: Figure) -> str:
    """Name, value, unit, bar and aim, whether they are met, detail."""
    bound = ""
    if figure.bar is not None:
        bound = f"{'>=' if figure.more_is_better else '<='} {figure.bar[0]:g}, {figure.bar[1]:g}"
    state = "" if figure.met is None else "MISSED" if not figure.met else "aim" if figure.aim_met else "ok"
    value = f"{figure.value:.3g}" if figure.value < 1000 else f"{figure.value:.0f}"
    return f"{figure.name:45}{value:>7} {figure.unit:18}{bound:14}{state:8}{figure.detail}".rstrip()


if __name__ == "__main__":
    command()
