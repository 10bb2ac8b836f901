"""A timeline as one self-contained HTML page, and as a Chrome/Perfetto trace. All of it is predicted."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING

from hipgemm.report.pages import render

if TYPE_CHECKING:
    from hipgemm.timeline import Issue, Line, Timeline

_GROUPS = {
    "VALU": "VALU",
    "LDS_LOAD": "LDS",
    "LDS_STORE": "LDS",
    "LOAD": "memory",
    "STORE": "memory",
    "WAIT": "waiting",
    "BARRIER": "barrier",
}
_OTHER = "scalar and others"
COLOURS = {"VALU": "s0", "LDS": "s4", "memory": "s5", "waiting": "s12", "barrier": "s6", _OTHER: "s2"}
"""Group of instructions -> variable of the style sheet. Near those of the stall causes that they end in."""
_WIDTH, _LANE, _LEFT = 1152, 18, 106


def _group(kind: str) -> str:
    return _GROUPS.get(kind, _OTHER)


def page(t: Timeline) -> str:
    """Lanes of all waves, and the main loop with what each instruction takes and why."""
    from isa.timing.engine_abi import CAUSES

    longest = max((1 + line.stall for line in t.lines), default=1)
    present = [c for c in CAUSES if any(line.stalls.get(c, 0) >= 0.05 for line in t.lines)]
    total = sum(line.hits * (1 + line.stall) for line in t.lines) or 1
    return render(
        "timeline.html.j2",
        t=t,
        lanes=_lanes(t),
        groups=list(COLOURS.items()),
        causes=[(f"s{CAUSES.index(c)}", c) for c in present],
        rows=[_row(line, longest, total, CAUSES) for line in t.lines],
        hottest=sorted(t.lines, key=lambda line: -line.hits * line.stall)[:5],
        total=total,
    )


def _row(line: Line, longest: float, total: float, causes: tuple[str, ...]) -> dict[str, object]:
    parts = [(f"s{causes.index(c)}", c, n, 14 * n / longest) for c, n in line.stalls.items() if n >= 0.05]
    return {"line": line, "share": line.hits * (1 + line.stall) / total, "parts": parts, "issue": 14 / longest}


def _lanes(t: Timeline) -> str:
    """One lane a wave: what it does from the window's first cycle to its last, neighbours of a kind drawn as one."""
    spans: dict[tuple[int, int], list[tuple[int, int, str]]] = {}
    for issue in t.issues:
        lane = spans.setdefault((issue.simd, issue.wave), [])
        group = _group(issue.kind)
        end = issue.cycle + issue.cycles
        if lane and lane[-1][2] == group and lane[-1][1] >= issue.cycle:
            lane[-1] = (lane[-1][0], end, group)
        else:
            lane.append((issue.cycle, end, group))
    scale = (_WIDTH - _LEFT) / max(1, t.end - t.start)
    rows = []
    for y, ((simd, wave), lane) in enumerate(sorted(spans.items())):
        top = y * (_LANE + 4)
        rows.append(f'<text x="0" y="{top + 13}">SIMD {simd} wave {wave}</text>')
        rows.append(
            f'<rect x="{_LEFT}" y="{top}" width="{_WIDTH - _LEFT}" height="{_LANE}" style="fill:var(--panel)"/>'
        )
        for begin, end, group in lane:
            rows.append(
                f'<rect x="{_LEFT + (begin - t.start) * scale:.1f}" y="{top}" height="{_LANE}" '
                f'width="{max(0.5, (min(end, t.end) - begin) * scale):.1f}" style="fill:var(--{COLOURS[group]})">'
                f"<title>{escape(group)}, cycles {begin} to {end}</title></rect>"
            )
    height = len(spans) * (_LANE + 4) + 18
    for k in range(6):
        cycle = t.start + (t.end - t.start) * k // 5
        anchor = "start" if k == 0 else "end" if k == 5 else "middle"
        rows.append(
            f'<text class="muted" x="{_LEFT + (_WIDTH - _LEFT) * k / 5:.0f}" y="{height - 4}" text-anchor="{anchor}">'
            f"{cycle}</text>"
        )
    label = f"What each wave does in cycles {t.start} to {t.end}"
    return f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{label}">{"".join(rows)}</svg>'


def perfetto(t: Timeline) -> str:
    """The Trace Event format that ui.perfetto.dev and chrome://tracing read; one cycle is shown as one microsecond."""
    lines = {line.position: line for line in t.lines}

    def event(issue: Issue) -> dict[str, object]:
        line = lines.get(issue.position)
        name = line.text if line else issue.kind
        more = {"usual cause": line.cause} if line and line.cause else {}
        return {
            "name": name.split()[0], "cat": _group(issue.kind), "ph": "X", "ts": issue.cycle,
            "dur": issue.cycles, "pid": issue.simd, "tid": issue.wave, "args": {"instruction": name, **more},
        }  # fmt: skip

    names = [
        {"name": "process_name", "ph": "M", "pid": simd, "args": {"name": f"SIMD {simd} (predicted)"}}
        for simd in sorted({issue.simd for issue in t.issues})
    ]
    return json.dumps({"displayTimeUnit": "ns", "traceEvents": [*names, *map(event, t.issues)]})
