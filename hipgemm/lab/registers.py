"""`registers`: the same kernel with fewer and fewer VGPRs, until it spills."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hipgemm.kernels.ladder import Gemm, rung
from hipgemm.lab.bench import Bench
from hipgemm.lab.frame import DUAL, SPEED, TIME, WAVES, Bars, Column, Experiment, Row


def capped(cap: int) -> Gemm:
    """Kernel 5 as it is launched, under another name; its cap is a flag."""
    fields = {f.name: getattr(rung("kernel5"), f.name) for f in dataclasses.fields(Gemm)}
    name = f"lab_capped_{cap}"
    return Gemm(**fields | {"name": name, "title": name, "source": "lab/capped.hip", "function": "lab_capped"})


@dataclass(frozen=True)
class Registers(Experiment):
    """caps: the most VGPRs that the compiler may use."""

    caps: Sequence[int] = (256, 192, 184, 176, 168, 144, 128, 96, 80, 64, 48)
    name = "registers"
    title = "Registers: occupancy against spills"
    size = 2048
    paragraph = (
        "Kernel 5 keeps 128 accumulators, a column and a row of its tiles in VGPRs. A SIMD has 1536 VGPRs, "
        "allocated in granules of 24, so that fewer VGPRs for each wave allow more waves, which hide each other's "
        "latency. With fewer VGPRs than the kernel needs, the compiler spills to scratch: memory, a dword of each "
        "lane at a time. The cap helps as long as it takes unused registers, and costs more than any occupancy can "
        "gain as soon as accumulators move to memory in the inner loop."
    )
    columns = (
        Column("cap", "cap", "VGPRs", what="what the compiler may use"),
        Column("vgprs", "used", "VGPRs", what="what it uses"),
        WAVES,
        Column("spills", "spilled", "VGPRs", what="as the compiler counts them"),
        Column("scratch", "scratch", "B", what="bytes of scratch of a thread"),
        Column("scratch_ops", "scratch accesses", "a k", 2, "scratch_load and scratch_store of a wave for one k"),
        DUAL,
        TIME,
        SPEED,
    )

    _label = "{time_ms:.3f}: {waves:g} waves, {scratch} B scratch"
    bars = Bars("Time by VGPR cap", "time_ms", "ms", "{cap} VGPRs", _label, right=240)

    def run(self, bench: Bench, n: int) -> Iterator[Row]:
        for cap in self.caps:
            yield {"cap": cap, **bench.gemm(capped(cap), ["-O3", f"-DVGPRS={cap}"], n).row}


EXPERIMENT = Registers()
