/* Bytes that nothing has written, on their way through registers and memory.
 *
 * To load, move or store them is no fault: structures have padding, and members that nobody set. So a load notes which
 * bytes it lacks (`lack`), its registers hold the others when it completes, moves hand on what their sources hold
 * (`hold`), and a store leaves cells unwritten as they were (`give`). What computes with such a byte uses it, and so
 * does a store to memory of a whole element none of whose bytes was written. That is no element which is a single byte,
 * lies at no multiple of its size, or is stored beside others (PART): these may be pieces of a structure, and only what
 * computes with them uses them. LDS takes any bytes, as tiles reach beyond what is used of them.
 *
 * What is computed with such a byte holds nothing either: compilers compute ahead what they then do not use. It is a
 * use where it decides something: a branch, EXEC, an address, what LDS or memory hold. The finding names the cause:
 * where it was first computed with. Masks of lanes are followed by bits, and a bit is known that the other operand of
 * AND or OR decides.
 *
 * A lane that EXEC turned off has nothing to give to others, though the hardware gives 0 in its name.
 *
 * All of this needs hooks in the order of the program, which only a launch has whose loads are late. Another one takes
 * such bytes for written, and says that it met some (LACKS). */

static u64 held_bytes(struct shadow *v, u64 unit, u64 byte)
{
    return v->ready[unit] | (v->partial[unit] & v->some[4 * unit + byte]);
}

/* Lanes in which all of some bytes of a register hold something. */
static u64 holding(struct shadow *v, u64 unit, u64 bytes)
{
    u64 lanes = ALL_LANES;
    for (u64 byte = 0; byte < 4; byte++)
        if ((bytes >> byte) & 1)
            lanes &= held_bytes(v, unit, byte);
    return lanes;
}

static void make_ready(struct shadow *v, u64 unit, u64 lanes)
{
    u64 now = v->ready[unit] | lanes;
    v->ready[unit] = now;
    v->partial[unit] &= ~lanes;
    if (now == ALL_LANES)
        v->full[unit >> 6] |= BIT(unit & 63);
}

static void make_empty(struct shadow *v, u64 unit, u64 lanes)
{
    v->ready[unit] &= ~lanes;
    v->partial[unit] &= ~lanes;
    v->full[unit >> 6] &= ~BIT(unit & 63);
}

/* In these lanes a register holds what `now` says of each byte; the rest is from where `origin` says. */
static void hold(struct shadow *v, u64 unit, u64 lanes, const u32 *now, u64 origin, u64 origin_site, u64 origin_lanes)
{
    u64 all = now[0] & now[1] & now[2] & now[3];
    u64 any = now[0] | now[1] | now[2] | now[3];
    make_empty(v, unit, lanes & ~all);
    make_ready(v, unit, lanes & all);
    v->partial[unit] |= lanes & any & ~all;
    if (unit >= 256)
        v->unknown[unit] = 0;
    for (u64 byte = 0; byte < 4; byte++) {
        if (unit >= 256 && !now[byte])
            v->unknown[unit] |= 0xFF << 8 * byte;
        v->some[4 * unit + byte] = (v->some[4 * unit + byte] & ~lanes) | (now[byte] & lanes);
    }
    v->origin_lanes[unit] &= ~lanes;
    if (lanes & ~all & origin_lanes) {
        v->origin_lanes[unit] |= lanes & ~all & origin_lanes;
        v->origin[unit] = origin;
        v->origin_site[unit] = origin_site;
    }
}

/* What `now` says of bytes outside of some halves (0: of both) is what the register holds of them. */
static void keep_rest(struct shadow *v, u64 unit, u64 halves, u32 *now)
{
    for (u64 byte = 0; byte < 4; byte++)
        if (halves && !((halves >> byte / 2) & 1))
            now[byte] = held_bytes(v, unit, byte);
}

