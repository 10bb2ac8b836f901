/* Accesses by strips, barriers, and which wave runs.
 *
 * A wave runs until it waits, ends, or its time slice is over. Waves that wait at a barrier go on when all that have not
 * ended are there. Where the others look for something in vain, other workgroups are next, as in workgroups.ll. */

/* One strip's access. The addresses of its lanes (u64) become the host's pointers, of lanes that are off, and of
 * accesses that are outside, to the thread's sink. lanes: a bit for each that is on.
 *
 * what: offset << 48 | site << 32 | its first byte in the registers of its data << 24 | bytes << 16
 * | AWAITED | GUESSED | lanes of a strip << 8 | NARROW | COHERENT | SCALAR | space | kind. first: the strip's first lane.
 * offset: what a flat access adds to its register, which alone says whose space it is. */
EXPORT void hook_access(struct wave *w, struct context *c, u64 *addresses, u64 lanes, u64 what, u64 first)
{
    struct thread *t = thread_of(c);
    u64 site = (what >> 32) & 0xFFFF;
    int64_t offset = (int64_t)what >> 48;
    u64 size = (what >> 16) & 0xFF;
    u64 space = what & 0xC;
    u64 kind = what & 3;
    u64 how = what & (COHERENT | SCALAR | NARROW);
    u64 lds_kind = kind, lds_how = how;
    if (space == FLAT_SPACE && (kind == LOAD || kind == SHARED_LOAD)) { /* glc is on volatile loads of LDS, too */
        lds_kind = what & (AWAITED | GUESSED) ? SHARED_LOAD : LOAD;
        lds_how = what & AWAITED ? COHERENT : 0;
    }
    struct shadow *v = shadow_of(w);
    v->place = (what >> 24) & 0xFF;
    for (u64 i = 0; i < ((what >> 8) & 0x3F); i++) {
        u64 pointer = (u64)c->sink;
        if ((lanes >> i) & 1) {
            u64 address = addresses[i];
            u64 high = (address - offset) >> 32;
            u64 low = address & 0xFFFFFFFF;
            if (offset > 0 && (address >> 32) != high)
                low = 0xFFFFFFFF; /* beyond the aperture's end */
            u64 in = space;
            if (space == FLAT_SPACE)
                in = high == SHARED_APERTURE ? LDS_SPACE : high == PRIVATE_APERTURE ? SCRATCH_SPACE : GLOBAL_SPACE;
            if (in == LDS_SPACE)
                pointer = lds_access(w, c, t, low, lds_kind, lds_how, size, site, first + i);
            else if (in == SCRATCH_SPACE)
                pointer = scratch_access(w, c, t, low, kind, size, site, first + i);
            else
                pointer = global_access(w, c, t, address, kind, how, size, site, first + i);
            if (kind == STORE && v->gives && pointer != (u64)c->sink)
                give(w, c, t, in, address, size, site, first + i, what & PART);
        }
        addresses[i] = pointer;
    }
}

EXPORT void hook_arrive(struct wave *w, struct context *c, u64 site)
{
    struct shadow *v = shadow_of(w);
    v->barrier = site;
    u64 exec = w->s[EXEC];
    if (exec != v->lanes)
        report(c, BARRIER_EXEC, site, w->index, exec, 0, 0, 0);
    if (c->wave_count > 1) {
        for (u64 i = v->done[LDS]; i < v->issued[LDS]; i++) {
            u64 slot = LDS * RING + i % RING;
            if (v->writes[slot])
                report(c, BARRIER_STORE, site, w->index, v->asked[slot], 0, 0, v->site[slot]);
        }
    }
}

/* All waves that have not ended wait. */
static void release(struct context *c, struct thread *t)
{
    u64 ended = 0, first = NO_WAVE;
    for (u64 i = 0; i < c->wave_count; i++) {
        struct wave *w = wave_of(c, i);
        if (w->done)
            ended |= BIT(i);
        else if (first == NO_WAVE)
            first = i;
    }
    struct shadow *lead = shadow_of(wave_of(c, first));
    if (ended)
        report(c, BARRIER_ENDED, lead->barrier, first, 0, ended, 0, 0);
    for (u64 i = 0; i < c->wave_count; i++) {
        struct wave *o = wave_of(c, i);
        struct shadow *ov = shadow_of(o);
        if (!o->done) {
            if (ov->barrier != lead->barrier)
                report(c, BARRIER_APART, ov->barrier, i, 0, 0, first, lead->barrier);
            ov->waiting = 0;
        }
    }
    next_epoch(c, t);
    next_order(c, t);
}

