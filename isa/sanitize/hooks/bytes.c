/* Bytes that nothing has written, on their way through registers and memory.
 *
 * To load, move or store them is no fault: structures have padding, and members that nobody set. So a load notes which
 * bytes it lacks (`lack`), its registers hold the others when it completes, moves hand on what their sources hold
 * (`hold`), and a store leaves cells unwritten as they were (`give`). What computes with such a byte uses it, and so
 * does a store to LDS or memory of a whole element none of whose bytes was written. That is no element which is a
 * single byte, lies at no multiple of its size, or is stored beside others (PART): these may be pieces of a structure,
 * and only what computes with them uses them.
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
    for (u64 byte = 0; byte < 4; byte++)
        v->some[4 * unit + byte] = (v->some[4 * unit + byte] & ~lanes) | (now[byte] & lanes);
    v->origin_lanes[unit] &= ~lanes;
    if (lanes & ~all & origin_lanes) {
        v->origin_lanes[unit] |= lanes & ~all & origin_lanes;
        v->origin[unit] = origin;
        v->origin_site[unit] = origin_site;
    }
}

/* A use of what these lanes of a register do not hold. */
static void report_use(struct context *c, struct wave *w, u64 site, u64 lanes, u64 unit, u64 flags)
{
    struct shadow *v = shadow_of(w);
    u64 loaded = lanes & v->origin_lanes[unit];
    u64 by = v->origin_site[unit];
    u64 event = by >> SPACE_SHIFT == LDS_SPACE >> 2      ? LDS_LACKED
                : by >> SPACE_SHIFT == GLOBAL_SPACE >> 2 ? GLOBAL_LACKED
                                                         : UNINITIALISED;
    if (loaded)
        report(c, event, site, w->index, loaded, unit | flags, v->origin[unit], (by & (BIT(SPACE_SHIFT) - 1)) + 1);
    if (lanes & ~loaded)
        report(c, UNINITIALISED, site, w->index, lanes & ~loaded, unit | flags, 0, 0);
}

/* A load finds some bytes unwritten: those of an element from `from` on that are before `to`. */
static void lack(struct wave *w, struct context *c, u64 space, u64 address, u64 from, u64 to, u64 site, u64 lane)
{
    struct shadow *v = shadow_of(w);
    if (!v->late) {
        report(c, LACKS, site, w->index, BIT(lane), address, 0, 0);
        return;
    }
    v->lacks = 1;
    v->lacking_site = site | space >> 2 << SPACE_SHIFT;
    for (u64 byte = from; byte < to; byte++) {
        u64 at = v->place + byte;
        u64 dword = address + byte - (at & 3);
        u64 *origin = &v->lacking_from[at >> 2];
        if (*origin << 16 >> 16 == dword || *origin == 0)
            *origin = dword | BIT(48 + (at & 3)) | *origin;
        v->lacking[at] |= BIT(lane);
    }
}

/* The same of the part of an element that lies in one cell. */
static void lack_cell(struct wave *w, struct context *c, u64 space, u64 address, u64 size, u64 offset, u64 cell,
                      u64 site, u64 lane)
{
    u64 shift = thread_of(c)->shift;
    u64 begin = cell << shift, end = begin + BIT(shift);
    u64 from = begin > offset ? begin - offset : 0;
    lack(w, c, space, address, from, end - offset < size ? end - offset : size, site, lane);
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
    v->lacks = 0;
}

/* A load has brought the n-th of its registers in these lanes. */
static void bring(struct shadow *v, u64 slot, u64 n, u64 unit, u64 lanes)
{
    if (!v->late || !v->gaps[slot].lacks) {
        make_ready(v, unit, lanes);
        return;
    }
    struct gap *gap = &v->gaps[slot];
    u32 now[4];
    for (u64 byte = 0; byte < 4; byte++) {
        u64 lacking = gap->lacking[4 * n + byte];
        now[byte] = ~(unit >= 256 && lacking ? ALL_LANES : lacking);
    }
    hold(v, unit, lanes, now, gap->origin[n], gap->site, ALL_LANES);
}

/* The n-th register of the data of a store. */
static void note_gift(struct shadow *v, u64 n, u64 unit)
{
    v->gives = 1;
    v->giving_unit[n] = unit;
    for (u64 byte = 0; byte < 4; byte++)
        v->giving[4 * n + byte] = ~holding(v, unit, BIT(byte));
}

/* A store is done whose data hold nothing in some bytes: these stay unwritten. */
static void give(struct wave *w, struct context *c, struct thread *t, u64 space, u64 address, u64 size, u64 site,
                 u64 lane, u64 part)
{
    struct shadow *v = shadow_of(w);
    u64 first = size, none = 0;
    for (u64 i = 0; i < size; i++) {
        if ((v->giving[v->place + i] >> lane) & 1) {
            none++;
            if (first == size)
                first = i;
        }
    }
    if (none == 0)
        return;
    if (none == size && !part && space != SCRATCH_SPACE && size > 1 && !(address & ((size < 8 ? size : 4) - 1))) {
        report_use(c, w, site, BIT(lane), v->giving_unit[(v->place + first) >> 2], WRITES);
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
        if (space == LDS_SPACE)
            t->lds_writer[cell] &= ~WRITTEN;
        else if (space == GLOBAL_SPACE)
            row->writer[cell] = UNWRITTEN;
        else
            t->scratch[(w->index * LANES + lane) * t->scratch_cells + cell] = 0;
    }
}