/* In these lanes all bytes of some halves of a register (0: both) hold something, or nothing. */
static void hold_halves(struct shadow *v, u64 unit, u64 lanes, u64 halves, u32 holds)
{
    u32 now[4] = {holds, holds, holds, holds};
    if (halves == 0 || halves == BOTH_HALVES) {
        holds ? make_ready(v, unit, lanes) : make_empty(v, unit, lanes);
        return;
    }
    keep_rest(v, unit, halves, now);
    hold(v, unit, lanes, now, v->origin[unit], v->origin_site[unit], v->origin_lanes[unit]);
}

/* Bits of a scalar register that hold nothing. */
static u64 unknown_bits(struct shadow *v, u64 unit)
{
    return v->ready[unit] ? 0 : v->partial[unit] ? v->unknown[unit] : ALL_LANES;
}

/* These bits of a scalar register hold nothing, the others do. */
static void hold_bits(struct shadow *v, u64 unit, u64 unknown, u64 origin, u64 origin_site, u64 origin_lanes)
{
    u32 now[4];
    for (u64 byte = 0; byte < 4; byte++)
        now[byte] = (unknown >> 8 * byte) & 0xFF ? 0 : ALL_LANES;
    hold(v, unit, ALL_LANES, now, origin, origin_site, origin_lanes);
    if (unknown && unknown != ALL_LANES) {
        v->partial[unit] = ALL_LANES;
        v->unknown[unit] = unknown;
    }
}

/* What is about to be computed with these lanes of a register, which hold nothing. */
static struct cause cause_of(struct shadow *v, u64 segment, u64 unit, u64 lanes)
{
    u64 loaded = lanes & v->origin_lanes[unit];
    u64 by = loaded ? v->origin_site[unit] : 0;
    u64 halves = (lanes & ~holding(v, unit, 0x3) ? 1 : 0) | (lanes & ~holding(v, unit, 0xC) ? 2 : 0);
    u64 from = loaded ? v->origin[unit] : halves;
    struct cause found = {segment, unit, lanes, loaded, from, by, by & COMPUTED ? by & 0xFF : 0, 0};
    return found;
}

/* The number of a cause; 0 where there are too many. */
static u64 number_of(struct shadow *v, const struct cause *cause)
{
    if (cause->number)
        return cause->number;
    for (u64 i = 0; i < v->cause_count; i++) {
        struct cause *known = &v->causes[i];
        if (known->segment == cause->segment && known->unit == cause->unit && known->by == cause->by &&
            known->giver == cause->giver && !known->loaded == !cause->loaded) {
            known->lanes |= cause->lanes;
            known->loaded |= cause->loaded;
            return i + 1;
        }
    }
    if (v->cause_count == CAUSES)
        return 0;
    v->causes[v->cause_count++] = *cause;
    return v->cause_count;
}

/* A use of what holds nothing. sink: where it decides something, as `Sighting` has it. */
static void report_cause(struct context *c, struct wave *w, const struct cause *cause, u64 sink)
{
    if (cause->number)
        cause = &shadow_of(w)->causes[cause->number - 1];
    u64 event = cause->by >> SPACE_SHIFT == LDS_SPACE >> 2      ? LDS_LACKED
                : cause->by >> SPACE_SHIFT == GLOBAL_SPACE >> 2 ? GLOBAL_LACKED
                : cause->by >> SPACE_SHIFT == OTHER_LANE >> 2   ? LANE_LACKED
                                                                : UNINITIALISED;
    u64 where = cause->unit | sink << SINK_SHIFT;
    if (cause->loaded)
        report(c, event, cause->segment, w->index, cause->loaded, where, cause->address,
               (cause->by & (BIT(SPACE_SHIFT) - 1)) + 1);
    if (cause->lanes & ~cause->loaded)
        report(c, UNINITIALISED, cause->segment, cause->giver ? cause->giver - 1 : w->index,
               cause->lanes & ~cause->loaded, where, cause->loaded ? 0 : cause->address, 0);
}

