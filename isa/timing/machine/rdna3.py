"""Machine numbers of gfx11: each number of the cycle model once, with its source and its uncertainty.

`NUMBERS[name]` is a `Number`: value, unit, the range it may lie in, confidence and source. `values()` gives the plain
numbers, with overrides for an experiment; nothing else in this package holds a machine number. The range is what the
band of a prediction and `hipgemm time --sensitivity` vary.

Confidence: H documented or measured more than once, M one good source, L inferred from one observation, "assumed" a
guess with its reasoning. Sources by short name:

    ISA    AMD "RDNA3 Instruction Set Architecture Reference Guide" (70650)
    LLVM   llvm-project, llvm/lib/Target/AMDGPU
    SQTT   instruction traces of a 96-CU gfx1100 card (tinygrad, extra/sqtt/examples/gfx1100)
    C&C    Chips and Cheese, "Microbenchmarking AMD's RDNA 3" and "Latency Testing is Hard"
    RDNA   AMD "RDNA Architecture" white paper (2019)
    study  the published study (seb-v, "Deep Dive into Matrix Optimization on AMD GPUs", 2025)

Cycles are core clocks. Latencies beyond L1 are in ns, because those caches and memory have clocks of their own.
Numbers that differ between cards are in `isa.timing.machine.cards`.
"""

from __future__ import annotations

from dataclasses import dataclass

from isa.errors import IsaError
from isa.registers import LANES


@dataclass(frozen=True, slots=True)
class Number:
    """One machine number. `low` and `high` bound what it may be; both equal `value` where it is certain."""

    value: float
    unit: str
    low: float
    high: float
    confidence: str
    source: str


def _number(value: float, unit: str, confidence: str, source: str, low: float = -1, high: float = -1) -> Number:
    return Number(value, unit, value if low < 0 else low, value if high < 0 else high, confidence, source)


