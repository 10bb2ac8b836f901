/* The clock: in each cycle each SIMD walks over its waves in the order of the arbitration policy; each wave may issue
 * one instruction, and each unit takes one. Cycles in which nothing can happen are skipped. */

/* The position of the wave whose turn it is: where the walk of a SIMD begins. */
static int64_t turn_of(struct simd *s, int64_t policy)
{
    if (policy == OLDEST || s->last_wave < 0)
        return 0;
    if (s->last_at >= s->count || s->order[s->last_at] != s->last_wave) { /* the order has changed since */
        s->last_at = 0;
        for (int64_t k = 0; k < s->count; k++)
            if (s->order[k] == s->last_wave)
                s->last_at = k;
        if (s->order[s->last_at] != s->last_wave)
            return 0; /* it has ended */
    }
    return policy == ROUND_ROBIN ? s->last_at + 1 : s->last_at;
}

/* Takes the next position of a walk out of `left`: those from the turn on, then the others. Only the one whose turn it
 * is goes first where the policy is to stick to it. */
static int64_t take_position(uint64_t *left, int64_t turn, int64_t policy)
{
    uint64_t from = turn < 64 ? *left >> turn << turn : 0;
    if (policy == STICKY)
        from &= (uint64_t)1 << turn;
    int64_t at = __builtin_ctzll(from ? from : *left);
    *left &= ~((uint64_t)1 << at);
    return at;
}

/* Which waves of a SIMD are awake now, and when the next one of the others wakes. */
static void look_around(const struct engine *e, struct simd *s)
{
    s->awake = s->valu = s->path = 0;
    s->next_wake = NEVER;
    for (int64_t at = 0; at < s->count; at++) {
        int64_t wake = e->wake[s->order[at]];
        s->valu |= (uint64_t)(e->waits[s->order[at]] == AT_VALU) << at;
        s->path |= (uint64_t)(e->waits[s->order[at]] == AT_PATH) << at;
        if (wake <= e->t)
            s->awake |= (uint64_t)1 << at;
        else
            s->next_wake = least(s->next_wake, wake);
    }
}

static void note_issue(struct engine *e, int64_t simd, int64_t row, struct wave *w, int64_t i)
{
    e->issued++;
    w->last_t = e->t;
    if (!e->recording)
        return;
    e->out->hits[i]++;
    charge(e, w, i, ISSUE);
    if (e->n_events < e->out->events_n) {
        int64_t *event = &e->out->events[5 * e->n_events++];
        event[0] = e->t, event[1] = simd, event[2] = row, event[3] = i, event[4] = e->t;
    }
}

/* When the wave may issue again whose VALU instruction issued at `t`. */
static inline int64_t after_valu(const struct engine *e, const struct simd *s, int64_t t)
{
    return most(t + 1, e->m->queue_keeps ? valu_room(e, s) : 0);
}

