/* Registers: which hold something, and which a load may still fill.
 *
 * A load puts an entry into its stream (VMEM, LDS, SMEM; FLAT into two) and takes its registers' readiness away; a wait
 * retires entries and gives it back. Loads of VMEM complete in order, and so do those of LDS; of SMEM nothing is sure
 * before lgkmcnt(0) (`isa.analysis.waits` has the sources). So vmcnt(n) retires all VMEM entries but the last n,
 * lgkmcnt(n) all LDS entries but the last n, and SMEM's if n is 0. Several may fill one register, each in other lanes: a
 * lane is in flight until the last of them that fills it has been retired. Of 16 bits a load fills one half, and the
 * other one may be used meanwhile (`isa.semantics.halves`). */

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

/* What an instruction has read, as far as its results hold nothing by that. */
struct inputs {
    u64 segment;
    u64 exec;
    struct cause cause[2]; /* by halves of a dual instruction: the first input that lacks something; lanes 0 for none */
    u64 tainted[2];        /* lanes in which all that is computed holds nothing */
    u64 mask[2];           /* the mask of lanes that a choice goes by */
    u64 operands;          /* of a bitwise instruction */
    u64 value[2];
    u64 unknown[2];
};

/* The origin of a result that lacks something; false, where there are too many causes, after a report. */
static bool blame(struct wave *w, struct context *c, const struct cause *cause, u64 segment, u64 *site)
{
    u64 number = number_of(shadow_of(w), cause);
    *site = COMPUTED | number;
    if (number == 0)
        report_cause(c, w, cause, segment + 1);
    return number != 0;
}

/* A register takes what another one holds, byte by byte as the entry says. */
static void hand_on(struct wave *w, struct context *c, struct shadow *v, u64 entry, u64 unit, u64 source, u64 lanes,
                    u64 lane, const struct inputs *in)
{
    u64 rows = (entry >> ROWS_SHIFT) & 0xFFFF;
    u64 half = (entry & SECOND) != 0, halves = (entry >> HALVES_SHIFT) & BOTH_HALVES;
    u64 also = entry & ALSO;
    if (v->late && entry & (CHOSEN | UNCHOSEN)) {
        u64 chosen = entry & CHOSEN ? in->mask[half] : ~in->mask[half];
        lanes &= unit >= 256 ? (chosen & 1 ? ALL_LANES : 0) : chosen;
        also = 0;
        if (lanes == 0)
            return;
    }
    u64 tainted = v->late ? in->tainted[half] & lanes : 0;
    if (tainted && unit >= 256)
        tainted = ALL_LANES;
    u64 site;
    if (v->late && unit >= 256 && source >= 256 && rows == SAME_BYTES && !(entry & (ALSO | WITH)) && !tainted) {
        u64 unknown = unknown_bits(v, source);
        if (unit == EXEC_UNIT) {
            struct cause cause = cause_of(v, in->segment, source, ALL_LANES);
            if (unknown)
                report_cause(c, w, &cause, in->segment + 1);
        } else if (!unknown)
            make_ready(v, unit, ALL_LANES);
        else
            hold_bits(v, unit, unknown, v->origin[source], v->origin_site[source], v->origin_lanes[source]);
        return;
    }
    u32 now[4];
    u64 lacks = 0;
    for (u64 byte = 0; byte < 4; byte++) {
        u64 holds = holding(v, source, rows >> 4 * byte);
        if (unit < 256 && lane && source >= 256 && unknown_bits(v, source) != ALL_LANES)
            holds = ALL_LANES; /* a lane of a VGPR keeps a mask, of which bits are not followed there */
        if (unit >= 256 && lane)
            holds = ALL_LANES * ((holds >> (lane - 1)) & 1);
        if (entry & ANY_LANE)
            holds = ALL_LANES * ((holds & in->exec) != 0);
        if (also)
            holds |= holding(v, unit, BIT(byte));
        if (entry & WITH)
            holds &= holding(v, unit, BIT(byte));
        now[byte] = holds & ~tainted;
        lacks |= !halves || (halves >> byte / 2) & 1 ? lanes & ~now[byte] : 0;
    }
    keep_rest(v, unit, halves, now);
    if (!lacks)
        hold_halves(v, unit, lanes, halves, ALL_LANES);
    else if (in->cause[half].lanes) {
        if (!blame(w, c, &in->cause[half], in->segment, &site) || unit == EXEC_UNIT) {
            if (unit == EXEC_UNIT)
                report_cause(c, w, &in->cause[half], in->segment + 1);
            make_ready(v, unit, lanes);
        } else
            hold(v, unit, lanes, now, 0, site, ALL_LANES);
    } else if (lacks & v->origin_lanes[source])
        hold(v, unit, lanes, now, v->origin[source], v->origin_site[source], v->origin_lanes[source]);
    else
        hold(v, unit, lanes, now, v->origin[unit], v->origin_site[unit], also || entry & WITH ? v->origin_lanes[unit] : 0);
}

