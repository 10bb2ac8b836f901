"""Bars of the matrix units: kernels -> their figures beside what they are held to: `python -m tools.bars --python
VENV/bin/python --write`.

Writes all generated tables of docs/matrix.md and its page of record, and one that says where each figure stands
against its bar and its aim. All are the cycle model's, of the kernels that `hipgemm.gemm` takes, tuned shapes included.
VENV is a Python that has Triton. A bar that is missed is marked.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from isa.timing.machine.cards import DEFAULT
from tools import decode, matrix
from tools.shapes import put
from tools.triton_matmul import compare

CARD, OTHER_CARD = DEFAULT, "8060S"
FLOATS = ("f16", "f32"), ("bf16", "f32")
TYPES = (*FLOATS, ("i8", "i32"), ("i4", "i32"))
SQUARES = {1024: (45, 60), 2048: (85, 100), 4096: (108, 116), 8192: (108, 116)}
"""Bar and aim, TFLOP/s."""
INT8 = 108, 116
LAYOUTS = 0.92, 0.97
TRITON_SQUARES, TRITON_MODELS = (1.15, 1.3), (1.3, 1.6)
DECODE = 0.85, 0.92
DECODED = (4096, 4096), (14336, 4096)
PER_GHZ = 18.4, 19.4
Rates = dict[tuple[str, int], list[tuple[float, float, float]]]


@dataclass(frozen=True)
class Bar:
    """figure: what is measured up. bar, aim: at least. found: the least of what was found. text: all of it."""

    figure: str
    bar: float
    aim: float
    found: float
    text: str

    @property
    def row(self) -> str:
        where = "aim" if self.found >= self.aim else "bar" if self.found >= self.bar else "**missed**"
        return f"| {self.figure} | {self.bar:g} | {self.aim:g} | {self.text} | {where} |"


@click.command()
@click.option("--python", required=True, type=click.Path(exists=True, path_type=Path), help="One that has Triton.")
@click.option("--write", is_flag=True, help="Into those pages; else to stdout.")
def main(python: Path, write: bool) -> None:
    """Predict all, and say where each stands."""
    from isa.timing.machine.cards import card

    on = card(CARD)
    rates = {(t[0], n): matrix.rates(t, n, CARD, on.cus, on.clock_mhz) for t in TYPES for n in matrix.SIZES}
    decoded = decode.predicted(CARD)
    kernels = compare.compiled(python)
    models, squares = compare.of_models(kernels), compare.of_squares(kernels)
    bars = [*of_rates(rates), of_decoding(decoded), *of_triton(squares, models), of_other_card()]
    texts = {
        "bars": ["| figure | bar | aim | predicted | met |", "|" + "---|" * 5, *(b.row for b in bars)],
        "squares": matrix.table(CARD, on.cus, on.clock_mhz),
        "decode": decode.table(decoded),
        "triton": compare.table(models),
        "triton-squares": compare.squares(squares),
    }
    for name, lines in texts.items():
        page = matrix.PAGE if name == "squares" else decode.PAGE
        if write:
            page.write_text(put(page, page.read_text(encoding="utf-8"), name, "\n".join(lines)), encoding="utf-8")
        if not write or name == "bars":
            click.echo("\n".join(lines))


def of_rates(rates: Rates) -> list[Bar]:
    """Squares: the slowest layout of the floats, and of int8; the layouts against each other."""
    found = []
    for n, (bar, aim) in SQUARES.items():
        each = [rate for t in FLOATS for rate in rates[t[0], n]]
        found.append(_of_layouts(f"f16 and bf16 at {n}, TFLOP/s, each layout", bar, aim, each))
    found.append(_of_layouts("int8 at 4096, TOP/s, each layout", *INT8, rates["i8", 4096]))
    ratios = {key: matrix.worst_to_best(each) for key, each in rates.items()}
    key = min(ratios, key=lambda key: ratios[key])
    text = f"{ratios[key]:.2f} ({key[0]} at {key[1]}) to {max(ratios.values()):.2f}"
    found.append(Bar("slowest layout / fastest, 1024 to 8192, f16, bf16, int8, int4", *LAYOUTS, ratios[key], text))
    return found


def _of_layouts(figure: str, bar: float, aim: float, each: list[tuple[float, float, float]]) -> Bar:
    worst, best = min(each), max(each)
    said = (f"{middle:.1f} ({low:.1f} to {high:.1f})" for middle, low, high in (worst, best))
    return Bar(figure, bar, aim, worst[0], " to ".join(said))


def of_decoding(rows: list[decode.DecodeRow]) -> Bar:
    """The least share of the bandwidth."""
    some = [row for row in rows if row.sizes[1:] in DECODED and row.from_memory]
    worst = min(some, key=lambda row: row.share)
    shares = f"{100 * worst.share:.1f} % ({worst.weights}, {' x '.join(map(str, worst.sizes))}) to "
    most = f"{100 * max(row.share for row in some):.0f} %"
    figure = f"M = 1 and 16, of the bandwidth that can be read, {len(some)} products"
    return Bar(figure, *DECODE, worst.share, shares + most)


def of_triton(squares: list[compare.Pair], models: list[compare.Pair]) -> list[Bar]:
    """Geometric means, which count only where no shape is slower."""
    found = []
    for what, pairs, bar in (
        (f"{len(squares)} squares", squares, TRITON_SQUARES),
        (f"{len(models)} shapes of models", models, TRITON_MODELS),
    ):
        mean, least = compare.mean(pairs), min(p.ratio for p in pairs)
        text = f"{mean:.2f}, the least {least:.2f}"
        found.append(Bar(f"times as fast as Triton, {what}", *bar, mean if least >= 1 else 0, text))
    return found


def of_other_card() -> Bar:
    """f16 at 4096."""
    from isa.timing.machine.cards import card

    on = card(OTHER_CARD)
    each = matrix.rates(("f16", "f32"), 4096, OTHER_CARD, on.cus, on.clock_mhz)
    ghz = on.clock_mhz / 1e3
    per_ghz = [(middle / ghz, low / ghz, high / ghz) for middle, low, high in each]
    return _of_layouts(f"f16 at 4096 on a {OTHER_CARD}, TFLOP/s per GHz, each layout", *PER_GHZ, per_ghz)


if __name__ == "__main__":
    main()