/* Instruction i of a wave issues. `at`: the wave's position in its SIMD's order. Returns when it takes the next. */
static int64_t issue(struct engine *e, int64_t simd, int64_t at, int64_t row, int64_t i)
{
    const struct machine *m = e->m;
    const struct op *op = &e->ops[i];
    const int64_t kind = op->kind;
    struct simd *s = &e->simds[simd];
    struct wave *w = &e->waves[row];
    struct cu *cu = &e->cus[simd / 2];
    int64_t when = e->t + 1, known = e->n_events;
    const bool at_once = w->accessed && e->t == w->last_t + m->after_access; /* no counter held it */
    w->accessed = (kind >= LDS_LOAD && kind <= STORE) || kind == LDS_EXCHANGE;
    note_issue(e, simd, row, w, i);
    switch (kind) {
    case VALU: {
        int64_t start = valu(e, e->t, simd, w, row, op);
        when = after_valu(e, s, e->t);
        if (e->n_events > known)
            e->out->events[5 * known + 4] = start;
        break;
    }
    case SALU:
        salu(e, w, op);
        break;
    case SMEM:
        completes(w, LGKM, e->t + m->smem_latency, 0, true);
        w->smem_next = e->t + m->smem_gap;
        break;
    case LDS_LOAD: case LDS_STORE: case LDS_EXCHANGE:
        lds(e, cu, simd / 2, s, w, i, kind);
        break;
    case LOAD: case STORE:
        memory(e, cu, w, row, i, kind == LOAD);
        break;
    case WAIT:
        when = e->t + (at_once ? m->release_at_once : m->release);
        break;
    case BARRIER: {
        struct slot *slot = &e->slots[row / m->waves];
        when = NEVER;
        begins_anew(w, BARRIER_WAIT);
        if (++slot->arrived == slot->alive) {
            when = e->t + m->barrier;
            release(e, row / m->waves, row, when);
        }
        break;
    }
    case INTERNAL:
        when = e->t + 1 + op->value;
        break;
    case PRIO:
        w->priority = op->value;
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

/* The wave at a position wakes at `when`: in the next cycle it is still counted as awake. */
static void sleeps(struct engine *e, struct simd *s, int64_t at, int64_t when)
{
    e->wake[s->order[at]] = when;
    if (when <= e->t + 1)
        return;
    s->awake &= ~((uint64_t)1 << at);
    s->next_wake = least(s->next_wake, when);
}

/* Waves at these positions want the VALU, which another one has, or whose queue is full. */
static inline void refuse(struct engine *e, struct simd *s, uint64_t positions)
{
    for (; e->recording && positions; positions &= positions - 1) {
        struct wave *w = &e->waves[s->order[__builtin_ctzll(positions)]];
        wait_for(e, w, w->pc, BUSY);
    }
}

/* Waves at these positions wait for the request path, which is not free before `when`. */
static inline void stand(struct engine *e, struct simd *s, uint64_t positions, int64_t when)
{
    for (; positions; positions &= positions - 1)
        stalled(&e->waves[s->order[__builtin_ctzll(positions)]], e->t, when, ISSUE);
}

/* A wave has issued a VALU instruction, and it alone may issue more of them for some cycles: then they issue here, one
 * after the other. Nothing can come between: the SIMD's other waves sleep, want the VALU too, or wait for the request
 * path, and what other SIMDs do meanwhile (a barrier's last arrival, the end of a workgroup) reaches this one later.
 * Returns when it issues next. */
static int64_t burst(struct engine *e, int64_t number, struct simd *s, int64_t at)
{
    const struct machine *m = e->m;
    const int64_t row = s->order[at];
    const uint64_t bit = (uint64_t)1 << at, first = m->policy == OLDEST ? bit - 1 : m->policy == ROUND_ROBIN ? ~bit : 0;
    struct wave *w = &e->waves[row];
    int64_t t = e->wake[row];
    if (e->recording || s->awake & (first | (~s->valu & ~bit)) & ~s->path)
        return t;
    int64_t end = least(least(s->next_wake, e->next_start), e->t + least(m->barrier, m->launch));
    if (s->awake & s->path)
        end = least(end, path_room(e, &e->cus[number / 2]));
    for (;;) {
        const struct op *op = &e->ops[w->pc];
        int64_t issued = most(t, valu_room(e, s));
        if (issued >= end || op->kind != VALU || op->delay[0])
            break;
        if (op->line != w->line) {
            if (!e->all_code_fits || e->fetch_ready[op->line] < 0 || e->fetch_ready[op->line + 1] < 0
                || e->fetch_ready[op->line] > issued)
                break;
            w->line = op->line;
        }
        e->issued++;
        w->last_t = issued;
        valu(e, issued, number, w, row, op);
        next(e, w, w->pc, 0, false);
        t = after_valu(e, s, issued);
    }
    e->wake[row] = t;
    return t;
}

/* One cycle of a SIMD; returns when it has to look again. */
static int64_t cycle(struct engine *e, int64_t number)
{
    const int64_t t = e->t, policy = e->m->policy;
    struct simd *s = &e->simds[number];
    const struct cu *cu = &e->cus[number / 2];
    if (s->next_wake <= t)
        look_around(e, s);
    int64_t nearest = NEVER, turn = turn_of(s, policy), room = valu_room(e, s);
    int64_t issuing = -1; /* the position of the wave that issues to the VALU */
    int taken = room > t ? VALU_UNIT : 0; /* a full queue is a VALU that is taken */
    for (uint64_t left = s->awake;;) {
        if (taken & VALU_UNIT && left & s->valu) {
            refuse(e, s, left & s->valu);
            left &= ~s->valu;
            nearest = least(nearest, most(room, t + 1));
        }
        if (left & s->path && path_room(e, cu) > t) {
            stand(e, s, left & s->path, path_room(e, cu));
            nearest = least(nearest, path_room(e, cu));
            left &= ~s->path;
        }
        if (!left)
            break;
        int64_t at = take_position(&left, turn, policy), row = s->order[at];
        struct wave *w = &e->waves[row];
        int64_t i = w->pc;
        const struct op *op = &e->ops[i];
        const bool vector = op->kind == VALU;
        if (!w->looked) {
            int64_t line_at = fetched(e, w, op->line);
            if (line_at > t) {
                sleeps(e, s, at, line_at);
                nearest = least(nearest, line_at);
                stalled(w, t, line_at, FETCH);
                wait_for(e, w, i, FETCH);
                continue;
            }
            w->looked = true;
            if (vector) {
                e->waits[row] = AT_VALU;
                s->valu |= (uint64_t)1 << at;
            }
        }
        if (taken & op->unit) {
            nearest = least(nearest, vector ? most(room, t + 1) : t + 1);
            wait_for(e, w, i, vector ? BUSY : ISSUE);
            continue;
        }
        struct hold h;
        held(e, cu, w, op, &h);
        if (h.until > t) {
            if (h.path) {
                e->waits[row] = AT_PATH;
                s->path |= (uint64_t)1 << at;
            } else {
                sleeps(e, s, at, h.until);
            }
            nearest = least(nearest, h.until);
            stalled(w, t, h.until, h.why);
            wait_for(e, w, i, h.why);
            continue;
        }
        taken |= op->unit;
        w->looked = false;
        if (vector) {
            s->last_wave = row;
            s->last_at = at;
            s->valu &= ~((uint64_t)1 << at);
        }
        s->path &= ~((uint64_t)1 << at);
        e->waits[row] = AT_NOTHING;
        int64_t when = issue(e, number, at, row, i);
        if (op->kind == PRIO || op->kind == END) { /* the order changes: the walk goes on in the next cycle */
            e->wake[row] = when;
            if (op->kind == PRIO)
                sort(e, s);
            s->next_wake = 0;
            return t + 1;
        }
        sleeps(e, s, at, when);
        nearest = least(nearest, when);
        issuing = vector ? at : issuing;
    }
    if (issuing >= 0 && e->wake[s->order[issuing]] == t + 1)
        nearest = burst(e, number, s, issuing);
    return most(least(nearest, s->next_wake), t + 1);
}

/* Plays `work`; see isa/timing/model/engine.py. Returns the number of events. */
EXPORT int64_t engine_run(const struct code *code, const struct recorded *rec, const struct work *work,
                          const struct machine *m, int64_t budget, const struct played *out, void *memory)
{
    struct engine e = {.code = code, .rec = rec, .work = work, .m = m, .out = out};
    lay_out(&e, (uint64_t)memory);
    start(&e);
    while (e.finished < work->record_n && e.issued < budget) {
        if (e.next_start <= e.t)
            begin_workgroups(&e);
        int64_t soonest = NEVER;
        /* SIMDs take turns to be first at what they share */
        for (int64_t turn = 0; turn < m->simds; turn++) {
            int64_t k = (turn + e.t) & (m->simds - 1); /* 1, 2 or 4 */
            if (e.simds[k].wake <= e.t)
                e.simds[k].wake = cycle(&e, k);
        }
        for (int64_t k = 0; k < m->simds; k++)
            soonest = least(soonest, e.simds[k].wake);
        soonest = least(soonest, e.next_start);
        if (soonest >= NEVER)
            break; /* every wave waits at a barrier that cannot be met */
        e.t = most(e.t + 1, soonest);
    }
    for (int64_t row = 0; row < e.rows; row++) { /* what goes on where the budget ends it */
        if (!e.waves[row].live)
            continue;
        e.resident += e.t - e.waves[row].begun;
        if (e.recording)
            note_wait(&e, &e.waves[row]);
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
    out->totals[3] = e.resident;
    return e.n_events;
}
