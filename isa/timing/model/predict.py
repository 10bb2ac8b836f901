"""The time of a launch from a code object: what `hipgemm time` and the simulated card's clock ask for.

`launch_of` puts registers and kernel arguments together as the hardware and the runtime would
(`isa.sim.run.arguments`); buffers are known by their addresses only, since nothing is read from them.

Predictions are kept on disk: an entry of `isa.cache` each, under a hash of the kernel's code and facts, the launch, the
card, and the model itself, which is a hash of the sources it consists of.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from isa import cache, packed
from isa.analysis import cfg as control_flow
from isa.analysis.cfg import Cfg
from isa.analysis.resources import Occupancy, occupancy
from isa.asm.parse import parse_disassembly
from isa.object import code_object as objects
from isa.object.from_text import TextCode
from isa.sim.run import arguments
from isa.sim.translate.cfg import reached
from isa.targets import target
from isa.timing.machine import bank_rules
from isa.timing.machine.cards import Card, fitting
from isa.timing.model import ensemble
from isa.timing.model.ensemble import Timing
from isa.timing.model.run import Prepared, Resources, Run, prepare
from isa.timing.trace.trace import Iterations, Trace
from isa.timing.trace.tracer import BUDGET, TracedLaunch, trace
from isa.timing.workgroups.addresses import placed
from isa.timing.workgroups.unequal import apart, dealt, unequal

Triple = tuple[int, int, int]
_KERNARG = 0x10_0000_0000
_PACKET = 0x10_1000_0000
_KERNARG_ALIGNMENT = 16
"""Of the segment in memory, and so what a compiler may read after the last argument: clang's s_load_b128 does (AMDGPU
backend guide, "Kernarg segment": 16 bytes at least)."""
_KIND = "predictions"
_MOST = 1000
"""Predictions that are kept, of some 50 kB."""
_ELSEWHERE = (
    "check", "asm/emit.py", "passes", "toolchain.py",
    "timing/as_measured.py", "timing/sqtt.py", "timing/trace_files.py", "timing/att.py",
)  # fmt: skip
"""What of isa has no say in a prediction."""


def cfg_of(code: objects.CodeObject, kernel: objects.DescribedKernel) -> Cfg:
    """The control flow of a kernel as it lies in its code object, or would lie there."""
    if isinstance(code, TextCode):
        return control_flow.of_kernel(code.laid_out(kernel.name))
    entry = kernel.descriptor.entry
    wave64 = not kernel.descriptor.wave32
    return cfg_at(code.read(entry, kernel.code_size), entry, code.arch, kernel.name, wave64)


@functools.lru_cache(maxsize=8)
def cfg_at(data: bytes, entry: int, arch: str, name: str, wave64: bool = False) -> Cfg:
    """Of a kernel's bytes. Kept for who asks for one kernel at several sizes."""
    rows = objects.disassemble(data, entry, arch, wave64=wave64)
    between: dict[int, str] = {}
    instructions = parse_disassembly(rows, name, arch, between)
    if between:
        known = reached([instructions], (), between)
        instructions = [inst for inst in instructions if inst.address in known]
    return control_flow.of_instructions(instructions, name)


def launch_of(
    kernel: objects.DescribedKernel, grid: Triple, block: Triple, kernarg: bytes, dynamic_lds: int = 0,
    budget: int = BUDGET,
) -> TracedLaunch:  # fmt: skip
    """Registers and memory at the first instruction. kernarg: the explicit arguments; budget: as `TracedLaunch` has
    it."""
    scratch = kernel.descriptor.scratch_bytes
    segment = arguments.kernarg_segment(kernel, kernarg, grid, block, dynamic_lds)
    segment += bytes(-len(segment) % _KERNARG_ALIGNMENT)
    packet = arguments.dispatch_packet(grid, block, scratch, kernel.descriptor.lds_bytes + dynamic_lds, _KERNARG)
    registers, ids = arguments.scalar_registers(kernel, _KERNARG, _PACKET, scratch)
    return TracedLaunch(
        grid,
        block,
        sgprs=tuple((i, value) for i, value in enumerate(registers) if value),
        workgroup_sgprs=tuple((axis, *place) for axis, place in zip("xyzw", ids, strict=True) if place[0] != 124),
        item_axes=kernel.descriptor.workitem_id + 1,
        memory=((_KERNARG, segment), (_PACKET, packet)),
        lanes=32 if kernel.descriptor.wave32 else 64,
        lds=kernel.descriptor.lds_bytes + dynamic_lds,
        budget=budget,
    )


