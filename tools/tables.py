#!/usr/bin/env python3
"""Tables of predictions in the documentation: the kernels that `hipgemm.sgemm` and `hipgemm.gemm` take -> what the
cycle model says of them.

    python tools/tables.py [squares] [models] [tuned] [matrix] [decode] [--write] [--check]

Each table stands between two comments in its page, `<!-- NAME -->` and `<!-- end -->`, and takes the last one's place.
squares, models: shapes of hipgemm/tuning/lists by the shipped table. Beside the second stands kernel 8, which takes
multiples of 128, 128 and 8; for other shapes what `hipgemm.sgemm(kernel="kernel8")` does is added up: A and B are
copied into padded ones where they do not fit, and C is copied out. Allocation and launch overhead are counted for
neither side. What was predicted before comes from the disk: a run that was stopped goes on from there.
tuned: what each entry of the table of the matrix units gains. matrix: squares there, in all layouts. decode: products
with few rows; the bandwidth is that of A, the weights with their scales, and C, over the time, its share that of what
the card can read. A row in which less comes from memory than the weights are would be a fault of the model: it is
marked.
--check runs the kernels of squares and models at their shapes on the simulated card against float64: minutes.
"""

from __future__ import annotations

import dataclasses
import os
import re
import statistics
import struct
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout, installed or not

from hipgemm.cli.progress import steps
from hipgemm.kernels.ladder import STRIDED_COPY, rung
from hipgemm.launch.elements import PLAIN, Types
from hipgemm.pool import pool
from hipgemm.product import choice
from hipgemm.product.sgemm import COPY_BLOCK, COPY_GRID_Y
from hipgemm.tuning import shapes, trial
from hipgemm.tuning import table as tables
from hipgemm.tuning.choose import choose
from hipgemm.tuning.shapes import Shape
from isa.errors import IsaError
from isa.timing.machine.cards import DEFAULT, card

if TYPE_CHECKING:
    from isa.timing.machine.cards import Card
    from isa.timing.model.ensemble import Timing
    from isa.timing.model.predict import TimedLaunch

ROOT = Path(__file__).resolve().parents[1]
LISTED = {"squares": "tuning.md", "models": "tuning.md"}
PAGES = {**LISTED, "tuned": "tuning.md", "matrix": "matrix.md", "decode": "record/matrix-figures.md"}
"""Table -> its page."""
LISTS = Path(shapes.__file__).with_name("lists")
BASELINE = "kernel8"
_ELSEWHERE = 0x7F30_0000_0000, 0x7F40_0000_0000
_GAIN = 1.1
"""From which on a tuned shape is counted."""
SIZES = 1024, 2048, 4096, 8192
LAYOUTS = {"nn": (False, False), "nt": (False, True), "tn": (True, False), "tt": (True, True)}
TYPES = ("f16", "f32"), ("i8", "i32"), ("i4", "i32")
DECODED = (4096, 4096), (14336, 4096), (4096, 14336)
"""N x K of the weights."""
WEIGHTS = "", "q8", "q8_0", "q4_0", "awq"
ROWS = 1, 16
_FACTOR, _RESULT = 2, 4
"""Bytes of an element of A and of C: f16, f32."""
_LEAST = 0.98


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1, type=click.Choice(list(PAGES)))
@click.option("--write", is_flag=True, help="Into the pages; else to stdout.")
@click.option("--check", is_flag=True, help="Run them on the simulated card, too.")
@click.option("--jobs", default=os.cpu_count() or 1, type=click.IntRange(1), help="Processes that predict.")
@click.option("--card", "name", default=DEFAULT)
def main(names: tuple[str, ...], write: bool, check: bool, jobs: int, name: str) -> None:
    on = card(name)
    for table in names or LISTED:
        found: list[Figure] = []
        if table in LISTED:
            with steps() as step:
                found = figures(listed(table), on, baseline=table == "models", step=step, jobs=jobs)
            text = _models(found) if table == "models" else _squares(found)
        else:
            text = {"tuned": _tuned, "matrix": _matrix, "decode": _decode}[table](on)
        if write:
            put(ROOT / "docs" / PAGES[table], table, text)
        else:
            click.echo(text + "\n")
        if check:
            _check(found)


def put(file: Path, name: str, text: str) -> None:
    """Writes the text between the page's comments of that name."""
    page, marked = (
        file.read_text(encoding="utf-8"),
        re.compile(rf"(<!-- {re.escape(name)} -->\n).*?(<!-- end -->)", re.S),
    )
    if not marked.search(page):
        raise IsaError(f"{file} has no place for {name}", expected=f"<!-- {name} --> and <!-- end -->")
    file.write_text(marked.sub(lambda m: f"{m[1]}{text}\n{m[2]}", page), encoding="utf-8")


