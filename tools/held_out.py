"""Held-out figures: every published figure against the cycle model, in one run under one parameter set: docs/timing.md
and its record.

    python tools/held_out.py --study fp32_sgemm_amd --rocm-sgemm rocm_sgemm --queued rocm_sgemm_then --llvm FILE \
        --wmma rocm_wmma_gemm --newer FILE --hipblaslt FOLDER --write

Each table stands between two comments in the page, `<!-- NAME -->` and `<!-- end -->`, and takes the last one's place.
`tools/published.py` says where the figures and the kernels come from. A set of figures is "fitted" where a number of
the model, or of what events show, was fitted to it or chosen by it, "seen" where it was looked at before a change, and
"held out" else (`how`): one word for both tables.

The part of a band of events that nothing explains (`isa.timing.model.as_measured.UNEXPLAINED`) is made by split
conformal prediction (Vovk; Papadopoulos) over the sets of figures: the score of a figure is the part with which it
would just lie inside, and of n figures the ceil(0.8 (n + 1))th smallest score holds a further one of their kind with 80
%. What was fitted has no say. Figures of one set are alike (a machine, a method of measurement), so each set is judged
by what the others of its kind give, and the largest of these is the model's; where there are none, by all others. Of
one kind are sets of one family of targets, of cards or of processors' graphics, of kernels with matrix products or
without. That their figures are alike is the assumption; how many of each lie inside is the test of it.
"""

from __future__ import annotations

import itertools
import json
import math
import statistics
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout, installed or not

from hipgemm.cli.progress import steps
from isa.timing.machine.cards import Card, card
from isa.timing.model import as_measured
from tools.published import LAYOUTS, LIGHT, TORCH_HOST_MS, Checkouts, PublishedFigure, figures
from tools.tables import put

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE, FIGURES = DOCS / "timing.md", DOCS / "record" / "timing-figures.md"
STUDY = "study"
AVERAGES = "rocm_sgemm, averages"
FITTED_HALF = f"{AVERAGES}: the half that was fitted"
LINUX = "rocm_wmma_gemm, 7900 GRE"
"""What the overhead of a launch on Linux is fitted on, and what the power of products with 16-bit sums was seen by."""
HOW = "fitted", "seen", "held out"
SEEN = "7600 XT, minima", "GRE, minima"
"""Figures that changes were made in sight of: what is counted together, and what the clock under load falls with."""
MINIMUM = "rocm_sgemm, minimum"
"""The one figure of a light load that its w0 is fitted on; of another kernel than the averages, so it is predicted by
itself. It stands in no table."""
SIZES = (1024, 2048, 4096, 8192)


@dataclass(frozen=True)
class Judged:
    """A figure and what is predicted of it, in ms. load, waited: see `tools.published`; valu: utilisation; work: of the
    VALUs, see `isa.timing.model.work`; matrix: whether the kernel has matrix products."""

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
    work: float
    waited: str
    matrix: bool

    @property
    def difference(self) -> float:
        """Of the prediction from what was measured, as a part of that."""
        return self.predicted / self.measured - 1

    @property
    def inside(self) -> bool:
        return self.low <= self.measured <= self.high


@dataclass(frozen=True)
class _Timed:
    """A prediction of the GPU alone, for `isa.timing.model.as_measured`."""

    card: Card
    clock_mhz: float
    valu_work: float
    time_s: float
    low_s: float
    high_s: float
    matrix: bool


def by_events(j: Judged, unexplained: float | None = None) -> Judged:
    """What events would show of it, under its load and by its way of launching."""
    on = card(j.card)
    timed = _Timed(on, on.clock_mhz, j.work, 1e-3 * j.predicted, 1e-3 * j.low, 1e-3 * j.high, j.matrix)
    load = "light" if j.load == LIGHT else "heavy"
    found = as_measured.as_measured(timed, load, as_measured.WAITED_US[j.waited], unexplained)
    host = TORCH_HOST_MS.get(j.card, 0.0) * (j.waited == "queued")
    return replace(
        j,
        predicted=max(host, 1e3 * found.time_s),
        low=max(host * as_measured.OVERHEAD_LOW, 1e3 * found.low_s),
        high=max(host * as_measured.OVERHEAD_HIGH, 1e3 * found.high_s),
    )


