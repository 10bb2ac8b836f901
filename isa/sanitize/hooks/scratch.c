/* Scratch: each lane has its own, so all there is to know is whether a cell was written.
 *
 * A load of what was not is no fault: compilers reload registers of which they need a part, and the part they do not
 * need was never saved. What such a load fills does not become ready, so that its use is one of a register that was
 * never written. */

/* The load of this site, which was issued before or is issued next, fills nothing in a lane. */
static void fills_nothing(struct shadow *v, u64 site, u64 lane)
{
    bool found = false;
    for (u64 stream = 0; stream <= LDS; stream++) {
        u64 latest = 0;
        for (u64 i = v->done[stream]; i < v->issued[stream]; i++) {
            u64 slot = stream * RING + i % RING;
            if (v->site[slot] == site && v->count[slot])
                latest = slot + 1;
        }
        if (latest) {
            v->filled[latest - 1] &= ~lane;
            found = true;
        }
    }
    if (!found) {
        if (v->empty_site != site + 1) {
            v->empty_site = site + 1;
            v->empty_lanes = 0;
        }
        v->empty_lanes |= lane;
    }
}

/* One lane. Gives the host's pointer. */
static u64 scratch_access(struct wave *w, struct context *c, struct thread *t, u64 address, u64 kind, u64 size,
                          u64 site, u64 lane)
{
    if (address + size > c->scratch_bytes)
        return fault(w, c, FAULT_SCRATCH, address, size, site, lane);
    u8 *cells = t->scratch + (w->index * LANES + lane) * t->scratch_cells;
    bool empty = false;
    for (u64 cell = address >> t->shift; cell <= ((address + size - 1) >> t->shift); cell++) {
        if (kind == LOAD || kind == SHARED_LOAD)
            empty |= !cells[cell];
        else
            cells[cell] = 1;
    }
    if (empty)
        fills_nothing(shadow_of(w), site, BIT(lane));
    return w->scratch + lane * c->scratch_bytes + address;
}

static void begin_scratch(struct context *c, struct thread *t)
{
    for (u64 word = 0; word < c->wave_count * LANES * t->scratch_cells / 8; word++)
        U64(t->scratch + 8 * word) = 0;
    for (u64 i = 0; i < c->wave_count; i++) {
        shadow_of(wave_of(c, i))->empty_site = 0;
    }
}