/* A register takes what was computed. */
static void compute(struct wave *w, struct context *c, struct shadow *v, u64 entry, u64 unit, u64 lanes,
                    const struct inputs *in)
{
    u64 half = (entry & SECOND) != 0, halves = (entry >> HALVES_SHIFT) & BOTH_HALVES;
    u64 tainted = in->tainted[half], unknown = 0, site;
    if (entry & (CHOSEN | UNCHOSEN)) {
        u64 chosen = entry & CHOSEN ? in->mask[half] : ~in->mask[half];
        lanes &= unit >= 256 ? (chosen & 1 ? ALL_LANES : 0) : chosen;
    }
    if (tainted && entry & ANY_LANE)
        tainted = ALL_LANES;
    if (unit >= 256 && tainted)
        unknown = entry & BY_LANE ? tainted & in->exec : ALL_LANES;
    if (entry >> LOGIC_SHIFT & LOGIC_MASK) {
        u64 kind = entry >> LOGIC_SHIFT & LOGIC_MASK;
        u64 a = in->value[0], b = in->value[1], ua = in->unknown[0], ub = in->operands > 1 ? in->unknown[1] : 0;
        u64 value = a ^ b;
        unknown = ua | ub;
        if (kind != XOR && in->operands > 1) {
            bool or = kind == OR || kind == NOR;
            value = or ? a | b : a & b;
            unknown &= or ? ~((a & ~ua) | (b & ~ub)) : (a | ua) & (b | ub);
        }
        if (kind == NAND || kind == NOR)
            value = ~value;
        if (unit == SCC_UNIT && in->operands > 1 && value & ~unknown & ALL_LANES)
            unknown = 0; /* not 0, whatever the others are */
        unknown &= ALL_LANES;
    }
    if (unit >= 256 ? !unknown : !(tainted & lanes)) {
        hold_halves(v, unit, lanes, halves, ALL_LANES);
        return;
    }
    if (unit == EXEC_UNIT) {
        report_cause(c, w, &in->cause[half], in->segment + 1);
        return;
    }
    if (!blame(w, c, &in->cause[half], in->segment, &site)) {
        make_ready(v, unit, lanes);
        return;
    }
    if (unit >= 256) {
        hold_bits(v, unit, unknown, 0, site, ALL_LANES);
        return;
    }
    u32 now[4] = {~tainted, ~tainted, ~tainted, ~tainted};
    keep_rest(v, unit, halves, now);
    hold(v, unit, lanes, now, 0, site, ALL_LANES);
}

/* The next load takes what any lane of a register holds. */
static void shuffle(struct shadow *v, u64 unit, u64 exec)
{
    for (u64 byte = 0; byte < 4; byte++) {
        if (!(holding(v, unit, BIT(byte)) & exec)) {
            v->lacks = 1;
            v->lacking[byte] = ALL_LANES;
        }
    }
    v->lacking_from[0] = v->origin[unit];
    v->lacking_site = v->origin_site[unit];
    v->lacking_lanes = v->origin_lanes[unit] ? ALL_LANES : 0;
}

/* An instruction reads what these lanes of a register do not hold. */
static void read_nothing(struct wave *w, struct context *c, struct shadow *v, u64 entry, u64 unit, u64 missing,
                         struct inputs *in)
{
    u64 half = (entry & SECOND) != 0;
    if (!v->late) {
        if (entry & (GIVES | SHUFFLED) || !(entry & MAY_BE_EMPTY)) {
            report(c, LACKS, in->segment, w->index, missing, unit, 0, 0);
            if (!(entry & (GIVES | SHUFFLED)))
                make_ready(v, unit, missing);
        }
        return;
    }
    u64 logic = entry >> LOGIC_SHIFT & LOGIC_MASK;
    if (entry & (GIVES | SHUFFLED) || (entry & MAY_BE_EMPTY && !logic))
        return;
    struct cause cause = cause_of(v, in->segment, unit, missing);
    if (entry & DECIDES) {
        if (entry & BY_LANE && *held(w, v, unit, 0) & ~unknown_bits(v, unit))
            return;
        report_cause(c, w, &cause, in->segment + 1);
        make_ready(v, unit, missing);
        return;
    }
    u64 tainted = entry & (CARRIES | FLOWS) || logic ? 0 : missing;
    if (unit >= 256 && entry & BY_LANE)
        tainted = unknown_bits(v, unit) & in->exec;
    else if (tainted && (unit >= 256 || entry & ANY_LANE))
        tainted = ALL_LANES;
    in->tainted[half] |= tainted;
    if (in->cause[half].lanes == 0)
        in->cause[half] = cause;
}

