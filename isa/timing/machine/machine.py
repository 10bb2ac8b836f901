"""A card at a clock, with machine numbers -> `layout.Machine`: everything in cycles, shares taken for one CU.

A share of a shared cache or memory is its bandwidth over the CUs that draw on it at once: all of them when the launch
fills the chip. Latencies beyond L1 grow with the part of the chip that works. L1 is shared by a shader array, L2, L3
and VRAM by the chip.
"""

from __future__ import annotations

from collections.abc import Mapping

from isa.timing.machine.cards import Card
from isa.timing.machine.wave64 import WAVE32, Wave
from isa.timing.native.engine_abi import Machine


def machine(
    numbers: Mapping[str, float],
    card: Card,
    *,
    clock_mhz: float,
    cu_mode: bool,
    waves: int,
    slots: int,
    busy_cus: int,
    policy: int = 0,
    seed: int = 0,
    wave: Wave = WAVE32,
    crowding: float = 1.0,
    channel_crowding: float = 1.0,
) -> Machine:
    """The machine that one unit sees. waves: of a workgroup; slots: workgroups resident in the unit; busy_cus: CUs that
    work at the same time; crowding, channel_crowding: of the lines that come to L2 and to L3, see
    `isa.timing.model.caches`."""
    ghz = clock_mhz / 1000
    line = numbers["line_bytes"]
    factor = 1 + (numbers["memory_load_factor"] - 1) * min(1.0, busy_cus / card.cus)

    def cycles(name: str) -> int:
        return round(numbers[f"{name}_ns"] * ghz)

    def share(bandwidth: float, cus: float) -> float:
        """Cycles a line of a shared bandwidth in bytes/s; 0 of a cache that is not there, which serves none."""
        return line / (bandwidth / (clock_mhz * 1e6) / max(1.0, cus)) if bandwidth else 0.0

    array_cus = max(1.0, busy_cus / card.shader_arrays)
    crowded = 1 + numbers["l2_crowding"] * (crowding - 1)
    channel = 1 + numbers["channel_crowding"] * (channel_crowding - 1)
    return Machine(
        simds=2 if cu_mode else 4,
        lds_units=1,
        waves=waves,
        slots=slots,
        policy=policy,
        seed=seed,
        issue_to_execute=round(numbers["valu_issue_to_execute"]),
        queue=round(numbers["valu_queue"]),
        to_lds=round(numbers["valu_to_lds"]),
        to_vmem=round(numbers["valu_to_vmem"]),
        to_scalar=round(numbers["valu_to_scalar"]),
        carry=round(numbers["valu_carry"]),
        trans=round(numbers["trans_unit_cycles"] * wave.halves),
        salu_latency=round(numbers["salu_latency"]),
        salu_to_valu=round(numbers["salu_to_valu"]),
        smem_latency=cycles("smem_latency"),
        smem_gap=round(numbers["smem_gap"]),
        not_taken=round(numbers["branch_not_taken"]),
        taken=round(numbers["branch_taken"]),
        barrier=round(numbers["barrier"]),
        release=round(numbers["wait_release"]),
        release_at_once=round(numbers["wait_at_once"]),
        after_access=round(numbers["after_access"]),
        stagger=round(numbers["wave_stagger"]),
        launch=round(numbers["workgroup_launch"]),
        dispatch_gap=max(1, int(waves * card.cus / 6)),
        icache_lines=round(numbers["icache_bytes"] // numbers["icache_line"]),
        icache_miss=cycles("icache_miss"),
        lds_latency=round(numbers["lds_latency"]),
        lds_return=128 / numbers["lds_return_bytes"],
        lds_store_latency=round(numbers["lds_store_latency"]),
        lds_store=numbers["lds_store_cycles"],
        lds_queue=round(numbers["lds_queue"]),
        lds_scale=1.0 if cu_mode else 1 / numbers["lds_wgp_share"],
        path_queue=round(numbers["path_queue"]),
        ta_cycles=round(32 * wave.halves / numbers["ta_lanes"]),
        l0_sets=round(numbers["l0_bytes"] / line / numbers["l0_ways"]),
        l0_ways=round(numbers["l0_ways"]),
        l0_hashed=round(numbers["l0_hashed"]),
        l0_latency=round(numbers["l0_latency"]),
        l1_latency=round(numbers["l1_latency"]),
        l2_latency=round(cycles("l2_latency") * factor),
        l3_latency=round(cycles("l3_latency") * card.far * factor),
        vram_latency=round(cycles("vram_latency") * card.far * factor),
        fill=line / numbers["l0_fill_bytes"],
        l1_line=line / numbers["l1_bytes_per_cycle"] * array_cus,
        l2_line=share(card.l2_bandwidth, busy_cus) * crowded,
        l3_line=share(card.l3_bandwidth, busy_cus) * crowded * channel,
        vram_line=share(card.vram_bandwidth * numbers["vram_read_share"], busy_cus) * channel,
        vram_write=share(card.vram_bandwidth * numbers["vram_write_share"], busy_cus),
        write_slack=card.l2_bytes / line * share(card.vram_bandwidth * numbers["vram_write_share"], 1),
        store_ack=cycles("store_ack"),
    )
