"""The lab's workbench: one kernel built, run and checked on a device, timed, and what its waves execute counted.

Everything is what the rest of hipgemm does: `build` compiles (and caches by source, flags and toolchain), `measure`
runs and judges, `inspection` reads registers, spills and occupancy from the code object. Counts come from the path that
the waves of one workgroup take (`isa.timing.tracer`), which needs no data.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hipgemm.build import Build, build
from hipgemm.kernels import Gemm
from hipgemm.problem import Problem
from isa import toolchain

if TYPE_CHECKING:
    from hipgemm.device import Device
    from hipgemm.inspection import Inspection
    from hipgemm.result import Result
    from isa.analysis.cfg import Cfg
    from isa.timing.trace import Trace

_BUFFERS = (0x7F00_0000_0000, 0x7F10_0000_0000, 0x7F20_0000_0000)


@dataclass(frozen=True)
class Trial:
    """One GEMM kernel that was tried. counts: what a wave executes for one step of k (`count`), on average."""

    built: Build
    inspection: Inspection
    result: Result
    counts: Counter[str]

    def count(self, *words: str) -> float:
        """The sum of the counts of these kinds and mnemonics."""
        return sum(self.counts[word] for word in words)

    @property
    def lds_loads(self) -> float:
        return sum(n for name, n in self.counts.items() if name.startswith("ds_load"))

    @property
    def fmas(self) -> float:
        """Multiply-adds of a lane."""
        return 2 * self.count("dual FMA") + self.count("single FMA")

    @property
    def dual_share(self) -> float | None:
        """Of the multiply-adds, those that are done in pairs."""
        return 2 * self.count("dual FMA") / self.fmas if self.fmas else None


@dataclass
class Bench:
    """Where experiments are made. step: told in words what is being done. toolchain: what built the kernels."""

    device: Device
    step: Callable[[str], None]
    toolchain: str = field(default="", init=False)

    def gemm(self, row: Gemm, flags: Sequence[str], n: int) -> Trial:
        """Build, run, check and time a GEMM kernel at M = N = K = n. SizeError where it does not take n."""
        from hipgemm.inspection import inspect
        from hipgemm.measure import measure_image

        row.check_size(n, n, n)
        self.step(f"building {row.title}")
        built = build(row, arch=self.device.arch, tools=toolchain.find(), flags=flags)
        self.toolchain = built.toolchain
        measured = measure_image(
            built.hsaco.read_bytes(),
            row,
            Problem(n, n, n),
            self.device,
            step=lambda _: self.step(f"running {row.title}"),
        )
        inspection = inspect(built.code_object(), row.name, threads=row.block[0] * row.block[1] * row.block[2])
        return Trial(built, inspection, measured.result, per_step(built, row))


def per_step(built: Build, row: Gemm) -> Counter[str]:
    """What a wave executes for one step of k: kind of instruction (`inspection.KINDS`) or mnemonic of a memory access
    -> how often, averaged over the waves of a workgroup. From the difference of two launches whose K differ."""
    rows, columns = row.block_tile
    least = row.tile[2]
    counts = [executed(*_path(built, row, rows, columns, k)) for k in (4 * least, 2 * least)]
    return Counter({name: (counts[0][name] - counts[1][name]) / (2 * least) for name in counts[0]})


def executed(cfg: Cfg, trace: Trace) -> Counter[str]:
    """What a wave of a recorded workgroup executed, on average: kinds and, of memory accesses, mnemonics too."""
    import numpy as np

    from hipgemm.inspection import kind
    from isa.describe import base_name

    entered = np.bincount(trace.recorded.blocks, minlength=len(cfg.blocks)) / trace.waves
    found: Counter[str] = Counter()
    for block, times in zip(cfg.blocks, entered, strict=True):
        for i in block.range:
            inst = cfg.instructions[i]
            found[kind(inst)] += times
            if inst.desc.access is not None:
                found[base_name(inst.mnemonic)] += times
    return found


def _path(built: Build, row: Gemm, m: int, n: int, k: int) -> tuple[Cfg, Trace]:
    """The way of workgroup (0, 0) through a GEMM kernel."""
    from isa.timing import predict
    from isa.timing.tracer import trace

    code = built.code_object()
    kernel = code.kernel(row.name)
    cfg = predict.cfg_of(code, kernel)
    arguments = struct.pack("<QQQiiiff", *_BUFFERS, m, n, k, 1.0, 0.0)
    return cfg, trace(cfg, predict.launch_of(kernel, row.grid(m, n), row.block, arguments))