/* The slow way: some register of a segment is not ready in all lanes. */
EXPORT void hook_touch(struct wave *w, struct context *c, const u64 *table, u64 count, u64 exec, u64 segment)
{
    struct shadow *v = shadow_of(w);
    struct inputs in;
    in.segment = segment;
    in.exec = exec;
    in.operands = 0;
    for (u64 half = 0; half < 2; half++)
        in.cause[half].lanes = in.tainted[half] = in.mask[half] = in.value[half] = in.unknown[half] = 0;
    v->gives = 0;
    for (u64 i = 0; i < count; i++) {
        u64 entry = table[i];
        u64 unit = entry & UNIT_MASK;
        u64 lanes = exec;
        u64 lane = (entry >> LANE_SHIFT) & 63;
        u64 halves = (entry >> HALVES_SHIFT) & BOTH_HALVES;
        if (unit >= 256 || (entry & EVERY_LANE && !lane))
            lanes = ALL_LANES;
        else if (lane)
            lanes = BIT(lane - 1);
        if (entry & WRITES) {
            u64 early = v->pending[unit] & lanes;
            if (early && halves)
                early &= in_flight(v, unit, halves, 0);
            if (early) {
                report(c, WRITE_IN_FLIGHT, segment, w->index, early, unit | halves << HALVES_SHIFT, 0,
                       filler(v, unit, early));
                v->pending[unit] = 0;
                v->latest[unit] = 0;
                if (v->late)
                    postpone(w, v, unit);
            }
            u64 source = (entry >> SOURCE_SHIFT) & SOURCE_MASK;
            if (source)
                hand_on(w, c, v, entry, unit, source - 1, lanes, lane, &in);
            else if (v->late)
                compute(w, c, v, entry, unit, lanes, &in);
            else
                hold_halves(v, unit, lanes, halves, ALL_LANES);
        } else {
            u64 missing = lanes & ~v->ready[unit], early = missing & v->pending[unit];
            if (missing & v->partial[unit]) {
                u64 needs = (entry >> NEEDS_SHIFT) & EVERY_BYTE;
                missing &= ~(entry & CARRIES ? v->partial[unit] : holding(v, unit, needs ? needs : EVERY_BYTE));
            }
            if (entry & ANY_LANE && v->ready[unit] | v->partial[unit])
                missing &= v->pending[unit];
            if (early && halves) {
                early &= in_flight(v, unit, halves, 0);
                missing &= early | ~v->pending[unit];
            }
            if (early) {
                report(c, READ_IN_FLIGHT, segment, w->index, early, unit | halves << HALVES_SHIFT, 0,
                       filler(v, unit, early));
                make_ready(v, unit, lanes); /* what follows from it is not reported again */
                if (v->late)
                    postpone(w, v, unit);
            } else if (missing)
                read_nothing(w, c, v, entry, unit, missing, &in);
            u64 logic = entry >> LOGIC_SHIFT & LOGIC_MASK;
            if (v->late && logic && in.operands < 2) {
                u64 value = unit == EXEC_UNIT ? exec : *held(w, v, unit, 0);
                in.value[in.operands] = logic == INVERTED ? ~value : value;
                in.unknown[in.operands++] = unknown_bits(v, unit);
            }
            if (v->late && entry & BY_LANE && unit >= 256)
                in.mask[(entry & SECOND) != 0] = unit == SCC_UNIT ? w->scc : *held(w, v, unit, 0);
            if (v->late && entry & GIVES)
                note_gift(v, (entry >> PLACE_SHIFT) & PLACE_MASK, unit, segment);
            if (v->late && entry & SHUFFLED)
                shuffle(v, unit, exec);
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
        u64 lanes = v->asked[slot] & v->pending[unit], lower = lanes, upper = lanes, halves = v->halves[slot];
        if (v->latest[unit] == v->entry[slot])
            v->latest[unit] = 0;
        else if (lanes) {
            lower &= ~in_flight(v, unit, 1, v->entry[slot]);
            upper &= ~in_flight(v, unit, 2, v->entry[slot]);
        }
        v->pending[unit] &= ~(lower & upper);
        if (unit >= holds)
            continue;
        if (lower == upper)
            bring(v, v->kept[slot], unit - first, unit, lower, halves);
        else {
            if (halves != 2)
                bring(v, v->kept[slot], unit - first, unit, lower, 1);
            if (halves != 1)
                bring(v, v->kept[slot], unit - first, unit, upper, 2);
        }
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
    v->site[slot] = site;
    v->writes[slot] = writes & 1;
    v->halves[slot] = (writes >> 1) & BOTH_HALVES;
    v->partner[slot] = partner;
    v->kept[slot] = kept;
    v->entry[slot] = v->number;
    v->tails[slot] = 0;
    if (stream == SMEM) {
        v->tails[slot] = v->tail;
        v->tail = 0;
    }
}

/* A memory instruction that fills `count` registers. streams: bits; writes: 1 if it changes memory, the halves of a
 * register that it fills << 1, from which byte on a sign goes << 3, up to which one << 5. */
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
    u64 overtaken = 0, halves = (writes >> 1) & BOTH_HALVES;
    for (u64 unit = first; unit < first + count; unit++) {
        u64 before = v->pending[unit];
        u64 met = halves == BOTH_HALVES ? before : before & in_flight(v, unit, halves, 0);
        if (met & lanes && (v->load[unit] >> 16 != stream || stream == SMEM)) {
            report(c, WRITE_IN_FLIGHT, site, w->index, before & lanes, unit | WRITES, 0, v->load[unit] & 0xFFFF);
            overtaken = 1;
        }
        v->pending[unit] = before | lanes;
        v->load[unit] = site | (stream << 16);
        v->latest[unit] = v->number;
        hold_halves(v, unit, lanes, halves, 0);
    }
    u64 kept = stream * RING + v->issued[stream] % RING;
    keep_lacks(v, kept, writes >> 3);
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

/* Of RDNA3 lds and smem are one counter. */
EXPORT void hook_wait(struct wave *w, u64 vm, u64 lds, u64 smem)
{
    struct shadow *v = shadow_of(w);
    while (v->issued[VM] > v->done[VM] + vm)
        retire(w, v, VM);
    while (v->issued[LDS] > v->done[LDS] + lds)
        retire(w, v, LDS);
    if (smem == 0) {
        while (v->issued[SMEM] > v->done[SMEM])
            retire(w, v, SMEM);
    }
}

/* An instruction names one lane of the wave, for all that are on. */
EXPORT void hook_names_lane(struct wave *w, struct context *c, u64 site, u64 lane, u64 exec)
{
    if (lane >= LANES)
        report(c, lane < 2 * LANES ? LANE_BEYOND : LANES_BEYOND, site, w->index, exec, lane, 0, 0);
}

/* Whether a number is one of the wave's work-items, counted in the workgroup or in so many waves of it as a power of two:
 * it wraps to that one's lane. */
static bool own_item(struct wave *w, u64 number)
{
    for (u64 waves = 1; waves <= 32; waves *= 2) {
        if (number / LANES == w->index % waves)
            return 1;
    }
    return 0;
}

/* Each lane that is on names one, by four times its number: a register and an offset. The low bits count. A wave of 32 that
 * takes itself for one of 64 names lanes from 32 on in all lanes; one that shifts or turns does in some. takes: whether
 * a lane is named that gives, and not one that is given to. */
EXPORT void hook_names_lanes(struct wave *w, struct context *c, u64 site, u64 unit, u64 offset, u64 takes, u64 exec)
{
    struct shadow *v = shadow_of(w);
    u64 beyond = 0, upper = 0, first = 0, off = 0, one = 0;
    for (u64 lane = 0; lane < LANES; lane++) {
        u32 named = (int32_t)(*held(w, v, unit, lane) + (u32)offset) >> 2;
        if ((exec >> lane) & 1 && !own_item(w, named)) {
            if (beyond == 0)
                first = named;
            beyond |= BIT(lane);
            upper |= named < 2 * LANES;
        }
        if ((exec >> lane) & 1 && takes && !((exec >> named % LANES) & 1)) {
            if (off == 0)
                one = named % LANES;
            off |= BIT(lane);
        }
    }
    if (off)
        lack_lanes(w, c, site, off, one);
    if (beyond)
        report(c, upper && beyond == exec && beyond & (beyond - 1) ? LANE_BEYOND : LANES_BEYOND, site, w->index, beyond,
               first, 0, 0);
}

/* Of so many registers, 1: the upper lanes hold what the lower ones do; 2: they do not; 0: all is one value. */
static u64 halves(struct wave *w, struct shadow *v, u64 unit, u64 count)
{
    u32 one = *held(w, v, unit, 0);
    u64 found = 0;
    for (u64 end = unit + count; unit < end; unit++) {
        for (u64 lane = 0; lane < LANES / 2; lane++) {
            u32 word = *held(w, v, unit, lane);
            if (word != *held(w, v, unit, lane + LANES / 2))
                return 2;
            found |= word != one;
        }
    }
    return found;
}

/* A product of matrices whose factors stand once in a wave: the first registers of A and B, and how many of each. */
EXPORT void hook_multiplies(struct wave *w, struct context *c, u64 site, u64 a, u64 b, u64 count)
{
    struct shadow *v = shadow_of(w);
    u64 of_a = halves(w, v, a, count), of_b = halves(w, v, b, count), which = (of_a & 1) | (of_b & 1) << 1;
    if (of_a | of_b)
        report(c, which ? FACTORS_TWICE : FACTORS_ONCE, site, w->index, ALL_LANES, which, 0, 0);
}
