"""Report of a study: a `Study` -> text, a page, one SVG, HTML for a notebook."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from hipgemm.report.pages import TEMPLATES, render
from hipgemm.report.terminal import grid, plain

if TYPE_CHECKING:
    from rich.console import Console

    from hipgemm.lab.frame import Study

_GAP = 34  # above each drawing, for its caption


def text(study: Study, width: int | None = None) -> str:
    """The paragraph and the table. width: of the terminal, as wide as the table needs if not given."""
    table = grid(pad_edge=False, collapse_padding=True)
    for column in study.columns:
        numbers = all(not isinstance(row.get(column.key), str) for row in study.rows)
        table.add_column(f"{column.title}\n{column.unit}", justify="right" if numbers else "left", no_wrap=True)
    for row in study.rows:
        table.add_row(*(column.text(row) for column in study.columns))

    def show(console: Console) -> None:
        console.print(study.title, style="bold")
        console.print()
        console.print(study.paragraph, width=min(100, console.width), highlight=False)
        console.print(table)
        for what, value in facts(study):
            console.print(f" {what}: {value}", highlight=False, soft_wrap=True)

    return plain(show, width or 160)


def facts(study: Study) -> list[tuple[str, str]]:
    """What holds for all rows, and the answers."""
    wrong = sum(not row["correct"] for row in study.rows)
    answers = f"WRONG in {wrong} of {len(study.rows)} rows" if wrong else f"all {len(study.rows)} correct"
    return [("times", study.time_kind), ("answers", answers), *study.conditions]


def page(study: Study) -> str:
    """A self-contained page."""
    return render("lab.html.j2", study=study, facts=facts(study))


def fragment(study: Study) -> str:
    """For a notebook."""
    return render("fragment.html.j2", name="study", arguments=(study, facts(study)))


def drawing(study: Study) -> str:
    """All plots below each other as one SVG file, light or dark as its reader's system is."""
    parts, y, width = [], 0.0, 0.0
    for plot in study.plots:
        found = re.match(r'<svg viewBox="0 0 ([\d.]+) ([\d.]+)"[^>]*>', plot.drawing)
        assert found is not None
        wide, high = float(found[1]), float(found[2])
        caption = f"{escape(plot.caption)} ({study.time_kind})"
        parts.append(f'<text x="8" y="{y + 22:g}" font-size="15" style="fill:var(--fg)">{caption}</text>')
        parts.append(f'<svg y="{y + _GAP:g}" height="{high:g}" {plot.drawing[5:]}')
        y, width = y + _GAP + high, max(width, wide)
    style = (TEMPLATES / "style.css").read_text()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="hipgemm" viewBox="0 0 {width:g} {y:g}" width="{width:g}" '
        f'height="{y:g}">\n<title>{escape(study.title)}</title>\n<style><![CDATA[\n{style}]]></style>\n'
        f'<rect width="100%" height="100%" style="fill:var(--bg)"/>\n{"".join(parts)}\n</svg>\n'
    )
