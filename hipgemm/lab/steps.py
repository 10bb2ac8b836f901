"""`steps`: what takes a tiled kernel to kernel 5 of the ladder, one choice at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hipgemm.lab.bench import Bench
from hipgemm.lab.frame import SPEED, TIME, VGPRS, WAVES, Bars, Column, Experiment, Row
from hipgemm.lab.gemms import Tiled

STEPS = (
    ("8 x 8, WGP mode", Tiled(8, 8, 8, pad=0, cu_mode=False)),
    ("A padded in LDS", Tiled(8, 8, 8, cu_mode=False)),
    ("CU mode", Tiled(8, 8, 8)),
    ("16 x 8 a thread", Tiled(16, 8, 8)),
    ("128 bits a load", Tiled(16, 8, 8, 4, 4)),
)
"""Each with the choices of those before it."""


@dataclass(frozen=True)
class Steps(Experiment):
    """steps: (what is new, the kernel)."""

    steps: Sequence[tuple[str, Tiled]] = STEPS
    name = "steps"
    title = "Step by step: padding, CU mode, tile, width"
    size = 3072
    paragraph = (
        "Kernel 5 of the study differs from kernel 4 in three things at once: A is padded in LDS, the kernel is built "
        "in CU mode, and a thread computes 16 x 8 elements. Here each is added to the one before, in a kernel without "
        "double buffering. Without padding the threads of a wave that write one column of A's tile meet in few banks "
        "of LDS. In WGP mode the waves of two CUs share their LDS and get little more than the bandwidth of one."
    )
    columns = (
        Column("step", "step", what="what is new"),
        Column("lds", "LDS", "B", what="bytes of LDS of a workgroup"),
        VGPRS,
        WAVES,
        Column("lds_loads", "LDS loads", "a k", 2, "ds_load instructions of a wave for one k"),
        Column("all", "instructions", "a k", 1, "of a wave, for one k"),
        TIME,
        SPEED,
    )

    bars = Bars("Speed by step", "tflops", "TFLOP/s", "{step}", "{tflops:.2f}, {waves:g} waves a SIMD")

    def run(self, bench: Bench, n: int) -> Iterator[Row]:
        for step, kernel in self.steps:
            yield {"step": step, **kernel.tried(bench, n).row}


EXPERIMENT = Steps()
