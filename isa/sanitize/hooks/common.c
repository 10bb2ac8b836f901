/* What hooks share: telling Python, the allocation of an access, and accesses that are outside. */

static void report(struct context *c, u64 event, u64 site, u64 wave, u64 lanes, u64 address, u64 other, u64 other_site)
{
    struct thread *t = thread_of(c);
    u8 *count = &t->seen[event * t->sites + site];
    if (*count >= REPORTS)
        return;
    ++*count;
    ((telling *)t->report)(c, event, site, wave, lanes, address, other, other_site);
}

/* Whether this was reported as often as it is. */
static bool enough(struct context *c, u64 event, u64 site)
{
    struct thread *t = thread_of(c);
    return t->seen[event * t->sites + site] >= REPORTS;
}

/* A store over what another wave stored: a race, but if the value stays the same. That is seen at the end of the
 * wave's time slice (`settle`): the hooks come before the store. */
static void doubt(struct wave *w, struct context *c, u64 event, u64 site, u64 lanes, u64 address, u64 other,
                 u64 other_site, u64 pointer, u64 size)
{
    struct thread *t = thread_of(c);
    if (enough(c, event, site))
        return;
    if (t->doubt_count == DOUBTS) {
        report(c, event, site, w->index, lanes, address, other, other_site);
        return;
    }
    struct doubt *d = &t->doubts[t->doubt_count++];
    d->event = event;
    d->site = site;
    d->lanes = lanes;
    d->address = address;
    d->other = other;
    d->other_site = other_site;
    d->pointer = (u8 *)pointer;
    d->size = size;
    for (u64 i = 0; i < size; i++)
        d->before[i] = d->pointer[i];
}

/* The wave's time slice is over: which doubts are races. */
static void settle(struct wave *w, struct context *c)
{
    struct thread *t = thread_of(c);
    for (u64 i = 0; i < t->doubt_count; i++) {
        struct doubt *d = &t->doubts[i];
        u64 event = d->event;
        bool same = true;
        for (u64 j = 0; j < d->size; j++)
            same &= d->before[j] == d->pointer[j];
        if (same)
            event = event == LDS_WRITE_AFTER_WRITE ? LDS_SAME_VALUE : GLOBAL_SAME_VALUE;
        report(c, event, d->site, w->index, d->lanes, d->address, d->other, d->other_site);
    }
    t->doubt_count = 0;
}

/* The row of the allocation that an access is in, 0 for none. */
static struct row *row_of(struct thread *t, u64 address, u64 site)
{
    struct row *row = t->cache[site];
    if (row && address - row->base < row->size)
        return row;
    u64 low = 0, high = t->row_count;
    while (low < high) {
        u64 middle = (low + high) / 2;
        if (t->rows[middle].base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return 0;
    struct row *found = &t->rows[low - 1];
    if (address - found->base >= found->size)
        return 0;
    t->cache[site] = found;
    return found;
}

/* Whether an access is misaligned: no multiple of an element, for a dword or more. between: the bits of an address that
 * lie between elements, 3 where their size is not known. amdhsa lets vector accesses be unaligned (LLVM
 * FeatureUnalignedAccessMode), so that a wide one of 2-byte elements is right wherever these lie, and so is a copy by
 * wide moves where nothing is known: a note. Scalar loads drop the low bits, and atomics fault. */
static bool crooked(u64 address, u64 size, u64 between)
{
    return size >= 4 && address & between;
}

/* An access that is outside: leave its description, if it is the first; give where it goes instead. */
static u64 fault(struct wave *w, struct context *c, u64 kind, u64 address, u64 size, u64 site, u64 lane)
{
    if (c->fault == 0) {
        c->fault = kind;
        c->fault_address = address;
        c->fault_site = site;
        c->fault_lane = lane;
        c->fault_bytes = size;
        c->fault_wave = w->index;
    }
    for (u64 i = 0; i < sizeof c->sink; i++)
        c->sink[i] = 0;
    return (u64)c->sink;
}
