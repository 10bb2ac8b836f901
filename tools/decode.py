"""Figures of products with few rows, as docs/record/matrix-figures.md shows them: `python tools/decode.py --write`.

Each is the cycle model's, of the kernel that `hipgemm.gemm` takes. The bandwidth is that of A, the weights with their
scales, and C, over the time; its share, of what the card can read: the model's VRAM read share of the peak. A time in
which less comes from memory than the weights are would be a fault of the model: such a row is marked.
"""

from __future__ import annotations

import dataclasses
import sys
from dataclasses import dataclass
from pathlib import Path

import click

from isa.timing.machine.cards import DEFAULT

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout, installed or not

PAGE = Path(__file__).resolve().parents[1] / "docs" / "record" / "matrix-figures.md"
SHAPES = (4096, 4096), (14336, 4096), (4096, 14336)
"""N x K of the weights."""
WEIGHTS = "", "q8", "q8_0", "q4_0", "awq"
ROWS = 1, 16
_FACTOR, _RESULT = 2, 4
"""Bytes of an element of A and of C: f16, f32."""
_LEAST = 0.98


@click.command()
@click.option("--write", is_flag=True, help="Into docs/record/matrix-figures.md; else to stdout.")
@click.option("--card", "name", default=DEFAULT)
def main(write: bool, name: str) -> None:
    """Predict decoding shapes with weights of all formats."""
    from tools.shapes import put

    text = "\n".join(table(predicted(name)))
    if write:
        PAGE.write_text(put(PAGE, PAGE.read_text(encoding="utf-8"), "decode", text), encoding="utf-8")
    else:
        click.echo(text)


@dataclass(frozen=True)
class DecodeRow:
    """One product. rate: bytes a second. share: of what the card can read. from_memory: whether all weights come from
    there."""

    weights: str
    sizes: tuple[int, int, int]
    kernel: str
    times_s: tuple[float, float, float]
    rate: float
    share: float
    from_memory: bool


def table(found: list[DecodeRow]) -> list[str]:
    """Markdown: for each weights and N x K the time and the share of what the card can read, a column for each M."""
    rows = ["| weights | N x K | " + " | ".join(f"M = {m}" for m in ROWS) + " |", "|---|---|" + "---|" * len(ROWS)]
    cells: dict[tuple[str, int, int], list[str]] = {}
    for row in found:
        (_, n, k), (middle, low, high) = row.sizes, (1e6 * s for s in row.times_s)
        mark = "" if row.from_memory else " (not all weights come from memory)"
        cell = f"{middle:.1f} ({low:.1f} to {high:.1f}), {100 * row.share:.0f} %{mark}"
        cells.setdefault((row.weights, n, k), []).append(cell)
    return [*rows, *(f"| {w} | {n} x {k} | {' | '.join(c)} |" for (w, n, k), c in cells.items())]


def predicted(name: str) -> list[DecodeRow]:
    """All of them on a card."""
    from hipgemm.kernels.ladder import rung
    from hipgemm.launch.elements import Types
    from hipgemm.launch.gemm import gemm
    from hipgemm.launch.problem import Problem
    from hipgemm.product.choice import of_few_rows
    from hipgemm.tuning import trial
    from hipgemm.tuning.shapes import Shape
    from isa.timing.machine import rdna3
    from isa.timing.machine.cards import card

    on = card(name)
    most = on.vram_bandwidth * rdna3.values()["vram_read_share"]
    rows = []
    for weights in WEIGHTS:
        for (n, k), m in ((shape, m) for shape in SHAPES for m in ROWS):
            kernel = of_few_rows(m, n, k, on.cus, Types("f16", "f32", weights))
            assert kernel
            t = trial.launch(kernel, Shape(m, n, k), trial.TrialTarget(name, on.clock_mhz)).timing()
            problem = gemm(rung(kernel), Problem(m, n, k), on.cus).problem
            assert problem
            stored = dataclasses.replace(problem, beta=0).bytes
            memory = rdna3.values()["line_bytes"] * float(t.typical.lines[-1]) * t.workgroups / t.unit_workgroups
            rate, times = stored / t.time_s, (t.time_s, t.low_s, t.high_s)
            from_memory = memory >= _LEAST * (stored - _FACTOR * m * k - _RESULT * m * n)
            rows.append(DecodeRow(weights or "f16", (m, n, k), kernel, times, rate, rate / most, from_memory))
    return rows


if __name__ == "__main__":
    main()
