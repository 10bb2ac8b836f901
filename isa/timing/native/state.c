/* The engine's state in memory that the caller brings, and before the first cycle. */

/* The next `bytes` from address *memory on. */
static void *take(uint64_t *memory, int64_t bytes)
{
    void *taken = (void *)*memory;
    *memory += (uint64_t)(bytes + 63) / 64 * 64;
    return taken;
}

/* Places the engine's arrays one after the other from an address on; returns how many bytes they take. */
static int64_t lay_out(struct engine *e, uint64_t address)
{
    const struct machine *m = e->m;
    int64_t waves = m->slots * m->waves;
    uint64_t memory = address;
    e->rows = waves;
    e->cus_n = most(1, m->simds / 2);
    e->fetch_n = e->code->fetch[e->code->fetch_n - 1] + 3; /* one is fetched ahead; one to spare */
    e->ops = take(&memory, e->code->kind_n * sizeof *e->ops);
    e->registers = take(&memory, (e->code->src_n + e->code->dst_n) * sizeof *e->registers);
    e->waves = take(&memory, waves * sizeof *e->waves);
    e->wake = take(&memory, waves * sizeof *e->wake);
    e->waits = take(&memory, waves * sizeof *e->waits);
    e->slots = take(&memory, m->slots * sizeof *e->slots);
    e->simds = take(&memory, m->simds * sizeof *e->simds);
    e->orders = take(&memory, m->simds * waves * sizeof *e->orders);
    e->cus = take(&memory, e->cus_n * sizeof *e->cus);
    e->l0 = take(&memory, e->cus_n * m->l0_sets * m->l0_ways * sizeof *e->l0);
    e->lds_free = take(&memory, m->lds_units * sizeof *e->lds_free);
    e->brought = (struct brought){take(&memory, BROUGHT * sizeof(uint32_t)), BROUGHT, 0, 0};
    e->fetch_ready = take(&memory, e->fetch_n * sizeof *e->fetch_ready);
    e->cache_ring = take(&memory, m->icache_lines * sizeof *e->cache_ring);
    return (int64_t)(memory - address);
}

/* Bit of the unit that an instruction takes for a cycle: kinds with one bit share a unit, 0 needs none. */
static uint8_t unit_of(int64_t kind)
{
    switch (kind) {
    case VALU: return VALU_UNIT;
    case SALU: return 2;
    case SMEM: return 4;
    case LDS_LOAD: case LDS_STORE: case LDS_EXCHANGE: return 8;
    case LOAD: case STORE: return 16;
    case BRANCH: case BARRIER: return 32;
    default: return 0;
    }
}

static void pack(struct engine *e)
{
    const struct code *code = e->code;
    int32_t end = 0;
    for (int64_t i = 0; i < code->kind_n; i++) {
        struct op *op = &e->ops[i];
        *op = (struct op){
            .line = (int32_t)code->fetch[i],
            .registers = end,
            .value = (int16_t)code->value[i],
            .kind = (uint8_t)code->kind[i],
            .unit = unit_of(code->kind[i]),
            .passes = (uint8_t)code->passes[i],
            .hold = (uint8_t)code->hold[i],
            .bank_reuse = (uint8_t)code->bank_reuse[i],
            .bank_cold = (uint8_t)code->bank_cold[i],
            .latency = (uint8_t)code->latency[i],
            .reads = (uint8_t)(code->src_at[i + 1] - code->src_at[i]),
            .writes = (uint8_t)(code->dst_at[i + 1] - code->dst_at[i]),
        };
        for (int k = 0; k < 4; k++)
            op->delay[k] = (uint8_t)code->delay[4 * i + k];
        for (int k = 0; k < COUNTERS; k++)
            op->wait[k] = (int8_t)code->wait[COUNTERS * i + k];
        for (int64_t k = 0; k < op->reads; k++) {
            op->scalar_reads |= code->kind[i] == VALU && code->src[code->src_at[i] + k] >= VGPRS;
            e->registers[end++] = (int16_t)code->src[code->src_at[i] + k];
        }
        for (int64_t k = 0; k < op->writes; k++)
            e->registers[end++] = (int16_t)code->dst[code->dst_at[i] + k];
    }
}

/* Which VALU instructions never wait for their operands: whatever wrote these, in the block or before it, is so many
 * VALU cycles (of a VALU) or issues (of the scalar ALU) of the same wave ago that its result is there. */
static void settle(struct engine *e)
{
    const struct code *code = e->code;
    const struct machine *m = e->m;
    int64_t longest = m->carry, by_valu[REGISTERS], by_issue[REGISTERS]; /* when each is ready, from the block's begin */
    for (int64_t i = 0; i < code->kind_n; i++)
        if (code->kind[i] == VALU)
            longest = most(longest, code->latency[i] - 1);
    for (int64_t b = 0; b + 1 < code->block_first_n; b++) {
        int64_t now = 0;
        for (int64_t r = 0; r < REGISTERS; r++) {
            by_valu[r] = longest;
            by_issue[r] = r < VGPRS ? 0 : code->block_first[b] + m->salu_to_valu;
        }
        for (int64_t i = code->block_first[b]; i < code->block_first[b + 1]; i++) {
            struct op *op = &e->ops[i];
            const int16_t *r = &e->registers[op->registers];
            if (op->kind != VALU && op->kind != SALU)
                continue;
            op->settled = op->kind == VALU;
            for (int k = 0; k < op->reads; k++)
                op->settled &= by_valu[r[k]] <= now && by_issue[r[k]] <= i;
            int64_t cycles = op->kind == VALU ? op->passes : 0;
            for (int k = op->reads; k < op->reads + op->writes; k++) {
                if (op->kind == SALU)
                    by_issue[r[k]] = i + m->salu_to_valu;
                else
                    by_valu[r[k]] = r[k] < VGPRS ? now + cycles + op->latency - 1 : now + m->carry;
            }
            now += cycles;
        }
    }
}

/* The memory was all zero. */
static void start(struct engine *e)
{
    const struct machine *m = e->m;
    int64_t lines = m->l0_sets * m->l0_ways;
    pack(e);
    settle(e);
    e->all_code_fits = e->fetch_n <= m->icache_lines;
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
    e->brought.most = least(e->work->remembered, BROUGHT / 4 * 3);
    e->recording = e->out->events_n > 0;
    e->random = (uint64_t)m->seed + 88172645463325252u;
}

/* Bytes of memory that `engine_run` needs. */
EXPORT int64_t engine_bytes(const struct code *code, const struct machine *m)
{
    struct engine e = {.code = code, .m = m};
    return lay_out(&e, 0);
}
