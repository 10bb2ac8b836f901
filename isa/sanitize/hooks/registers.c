/* Registers: which hold something, and which a load may still fill.
 *
 * A load puts an entry into its stream (VMEM, LDS, SMEM; FLAT into two) and takes its registers' readiness away; a wait
 * retires entries and gives it back. Loads of VMEM complete in order, and so do those of LDS; of SMEM nothing is sure
 * before lgkmcnt(0) (`isa.analysis.waits` has the sources). So vmcnt(n) retires all VMEM entries but the last n,
 * lgkmcnt(n) all LDS entries but the last n, and SMEM's if n is 0. Several may fill one register, each in other lanes: a
 * lane is in flight until the last of them that fills it has been retired. Of 16 bits a load fills one half, and the
 * other one may be used meanwhile (`isa.semantics.halves`). */

static void make_ready(struct shadow *v, u64 unit, u64 lanes)
{
    u64 now = v->ready[unit] | lanes;
    v->ready[unit] = now;
    if (now == ALL_LANES)
        v->full[unit >> 6] |= BIT(unit & 63);
}

/* Lanes in which loads in flight that were issued after this number fill some of these halves of a register. */
static u64 in_flight(struct shadow *v, u64 unit, u64 halves, u64 after)
{
    u64 lanes = 0;
    for (u64 stream = 0; stream < 3; stream++) {
        for (u64 i = v->done[stream]; i < v->issued[stream]; i++) {
            u64 slot = stream * RING + i % RING;
            if (fills(v, slot, unit) && v->entry[slot] > after && v->halves[slot] & halves)
                lanes |= v->asked[slot];
        }
    }
    return lanes;
}

/* The youngest load in flight that fills a register in some of these lanes. */
static u64 filler(struct shadow *v, u64 unit, u64 lanes)
{
    u64 number = 0, site = v->load[unit] & 0xFFFF;
    for (u64 stream = 0; stream < 3; stream++) {
        for (u64 i = v->done[stream]; i < v->issued[stream]; i++) {
            u64 slot = stream * RING + i % RING;
            if (fills(v, slot, unit) && v->entry[slot] > number && v->asked[slot] & lanes) {
                number = v->entry[slot];
                site = v->site[slot];
            }
        }
    }
    return site;
}

/* The slow way: some register of a segment is not ready in all lanes. */
EXPORT void hook_touch(struct wave *w, struct context *c, const u32 *table, u64 count, u64 exec, u64 segment)
{
    struct shadow *v = shadow_of(w);
    for (u64 i = 0; i < count; i++) {
        u64 entry = table[i];
        u64 unit = entry & UNIT_MASK;
        u64 lanes = exec;
        u64 lane = entry >> LANE_SHIFT;
        u64 halves = (entry >> HALVES_SHIFT) & BOTH_HALVES;
        if (unit >= 256 || (entry & EVERY_LANE && !lane))
            lanes = ALL_LANES;
        else if (lane)
            lanes = BIT(lane - 1);
        if (entry & WRITES) {
            u64 early = v->pending[unit] & lanes;
            if (early && halves) {
                u64 other = early & ~in_flight(v, unit, halves, 0);
                early &= ~other;
                lanes &= ~other; /* ready when the other half is */
            }
            if (early) {
                report(c, WRITE_IN_FLIGHT, segment, w->index, early, unit | halves << HALVES_SHIFT, 0,
                       filler(v, unit, early));
                v->pending[unit] = 0;
                v->latest[unit] = 0;
                if (v->late)
                    postpone(w, v, unit);
            }
            u64 source = (entry >> SOURCE_SHIFT) & SOURCE_MASK;
            if (source) {
                u64 holds = v->ready[source - 1];
                if (unit >= 256 && lane)
                    holds = ALL_LANES * ((holds >> (lane - 1)) & 1);
                u64 lacks = lanes & ~holds;
                if (entry & ALSO)
                    lacks &= ~v->ready[unit];
                v->ready[unit] &= ~lacks;
                if (lacks)
                    v->full[unit >> 6] &= ~BIT(unit & 63);
                lanes &= ~lacks;
            }
            make_ready(v, unit, lanes);
        } else {
            u64 missing = lanes & ~v->ready[unit];
            if (entry & ANY_LANE && v->ready[unit])
                missing &= v->pending[unit];
            u64 early = missing & v->pending[unit];
            if (early && halves) {
                early &= in_flight(v, unit, halves, 0);
                missing &= early | ~v->pending[unit];
            }
            if (missing) {
                if (early) {
                    report(c, READ_IN_FLIGHT, segment, w->index, early, unit | halves << HALVES_SHIFT, 0,
                           filler(v, unit, early));
                    make_ready(v, unit, lanes); /* what follows from it is not reported again */
                    if (v->late)
                        postpone(w, v, unit);
                } else if (!(entry & MAY_BE_EMPTY)) {
                    report(c, UNINITIALISED, segment, w->index, missing, unit, 0, 0);
                    make_ready(v, unit, lanes);
                }
            }
        }
    }
}

