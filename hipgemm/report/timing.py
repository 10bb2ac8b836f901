"""A prediction as text, as JSON and for a notebook. What is predicted is called so everywhere."""

from __future__ import annotations

from typing import Any

from hipgemm.predict import Prediction
from hipgemm.report.pages import part
from isa.timing import shown
from isa.timing.ensemble import Timing


def rows(p: Prediction) -> list[tuple[str, str]]:
    """(what, value) lines, most wanted first."""
    time, *others = p.timing.rows()
    return [time, *_speed(p), *others]


def text(p: Prediction) -> str:
    """The whole as a table, with where the cycles went."""
    return f"{_title(p)}\n{shown.text(rows(p), p.timing.main_causes)}"


def as_json(p: Prediction) -> dict[str, Any]:
    """Everything, in SI units and fractions; operations a second only where the kernel is known to be a GEMM."""
    t = p.timing
    return {
        **_launch(p),
        "card": t.card.name,
        "clock_mhz": t.clock_mhz,
        "time_kind": "predicted",
        "time_ms": t.time_s * 1e3,
        "low_ms": t.low_s * 1e3,
        "high_ms": t.high_s * 1e3,
        "band": {
            "covers": t.band,
            "runs_ms": [s * 1e3 for s in t.times_s],
            "numbers_ratio": list(t.ratios),
        },
        "valu_utilisation": t.valu_utilisation,
        "waves_per_simd": t.occupancy.waves,
        "occupancy_limits": list(t.occupancy.binding),
        "workgroups": t.workgroups,
        "busiest_unit_workgroups": t.unit_workgroups,
        "played": t.played,
        "exact": t.exact,
        "causes": t.causes,
    }


def html(p: Prediction) -> str:
    """For a notebook."""
    return part("prediction", _title(p), rows(p), p.timing.main_causes)


def cycles(t: Timing) -> str:
    """The time of a launch of which no more is known, for a notebook."""
    return part("prediction", "predicted time", t.rows(), t.main_causes)


def _title(p: Prediction) -> str:
    if (size := p.launch.problem) is not None:
        return f"{p.kernel}, M = {size.m}, N = {size.n}, K = {size.k}"
    grid, block = (" x ".join(map(str, size)) for size in (p.launch.grid, p.launch.block))
    return f"{p.kernel}, {grid} workgroups of {block}"


def _speed(p: Prediction) -> list[tuple[str, str]]:
    if p.tflops is None or p.peak_share is None:
        return []
    return [("speed", f"{p.tflops:.2f} TFLOP/s, {100 * p.peak_share:.1f} % of the card's peak")]


def _launch(p: Prediction) -> dict[str, Any]:
    if (size := p.launch.problem) is None:
        return {"kernel": p.kernel, "grid": list(p.launch.grid), "block": list(p.launch.block)}
    sizes = {"kernel": p.kernel, "m": size.m, "n": size.n, "k": size.k}
    return {**sizes, "tflops": p.tflops, "peak_share": p.peak_share}
