/* The life of waves: workgroups that begin, barriers, the next instruction, the end. */

/* A wave of the SIMD wakes at `when`. */
static void wakes(struct simd *s, int64_t when)
{
    s->wake = least(s->wake, when);
    s->next_wake = least(s->next_wake, when);
}

/* A workgroup begins in a slot: each wave goes to the SIMD with the fewest. */
static void begin_workgroup(struct engine *e, int64_t number)
{
    const struct machine *m = e->m;
    struct slot *slot = &e->slots[number];
    int64_t workgroup = e->started++;
    *slot = (struct slot){-1, m->waves, 0};
    for (int64_t k = 0; k < m->waves; k++) {
        int64_t row = e->work->record[workgroup] * m->waves + k, at = number * m->waves + k, home = 0;
        for (int64_t other = 1; other < m->simds; other++)
            if (e->simds[other].count < e->simds[home].count)
                home = other;
        struct simd *s = &e->simds[home];
        int64_t block = e->rec->blocks[e->rec->block_at[row]];
        e->wake[at] = e->t + k * m->stagger;
        e->waits[at] = AT_NOTHING;
        e->waves[at] = (struct wave){
            .live = true,
            .pc = e->code->block_first[block],
            .op_end = e->code->block_first[block + 1],
            .block_pos = e->rec->block_at[row],
            .block_end = e->rec->block_at[row + 1],
            .lds_pos = e->rec->lds_at[row],
            .mem_pos = e->rec->mem_at[row],
            .workgroup = workgroup,
            .simd = home,
            .age = e->births++,
            .begun = e->t,
            .line = -1,
            .written = -1000, /* long ago */
            .stall_cause = TAIL,
            .held_op = e->code->block_first[block],
            .held_at = e->wake[at],
            .held_why = ISSUE,
        };
        s->order[s->count++] = at;
        wakes(s, e->wake[at]);
    }
}

/* In every slot whose time has come. */
static void begin_workgroups(struct engine *e)
{
    e->next_start = NEVER;
    for (int64_t k = 0; k < e->m->slots; k++) {
        if (e->slots[k].start > e->t)
            e->next_start = least(e->next_start, e->slots[k].start);
        else if (e->slots[k].start >= 0)
            begin_workgroup(e, k);
    }
}

/* All waves of the slot that have not ended have arrived at the barrier: the others go on at `when`. */
static void release(struct engine *e, int64_t number, int64_t row, int64_t when)
{
    e->slots[number].arrived = 0;
    for (int64_t other = number * e->m->waves; other < (number + 1) * e->m->waves; other++) {
        struct wave *w = &e->waves[other];
        if (!w->live || other == row)
            continue;
        e->wake[other] = when;
        stalled(w, w->last_t, when, BARRIER_WAIT);
        wakes(&e->simds[w->simd], when);
    }
}

/* The wave ends; after the last wave of its workgroup the slot starts another one, while there are any. */
static void end(struct engine *e, struct simd *s, int64_t at, int64_t row)
{
    int64_t number = row / e->m->waves, pending = 0;
    struct slot *slot = &e->slots[number];
    e->waves[row].live = false;
    e->resident += e->t - e->waves[row].begun;
    slot->alive--;
    s->count--;
    for (int64_t k = at; k < s->count; k++)
        s->order[k] = s->order[k + 1];
    if (slot->alive) {
        if (slot->arrived == slot->alive) /* an ended wave no longer holds the barrier */
            release(e, number, row, e->t + e->m->barrier);
        return;
    }
    e->finished++;
    for (int64_t k = 0; k < e->m->slots; k++)
        pending += e->slots[k].start >= 0;
    if (e->started + pending < e->work->record_n) {
        slot->start = e->t + e->m->launch;
        e->next_start = least(e->next_start, slot->start);
    }
}

/* On to the instruction after i; returns when, which a branch decides. */
static int64_t next(struct engine *e, struct wave *w, int64_t i, int64_t when, bool branch)
{
    w->pc = i + 1;
    if (w->pc != w->op_end)
        return when;
    int64_t here = e->rec->blocks[w->block_pos++];
    if (w->block_pos >= w->block_end)
        return when;
    int64_t then = e->rec->blocks[w->block_pos];
    w->pc = e->code->block_first[then];
    w->op_end = e->code->block_first[then + 1];
    if (branch) {
        when = e->t + (then != here + 1 ? e->m->taken : e->m->not_taken);
        stalled(w, e->t, when, BRANCH_COST);
    }
    return when;
}

/* Put the waves of a SIMD in order: by priority, then age. */
static void sort(struct engine *e, struct simd *s)
{
    for (int64_t k = 1; k < s->count; k++) {
        int64_t moved = s->order[k], p = k;
        const struct wave *w = &e->waves[moved];
        for (; p > 0; p--) {
            const struct wave *before = &e->waves[s->order[p - 1]];
            if (before->priority > w->priority || (before->priority == w->priority && before->age <= w->age))
                break;
            s->order[p] = s->order[p - 1];
        }
        s->order[p] = moved;
    }
}
