/* Whether a wave may issue its next instruction now, and if not, until when and why.
 *
 * In the order of the checks: its line of code is there; no other wave has taken the unit in this cycle; the VALU's
 * queue; s_delay_alu; scalar registers, the drain of VALU results to memory, the request path; wait counters.
 */

/* What holds a wave. path: nothing but the request path. */
struct hold {
    int64_t until, why;
    bool path;
};

/* When a line of the code is there. A new one brings the one after it along. */
static int64_t fetched(struct engine *e, struct wave *w, int64_t line)
{
    if (line == w->line)
        return e->t;
    w->line = line;
    for (int64_t ahead = line; ahead < line + 2; ahead++) {
        if (e->fetch_ready[ahead] >= 0)
            continue;
        int64_t *entry = &e->cache_ring[e->cache_n++ % e->m->icache_lines];
        if (*entry >= 0)
            e->fetch_ready[*entry] = -1;
        *entry = ahead;
        e->fetch_ready[ahead] = e->t + e->m->icache_miss;
    }
    return e->fetch_ready[line];
}

static void until(struct hold *h, int64_t when, int64_t why)
{
    if (when > h->until) {
        h->until = when;
        h->why = why;
    }
}

static void delayed(const struct engine *e, const struct wave *w, const struct op *op, struct hold *h)
{
    const uint8_t *delay = op->delay;
    const int64_t lead = e->m->issue_to_execute;
    for (int d = 0; d < 4 && delay[d]; d += 2) {
        int64_t back = delay[d + 1];
        if (delay[d] == 1 && w->history_n >= back)
            until(h, w->history[(w->history_n - back) & (DEPTH - 1)] - lead, DEPENDENCY);
        else if (delay[d] == 2 && w->trans_n >= back)
            until(h, w->trans[(w->trans_n - back) & (DEPTH - 1)] - lead, DEPENDENCY);
        else if (delay[d] == 4 && w->results_n >= back)
            until(h, w->results[(w->results_n - back) & (DEPTH - 1)] + e->m->landed, DEPENDENCY);
        else if (delay[d] == 3)
            until(h, w->last_t + back, DEPENDENCY); /* the s_delay_alu itself is one of the cycles */
    }
}

static void scalars(const struct engine *e, const struct wave *w, const struct op *op, struct hold *h)
{
    const int16_t *r = &e->registers[op->registers];
    const int64_t scc = e->m->scc_to_branch - 1;
    for (int k = 0; k < op->reads; k++)
        if (r[k] >= VGPRS)
            until(h, w->scalar_ready[r[k] - VGPRS] + (op->kind == BRANCH && r[k] == REGISTERS - 1 ? scc : 0), SCALAR);
}

static void counted(const struct engine *e, const struct wave *w, const struct op *op, struct hold *h)
{
    for (int c = 0; c < COUNTERS; c++) {
        int64_t limit = op->kind == END ? 0 : op->wait[c];
        int64_t entry = w->issued_n[c] - limit;
        if (limit < 0 || entry <= 0)
            continue;
        int64_t at = (entry - 1) & (KEEP - 1), when = w->done[c][at], why = GMEM;
        if (c == LGKM)
            why = w->scalar_load[at] ? SCALAR : 2 * w->queued[at] > when - e->t ? LDS_BANDWIDTH : LDS_WAIT;
        until(h, when, why);
    }
}

/* From when on the VALU takes one more: its port is free, and its queue has room. */
static inline int64_t valu_room(const struct engine *e, const struct simd *s)
{
    int64_t queue = e->m->queue;
    return most(s->port_free, s->begun_n < queue ? 0 : s->begun[(s->begun_n - queue) & (BEGUN - 1)]);
}

/* From when on the request path takes another access. */
static inline int64_t path_room(const struct engine *e, const struct cu *cu)
{
    return whole(cu->path) - e->m->path_queue;
}

/* What holds a wave that is at `op`; until <= now where nothing does. */
static void held(const struct engine *e, const struct cu *cu, const struct wave *w, const struct op *op,
                 struct hold *h)
{
    const struct machine *m = e->m;
    h->until = e->t;
    h->why = ISSUE;
    h->path = false;
    delayed(e, w, op, h);
    switch (op->kind) {
    case SALU: case BRANCH: case SMEM: {
        const int16_t *writes = &e->registers[op->registers + op->reads];
        scalars(e, w, op, h);
        for (int k = 0; op->kind == SALU && k < op->writes; k++)
            if (writes[k] >= VGPRS)
                until(h, w->scalar_read[writes[k] - VGPRS], SCALAR);
        if (op->kind == SMEM && op->value != CLAUSED)
            until(h, w->smem_next, SCALAR);
        break;
    }
    case LDS_LOAD: case LDS_STORE: case LDS_EXCHANGE: case LOAD: case STORE:
        until(h, w->written + (op->kind == LOAD || op->kind == STORE ? m->to_vmem : m->to_lds) - m->issue_to_execute, DRAIN);
        scalars(e, w, op, h);
        if (cu->path - m->path_queue > h->until) {
            h->path = h->until <= e->t;
            h->until = path_room(e, cu);
            h->why = ISSUE;
        }
        break;
    case WAIT: case END:
        if (op->kind == END && m->valu_to_end && w->results_n)
            until(h, w->results[(w->results_n - 1) & (DEPTH - 1)] + m->valu_to_end, DRAIN);
        if (w->accessed && op->kind == WAIT)
            until(h, w->last_t + m->after_access, ISSUE);
        counted(e, w, op, h);
        break;
    }
}
