"""Every published figure against the cycle model, in one run under one parameter set, as docs/timing.md shows them.

    python tools/held_out.py --study fp32_sgemm_amd --rocm-sgemm rocm_sgemm --write

Each table stands between two comments in the page, `<!-- NAME -->` and `<!-- end -->`, and takes the last one's place.
`tools/published.py` says where the figures and the kernels come from. A figure is in sample where a number of the model
was fitted to it or with it in sight: the study's, and the rates that lab and model take from one source; all others are
out of sample.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout, installed or not

from hipgemm.cli.progress import steps
from tools.published import Checkouts, Figure, figures
from tools.shapes import put

PAGE = Path(__file__).resolve().parents[1] / "docs" / "timing.md"
IN_SAMPLE = ("study",)


@dataclass(frozen=True)
class Judged:
    """A figure and what is predicted of it, in ms. load: see `tools.published`; valu: utilisation."""

    belongs: str
    name: str
    card: str
    load: str
    size: int
    measured: float
    predicted: float
    low: float
    high: float
    valu: float

    @property
    def difference(self) -> float:
        """Of the prediction from what was measured, as a part of that."""
        return self.predicted / self.measured - 1

    @property
    def inside(self) -> bool:
        return self.low <= self.measured <= self.high


def judged(figure: Figure) -> Judged:
    """What the model says of a figure."""
    t = figure.launch().timing()
    return Judged(
        figure.belongs, figure.name, figure.card, figure.load, figure.size, figure.measured_ms, 1e3 * t.time_s,
        1e3 * t.low_s, 1e3 * t.high_s, t.valu_utilisation,
    )  # fmt: skip


@click.command(help=__doc__)
@click.option("--study", type=click.Path(path_type=Path, exists=True), help="A checkout of seb-v/fp32_sgemm_amd.")
@click.option("--rocm-sgemm", type=click.Path(path_type=Path, exists=True), help="A checkout of adelj88/rocm_sgemm.")
@click.option("--clang", default="clang-19", show_default=True, help="The compiler of their HIP source.")
@click.option("--kept", type=click.Path(path_type=Path), help="A file of predictions, to go on from and to add to.")
@click.option("--write", is_flag=True, help="Into docs/timing.md; else to stdout.")
def main(study: Path | None, rocm_sgemm: Path | None, clang: str, kept: Path | None, write: bool) -> None:
    """See the module's docstring."""
    found = [Judged(**json.loads(line)) for line in kept.read_text().splitlines()] if kept and kept.exists() else []
    known = {(j.belongs, j.name) for j in found}
    with steps() as step:
        for figure in figures(Checkouts(study, rocm_sgemm, clang)):
            if (figure.belongs, figure.name) in known:
                continue
            step(f"{figure.belongs}: {figure.name}")
            found.append(judged(figure))
            if kept:
                with kept.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(found[-1])) + "\n")
    tables = {
        "where it stands": _standing(found),
        "published": _each([j for j in found if "rocm_sgemm" not in j.belongs]),
        "rocm_sgemm": _each([j for j in found if "rocm_sgemm" in j.belongs]),
    }
    page = PAGE.read_text(encoding="utf-8")
    for name, text in tables.items():
        if write:
            page = put(PAGE, page, name, text)
        else:
            click.echo(text + "\n")
    if write:
        PAGE.write_text(page, encoding="utf-8")


def _standing(found: Sequence[Judged]) -> str:
    """A row a set: how far off, how many inside of their bands, whether kernels come in the right order."""
    out = ["| figures | | mean difference | largest | mean of both signs | inside the band | rank correlation |",
           "|---|---|---|---|---|---|---|"]  # fmt: skip
    for name in dict.fromkeys(j.belongs for j in found):
        rows = [j for j in found if j.belongs == name]
        sizes = {j.size for j in rows}
        order = [rank_correlation([j for j in rows if j.size == size]) for size in sorted(sizes)]
        differences = [100 * j.difference for j in rows]
        worst = max(differences, key=abs)
        where = "in sample" if name in IN_SAMPLE else "out of sample"
        out.append(
            f"| {name} | {where} | {statistics.mean(map(abs, differences)):.1f} % | {worst:+.1f} % | "
            f"{statistics.mean(differences):+.1f} % | {sum(j.inside for j in rows)} of {len(rows)} | "
            f"{', '.join(f'{r:.2f}' for r in order)} |"
        )
    return "\n".join(out)


def _each(found: Sequence[Judged]) -> str:
    out = ["| figures | | predicted ms | band | measured ms | difference | VALU |", "|---|---|---|---|---|---|---|"]
    for j in found:
        out.append(
            f"| {j.belongs} | {j.name} | {j.predicted:.4g} | {j.low:.4g} to {j.high:.4g} | {j.measured:g} | "
            f"{100 * j.difference:+.1f} %{'' if j.inside else ', outside'} | {100 * j.valu:.0f} % |"
        )
    return "\n".join(out)


def rank_correlation(found: Sequence[Judged]) -> float:
    """Spearman's, of predicted and measured times."""
    predicted = _ranks([j.predicted for j in found])
    measured = _ranks([j.measured for j in found])
    return statistics.correlation(predicted, measured) if len(found) > 1 else 1.0


def _ranks(values: Sequence[float]) -> list[float]:
    return [float(sorted(values).index(v)) for v in values]


if __name__ == "__main__":
    main()
