/* The engine's state in memory that the caller brings, and before the first cycle. */

/* The next `bytes` from address *memory on. */
static void *take(uint64_t *memory, int64_t bytes)
{
    void *taken = (void *)*memory;
    *memory += (uint64_t)(bytes + 63) / 64 * 64;
    return taken;
}

/* Places the engine's arrays one behind the other from an address on; returns how many bytes they take. */
static int64_t lay_out(struct engine *e, uint64_t address)
{
    const struct machine *m = e->m;
    int64_t waves = m->slots * m->waves;
    uint64_t memory = address;
    e->rows = waves;
    e->cus_n = most(1, m->simds / 2);
    e->fetch_n = e->code->fetch[e->code->fetch_n - 1] + 3; /* one is fetched ahead; one to spare */
    e->waves = take(&memory, waves * sizeof *e->waves);
    e->wake = take(&memory, waves * sizeof *e->wake);
    e->slots = take(&memory, m->slots * sizeof *e->slots);
    e->simds = take(&memory, m->simds * sizeof *e->simds);
    e->orders = take(&memory, m->simds * waves * sizeof *e->orders);
    e->cus = take(&memory, e->cus_n * sizeof *e->cus);
    e->l0 = take(&memory, e->cus_n * m->l0_sets * m->l0_ways * sizeof *e->l0);
    e->lds_free = take(&memory, m->lds_units * sizeof *e->lds_free);
    e->fetch_ready = take(&memory, e->fetch_n * sizeof *e->fetch_ready);
    e->cache_ring = take(&memory, m->icache_lines * sizeof *e->cache_ring);
    return (int64_t)(memory - address);
}

/* The memory was all zero. */
static void start(struct engine *e)
{
    const struct machine *m = e->m;
    int64_t lines = m->l0_sets * m->l0_ways;
    for (int64_t k = 0; k < e->rows; k++)
        e->wake[k] = NEVER;
    for (int64_t k = 0; k < m->slots; k++)
        e->slots[k].start = k < e->work->record_n ? k * m->dispatch_gap : -1;
    for (int64_t k = 0; k < m->simds; k++) {
        e->simds[k].order = e->orders + k * e->rows;
        e->simds[k].last_wave = e->simds[k].bank_wave = -1;
    }
    for (int64_t k = 0; k < e->cus_n; k++)
        e->cus[k].l0 = e->l0 + k * lines;
    for (int64_t k = 0; k < e->cus_n * lines; k++)
        e->l0[k].tag = e->l0[k].used = -1;
    for (int64_t k = 0; k < e->fetch_n; k++)
        e->fetch_ready[k] = -1;
    for (int64_t k = 0; k < m->icache_lines; k++)
        e->cache_ring[k] = -1;
    e->recording = e->out->events_n > 0;
    e->random = (uint64_t)m->seed + 88172645463325252u;
}

/* Bytes of memory that `engine_run` needs. */
EXPORT int64_t engine_bytes(const struct code *code, const struct machine *m)
{
    struct engine e = {.code = code, .m = m};
    return lay_out(&e, 0);
}
