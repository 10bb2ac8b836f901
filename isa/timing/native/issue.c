/* Whether a wave may issue its next instruction now, and if not, until when and why.
 *
 * In the order of the checks: its line of code is there; no other wave has taken the unit in this cycle; s_delay_alu;
 * the VALU's queue, scalar registers, the drain of VALU results to memory, the request path; wait counters.
 */

/* What holds a wave. unit: the unit is not ready, so the wave looks again each time the unit may be. */
struct hold {
    int64_t until, why;
    bool unit;
};

/* Bit of the unit that an instruction takes for a cycle: kinds with one bit share a unit, 0 needs none. */
static int unit_of(int64_t kind)
{
    switch (kind) {
    case VALU: return 1;
    case SALU: return 2;
    case SMEM: return 4;
    case LDS_LOAD: case LDS_STORE: return 8;
    case LOAD: case STORE: return 16;
    case BRANCH: case BARRIER: return 32;
    default: return 0;
    }
}

/* When the line of code of instruction i is there. A new line brings the one behind it along. */
static int64_t fetched(struct engine *e, struct wave *w, int64_t i)
{
    int64_t line = e->code->fetch[i];
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

static void delayed(const struct engine *e, const struct wave *w, int64_t i, struct hold *h)
{
    const int64_t *delay = &e->code->delay[4 * i], lead = e->m->issue_to_execute;
    for (int d = 0; d < 4 && delay[d]; d += 2) {
        int64_t back = delay[d + 1];
        if (delay[d] == 1 && w->history_n >= back)
            until(h, w->history[(w->history_n - back) & (DEPTH - 1)] - lead, DEPENDENCY);
        else if (delay[d] == 2 && w->trans_n >= back)
            until(h, w->trans[(w->trans_n - back) & (DEPTH - 1)] - lead, DEPENDENCY);
        else if (delay[d] == 3)
            until(h, w->last_t + 1 + back, DEPENDENCY);
    }
}

static void scalars(const struct engine *e, const struct wave *w, int64_t i, struct hold *h)
{
    for (int64_t k = e->code->src_at[i]; k < e->code->src_at[i + 1]; k++) {
        int64_t r = e->code->src[k];
        if (r >= VGPRS)
            until(h, w->scalar_ready[r - VGPRS], SCALAR);
    }
}

static void counted(const struct engine *e, const struct wave *w, int64_t i, bool all, struct hold *h)
{
    for (int c = 0; c < COUNTERS; c++) {
        int64_t limit = all ? 0 : e->code->wait[COUNTERS * i + c];
        int64_t entry = w->issued_n[c] - limit;
        if (limit < 0 || entry <= 0)
            continue;
        int64_t at = (entry - 1) & (KEEP - 1), when = w->done[c][at], why = GMEM;
        if (c == LGKM)
            why = w->scalar_load[at] ? SCALAR : 2 * w->queued[at] > when - e->t ? LDS_BANDWIDTH : LDS_WAIT;
        until(h, when, why);
    }
}

/* What holds instruction i of the wave; until <= now where nothing does. */
static struct hold held(const struct engine *e, const struct simd *s, const struct cu *cu, const struct wave *w,
                        int64_t i, int64_t kind)
{
    const struct machine *m = e->m;
    struct hold h = {e->t, ISSUE, false};
    delayed(e, w, i, &h);
    switch (kind) {
    case VALU:
        if (s->begun_n >= m->queue && s->begun[(s->begun_n - m->queue) & (BEGUN - 1)] > e->t) {
            h.until = most(h.until, s->begun[(s->begun_n - m->queue) & (BEGUN - 1)]);
            h.unit = true;
        }
        break;
    case SALU: case BRANCH: case SMEM:
        scalars(e, w, i, &h);
        break;
    case LDS_LOAD: case LDS_STORE: case LOAD: case STORE:
        until(&h, w->written + (kind < LOAD ? m->to_lds : m->to_vmem) - m->issue_to_execute, DRAIN);
        scalars(e, w, i, &h);
        if (cu->path - m->path_queue > h.until) {
            h.until = whole(cu->path) - m->path_queue;
            h.why = ISSUE;
            h.unit = true;
        }
        break;
    case WAIT: case END:
        counted(e, w, i, kind == END, &h);
        break;
    }
    return h;
}
