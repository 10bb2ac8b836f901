"""Figures of the kernels on the matrix units, as docs/matrix.md shows them: `python tools/matrix.py --write`.

Each is the cycle model's, of the kernel that `hipgemm.gemm` takes for this size, types and layout.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout, installed or not

PAGE = Path(__file__).resolve().parents[1] / "docs" / "matrix.md"
SIZES = 1024, 2048, 4096, 8192
LAYOUTS = {"nn": (False, False), "nt": (False, True), "tn": (True, False), "tt": (True, True)}
TYPES = ("f16", "f32"), ("i8", "i32"), ("i4", "i32")


@click.command()
@click.option("--write", is_flag=True, help="Into docs/matrix.md; else to stdout.")
@click.option("--card", "name", default="7900 XTX")
def main(write: bool, name: str) -> None:
    """Predict squares of all layouts."""
    from isa.timing.cards import card
    from tools.shapes import put

    on = card(name)
    text = "\n".join(table(name, on.cus, on.clock_mhz))
    if write:
        PAGE.write_text(put(PAGE, PAGE.read_text(encoding="utf-8"), "squares", text), encoding="utf-8")
    else:
        click.echo(text)


def table(card: str, cus: int, clock_mhz: float) -> list[str]:
    """Markdown: TFLOP/s of each layout, with the band; the worst of them against the best."""
    rows = ["| types | M = N = K | " + " | ".join(LAYOUTS) + " | worst / best |", "|---|---|" + "---|" * 5]
    for types in TYPES:
        for n in SIZES:
            found = rates(types, n, card, cus, clock_mhz)
            said = [f"{middle:.1f} ({low:.1f} to {high:.1f})" for middle, low, high in found]
            rows.append(f"| {' to '.join(types)} | {n} | {' | '.join(said)} | {worst_to_best(found):.2f} |")
    return rows


def rates(types: tuple[str, str], n: int, card: str, cus: int, clock_mhz: float) -> list[tuple[float, float, float]]:
    """TFLOP/s of each layout: the median, and the band's ends."""
    from hipgemm.elements import PLAIN, Types
    from hipgemm.matrix_multiply import kernel_for
    from hipgemm.tuning import trial
    from hipgemm.tuning.shapes import Shape

    found = []
    for flips in LAYOUTS.values():
        kernel = kernel_for((n, n, n), cus, Types(*types), flips, PLAIN, card)
        t = trial.launch(kernel, Shape(n, n, n), trial.TrialTarget(card, clock_mhz)).timing()
        middle, low, high = (2e-12 * n**3 / s for s in (t.time_s, t.high_s, t.low_s))
        found.append((middle, low, high))
    return found


def worst_to_best(found: list[tuple[float, float, float]]) -> float:
    """Of the layouts' medians."""
    return min(found)[0] / max(found)[0]


if __name__ == "__main__":
    main()
