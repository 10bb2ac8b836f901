"""Figures of the kernels on the matrix units, as docs/matrix.md shows them: `python tools/matrix.py --write`.

Each is the cycle model's, of the kernel that `hipgemm.gemm` takes for this size, types and layout. --tuned instead:
what each entry of the shipped table gains, and the sums that docs/tuning.md shows.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import click

from isa.timing.machine.cards import DEFAULT

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout, installed or not

PAGE = Path(__file__).resolve().parents[1] / "docs" / "matrix.md"
TUNED_PAGE = PAGE.with_name("tuning.md")
_GAIN = 1.1
"""From which on a tuned shape is counted."""
SIZES = 1024, 2048, 4096, 8192
LAYOUTS = {"nn": (False, False), "nt": (False, True), "tn": (True, False), "tt": (True, True)}
TYPES = ("f16", "f32"), ("i8", "i32"), ("i4", "i32")


@click.command()
@click.option("--write", is_flag=True, help="Into docs/matrix.md; else to stdout.")
@click.option("--tuned", "gains", is_flag=True, help="The shipped table's gains; their sums in docs/tuning.md.")
@click.option("--card", "name", default=DEFAULT)
def main(write: bool, gains: bool, name: str) -> None:
    """Predict squares of all layouts."""
    from isa.timing.machine.cards import card
    from tools.shapes import put

    on = card(name)
    page, place = (TUNED_PAGE, "tuned") if gains else (PAGE, "squares")
    found = tuned() if gains else []
    text = "\n".join(gains_table(found) if gains else table(name, on.cus, on.clock_mhz))
    for gain in found:
        click.echo(gain)
    if write:
        page.write_text(put(page, page.read_text(encoding="utf-8"), place, text), encoding="utf-8")
    else:
        click.echo(text)


class Gain(NamedTuple):
    """A tuned entry against the rule's kernel, by the model."""

    types: str
    shape: str
    kernel: str
    ratio: float
    """How many times as fast as the rule's."""

    def __str__(self) -> str:
        return f"{self.types} {self.shape} {self.kernel}: {self.ratio:.2f} times as fast"


def tuned() -> list[Gain]:
    """Entries of the shipped table."""
    from hipgemm.launch.elements import Types
    from hipgemm.product.choice import choose
    from hipgemm.tuning import table as tables
    from hipgemm.tuning import trial
    from isa.timing.machine.cards import card

    found = []
    for entry in tables.load(Path(tables.__file__).with_name("tables") / "7900-xtx-matrix.json").entries:
        s, best, on = entry.shape, entry.kernels[0].kernel, card(entry.on)
        rule = choose(s.m, s.n, on.cus, Types.named(s.types), (s.trans[0] == "t", s.trans[1] == "t"))
        ours, others = (trial.launch(kernel, s, trial.TrialTarget(entry.on, on.clock_mhz)) for kernel in (best, rule))
        ratio = others.median().time_s / ours.median().time_s
        found.append(Gain(s.types, f"{s.m} x {s.n} x {s.k} ({s.trans})", str(best), ratio))
    return found


def gains_table(found: list[Gain]) -> list[str]:
    """Markdown: of each types, how many entries gain _GAIN over the rule's kernels, and the most that one does."""
    rows = [f"| types | entries | at least {_GAIN} times as fast | most |", "|---|---|---|---|"]
    for types in dict.fromkeys(gain.types for gain in found):
        of_types = [gain for gain in found if gain.types == types]
        most = max(of_types, key=lambda gain: gain.ratio)
        faster = sum(gain.ratio >= _GAIN for gain in of_types)
        said = f"{most.ratio:.2f}, {most.shape}" if faster else ""
        rows.append(f"| {types} | {len(of_types)} | {faster} | {said} |")
    return rows


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
    from hipgemm.launch.elements import PLAIN, Types
    from hipgemm.product.choice import kernel_for
    from hipgemm.tuning import trial
    from hipgemm.tuning.shapes import Shape

    found = []
    for flips in LAYOUTS.values():
        kernel = kernel_for((n, n, n), cus, Types(types[0], types[1]), flips, PLAIN, card)
        t = trial.launch(kernel, Shape(n, n, n), trial.TrialTarget(card, clock_mhz)).timing()
        middle, low, high = (2e-12 * n**3 / s for s in (t.time_s, t.high_s, t.low_s))
        found.append((middle, low, high))
    return found


def worst_to_best(found: list[tuple[float, float, float]]) -> float:
    """Of the layouts' medians."""
    return min(found)[0] / max(found)[0]


if __name__ == "__main__":
    main()
