"""The cycle engine: one unit of the chip (CU or WGP), cycle by cycle, compiled to native code by numba.

It plays what waves executed (`layout.Recorded`) against the machine (`layout.Machine`). In each cycle each SIMD walks
over its waves in the order of the arbitration policy; each wave may issue one instruction, and each kind of unit takes
one. Cycles in which no wave can issue are skipped. Everything behind issue (VALU, request path, LDS, L0, return buses,
shares of L1, L2, L3 and VRAM) is a queue served in order, so that the completion of an access is known when it issues:

    VALU    in order; executes `issue_to_execute` after issue at the earliest, not before its operands are ready (which
            holds up whatever was issued behind it), for `passes` plus the cycles its operand reads take
    LDS     request path of the CU -> 32 banks, phases and conflicts from the addresses -> return bus of the SIMD
    memory  request path -> address unit -> L0 (real addresses, LRU) -> L1, L2, L3 or VRAM by the shares that
            `isa.timing.caches` found for this instruction, each with this CU's share of the bandwidth

Accounting: whenever the VALU stands still between two instructions, the gap belongs to what held up the wave that
ended it (its longest stall since its last VALU instruction). The causes of one SIMD sum to the whole time.

Limits: scalar cache and instruction cache hits cost the same for all; the chip around the unit is bandwidth shares
and hit rates, not events; a wave with EXEC = 0 still issues.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from isa.timing import layout as L
from isa.timing.state import KEEP, NEVER, fresh

VALU, SALU, SMEM, LDS_LOAD, LDS_STORE, LOAD, STORE = L.VALU, L.SALU, L.SMEM, L.LDS_LOAD, L.LDS_STORE, L.LOAD, L.STORE
WAIT, BARRIER, BRANCH, INTERNAL, END, PRIO = L.WAIT, L.BARRIER, L.BRANCH, L.INTERNAL, L.END, L.PRIO
BUSY, BANK, DEPENDENCY, LDS_WAIT, LDS_BANDWIDTH, GMEM = (
    L.BUSY, L.BANK, L.DEPENDENCY, L.LDS_WAIT, L.LDS_BANDWIDTH, L.GMEM,
)  # fmt: skip
BARRIER_WAIT, BRANCH_COST, DRAIN, SCALAR, FETCH, ISSUE, TAIL = (
    L.BARRIER_WAIT, L.BRANCH_COST, L.DRAIN, L.SCALAR, L.FETCH, L.ISSUE, L.TAIL,
)  # fmt: skip
STICKY, ROUND_ROBIN, REGISTERS, VGPRS = L.STICKY, L.ROUND_ROBIN, L.REGISTERS, L.VGPRS
_BIG, _KEEP = NEVER, KEEP

# Columns of the queues' state `free`: when each is free again. Of a CU:
_PATH, _TA, _FILL, _L1, _L2, _L3, _VRAM, _RETURN = range(8)


@nb.njit(cache=True, nogil=True, error_model="numpy")
def _line_ready(line, start, cu, i, level, m, free, tags, used, filled, counts, random):
    """When one 128-byte line asked for at `start` has arrived from L0, or from the level beyond that holds it."""
    s = ((line ^ (line >> 7) ^ (line >> 14)) & 0x7FFFFFFF) % m.l0_sets
    victim = 0
    for way in range(m.l0_ways):
        if tags[cu, s, way] == line:
            used[cu, s, way] = start
            counts[0] += 1
            return max(start + m.l0_latency, filled[cu, s, way])
        if used[cu, s, way] < used[cu, s, victim]:
            victim = way
    begin = max(float(start), free[cu, _FILL])
    free[cu, _FILL] = begin + m.fill
    random[0] = (random[0] * 6364136223846793005 + 1442695040888963407) & 0x7FFFFFFFFFFFFFFF
    dice = (random[0] >> 20) / float(1 << 43)
    if dice < level[i, 0]:
        at = max(begin, free[cu, _L1])
        free[cu, _L1] = at + m.l1_line
        ready = at + m.l1_latency
        counts[1] += 1
    else:
        at = max(begin, free[cu, _L2])
        free[cu, _L2] = at + m.l2_line
        ready = at + m.l2_latency
        counts[2] += 1
        if dice >= level[i, 1]:
            at = max(at, free[cu, _L3])
            free[cu, _L3] = at + m.l3_line
            ready = at + m.l3_latency
            counts[3] += 1
            if dice >= level[i, 2]:
                at = max(at, free[cu, _VRAM])
                free[cu, _VRAM] = at + m.vram_line
                ready = at + m.vram_latency
                counts[4] += 1
    tags[cu, s, victim] = line
    used[cu, s, victim] = start
    filled[cu, s, victim] = int(ready)
    return int(ready)


@nb.njit(cache=True, nogil=True, error_model="numpy")
def _run(code, rec, work, m, state, budget, events, samples):
    """`run` on fresh `state`."""
    # Plain locals: each access to a field of a tuple costs compile time.
    m_simds = m.simds
    m_slots = m.slots
    m_waves = m.waves
    m_lds_units = m.lds_units
    m_icache_lines = m.icache_lines
    m_seed = m.seed
    m_dispatch_gap = m.dispatch_gap
    m_stagger = m.stagger
    m_policy = m.policy
    m_icache_miss = m.icache_miss
    m_issue_to_execute = m.issue_to_execute
    m_queue = m.queue
    m_to_lds = m.to_lds
    m_to_vmem = m.to_vmem
    m_path_queue = m.path_queue
    m_to_scalar = m.to_scalar
    m_salu_latency = m.salu_latency
    m_salu_to_valu = m.salu_to_valu
    m_smem_latency = m.smem_latency
    m_lds_scale = m.lds_scale
    m_lds_return = m.lds_return
    m_lds_latency = m.lds_latency
    m_lds_store = m.lds_store
    m_lds_store_latency = m.lds_store_latency
    m_ta_cycles = m.ta_cycles
    m_l2_line = m.l2_line
    m_store_ack = m.store_ack
    m_release = m.release
    m_barrier = m.barrier
    m_launch = m.launch
    m_taken = m.taken
    m_not_taken = m.not_taken
    work_record = work.record
    work_x = work.x
    work_shift_x = work.shift_x
    work_y = work.y
    work_shift_y = work.shift_y
    work_level = work.level
    code_kind = code.kind
    code_fetch = code.fetch
    code_block_first = code.block_first
    code_delay = code.delay
    code_src = code.src
    code_wait = code.wait
    code_bank_reuse = code.bank_reuse
    code_bank_cold = code.bank_cold
    code_passes = code.passes
    code_latency = code.latency
    code_value = code.value
    code_dst = code.dst
    code_path = code.path
    code_dwords = code.dwords
    code_private = code.private
    code_counter = code.counter
    rec_block_at = rec.block_at
    rec_blocks = rec.blocks
    rec_lds_at = rec.lds_at
    rec_mem_at = rec.mem_at
    rec_lds = rec.lds
    rec_sector_at = rec.sector_at
    rec_sectors = rec.sectors
    n_simd, n_slots, n_waves = m_simds, m_slots, m_waves
    n_work = work_record.shape[0]

    # The state of waves, workgroups, SIMDs, CUs and caches: see `isa.timing.state`.
    live = state.live
    wake = state.wake
    pc = state.pc
    block_pos = state.block_pos
    block_end = state.block_end
    op_end = state.op_end
    lds_pos = state.lds_pos
    mem_pos = state.mem_pos
    wg = state.wg
    home = state.home
    prio = state.prio
    age = state.age
    ready = state.ready
    scalar_ready = state.scalar_ready
    written = state.written
    history = state.history
    history_n = state.history_n
    trans = state.trans
    trans_n = state.trans_n
    done = state.done
    queued = state.queued
    scalar_load = state.scalar_load
    issued_n = state.issued_n
    last_op = state.last_op
    last_t = state.last_t
    stall_n = state.stall_n
    stall_cause = state.stall_cause
    fetched = state.fetched
    held_op = state.held_op
    held_at = state.held_at
    held_why = state.held_why
    arrived = state.arrived
    alive = state.alive
    order = state.order
    order_n = state.order_n
    simd_wake = state.simd_wake
    valu_free = state.valu_free
    begun = state.begun
    begun_n = state.begun_n
    last_wave = state.last_wave
    bank_wave = state.bank_wave
    return_free = state.return_free
    store_free = state.store_free
    free = state.free
    lds_free = state.lds_free
    tags = state.tags
    used = state.used
    filled = state.filled
    fetch_ready = state.fetch_ready
    cache_ring = state.cache_ring
    causes = state.causes
    hits = state.hits
    latency = state.latency
    stalls = state.stalls
    counts = state.counts
    random = state.random
    slot_start = state.slot_start
    cache_n = 0
    random[0] = m_seed + 88172645463325252

    t = np.int64(0)
    issued = 0
    finished = 0
    started = 0
    births = 0
    n_events = 0
    n_samples = 0
    recording = events.shape[0] > 0
    for slot in range(min(n_slots, n_work)):
        slot_start[slot] = slot * m_dispatch_gap

    while finished < n_work and issued < budget:
        if n_samples < samples.shape[0] and issued >= (n_samples + 1) * budget // (samples.shape[0] + 1):
            samples[n_samples, 0] = t
            samples[n_samples, 1] = issued
            n_samples += 1
        soonest = _BIG
        # Workgroups that begin
        for slot in range(n_slots):
            if slot_start[slot] < 0:
                continue
            if slot_start[slot] > t:
                soonest = min(soonest, slot_start[slot])
                continue
            slot_start[slot] = -1
            g = started
            started += 1
            alive[slot] = n_waves
            arrived[slot] = 0
            for i in range(n_waves):
                w = slot * n_waves + i
                row = work_record[g] * n_waves + i
                s = np.int64(0)  # the SIMD with the fewest waves
                for other in range(n_simd):
                    if order_n[other] < order_n[s]:
                        s = other
                live[w] = True
                wg[w] = g
                home[w] = s
                prio[w] = 0
                age[w] = births
                births += 1
                block_pos[w] = rec_block_at[row]
                block_end[w] = rec_block_at[row + 1]
                pc[w] = code_block_first[rec_blocks[block_pos[w]]]
                op_end[w] = code_block_first[rec_blocks[block_pos[w]] + 1]
                lds_pos[w] = rec_lds_at[row]
                mem_pos[w] = rec_mem_at[row]
                wake[w] = t + i * m_stagger
                for r in range(REGISTERS):
                    ready[w, r] = 0
                for r in range(REGISTERS - VGPRS):
                    scalar_ready[w, r] = 0
                written[w] = -1000
                for c in range(3):
                    issued_n[w, c] = 0
                    done[w, c, _KEEP - 1] = 0
                history_n[w] = 0
                trans_n[w] = 0
                last_op[w] = -1
                stall_n[w] = 0
                stall_cause[w] = TAIL
                fetched[w] = -1
                held_op[w] = pc[w]
                held_at[w] = wake[w]
                held_why[w] = ISSUE
                order[s, order_n[s]] = w
                order_n[s] += 1
                simd_wake[s] = min(simd_wake[s], wake[w])

        for s in range(n_simd):
            if simd_wake[s] > t:
                continue
            cu = s // 2
            taken_kinds = 0
            nearest = _BIG
            valu_issuer = -1
            count = order_n[s]
            at = 0
            for j in range(count):
                if m_policy == STICKY:
                    if j == 0:
                        at = 0
                        for k in range(count):
                            if order[s, k] == last_wave[s]:
                                at = k
                        pinned = at
                    else:
                        at = j - 1 if j - 1 < pinned else j
                elif m_policy >= ROUND_ROBIN:
                    at = j
                    if j == 0:
                        turn = 0
                        for k in range(count):
                            if order[s, k] == last_wave[s]:
                                turn = k + 1 if m_policy == ROUND_ROBIN else k
                    at = (j + turn) % count
                else:
                    at = j
                w = order[s, at]
                if wake[w] > t:
                    nearest = min(nearest, wake[w])
                    continue
                i = pc[w]
                kind = code_kind[i]

                # Instruction fetch: a new line of the code
                line = code_fetch[i]
                if line != fetched[w]:
                    fetched[w] = line
                    for ahead in range(2):
                        if fetch_ready[line + ahead] < 0:
                            old = cache_ring[cache_n % m_icache_lines]
                            if old >= 0:
                                fetch_ready[old] = -1
                            cache_ring[cache_n % m_icache_lines] = line + ahead
                            fetch_ready[line + ahead] = t + m_icache_miss
                            cache_n += 1
                    if fetch_ready[line] > t:
                        wake[w] = fetch_ready[line]
                        nearest = min(nearest, wake[w])
                        if wake[w] - t > stall_n[w]:
                            stall_n[w] = wake[w] - t
                            stall_cause[w] = FETCH
                        if recording:
                            stalls[held_op[w], held_why[w]] += t - held_at[w]
                            held_op[w], held_at[w], held_why[w] = i, t, FETCH
                        continue

                # One of a kind a cycle; kinds that share a unit share a bit
                unit = 0
                if kind == VALU:
                    unit = 1
                elif kind == SALU:
                    unit = 2
                elif kind == SMEM:
                    unit = 4
                elif kind in (LDS_LOAD, LDS_STORE):
                    unit = 8
                elif kind in (LOAD, STORE):
                    unit = 16
                elif kind in (BRANCH, BARRIER):
                    unit = 32
                if taken_kinds & unit:
                    nearest = min(nearest, t + 1)
                    if recording:
                        stalls[held_op[w], held_why[w]] += t - held_at[w]
                        held_op[w], held_at[w] = i, t
                        held_why[w] = BUSY if kind == VALU else ISSUE
                    continue

                until = t  # when it may issue; later than t holds the wave
                why = ISSUE
                held = False  # the unit, not the wave, is not ready
                for d in range(0, 4, 2):
                    what = code_delay[i, d]
                    if what == 0:
                        break
                    back = code_delay[i, d + 1]
                    if what == 1 and history_n[w] >= back:
                        when = history[w, (history_n[w] - back) & 7] - m_issue_to_execute
                    elif what == 2 and trans_n[w] >= back:
                        when = trans[w, (trans_n[w] - back) & 7] - m_issue_to_execute
                    elif what == 3:
                        when = last_t[w] + 1 + back
                    else:
                        when = t
                    if when > until:
                        until = when
                        why = DEPENDENCY
                if kind == VALU:
                    oldest = begun[s, (begun_n[s] - m_queue) & 31]
                    if begun_n[s] >= m_queue and oldest > t:
                        until = max(until, oldest)
                        held = True
                elif kind in (SALU, BRANCH, SMEM):
                    for k in range(code_src.shape[1]):
                        r = code_src[i, k]
                        if r < 0:
                            break
                        if r >= VGPRS and scalar_ready[w, r - VGPRS] > until:
                            until = scalar_ready[w, r - VGPRS]
                            why = SCALAR
                elif kind in (LDS_LOAD, LDS_STORE, LOAD, STORE):
                    drained = written[w] + (m_to_lds if kind < LOAD else m_to_vmem) - m_issue_to_execute
                    if drained > until:
                        until = drained
                        why = DRAIN
                    for k in range(code_src.shape[1]):
                        r = code_src[i, k]
                        if r < 0:
                            break
                        if r >= VGPRS and scalar_ready[w, r - VGPRS] > until:
                            until = scalar_ready[w, r - VGPRS]
                            why = SCALAR
                    if free[cu, _PATH] - m_path_queue > until:
                        until = np.int64(np.ceil(free[cu, _PATH])) - m_path_queue
                        why = ISSUE
                        held = True
                elif kind in (WAIT, END):
                    for c in range(3):
                        limit = code_wait[i, c]
                        if kind == END:
                            limit = 0
                        if limit < 0:
                            continue
                        entry = issued_n[w, c] - limit
                        if entry <= 0:
                            continue
                        when = done[w, c, (entry - 1) & (_KEEP - 1)]
                        if when > until:
                            until = when
                            why = GMEM
                            if c == 1:
                                why = LDS_WAIT
                                if scalar_load[w, (entry - 1) & (_KEEP - 1)]:
                                    why = SCALAR
                                elif 2 * queued[w, (entry - 1) & (_KEEP - 1)] > when - t:
                                    why = LDS_BANDWIDTH
                if until > t:
                    if not held:
                        wake[w] = until
                    nearest = min(nearest, until)
                    if until - t > stall_n[w]:
                        stall_n[w] = until - t
                        stall_cause[w] = why
                    if recording:
                        stalls[held_op[w], held_why[w]] += t - held_at[w]
                        held_op[w], held_at[w] = i, t
                        held_why[w] = BUSY if kind == VALU and held else why
                    continue

                # --- it issues
                taken_kinds |= unit
                issued += 1
                hits[i] += 1
                if last_op[w] >= 0:
                    latency[last_op[w]] += t - last_t[w]
                last_op[w] = i
                last_t[w] = t
                if recording:
                    stalls[held_op[w], held_why[w]] += t - held_at[w]
                if n_events < events.shape[0]:
                    events[n_events, 0] = t
                    events[n_events, 1] = s
                    events[n_events, 2] = w
                    events[n_events, 3] = i
                    events[n_events, 4] = t
                    n_events += 1
                next_at = t + 1

                if kind == VALU:
                    nominal = t + m_issue_to_execute
                    begin = max(nominal, valu_free[s])
                    gap = max(np.int64(0), nominal - valu_free[s])
                    execute = begin
                    for k in range(code_src.shape[1]):
                        r = code_src[i, k]
                        if r < 0:
                            break
                        execute = max(execute, ready[w, r])
                    bank = code_bank_reuse[i] if bank_wave[s] == w else code_bank_cold[i]
                    bank_wave[s] = w
                    causes[s, BUSY] += code_passes[i]
                    causes[s, BANK] += bank
                    causes[s, DEPENDENCY] += execute - begin
                    if gap > 0:
                        causes[s, stall_cause[w]] += gap
                    stall_n[w] = 0
                    stall_cause[w] = ISSUE
                    valu_free[s] = execute + bank + code_passes[i]
                    begun[s, begun_n[s] & 31] = execute + bank
                    if n_events > 0 and events[n_events - 1, 0] == t and events[n_events - 1, 2] == w:
                        events[n_events - 1, 4] = execute + bank
                    begun_n[s] += 1
                    result = execute + bank + code_passes[i] - 1 + code_latency[i]
                    history[w, history_n[w] & 7] = result
                    history_n[w] += 1
                    if code_value[i] == 1:
                        trans[w, trans_n[w] & 7] = result
                        trans_n[w] += 1
                    for k in range(code_dst.shape[1]):
                        r = code_dst[i, k]
                        if r < 0:
                            break
                        ready[w, r] = result
                        if r >= VGPRS:
                            scalar_ready[w, r - VGPRS] = execute + bank + m_to_scalar - m_issue_to_execute
                        else:
                            written[w] = execute + bank + code_passes[i] - 1
                    valu_issuer = w
                elif kind == SALU:
                    for k in range(code_dst.shape[1]):
                        r = code_dst[i, k]
                        if r < 0:
                            break
                        if r >= VGPRS:
                            scalar_ready[w, r - VGPRS] = t + m_salu_latency
                            ready[w, r] = t + m_salu_to_valu + m_issue_to_execute
                elif kind == SMEM:
                    n = issued_n[w, 1]
                    done[w, 1, n & (_KEEP - 1)] = max(t + m_smem_latency, done[w, 1, (n - 1) & (_KEEP - 1)])
                    queued[w, n & (_KEEP - 1)] = 0
                    scalar_load[w, n & (_KEEP - 1)] = True
                    issued_n[w, 1] = n + 1
                elif kind in (LDS_LOAD, LDS_STORE):
                    begin_path = max(float(t), free[cu, _PATH])
                    free[cu, _PATH] = begin_path + code_path[i]
                    cycles = rec_lds[lds_pos[w]] * m_lds_scale
                    lds_pos[w] += 1
                    lds = cu % m_lds_units
                    begin_lds = max(begin_path, lds_free[lds])
                    lds_free[lds] = begin_lds + cycles
                    if kind == LDS_LOAD:
                        bus = code_dwords[i] * m_lds_return
                        begin_bus = max(begin_lds + m_lds_latency, return_free[s])
                        return_free[s] = begin_bus + bus
                        finish = max(begin_bus + bus, begin_lds + m_lds_latency + cycles + 1)
                        waited = finish - t - m_lds_latency - max(bus, cycles + 1)
                    else:
                        bus = code_dwords[i] * m_lds_store
                        begin_bus = max(begin_path, store_free[s])
                        store_free[s] = begin_bus + bus
                        finish = max(begin_bus + bus, begin_lds + cycles) + m_lds_store_latency
                        waited = finish - t - m_lds_store_latency - bus
                    n = issued_n[w, 1]
                    done[w, 1, n & (_KEEP - 1)] = max(np.int64(np.ceil(finish)), done[w, 1, (n - 1) & (_KEEP - 1)])
                    queued[w, n & (_KEEP - 1)] = np.int64(waited)
                    scalar_load[w, n & (_KEEP - 1)] = False
                    issued_n[w, 1] = n + 1
                elif kind in (LOAD, STORE):
                    begin_path = max(float(t), free[cu, _PATH])
                    free[cu, _PATH] = begin_path + code_path[i]
                    first = rec_sector_at[mem_pos[w]]
                    last = rec_sector_at[mem_pos[w] + 1]
                    mem_pos[w] += 1
                    g = wg[w]
                    shift = work_x[g] * work_shift_x[i] + work_y[g] * work_shift_y[i]
                    if code_private[i]:
                        shift = np.int64(w + 1) << 32
                    begin_ta = max(begin_path, free[cu, _TA])
                    lines = 0
                    previous = np.int64(-1)
                    finish = np.int64(begin_ta)
                    for k in range(first, last):
                        this = (rec_sectors[k] + shift) >> 2
                        if this == previous:
                            continue
                        previous = this
                        lines += 1
                        if kind == LOAD:
                            finish = max(
                                finish,
                                _line_ready(
                                    this, np.int64(begin_ta) + lines - 1, cu, i, work_level, m, free, tags, used,
                                    filled, counts, random,
                                ),
                            )  # fmt: skip
                    free[cu, _TA] = begin_ta + max(m_ta_cycles, lines)
                    if kind == LOAD:
                        begin_bus = max(float(finish), free[cu, _RETURN])
                        free[cu, _RETURN] = begin_bus + code_dwords[i]
                        finish = np.int64(np.ceil(begin_bus + code_dwords[i] - 1))
                    else:
                        begin_l2 = max(begin_ta, free[cu, _L2])
                        free[cu, _L2] = begin_l2 + (last - first) * m_l2_line * 0.25
                        finish = np.int64(begin_l2) + m_store_ack
                    c = code_counter[i]
                    n = issued_n[w, c]
                    done[w, c, n & (_KEEP - 1)] = max(finish, done[w, c, (n - 1) & (_KEEP - 1)])
                    if c == 1:
                        queued[w, n & (_KEEP - 1)] = 0
                        scalar_load[w, n & (_KEEP - 1)] = False
                    issued_n[w, c] = n + 1
                elif kind == WAIT:
                    next_at = t + m_release
                elif kind == BARRIER:
                    slot = w // n_waves
                    arrived[slot] += 1
                    next_at = _BIG
                    stall_n[w] = 0
                    stall_cause[w] = BARRIER_WAIT
                    if arrived[slot] == alive[slot]:
                        arrived[slot] = 0
                        next_at = t + m_barrier
                        for k in range(n_waves):
                            other = slot * n_waves + k
                            if live[other] and other != w:
                                wake[other] = next_at
                                stall_n[other] = max(stall_n[other], next_at - last_t[other])
                                stall_cause[other] = BARRIER_WAIT
                                simd_wake[home[other]] = min(simd_wake[home[other]], next_at)
                                nearest = min(nearest, next_at)
                elif kind == INTERNAL:
                    next_at = t + 1 + code_value[i]
                elif kind == PRIO:
                    prio[w] = code_value[i]
                elif kind == END:
                    live[w] = False
                    next_at = _BIG
                    slot = w // n_waves
                    alive[slot] -= 1
                    order_n[s] -= 1
                    for k in range(at, order_n[s]):
                        order[s, k] = order[s, k + 1]
                    if alive[slot] == 0:
                        finished += 1
                        pending = 0
                        for k in range(n_slots):
                            if slot_start[k] >= 0:
                                pending += 1
                        if started + pending < n_work:
                            slot_start[slot] = t + m_launch
                            soonest = min(soonest, slot_start[slot])
                    elif arrived[slot] == alive[slot]:
                        arrived[slot] = 0  # an ended wave no longer holds the barrier
                        for k in range(n_waves):
                            other = slot * n_waves + k
                            if live[other]:
                                wake[other] = t + m_barrier
                                simd_wake[home[other]] = min(simd_wake[home[other]], wake[other])

                # --- the next instruction
                if kind != END:
                    pc[w] = i + 1
                    if i + 1 == op_end[w]:
                        here = rec_blocks[block_pos[w]]
                        block_pos[w] += 1
                        if block_pos[w] < block_end[w]:
                            then = rec_blocks[block_pos[w]]
                            pc[w] = code_block_first[then]
                            op_end[w] = code_block_first[then + 1]
                            if kind == BRANCH:
                                next_at = t + (m_taken if then != here + 1 else m_not_taken)
                                if next_at - t > stall_n[w]:
                                    stall_n[w] = next_at - t
                                    stall_cause[w] = BRANCH_COST
                if recording:  # a barrier's wait and a branch's cost are its own, other cycles the next instruction's
                    held_at[w] = t + 1
                    held_op[w] = i if kind in (BARRIER, BRANCH) else pc[w]
                    held_why[w] = BARRIER_WAIT if kind == BARRIER else BRANCH_COST if kind == BRANCH else ISSUE
                wake[w] = next_at
                nearest = min(nearest, next_at)
                if kind == PRIO:  # keep the list by priority, then age
                    for k in range(1, order_n[s]):
                        moved = order[s, k]
                        p = k
                        while p > 0 and (
                            prio[order[s, p - 1]] < prio[moved]
                            or (prio[order[s, p - 1]] == prio[moved] and age[order[s, p - 1]] > age[moved])
                        ):
                            order[s, p] = order[s, p - 1]
                            p -= 1
                        order[s, p] = moved
                    nearest = t + 1
                    break
                if kind == END:
                    nearest = t + 1
                    break
            if valu_issuer >= 0:
                last_wave[s] = valu_issuer
            simd_wake[s] = max(nearest, t + 1)
        for s in range(n_simd):
            soonest = min(soonest, simd_wake[s])
        if soonest >= _BIG:
            break  # every wave waits at a barrier that cannot be met
        t = max(t + 1, soonest)

    end = t
    for s in range(n_simd):
        total = np.int64(0)
        for k in range(13):
            total += causes[s, k]
        causes[s, TAIL] += max(np.int64(0), end - total)
    return end, issued, finished, n_events


def run(
    code: L.Code,
    rec: L.Recorded,
    work: L.Work,
    m: L.Machine,
    budget: int,
    events: np.ndarray,
    samples: np.ndarray,
) -> tuple[int, int, int, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:
    """Play `work` on machine `m`.

    budget: stop after this many issued instructions.
    events: int64[e, 5], filled with (cycle, SIMD, wave slot, instruction, cycle of execution) of the first e issues.
    samples: int64[k, 2], filled with (cycle, issued) at k even steps of `budget`.

    Returns (cycles, issued, workgroups finished, causes[SIMD, 13], hits[n], latency[n], lines[5] served by L0, L1, L2
    and beyond, L3 and beyond, VRAM, stalls[n, 13], number of events). The stalls are kept only where there are events:
    cycles that waves could not issue, by the instruction that they stood at (a barrier's wait is the barrier's, a
    branch's cost the branch's) and the cause; "VALU busy" is a VALU taken by another wave, or full.
    """
    state = fresh(code, m)
    cycles, issued, finished, n_events = _run(code, rec, work, m, state, budget, events, samples)
    return cycles, issued, finished, state.causes, state.hits, state.latency, state.counts, state.stalls, n_events
