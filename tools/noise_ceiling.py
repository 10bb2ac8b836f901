"""How well any model could order the kernels of a size, by how well their author's own measurements repeat.

    python tools/noise_ceiling.py --rocm-sgemm rocm_sgemm --write

Takes a clone of adelj88/rocm_sgemm with its history: docs/square.md has, with the author's own kernels, rocBLAS's four
of each size, which did not change between commits and were measured again for some of them. A column that repeats an
older one was not measured, and counts once; those under another ROCm are left out, as its rocBLAS may be another.

    log time of kernel k in repeat r = kernel[k] + repeat[r] + noise[r, k]

What is left of a size after both means are taken out, scaled for the degrees of freedom that they took, is its noise.
The ceiling of the judged kernels (`tools.held_out`): their measured times are taken for the true ones, noise is drawn
from what was left, with replacement, and the rank correlation of such a measurement with the truth is what a model
without error would reach. It is a ceiling: the measured times differ by their noise, too, so that the true ones lie
nearer to each other; and noise is rocBLAS's, whose repeats are days apart, not that of these kernels.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout, installed or not

from isa.errors import IsaError
from tools.held_out import SIZES, correlation, held_out_of
from tools.published import LAYOUTS, SQUARE_MS
from tools.shapes import put

PAGE = Path(__file__).resolve().parents[1] / "docs" / "timing-studies.md"
FILE = "docs/square.md"
DRAWS = 10_000
_ROCM = re.compile(r"ROCm ([\d.]+)")


def rates_of(text: str) -> dict[int, tuple[float, ...]]:
    """TFLOP/s of rocBLAS by size, in the order of the page's rows."""
    found: dict[int, list[float]] = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        size = re.match(r"(\d+)\D", cells[0])
        if size and len(cells) >= 4:
            found.setdefault(int(size[1]), []).append(float(cells[3]))
    return {size: tuple(rates) for size, rates in found.items()}


def repeats(clone: Path) -> list[dict[int, tuple[float, ...]]]:
    """rocBLAS's TFLOP/s by size, of each time that they were measured under the ROCm of most of them."""

    def git(*words: str) -> str:
        done = subprocess.run(["git", "-C", str(clone), *words], capture_output=True, text=True, check=False)
        if done.returncode:
            raise IsaError(f"{clone} is no clone with the history of {FILE}", got=done.stderr.strip()[-300:])
        return done.stdout

    by_rocm: dict[str, list[dict[int, tuple[float, ...]]]] = {}
    for commit in git("log", "--all", "--format=%H", "--", FILE).split():
        text = git("show", f"{commit}:{FILE}")
        version = _ROCM.search(text)
        held = by_rocm.setdefault(version[1] if version else "", [])
        table = rates_of(text)
        if table not in held:
            held.append(table)
    most = max(by_rocm.values(), key=len, default=[])
    if (count := len(most)) < 3:
        raise IsaError(f"{clone} has too few repeats in the history of {FILE}", expected="at least 3", got=str(count))
    return most


def residuals(times: np.ndarray) -> np.ndarray:
    """float[repeats, kernels] -> what is left of the logarithms without the means of kernels and repeats, scaled to be
    as wide as the noise."""
    logs = np.log(times)
    left = logs - logs.mean(axis=0) - logs.mean(axis=1, keepdims=True) + logs.mean()
    r, k = times.shape
    return np.asarray(left * np.sqrt(r * k / ((r - 1) * (k - 1))))


def ceiling(measured: Sequence[float], noise: np.ndarray, draws: int = DRAWS, seed: int = 0) -> np.ndarray:
    """float[draws]: the rank correlation with the truth of measurements with such noise."""
    generator = np.random.default_rng(seed)
    truth = np.log(np.asarray(measured))
    drawn = truth + generator.choice(noise.ravel(), (draws, len(truth)))
    apart = drawn.argsort(axis=1).argsort(axis=1) - truth.argsort().argsort()
    n = len(truth)
    return np.asarray(1 - 6 * (apart**2).sum(axis=1) / (n * (n * n - 1)))


def between(times: np.ndarray) -> list[float]:
    """Rank correlations of each two repeats."""
    rows = range(len(times))
    return sorted(correlation(times[a], times[b]) for a in rows for b in rows if a < b)


def table(found: Sequence[Mapping[int, tuple[float, ...]]]) -> str:
    """A row a size."""
    out = [
        "| size | repeats | noise of one time | rank correlations of the repeats, two at a time | "
        "ceiling of the judged kernels: mean | 0.8 or more | of all eight: mean |",
        "|---|---|---|---|---|---|---|",
    ]
    for size in SIZES:
        times = 1 / np.array([rates[size] for rates in found])
        noise = residuals(times)
        measured = dict(zip(LAYOUTS, SQUARE_MS[size], strict=True))
        judged = ceiling([measured[layout] for layout in held_out_of(size)], noise)
        every = ceiling(list(measured.values()), noise)
        out.append(
            f"| {size} | {len(times)} | {100 * noise.std():.1f} % | {', '.join(f'{c:.1f}' for c in between(times))} | "
            f"{judged.mean():.2f} | in {100 * (judged > 0.79).mean():.0f} % | {statistics.fmean(every):.2f} |"
        )
    return "\n".join(out)


@click.command(help=__doc__)
@click.option("--rocm-sgemm", required=True, type=click.Path(path_type=Path, exists=True), help="A clone.")
@click.option("--write", is_flag=True, help="Into docs/timing-studies.md; else to stdout.")
def main(rocm_sgemm: Path, write: bool) -> None:
    """See the module's docstring."""
    text = table(repeats(rocm_sgemm))
    if write:
        PAGE.write_text(put(PAGE, PAGE.read_text(encoding="utf-8"), "noise", text), encoding="utf-8")
    else:
        click.echo(text)


if __name__ == "__main__":
    main()
