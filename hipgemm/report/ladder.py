"""An `Overview` as one HTML page: table, bars, roofline, where cycles go, and each kernel's own section.

Published, predicted and measured figures have columns, colours and shapes of their own (hipgemm.report.svg).
"""

from __future__ import annotations

from hipgemm.judge.inspection.overview import Overview, RungOverview
from hipgemm.report import inspection, svg, timing
from hipgemm.report.pages import percent, render

LINE = 128  # bytes of a cache line


def page(o: Overview) -> str:
    """The page. It asks no server for anything."""
    from isa.timing.native.engine_abi import CAUSES

    predicted = [(e.name, list(e.prediction.timing.causes.items())) for e in o.entries if e.prediction]
    present = [c for c in CAUSES if any(dict(row).get(c, 0) >= 0.0005 for _, row in predicted)]
    points = _points(o)
    return render(
        "ladder.html.j2",
        o=o,
        rows=[_row(o, e) for e in o.entries],
        bars=svg.bars([(e.name, _bars(o, e)) for e in o.entries if _bars(o, e)], "GFLOP/s", "GFLOP/s of each kernel"),
        causes=svg.stacked(predicted, CAUSES, "Where the cycles of a SIMD go") if predicted else "",
        legend=[(CAUSES.index(name), name) for name in present],
        roofline=_roofline(o, points) if points else "",
        sections=[_section(e) for e in o.entries if e.inspection or e.why],
        kinds=[k for k in svg.KINDS if any(bar.kind == k for e in o.entries for bar in _bars(o, e))],
    )


def _bars(o: Overview, e: RungOverview) -> list[svg.Bar]:
    def rate(ms: float) -> float:
        return o.flops / ms / 1e6

    found = []
    if e.published:
        found.append(svg.Bar("published", e.published.gflops, f"{e.published.gflops:.0f}"))
    if e.prediction:
        t = e.prediction.timing
        middle, low, high = (rate(1e3 * s) for s in (t.time_s, t.high_s, t.low_s))
        found.append(svg.Bar("predicted", middle, f"{middle:.0f}", low, high))
    if e.measured and e.measured.time_ms and e.measured.correct:
        value = rate(e.measured.time_ms)
        found.append(svg.Bar("measured", value, f"{value:.0f}"))
    return found


def _row(o: Overview, e: RungOverview) -> dict[str, str]:
    unknown = "not known"
    row = dict.fromkeys(
        "published published_rate published_valu predicted band predicted_rate difference valu measured spread "
        "measured_rate vgprs waves".split(),
        "",
    )
    row |= {"name": e.name, "title": e.title, "link": "y" if e.inspection or e.why else ""}
    if e.published:
        row["published"] = f"{e.published.time_ms:.4f}"
        row["published_rate"] = f"{e.published.gflops:.0f}"
        row["published_valu"] = e.published.valu_utilisation
    if e.prediction:
        t = e.prediction.timing
        ms = 1e3 * t.time_s
        row["predicted"] = f"{ms:.4f}"
        row["band"] = f"{1e3 * t.low_s:.3f} to {1e3 * t.high_s:.3f}"
        row["predicted_rate"] = f"{o.flops / ms / 1e6:.0f}"
        row["valu"] = percent(t.valu_utilisation)
        if e.published:
            row["difference"] = f"{100 * (ms / e.published.time_ms - 1):+.1f} %"
    else:
        row["predicted"] = unknown
    if e.measured and e.measured.time_ms:
        row["measured"] = f"{e.measured.time_ms:.4f}" if e.measured.correct else "WRONG"
        row["measured_rate"] = f"{o.flops / e.measured.time_ms / 1e6:.0f}" if e.measured.correct else ""
        if e.measured.deviation_ms is not None:
            row["spread"] = f"{e.measured.mean_ms:.4f} ± {e.measured.deviation_ms:.4f}"
    elif o.device:
        row["measured"] = unknown
    if e.inspection:
        row["vgprs"] = str(e.inspection.vgprs)
        row["waves"] = f"{e.inspection.occupancy.waves:g}"
    return row


def intensity(e: RungOverview, level: int) -> float | None:
    """Operations for each byte that the cycle model's busiest unit asked a level for, by lines of 128 bytes. level: 2
    is L2, 3 L3, 4 VRAM. None where there is no prediction or no such line."""
    if e.prediction is None or (size := e.prediction.launch.problem) is None:
        return None
    t = e.prediction.timing
    lines = float(t.typical.lines[level])
    share = t.unit_workgroups / t.workgroups * t.typical.played
    return 2.0 * size.m * size.n * size.k * share / (LINE * lines) if lines else None


def _points(o: Overview) -> list[svg.Point]:
    found = []
    for e in o.entries:
        x = intensity(e, 2)
        if x is not None:
            found += [svg.Point(b.kind, e.name, x, b.value * 1e9) for b in reversed(_bars(o, e))]
    return found


def _roofline(o: Overview, points: list[svg.Point]) -> str:
    peak = o.card.peak_flops(o.clock_mhz)
    roofs = [("dual issue", peak), ("single issue", peak / 2)]
    return svg.roofline(points, [("L2", o.card.l2_bandwidth)], roofs, f"Roofline of the {o.card.name}")


def _section(e: RungOverview) -> dict[str, object]:
    predicted = [row for row in timing.rows(e.prediction) if row[0] not in ("", "occupancy")] if e.prediction else []
    asked = [(name, intensity(e, level)) for name, level in (("L2", 2), ("L3", 3), ("VRAM", 4))]
    if traffic := ", ".join(f"{x:.3g} a byte of {name}" for name, x in asked if x):
        predicted.append(("operations", traffic))
    return {
        "name": e.name,
        "title": e.title,
        "view": inspection.view(e.inspection) if e.inspection else None,
        "prediction": predicted,
        "measured": [row for row in e.measured.rows() if row[0] != "uses"] if e.measured else [],
        "why": e.why,
    }
