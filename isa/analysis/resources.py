"""Occupancy: registers, LDS and workgroup size -> waves a SIMD, which limit binds, what would raise it.

Facts (RDNA3 ISA guide 3 and 12.1; LLVM AMDGPUBaseInfo.cpp, `getVGPRAllocGranule`, `getMaxWorkGroupsPerCU`):

- a SIMD32 has 1536 or 1024 wave32 VGPRs, given out in granules of 24 or 16 (`isa.targets`), and slots for 16 waves;
  SGPRs never bind on GFX10 and later: each wave has 106 of its own;
- in CU mode a workgroup runs on the 2 SIMDs of one CU and takes its LDS from that CU's 64 KB; in WGP mode on the 4
  SIMDs of a WGP, with 128 KB. LDS is given out in granules of 1024 bytes, at most 64 KB to a workgroup;
- barriers: 16 workgroups a CU, 32 a WGP; a workgroup of one wave needs none.

Workgroups are placed whole, so waves come in steps of a workgroup: with 216 VGPRs 7 waves fit a SIMD, 14 a CU, but of
workgroups of 4 waves only 3 fit, which is 6 waves a SIMD.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from isa.errors import IsaError
from isa.registers import LANES, SGPR_LIMIT, VCC, VGPR_LIMIT
from isa.targets import GFX1100, Target

if TYPE_CHECKING:
    from isa.analysis.cfg import Cfg

WAVE_SLOTS = 16
LDS_PER_CU = 64 * 1024
LDS_GRANULE = 1024
BARRIERS_PER_CU = 16


@dataclass(frozen=True, slots=True)
class Used:
    """What code names: VGPRs and SGPRs as highest number + 1 (SGPRs without VCC), and whether it names VCC."""

    vgprs: int
    sgprs: int
    vcc: bool


def used(*functions: Cfg) -> Used:
    """The registers that the instructions of these functions read or write. What they call is not seen, nor how far M0
    reaches where it is added to a register's number."""
    from isa.analysis import regset  # with all of an instruction, which occupancy does without

    bits = 0
    for cfg in functions:
        touched = list(map(or_, cfg.uses, cfg.defs))
        for i in cfg.where(lambda desc: desc.relative):
            touched[i] = regset.named(cfg.instructions[i])
        bits = reduce(or_, touched, bits)
    scalars = bits >> VGPR_LIMIT & (1 << SGPR_LIMIT) - 1
    return Used((bits & regset.VGPRS).bit_length(), scalars.bit_length(), bool(bits & regset.mask([VCC])))


@dataclass(frozen=True, slots=True)
class Occupancy:
    """How full a SIMD gets.

    waves:       a SIMD, on average over those that a workgroup spreads over.
    workgroups:  resident at once on `simds` SIMDs (2: a CU, 4: a WGP).
    limits:      "VGPRs", "LDS", "wave slots", "barriers" -> workgroups that each alone would let in.
    binding:     the limits that hold it down, most often one.
    advice:      what would let one workgroup more in, if less VGPRs or LDS can do that: one text, or none.
    """

    waves: float
    workgroups: int
    simds: int
    limits: Mapping[str, int]
    binding: tuple[str, ...]
    advice: tuple[str, ...]


def waves_by_vgprs(vgprs: int, target: Target = GFX1100) -> int:
    """Waves a SIMD that so many VGPRs a wave allow: 216 -> 7. IsaError above 256."""
    return min(WAVE_SLOTS, _waves_that_fit(vgprs, target))


def _waves_that_fit(vgprs: int, target: Target) -> int:
    """As above, were there wave slots without end."""
    if not 0 <= vgprs <= VGPR_LIMIT:
        raise IsaError(f"a wave cannot have {vgprs} VGPRs", expected=f"0 to {VGPR_LIMIT}")
    return target.vgprs // (_ceil(max(vgprs, 1), target.granule) * target.granule)


