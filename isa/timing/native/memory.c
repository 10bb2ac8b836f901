/* A global or scratch access: request path -> address unit -> L0 (real addresses, LRU) -> L1, L2, L3 or VRAM by the
 * shares that isa.timing.model.caches found for this instruction, each with this CU's share of the bandwidth. Stores go to L2,
 * which acknowledges them; what is not written over there goes on to L3, and from there to VRAM, which reads and writes
 * share. L2 takes no more than it has room for: where VRAM lies further behind than that, a store waits. */

/* Of an equal distribution over [0, 1): a linear congruential generator, 43 of its bits. */
static double dice(struct engine *e)
{
    e->random = (e->random * 6364136223846793005u + 1442695040888963407u) & INT64_MAX;
    return (double)(e->random >> 20) / (double)((int64_t)1 << 43);
}

/* A line goes through a queue that takes `cycles` a line; returns when it has arrived there, and later than `from`. */
static double through(double *queue, double from, double cycles)
{
    double at = later(from, *queue);
    *queue = at + cycles;
    return at;
}

/* When one 128-byte line asked for at `start` has arrived from L0, or from the level beyond that holds it. */
static int64_t line_ready(struct engine *e, struct cu *cu, int64_t line, int64_t start, int64_t i, int64_t workgroup)
{
    const struct machine *m = e->m;
    int64_t *served = e->out->lines;
    const bool near = e->code->value[i] != ATOMIC;
    struct line *set = &cu->l0[cache_set(line, m->l0_sets, m->l0_hashed) * m->l0_ways], *victim = set;
    for (struct line *way = set; way < set + m->l0_ways; way++) {
        if (near && way->tag == line) {
            way->used = start;
            served[0]++;
            return most(start + m->l0_latency, way->filled);
        }
        if (way->used < victim->used)
            victim = way;
    }
    const bool again = brought_before(&e->brought, line, cu - e->cus, workgroup / m->slots);
    const double *level = &e->work->level[2 * FAR * i + FAR * again], chance = dice(e);
    double ready, begin = through(&cu->fill, (double)start, m->fill);
    int depth = 0;
    while (depth < FAR && chance >= level[depth])
        depth++;
    if (!depth) {
        ready = through(&cu->l1, begin, m->l1_line) + m->l1_latency;
        served[1]++;
    } else {
        double at = through(&cu->l2, begin, m->l2_line);
        ready = at + m->l2_latency;
        served[2]++;
        if (depth > 1) {
            at = through(&cu->l3, at, m->l3_line);
            ready = at + m->l3_latency;
            served[3]++;
            if (depth > 2) {
                ready = through(&cu->vram, at, m->vram_line) + m->vram_latency;
                served[4]++;
            }
        }
    }
    if (near)
        *victim = (struct line){line, start, (int64_t)ready};
    return (int64_t)ready;
}

static void memory(struct engine *e, struct cu *cu, struct wave *w, int64_t row, int64_t i, bool load)
{
    const struct machine *m = e->m;
    const struct work *work = e->work;
    double begin_path = later((double)e->t, cu->path);
    cu->path = begin_path + e->code->path[i];
    int64_t first = e->rec->sector_at[w->mem_pos], last = e->rec->sector_at[w->mem_pos + 1];
    w->mem_pos++;
    int64_t column = work->column[row % m->waves * e->code->kind_n + i];
    int64_t shift = work->distance[w->workgroup * work->columns + column];
    if (e->code->private[i])
        shift = (1LL << SCRATCH_BIT) + row * work->scratch;
    double begin_ta = later(begin_path, cu->ta);
    uint16_t looked_up[LANES] = {0}; /* lines, by bank of tags */
    int64_t longest = m->ta_cycles, previous = -1, finish = (int64_t)begin_ta;
    for (int64_t k = first; k < last; k++) {
        int64_t line = (e->rec->sectors[k] + shift) >> 2;
        if (line == previous)
            continue;
        previous = line;
        int64_t turn = looked_up[cache_set(line, m->l0_sets, m->l0_hashed) % m->l0_tags]++;
        longest = most(longest, turn + 1);
        if (load)
            finish = most(finish, line_ready(e, cu, line, (int64_t)begin_ta + turn, i, w->workgroup));
    }
    cu->ta = begin_ta + longest;
    if (load) {
        double begin_bus = later((double)finish, cu->bus);
        cu->bus = begin_bus + e->code->dwords[i];
        finish = whole(begin_bus + e->code->dwords[i] - 1);
    } else {
        const double *level = &work->level[2 * FAR * i], moved = (last - first) * 0.25; /* sectors, a quarter of a line each */
        double at = through(&cu->l2, begin_ta, moved * m->l2_line);
        double at_l3 = through(&cu->l3, at, moved * (1 - level[1]) * m->l3_line);
        at_l3 = through(&cu->vram, at_l3, moved * (1 - level[2]) * m->vram_write);
        finish = (int64_t)later(at, at_l3 - m->write_slack) + m->store_ack;
    }
    completes(w, e->code->counter[i], finish, 0, false);
}
