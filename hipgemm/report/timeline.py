"""A timeline as one self-contained HTML page, and as a Chrome/Perfetto trace. All of it is predicted."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hipgemm.timeline import Issue, Timeline

_GROUPS = {
    "VALU": ("VALU", "#3b7dd8"),
    "LDS_LOAD": ("LDS", "#3d9a5f"),
    "LDS_STORE": ("LDS", "#3d9a5f"),
    "LOAD": ("memory", "#c9691d"),
    "STORE": ("memory", "#c9691d"),
    "WAIT": ("waiting", "#b9bec8"),
    "BARRIER": ("barrier", "#d9534f"),
}
_OTHER = ("scalar and others", "#8a6bb8")
_WIDTH, _LANE = 1200, 18

_STYLE = """
:root { color-scheme: light dark; --fg: #1d2330; --bg: #fff; --line: #d5d9e0; --mute: #5b6474; --lane: #f2f4f7; }
@media (prefers-color-scheme: dark) {
  :root { --fg: #e4e7ee; --bg: #14171d; --line: #343b48; --mute: #9aa3b2; --lane: #1d222b; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--fg); background: var(--bg); margin: 2rem auto;
  max-width: 80rem; padding: 0 1.5rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; } p { color: var(--mute); }
svg { width: 100%; height: auto; display: block; } svg text { font: 10px system-ui, sans-serif; fill: var(--mute); }
.key span { display: inline-block; margin-right: 1.2rem; }
.key i { display: inline-block; width: .8em; height: .8em; margin-right: .4em; }
table { border-collapse: collapse; font: 13px/1.5 ui-monospace, monospace; width: 100%; }
th { position: sticky; top: 0; background: var(--bg); text-align: left; border-bottom: 1px solid var(--line); }
th, td { padding: 0 .8rem 0 0; white-space: nowrap; } td.n { text-align: right; }
td.bar { width: 14rem; } td.bar div { height: .8em; }
"""


def _group(kind: str) -> tuple[str, str]:
    return _GROUPS.get(kind, _OTHER)


def page(t: Timeline) -> str:
    """Lanes of all waves, and the main loop with what each instruction takes."""
    spans: dict[tuple[int, int], list[tuple[int, int, str]]] = {}
    for issue in t.issues:
        lane = spans.setdefault((issue.simd, issue.wave), [])
        group = _group(issue.kind)[0]
        end = issue.cycle + issue.cycles
        if lane and lane[-1][2] == group and lane[-1][1] >= issue.cycle:
            lane[-1] = (lane[-1][0], end, group)
        else:
            lane.append((issue.cycle, end, group))
    colours = dict((*_GROUPS.values(), _OTHER))
    scale = _WIDTH / max(1, t.end - t.start)
    rows = []
    for y, ((simd, wave), lane) in enumerate(sorted(spans.items())):
        top = y * (_LANE + 4)
        rows.append(f"<text x='0' y='{top + 13}'>SIMD {simd} wave {wave}</text>")
        rows.append(f"<rect x='100' y='{top}' width='{_WIDTH}' height='{_LANE}' fill='var(--lane)'/>")
        for begin, end, group in lane:
            rows.append(
                f"<rect x='{100 + (begin - t.start) * scale:.1f}' y='{top}' height='{_LANE}' "
                f"width='{max(0.5, (min(end, t.end) - begin) * scale):.1f}' fill='{colours[group]}'>"
                f"<title>{group}, cycles {begin} to {end}</title></rect>"
            )
    height = len(spans) * (_LANE + 4) + 18
    for k in range(6):
        cycle = t.start + (t.end - t.start) * k // 5
        rows.append(f"<text x='{100 + _WIDTH * k / 5:.0f}' y='{height - 4}' text-anchor='middle'>{cycle}</text>")
    key = "".join(f"<span><i style='background:{c}'></i>{escape(n)}</span>" for n, c in colours.items())
    longest = max((line.cycles for line in t.lines), default=1) or 1
    body = "".join(
        f"<tr><td class='n'>{line.hits}</td><td class='n'>{line.cycles:.1f}</td><td class='bar'><div style='"
        f"width:{100 * line.cycles / longest:.1f}%;background:{_group(line.kind)[1]}'></div></td>"
        f"<td>{escape(line.text)}</td></tr>"
        for line in t.lines
    )
    return (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><meta name='viewport' content='width=device-width'>"
        f"<title>{escape(t.name)}: timeline</title><style>{_STYLE}</style><h1>{escape(t.name)}</h1>"
        f"<p>Predicted by the cycle model at {t.clock_mhz:g} MHz, not measured. Cycles {t.start} to {t.end} of the "
        f"busiest unit. The cycles before an instruction are its own: it was waiting to issue; those after a barrier "
        f"or a branch are the barrier's or the branch's.</p>"
        f"<p class='key'>{key}</p><svg viewBox='0 0 {_WIDTH + 130} {height}' role='img'>{''.join(rows)}</svg>"
        f"<h2>Main loop</h2><p>How often each instruction issued, and the cycles of its wave that were its own, on "
        f"average.</p><table><thead><tr><th>hits</th><th>cycles</th><th></th><th>instruction</th></tr></thead>"
        f"<tbody>{body}</tbody></table></html>\n"
    )


def perfetto(t: Timeline) -> str:
    """The Trace Event format that ui.perfetto.dev and chrome://tracing read; one cycle is shown as one microsecond."""
    texts = {line.position: line.text for line in t.lines}

    def event(issue: Issue) -> dict[str, object]:
        name = texts.get(issue.position, issue.kind)
        return {
            "name": name.split()[0], "cat": _group(issue.kind)[0], "ph": "X", "ts": issue.cycle,
            "dur": issue.cycles, "pid": issue.simd, "tid": issue.wave, "args": {"instruction": name},
        }  # fmt: skip

    names = [
        {"name": "process_name", "ph": "M", "pid": simd, "args": {"name": f"SIMD {simd} (predicted)"}}
        for simd in sorted({issue.simd for issue in t.issues})
    ]
    return json.dumps({"displayTimeUnit": "ns", "traceEvents": [*names, *map(event, t.issues)]})
