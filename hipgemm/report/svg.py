"""Charts as inline SVG: bars side by side, stacked shares, a roofline. No library, no script.

Colours are variables of the page's style sheet, so that one drawing does for light and dark.
What is measured is drawn solid, what is predicted hatched, what others published as an outline: the difference must
also be seen without colour. Each mark has a title for the pointer and for readers who listen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

KINDS = ("published", "predicted", "measured")
_HATCH = (
    '<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<rect width="6" height="6" fill="var(--predicted)" fill-opacity=".25"/>'
    '<rect width="2.5" height="6" fill="var(--predicted)"/></pattern>'
)


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: kind of KINDS, its length, the words after it; low and high are the ends of its band."""

    kind: str
    value: float
    label: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """One mark of a roofline: operations a byte, operations a second."""

    kind: str
    label: str
    intensity: float
    rate: float


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a chart: (x, y) by rising x."""

    name: str
    points: Sequence[tuple[float, float]]


def lines(series: Sequence[Series], across: str, up: str, title: str, *, doubling: bool = False) -> str:
    """Lines over one linear x axis, each point a mark; colours --s0, --s1, ... in turn. The y axis is linear from 0, or
    with `doubling` logarithmic from 1."""
    left, right, top, bottom, width, height = 60, 110, 24, 44, 1152, 400
    points = [point for line in series for point in line.points]
    lowest, highest = min(x for x, _ in points), max(x for x, _ in points)
    most = max(y for _, y in points) or 1
    step = _step(most / 6)
    ticks = [k * step for k in range(int(most / step) + 1)]
    if doubling:
        ticks = [2.0**k for k in range(math.ceil(math.log2(max(most, 2)) - 0.01) + 1)]
        most = ticks[-1]

    def at(x: float, y: float) -> tuple[float, float]:
        share = (x - lowest) / ((highest - lowest) or 1)
        rise = math.log2(y) / math.log2(most) if doubling else y / most
        return left + share * (width - left - right), height - bottom - rise * (height - top - bottom)

    out = []
    for tick in ticks:
        _, y = at(lowest, tick)
        out.append(f'<line class="grid" x1="{left}" x2="{width - right}" y1="{y:.1f}" y2="{y:.1f}"/>')
        out.append(_text(left - 8, y + 4, f"{tick:g}", anchor="end", muted=True))
    between = _step((highest - lowest) / 20)
    for value in sorted({x for x, _ in points if x % between == 0} | {lowest}):
        out.append(_text(at(value, 1)[0], height - bottom + 18, f"{value:g}", anchor="middle", muted=True))
    out.append(_text(width - right, height - 6, across, anchor="end", muted=True))
    out.append(_text(left - 8, top - 10, up, anchor="end", muted=True))
    ends = {}
    for k, line in enumerate(series):
        places = [at(x, y) for x, y in line.points]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        out.append(f'<path d="M{path}" fill="none" style="stroke:var(--s{k})" stroke-width="1.5"/>')
        for (x, y), (px, py) in zip(line.points, places, strict=True):
            mark = f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3.5" style="fill:var(--s{k})">'
            out.append(f"{mark}<title>{escape(line.name)}: {across} {x:g}, {y:.4g} {up}</title></circle>")
        ends[line.name] = places[-1]
    for name, _, (x, y) in _spread(ends):
        colour = next(k for k, line in enumerate(series) if line.name == name)
        out.append(f'<text x="{x:.1f}" y="{y + 4:.1f}" style="fill:var(--s{colour})">{escape(name)}</text>')
    return _svg(width, height, title, "".join(out))


def bars(
    groups: Sequence[tuple[str, Sequence[Bar]]], unit: str, title: str, *, left: int = 90, right: int = 150
) -> str:
    """Horizontal bars on one linear scale from 0, grouped under their names. left, right: room for names and labels."""
    thick, gap = 15, 12
    width, inner = 1152, 1152 - left - right
    most = max((max(bar.value, bar.high or 0) for _, row in groups for bar in row), default=1) or 1
    step = _step(most / 5)
    top = 8
    out, y = [], float(top)
    for name, row in groups:
        out.append(_text(left - 10, y + len(row) * thick / 2 + 4, name, anchor="end"))
        for bar in row:
            long = inner * bar.value / most
            out.append(f"<g><title>{escape(f'{name}, {bar.kind}: {bar.label}')}</title>")
            out.append(_rect(left, y + 1, long, thick - 2, bar.kind))
            end = left + long
            if bar.low is not None and bar.high is not None:
                a, b = left + inner * bar.low / most, left + inner * bar.high / most
                middle = y + thick / 2
                out.append(f'<path class="axis" d="M{a:.1f} {middle}H{b:.1f}M{a:.1f} {y + 4}v7M{b:.1f} {y + 4}v7"/>')
                end = max(end, b)
            out.append(_text(end + 6, y + thick - 3.5, bar.label, size=11) + "</g>")
            y += thick
        y += gap
    height = y + 26
    lines = []
    for k in range(int(most / step) + 1):
        x = left + inner * k * step / most
        lines.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{y - gap + 4:.1f}"/>')
        lines.append(_text(x, y + 6, f"{k * step:g}", anchor="middle", muted=True))
    lines.append(_text(left + inner + right - 4, y + 6, unit, anchor="end", muted=True))
    return _svg(width, height, title, "".join(lines + out))


def stacked(
    rows: Sequence[tuple[str, Sequence[tuple[str, float]]]], names: Sequence[str], title: str, left: int = 90,
    inside: Callable[[str, float], str] = lambda name, share: f"{100 * share:.0f} %",
) -> str:  # fmt: skip
    """Shares that sum to 1 as one bar a row; the colour is that of the name's place in `names` (--s0, --s1, ...). left:
    room for the rows' labels; inside: (name, share) -> what is written where there is room."""
    thick, gap, inner = 20, 8, 1152 - left
    out = []
    for k, (label, shares) in enumerate(rows):
        y, x = 4 + k * (thick + gap), float(left)
        out.append(_text(left - 10, y + 15, label, anchor="end"))
        for name, share in shares:
            long = inner * share
            out.append(
                f'<rect x="{x:.2f}" y="{y}" width="{max(0, long):.2f}" height="{thick}" '
                f'style="fill:var(--s{names.index(name)})"><title>{escape(label)}: {escape(name)} {100 * share:.1f} %'
                f"</title></rect>"
            )
            if long > 42:
                text = inside(name, share)
                out.append(
                    f'<text x="{x + long / 2:.1f}" y="{y + 14.5}" text-anchor="middle" class="inside" '
                    f'pointer-events="none" style="fill:var(--bg)">{text}</text>'
                )
            x += long
    return _svg(1152, 8 + len(rows) * (thick + gap), title, "".join(out))