static u64 random(struct thread *t)
{
    u64 x = t->random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    t->random = x;
    return x >> 11;
}

/* Nothing is known of the workgroup's waves and LDS but what the hardware sets. */
static void begin(struct context *c, struct thread *t, u64 group)
{
    t->mine = group + 1;
    t->random = (t->seed ^ (group + 1) * 0x9E3779B97F4A7C15) | 1; /* the same whichever thread runs it */
    begin_order(c, t);
    begin_scratch(c, t);
    for (u64 cell = 0; cell < t->cells; cell++)
        t->lds_writer[cell] = t->lds_reader[cell] = t->lds_cause[cell] = 0;
    for (u64 i = 0; i < c->wave_count; i++) {
        struct wave *w = wave_of(c, i);
        struct shadow *v = shadow_of(w);
        v->lanes = w->s[EXEC];
        v->waiting = 0;
        v->number = 0;
        v->lacks = v->gives = 0;
        v->cause_count = 0;
        for (u64 stream = 0; stream < 3; stream++)
            v->issued[stream] = v->done[stream] = 0;
        for (u64 word = 0; word < 7; word++)
            v->full[word] = 0;
        for (u64 unit = 0; unit < UNITS; unit++) {
            v->ready[unit] = v->partial[unit] = v->pending[unit] = v->latest[unit] = v->origin_lanes[unit] = 0;
            if ((t->given[unit >> 6] >> (unit & 63)) & 1)
                make_ready(v, unit, ALL_LANES);
            else if (unit < 256)
                make_ready(v, unit, v->lanes ^ ALL_LANES); /* lanes that do not exist */
        }
    }
}

/* Its waves by time slices, to the end: STOP_END; STOP_WAITS: other workgroups are next; or why one stopped. */
static u32 run_group(struct context *c, struct thread *t)
{
    u64 count = c->wave_count;
    for (;;) {
        u64 start = 0, step = 1, ready = 0, waiting = 0, looking = 0;
        if (t->shuffles) {
            start = random(t) % count;
            if (random(t) & 1)
                step = count - 1;
        }
        for (u64 i = 0; i < count; i++) {
            struct wave *w = wave_of(c, (start + i * step) % count);
            struct shadow *v = shadow_of(w);
            if (!w->done) {
                if (!v->waiting) {
                    v->slice = BIT(62);
                    if (t->slice)
                        v->slice = 1 + random(t) % t->slice;
                    u32 stop = ((stopping *)t->run_wave)(w, c);
                    if (t->doubt_count)
                        settle(w, c);
                    if (stop == STOP_WAITS || stop == STOP_BUDGET) {
                        c->fault_wave = w->index;
                        if (c->budget < 0 && !((giving *)t->next_slice)(c))
                            return STOP_BUDGET;
                    }
                    if (stop == STOP_END)
                        w->done = 1, c->progress++;
                    else if (stop == STOP_BARRIER)
                        v->waiting = 1;
                    else if (stop == STOP_WAITS)
                        looking++;
                    else if (stop == STOP_YIELD)
                        ready++;
                    else if (stop == STOP_BUDGET)
                        ready++, c->turn--;
                    else
                        return stop;
                }
                waiting += v->waiting;
            }
        }
        if (ready == 0) {
            if (looking && --c->patience <= 0)
                return STOP_WAITS;
            if (!looking && waiting == 0)
                return STOP_END;
            if (!looking)
                release(c, t);
        } else if (c->turn <= 0) {
            c->progress++;
            return STOP_WAITS;
        }
        if (U32(c->abort))
            return STOP_ABORT;
    }
}

/* The workgroup that has begun, then others until there are none left. */
EXPORT u32 hook_run(struct context *c)
{
    struct thread *t = thread_of(c);
    c->turn = TURN;
    while (U32(c->abort) == 0) {
        if (!c->running) {
            u64 number = fetch_add((u64 *)c->counter, 1);
            if (number >= c->total)
                return STOP_END;
            u64 group = (number * t->stride + t->offset) % c->total;
            c->group = group;
            c->running = 1;
            c->budget = c->limit < (int64_t)TIME_SLICE ? c->limit : (int64_t)TIME_SLICE;
            c->reserve = c->limit - c->budget;
            ((starting *)t->start_group)(c, group);
            begin(c, t, group);
        }
        u32 stop = run_group(c, t);
        if (stop != STOP_END)
            return stop;
        c->running = 0;
    }
    return STOP_ABORT;
}
