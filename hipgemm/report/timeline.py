"""Report of a timeline: a timeline -> one self-contained HTML page, or a trace for Perfetto. All of it is predicted.

The page holds the spans of each lane as bytes (`_packed`), the instructions with their figures, and a script that draws
both (`templates/timeline.js`); it asks no server for anything.

Colours: eight, `--t0` to `--t7` of `templates/timeline.css`, one for each of GROUPS. Any two may lie side by side, in a
lane or in a bar. So any two differ by 20 in CIEDE2000 at least, for full colour vision and with each kind of cone
missing, and each by 3 : 1 in contrast from what is behind it.
"""

from __future__ import annotations

import base64
import itertools
import json
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Any

from hipgemm.judge.timeline import ISSUED
from hipgemm.report.pages import render

if TYPE_CHECKING:
    import numpy as np

    from hipgemm.judge.timeline import Line, Timeline

GROUPS = {
    "issues": (),
    "VALU busy": ("VALU busy",),
    "VALU result": ("VALU dependency", "drain"),
    "LDS": ("LDS wait", "LDS bandwidth"),
    "memory": ("GMEM wait",),
    "barrier": ("barrier",),
    "unit or path busy": ("issue and request path",),
    "scalar and code": ("scalar", "branch", "instruction fetch"),
}
"""What one colour stands for -> the engine's causes of waits in it. The first is no wait."""
_COLUMNS = (
    ("line", "line", "in the order of the code"),
    ("hits", "hits", "how many times it issued"),
    ("share", "share", "of all cycles that waves spent"),
    ("stall", "stall", "cycles that a wave waited at it, on average"),
    ("bar", "cycles", "by cause"),
    ("cause", "mostly for", "the main cause of its stalls"),
    ("text", "instruction", "as text"),
)


def page(t: Timeline) -> str:
    """Lanes of all waves to zoom and pan, and the list of instructions with what each takes and why."""
    from isa.timing.native.engine_abi import CAUSES

    sourced = any(line.place and line.place.source for line in t.lines)
    groups = list(GROUPS)
    data = {
        "start": t.start,
        "end": t.end,
        "causes": CAUSES,
        "groups": groups,
        "group": [next((k for k, name in enumerate(groups) if cause in GROUPS[name]), -1) for cause in CAUSES],
        "lanes": [[simd, wave, base64.b64encode(_packed(spans)).decode()] for (simd, wave), spans in _lanes(t)],
        "lines": [_line(line, CAUSES) for line in t.lines],
        "loops": _loops(t),
        "hottest": max(t.lines, key=lambda line: line.hits * (1 + line.stall)).loop,
    }
    return render(
        "timeline.html.j2",
        t=t,
        groups=[(name, causes if causes != (name,) else ()) for name, causes in GROUPS.items()],
        columns=(*_COLUMNS, *((("source", "source", "as text"),) if sourced else ())),
        sourced=sourced,
        data=json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"),
    )


def html(t: Timeline) -> str:
    """The page in a frame of its own: for notebooks."""
    return f'<iframe srcdoc="{escape(page(t))}" style="width:100%;height:40rem;border:0"></iframe>'


def _line(line: Line, causes: tuple[str, ...]) -> list[Any]:
    """[text, number of its line, its source, loop or -1, hits, [cause, cycles a hit, ...]]"""
    place = line.place
    source = f"{place.source.brief}  {place.source.text}" if place and place.source else ""
    stalls = [part for cause, n in line.stalls.items() for part in (causes.index(cause), round(n, 3))]
    loop = -1 if line.loop is None else line.loop
    return [line.text, place.line if place else line.position, source, loop, line.hits, stalls]


def _loops(t: Timeline) -> list[str]:
    """A name for each loop: where it stands, and its share of the cycles; "" for one that holds others alone."""
    total = sum(line.hits * (1 + line.stall) for line in t.lines) or 1
    names = []
    for number in range(1 + max((line.loop for line in t.lines if line.loop is not None), default=-1)):
        own = [line for line in t.lines if line.loop == number]
        share = sum(line.hits * (1 + line.stall) for line in own) / total
        at = [line.place.line if line.place else line.position for line in own]
        names.append(f"lines {at[0]} to {at[-1]}, {100 * share:.0f} % of the cycles" if own else "")
    return names


def _lanes(t: Timeline) -> list[tuple[tuple[int, int], np.ndarray]]:
    """(SIMD, wave slot) -> its spans, in order."""
    import numpy as np

    lanes, first = np.unique(t.spans[:, :2], axis=0, return_index=True)
    return [
        ((int(simd), int(wave)), spans)
        for (simd, wave), spans in zip(lanes, np.split(t.spans[:, 2:], first[1:]), strict=True)
    ]


