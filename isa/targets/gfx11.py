"""RDNA3 and RDNA3.5: gfx1100 to gfx1103, gfx1150 to gfx1153, and gfx11-generic, whose code runs on all of these.

All run the same instructions as far as this project writes or rewrites them (gfx115x adds floats in the scalar unit),
and all have the hazards of GFX11 that are looked for, the VOPD's lost interlock among them (LLVM pull request 220348:
GCNSubtarget::getGeneration() is GFX11), but for the early read of a transcendental result, which gfx115x mends
(FeatureVALUTransUseHazard).

Sources: LLVM AMDGPU.td, FeatureISAVersion11_0_0 to 11_5_3, 11_Generic; AMDGPUBaseInfo.cpp, getTotalNumVGPRs,
getVGPRAllocGranule, `s_waitcnt` and `DepCtr`; AMDGPUUsage, "AMDGPU ELF Header e_flags"; RDNA3 ISA guide 5.6 (counters),
7.6 (VOPD).
"""

from __future__ import annotations

from isa.targets.family import Family, Target, Vopd

_COUNTERS = {"vmcnt": 6, "vscnt": 6, "lgkmcnt": 6, "expcnt": 3}
_GLC = frozenset({("glc", None)})
_VM, _VS, _LGKM = ("vmcnt",), ("vscnt",), ("lgkmcnt",)
GFX11 = Family(
    name="gfx11",
    counters=_COUNTERS,
    raised={
        **dict.fromkeys(("global_load", "scratch_load", "buffer_load", "tbuffer_load"), _VM),
        **dict.fromkeys(("global_store", "scratch_store", "buffer_store", "tbuffer_store"), _VS),
        **dict.fromkeys(("global_atomic", "buffer_atomic"), _VS),
        **dict.fromkeys(("lds_load", "lds_store", "lds_atomic", "lds_exchange", "gws"), _LGKM),
        **dict.fromkeys(("smem_load", "message_return"), _LGKM),
        "flat_load": _VM + _LGKM,
        **dict.fromkeys(("flat_store", "flat_atomic"), _VS + _LGKM),
    },
    returning={"global_atomic": _VM, "buffer_atomic": _VM, "flat_atomic": _VM + _LGKM},
    single_waits={f"s_waitcnt_{counter}": counter for counter in _COUNTERS},
    packed_waits={"s_waitcnt": {"expcnt": 0, "lgkmcnt": 4, "vmcnt": 10}},
    wait_form="null, {:#x}",
    wait_fields=True,
    results_wait="s_waitcnt_depctr",
    result_fields={"va_vdst": (12, 15), "va_sdst": (9, 7), "va_vcc": (1, 1), "sa_sdst": (0, 1)},
    barrier=("s_barrier",),
    acquire=("buffer_gl1_inv", "buffer_gl0_inv"),
    empties={"buffer_gl1_inv": (1,), "buffer_gl0_inv": (0,)},
    cache_bits=("glc", "slc", "dlc"),
    misses={("glc", None): (0,), ("dlc", None): (1,)},
    coherent=_GLC,
    returns=_GLC,
    shared_load="glc",
    shared_atomic="glc",
    names={},
    group_ids={},
    wave_id=(124, 0),
    offsets={
        "lds": range(1 << 16),
        "flat": range(1 << 12),
        "global": range(-4096, 4096),
        "scratch": range(-4096, 4096),
        "buffer": range(1 << 12),
        "scalar": range(-(1 << 20), 1 << 20),
        "scalar buffer": range(1 << 20),
    },
    vector_memory_bytes=8,
    vop2=frozenset(),
    mode_bits=True,
    prefetch_bits=6,
    matrix_rate={16: 2, 8: 2, 4: 4},
    factors_twice=True,
    features="",
    vopd=Vopd(scalars=2, literals=1),
)

_HAZARDS = frozenset({"permlane", "wmma", "dealloc", "forwarding", "mask write", "vopd interlock"})
_RDNA3 = _HAZARDS | {"trans use"}

TARGETS = (
    Target("gfx1100", 0x41, 1536, 24, GFX11, _RDNA3, least_sgprs=16),  # Navi 31
    Target("gfx1101", 0x46, 1536, 24, GFX11, _RDNA3),  # Navi 32
    Target("gfx1102", 0x47, 1024, 16, GFX11, _RDNA3, least_sgprs=16),  # Navi 33
    Target("gfx1103", 0x44, 1024, 16, GFX11, _RDNA3),  # Phoenix, Hawk Point
    Target("gfx1150", 0x43, 1024, 16, GFX11, _HAZARDS),  # Strix Point
    Target("gfx1151", 0x4A, 1536, 24, GFX11, _HAZARDS),  # Strix Halo
    Target("gfx1152", 0x55, 1024, 16, GFX11, _HAZARDS, built=False),  # Krackan Point
    Target("gfx1153", 0x58, 1024, 16, GFX11, _HAZARDS, built=False),
    Target("gfx11-generic", 0x54, 1024, 16, GFX11, _RDNA3, least_sgprs=16, built=False, generic=True),
)