def fitted_on(j: Judged) -> bool:
    """Whether w0 and the overhead were fitted to it: every other of rocm_sgemm's averages, as on a chess board."""
    if j.belongs != AVERAGES:
        return False
    size, layout = j.name.split()
    return layout not in held_out_of(int(size))


def held_out_of(size: int) -> list[str]:
    """Layouts of the judged half."""
    return [layout for k, layout in enumerate(LAYOUTS) if (SIZES.index(size) + k) % 2]


def fit(found: Sequence[Judged]) -> tuple[float, float]:
    """(w0, overhead in ms) with the least mean of the logarithms' distances, for a heavy load."""
    rows = [j for j in found if fitted_on(j)]
    if not rows:
        return 0.0, 0.0

    def distance(w0: float, overhead: float) -> float:
        on = card(rows[0].card)
        times = (overhead + j.predicted / as_measured.clock_share(on, j.work, w0) for j in rows)
        return statistics.mean(abs(math.log(t / j.measured)) for t, j in zip(times, rows, strict=True))

    grid = ((u / 100, o / 1000) for u in range(30, 90) for o in range(0, 120, 2))
    return min(grid, key=lambda at: distance(*at))


def fit_linux(found: Sequence[Judged]) -> float:
    """The overhead in ms of a launch on Linux, with the w0 that is there."""
    rows = [by_events(replace(j, waited="")) for j in found if j.belongs == LINUX]

    def distance(overhead: float) -> float:
        return statistics.mean(abs(math.log((overhead + j.predicted) / j.measured)) for j in rows)

    return min((o / 1000 for o in range(60)), key=distance) if rows else 0.0


def fit_light(found: Sequence[Judged]) -> float:
    """w0 for a light load, by the one figure of rocm_sgemm under it; its launches were queued. 0 without it."""
    rows = [j for j in found if j.belongs == MINIMUM]
    return rows[0].work * (rows[0].predicted / rows[0].measured) ** 3 if rows else 0.0


def groups(found: Sequence[Judged]) -> dict[str, list[Judged]]:
    """The sets, what was fitted first."""
    sets: dict[str, list[Judged]] = {}
    for j in found:
        half = FITTED_HALF if fitted_on(j) else f"{AVERAGES}: the other half"
        sets.setdefault(half if j.belongs == AVERAGES else j.belongs, []).append(j)
    sets.pop(MINIMUM, None)
    return {name: sets[name] for name in sorted(sets, key=lambda name: HOW.index(how(name)))}


def how(name: str) -> str:
    """What a set has had to do with the model's numbers: the end of its name, where that says it."""
    said = name.rpartition(", ")[2]
    if said in HOW:
        return said
    return "fitted" if name in (STUDY, FITTED_HALF, LINUX) else "seen" if name in SEEN else "held out"


def unexplained_of_sets(sets: Iterable[Sequence[Judged]]) -> float:
    """What a set needs that is none of these: as much as the worst of them. Figures of one set are alike (a card, a
    program, an author), sets are not; all figures in one heap would promise a further set what only the largest ones
    keep."""
    return max(map(unexplained, sets), default=1.0)


def unexplained(found: Sequence[Judged], wanted: float = 0.8) -> float:
    """The least part of the time, in steps of half a per cent, with which so many of a set lie inside of their bands
    that a further figure of it does with this probability (split conformal prediction); 1 where they are too few to
    say."""
    for step in range(200):
        if sum(by_events(j, step / 200).inside for j in found) >= math.ceil(wanted * (len(found) + 1)):
            return step / 200
    return 1.0


def overheads(found: Sequence[Judged]) -> tuple[float, float]:
    """Least and most ms that the figures want which the overhead was fitted on, of the smallest size."""
    rows = [j for j in found if fitted_on(j) and j.size == min(SIZES)]
    if not rows:
        return 0.0, 0.0
    rest = [j.measured - by_events(j).predicted + 1e-3 * as_measured.WAITED_US["WSL2"] for j in rows]
    return min(rest), max(rest)