/* A load finds some bytes unwritten: those of an element from `from` on that are before `to`. cause: of what was stored
 * there, if anything was. */
static void lack(struct wave *w, struct context *c, u64 space, u64 address, u64 from, u64 to, u64 site, u64 lane,
                 const struct cause *cause)
{
    struct shadow *v = shadow_of(w);
    if (!v->late) {
        report(c, LACKS, site, w->index, BIT(lane), address, 0, 0);
        return;
    }
    v->lacks = 1;
    u64 told = cause && cause->segment != MOVED ? number_of(v, cause) : 0;
    v->lacking_site = told ? COMPUTED | told : site | space >> 2 << SPACE_SHIFT;
    v->lacking_lanes = ALL_LANES;
    if (cause && cause->segment == MOVED) {
        v->lacking_site = cause->by;
        for (u64 at = v->place + from; at < v->place + to; at++) {
            v->lacking_from[at >> 2] = cause->address;
            v->lacking[at] |= BIT(lane);
        }
        return;
    }
    for (u64 byte = from; byte < to; byte++) {
        u64 at = v->place + byte;
        u64 dword = address + byte - (at & 3);
        u64 *origin = &v->lacking_from[at >> 2];
        if (*origin << 16 >> 16 == dword || *origin == 0)
            *origin = dword | BIT(48 + (at & 3)) | *origin;
        v->lacking[at] |= BIT(lane);
    }
}

/* Lanes ask others that are off: what these give is 0, and nothing that anybody has set. first: one that is asked. */
static void lack_lanes(struct wave *w, struct context *c, u64 site, u64 lanes, u64 first)
{
    struct shadow *v = shadow_of(w);
    if (!v->late)
        report(c, LACKS, site, w->index, lanes, first, 0, 0);
    else if (!v->lacks) {
        v->lacks = 1;
        v->lacking_site = site | OTHER_LANE >> 2 << SPACE_SHIFT;
        v->lacking_lanes = lanes;
        v->lacking_from[0] = first;
        for (u64 byte = 0; byte < 4; byte++)
            v->lacking[byte] = lanes;
    }
}

/* The same of the part of an element that lies in one cell. */
static void lack_cell(struct wave *w, struct context *c, u64 space, u64 address, u64 size, u64 offset, u64 cell,
                      u64 site, u64 lane, const struct cause *cause)
{
    u64 shift = thread_of(c)->shift;
    u64 begin = cell << shift, end = begin + BIT(shift);
    u64 from = begin > offset ? begin - offset : 0;
    lack(w, c, space, address, from, end - offset < size ? end - offset : size, site, lane, cause);
}

/* The next load brings less: what it lacks is kept with it. spread: from which byte a sign goes up to which one. */
static void keep_lacks(struct shadow *v, u64 slot, u64 spread)
{
    if (!v->late)
        return;
    struct gap *gap = &v->gaps[slot];
    gap->lacks = v->lacks;
    if (!v->lacks)
        return;
    for (u64 byte = (spread & 3) + 1; byte <= spread >> 2; byte++)
        v->lacking[byte] |= v->lacking[spread & 3];
    for (u64 at = 0; at < LOADED; at++) {
        gap->lacking[at] = v->lacking[at];
        v->lacking[at] = 0;
    }
    for (u64 i = 0; i < LOADED / 4; i++) {
        gap->origin[i] = v->lacking_from[i];
        v->lacking_from[i] = 0;
    }
    gap->site = v->lacking_site;
    gap->known = v->lacking_lanes;
    v->lacks = 0;
}

