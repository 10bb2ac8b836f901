/* Global memory: a cell knows the epoch and the wave that wrote it, and that read it.
 *
 * An epoch is a serial number, from which the workgroup follows. What another wave of the workgroup did is in order,
 * if it was before the last barrier; what another workgroup did, if it was published (`workgroup_order.c`). Atomics are in
 * order with one another, and so are loads that bypass caches (glc) with atomics; not one whose scope is its workgroup
 * (NARROW) with what another workgroup's did before. A load with glc of what may be a flag is no race. A store to where
 * atomics are, one of this workgroup among them, is atomic, too: an unlock, which compilers write as a plain store after
 * its wait. */

/* (the workgroup's number << 16) + the wave's, NO_WAVE for several. */
static u64 whose(struct thread *t, u64 cell)
{
    if (cell == EVERYBODY)
        return NO_WAVE;
    return ((u64)t->owners[cell >> SERIAL_SHIFT] - 1) << 16 | (cell & GLOBAL_WAVE);
}

/* how: NARROW, and COHERENT only where it may be of a flag. */
static void global_write(struct wave *w, struct context *c, struct thread *t, struct row *row, u64 granule, u64 kind,
                         u64 how, u64 site, u64 lanes, u64 address, u64 size)
{
    struct shadow *v = shadow_of(w);
    u64 me = (v->serial << SERIAL_SHIFT) | w->index;
    u32 *place = &row->writer[granule];
    u64 writer = *place;
    if (writer == UNWRITTEN) {
        writer = 0;
        if (kind == ATOMIC_ACCESS)
            report(c, GLOBAL_UNWRITTEN, site, w->index, lanes, address, 0, 0);
    }
    u64 shared = kind == STORE && how == COHERENT;
    u64 released = kind == STORE && writer & FLAG && took_part(t, writer);
    u64 apart = how & NARROW && writer && (writer == EVERYBODY || t->owners[writer >> SERIAL_SHIFT] != t->mine);
    u64 atomics = !apart && (kind == ATOMIC_ACCESS || shared || released) && (writer == EVERYBODY || writer & FLAG);
    if (writer && !atomics && !written_in_order(t, v, place, writer, w->index, v->serial)) {
        u64 lacks = 0;
        if (!enough(c, GLOBAL_WRITE_AFTER_WRITE, site))
            lacks = missing(t, v, writer);
        u64 other_site = row->writer_site[granule] | (lacks << 16);
        if (kind == STORE && writer != EVERYBODY && !(writer & FLAG))
            doubt(w, c, GLOBAL_WRITE_AFTER_WRITE, site, lanes, address, whose(t, writer), other_site, address, size);
        else
            report(c, GLOBAL_WRITE_AFTER_WRITE, site, w->index, lanes, address, whose(t, writer), other_site);
    }
    u64 reader = row->reader[granule];
    if (reader && (reader == EVERYBODY || !in_order(t, reader, w->index, v->serial, 1)))
        report(c, GLOBAL_WRITE_AFTER_READ, site, w->index, lanes, address, whose(t, reader), row->reader_site[granule]);
    if (kind == ATOMIC_ACCESS) {
        u16 *mark = &row->writer_site[granule];
        leave_stamp(w, t, place, mark, site, how & COHERENT);
        if (t->stamped < FLAGS_READ) {
            t->stamped_places[t->stamped] = place;
            t->stamped_sites[t->stamped++] = mark;
        }
    } else {
        *place = shared || released ? me | FLAG : me;
        row->writer_site[granule] = site;
    }
}