/* The oldest entry of a stream has completed. */
static void retire(struct wave *w, struct shadow *v, u64 stream)
{
    u64 slot = stream * RING + v->done[stream]++ % RING;
    u64 partner = v->partner[slot];
    if (partner && v->done[1 - stream] < partner)
        return; /* a flat load: the other stream will */
    if (v->late)
        arrive_late(w, v, slot);
    u64 first = v->first[slot];
    u64 holds = first + v->count[slot] - v->tails[slot];
    for (u64 unit = first; unit < first + v->count[slot]; unit++) {
        u64 lanes = v->asked[slot] & v->pending[unit];
        if (v->latest[unit] == v->entry[slot])
            v->latest[unit] = 0;
        else if (lanes)
            lanes &= ~in_flight(v, unit, BOTH_HALVES, v->entry[slot]);
        v->pending[unit] &= ~lanes;
        if (unit < holds)
            make_ready(v, unit, lanes & v->filled[slot]);
    }
}

static void push(struct wave *w, struct shadow *v, u64 stream, u64 first, u64 count, u64 lanes, u64 site, u64 writes,
                 u64 partner, u64 kept)
{
    if (v->issued[stream] - v->done[stream] >= RING - 1)
        retire(w, v, stream); /* the counter is full: issue waits */
    u64 slot = stream * RING + v->issued[stream]++ % RING;
    v->first[slot] = first;
    v->count[slot] = count;
    v->asked[slot] = lanes;
    v->filled[slot] = lanes;
    v->site[slot] = site;
    v->writes[slot] = writes & 1;
    v->halves[slot] = writes >> 1;
    v->partner[slot] = partner;
    v->kept[slot] = kept;
    v->entry[slot] = v->number;
    v->tails[slot] = 0;
    if (stream == SMEM) {
        v->tails[slot] = v->tail;
        v->tail = 0;
    }
    if (v->empty_site == site + 1) {
        v->filled[slot] &= ~v->empty_lanes;
        if (!partner || stream == LDS)
            v->empty_site = 0;
    }
}

/* A memory instruction that fills `count` registers. streams: bits; writes: 1 if it changes memory, the halves of a
 * register that it fills << 1. */
EXPORT void hook_issue(struct wave *w, struct context *c, u64 streams, u64 first, u64 count, u64 exec, u64 site,
                       u64 writes)
{
    struct shadow *v = shadow_of(w);
    u64 lanes = first >= 256 ? ALL_LANES : exec;
    if (lanes == 0)
        return;
    v->number++;
    v->touched |= streams & 1;
    u64 stream = stream_of(streams);
    u64 overtaken = 0;
    for (u64 unit = first; unit < first + count; unit++) {
        u64 before = v->pending[unit];
        u64 halves = writes >> 1;
        u64 met = halves == BOTH_HALVES ? before : before & in_flight(v, unit, halves, 0);
        if (met & lanes && (v->load[unit] >> 16 != stream || stream == SMEM)) {
            report(c, WRITE_IN_FLIGHT, site, w->index, before & lanes, unit | WRITES, 0, v->load[unit] & 0xFFFF);
            overtaken = 1;
        }
        v->pending[unit] = before | lanes;
        v->load[unit] = site | (stream << 16);
        v->latest[unit] = v->number;
        v->ready[unit] &= ~lanes;
        v->full[unit >> 6] &= ~BIT(unit & 63);
    }
    u64 kept = stream * RING + v->issued[stream] % RING;
    if (streams == 3) {
        push(w, v, VM, first, count, lanes, site, writes, v->issued[LDS] + 1, kept);
        push(w, v, LDS, first, count, lanes, site, writes, v->issued[VM], kept);
    } else
        push(w, v, stream, first, count, lanes, site, writes, 0, kept);
    if (v->late) {
        for (u64 unit = first; unit < first + count; unit++) {
            if (overtaken || is_postponed(v, unit))
                postpone(w, v, unit);
        }
    }
}

EXPORT void hook_wait(struct wave *w, u64 vm, u64 lgkm)
{
    struct shadow *v = shadow_of(w);
    while (v->issued[VM] > v->done[VM] + vm)
        retire(w, v, VM);
    while (v->issued[LDS] > v->done[LDS] + lgkm)
        retire(w, v, LDS);
    if (lgkm == 0) {
        while (v->issued[SMEM] > v->done[SMEM])
            retire(w, v, SMEM);
    }
}
