/* Scratch: each lane has its own, so all there is to know is whether a cell was written (WRITTEN_CELL), or the number of
 * the cause of what was computed from nothing.
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
            cells[cell] = WRITTEN_CELL;
        else if (cells[cell] != WRITTEN_CELL)
            lack_cell(w, c, SCRATCH_SPACE, address, size, address, cell, site, lane,
                      cells[cell] ? shadow_of(w)->causes + cells[cell] - 1 : 0);
    }
    return w->scratch + lane * c->scratch_bytes + address;
}

static void begin_scratch(struct context *c, struct thread *t)
{
    for (u64 word = 0; word < c->wave_count * LANES * t->scratch_cells / 8; word++)
        U64(t->scratch + 8 * word) = 0;
}