def followed(cfg: Cfg, launch: TracedLaunch, resources: Resources, on: Card) -> Trace:
    """The paths and addresses of a launch, workgroups that differ among them, as they come to the units of a card."""
    fits = occupancy(
        resources.vgprs, resources.lds, launch.lanes * launch.waves, cu_mode=resources.cu_mode,
        target=target(on.arch), lanes=launch.lanes,
    )  # fmt: skip
    units = on.cus if resources.cu_mode else on.wgps
    found = apart(cfg, launch, dealt(cfg, launch, trace(cfg, launch)), units, fits.workgroups)
    found = unequal(cfg, launch, found, units, fits.workgroups)
    return placed(cfg, launch, found, units, fits.workgroups)


@dataclass(frozen=True)
class TimedLaunch:
    """A launch whose time on a card is asked for. kernarg: the explicit arguments; numbers: of the machine, those of
    `isa.timing.machine.rdna3` if None; warm: it has been made before, and L3 holds what it left; budget: instructions
    that may be followed. Asking raises IsaError where that does not do, where it cannot be timed without running it, or
    where the code is for another target than the card."""

    code: objects.CodeObject
    name: str
    grid: Triple
    block: Triple
    kernarg: bytes
    on: Card
    dynamic_lds: int = 0
    numbers: Mapping[str, float] | None = None
    bank_rule: str = bank_rules.DEFAULT
    warm: bool = False
    ranges: Mapping[str, tuple[float, float]] | None = None
    budget: int = BUDGET

    def __post_init__(self) -> None:
        fitting(self.name, self.code.arch, self.on)

    @functools.cached_property
    def prepared(self) -> Prepared:
        """Made ready for `isa.timing.model.run`: its addresses followed, its caches played."""
        kernel = self.code.kernel(self.name)
        cfg = cfg_of(self.code, kernel)
        launch = launch_of(kernel, self.grid, self.block, self.kernarg, self.dynamic_lds, self.budget)
        resources = resources_of(kernel, self.dynamic_lds)
        found = followed(cfg, launch, resources, self.on)
        return prepare(cfg, found, resources, self.on, self.numbers, self.bank_rule, self.warm, self.ranges)

    def timing(self, clock_mhz: float | None = None) -> Timing:
        """The prediction at this clock (the card's if None), from the disk or made."""
        return self._kept("timing", clock_mhz, lambda: ensemble.predict(self.prepared, clock_mhz))

    def estimate(self, clock_mhz: float | None = None) -> Timing:
        """A cheap prediction for ranking candidates: one run (oldest wave first) of parts of the launch, without a
        band, kept on disk like `timing`. It takes about as long for a large problem as for a small one.

        Error against `timing`, which is the median over policies, in time_s: for the ladder and generated kernels at
        sizes from 1024 to 8192 it is -3.5 to +3.9 %; within 0.5 % of the whole launch under the same policy.
        Differences between candidates below 1 % mean nothing."""
        return self._kept("estimate", clock_mhz, lambda: ensemble.quick(self.prepared, clock_mhz))

    def median(self, clock_mhz: float | None = None) -> Timing:
        """The same without the draws of machine numbers, which only the band needs."""
        return self._kept("median", clock_mhz, lambda: ensemble.predict(self.prepared, clock_mhz, band=False))

    def _kept(self, what: str, clock_mhz: float | None, make: Callable[[], Timing]) -> Timing:
        launch = (self.grid, self.block, self.kernarg, self.dynamic_lds)
        kernel = self.code.kernel(self.name)
        settings = (self.numbers, self.ranges, self.bank_rule, self.warm)
        facts = (what, self.code.arch, kernel, launch, self.on, clock_mhz, *settings)
        key = cache.key(_model(), repr(facts), self.code.code(self.name))
        return cache.find_or_make(_KIND, key, _MOST, make, _write, _read)


_HELD = (Timing, Card, Occupancy, Run, Iterations)


def _write(folder: Path, made: Timing) -> None:
    (folder / "timing").write_bytes(packed.pack(made))


def _read(folder: Path) -> Timing:
    """LookupError for what `_write` did not write."""
    held = packed.unpack((folder / "timing").read_bytes(), _HELD)
    if not isinstance(held, Timing):
        raise LookupError
    return held


@functools.cache
def _model() -> str:
    """What predictions are made by."""
    return cache.made_by(*_ELSEWHERE)


def resources_of(kernel: objects.DescribedKernel, dynamic_lds: int = 0) -> Resources:
    """What a kernel takes, by its descriptor, as the hardware does."""
    return Resources(
        vgprs=kernel.allocated,
        lds=kernel.descriptor.lds_bytes + dynamic_lds,
        cu_mode=not kernel.descriptor.wgp_mode,
        scratch=kernel.descriptor.scratch_bytes * (32 if kernel.descriptor.wave32 else 64),
    )