def markdown(head: str, rows: Sequence[str]) -> str:
    """A table of Markdown: its columns, and rows of it."""
    return "\n".join([f"| {head} |", "|" + "---|" * (head.count("|") + 1), *(f"| {row} |" for row in rows)])


# --- the shipped table
@dataclass(frozen=True)
class Figure:
    """A shape, the kernel that sgemm takes and its time. baseline_s: of kernel 8, padded, None if not asked."""

    shape: Shape
    kernel: str
    timing: Timing
    baseline_s: float | None = None

    @property
    def tflops(self) -> float:
        return self.shape.flops / self.timing.time_s / 1e12

    @property
    def peak_share(self) -> float:
        return self.tflops * 1e12 / self.timing.card.peak_flops(self.timing.clock_mhz)

    @property
    def speed_up(self) -> float:
        assert self.baseline_s is not None
        return self.baseline_s / self.timing.time_s


def listed(name: str) -> list[Shape]:
    """The shapes of one of the lists that came with the package."""
    return shapes.load(str(LISTS / f"{name}.txt"))


def figures(
    wanted: Sequence[Shape], on: Card, *, baseline: bool, step: Callable[[str], None], jobs: int = 1
) -> list[Figure]:
    """One for each shape, by the default tables, from so many processes."""
    with pool("local", jobs) as workers:
        asked = [workers.executor.submit(figure, shape, on, baseline) for shape in wanted]
        found = []
        for shape, future in zip(wanted, asked, strict=True):
            step(f"{shape}")
            found.append(future.result())
    return found


def figure(shape: Shape, on: Card, baseline: bool) -> Figure:
    """Of one shape."""
    target = trial.TrialTarget(on.name, on.clock_mhz)
    kernel = choose(shape, on.name).kernel
    timing = trial.launch(kernel, shape, target).timing()
    return Figure(shape, kernel, timing, padded(shape, target, on) if baseline else None)


