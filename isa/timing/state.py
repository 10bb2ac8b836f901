"""What the cycle engine keeps while it plays: arrays, made here so that compiling the engine stays quick.

Rows are waves: row = slot * waves + index of the wave in its workgroup. A slot holds one resident workgroup.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isa.timing.layout import REGISTERS, TAIL, VGPRS, Code, Machine

KEEP = 64
"""Completions remembered a counter: the counters have 6 bits."""
NEVER = 1 << 60


class State(NamedTuple):
    """Waves: live to fetched. Workgroups: arrived, alive, slot_start. SIMDs: order to store_free. CUs and caches: free
    to cache_ring. Results: causes to random."""

    live: Any
    wake: Any
    pc: Any
    block_pos: Any
    block_end: Any
    op_end: Any
    lds_pos: Any
    mem_pos: Any
    wg: Any
    home: Any
    prio: Any
    age: Any
    ready: Any  # when a VALU may execute with it
    scalar_ready: Any  # when a scalar instruction may issue with it
    written: Any  # execution of the last VALU instruction that writes a VGPR
    history: Any  # results of the last VALU instructions, for s_delay_alu
    history_n: Any
    trans: Any
    trans_n: Any
    done: Any
    queued: Any  # of lgkm: cycles spent in queues
    scalar_load: Any
    issued_n: Any
    last_op: Any
    last_t: Any
    stall_n: Any
    stall_cause: Any
    fetched: Any
    held_op: Any  # while events are recorded: which instruction's stall goes on, since when, and for which cause
    held_at: Any
    held_why: Any
    arrived: Any
    alive: Any
    order: Any
    order_n: Any
    simd_wake: Any
    valu_free: Any
    begun: Any
    begun_n: Any
    last_wave: Any  # whose turn it was, for the policy
    bank_wave: Any  # whose operands the operand caches hold
    return_free: Any
    store_free: Any
    free: Any
    lds_free: Any
    tags: Any
    used: Any
    filled: Any
    fetch_ready: Any  # when a line of the code is there; -1 where nobody asked
    cache_ring: Any
    causes: Any
    hits: Any
    latency: Any
    stalls: Any  # while events are recorded: cycles [instruction, cause]
    counts: Any
    random: Any
    slot_start: Any


def fresh(code: Code, m: Machine) -> State:
    """The state before the first cycle."""
    n_simd, n_slots, n_waves = m.simds, m.slots, m.waves
    n_cu = max(1, n_simd // 2)
    n_rows = n_slots * n_waves
    n_code = len(code.kind)
    n_fetch = int(code.fetch.max()) + 3
    return State(
        live=np.zeros(n_rows, np.bool_),
        wake=np.full(n_rows, NEVER, np.int64),
        pc=np.zeros(n_rows, np.int64),
        block_pos=np.zeros(n_rows, np.int64),
        block_end=np.zeros(n_rows, np.int64),
        op_end=np.zeros(n_rows, np.int64),
        lds_pos=np.zeros(n_rows, np.int64),
        mem_pos=np.zeros(n_rows, np.int64),
        wg=np.zeros(n_rows, np.int64),
        home=np.zeros(n_rows, np.int64),
        prio=np.zeros(n_rows, np.int64),
        age=np.zeros(n_rows, np.int64),
        ready=np.zeros((n_rows, REGISTERS), np.int64),
        scalar_ready=np.zeros((n_rows, REGISTERS - VGPRS), np.int64),
        written=np.zeros(n_rows, np.int64),
        history=np.zeros((n_rows, 8), np.int64),
        history_n=np.zeros(n_rows, np.int64),
        trans=np.zeros((n_rows, 8), np.int64),
        trans_n=np.zeros(n_rows, np.int64),
        done=np.zeros((n_rows, 3, KEEP), np.int64),
        queued=np.zeros((n_rows, KEEP), np.int64),
        scalar_load=np.zeros((n_rows, KEEP), np.bool_),
        issued_n=np.zeros((n_rows, 3), np.int64),
        last_op=np.full(n_rows, -1, np.int64),
        last_t=np.zeros(n_rows, np.int64),
        stall_n=np.zeros(n_rows, np.int64),
        stall_cause=np.full(n_rows, TAIL, np.int64),
        fetched=np.full(n_rows, -1, np.int64),
        held_op=np.zeros(n_rows, np.int64),
        held_at=np.zeros(n_rows, np.int64),
        held_why=np.zeros(n_rows, np.int64),
        arrived=np.zeros(n_slots, np.int64),
        alive=np.zeros(n_slots, np.int64),
        order=np.zeros((n_simd, n_rows), np.int64),
        order_n=np.zeros(n_simd, np.int64),
        simd_wake=np.zeros(n_simd, np.int64),
        valu_free=np.zeros(n_simd, np.int64),
        begun=np.zeros((n_simd, 32), np.int64),
        begun_n=np.zeros(n_simd, np.int64),
        last_wave=np.full(n_simd, -1, np.int64),
        bank_wave=np.full(n_simd, -1, np.int64),
        return_free=np.zeros(n_simd),
        store_free=np.zeros(n_simd),
        free=np.zeros((n_cu, 8)),
        lds_free=np.zeros(m.lds_units),
        tags=np.full((n_cu, m.l0_sets, m.l0_ways), -1, np.int64),
        used=np.full((n_cu, m.l0_sets, m.l0_ways), -1, np.int64),
        filled=np.zeros((n_cu, m.l0_sets, m.l0_ways), np.int64),
        fetch_ready=np.full(n_fetch, -1, np.int64),
        cache_ring=np.full(m.icache_lines, -1, np.int64),
        causes=np.zeros((n_simd, 13), np.int64),
        hits=np.zeros(n_code, np.int64),
        latency=np.zeros(n_code, np.int64),
        stalls=np.zeros((n_code, 13), np.int64),
        counts=np.zeros(5, np.int64),
        random=np.zeros(1, np.int64),
        slot_start=np.full(n_slots, -1, np.int64),
    )
