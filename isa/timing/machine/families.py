"""Machine numbers of a family: a target -> those of `rdna3`, but for what anything says that differs.

Of gfx12 this is a first description.

But for one (`lds_wgp_share`) nothing of it is fitted to a kernel that was timed. What is not here is RDNA3's, its
latencies of caches and memory among them (assumed), so that predicted times of RDNA4 are what an RDNA3 machine with
RDNA4's units, clocks and bandwidths would take.

Sources: SQTT, instruction traces of a gfx1201 card with 64 CUs (tinygrad, extra/sqtt/examples/gfx1200); ORI, constants
of AMD's library origami (ROCm/rocm-libraries, hardware.hpp).
"""

from __future__ import annotations

from collections.abc import Mapping

from isa.targets import target
from isa.timing.machine import rdna3
from isa.timing.machine.rdna3 import Number, _number

NUMBERS: dict[str, Number] = {
    "wmma_passes": _number(16, "cycles", "H", "ORI; SQTT: label WMMA_16, 16 apart"),
    "wmma_8bit_passes": _number(8, "cycles", "H", "ORI; SQTT: label WMMA_8, 8 apart"),
    "wmma_iu4_passes": _number(8, "cycles", "M", "ORI"),
    "wmma_work": _number(
        1.74, "of a v_dual_fmac's a cycle", "assumed", "power only: as RDNA3's, of twice as many products a cycle"
    ),
    "wmma_16bit_work": _number(1.3, "of a v_dual_fmac's a cycle", "assumed", "as wmma_work"),
    "operation_energy": _number(
        0.78,
        "x",
        "assumed",
        "power only: TSMC (October 2021): N4P, which these chips are made on, takes 22 % less than N5",
    ),
    "wmma_bank_passes": _number(0, "cycles", "M", "SQTT: 24 a pair of f16 and iu8 whose A, B and C begin on one bank"),
    "valu_queue_keeps": _number(
        1, "1 or 0", "M", "SQTT: of ten v_wmma the ninth issues as the first ends, s_add after them as the third does"
    ),
    "valu_holds": _number(
        1,
        "1 or 0",
        "H",
        "SQTT: the next VALU 2 after v_lshlrev_b64, 4 after v_mad_co_u64_u32, which take one and two entries of the "
        "queue; the next transcendental 4 after v_rcp_f32",
    ),
    "scc_to_branch": _number(10, "cycles", "H", "SQTT: s_cmp to s_cbranch_scc0, 30 of 32"),
    "valu_to_end": _number(6, "cycles", "L", "SQTT: the last result of v_wmma to s_endpgm"),
    "salu_latency": _number(1, "cycles", "M", "SQTT: s_add_co to s_cmp 1 apart", 1, 2),
    "branch_taken": _number(9, "cycles", "H", "SQTT: next instruction 9 after, 28 of 28"),
    "barrier": _number(14, "cycles", "M", "SQTT: last s_barrier_signal to the next VALU 13 to 15", 13, 15),
    "store_ack_ns": _number(
        122, "ns", "M", "SQTT: store to s_endpgm, 356 to 368 cycles at 2.97 GHz, which is assumed", 119, 125
    ),
    "icache_line": _number(
        128, "bytes", "H", "LLVM: FeatureInstCacheLineSize128; SQTT: a cold launch waits at the third such line"
    ),
    "icache_whole": _number(1, "1 or 0", "H", "SQTT: a cold launch waits before v_s_exp_f32 at 0x1fc, 8 bytes long"),
    "trans_latency": _number(11, "cycles", "L", "SQTT: v_rcp_f32 to a v_wmma that reads it", 10, 14),
    "lds_wgp_share": _number(
        1,
        "x 128 B/cycle",
        "L",
        "fitted: hipBLASLt's float32 kernel of 2048 and 4096 on a 9070 XT, in one-wave workgroups of a WGP, whose LDS "
        "is its limit (tools/published.py)",
        1,
        1.13,
    ),
    "l2_crowding": _number(
        0, "part", "assumed", "AMD's word on slices that collide is of a gfx11 (vLLM, pull request 55090)"
    ),
    "wave_stagger": _number(1, "cycles", "M", "SQTT: two waves of a workgroup begin 1 apart"),
}
_OWN: Mapping[str, Mapping[str, Number]] = {"gfx12": NUMBERS}
"""By family, what is not RDNA3's."""


def own(arch: str) -> Mapping[str, Number]:
    """Of a target, the numbers that are not RDNA3's."""
    return _OWN.get(target(arch).family.name, {})


def values(arch: str, **overrides: float) -> dict[str, float]:
    """All numbers of a target's machine by name, some of them replaced. IsaError as of `rdna3.values`."""
    return rdna3.values(**{**{name: n.value for name, n in own(arch).items()}, **overrides})


def assumed(arch: str) -> str:
    """What is said beside a prediction for a target whose machine is not fitted; "" for others."""
    return "latencies of RDNA3's machine: none of this family's is fitted" if own(arch) else ""


def ranges(arch: str) -> dict[str, tuple[float, float]]:
    """How uncertain those that are not RDNA3's are."""
    return {name: (n.low, n.high) for name, n in own(arch).items()}