/* how: SCALAR, COHERENT; the latter only where it may be of a flag. */
static void global_read(struct wave *w, struct context *c, struct thread *t, struct row *row, u64 granule, u64 kind,
                        u64 how, u64 site, u64 lane, u64 address, u64 size)
{
    struct shadow *v = shadow_of(w);
    u32 *place = &row->writer[granule];
    u64 writer = *place;
    u64 lanes = BIT(lane);
    u64 known = how & SCALAR ? 0 : kind == SHARED_LOAD ? v->serial : v->level0;
    u64 flag = how == COHERENT || (kind == SHARED_LOAD && (writer == EVERYBODY || writer & FLAG));
    if (writer) {
        if (writer == UNWRITTEN) {
            lack_cell(w, c, GLOBAL_SPACE, address, size, address - row->base, granule, site, lane, 0);
            writer = 0;
        } else if (!flag && !written_in_order(t, v, place, writer, w->index, known)) {
            u64 lacks = 0;
            if (!(how & SCALAR) && !enough(c, GLOBAL_READ_AFTER_WRITE, site))
                lacks = missing(t, v, writer);
            report(c, GLOBAL_READ_AFTER_WRITE, site, w->index, lanes, address, whose(t, writer),
                   row->writer_site[granule] | (lacks << 16));
        } else if (kind == LOAD && !flag && (how == SCALAR ? may_be_kept_by_scalar(t, v, writer)
                                             : !(how & SCALAR) && may_be_kept(t, v, writer, w->index))) {
            report(c, GLOBAL_READ_AFTER_WRITE, site, w->index, lanes, address, whose(t, writer),
                   row->writer_site[granule] | (OWN_NOT_EMPTIED << 16));
        }
    }
    if (how == COHERENT)
        flag_read(v, place, writer, 1, row->writer_site + granule);
    if (kind == SHARED_LOAD)
        return;
    u64 me = (v->serial << SERIAL_SHIFT) | w->index;
    place = &row->reader[granule];
    u64 reader = *place;
    if (reader == EVERYBODY || reader == me)
        return;
    if (reader) {
        u64 owner = t->owners[reader >> SERIAL_SHIFT];
        if (owner == t->mine) {
            if (reader >> SERIAL_SHIFT >= t->epoch && (reader & FLAG || (reader & GLOBAL_WAVE) != w->index)) {
                *place = reader | FLAG;
                return;
            }
        } else if (!in_order(t, reader, w->index, v->serial, 1))
            me = EVERYBODY;
    }
    *place = me;
    row->reader_site[granule] = site;
}

/* Whether a scalar load, which begins inside, may end outside: resolve.ll has the rule. */
static bool widened(u64 address, u64 size, u64 end)
{
    u64 half = size <= 4 ? 1 : size / 2 + 1;
    return end - address >= half && address + size - 1 <= ((end - 1) | (PAGE_BYTES - 1));
}

/* One lane. Gives the host's pointer. how: COHERENT, SCALAR. */
static u64 global_access(struct wave *w, struct context *c, struct thread *t, u64 address, u64 kind, u64 how, u64 size,
                         u64 site, u64 lane)
{
    struct row *row = row_of(t, address, site);
    struct shadow *v = shadow_of(w);
    bool bits_lost = how & SCALAR && address & ((size < 4 ? size : 4) - 1);
    if (row == 0 || address - row->base + size > row->size) {
        if (row == 0 || !(how & SCALAR) || !widened(address, size, row->base + row->size))
            return fault(w, c, FAULT_GLOBAL, address, size, site, lane);
        v->tail = (size >> 2) - ((row->base + row->size - address + 3) >> 2);
        size = row->base + row->size - address;
    }
    u64 lanes = BIT(lane);
    if (bits_lost || crooked(address, size, row->between)) {
        bool wrong = row->typed || how & SCALAR || kind == ATOMIC_ACCESS;
        report(c, wrong ? GLOBAL_MISALIGNED : GLOBAL_UNALIGNED, site, w->index, lanes, address, 0, 0);
    }
    if (t->muted)
        return address;
    u64 start = address - row->base;
    u64 me = (v->serial << SERIAL_SHIFT) | w->index;
    u32 *writers = row->writer, *readers = row->reader;
    if (size > FLAG_BYTES)
        how &= SCALAR | NARROW;
    if (kind == STORE || kind == ATOMIC_ACCESS) {
        v->touched = 1;
        v->open |= kind == ATOMIC_ACCESS && how & COHERENT ? OPEN_ATOMICS : OPEN_STORES;
    }
    for (u64 granule = start >> t->shift; granule <= ((start + size - 1) >> t->shift); granule++) {
        if (kind == LOAD || kind == SHARED_LOAD) {
            u64 reader = readers[granule];
            if (how || writers[granule] || (reader != EVERYBODY && reader != me))
                global_read(w, c, t, row, granule, kind, how, site, lane, address, size);
        } else
            global_write(w, c, t, row, granule, kind, how, site, lanes, address, size);
    }
    return address;
}