def grids(tiles: Sequence[tuple[str, Sequence[Sequence[int]]]], title: str) -> str:
    """Arrays side by side, a cell an element: its number, and one colour for all cells of that number."""
    side, top, x, out = 26, 30, 8.0, []
    for caption, cells in tiles:
        out.append(_text(x, 18, caption))
        for row, line in enumerate(cells):
            for column, number in enumerate(line):
                at, y = x + column * side, top + row * side
                colour, where = number % 13, f"{escape(caption)}: row {row}, column {column}: {number}"
                out.append(
                    f'<rect x="{at:g}" y="{y}" width="{side - 2}" height="{side - 2}" style="fill:var(--s{colour})">'
                    f'<title>{where}</title></rect><text x="{at + 12:g}" y="{y + 16}" text-anchor="middle" '
                    f'class="inside" style="fill:var(--bg)">{number}</text>'
                )
        x += side * max(len(cells[0]), 9) + 24
    return _svg(x, top + side * max(len(cells) for _, cells in tiles) + 6, title, "".join(out))


def listings(columns: Sequence[tuple[str, Sequence[str]]], title: str) -> str:
    """Texts side by side, under their names."""
    wide, high = 1152 / len(columns), 15
    out = []
    for k, (name, lines) in enumerate(columns):
        out.append(_text(8 + k * wide, 16, name))
        out += [
            f'<text class="code" x="{8 + k * wide:g}" y="{36 + n * high}" font-size="11">{escape(line)}</text>'
            for n, line in enumerate(lines)
        ]
    return _svg(1152, 44 + high * max(len(lines) for _, lines in columns), title, "".join(out))


