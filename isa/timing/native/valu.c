/* Execution in the VALU and the scalar ALU.
 *
 * The VALU is served in order: an instruction executes `issue_to_execute` after its issue at the earliest, and not
 * before its operands are ready, which holds up whatever was issued after it. Whenever the VALU stands still between
 * two instructions, the gap belongs to what held up the wave that ended it.
 */

/* `op` issues at `t`; returns the cycle in which it executes. */
static inline int64_t valu(struct engine *e, int64_t t, int64_t number, struct wave *w, int64_t row,
                           const struct op *op)
{
    const int16_t *reads = &e->registers[op->registers], *writes = reads + op->reads;
    const struct machine *m = e->m;
    struct simd *s = &e->simds[number];
    int64_t *causes = &e->out->causes[number * CAUSES];
    int64_t nominal = t + m->issue_to_execute;
    int64_t begin = most(nominal, s->valu_free), execute = begin;
    if (!op->settled) {
        for (int k = 0; k < op->reads; k++)
            execute = most(execute, w->ready[reads[k]]);
        causes[DEPENDENCY] += execute - begin;
    }
    if (op->value) { /* the transcendental unit still has the one before */
        int64_t ready = most(execute, s->trans_free);
        causes[BUSY] += ready - execute;
        execute = ready;
        s->trans_free = execute + (op->value == SCALAR_TRANS ? op->passes : m->trans);
    }
    int64_t bank = s->bank_wave == row ? op->bank_reuse : op->bank_cold;
    s->bank_wave = row;
    causes[BUSY] += op->passes;
    causes[BANK] += bank;
    if (nominal > s->valu_free)
        causes[w->stall_cause] += nominal - s->valu_free;
    begins_anew(w, ISSUE);

    int64_t start = execute + bank, result = start + op->passes - 1 + op->latency;
    s->valu_free = start + op->passes;
    s->port_free = t + op->hold;
    for (int k = 0; k < (op->hold < 4 ? 1 : 2); k++) /* entries of the queue */
        s->begun[s->begun_n++ & (BEGUN - 1)] = start + (m->queue_keeps ? op->passes - 1 : 0);
    for (int k = 0; op->scalar_reads && k < op->reads; k++)
        if (reads[k] >= VGPRS)
            w->scalar_read[reads[k] - VGPRS] = start;
    int64_t last = w->results[(w->results_n + DEPTH - 1) & (DEPTH - 1)];
    w->results[w->results_n++ & (DEPTH - 1)] = most(result, last);
    if (op->value)
        w->trans[w->trans_n++ & (DEPTH - 1)] = result;
    else
        w->history[w->history_n++ & (DEPTH - 1)] = result;
    for (int k = 0; k < op->writes; k++) {
        int r = writes[k];
        if (r >= VGPRS) {
            w->ready[r] = start + m->carry;
            w->scalar_ready[r - VGPRS] = start + m->to_scalar - m->issue_to_execute;
        } else {
            w->ready[r] = result;
            w->written = start + op->passes - 1;
        }
    }
    return start;
}

static void salu(struct engine *e, struct wave *w, const struct op *op)
{
    const int16_t *writes = &e->registers[op->registers + op->reads];
    for (int k = 0; k < op->writes; k++) {
        int r = writes[k];
        if (r < VGPRS)
            continue;
        w->scalar_ready[r - VGPRS] = e->t + (r == REGISTERS - 1 ? 1 : e->m->salu_latency); /* SCC is there at once */
        w->ready[r] = e->t + e->m->salu_to_valu + e->m->issue_to_execute;
    }
}
