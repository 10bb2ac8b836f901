"""Report of an inspection: an `Inspection` -> text and HTML. The bank table has the published study's colours: bank 0
yellow, 1 orange, 2 red, 3 blue, what an operand cache serves green."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hipgemm.judge.inspection import KINDS, VALU, BankRow, Held, Inspection
from hipgemm.report.pages import part, percent, render
from hipgemm.report.terminal import grid, labelled, plain
from isa.analysis.banks import COLUMNS
from isa.display import number_of
from isa.mangling import source_name

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

BANK_STYLES = ("black on #ffe08a", "black on #ffb870", "black on #ff9d94", "black on #9cc7ff")
CACHE_STYLE = "black on #a5e0ad"
ROWS = 24
"""How many rows of the bank table a terminal shows unless asked for all."""
WIDTH = 150
"""Columns that the tables want: cells that wrap are no table."""


def contents_table(rows: Sequence[Held]) -> Table:
    """Kernels and what they take, for a terminal."""
    numbers = (">VGPRs", ">SGPRs", ">spilled", ">LDS", ">scratch", ">threads", ">waves a SIMD")
    table = grid("~kernel", *numbers, box=None, pad_edge=False)
    for r in rows:
        spilled = str(r.vgpr_spills + r.sgpr_spills or "")
        cells = (r.vgprs, r.sgprs, spilled, r.lds or "", r.scratch or "", r.threads, f"{r.waves:g}")
        name = source_name(r.kernel) + (" (wave64)" if r.wave == 64 else "")
        table.add_row("; ".join((name, *r.misfits)), *map(str, cells))
    return table


def facts(i: Inspection) -> list[tuple[str, str]]:
    """(what, value) lines, most wanted first."""
    fits = i.occupancy
    unit = "CU" if fits.simds == 2 else "WGP"
    limits = ", ".join(f"{name} {n}" for name, n in fits.limits.items())
    spilled = f"; {i.vgpr_spills} VGPRs and {i.sgpr_spills} SGPRs spilled" if i.vgpr_spills or i.sgpr_spills else ""
    mode = f"{i.mode} mode" + (", wave64" if i.wave == 64 else "")
    lines = [("does not fit", what) for what in i.misfits]
    lines += [
        ("registers", f"{i.vgprs} VGPRs, {i.sgprs} SGPRs{spilled}"),
        (
            "LDS",
            f"{number_of(i.lds, 'byte')} a workgroup of {number_of(i.threads, 'thread')}"
            + (f", {number_of(i.scratch, 'byte')} of scratch a thread" if i.scratch else ""),
        ),
        (
            "occupancy",
            f"{fits.waves:g} of 16 waves a SIMD: {number_of(fits.workgroups, 'workgroup')} a {unit} ({mode})",
        ),
        ("held by", f"{', '.join(fits.binding)}; workgroups that each limit alone would allow a {unit}: {limits}"),
    ]
    if fits.advice:
        joined = fits.advice[0].partition(" would ")[0]
        waves = fits.waves * (fits.workgroups + 1) / fits.workgroups
        lines.append(("next step", f"{joined}: {fits.workgroups + 1} workgroups a {unit}, {waves:g} waves a SIMD"))
    elif fits.waves < 16:
        lines.append(("next step", "not by registers or LDS: the limits are wave slots or barriers"))
    lines += [(f"by {axis}", _steps(runs)) for axis, runs in i.chart.items()]
    if i.loop:
        lines += [
            (
                "dual issue",
                f"{percent(i.loop.dual_share)} of the main loop's VALU instructions and {percent(i.loop.fma_share)} of "
                f"its multiply-adds; {percent(i.mix.dual_share)} and {percent(i.mix.fma_share)} in the whole kernel",
            ),
            (
                "operands",
                f"{number_of(i.bank_reads, 'read')} of VGPR banks, {i.cache_reads} from operand caches (SRC0 and SRC1)",
            ),
            ("clashes", _clashes(i.rows)),
        ]
    else:
        lines.append(("main loop", "none: no loop of this kernel has a floating-point operation"))
    return lines


def _steps(runs: Sequence[tuple[int, int, float]]) -> str:
    """Waves of a SIMD over one of what holds them, as far as they fit."""
    return "waves of a SIMD: " + ", ".join(f"{waves:g} up to {last}" for _, last, waves in runs if waves)


def _clashes(rows: Sequence[BankRow]) -> str:
    n = sum(row.clashes > 0 for row in rows)
    faults = sum(bool(row.faults) for row in rows)
    text = f"{number_of(n, 'instruction')} of the main loop {'reads' if n == 1 else 'read'} one bank more than once"
    return text + (f"; {number_of(faults, 'pair')} with sources of one bank or parity" if faults else "")


def style(cell: str) -> str:
    """The rich style of a cell of the bank table."""
    if not cell:
        return ""
    return CACHE_STYLE if cell.startswith("Cache") else BANK_STYLES[int(cell[-1])]


def css_class(cell: str) -> str:
    """The CSS class of a cell of the bank table."""
    return "" if not cell else "cache" if cell.startswith("Cache") else f"bank{cell[-1]}"


def show(i: Inspection, console: Console, rows: int | None = ROWS) -> None:
    """Print it. rows: of the bank table, None for all."""
    lines = [(f"  {what}", value) for what, value in facts(i)]
    console.print(f"{source_name(i.kernel)} ({i.source})", style="bold", markup=False, highlight=False)
    room = console.width if console.is_terminal else None
    console.print(labelled(lines, room), markup=False, highlight=False, soft_wrap=True)
    console.print(_mix_table(i))
    if i.loops:
        console.print(_loop_table(i))
    if i.rows:
        every = valu(i)
        console.print(bank_table(every[:rows]))
        if rows is not None and len(every) > rows:
            console.print(f"  and {len(every) - rows} more: --all", markup=False, highlight=False)


def valu(i: Inspection) -> list[BankRow]:
    """The rows of the bank table: the main loop's VALU instructions."""
    return [row for row in i.rows if row.kind in VALU]


