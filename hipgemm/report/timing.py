"""Report of a prediction: a prediction -> text, JSON, HTML for a notebook. All of it is called predicted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from hipgemm.judge.gains import Gain
from hipgemm.judge.memory_use import Conflict, MemoryUse, Scattered
from hipgemm.judge.predict import Prediction
from hipgemm.judge.timeline import Line, by_line
from hipgemm.report.pages import part, percent
from isa.display import number_of
from isa.mangling import source_name
from isa.timing.machine import families
from isa.timing.model import shown
from isa.timing.model.ensemble import Timing

_NAMED = 8
"""How many conditions on data, LDS conflicts, lines and instructions the text names."""
_LEAST = 0.005
"""Of all cycles of waves: what takes less is not named."""


def rows(p: Prediction) -> list[tuple[str, str]]:
    """(what, value) lines, most wanted first."""
    time, *others = p.timing.rows()
    events = p.as_measured.rows() if p.as_measured else []
    ran = [("path", shown.taken_from_a_run(p.ran))] if p.ran else []
    if assumed := families.assumed(p.timing.card.arch):
        ran = [("machine", assumed), *ran]
    return [time, *ran, *events, *_speed(p), *(_memory(p.use) if p.use else ()), *others]


def text(p: Prediction) -> str:
    """The whole as a table, with where the cycles went."""
    whole = f"{_title(p)}\n{shown.text(rows(p), p.timing.main_causes)}{saved(p.gains)}{spent(p.lines)}" + (
        moved(p.use) if p.use else ""
    )
    return whole + ("\n\n  " + "\n  ".join(["conditions on data", *conditions(p.guards)]) if p.guards else "")


def conditions(guards: Sequence[str]) -> list[str]:
    """The first of them, and how many more there are."""
    return [*guards[:_NAMED], *_more(guards)]


def _more(found: Sequence[object]) -> list[str]:
    return [f"and {len(found) - _NAMED} more"] if len(found) > _NAMED else []


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
        "valu_work": t.valu_work,
        "waves_per_simd": t.occupancy.waves,
        "waves_per_simd_on_average": t.waves,
        "occupancy_limits": list(t.occupancy.binding),
        "workgroups": t.workgroups,
        "busiest_unit_workgroups": t.unit_workgroups,
        "played": t.played,
        "exact": t.exact,
        "guards": list(p.guards),
        "taken_from_a_run": p.ran or None,
        "rounds": asdict(t.iterations) if t.iterations else None,
        "causes": t.causes,
        "memory": p.use.to_dict() if p.use else None,
        "as_measured": asdict(p.as_measured) if p.as_measured else None,
        "gains": [asdict(gain) for gain in p.gains],
        "lines": [{"line": what, "part": share, "stalls": causes} for what, share, causes in by_line(p.lines)],
    }


def html(p: Prediction) -> str:
    """For a notebook."""
    return part("prediction", _title(p), rows(p), p.timing.main_causes)


def cycles(t: Timing) -> str:
    """The time of a launch of which no more is known, for a notebook."""
    return part("prediction", "predicted time", t.rows(), t.main_causes)


def _title(p: Prediction) -> str:
    if (size := p.launch.problem) is not None:
        return f"{source_name(p.kernel)}, M = {size.m}, N = {size.n}, K = {size.k}"
    grid, block = (" x ".join(map(str, size)) for size in (p.launch.grid, p.launch.block))
    return f"{source_name(p.kernel)}, {grid} workgroups of {block}"


def _speed(p: Prediction) -> list[tuple[str, str]]:
    if p.tflops is None or p.peak_share is None:
        return []
    return [("speed", f"{p.tflops:.2f} TFLOP/s, {100 * p.peak_share:.1f} % of the card's peak")]


def _size(count: float) -> str:
    """Bytes for people."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= scale:
            return f"{count / scale:.1f} {unit}"
    return f"{count:.0f} B"


def _memory(use: MemoryUse) -> list[tuple[str, str]]:
    """What limits the launch, bytes by level, and the place under the roofline."""
    levels = []
    for level in use.levels:
        share = f", {percent(level.share)} of its peak" if level.share is not None else ""
        through = "through" if level.name in ("L2", "L3") else "from"
        levels.append(f"{_size(level.bytes)} {through} {level.name} ({level.speed / 1e9:.0f} GB/s{share})")
    lines = [("loads", "; ".join(levels)), ("stores", _size(use.stored))]
    if use.lds.bytes:
        asked = f"{_size(use.lds.bytes)} asked for"
        lines.append(("LDS", f"{asked}, {percent(use.lds.share or 0.0)} of the cycles of all CUs' LDS"))
    if use.operations and use.intensity is not None:
        text = f"{use.intensity:.2f} floating-point operations a byte of memory; the card's ridge is at {use.ridge:.3g}"
        lines.append(("roofline", text))
    if use.atomics:
        found = [use.atomics[0], *([f"{len(use.atomics) - 1} more"] if use.atomics[1:] else [])]
        text = f"what they wait for one another at one address is not in the time: {' and '.join(found)}"
        lines.append(("atomics", text))
    lines.append(("issue", f"{use.instructions:.2f} instructions a cycle and SIMD"))
    return [("limited by", limit(use)), *lines]


