"""Figures of the shipped table, as docs/tuning.md shows them: `python tools/shapes.py --write`.

Each table stands between two comments in the page, `<!-- NAME -->` and `<!-- end -->`, and takes the last one's place.
What was predicted before is kept on disk: a run that was stopped goes on from there.
--check runs every kernel at its shape on the simulated card with random data against float64: minutes.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout, installed or not

from hipgemm.cli.progress import steps
from isa.errors import IsaError
from isa.timing.machine.cards import DEFAULT

if TYPE_CHECKING:
    from tools.figures import Figure

PAGE = Path(__file__).resolve().parents[1] / "docs" / "tuning.md"


@click.command()
@click.option("--write", is_flag=True, help="Into docs/tuning.md; else to stdout.")
@click.option("--check", is_flag=True, help="Run them on the simulated card, too.")
@click.option("--jobs", default=os.cpu_count() or 1, type=click.IntRange(1), help="Processes that predict.")
@click.option("--list", "names", multiple=True, default=("squares", "models"), help="Lists of hipgemm/tuning/lists.")
def main(write: bool, check: bool, jobs: int, names: tuple[str, ...]) -> None:
    """Predict, and with --check run, the kernels that sgemm takes for the shapes of each list."""
    from isa.timing.machine.cards import card
    from tools.figures import figures, listed

    page = PAGE.read_text(encoding="utf-8")
    on = card(DEFAULT)
    for name in names:
        with steps() as step:
            found = figures(listed(name), on, baseline=name == "models", step=step, jobs=jobs)
        text = _models(found) if name == "models" else _squares(found)
        if write:
            page = put(PAGE, page, name, text)
        else:
            click.echo(text + "\n")
        if check:
            _check(found)
    if write:
        PAGE.write_text(page, encoding="utf-8")


def put(file: Path, page: str, name: str, text: str) -> str:
    """The page with this text between its comments of that name."""
    marked = re.compile(rf"(<!-- {re.escape(name)} -->\n).*?(<!-- end -->)", re.S)
    if not marked.search(page):
        raise IsaError(f"{file} has no place for {name}", expected=f"<!-- {name} --> and <!-- end -->")
    return marked.sub(lambda m: f"{m[1]}{text}\n{m[2]}", page)


def _band(f: Figure) -> str:
    t = f.timing
    return f"{1e6 * t.time_s:.1f} | {1e6 * t.low_s:.1f} to {1e6 * t.high_s:.1f}"


def _squares(found: list[Figure]) -> str:
    rows = ["| M = N = K | kernel | us, predicted | band | TFLOP/s | share of peak |", "|---|---|---|---|---|---|"]
    rows += [
        f"| {f.shape.m} | `{f.kernel}` | {_band(f)} | {f.tflops:.1f} | {100 * f.peak_share:.1f} % |" for f in found
    ]
    return "\n".join(rows)


def _models(found: list[Figure]) -> str:
    from tools.figures import geometric_mean

    rows = ["| product | M x N x K | us, predicted | kernel 8, padded, us | times faster |", "|---|---|---|---|---|"]
    for f in found:
        s = f.shape
        assert f.baseline_s is not None
        rows.append(
            f"| {s.label} | {s.m} x {s.n} x {s.k} | {1e6 * f.timing.time_s:.1f} | {1e6 * f.baseline_s:.1f} | "
            f"{f.speed_up:.2f} |"
        )
    least = min(f.speed_up for f in found)
    return "\n".join(rows) + f"\n\nGeometric mean {geometric_mean(found):.2f}, least {least:.2f}."


def _check(found: list[Figure]) -> None:
    """Each kernel at its shape on the simulated card, a line each. Exit status 1 if one is wrong."""
    from hipgemm.kernels.ladder import rung
    from hipgemm.launch.problem import Problem
    from hipgemm.measure.measure import measure

    wrong = 0
    for f in found:
        s = f.shape
        with steps() as step:
            result = measure(rung(f.kernel), Problem(s.m, s.n, s.k), device="simulated", step=step).result
        wrong += not result.correct
        said = f"largest error {result.max_abs_error:.3g}, bound {result.tolerance:.3g}" if result.correct else "WRONG"
        click.echo(f"{s.m} x {s.n} x {s.k}  {f.kernel}  {said}")
    if wrong:
        sys.exit(1)


if __name__ == "__main__":
    main()
