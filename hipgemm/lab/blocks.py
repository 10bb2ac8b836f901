"""`blocks`: a vector addition from sources that want ever more registers, in workgroups of different sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hipgemm.kernels.build import Linked, build
from hipgemm.kernels.object import Kernel
from hipgemm.lab.bench import Bench
from hipgemm.lab.frame import VGPRS, WAVES, Bars, Column, Experiment, Row
from isa import toolchain

if TYPE_CHECKING:
    import numpy as np

    from hipgemm.launch.launch import Launch

SOURCES = ("the addition", "chains of products", "values that stay in use", "8 sums", "12 sums")
CASES = (
    *((work, 256, 256) for work in range(len(SOURCES))),
    *((4, cap, 256) for cap in (48, 34, 24)),
    *((4, 256, block) for block in (32, 64, 128, 512, 1024)),
)
"""(number in SOURCES, the most VGPRs, work-items of a workgroup)."""
LENGTH = 2**20
_SUMS = (8, 12)


def answer(work: int, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """c. In float64; for small whole numbers of x and y float32 has the same."""
    if work == 0:
        return x + y
    if work == 1:
        return x * 1.25**6 + y * 0.75**6
    if work == 2:
        t0, t1 = 1.25 * x, 0.75 * y
        t3 = 1.25 * (t0 + t1)
        return (t3 + t1) + t0 + t3 + (t3 + t1) + x + y
    total = 0 * x
    for k in range(32):
        for s in range(_SUMS[work - 3]):
            total = total + (y * (k + 2) if s % 2 else x * (k + 1)) * (1 + s / 8)
    return total


def launch(work: int, block: int) -> Launch:
    """Of so many elements, with what c must hold."""
    import numpy as np

    from hipgemm.launch.launch import Array, Launch, Reference, Scalar
    from hipgemm.launch.problem import Verdict

    numbers = np.arange(LENGTH)
    x, y = numbers % 8.0, numbers // 8 % 8.0

    def judge(found: np.ndarray) -> Verdict:
        wrong = int((found != answer(work, x, y)).sum())
        return Verdict(not wrong, float(np.abs(found - answer(work, x, y)).max()), 0.0, wrong)

    arguments = (
        Array("<f4", (LENGTH,), lambda: x.astype("<f4"), "a"),
        Array("<f4", (LENGTH,), lambda: y.astype("<f4"), "b"),
        Array("<f4", (LENGTH,), None, "c", unwritten=True),
        Scalar("i32", LENGTH),
    )
    grid = (-(-LENGTH // block), 1, 1)
    return Launch(grid, (block, 1, 1), arguments, references=(Reference(2, judge),))


@dataclass(frozen=True)
class Blocks(Experiment):
    """cases: as in CASES."""

    cases: Sequence[tuple[int, int, int]] = CASES
    name = "blocks"
    title = "Registers and workgroups of a small kernel: what fits, and what is there"
    paragraph = (
        "c = a + b for 2^20 elements, from five sources. What a compiler folds takes no registers; sums that stay in "
        "use do, and the factors that they share. VGPRs, wave slots and barriers each let in a number of workgroups; "
        "on average fewer waves are there than fit."
    )
    columns = (
        Column("source", "source"),
        Column("block", "block", what="work-items of a workgroup"),
        Column("cap", "cap", "VGPRs", what="what the compiler may use"),
        VGPRS,
        Column("spills", "spilled", "VGPRs"),
        Column("by_vgprs", "by VGPRs", "workgroups", what="that would fit a CU"),
        Column("by_slots", "by wave slots", "workgroups", what="that would fit a CU"),
        WAVES,
        Column("average", "waves", "on average", 2, "a SIMD, over the time of the busiest CU"),
        Column("valu", "VALU", "%", 1, "of cycles"),
        Column("memory", "memory", "%", 1, "of its bandwidth"),
        Column("time_us", "time", "us", 2, "of one launch"),
    )
    bars = Bars("Time of one launch", "time_us", "us", "{source}, {cap}, {block}", "{time_us:.2f}: {vgprs} VGPRs", 220)

    def run(self, bench: Bench, n: int) -> Iterator[Row]:
        from hipgemm.judge import predict
        from hipgemm.judge.inspection import inspect
        from hipgemm.judge.memory_use import memory_use
        from hipgemm.measure.measure import measure_launch
        from isa.timing.machine import cards

        device = bench.device
        for work, cap, block in self.cases:
            name = f"lab_vector_add_{work}_{cap}_{block}"
            kernel = Kernel(name, name, "lab/vector_add.hip", "lab_vector_add", True)
            bench.step(f"running {name}")
            flags = ["-O3", f"-DWORK={work}", f"-DVGPRS={cap}", f"-DBLOCK={block}"]
            built = build(kernel, arch=device.arch, tools=toolchain.find(), flags=flags)
            bench.toolchain = built.toolchain
            todo = launch(work, block)
            result = measure_launch(Linked(kernel, built.hsaco.read_bytes()), todo, device).result
            code = built.code_object()
            seen = inspect(code, name, threads=block)
            ready = predict.timed(code, name, todo, cards.card(device.card))
            timing = ready.median()
            yield {
                "source": SOURCES[work], "block": block, "cap": cap, "vgprs": seen.vgprs, "spills": seen.vgpr_spills,
                "by_vgprs": seen.occupancy.limits["VGPRs"], "by_slots": seen.occupancy.limits["wave slots"],
                "waves": seen.occupancy.waves, "average": timing.waves, "valu": 100 * timing.valu_utilisation,
                "memory": 100 * (memory_use(ready.prepared, timing).levels[-1].share or 0.0),
                "time_us": None if result.time_ms is None else 1e3 * result.time_ms, "time_kind": result.time_kind,
                "correct": bool(result.correct),
            }  # fmt: skip


EXPERIMENT = Blocks()