def limit(use: MemoryUse) -> str:
    """What holds the launch, in a line."""
    found = use.limit
    of = f" ({found.of})" if found.of else ""
    if found.cause is None:
        idle = f"; {found.idle} of {found.units} units of the card have no workgroup" if found.idle else ""
        return f"{found.unit}, at {percent(found.share)} of its peak{of}{idle}"
    why = {
        "few workgroups": f"{found.workgroups} workgroups on {found.units} units of the card",
        "tail": f"{found.workgroups} workgroups on {found.units} units of the card leave most of them idle at the end",
        "launch": "a launch, or that of a workgroup, takes longer than what is launched",
    }
    detail = why.get(found.name, f"{found.cause} takes {percent(found.lost)} of the cycles")
    waves = (
        f" with {found.waves:.3g} of 16 waves a SIMD" if found.name == "few waves" or "latency" in found.name else ""
    )
    return (
        f"no unit's peak but {found.name}: {detail}{waves}; the busiest unit is {found.unit}, at "
        f"{percent(found.share)}{of}"
    )


def saved(gains: Sequence[Gain]) -> str:
    """What changes would save, with the lines of the source that they are to be made at."""
    return "\n".join(["", "", "  without what costs time", *(f"  {said(gain)}" for gain in gains)] if gains else [])


def guidance(p: Prediction | None, advice: Sequence[str]) -> list[str]:
    """What limits a launch, and what would help, in sentences. advice: of its occupancy."""
    if p is None:
        return list(advice)
    return [*([f"limited by {limit(p.use)}"] if p.use else []), *map(said, p.gains), *advice]


def said(gain: Gain) -> str:
    """What a change would save, in a line."""
    at = ", ".join(f"{place} ({100 * -part:+.1f} %)" for place, part in gain.places)
    where = at if len(gain.places) > 1 else "".join(place for place, _ in gain.places)
    most = "at most " if gain.bound else ""
    detail = "; ".join(text for text in (where, gain.advice) if text)
    return f"{100 * -gain.part:+6.1f} %  {most}without {gain.name}" + (f": {detail}" if detail else "")


def spent(lines: Sequence[Line]) -> str:
    """The lines that waves spend most cycles at, and the instructions that stall most."""
    if not lines:
        return ""
    out = ["", "", "  cycles of waves by line"]
    for what, share, causes in by_line(lines)[:_NAMED]:
        if share >= _LEAST:
            out.append(f"  {100 * share:5.1f} %  {what}{_mostly(causes, share)}")
    out += ["", "  instructions that stall most"]
    total = sum(line.cycles for line in lines)
    for line in sorted(lines, key=lambda line: -line.hits * line.stall)[:_NAMED]:
        if (share := line.hits * line.stall / total) >= _LEAST:
            out.append(f"  {100 * share:5.1f} %  {line.place or ''}: {line.text}: {line.cause}")
    return "\n".join(out)


def _mostly(causes: Mapping[str, float], share: float) -> str:
    cause = max(causes, key=lambda name: causes[name], default="")
    return f"  ({cause} {100 * causes[cause]:.1f} %)" if cause and causes[cause] > share / 4 else ""


def collided(c: Conflict) -> str:
    """What an LDS conflict costs, and what ends it."""
    pad = f"{number_of(c.pad, 'dword')} after each {c.row} bytes removes the conflict" if c.pad else ""
    return f"{c.cycles:g} cycles, {c.free} without; {pad or 'no pad of up to 8 dwords removes it'}"


def touched(s: Scattered) -> str:
    """What access that is not coalesced moves."""
    return f"touches {s.lines:.3g} lines of 128 bytes, {s.wanted} would do"


def moved(use: MemoryUse) -> str:
    """Loop by loop, LDS conflicts with what ends them, and access that is not coalesced."""
    out = []
    if any(loop.depth for loop in use.loops):
        out += [
            "",
            "",
            f"  {'loop at':<34} {'iterations':>10} {'instr.':>9} {'loaded':>9} {'stored':>9} {'GFLOP':>8} "
            f"{'LDS cycles':>10} {'conflicts':>9}",
        ]
        for loop in use.loops:
            name = "  " * max(loop.depth - 1, 0) + (loop.place if loop.depth else "outside loops")
            out.append(
                f"  {name:<34} {loop.rounds:>10g} {loop.instructions:>9.0f} {_size(loop.loaded):>9} "
                f"{_size(loop.stored):>9} {loop.operations / 1e9:>8.3g} {loop.lds:>10} {loop.conflicts:>9}"
            )
    if use.conflicts:
        out += ["", "", "  LDS conflicts"]
    costly = sorted(use.conflicts, key=lambda c: c.accesses * (c.free - c.cycles))[:_NAMED]
    out += [f"  {c.place}: {c.text}: {collided(c)}" for c in use.conflicts if c in costly]
    out += [f"  {line} that cost as much or less: --json" for line in _more(use.conflicts)]
    if use.scattered:
        out += ["", "", "  access that is not coalesced"]
    worst = sorted(use.scattered, key=lambda s: s.accesses * (s.wanted - s.lines))[:_NAMED]
    out += [f"  {s.place}: {s.text}: {touched(s)}" for s in use.scattered if s in worst]
    out += [f"  {line} that touch as many or fewer: --json" for line in _more(use.scattered)]
    return "\n".join(out)


def _launch(p: Prediction) -> dict[str, Any]:
    if (size := p.launch.problem) is None:
        return {"kernel": p.kernel, "grid": list(p.launch.grid), "block": list(p.launch.block)}
    sizes = {"kernel": p.kernel, "m": size.m, "n": size.n, "k": size.k}
    sizes |= {"batch": size.batch} if size.batch > 1 else {}
    return {**sizes, "tflops": p.tflops, "peak_share": p.peak_share}
