"""The GPUs that code is built for, and what differs between them. One table: whoever must tell targets apart reads it.

All run the same instructions as far as this project writes or rewrites them (RDNA3; gfx115x is RDNA3.5, which adds
floats in the scalar unit), and all have the hazards of GFX11 that `isa.check` looks for, the VOPD's lost interlock
among them (LLVM pull request 220348: GCNSubtarget::getGeneration() is GFX11).

Sources: LLVM AMDGPU.td, FeatureISAVersion11_0_0 to 11_5_3; AMDGPUBaseInfo.cpp, getTotalNumVGPRs, getVGPRAllocGranule;
AMDGPUUsage, "AMDGPU ELF Header e_flags".
"""

from __future__ import annotations

from dataclasses import dataclass

from isa.errors import IsaError


@dataclass(frozen=True, slots=True)
class Target:
    """One GPU.

    mach:  EF_AMDGPU_MACH in a code object.
    vgprs: wave32 VGPRs of a SIMD; granule: how many a wave is given at a time. FeatureGFX11FullVGPRs has half as many
           again of both.
    least_sgprs: user and system SGPRs that a wave32 kernel must have enabled at least (FeatureUserSGPRInit16Bug).
    trans_use_hazard: a transcendental result can be read too early (FeatureVALUTransUseHazard).
    built: `isa.toolchain` builds for it; the others are only read.
    """

    name: str
    mach: int
    vgprs: int
    granule: int
    least_sgprs: int = 0
    trans_use_hazard: bool = False
    built: bool = True


TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Target("gfx1100", 0x41, 1536, 24, least_sgprs=16, trans_use_hazard=True),  # Navi 31
        Target("gfx1101", 0x46, 1536, 24, trans_use_hazard=True),  # Navi 32
        Target("gfx1102", 0x47, 1024, 16, least_sgprs=16, trans_use_hazard=True),  # Navi 33
        Target("gfx1103", 0x44, 1024, 16, trans_use_hazard=True),  # Phoenix, Hawk Point
        Target("gfx1150", 0x43, 1024, 16),  # Strix Point
        Target("gfx1151", 0x4A, 1536, 24),  # Strix Halo
        Target("gfx1152", 0x55, 1024, 16, built=False),  # Krackan Point
        Target("gfx1153", 0x58, 1024, 16, built=False),
    )
}
GFX1100 = TARGETS["gfx1100"]


def target(name: str) -> Target:
    """The target called `name`; IsaError that lists them where there is none."""
    if name not in TARGETS:
        raise IsaError(f"no target {name!r}", expected=", ".join(TARGETS), got=name)
    return TARGETS[name]
