/* The clock: in each cycle each SIMD walks over its waves in the order of the arbitration policy; each wave may issue
 * one instruction, and each unit takes one. Cycles in which nothing can happen are skipped. */

/* Where the walk of a SIMD begins: the position of the wave whose turn it is. */
static int64_t turn_of(const struct simd *s, int64_t policy)
{
    int64_t turn = 0;
    if (policy == OLDEST)
        return turn;
    for (int64_t k = 0; k < s->count; k++)
        if (s->order[k] == s->last_wave)
            turn = policy == ROUND_ROBIN ? k + 1 : k;
    return turn;
}

/* The j-th of `count` positions in a walk. */
static int64_t position(int64_t policy, int64_t j, int64_t turn, int64_t count)
{
    if (policy == OLDEST)
        return j;
    if (policy == STICKY) /* the one whose turn it is, then all others from the oldest on */
        return j == 0 ? turn : j - 1 < turn ? j - 1 : j;
    return (j + turn) % count;
}

static void note_issue(struct engine *e, int64_t simd, int64_t row, struct wave *w, int64_t i)
{
    e->issued++;
    e->out->hits[i]++;
    if (w->last_op >= 0)
        e->out->latency[w->last_op] += e->t - w->last_t;
    w->last_op = i;
    w->last_t = e->t;
    charge(e, w, i, ISSUE);
    if (e->n_events < e->out->events_n) {
        int64_t *event = &e->out->events[5 * e->n_events++];
        event[0] = e->t, event[1] = simd, event[2] = row, event[3] = i, event[4] = e->t;
    }
}

/* Instruction i of a wave issues. `at`: the wave's position in its SIMD's order. Returns when it takes the next. */
static int64_t issue(struct engine *e, int64_t simd, int64_t at, int64_t row, int64_t i, int64_t kind)
{
    const struct machine *m = e->m;
    struct simd *s = &e->simds[simd];
    struct wave *w = &e->waves[row];
    struct cu *cu = &e->cus[simd / 2];
    int64_t when = e->t + 1, known = e->n_events;
    note_issue(e, simd, row, w, i);
    switch (kind) {
    case VALU: {
        int64_t start = valu(e, simd, w, row, i);
        if (e->n_events > known)
            e->out->events[5 * known + 4] = start;
        break;
    }
    case SALU:
        salu(e, w, i);
        break;
    case SMEM:
        completes(w, LGKM, e->t + m->smem_latency, 0, true);
        break;
    case LDS_LOAD: case LDS_STORE:
        lds(e, cu, simd / 2, s, w, i, kind == LDS_LOAD);
        break;
    case LOAD: case STORE:
        memory(e, cu, w, row, i, kind == LOAD);
        break;
    case WAIT:
        when = e->t + m->release;
        break;
    case BARRIER: {
        struct slot *slot = &e->slots[row / m->waves];
        when = NEVER;
        w->stall_n = 0;
        w->stall_cause = BARRIER_WAIT;
        if (++slot->arrived == slot->alive) {
            when = e->t + m->barrier;
            release(e, row / m->waves, row, when);
        }
        break;
    }
    case INTERNAL:
        when = e->t + 1 + e->code->value[i];
        break;
    case PRIO:
        w->priority = e->code->value[i];
        break;
    case END:
        end(e, s, at, row);
        return NEVER;
    }
    when = next(e, w, i, when, kind == BRANCH);
    if (e->recording) { /* a barrier's wait and a branch's cost are its own, other cycles the next instruction's */
        w->held_at = e->t + 1;
        w->held_op = kind == BARRIER || kind == BRANCH ? i : w->pc;
        w->held_why = kind == BARRIER ? BARRIER_WAIT : kind == BRANCH ? BRANCH_COST : ISSUE;
    }
    return when;
}

