"""`profile`: what a profiler shows of a kernel, from the cycle model of its launch.

A wave is eligible in the cycles in which it issues, or could if the VALU were free. Cycles at loads, and at waits for
them, are summed over all waves of the launch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hipgemm.kernels.build import Build, build
from hipgemm.kernels.ladder import Gemm, rung
from hipgemm.lab.bench import Bench
from hipgemm.lab.frame import SPEED, TIME, WAVES, Bars, Column, Experiment, Plot, Row
from hipgemm.lab.gemms import Tiled, library
from hipgemm.report import svg

_DEPTH = 64  # what divides by every kernel's depth

SUBJECTS = (
    ("naive", rung("kernel1"), None),
    *(
        (f"{t} x {t} a thread, BK {bk}", tiled.row, tiled.flags)
        for t, bk in ((1, 32), (4, 64), (8, 64))
        for tiled in (Tiled(t, t, bk, pad=0),)
    ),
    *((rung(f"kernel{number}").title, rung(f"kernel{number}"), None) for number in (4, 5, 7, 8)),
)
"""(name, kernel, flags of the compiler or None for its own)."""


def figures(built: Build, row: Gemm, n: int, card: str) -> dict[str, Any]:
    """Of a launch at M = N = K = n on a card, by the keys of the columns; the cycle model's."""
    from hipgemm.judge import predict, timeline
    from hipgemm.judge.memory_use import memory_use
    from isa.timing.machine import cards

    ready = predict.ready(built.code_object(), row, (n, n, n), cards.card(card))
    timing = ready.median()
    use = memory_use(ready.prepared, timing)
    lines = timeline.profile(ready.prepared, timing.clock_mhz)
    issued = sum(line.hits for line in lines)
    at_work = sum(line.hits * (1 + line.stalls.get("VALU busy", 0.0)) for line in lines)

    def waited(cause: str, kinds: Sequence[str] = ()) -> float:
        return sum(line.hits * line.stalls.get(cause, 0.0) for line in lines if not kinds or line.kind in kinds)

    queue = waited("LDS bandwidth") + waited("issue and request path", ("LDS_LOAD", "LDS_STORE"))
    loads = sum(line.cycles for line in lines if line.kind == "LOAD")
    return {
        "waves": timing.occupancy.waves, "average": timing.waves,
        "eligible": timing.waves * at_work / sum(line.cycles for line in lines),
        "ipc": use.instructions,
        "queue": queue / issued,
        "lds_speed": use.lds.bytes / timing.time_s / 1e12,
        "conflicts": sum(loop.conflicts for loop in use.loops) / max(1, sum(loop.lds for loop in use.loops)) * 100,
        "valu": 100 * timing.valu_utilisation,
        "loads": loads * timing.workgroups / 1e6,
        "load_waits": waited("GMEM wait", ("WAIT",)) * timing.workgroups / 1e6,
        "intensity": use.intensity,
        "rate": use.operations / timing.time_s,
        "peak": use.peak,
        "bandwidth": timing.card.vram_bandwidth,
    }  # fmt: skip


@dataclass(frozen=True)
class Profile(Experiment):
    """subjects: as in SUBJECTS."""

    subjects: Sequence[tuple[str, Gemm, Sequence[str] | None]] = SUBJECTS
    name = "profile"
    title = "A profiler's figures: occupancy, issue, LDS, memory"
    size = 2048
    paragraph = (
        "Kernels from one element a thread to kernel 8, and this project's sgemm as the library. Some waves end before "
        "others, so that fewer are there than fit; eligible ones issue, or wait for nothing but the VALU. The LDS of a "
        "CU gives 128 bytes a cycle. Tiles as deep as wide, as in the article Register Tiling, fill LDS: two "
        "workgroups of 4 x 4 elements a thread fit a CU, of 8 x 8 one."
    )
    columns = (
        Column("kernel", "kernel"),
        WAVES,
        Column("average", "waves", "on average", 2, "a SIMD, over the time of the busiest CU or WGP"),
        Column("eligible", "eligible", "waves", 2, "a SIMD, that issue or would if the VALU were free"),
        Column("ipc", "issue", "a cycle", 2, "instructions of a SIMD"),
        Column("valu", "VALU", "%", 1, "of cycles"),
        Column("queue", "LDS queue", "cycles", 2, "that a wave stands at it, for each instruction"),
        Column("conflicts", "conflicts", "% of LDS", 1, "cycles of the LDS that bank conflicts take"),
        Column("lds_speed", "LDS", "TB/s", 2, "that accesses ask for"),
        Column("loads", "at loads", "M cycles", 1, "of all waves, at loads from memory"),
        Column("load_waits", "at waits", "M cycles", 1, "of all waves, for these loads"),
        Column("intensity", "FLOP/B", "", 1, "operations for each byte of memory"),
        TIME,
        SPEED,
        Column("of_library", "of the library", "%", 1, "speed"),
    )

    bars = Bars("Speed by kernel", "tflops", "TFLOP/s", "{kernel}", "{tflops:.2f}, {average:.1f} waves a SIMD", 190)

    def run(self, bench: Bench, n: int) -> Iterator[Row]:
        taken, best = library(bench, n)
        tried = [
            (name, row, bench.gemm(row, row.flags if f is None else f, n, _DEPTH)) for name, row, f in self.subjects
        ]
        for name, row, built, result in (
            *((name, row, trial.built, trial.result) for name, row, trial in tried),
            ("library", taken, build(taken, arch=bench.device.arch), best),
        ):
            bench.step(f"profiling {name}")
            yield {
                "kernel": name, **figures(built, row, n, bench.device.card), "time_ms": result.time_ms,
                "tflops": result.tflops, "time_kind": result.time_kind, "correct": result.correct,
                "of_library": 100 * result.tflops / best.tflops if result.tflops and best.tflops else None,
            }  # fmt: skip

    def plots(self, rows: Sequence[Row]) -> list[Plot]:
        caption = "Roofline"
        points = [svg.Point("predicted", row["kernel"], row["intensity"], row["rate"]) for row in rows]
        peak = rows[0]["peak"]
        roofs = [("dual issue", peak), ("single issue", peak / 2)]
        plot = svg.roofline(points, [("memory", rows[0]["bandwidth"])], roofs, caption)
        return [*super().plots(rows), Plot(caption, plot)]


EXPERIMENT = Profile()
