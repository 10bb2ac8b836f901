"""The lab's workbench: one kernel built, run and checked on a device, timed, and what its waves execute counted.

Everything is what the rest of hipgemm does: `build` compiles (and caches by source, flags and toolchain), `measure`
runs and judges, `inspection` reads registers, spills and occupancy from the code object. Counts come from the path that
the waves of one workgroup take (`isa.timing.trace.tracer`), which needs no data. Where the path cannot be followed
(code at -O0 keeps its addresses in memory) a workgroup is run and recorded instead (`isa.timing.trace.recording`).
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hipgemm.kernels.build import Build, Linked, build
from hipgemm.kernels.ladder import Gemm, gemm_kernarg
from hipgemm.launch.problem import Problem
from hipgemm.measure.result import Result
from isa import toolchain
from isa.errors import IsaError

if TYPE_CHECKING:
    from hipgemm.judge.inspection import Inspection
    from hipgemm.measure.device import Device
    from isa.analysis.cfg import Cfg
    from isa.sim.run.card import Card, CompiledKernel
    from isa.timing.trace.trace import Trace


def lab_kernel(
    name: str, source: str, function: str, block_tile: tuple[int, int], tile: tuple[int, int, int], cu_mode: bool = True
) -> Gemm:
    """A kernel of 256 threads in `kernels_hip/lab`."""
    return Gemm(name, name, f"lab/{source}", function, cu_mode, tile, block_tile, (256, 1, 1), max_elements=2**31)


@dataclass(frozen=True)
class Trial:
    """One GEMM kernel that was tried. counts: what a wave executes for one step of k (`executed`), on average."""

    built: Build
    inspection: Inspection
    result: Result
    counts: Counter[str]

    @property
    def row(self) -> dict[str, Any]:
        """All that is known of it, by the keys of columns. Loads from LDS: flat ones that went there among them; fmas:
        multiply-adds of a lane, of which dual_share are done in pairs; lds_by: what most loads are."""
        dual, fmas = 2 * self.counts["dual FMA"], 2 * self.counts["dual FMA"] + self.counts["single FMA"]
        lds_by = {name: n for name, n in self.counts.items() if name.startswith("ds_load") and n}
        found, result = self.inspection, self.result
        return {
            "vgprs": found.vgprs, "spills": found.vgpr_spills, "lds": found.lds, "scratch": found.scratch,
            "waves": found.occupancy.waves, "held_by": ", ".join(found.occupancy.binding),
            "lds_loads": self.counts["LDS load"], "global_loads": self.counts["global load"],
            "scratch_ops": self.counts["scratch access"], "all": self.counts["all"],
            "lds_by": max(lds_by, key=lambda name: lds_by[name], default="none"),
            "fmas": fmas, "dual_share": dual / fmas if fmas else None,
            "time_ms": result.time_ms, "tflops": result.tflops, "time_kind": result.time_kind,
            "correct": result.correct,
        }  # fmt: skip


@dataclass
class Bench:
    """Where experiments are made. step: called with what is being done, in words. toolchain: what built the kernels."""

    device: Device
    step: Callable[[str], None]
    toolchain: str = field(default="", init=False)

    def gemm(self, row: Gemm, flags: Sequence[str], n: int, depth: int | None = None) -> Trial:
        """Build, run, check and time a GEMM kernel at M = N = K = n. SizeError where it does not take n.

        depth: of its tiles of A and B, what K must be a multiple of if not given."""
        from hipgemm.judge.inspection import inspect
        from hipgemm.launch.gemm import gemm
        from hipgemm.measure.measure import measure_launch

        row.check_size(n, n, n)
        self.step(f"building {row.title}")
        built = build(row, arch=self.device.arch, tools=toolchain.find(), flags=flags)
        self.toolchain = built.toolchain
        self.step(f"running {row.title}")
        launch = gemm(row, Problem(n, n, n), self.device.cus)
        result = measure_launch(Linked(row, built.hsaco.read_bytes()), launch, self.device).result
        assert isinstance(result, Result)
        paths = LaunchPaths(built, row)
        if result.time_ms is None and self.device.simulated:
            self.step(f"recording {row.title}")
            time_ms = paths.predicted_ms(n)
            tflops = result.flops / time_ms / 1e9
            result = dataclasses.replace(result, time_ms=time_ms, time_kind="predicted", tflops=tflops)
        inspection = inspect(built.code_object(), row.name, threads=row.block[0] * row.block[1] * row.block[2])
        return Trial(built, inspection, result, paths.per_step(depth or row.tile[2]))


class LaunchPaths:
    """The path of workgroup (0, 0) through a GEMM kernel, followed where that goes, else recorded."""

    def __init__(self, built: Build, row: Gemm) -> None:
        from isa.timing.model import predict

        self.row, self.code = row, built.code_object()
        self.kernel = self.code.kernel(row.name)
        self.cfg: Cfg = predict.cfg_of(self.code, self.kernel)

    @cached_property
    def _simulated(self) -> tuple[Card, CompiledKernel]:
        from isa.sim.run.card import Card

        card = Card()
        return card, card.load(self.code).kernels[self.row.name]

    def trace(self, m: int, n: int, k: int) -> Trace:
        """The path at a size. IsaError where it can be neither followed nor recorded."""
        from isa.timing.model import predict
        from isa.timing.trace import tracer

        launch = predict.launch_of(
            self.kernel, self.row.grid(m, n), self.row.block, gemm_kernarg(_ANYWHERE, m, n, k, 1.0, 0.0)
        )
        try:
            return tracer.trace(self.cfg, launch)
        except IsaError:
            return self._recorded(m, n, k)

    def _recorded(self, m: int, n: int, k: int) -> Trace:
        """From workgroups that are run, on matrices of zeros."""
        from isa.timing.trace import recording

        card, kernel = self._simulated
        matrices = [card.memory.allocate(4 * size) for size in (m * k, k * n, m * n)]
        try:
            return recording.Running(
                self.cfg, kernel, card.memory, card.target, self.row.grid(m, n), self.row.block,
                gemm_kernarg(matrices, m, n, k, 1.0, 0.0),
            ).traced()  # fmt: skip
        finally:
            for address in matrices:
                card.memory.free(address)

    def predicted_ms(self, n: int) -> float:
        """The cycle model's time at M = N = K = n."""
        from hipgemm import simulated_hip
        from isa.timing.model import ensemble, predict
        from isa.timing.model import run as model

        on = simulated_hip.runtime().stands_for
        ready = model.prepare(self.cfg, self.trace(n, n, n), predict.resources_of(self.kernel), on)
        return ensemble.predict(ready).time_s * 1e3

    def per_step(self, depth: int) -> Counter[str]:
        """What a wave executes for one step of k: see `executed`. From the difference of two launches of one workgroup
        whose K differ."""
        rows, columns = self.row.block_tile
        many, few = (executed(self.cfg, self.trace(rows, columns, k)) for k in (4 * depth, 2 * depth))
        return Counter({name: (many[name] - few[name]) / (2 * depth) for name in many})


_ANYWHERE = (0x7F00_0000_0000, 0x7F10_0000_0000, 0x7F20_0000_0000)


def executed(cfg: Cfg, trace: Trace) -> Counter[str]:
    """What a wave of a recorded workgroup executed, on average: kinds of instructions (`inspection.KINDS`), names of
    memory accesses, and "all"; beside them "LDS load", "global load" and "scratch access", where flat instructions
    count for the space that they went to."""
    import numpy as np

    from hipgemm.judge.inspection import kind
    from isa.semantics.instruction import base_name

    entered = np.bincount(trace.recorded.blocks, minlength=len(cfg.blocks)) / trace.waves
    found: Counter[str] = Counter()
    for block, times in zip(cfg.blocks, entered, strict=True):
        for i in block.range:
            inst = cfg.instructions[i]
            found[kind(inst)] += times
            found["all"] += times
            if (access := inst.desc.access) is not None:
                found[base_name(inst.mnemonic)] += times
                space = trace.spaces.get(i, access.space)
                if space == "scratch":
                    found["scratch access"] += times
                elif access.kind == "load":
                    found[f"{'LDS' if space == 'lds' else space} load"] += times
    return found