def pairs_in_order(found: Sequence[Judged], apart: float = 0.1) -> tuple[int, int]:
    """(pairs in the right order, all pairs) of those of one size whose measured times are so far apart."""
    far = [
        (a, b)
        for a, b in itertools.permutations(found, 2)
        if a.size == b.size and b.measured > (1 + apart) * a.measured
    ]
    return sum(a.predicted < b.predicted for a, b in far), len(far)


def _events(found: Sequence[Judged]) -> str:
    """A row a set, and what its band would have been without it."""
    out = ["| figures, by events | | mean difference | largest | inside the band | rank correlation |"
           " pairs 10 % apart, in order | left out: unexplained, inside |",
           "|---|---|---|---|---|---|---|---|"]  # fmt: skip
    sets = {name: rows for name, rows in groups(found).items() if name != STUDY}
    for name, rows in sets.items():
        shown = [by_events(j) for j in rows]
        others = _judges({other: more for other, more in sets.items() if other != name}, _kind(rows))
        alone = unexplained_of_sets(others)
        inside = sum(by_events(j, alone).inside for j in rows)
        left_out = f"{100 * alone:.1f} %: {inside} of {len(rows)}" if others else "no other"
        differences = [100 * j.difference for j in shown]
        mean, worst = statistics.mean(map(abs, differences)), max(differences, key=abs)
        out.append(
            f"| {name} | {how(name)} | {mean:.1f} % | {worst:+.1f} % | "
            f"{sum(j.inside for j in shown)} of {len(rows)} | {_orders(shown)} | "
            f"{' of '.join(map(str, pairs_in_order(shown)))} | {left_out} |"
        )
    w0, overhead = fit(found)
    least, most = overheads(found)
    cards, processors = (
        " %, of matrix products ".join(
            f"{100 * unexplained_of_sets(_judges(sets, ('gfx11', integrated, matrix))):.1f}" for matrix in (False, True)
        )
        for integrated in (False, True)
    )
    out.append(
        f"\nFitted on the first: w0 {w0:.2f}, {1000 * overhead:.0f} us; its figures at {min(SIZES)} want "
        f"{1000 * least:.0f} to {1000 * most:.0f} us. By the light load's figure: w0 {fit_light(found):.3f}. "
        f"On Linux: {1000 * fit_linux(found):.0f} us. "
        f"Unexplained, by all sets not fitted: {cards} %; on a processor's graphics {processors} %"
    )
    return "\n".join(out)


def _kind(found: Sequence[Judged]) -> tuple[str, bool, bool]:
    """That of the first: those of a set are alike."""
    return as_measured.kind(card(found[0].card), found[0].matrix)


def _judges(sets: Mapping[str, Sequence[Judged]], kind: tuple[str, bool, bool]) -> list[Sequence[Judged]]:
    """The sets that have a say in what is unexplained of a kind: its own, or all of the family where there are none."""
    family = [rows for name, rows in sets.items() if how(name) != "fitted" and _kind(rows)[0] == kind[0]]
    return [rows for rows in family if _kind(rows) == kind] or family


def _orders(found: Sequence[Judged]) -> str:
    """Of each size that several kernels were measured at."""
    by_size = [[j for j in found if j.size == size] for size in sorted({j.size for j in found})]
    return ", ".join(f"{rank_correlation(rows):.2f}" for rows in by_size if len(rows) > 1)


def judged(figure: PublishedFigure) -> Judged:
    """What the model says of a figure."""
    t = figure.launch().timing()
    return Judged(
        figure.belongs, figure.name, figure.card, figure.load, figure.size, figure.measured_ms, 1e3 * t.time_s,
        1e3 * t.low_s, 1e3 * t.high_s, t.valu_utilisation, t.valu_work, figure.waited, t.matrix,
    )  # fmt: skip