def roofline(
    points: Sequence[Point], slopes: Sequence[tuple[str, float]], roofs: Sequence[tuple[str, float]], title: str
) -> str:
    """A roofline, both axes logarithmic. slopes: (name, bytes/s); roofs: (name, operations/s)."""
    left, bottom, top, width, height = 70, 50, 14, 1152, 460
    lowest_x = min([0.5, *(p.intensity for p in points)])
    highest_x = max([128, *(p.intensity * 1.6 for p in points)])
    highest_y = max(rate for _, rate in roofs) * 1.6
    lowest_y = min([highest_y / 200, *(p.rate / 2 for p in points)])

    def at(x: float, y: float) -> tuple[float, float]:
        across = math.log(x / lowest_x) / math.log(highest_x / lowest_x)
        up = math.log(y / lowest_y) / math.log(highest_y / lowest_y)
        return left + across * (width - left - 20), height - bottom - up * (height - bottom - top)

    out = ['<clipPath id="plot">' + _box(left, top, width - left - 20, height - bottom - top) + "</clipPath>"]
    for power in range(math.floor(math.log2(lowest_x)), math.ceil(math.log2(highest_x)) + 1):
        if lowest_x <= 2**power <= highest_x:
            x, y = at(2**power, lowest_y)
            out.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{y:.1f}"/>')
            out.append(_text(x, y + 16, f"{2.0**power:g}", anchor="middle", muted=True))
    for power in range(math.floor(math.log10(lowest_y)), math.ceil(math.log10(highest_y)) + 1):
        for digit in (1, 2, 5):
            if lowest_y <= digit * 10**power <= highest_y:
                x, y = at(lowest_x, digit * 10**power)
                out.append(f'<line class="grid" x1="{x:.1f}" x2="{width - 20}" y1="{y:.1f}" y2="{y:.1f}"/>')
                out.append(_text(x - 8, y + 4, f"{digit * 10.0 ** (power - 12):g}", anchor="end", muted=True))
    out.append(_text(width - 20, height - 8, "operations a byte", anchor="end", muted=True))
    out.append(_text(left + 4, top + 10, "TFLOP/s", muted=True))
    peak = max(rate for _, rate in roofs)
    for name, rate in roofs:
        (x0, y0), (x1, _) = at(max(lowest_x, rate / max(s for _, s in slopes)), rate), at(highest_x, rate)
        out.append(f'<line class="axis" x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y0:.1f}"/>')
        out.append(_text(x0 + 16, y0 - 6, f"{name}: {rate / 1e12:.1f} TFLOP/s", muted=True))
    for name, slope in slopes:
        (x0, y0), (x1, y1) = at(lowest_x, lowest_x * slope), at(peak / slope, peak)
        out.append(
            f'<line class="axis" clip-path="url(#plot)" x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}"/>'
        )
        # Where the name stands: on the line, at two fifths of the plot's height.
        rate = lowest_y * (peak / lowest_y) ** 0.4
        x, y = at(max(lowest_x * 1.1, rate / slope), max(rate, lowest_x * 1.1 * slope))
        angle = -math.degrees(math.atan2(y0 - y1, x1 - x0))
        out.append(
            f'<text class="muted" transform="translate({x - 5:.1f} {y - 5:.1f}) rotate({angle:.1f})">'
            f"{escape(name)}: {slope / 1e12:.2f} TB/s</text>"
        )
    labels: dict[str, tuple[float, float]] = {}
    for p in points:
        x, y = at(p.intensity, p.rate)
        out.append(
            f"<g><title>{escape(f'{p.label}, {p.kind}: {p.rate / 1e12:.2f} TFLOP/s')} at {p.intensity:.1f} "
            f"operations a byte</title>{_mark(x, y, p.kind)}</g>"
        )
        labels.setdefault(p.label, (x, y))
    for name, (x, y), (lx, ly) in _spread(labels):
        out.append(f'<line class="leader" x1="{x + 7:.1f}" y1="{y:.1f}" x2="{lx - 3:.1f}" y2="{ly:.1f}"/>')
        out.append(_text(lx, ly + 4, name, size=11))
    return _svg(width, height, title, "".join(out))


