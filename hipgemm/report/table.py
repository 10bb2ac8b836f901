"""Results as the published study's table: time, GFLOP/s, relative to rocBLAS, beside its own figures.

Results of one device and one problem make one table. Relative performance is time of kernel 0 over time of the kernel:
of the kernel 0 that was measured in the same table, or else, at the one size that was published, of the published one,
marked with an asterisk. Published figures never stand in a column of ours. On the matrix units there is hipBLASLt
beside rocBLAS, and the study has no figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hipgemm.kernels.ladder import PUBLISHED_ROCBLAS, PUBLISHED_SIZE, Published, known, rung
from hipgemm.measure.bench import KERNELS, LIBRARIES, Refusal
from hipgemm.measure.result import LaunchResult, Result
from hipgemm.report.pages import part
from hipgemm.report.terminal import grid, plain

SOURCE = 'published: seb-v, "Deep Dive into Matrix Optimization on AMD GPUs", 2025, Radeon RX 7900 XTX, N = 4096'


@dataclass(frozen=True)
class TableRow:
    """One line: texts of the columns, "" where there is nothing to say."""

    kernel: str
    what: str
    time: str
    spread: str
    gflops: str
    relative: str
    published_time: str
    published_gflops: str
    published_relative: str


@dataclass(frozen=True)
class BenchTable:
    """`title` says device and problem; `notes` what else a reader must know."""

    title: str
    rows: tuple[TableRow, ...]
    notes: tuple[str, ...]


def tables(entries: Sequence[Result | Refusal]) -> list[BenchTable]:
    """One table for each device and problem, in the order in which they come. Of a kernel that was measured more than
    once the last stands. An error stands with the results around it."""
    groups: dict[tuple[object, ...], list[Result | Refusal]] = {}
    waiting: list[Result | Refusal] = []  # refusals before any result
    key: tuple[object, ...] | None = None
    for entry in entries:
        if isinstance(entry, Result):
            key = _key(entry)
            groups.setdefault(key, []).extend(waiting)
            waiting = []
        (groups[key] if key is not None else waiting).append(entry)
    if not groups and waiting:
        plain = LIBRARIES[1] not in {e.kernel for e in waiting}
        rows = tuple(_row(e, None, False, plain) for e in waiting)
        return [BenchTable("no kernel produced a result", rows, _notes(waiting, False, plain))]
    return [_table(group) for group in groups.values()]


def text(table: BenchTable, width: int | None = None) -> str:
    """A table for a terminal or a file."""
    made = grid(
        "<kernel", "what", ">ms", ">mean ± dev., or band", ">GFLOP/s", ">rel. rocBLAS", ">published ms", ">GFLOP/s",
        ">rel.", title=table.title, title_justify="left", title_style="",
    )  # fmt: skip
    for row in table.rows:
        made.add_row(*(getattr(row, name) for name in TableRow.__dataclass_fields__))
    return plain(lambda console: console.print(made), width or 132) + "".join(f"\n {n}" for n in table.notes)


def html(r: LaunchResult) -> str:
    """One result, for a notebook: its rows in the look of the pages."""
    return part("titled", r.kernel, r.rows(), r.correct is False)


def _key(r: Result) -> tuple[object, ...]:
    return r.device, r.arch, r.m, r.n, r.k, r.alpha, r.beta, r.data, r.cold, r.types


def _table(group: Sequence[Result | Refusal]) -> BenchTable:
    entries = {e.kernel: e for e in group}
    order = (*LIBRARIES, *KERNELS[1:])
    shown = sorted(entries.values(), key=lambda e: order.index(e.kernel) if e.kernel in order else len(order))
    first = next(e for e in group if isinstance(e, Result))
    library = entries.get(KERNELS[0])
    plain = first.types == "f32"
    published = plain and first.m == first.n == first.k == PUBLISHED_SIZE
    own = library.time_ms if isinstance(library, Result) else None
    mark = own is None and published
    reference = PUBLISHED_ROCBLAS.time_ms if mark else own
    scalars = f"{first.alpha:g} A B + {first.beta:g} C"
    title = (
        f"{first.device} ({first.arch}): C = {scalars}, M, N, K = {first.m}, {first.n}, {first.k}, {first.data} data"
    )
    title += "" if plain else f", {first.types}"
    title += ", caches cold" if first.cold else ""
    rows = tuple(_row(e, reference, mark, plain) for e in shown)
    return BenchTable(title, rows, _notes(shown, mark, plain))


def _row(entry: Result | Refusal, reference: float | None, mark: bool, plain: bool) -> TableRow:
    """plain: of float32, which is what was published."""
    published = _published(entry.kernel) if plain else None
    theirs = ("", "", "")
    if published:
        times = 100 * PUBLISHED_ROCBLAS.time_ms / published.time_ms
        theirs = (f"{published.time_ms:.4f}", f"{published.gflops:.1f}", f"{times:.1f} %")
    if isinstance(entry, Refusal):
        return TableRow(entry.kernel, _what(entry), "none", "", "", "", *theirs)
    if entry.time_ms is None:
        return TableRow(entry.kernel, _what(entry), "not known", "", "", "", *theirs)
    time = f"{entry.time_ms:.4f}" + (" predicted" if entry.time_kind == "predicted" else "")
    spread = "" if entry.deviation_ms is None else f"{entry.mean_ms:.4f} ± {entry.deviation_ms:.4f}"
    spread = spread if entry.band_ms is None else "{:.4f} to {:.4f}".format(*entry.band_ms)
    relative = "" if reference is None else f"{100 * reference / entry.time_ms:.1f} %" + (" *" if mark else "")
    return TableRow(
        entry.kernel, _what(entry), time, spread, f"{entry.flops / entry.time_ms / 1e6:.1f}", relative, *theirs
    )


def _what(entry: Result | Refusal) -> str:
    title = rung(entry.kernel).title if known(entry.kernel) else ""
    if isinstance(entry, Refusal):
        return title or ("hipBLASLt" if entry.kernel == LIBRARIES[1] else "rocBLAS")
    name = title or entry.made_by.split(" (")[0] or "library"
    return name if entry.correct else f"{name}: WRONG"


def _published(kernel: str) -> Published | None:
    if kernel == KERNELS[0]:
        return PUBLISHED_ROCBLAS
    return rung(kernel).published if known(kernel) else None


def _notes(entries: Sequence[Result | Refusal], mark: bool, plain: bool) -> tuple[str, ...]:
    notes = [SOURCE] if plain else []
    if mark:
        notes.append("* relative to the published rocBLAS: this table has none of its own")
    if any(isinstance(e, Result) and e.time_kind == "predicted" for e in entries):
        notes.append(
            "predicted: by the cycle model of the simulated card, with its band over arbitration policies and machine "
            "numbers; nothing was measured"
        )
    notes += [f"{e.kernel}: {e.why}" for e in entries if isinstance(e, Refusal)]
    for e in entries:
        if isinstance(e, Result) and not e.correct:
            notes.append(f"{e.kernel} is WRONG in {e.wrong} of {e.m * e.n} elements")
        if isinstance(e, Result):
            notes += [f"{e.kernel}: {w}" for w in e.warnings]
    return tuple(notes)
