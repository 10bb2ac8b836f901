/* LDS: a cell knows who wrote it since the last barrier, and who read it.
 *
 * Two waves, one of which writes, in one epoch: a race. A load that has not completed when its wave arrives at a
 * barrier still reads after it. Atomics are in order with one another, and so are first guesses (SHARED_LOAD,
 * `guesses.py`). A wave that waits for another (COHERENT), and finds what that one has set, may have been handed
 * anything: what it then does up to a barrier is held against nothing.
 *
 * What a wave does between the halves of a barrier is as late as what others do after it: it counts in both epochs, in the
 * second by its instruction's number and as many as there are.
 *
 * A cell that was given bytes that nothing has written knows for which cause, in which wave's list. */

/* The whole rule, cell by cell. */
static void lds_cells(struct wave *w, struct context *c, struct thread *t, u64 address, u64 kind, u64 how, u64 size,
                      u64 site, u64 lane)
{
    struct shadow *v = shadow_of(w);
    u64 me = w->index + 1;
    u64 lanes = BIT(lane);
    bool doubted = false;
    for (u64 cell = address >> t->shift; cell <= ((address + size - 1) >> t->shift); cell++) {
        u64 writer = t->lds_writer[cell];
        u64 by = writer & WAVE_MASK;
        if (kind != STORE && !(writer & WRITTEN)) {
            if (kind == ATOMIC_ACCESS)
                report(c, LDS_UNWRITTEN, site, w->index, lanes, address, 0, 0);
            else {
                u64 given = t->lds_cause[cell];
                struct cause *causes = shadow_of(wave_of(c, given >> 8))->causes;
                lack_cell(w, c, LDS_SPACE, address, size, address, cell, site, lane,
                          given & 0xFF ? causes + (given & 0xFF) - 1 : 0);
            }
        }
        u64 shared = kind >= ATOMIC_ACCESS && writer & ATOMIC;
        if (by && by != me && how & COHERENT)
            v->handed = 1;
        if (by && by != me && !shared && !v->handed) {
            u64 event = LDS_WRITE_AFTER_WRITE;
            if (kind == LOAD || kind == SHARED_LOAD)
                event = LDS_READ_AFTER_WRITE;
            u64 other_site = t->lds_writer_site[cell];
            if (kind == STORE && !(writer & ATOMIC)) {
                if (!doubted)
                    doubt(w, c, event, site, lanes, address, by - 1, other_site, c->lds + address, size);
                doubted = true;
            } else
                report(c, event, site, w->index, lanes, address, by - 1, other_site);
        }
        u64 reader = t->lds_reader[cell];
        if (kind == LOAD) {
            if (reader == 0)
                t->lds_reader[cell] = me;
            else if (reader != me)
                t->lds_reader[cell] = SEVERAL;
            t->lds_reader_site[cell] = site;
        } else if (kind != SHARED_LOAD) {
            if (reader && reader != me && !v->handed)
                report(c, LDS_WRITE_AFTER_READ, site, w->index, lanes, address, reader - 1, t->lds_reader_site[cell]);
            u64 mark = WRITTEN | me;
            if (kind == ATOMIC_ACCESS && (by == 0 || writer & ATOMIC)) {
                mark |= ATOMIC;
                if (by && by != me)
                    mark = WRITTEN | ATOMIC | SEVERAL_ATOMICS;
            }
            t->lds_writer[cell] = mark;
            t->lds_writer_site[cell] = site;
        }
    }
}

/* One lane. Gives the host's pointer. The usual cases are decided for up to four cells at a time. */
static u64 lds_access(struct wave *w, struct context *c, struct thread *t, u64 address, u64 kind, u64 how, u64 size,
                      u64 site, u64 lane)
{
    if (address + size > c->lds_bytes)
        return fault(w, c, FAULT_LDS, address, size, site, lane);
    if (crooked(address, size, 3))
        report(c, kind == ATOMIC_ACCESS ? LDS_MISALIGNED : LDS_UNALIGNED, site, w->index, BIT(lane), address, 0, 0);
    u64 cell = address >> t->shift;
    u64 cells = ((address + size - 1) >> t->shift) - cell + 1;
    bool quick = false;
    if (cells <= 4) {
        u64 ones = 0x01010101 >> (32 - 8 * cells);
        u64 mask = 0xFF * ones;
        u64 me = (w->index + 1) * ones;
        u64 old = U32(t->lds_writer + cell);
        u64 writer = old & mask;
        u64 reading = U32(t->lds_reader + cell);
        u64 reader = reading & mask;
        u64 own = writer == WRITTEN * ones || writer == WRITTEN * ones + me;
        if (kind == LOAD && own) {
            quick = true;
            if (reader == 0)
                U32(t->lds_reader + cell) = reading | me;
            else if (reader != me && reader != mask) {
                quick = reader == (reader & 0xFF) * ones;
                if (quick)
                    U32(t->lds_reader + cell) = reading | mask;
            }
            if (quick && reader != me && reader != mask) {
                for (u64 i = 0; i < cells; i++)
                    t->lds_reader_site[cell + i] = site;
            }
        }
        if (kind == STORE && (own || writer == 0) && (reader == 0 || reader == me)) {
            quick = true;
            U32(t->lds_writer + cell) = (old & ~mask) | (WRITTEN * ones) | me;
            for (u64 i = 0; i < cells; i++)
                t->lds_writer_site[cell + i] = site;
        }
    }
    if (!quick)
        lds_cells(w, c, t, address, kind, how, size, site, lane);
    return c->lds + address;
}

/* Whether an LDS load of this site is in flight. */
static bool still_reads(struct shadow *v, u64 site)
{
    for (u64 i = v->done[LDS]; i < v->issued[LDS]; i++) {
        u64 slot = LDS * RING + i % RING;
        if (v->site[slot] == site && !v->writes[slot])
            return 1;
    }
    return 0;
}

/* Whether this mark is of the epoch that begins, too; then it is of no later one. */
static bool goes_on(struct thread *t, u64 site)
{
    return t->between && site < t->sites && t->between[site];
}

static void next_epoch(struct context *c, struct thread *t)
{
    bool late = t->between != 0;
    for (u64 i = 0; i < c->wave_count; i++) {
        struct wave *w = wave_of(c, i);
        struct shadow *v = shadow_of(w);
        v->handed = 0;
        if (v->issued[LDS] > v->done[LDS])
            late = true;
    }
    if (!late) {
        for (u64 word = 0; word <= t->cells / 8; word++) { /* there is room for a whole one at the end */
            U64(t->lds_writer + 8 * word) &= EIGHT_WRITTEN;
            U64(t->lds_reader + 8 * word) = 0;
        }
        return;
    }
    for (u64 cell = 0; cell < t->cells; cell++) {
        if (t->lds_writer[cell] & WAVE_MASK && goes_on(t, t->lds_writer_site[cell]))
            t->lds_writer_site[cell] += t->sites;
        else
            t->lds_writer[cell] &= WRITTEN;
        u64 reader = t->lds_reader[cell];
        if (reader) {
            bool keep = false;
            if (reader != SEVERAL) {
                struct wave *r = wave_of(c, reader - 1);
                u64 site = t->lds_reader_site[cell];
                keep = goes_on(t, site);
                if (keep)
                    t->lds_reader_site[cell] += t->sites;
                else
                    keep = still_reads(shadow_of(r), site);
            }
            if (!keep)
                t->lds_reader[cell] = 0;
        }
    }
}
