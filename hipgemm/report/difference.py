"""Reports of two kernels: a `KernelDifference` or a `Comparison` -> text, and HTML for a notebook."""

from __future__ import annotations

from collections.abc import Sequence

from hipgemm.judge.comparison import Comparison, Part
from hipgemm.judge.inspection.difference import KernelDifference
from hipgemm.report.pages import part
from isa.display import number_of
from isa.timing.model.shown import assumed, taken_from_a_run

HUNKS = 12
"""How many places of changed instructions a terminal shows unless asked for all, and how many lines of each."""
LINES = 8
_SHOWN = 6
"""Parts of a kind that the text names."""


def text(d: KernelDifference, hunks: int | None = HUNKS) -> str:
    """What changed, most wanted first; numbers that stayed are left out. hunks: None for all."""
    out = [f"{d.kernel}: {d.files[0]} -> {d.files[1]}"]
    whole = d.proof and (d.hunks or d.beside)
    said = str(d.proof).splitlines()[0] if whole else d.verdict + (f" ({d.why})" if d.why else "")
    out.append(f"  does the same  {said}")
    if d.proof and d.proof.proved:
        out.append(f"  judge          {d.proof.judge}")
    held = d.proof.assumptions if d.proof and d.proof.proved else ()
    out += [f"  assuming       {what}" for what in dict.fromkeys((*d.assumed, *held))]
    if d.predictions:
        old, new = (p.timing.time_s * 1e3 for p in d.predictions)
        out.append(f"  time           {old:.4f} -> {new:.4f} ms predicted, {100 * (new / old - 1):+.1f} %")
        for side, p in zip(("old", "new"), d.predictions, strict=True):
            out += [f"  {side} time       {assumed(p.timing.guards)}"] if p.timing.guards else []
            out += [f"  {side} path       {taken_from_a_run(p.ran)}"] if p.ran else []
    elif d.unlaunched:
        out.append(f"  time           not predicted: {d.unlaunched}")
    changed = [f"{old:g} -> {new:g} {what}" for what, (old, new) in d.numbers.items() if old != new]
    out.append(f"  numbers        {', '.join(changed) or 'none changed'}")
    if len(set(d.modes)) > 1:
        out.append("  mode           {} -> {}".format(*d.modes))
    gone, come = (sum(len(getattr(h, side)) for h in d.hunks) for side in ("gone", "come"))
    said = f"{gone} removed, {come} added, in {number_of(len(d.hunks), 'place')}" if d.hunks else "the same"
    out.append(f"  instructions   {said}")
    out += [f"  beside them    {line}" for what in d.beside for line in what.splitlines()]
    for side, findings in (("new", d.come), ("gone", d.gone)):
        for finding in findings:
            out.append(f"  {side} {finding.severity}  " + str(finding.error()).splitlines()[0])
    for hunk in d.hunks[:hunks]:
        out.append(f"@ {hunk.at[0]} -> {hunk.at[1]}")
        for sign, rows in (("-", hunk.gone), ("+", hunk.come)):
            shown = rows if hunks is None else rows[:LINES]
            out += [f"{sign} {row}" for row in shown]
            out += [f"{sign} ... {len(rows) - len(shown)} more"] if len(shown) < len(rows) else []
    if hunks is not None and len(d.hunks) > hunks:
        out.append(f"... {len(d.hunks) - hunks} more places: --all")
    return "\n".join(out)


def html(d: KernelDifference) -> str:
    """For a notebook."""
    return part("messages", f"{d.kernel}: {d.verdict}", [("", text(d))], d.worse)


def compared(c: Comparison) -> str:
    """Of a comparison, all of which is predicted: the first cause first; times in ms."""
    more = c.b_ms - c.a_ms
    out = [
        f"A  {c.names[0]}: {c.a_ms:.4f} ms predicted; limited by {c.limits[0]}",
        f"B  {c.names[1]}: {c.b_ms:.4f} ms predicted; limited by {c.limits[1]}",
        f"B takes {abs(more):.4f} ms {'more' if more >= 0 else 'less'}, {100 * more / c.a_ms:+.1f} %"
        + (f", mostly for {c.first}" if c.first else ""),
    ]
    for heading, parts in (
        ("what each cause costs, taken away alone", c.causes), ("where the cycles of a SIMD go", c.cycles),
        ("loops", c.loops), ("lines", c.lines),
    ):  # fmt: skip
        if parts:
            out += ["", f"  {heading:<56} {'A, ms':>9} {'B, ms':>9} {'more':>9}", *map(_row, _chosen(parts))]
            left = len(parts) - len(_chosen(parts))
            out += [f"  and {left} more: --json"] if left else []
    return "\n".join(out)


def _chosen(parts: Sequence[Part]) -> list[Part]:
    """Those that differ most, in their order."""
    most = sorted(parts, key=lambda part: -abs(part.more_ms))[:_SHOWN]
    return [part for part in parts if part in most]


def _row(part: Part) -> str:
    name = part.what if len(part.what) <= 56 else part.what[:53] + "..."
    why = f"  {part.cause}" if part.cause else ""
    return f"  {name:<56} {part.a_ms:>9.4f} {part.b_ms:>9.4f} {part.more_ms:>+9.4f}{why}"