def occupancy(
    vgprs: int, lds: int, threads: int, *, cu_mode: bool, target: Target = GFX1100, lanes: int = LANES
) -> Occupancy:
    """The occupancy of a kernel with so many VGPRs a wave, bytes of LDS and threads a workgroup. lanes: of a wave; one
    of 64 takes twice the registers. IsaError where not even one workgroup fits."""
    if not 1 <= threads <= 1024:
        raise IsaError(f"a workgroup cannot have {threads} threads", expected="1 to 1024")
    if not 0 <= lds <= LDS_PER_CU:
        raise IsaError(f"a workgroup cannot have {lds} bytes of LDS", expected=f"0 to {LDS_PER_CU}")
    if lanes == 2 * LANES:
        target = dataclasses.replace(target, vgprs=target.vgprs // 2, granule=target.granule // 2)
    per_group, simds = _ceil(threads, lanes), 2 if cu_mode else 4
    limits = workgroup_limits(vgprs, lds, per_group, simds, target)
    groups = min(limits.values())
    if groups == 0:
        raise IsaError(
            f"no workgroup of {threads} threads with {vgprs} VGPRs fits {simds} SIMDs",
            hint="fewer VGPRs or a smaller workgroup",
        )
    binding = tuple(name for name, n in limits.items() if n == groups)
    advice = _advice(vgprs, lds, simds, per_group, limits, target)
    return Occupancy(groups * per_group / simds, groups, simds, limits, binding, advice)


def chart(
    vgprs: int, lds: int, threads: int, *, cu_mode: bool, target: Target = GFX1100, lanes: int = LANES
) -> dict[str, list[tuple[int, int, float]]]:
    """How the waves of a SIMD go with the VGPRs of a wave, the bytes of LDS and the threads of a workgroup, the other
    two as they are: runs of one height from least to most, 0 high where no workgroup fits."""
    axes: dict[str, tuple[Iterable[int], Callable[[int], tuple[int, int, int]]]] = {
        "VGPRs": (range(8, VGPR_LIMIT + 1, 8), lambda n: (n, lds, threads)),
        "LDS": (range(0, LDS_PER_CU + 1, LDS_GRANULE), lambda n: (vgprs, n, threads)),
        "threads": (range(lanes, 1025, lanes), lambda n: (vgprs, lds, n)),
    }

    def waves(given: tuple[int, int, int]) -> float:
        try:
            return occupancy(*given, cu_mode=cu_mode, target=target, lanes=lanes).waves
        except IsaError:  # not even one workgroup
            return 0.0

    found = {}
    for axis, (sizes, at) in axes.items():
        runs = [list(run) for _, run in itertools.groupby(((n, waves(at(n))) for n in sizes), lambda point: point[1])]
        found[axis] = [(run[0][0], run[-1][0], run[0][1]) for run in runs]
    return found


def workgroup_limits(vgprs: int, lds: int, waves: int, simds: int, target: Target) -> dict[str, int]:
    """How many workgroups of so many waves each limit alone would let onto 2 SIMDs, a CU, or the 4 of a WGP."""
    cus = simds // 2
    limits = {
        "VGPRs": simds * _waves_that_fit(vgprs, target) // waves,
        "wave slots": simds * WAVE_SLOTS // waves,
    }
    if lds:
        limits["LDS"] = cus * LDS_PER_CU // (_ceil(lds, LDS_GRANULE) * LDS_GRANULE)
    if waves > 1:
        limits["barriers"] = cus * BARRIERS_PER_CU
    return limits


def _advice(
    vgprs: int, lds: int, simds: int, per_group: int, limits: Mapping[str, int], target: Target
) -> tuple[str, ...]:
    """The least that would let more workgroups in: what each limit that VGPRs or LDS set must come down to. With one
    more workgroup another limit may bind too; where only wave slots or barriers are left, there is no next step."""
    groups = min(limits.values()) + 1
    if min(limits["wave slots"], limits.get("barriers", groups)) < groups:
        return ()
    wanted = []
    if limits["VGPRs"] < groups:
        waves = _ceil(groups * per_group, simds)
        most = target.vgprs // waves // target.granule * target.granule
        wanted.append(f"at most {most} VGPRs (now {vgprs})")
    if limits.get("LDS", groups) < groups:
        total = LDS_PER_CU * simds // 2
        wanted.append(f"at most {total // groups // LDS_GRANULE * LDS_GRANULE} bytes of LDS (now {lds})")
    return (f"{' and '.join(wanted)} would let {groups} workgroups in",)


def _ceil(a: int, b: int) -> int:
    return -(-a // b)