def text(i: Inspection, rows: int | None = ROWS) -> str:
    """What `show` prints, without colours."""
    return plain(lambda console: show(i, console, rows), WIDTH, color_system=None)


def _mix_table(i: Inspection) -> Table:
    table = grid("<instructions", ">main loop", ">kernel", "<what")
    for name, count in i.mix.counts.items():
        if count:
            table.add_row(name, str(i.loop.counts[name]) if i.loop else "", str(count), KINDS[name])
    table.add_row("all", str(i.loop.total) if i.loop else "", str(i.mix.total), "")
    return table


def _loop_table(i: Inspection) -> Table:
    table = grid(
        "<loop at", ">instructions", ">VALU", ">loaded", ">stored", ">LDS", ">operations", ">operations a byte",
        ">waits", caption="bytes and operations: of a lane, in one iteration", caption_justify="left",
    )  # fmt: skip
    for loop in i.loops:
        counts, moved = loop.mix.counts, loop.loaded + loop.stored
        table.add_row(
            "  " * (loop.depth - 1) + loop.place, str(loop.mix.total), str(sum(counts[name] for name in VALU)),
            str(loop.loaded), str(loop.stored), str(loop.lds), str(loop.operations),
            f"{loop.operations / moved:.3g}" if moved else "", str(counts["wait"]),
        )  # fmt: skip
    return table


def bank_table(rows: Sequence[BankRow]) -> Table:
    """The rows with their banks in the study's colours."""
    from rich.text import Text

    table = grid(
        pad_edge=False,
        padding=(0, 1, 0, 0),
        caption="R: read from a bank; Cache: served by its operand cache; W: written, one row below its instruction; "
        "clash: additional reads of the same bank, without cache hits",
        caption_justify="left",
    )
    table.add_column("line", justify="right", no_wrap=True, min_width=max(4, *(len(row.place) for row in rows)))
    for name in COLUMNS:
        table.add_column(name, justify="center", no_wrap=True, min_width=6)
    table.add_column("clash", justify="right", no_wrap=True, min_width=5)
    faults = any(row.faults for row in rows)
    if faults:
        table.add_column("fault", no_wrap=True, style="red")
    table.add_column("instruction", no_wrap=True)
    for row in rows:
        cells = [Text(f"{cell:^6}", style(cell)) for cell in row.cells]
        said = ["; ".join(row.faults)] if faults else []
        table.add_row(row.place, *cells, str(row.clashes or ""), *said, Text(row.text))
    return table


def view(i: Inspection) -> dict[str, object]:
    """What the templates need of it."""
    most = max(i.mix.counts.values(), default=1) or 1
    return {
        "title": source_name(i.kernel),
        "source": i.source,
        "facts": facts(i),
        "mix": [
            (name, i.loop.counts[name] if i.loop else None, n, KINDS[name], n / most)
            for name, n in i.mix.counts.items()
            if n
        ],
        "totals": (i.loop.total if i.loop else None, i.mix.total),
        "columns": COLUMNS,
        "faults": any(row.faults for row in i.rows),
        "rows": [(row, [(cell, css_class(cell)) for cell in row.cells]) for row in valu(i)],
    }


def fragment(i: Inspection) -> str:
    """For a notebook."""
    return part("inspection", view(i))


def page(i: Inspection) -> str:
    """One self-contained HTML page."""
    return render("inspection.html.j2", i=view(i))