def _packed(spans: np.ndarray) -> bytes:
    """Spans (first cycle, cycles, instruction, cause) of a lane as bytes. Of each: a byte, 0 for an issue or 1 + its
    cause, + 16 where cycles lie between it and the last one, + 32 where its instruction is not the one that follows
    (after an issue the next, after a wait the same); then those cycles, its own length where it is no issue, and how
    far off its instruction is, sign in the lowest bit. Numbers take 7 bits a byte, the lowest first, + 128 where more
    follow."""
    out = bytearray()

    def number(n: int) -> None:
        while n > 127:
            out.append(n & 127 | 128)
            n >>= 7
        out.append(n)

    now = follows = 0
    for begin, cycles, position, cause in spans.tolist():
        off = position - follows
        out.append(cause - ISSUED | (16 if begin != now else 0) | (32 if off else 0))
        if begin != now:
            number(begin - now)
        if cause != ISSUED:
            number(cycles)
        if off:
            number(2 * abs(off) + (off < 0))
        now, follows = begin + cycles, position + (cause == ISSUED)
    return bytes(out)


_BIN = 50
"""Cycles that a counter is the average of."""


def perfetto(t: Timeline) -> str:
    """The Trace Event format, which ui.perfetto.dev and chrome://tracing read. Its unit is the microsecond, which is a
    cycle here: the names of processes and `otherData` say so.

    A process is a SIMD, a thread a place for a wave (numbers from 1: 0 is the idle task's). A slice is an instruction
    from when its wave comes to it until it has issued, a barrier or a branch until it lets the wave go; in it lie its
    waits by cause. Counters, of each SIMD: its waves by what they do, and the share of cycles in which it issues to the
    VALU, each the average of _BIN cycles.
    """
    events: list[dict[str, Any]] = []

    def named(kind: str, pid: int, name: str, order: int, tid: int = 0) -> None:
        events.append({"name": f"{kind}_name", "ph": "M", "pid": pid, "tid": tid, "args": {"name": name}})
        events.append({"name": f"{kind}_sort_index", "ph": "M", "pid": pid, "tid": tid, "args": {"sort_index": order}})

    for simd in sorted(set(t.spans[:, 0].tolist())):
        named("process", simd + 1, f"SIMD {simd} of a {t.unit}, predicted, 1 us = 1 cycle", simd)
        events += _counters(t, simd)
    for (simd, wave), spans in _lanes(t):
        named("thread", simd + 1, f"wave slot {wave}", wave, wave + 1)
        for event in _slices(t, spans.tolist()):
            events.append({**event, "ph": "X", "pid": simd + 1, "tid": wave + 1})
    other = {
        "kernel": t.name, "time": "1 us stands for 1 cycle", "clock_mhz": t.clock_mhz,
        "what": "predicted by hipgemm's cycle model, not measured",
    }  # fmt: skip
    return json.dumps({"displayTimeUnit": "ns", "otherData": other, "traceEvents": events})


def _slices(t: Timeline, spans: list[list[int]]) -> Iterator[dict[str, Any]]:
    """Of one lane: each instruction, then what lies in it."""
    from isa.timing.native.engine_abi import CAUSES

    own: list[list[int]] = []
    for span, following in itertools.zip_longest(spans, spans[1:]):
        own.append(span)
        line = t.lines[span[2]]
        if following and following[2] == span[2]:
            again = span[3] == ISSUED and (following[3] == ISSUED or CAUSES[following[3]] not in ("barrier", "branch"))
            if not again and following[0] == span[0] + span[1]:
                continue
        begin, end = own[0][0], span[0] + span[1]
        more = {} if line.place is None else {"line": str(line.place)}
        yield {
            "name": line.text.split()[0], "cat": line.kind, "ts": begin, "dur": end - begin,
            "args": {"instruction": line.text, **more},
        }  # fmt: skip
        for at, cycles, _, cause in own:
            if cause != ISSUED:
                yield {"name": CAUSES[cause], "cat": "wait", "ts": at, "dur": cycles}
        own = []


def _counters(t: Timeline, simd: int) -> Iterator[dict[str, Any]]:
    import numpy as np

    from isa.timing.native.engine_abi import CAUSES

    spans = t.spans[t.spans[:, 0] == simd]
    bins = -(-(t.end - t.start) // _BIN)
    doing = dict(zip(GROUPS, np.zeros((len(GROUPS), bins)), strict=True))
    valu = np.zeros(bins)
    for _, _, begin, cycles, position, cause in spans.tolist():
        name = "issues" if cause == ISSUED else next(g for g, causes in GROUPS.items() if CAUSES[cause] in causes)
        at, end = begin - t.start, begin - t.start + cycles
        while at < end:
            step = min(end, (at // _BIN + 1) * _BIN) - at
            doing[name][at // _BIN] += step
            valu[at // _BIN] += cause == ISSUED and t.lines[position].kind == "VALU"
            at += step
    for k in range(bins):
        at, cycles = t.start + k * _BIN, min(_BIN, t.end - t.start - k * _BIN)
        both = {"ph": "C", "pid": simd + 1, "ts": at}
        yield {"name": "waves", **both, "args": {name: round(float(n[k]) / cycles, 3) for name, n in doing.items()}}
        yield {"name": "VALU issues, % of cycles", **both, "args": {"%": round(100 * float(valu[k]) / cycles, 1)}}
