/* An LDS access: request path of the CU -> 32 banks, as long as its conflicts say -> bus of the SIMD. */

static void lds(struct engine *e, struct cu *cu, int64_t cu_number, struct simd *s, struct wave *w, int64_t i,
                int64_t kind)
{
    const struct machine *m = e->m;
    double begin_path = later((double)e->t, cu->path);
    cu->path = begin_path + e->code->path[i];
    double cycles = (kind == LDS_EXCHANGE ? e->code->dwords[i] : e->rec->lds[w->lds_pos++]) * m->lds_scale;
    double *unit = &e->lds_free[cu_number % m->lds_units];
    double begin = later(begin_path, *unit), finish, waited;
    *unit = begin + cycles;
    cu->path = later(cu->path, begin - m->lds_queue); /* a full queue blocks the path, for memory too */
    if (kind != LDS_STORE) {
        double bus = e->code->dwords[i] * m->lds_return;
        double begin_bus = later(begin + m->lds_latency, s->return_free);
        s->return_free = begin_bus + bus;
        finish = later(begin_bus + bus, begin + m->lds_latency + cycles + 1);
        waited = finish - e->t - m->lds_latency - later(bus, cycles + 1);
    } else {
        double bus = e->code->dwords[i] * m->lds_store;
        double begin_bus = later(begin_path, s->store_free);
        s->store_free = begin_bus + bus;
        finish = later(begin_bus + bus, begin + cycles) + m->lds_store_latency;
        waited = finish - e->t - m->lds_store_latency - bus;
    }
    completes(w, LGKM, whole(finish), (int64_t)waited, false);
}