/* One cycle of a SIMD; returns when it has to look again. */
static int64_t cycle(struct engine *e, int64_t number)
{
    const int64_t t = e->t, policy = e->m->policy;
    struct simd *s = &e->simds[number];
    const struct cu *cu = &e->cus[number / 2];
    int64_t nearest = NEVER, count = s->count, turn = turn_of(s, policy), valu_issuer = -1;
    int taken = 0;
    for (int64_t j = 0; j < count; j++) {
        int64_t at = position(policy, j, turn, count), row = s->order[at];
        if (e->wake[row] > t) {
            nearest = least(nearest, e->wake[row]);
            continue;
        }
        struct wave *w = &e->waves[row];
        int64_t i = w->pc, kind = e->code->kind[i], line_at = fetched(e, w, i);
        int unit = unit_of(kind);
        if (line_at > t) {
            e->wake[row] = line_at;
            nearest = least(nearest, line_at);
            stalled(w, line_at - t, FETCH);
            charge(e, w, i, FETCH);
            continue;
        }
        if (taken & unit) {
            nearest = least(nearest, t + 1);
            charge(e, w, i, kind == VALU ? BUSY : ISSUE);
            continue;
        }
        struct hold h = held(e, s, cu, w, i, kind);
        if (h.until > t) {
            if (!h.unit)
                e->wake[row] = h.until;
            nearest = least(nearest, h.until);
            stalled(w, h.until - t, h.why);
            charge(e, w, i, kind == VALU && h.unit ? BUSY : h.why);
            continue;
        }
        taken |= unit;
        if (kind == VALU)
            valu_issuer = row;
        e->wake[row] = issue(e, number, at, row, i, kind);
        nearest = least(nearest, e->wake[row]);
        if (kind == PRIO)
            sort(e, s);
        if (kind == PRIO || kind == END) { /* the order has changed: the walk goes on in the next cycle */
            nearest = t + 1;
            break;
        }
    }
    if (valu_issuer >= 0)
        s->last_wave = valu_issuer;
    return most(nearest, t + 1);
}

/* Plays `work`; see isa/timing/engine.py. Returns the number of events. */
EXPORT int64_t engine_run(const struct code *code, const struct recorded *rec, const struct work *work,
                          const struct machine *m, int64_t budget, const struct played *out, void *memory)
{
    struct engine e = {.code = code, .rec = rec, .work = work, .m = m, .out = out};
    int64_t samples = 0;
    lay_out(&e, (uint64_t)memory);
    start(&e);
    while (e.finished < work->record_n && e.issued < budget) {
        if (samples < out->samples_n && e.issued >= (samples + 1) * budget / (out->samples_n + 1)) {
            out->samples[2 * samples] = e.t;
            out->samples[2 * samples++ + 1] = e.issued;
        }
        for (int64_t k = 0; k < m->slots; k++)
            if (e.slots[k].start >= 0 && e.slots[k].start <= e.t)
                begin_workgroup(&e, k);
        for (int64_t k = 0; k < m->simds; k++)
            if (e.simds[k].wake <= e.t)
                e.simds[k].wake = cycle(&e, k);
        int64_t soonest = NEVER;
        for (int64_t k = 0; k < m->slots; k++)
            if (e.slots[k].start >= 0)
                soonest = least(soonest, e.slots[k].start);
        for (int64_t k = 0; k < m->simds; k++)
            soonest = least(soonest, e.simds[k].wake);
        if (soonest >= NEVER)
            break; /* every wave waits at a barrier that cannot be met */
        e.t = most(e.t + 1, soonest);
    }
    for (int64_t k = 0; k < m->simds; k++) {
        int64_t total = 0;
        for (int64_t c = 0; c < CAUSES; c++)
            total += out->causes[k * CAUSES + c];
        out->causes[k * CAUSES + TAIL] += most(0, e.t - total);
    }
    out->totals[0] = e.t;
    out->totals[1] = e.issued;
    out->totals[2] = e.finished;
    return e.n_events;
}