NUMBERS: dict[str, Number] = {
    # --- VALU
    "valu_issue_to_execute": _number(8, "cycles", "M", "SQTT: 8 to 9"),
    "valu_passes": _number(1, "cycles", "H", "SQTT: independent VALU of one wave 1 apart"),
    "valu_latency": _number(5, "cycles", "H", "SQTT: a dependent VALU executes 5 cycles after its producer"),
    "valu_queue": _number(
        8,
        "entries",
        "assumed",
        "issued VALU instructions that have not begun to execute: 8 is what one a cycle needs to cover the 8 cycles "
        "from issue to execution; SQTT shows 6 issued after a stalled one",
        8,
        12,
    ),
    "valu_queue_keeps": _number(
        0,
        "1 or 0",
        "assumed",
        "1: an instruction stays in that queue to its last pass, and the wave that fills it issues nothing else",
    ),
    "valu_holds": _number(
        0, "1 or 0", "H", "1: an instruction of several passes, but v_wmma, holds up the next issue; SQTT: 0, 1 apart"
    ),
    "trans_unit_cycles": _number(
        4, "cycles", "M", "ISA: quarter rate; SQTT: label VALUT_4. ACO: a unit of its own, beside the VALU"
    ),
    "trans_latency": _number(10, "cycles", "M", "Mesa ACO", 8, 12),
    "valu64_passes": _number(2, "cycles", "M", "SQTT: 64-bit shifts take 2"),
    "valu64_latency": _number(6, "cycles", "M", "Mesa ACO: 6/2", 6, 8),
    "int_quarter_passes": _number(
        4, "cycles", "M", "clpeak issue 127: a quarter of the rate on a gfx1103; SQTT: label VALUB_4; ACO: 4"
    ),
    "int_quarter_latency": _number(8, "cycles", "M", "Mesa ACO: 8/4"),
    "f64_passes": _number(16, "cycles", "M", "ISA: fp64 at 1/16 rate on Navi 31"),
    "f64_latency": _number(22, "cycles", "M", "Mesa ACO", 18, 26),
    "trans_f64_latency": _number(24, "cycles", "M", "Mesa ACO"),
    "wmma_passes": _number(
        32,
        "cycles",
        "M",
        "Mesa ACO, latency alike; AMD's peak, 122.8 TFLOP/s on 96 CUs at 2.5 GHz",
    ),
    "wmma_8bit_passes": _number(32, "cycles", "M", "as wmma_passes"),
    "wmma_iu4_passes": _number(16, "cycles", "M", "Mesa ACO, latency alike; half of the others"),
    "wmma_bank_passes": _number(
        2, "cycles", "M", "LLVM issue 204254, rocm-libraries pull request 8309: 34 where A, B and C begin on one bank"
    ),
    "wmma_work": _number(
        0.87,
        "of a v_dual_fmac's a cycle",
        "assumed",
        "power only: four products of 16 bits and sums of 32 a lane and cycle over two FMAs of f32, by the energies of "
        "Horowitz (ISSCC 2014): 4 (1.1 + 0.9) over 2 (3.7 + 0.9) pJ; what registers draw is not in it",
    ),
    "wmma_16bit_work": _number(
        0.65,
        "of a v_dual_fmac's a cycle",
        "assumed",
        "power only, as wmma_work where sums have 16 bits, too: 4 (1.1 + 0.4) over 2 (3.7 + 0.9) pJ",
    ),
    "operation_energy": _number(
        1, "x", "H", "power only: an operation's, over that on TSMC's N5, by which it is counted"
    ),
    "valu_to_lds": _number(
        18, "cycles", "H", "SQTT: issue of a wave's last VGPR write to the issue of its LDS access, 4 of 4", 17, 19
    ),
    "valu_to_vmem": _number(17, "cycles", "H", "SQTT: the same to a global access, read or not, 17 to 20", 17, 19),
    "valu_to_scalar": _number(
        17, "cycles", "H", "SQTT: v_cmpx to s_cbranch_execz 16 to 18; taken for any SGPR that the VALU writes", 16, 18
    ),
    "valu_to_end": _number(0, "cycles", "assumed", "the last VALU result to s_endpgm; 0: it does not wait for that"),
    "valu_carry": _number(
        1,
        "cycles",
        "L",
        "a VALU that reads VCC or an SGPR which the VALU wrote; of the 1 to 5 that it may be, 1 fits kernels 5 to 8: "
        "between 7 and 8 lie 117 cycles a wave and tile, 98 of them VALU; 24 carries at 5 cycles would add 96. LLVM 19 "
        "puts no s_delay_alu between v_add_co and v_add_co_ci either",
        1,
        5,
    ),
    # --- scalar side and control
    "salu_latency": _number(2, "cycles", "L", "LLVM GFX11SpeedModel: WriteSALU 2", 1, 4),
    "salu_to_valu": _number(
        4, "cycles", "assumed", "SQTT: SALU executes 4 after issue, the VALU 8: a VALU that reads the SGPR waits", 1, 6
    ),
    "smem_latency_ns": _number(15.4, "ns", "H", "C&C: scalar cache hit"),
    "smem_gap": _number(
        10, "cycles", "M", "SQTT: a second scalar load outside a clause, 20 of 20; in a clause they issue 1 apart"
    ),
    "scc_to_branch": _number(1, "cycles", "assumed", "s_cmp to the branch that reads SCC"),
    "branch_not_taken": _number(3, "cycles", "M", "SQTT: next instruction 3 after"),
    "branch_taken": _number(16, "cycles", "assumed", "not published; 3 to 32 hardly changes any kernel", 6, 32),
    "barrier": _number(14, "cycles", "M", "SQTT: last arrival to next VALU 14 to 16", 12, 16),
    "wait_release": _number(1, "cycles", "H", "SQTT: s_waitcnt release to next VALU 1 to 2"),
    "wait_at_once": _number(
        4, "cycles", "M", "SQTT: an s_waitcnt after an access that need not wait, to the next VALU, 10 of 10"
    ),
    "after_access": _number(3, "cycles", "M", "SQTT: an LDS access to an s_waitcnt right after it, 10 of 10"),
    "wave_stagger": _number(4, "cycles", "M", "SQTT: two waves of a workgroup begin 4 apart"),
    "workgroup_launch": _number(300, "cycles", "assumed", "a freed slot to the first instruction", 100, 600),
    # --- instruction cache
    "icache_bytes": _number(32768, "bytes", "L", "often said, never measured"),
    "icache_line": _number(64, "bytes", "H", "ISA: instruction cache line"),
    "icache_whole": _number(
        0,
        "1 or 0",
        "assumed",
        "1: an instruction on two lines issues when both are there; fitted numbers are without it",
    ),
    "icache_miss_ns": _number(
        60, "ns", "assumed", "half of an L2 hit: the sequencer prefetches the next line (s_set_inst_prefetch_distance)"
    ),
    # --- LDS
    "lds_latency": _number(
        29, "cycles", "M", "SQTT: b32 31 to 32 from issue to release; this plus the return of the data", 28, 31
    ),
    "lds_return_bytes": _number(
        64,
        "bytes/cycle/SIMD",
        "L",
        "SQTT: b32 31 cycles, two b128 37: six more for four times the data",
        64,
        128,
    ),
    "lds_store_latency": _number(27, "cycles", "M", "SQTT: ds_store_b32 33 to lgkmcnt(0), with the data transfer"),
    "lds_store_cycles": _number(
        6, "cycles/dword", "L", "SQTT: two ds_store_b32 issued 1 apart complete 6 apart (33 and 38)", 2, 6
    ),
    "lds_wgp_share": _number(
        1.13,
        "x 128 B/cycle",
        "L",
        "C&C: a workgroup over a whole WGP gets little over 128 of 256 B/cycle; how little: fitted over kernels 2 to 4 "
        "at 2.5 GHz; the study's utilisations and a 7600 XT want 1 to 1.06 (docs/record/timing-studies.md)",
        1,
        1.2,
    ),
    "lds_queue": _number(
        8,
        "cycles",
        "L",
        "work that may wait in front of LDS; after it the request path stands, for global loads too. Fitted over "
        "kernels 2 to 8",
        8,
        96,
    ),
    "path_lds_load": _number(1, "cycles", "M", "SQTT: LDS_RD"),
    "path_lds_store": _number(2, "cycles", "M", "SQTT: LDS_WR_2; one more each further two dwords"),
    "path_load_sgpr": _number(1, "cycles", "M", "SQTT: SGMEM_RD_1"),
    "path_load_vgpr": _number(2, "cycles", "M", "SQTT: a 64-bit address takes one more"),
    "path_store": _number(2, "cycles", "M", "SQTT: SGMEM_WR_2; 2 to 6 by width and address"),
    "path_queue": _number(1, "cycles", "L", "SQTT: two ds_store_b32 of 2 cycles each issue 1 apart"),
    # --- vector memory
    "ta_lanes": _number(
        8,
        "lanes/cycle",
        "assumed",
        "C&C's 128 B/cycle with b128 needs 8; a b32 load then takes 4. A 5700 XT's took 1.5 where its b128 took 4 "
        "(sebbbi's perftest): 22 lanes or more. With 32 the study's mean difference is 0.2 points larger",
        8,
        16,
    ),
    "l0_bytes": _number(32768, "bytes", "H", "C&C"),
    "l0_ways": _number(
        64, "ways", "assumed", "those of an MI300's; a WMMA kernel without LDS keeps 16 rows at a pitch of 8 KB", 16, 64
    ),
    "l0_hashed": _number(
        1,
        "1, or 0 where a set is the low bits of a line's number",
        "assumed",
        "not published. Of an MI300 it is 0 (Wave's documentation: bits 7 and 8 of an address); a WMMA kernel without "
        "LDS keeps 16 rows at a pitch of 8 KB, and looks up 2.4 of them a cycle at least (docs/record/)",
    ),
    "l0_tags": _number(
        4,
        "lines/cycle",
        "assumed",
        "banks of tags, each of which looks up a line of an access in a cycle; a line's is its set modulo their count. "
        "MI300s have four (TCP_TAGRAM0 to 3), one of which a stride of 512 bytes keeps busy (vLLM, pull request "
        "13231). A WMMA kernel without LDS needs 2.4 lines at least (docs/record/timing-studies.md)",
    ),
    "line_bytes": _number(128, "bytes", "H", "C&C, RDNA"),
    "l0_latency": _number(
        95, "cycles", "assumed", "about 38 ns, between LDS and L1; not published in numbers", 70, 120
    ),
    "l1_latency": _number(150, "cycles", "assumed", "about 60 ns; not published in numbers", 120, 190),
    "l2_latency_ns": _number(
        109, "ns", "L", "SQTT: a store's acknowledgement, 326 cycles at 3 GHz; between L1 and the L3 of C&C", 95, 125
    ),
    "l3_latency_ns": _number(150, "ns", "H", "C&C: vector, L3", 145, 160),
    "vram_latency_ns": _number(
        245, "ns", "H", "C&C: 235 for a vector load; SQTT: 241 to 261 for single cold loads", 235, 261
    ),
    "l0_fill_bytes": _number(64, "bytes/cycle/CU", "M", "RDNA: L1 to L0 64 B a cycle", 48, 64),
    "l1_bytes": _number(262144, "bytes", "H", "C&C: 256 KB a shader array"),
    "l1_ways": _number(16, "ways", "M", "RDNA"),
    "l1_bytes_per_cycle": _number(
        256, "bytes/cycle/array", "L", "RDNA: four banks of 64 B; shared by the CUs of a shader array", 192, 512
    ),
    "vram_read_share": _number(
        0.868, "of the peak", "M", "memtest_vulkan: 756 to 796 GiB/s of 960 GB/s, 7900 XTX", 0.84, 0.92
    ),
    "vram_write_share": _number(0.907, "of the peak", "M", "memtest_vulkan: 797 to 825 GiB/s", 0.88, 0.92),
    "l2_ways": _number(16, "ways", "M", "RDNA"),
    "store_ack_ns": _number(
        98,
        "ns",
        "M",
        "SQTT: store to s_endpgm, which waits for it: 252 to 344 cycles at 3 GHz, median 295",
        84,
        115,
    ),
    "memory_load_factor": _number(
        1.3,
        "x",
        "assumed",
        "latency of L2 and beyond under the load of all CUs over that of an idle chip, beyond the queues modelled here "
        "(fabric, channels); fitted over kernels 1 to 8",
        1,
        1.6,
    ),
    # --- rows a power of two apart
    "l2_crowding": _number(
        0.05,
        "part",
        "L",
        "of what lines on one place of 2 KB would cost L2 and L3 without any hash: that they cost is AMD's word (vLLM, "
        "pull requests 55090 and 56301), how much is not: with channel_crowding 0.1 what the fitted sets want "
        "(docs/record/timing-studies.md). 0: the hash spreads them; FlyDSL's product loses 4 to 6 % at K = 2048 (pull "
        "request 1028): 6 with 0.085",
        0,
        0.085,
    ),
    "channel_crowding": _number(
        0.1,
        "part",
        "L",
        "of what lines on one channel of memory would cost L3 and memory, if waves went in lockstep: where a line lies "
        "is public (Linux, umc_v8_10.c), how far waves drift is not: what the fitted sets want (docs/record/). 0: they "
        "drift all the way; FlyDSL's 6 %: 0.2",
        0,
        0.2,
    ),
}


