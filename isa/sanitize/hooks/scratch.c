/* Scratch: each lane has its own, so all there is to know is whether a cell was written.
 *
 * A load of what was not is no fault: compilers reload registers of which they need a part, and the part they do not
 * need was never saved. */

/* One lane. Gives the host's pointer. */
static u64 scratch_access(struct wave *w, struct context *c, struct thread *t, u64 address, u64 kind, u64 size,
                          u64 site, u64 lane)
{
    if (address + size > c->scratch_bytes)
        return fault(w, c, FAULT_SCRATCH, address, size, site, lane);
    u8 *cells = t->scratch + (w->index * LANES + lane) * t->scratch_cells;
    for (u64 cell = address >> t->shift; cell <= ((address + size - 1) >> t->shift); cell++) {
        if (kind == STORE || kind == ATOMIC_ACCESS)
            cells[cell] = 1;
        else if (!cells[cell])
            lack_cell(w, c, SCRATCH_SPACE, address, size, address, cell, site, lane);
    }
    return w->scratch + lane * c->scratch_bytes + address;
}

static void begin_scratch(struct context *c, struct thread *t)
{
    for (u64 word = 0; word < c->wave_count * LANES * t->scratch_cells / 8; word++)
        U64(t->scratch + 8 * word) = 0;
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