/* A load has brought the n-th of its registers in these lanes, or one half of it. */
static void bring(struct shadow *v, u64 slot, u64 n, u64 unit, u64 lanes, u64 halves)
{
    if (!v->late || !v->gaps[slot].lacks) {
        hold_halves(v, unit, lanes, halves, ALL_LANES);
        return;
    }
    struct gap *gap = &v->gaps[slot];
    u32 now[4];
    for (u64 byte = 0; byte < 4; byte++) {
        u64 lacking = gap->lacking[4 * n + byte];
        now[byte] = ~(unit >= 256 && lacking ? ALL_LANES : lacking);
    }
    keep_rest(v, unit, halves, now);
    hold(v, unit, lanes, now, gap->origin[n], gap->site, gap->known);
}

/* The n-th register of the data of a store. */
static void note_gift(struct shadow *v, u64 n, u64 unit, u64 segment)
{
    v->gives = 1;
    v->giving_segment = segment;
    v->giving_unit[n] = unit;
    for (u64 byte = 0; byte < 4; byte++)
        v->giving[4 * n + byte] = ~holding(v, unit, BIT(byte));
}

/* The number of the cause for which a register that is stored to scratch or LDS holds nothing in a lane: what it was
 * loaded from, or else, in LDS, the store. */
static u64 moved(struct shadow *v, struct wave *w, u64 space, u64 unit, u64 lane)
{
    bool known = (v->origin_lanes[unit] >> lane) & 1;
    if (!known && space == SCRATCH_SPACE)
        return 0;
    struct cause found = cause_of(v, known ? MOVED : v->giving_segment, unit, BIT(lane));
    found.giver = known ? 0 : w->index + 1;
    return number_of(v, &found);
}

/* A store is done whose data hold nothing in some bytes: these stay unwritten. */
static void give(struct wave *w, struct context *c, struct thread *t, u64 space, u64 address, u64 size, u64 site,
                 u64 lane, u64 part)
{
    struct shadow *v = shadow_of(w);
    u64 number = v->giving_segment;
    u64 first = size, none = 0, told = 0;
    for (u64 i = 0; i < size; i++) {
        u64 unit = v->giving_unit[(v->place + i) >> 2];
        if ((v->giving[v->place + i] >> lane) & 1) {
            none++;
            bool known = (v->origin_lanes[unit] >> lane) & 1;
            if (first == size)
                first = i;
            u64 by = v->origin_site[unit];
            bool computed = known && by & COMPUTED && !v->causes[(by & 0xFF) - 1].giver;
            if (computed && told != (by & 0xFF) && space != SCRATCH_SPACE) {
                struct cause used = cause_of(v, number, unit, BIT(lane));
                told = used.number;
                report_cause(c, w, &used, number + 1);
            }
        }
    }
    if (none == 0 || told)
        return;
    bool whole = none == size && !part && size > 1 && !(address & ((size < 8 ? size : 4) - 1));
    if (whole && space == GLOBAL_SPACE) {
        struct cause used = cause_of(v, number, v->giving_unit[(v->place + first) >> 2], BIT(lane));
        report_cause(c, w, &used, number + 1);
        return;
    }
    struct row *row = space == GLOBAL_SPACE ? row_of(t, address, site) : 0;
    u64 offset = space == GLOBAL_SPACE ? address - row->base : address & 0xFFFFFFFF;
    for (u64 cell = offset >> t->shift; cell <= ((offset + size - 1) >> t->shift); cell++) {
        u64 begin = cell << t->shift;
        bool empty = true;
        for (u64 byte = begin; byte < begin + BIT(t->shift); byte++)
            empty &= byte - offset < size && (v->giving[v->place + byte - offset] >> lane) & 1;
        if (!empty)
            continue;
        u64 cause = space == GLOBAL_SPACE ? 0 : moved(v, w, space, v->giving_unit[(v->place + begin - offset) >> 2], lane);
        if (space == LDS_SPACE) {
            t->lds_writer[cell] &= ~WRITTEN;
            t->lds_cause[cell] = w->index << 8 | cause;
        } else if (space == GLOBAL_SPACE)
            row->writer[cell] = UNWRITTEN;
        else
            t->scratch[(w->index * LANES + lane) * t->scratch_cells + cell] = cause;
    }
}