SPAN = 1 << 10
"""By how much a number may be replaced: so many times as large or as small; some may be 0."""
_CACHES = "l0", "l1"
_MAY_BE_0 = "cycles", "ns", "1", "part"
"""How their units begin."""
_SECTOR = 32


def values(**overrides: float) -> dict[str, float]:
    """All numbers by name, some of them replaced. IsaError for a name that is not in the table, and for numbers with
    which there is no machine: beyond SPAN, or of caches with less than a line a way."""
    unknown = sorted(set(overrides) - set(NUMBERS))
    if unknown:
        raise IsaError(
            f"no machine number {unknown[0]!r}", expected="one of " + ", ".join(sorted(NUMBERS)), got=unknown[0]
        )
    found = {name: overrides.get(name, number.value) for name, number in NUMBERS.items()}
    for name, value in overrides.items():
        known = NUMBERS[name].value
        low, high = 0 if NUMBERS[name].unit.startswith(_MAY_BE_0) else known / SPAN, known * SPAN or SPAN
        if not low <= value <= high:
            raise IsaError(f"machine number {name} cannot be {value:g}", expected=f"{low:g} to {high:g}")
    line = found["line_bytes"]
    if line % _SECTOR or line < _SECTOR:
        raise IsaError(f"machine number line_bytes cannot be {line:g}", expected=f"a multiple of {_SECTOR}")
    for cache in _CACHES:
        size, ways = found[f"{cache}_bytes"], found[f"{cache}_ways"]
        if ways < 1 or size < ways * line:
            raise IsaError(
                f"a cache {cache.upper()} of {size:g} bytes in {ways:g} ways holds no lines of {line:g} bytes",
                expected=f"{cache}_bytes of at least {cache}_ways times line_bytes",
            )
    if found["l2_ways"] < 1 or not 1 <= found["l0_tags"] <= LANES or found["icache_bytes"] < found["icache_line"]:
        raise IsaError(
            "a cache that holds nothing, or whose tags nobody looks up",
            expected=f"l2_ways of at least 1, l0_tags of 1 to {LANES}, icache_bytes of at least icache_line",
        )
    return found