def padded(shape: Shape, target: trial.TrialTarget, on: Card) -> float:
    """Seconds of kernel 8 with its copies."""
    m, n, k = shape.m, shape.n, shape.k
    rows, columns, depth = (-(-x // t) * t for x, t in zip((m, n, k), rung(BASELINE).tile, strict=True))
    seconds = trial.launch(BASELINE, Shape(rows, columns, depth), target).timing().time_s
    copies = [
        (small, large) for small, large in (((m, k), (rows, depth)), ((k, n), (depth, columns))) if small != large
    ]
    if (m, n) != (rows, columns):
        copies.append(((rows, columns), (m, n)))
    return seconds + sum(_copy(source, goal, on).timing().time_s for source, goal in copies)


def _copy(source: tuple[int, int], goal: tuple[int, int], on: Card) -> TimedLaunch:
    """A dense matrix into a dense one of another size, as hipgemm.product.sgemm.strided_copy launches it."""
    from hipgemm.kernels.build import build
    from isa.timing.model import predict

    width, height, _ = COPY_BLOCK
    grid = -(-goal[1] // width), min(-(-goal[0] // height), COPY_GRID_Y), 1
    # The part of the larger one that both have, row by row of each.
    rows, columns = (min(a, b) for a, b in zip(source, goal, strict=True))
    kernarg = struct.pack(
        "<QqqiiQqqiif", _ELSEWHERE[0], source[1], 1, rows, columns, _ELSEWHERE[1], goal[1], 1, goal[0], goal[1], 1.0
    )
    built = build(STRIDED_COPY, arch=on.arch)
    return predict.TimedLaunch(built.code_object(), STRIDED_COPY.name, grid, COPY_BLOCK, kernarg, on)


def _squares(found: list[Figure]) -> str:
    rows = []
    for f in found:
        t = f.timing
        band = f"{1e6 * t.time_s:.1f} | {1e6 * t.low_s:.1f} to {1e6 * t.high_s:.1f}"
        rows.append(f"{f.shape.m} | `{f.kernel}` | {band} | {f.tflops:.1f} | {100 * f.peak_share:.1f} %")
    return markdown("M = N = K | kernel | us, predicted | band | TFLOP/s | share of peak", rows)


def _models(found: list[Figure]) -> str:
    rows = []
    for f in found:
        s = f.shape
        assert f.baseline_s is not None
        times = f"{1e6 * f.timing.time_s:.1f} | {1e6 * f.baseline_s:.1f} | {f.speed_up:.2f}"
        rows.append(f"{s.label} | {s.m} x {s.n} x {s.k} | {times}")
    table = markdown("product | M x N x K | us, predicted | kernel 8, padded, us | times faster", rows)
    gains = [f.speed_up for f in found]
    return f"{table}\n\nGeometric mean {statistics.geometric_mean(gains):.2f}, least {min(gains):.2f}."


def _check(found: list[Figure]) -> None:
    """Each kernel at its shape on the simulated card, a line each. Exit status 1 if one is wrong."""
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


# --- the matrix units
def _tuned(_: Card) -> str:
    """Of each types, how many entries gain _GAIN over the rule's kernels, and the most that one does."""
    gains: dict[str, list[tuple[float, str]]] = {}
    for entry in tables.load(Path(tables.__file__).with_name("tables") / "7900-xtx-matrix.json").entries:
        s, best, on = entry.shape, entry.kernels[0].kernel, card(entry.on)
        rule = choice.choose(s.m, s.n, on.cus, Types.named(s.types), (s.trans[0] == "t", s.trans[1] == "t"))
        ours, others = (trial.launch(k, s, trial.TrialTarget(entry.on, on.clock_mhz)) for k in (best, rule))
        gain = others.median().time_s / ours.median().time_s
        gains.setdefault(s.types, []).append((gain, f"{s.m} x {s.n} x {s.k} ({s.trans})"))
        click.echo(f"{s.types} {gains[s.types][-1][1]} {best}: {gain:.2f} times as fast", err=True)
    rows = []
    for types, found in gains.items():
        most, faster = max(found), sum(gain >= _GAIN for gain, _ in found)
        rows.append(f"{types} | {len(found)} | {faster} | {f'{most[0]:.2f}, {most[1]}' if faster else ''}")
    return markdown(f"types | entries | at least {_GAIN} times as fast | most", rows)


def _matrix(on: Card) -> str:
    """TFLOP/s of each layout, with the band; the worst of them against the best."""
    rows = []
    for types in TYPES:
        for n in SIZES:
            found = rates(types, n, on)
            said = " | ".join(f"{middle:.1f} ({low:.1f} to {high:.1f})" for middle, low, high in found)
            rows.append(f"{' to '.join(types)} | {n} | {said} | {min(found)[0] / max(found)[0]:.2f}")
    return markdown(f"types | M = N = K | {' | '.join(LAYOUTS)} | worst / best", rows)


def rates(types: tuple[str, str], n: int, on: Card) -> list[tuple[float, float, float]]:
    """TFLOP/s of each layout: the median, and the band's ends."""
    found = []
    for flips in LAYOUTS.values():
        kernel = choice.kernel_for((n, n, n), on.cus, Types(*types), flips, PLAIN, on.name)
        t = trial.launch(kernel, Shape(n, n, n), trial.TrialTarget(on.name, on.clock_mhz)).timing()
        middle, low, high = (2e-12 * n**3 / s for s in (t.time_s, t.high_s, t.low_s))
        found.append((middle, low, high))
    return found


def _decode(on: Card) -> str:
    """For each weights and N x K the time and the share of what the card can read, a column for each M."""
    rows = []
    for weights in WEIGHTS:
        for n, k in DECODED:
            cells = " | ".join(_few_rows(Types("f16", "f32", weights), (m, n, k), on) for m in ROWS)
            rows.append(f"{weights or 'f16'} | {n} x {k} | {cells}")
    return markdown("weights | N x K | " + " | ".join(f"M = {m}" for m in ROWS), rows)


def _few_rows(types: Types, sizes: tuple[int, int, int], on: Card) -> str:
    """One product of few rows: us, their band, the share."""
    from hipgemm.launch.gemm import gemm
    from hipgemm.launch.problem import Problem
    from isa.timing.machine import rdna3

    m, n, k = sizes
    kernel = choice.of_few_rows(m, n, k, on.cus, types)
    assert kernel
    t = trial.launch(kernel, Shape(m, n, k), trial.TrialTarget(on.name, on.clock_mhz)).timing()
    problem = gemm(rung(kernel), Problem(m, n, k), on.cus).problem
    assert problem
    stored = dataclasses.replace(problem, beta=0).bytes
    memory = rdna3.values()["line_bytes"] * float(t.typical.lines[-1]) * t.workgroups / t.unit_workgroups
    share = stored / t.time_s / (on.vram_bandwidth * rdna3.values()["vram_read_share"])
    whole = memory >= _LEAST * (stored - _FACTOR * m * k - _RESULT * m * n)
    middle, low, high = (1e6 * s for s in (t.time_s, t.low_s, t.high_s))
    mark = "" if whole else " (not all weights come from memory)"
    return f"{middle:.1f} ({low:.1f} to {high:.1f}), {100 * share:.0f} %{mark}"


if __name__ == "__main__":
    main()