def _spread(
    labels: dict[str, tuple[float, float]], high: float = 14
) -> list[tuple[str, tuple[float, float], tuple[float, float]]]:
    """(name, its mark, where its text goes): to the right of the marks, those that stand close one below another."""
    groups: list[list[str]] = []
    for name in sorted(labels, key=lambda n: labels[n][0]):
        if groups and labels[name][0] - labels[groups[-1][-1]][0] < 80:
            groups[-1].append(name)
        else:
            groups.append([name])
    found = []
    for group in groups:
        group.sort(key=lambda n: labels[n][1])
        x = max(labels[n][0] for n in group) + 24
        wanted = [labels[n][1] for n in group]
        for k in range(1, len(wanted)):
            wanted[k] = max(wanted[k], wanted[k - 1] + high)
        up = (sum(wanted) - sum(labels[n][1] for n in group)) / len(group)
        found += [(n, labels[n], (x, y - up)) for n, y in zip(group, wanted, strict=True)]
    return found


def _mark(x: float, y: float, kind: str) -> str:
    shape = {
        "published": f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="none" stroke="var(--published)" '
        'stroke-width="2"/>',
        "predicted": f'<path d="M{x:.1f} {y - 6:.1f}l6 6l-6 6l-6 -6z" fill="url(#hatch)" stroke="var(--predicted)" '
        'stroke-width="1.5"/>',
        "measured": f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5.5" fill="var(--measured)"/>',
    }
    return shape[kind]


def _rect(x: float, y: float, width: float, height: float, kind: str) -> str:
    fill = {"published": "none", "predicted": "url(#hatch)", "measured": "var(--measured)"}[kind]
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 1):.1f}" height="{height}" fill="{fill}" '
        f'stroke="var(--{kind})" stroke-width="1.2"/>'
    )


def _box(x: float, y: float, width: float, height: float) -> str:
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}"/>'


def _text(x: float, y: float, text: str, *, anchor: str = "start", muted: bool = False, size: int = 12) -> str:
    look = (' class="muted"' if muted else "") + (f' font-size="{size}"' if size != 12 else "")
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{look}>{escape(text)}</text>'


def _svg(width: float, height: float, title: str, content: str) -> str:
    """The drawing. Ids are its own: a page holds several."""
    name = "hatch-" + "".join(c if c.isalnum() else "-" for c in title)
    defs = f"<defs>{_HATCH}</defs>" if "url(#hatch)" in content else ""
    text = f"{defs}{content}".replace("#hatch)", f"#{name})").replace('id="hatch"', f'id="{name}"')
    box = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}"'
    return f'<svg {box} role="img" aria-label="{escape(title)}">{text}</svg>'


def _step(rough: float) -> float:
    """A round number near `rough`: 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(rough)) if rough > 0 else 1.0
    return next(digit * power for digit in (1, 2, 5, 10) if digit * power >= rough)
