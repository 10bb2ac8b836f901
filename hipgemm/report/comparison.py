"""Report of a comparison: a `Comparison` -> text. All of it is predicted."""

from __future__ import annotations

from collections.abc import Sequence

from hipgemm.judge.comparison import Comparison, Part

_SHOWN = 6
"""Parts of a kind that the text names."""


def text(c: Comparison) -> str:
    """The first cause first; times in ms."""
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