@click.command(help=__doc__)
@click.option("--study", type=click.Path(path_type=Path, exists=True), help="A checkout of seb-v/fp32_sgemm_amd.")
@click.option("--rocm-sgemm", type=click.Path(path_type=Path, exists=True), help="A checkout of adelj88/rocm_sgemm.")
@click.option("--queued", type=click.Path(path_type=Path, exists=True), help="rocm_sgemm at commit 07c56b9.")
@click.option("--clang", default="clang-19", show_default=True, help="The compiler of their HIP source.")
@click.option("--llvm", type=click.Path(path_type=Path, exists=True), help="AMD's LLVM, see tools/published.py.")
@click.option("--wmma", type=click.Path(path_type=Path, exists=True), help="rocm_wmma_gemm at commit ef1b647.")
@click.option("--newer", type=click.Path(path_type=Path, exists=True), help="AMD's LLVM of ROCm 10, for --wmma.")
@click.option("--hipblaslt", type=click.Path(path_type=Path, exists=True), help="Recorded launches of hipBLASLt 7.2.4.")
@click.option("--kept", type=click.Path(path_type=Path), help="A file of predictions, to go on from and to add to.")
@click.option("--write", is_flag=True, help="Into docs/timing.md and docs/record; else to stdout.")
def main(
    study: Path | None, rocm_sgemm: Path | None, queued: Path | None, clang: str, llvm: Path | None,
    wmma: Path | None, newer: Path | None, hipblaslt: Path | None, kept: Path | None, write: bool,
) -> None:  # fmt: skip
    """See the module's docstring."""
    found = [Judged(**json.loads(line)) for line in kept.read_text().splitlines()] if kept and kept.exists() else []
    known = {(j.belongs, j.name) for j in found}
    with steps() as step:
        for figure in figures(Checkouts(study, rocm_sgemm, clang, llvm, queued, wmma, newer, hipblaslt)):
            if (figure.belongs, figure.name) in known:
                continue
            step(f"{figure.belongs}: {figure.name}")
            found.append(judged(figure))
            if kept:
                with kept.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(found[-1])) + "\n")
    shown = [j for j in found if j.belongs != MINIMUM]
    tables = {
        "where it stands": _standing(shown),
        "by events": _events(found),
        "fitted": _each([j for j in shown if j.belongs == STUDY]),
        "not fitted": _each(sorted((j for j in shown if _named(j)), key=lambda j: j.belongs)),
        "rocm_sgemm": _by_size([j for j in shown if j.belongs == AVERAGES]),
    }
    for name, text in tables.items():
        page = PAGE if name in ("where it stands", "by events") else FIGURES
        if write:
            put(page, name, text)
        else:
            click.echo(text + "\n")


def _named(j: Judged) -> bool:
    """Whether the record has a row of its own for a figure that was not fitted."""
    return j.belongs != STUDY and "gemm" not in j.belongs


def _standing(found: Sequence[Judged]) -> str:
    """A row a set: how far off, how many inside of their bands, whether kernels come in the right order."""
    out = ["| figures | | mean difference | largest | mean of both signs | inside the band | rank correlation |",
           "|---|---|---|---|---|---|---|"]  # fmt: skip
    for name, rows in groups(found).items():
        differences = [100 * j.difference for j in rows]
        worst = max(differences, key=abs)
        out.append(
            f"| {name} | {how(name)} | {statistics.mean(map(abs, differences)):.1f} % | {worst:+.1f} % | "
            f"{statistics.mean(differences):+.1f} % | {sum(j.inside for j in rows)} of {len(rows)} | "
            f"{_orders(rows)} |"
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


def _by_size(found: Sequence[Judged]) -> str:
    """A row for the kernels of one size; each by itself is in the file of --kept."""
    out = ["| M = N = K | kernels | mean difference | from, to | inside the band |", "|---|---|---|---|---|"]
    for size in dict.fromkeys(j.size for j in found):
        rows = [j for j in found if j.size == size]
        differences = [100 * j.difference for j in rows]
        out.append(
            f"| {size} | {len(rows)} | {statistics.mean(map(abs, differences)):.1f} % | {min(differences):+.1f}, "
            f"{max(differences):+.1f} % | {sum(j.inside for j in rows)} of {len(rows)} |"
        )
    return "\n".join(out)


def rank_correlation(found: Sequence[Judged]) -> float:
    """Spearman's, of predicted and measured times."""
    return correlation([j.predicted for j in found], [j.measured for j in found])


def correlation(a: Sequence[float], b: Sequence[float]) -> float:
    """Spearman's rank correlation."""
    return statistics.correlation(_ranks(a), _ranks(b)) if len(a) > 1 else 1.0


def _ranks(values: Sequence[float]) -> list[float]:
    return [float(sorted(values).index(v)) for v in values]


if __name__ == "__main__":
    main()
