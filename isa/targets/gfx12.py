"""RDNA4: gfx1200, gfx1201, and gfx12-generic, whose code runs on both.

All three have the same instructions and hazards (LLVM has one FeatureISAVersion12). What is new against gfx11: a
counter for each kind of memory, waits for two of them at once, barriers in two halves, cache policy as `th:` and
`scope:` in the place of bits, workgroup ids in trap registers, offsets of 24 bits, no DX10_CLAMP and no IEEE mode,
other rules of NaNs in minimum and maximum, matrices whose lanes hold no row twice, and the hazard of an SGPR that VALU
read.

Sources: LLVM AMDGPU.td, FeatureISAVersion12; SIInsertWaitcnts.cpp (what raises which counter), AMDGPUBaseInfo.cpp,
getWaitcntBit widths; GCNHazardRecognizer.cpp, AMDGPUWaitSGPRHazards.cpp; SIISelLowering.cpp (ttmp7 and ttmp9),
AMDGPULegalizerInfo.cpp, legalizeWaveID (ttmp8); AMDGPUUsage, "Memory Model GFX12", "AMDGPU ELF Header e_flags"; RDNA4
ISA guide.
"""

from __future__ import annotations

from isa.targets.family import Family, Target, Vopd

_COUNTERS = {"loadcnt": 6, "storecnt": 6, "dscnt": 6, "kmcnt": 5, "samplecnt": 6, "bvhcnt": 3, "expcnt": 3}
_LOAD, _STORE, _DS, _KM = ("loadcnt",), ("storecnt",), ("dscnt",), ("kmcnt",)
_FAR = range(-(1 << 23), 1 << 23)
_RETURNS = frozenset(("th", f"TH_ATOMIC_{kind}RETURN") for kind in ("", "RT_", "NT_"))
_REACHES = {"SCOPE_SE": (0,), "SCOPE_DEV": (1, 0), "SCOPE_SYS": (1, 0)}
"""Scope -> the levels of vector caches that are not common to all of it."""
_TRAP = 108
"""The number of ttmp0."""

_NUMBERS = {
    **{f"{start}_{op}_{kind}": f"{start}_{op}_num_{kind}"
       for start, ops, kinds in (
           ("v", "min max", "f16 f32 f64"), ("v", "min3 max3 med3 minmax maxmin", "f16 f32"),
           ("s", "min max", "f16 f32"),
           ("v_pk", "min max", "f16"), ("ds", "min max", "f32 f64"),
           ("global_atomic", "min max", "f32"), ("flat_atomic", "min max", "f32"), ("buffer_atomic", "min max", "f32"),
       )
       for op in ops.split() for kind in kinds.split()},
}  # fmt: skip
"""Older names that assemblers take for the instructions with RDNA4's rules of NaNs."""
_NUMBERS |= {f"ds_{op}_rtn_{kind}": f"ds_{op}_num_rtn_{kind}" for op in ("min", "max") for kind in ("f32", "f64")}

GFX12 = Family(
    name="gfx12",
    counters=_COUNTERS,
    raised={
        **dict.fromkeys(("global_load", "scratch_load", "buffer_load", "tbuffer_load", "cache_control"), _LOAD),
        **dict.fromkeys(("global_store", "scratch_store", "buffer_store", "tbuffer_store", "cache_write"), _STORE),
        **dict.fromkeys(("global_atomic", "buffer_atomic"), _STORE),
        **dict.fromkeys(("lds_load", "lds_store", "lds_atomic", "lds_exchange"), _DS),
        **dict.fromkeys(("smem_load", "message_return", "barrier_first", "barrier_state"), _KM),
        "flat_load": _LOAD + _DS,
        **dict.fromkeys(("flat_store", "flat_atomic"), _STORE + _DS),
    },
    returning={"global_atomic": _LOAD, "buffer_atomic": _LOAD, "flat_atomic": _LOAD + _DS},
    single_waits={f"s_wait_{counter}": counter for counter in _COUNTERS},
    packed_waits={
        "s_wait_loadcnt_dscnt": {"dscnt": 0, "loadcnt": 8},
        "s_wait_storecnt_dscnt": {"dscnt": 0, "storecnt": 8},
    },
    wait_form="{:#x}",
    wait_fields=False,
    results_wait="s_wait_alu",
    result_fields={
        "va_vdst": (12, 15), "va_sdst": (9, 7), "va_ssrc": (8, 1), "hold_cnt": (7, 1), "vm_vsrc": (2, 7),
        "va_vcc": (1, 1), "sa_sdst": (0, 1),
    },
    barrier=("s_barrier_signal -1", "s_barrier_wait -1"),
    acquire=("global_inv scope:SCOPE_DEV",),
    empties={f"global_inv scope:{scope}": levels for scope, levels in _REACHES.items()},
    cache_bits=("th", "scope"),
    misses={("scope", scope): levels for scope, levels in _REACHES.items()},
    coherent=_RETURNS | {("scope", "SCOPE_DEV"), ("scope", "SCOPE_SYS")},
    returns=_RETURNS,
    shared_load="scope:SCOPE_DEV",
    shared_atomic="th:TH_ATOMIC_RETURN scope:SCOPE_DEV",
    names=_NUMBERS,
    group_ids={"x": (_TRAP + 9, 0, 32), "y": (_TRAP + 7, 0, 16), "z": (_TRAP + 7, 16, 16)},
    wave_id=(_TRAP + 8, 25),
    offsets={
        "lds": range(1 << 16), "flat": _FAR, "global": _FAR, "scratch": _FAR, "buffer": range(1 << 23),
        "scalar": _FAR, "scalar buffer": range(1 << 23),
    },
    vector_memory_bytes=12,
    vop2=frozenset(
        "add_f64 mul_f64 lshlrev_b64 min_num_f64 max_num_f64 min_num_f32 max_num_f32 min_num_f16 max_num_f16".split()
    ),
    mode_bits=False,
    prefetch_bits=8,
    matrix_rate={16: 4, 8: 8, 4: 16},
    factors_twice=False,
    features="+real-true16",
    vopd=Vopd(scalars=2, literals=1, any_moves=True, same_register=True),
)  # fmt: skip

_HAZARDS = frozenset({"permlane", "wmma", "dealloc", "sgpr"})

TARGETS = (
    Target("gfx1200", 0x48, 1536, 24, GFX12, _HAZARDS),  # Navi 44
    Target("gfx1201", 0x4E, 1536, 24, GFX12, _HAZARDS),  # Navi 48
    Target("gfx12-generic", 0x59, 1536, 24, GFX12, _HAZARDS, built=False, generic=True),
)
