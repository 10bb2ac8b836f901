/* What is in order between workgroups: what one publishes, and what another has seen of it.
 *
 * Each access to global memory is stamped with its wave and a serial number (`memory.c`). A serial stands for what its
 * wave knew when it began, and never changes; what the wave learns begins a new one:
 *
 *     s_waitcnt_vscnt 0   its stores are complete, and its loads if none is in flight
 *     s_barrier           what all waves of the workgroup know, and the stores of those that waited before it
 *     s_waitcnt vmcnt(0)  what the writer knew of each flag that was read: by a load with glc, or an atomic that
 *                         returns
 *
 * An atomic and its stamp are one step for all threads' atomics (`begin_atomic`): what it read is what the stamp says.
 * Only a store, an unlock, may come between: its stamp is there before its value, so an atomic that is done looks
 * whether its own still is. A load with glc may meet a flag that is set again before the value is read, so it learns
 * of what stands there when it is awaited.
 *
 * So a flag's stamp says what was complete when it was set, and nothing has to be said of which store is a flag: a
 * release on gfx11 is a wait and a store (LLVM AMDGPUUsage, memory model gfx10-gfx11). An atomic on a flag that another
 * wave had set, whether it returns or not, passes on what that one published, too: it belongs to that one's release
 * sequence. So a wave that reads what its own atomic left learns what those before it published.
 *
 * An access (serial s, wave w, workgroup P) is in order for a wave if from that wave's serial a path of `Node`s leads
 * to a later serial of P which holds w. Stores, atomics and loads with glc reach the L2, where a wait is enough; plain
 * loads see what was complete when the caches were emptied: buffer_gl1_inv first, then buffer_gl0_inv. A workgroup
 * shares its L1 and in CU mode its L0: in WGP mode a wave empties its own after a barrier before it reads what others of
 * its workgroup stored (LLVM AMDGPUUsage: an acquire of the workgroup is buffer_gl0_inv, or global_inv). The scalar
 * cache, which stores pass by, is one for a workgroup: what this stored before s_dcache_inv is seen, its own waves' too;
 * of other workgroups nothing.
 *
 * Limits: serials are numbers from one counter, so nodes only lead to smaller ones, and a search goes no deeper than
 * the serial it seeks. A flag is 4 or 8 bytes; of those read at once 64 are followed. */

/* left, right: serials whose knowledge it holds; stores, loads: waves (bits) of which all earlier ones are
 * complete. */
static u64 new_serial(struct thread *t, u64 left, u64 right, u64 stores, u64 loads)
{
    u64 serial = fetch_add(t->serials, 1);
    if (serial >= SERIALS) {
        t->muted = 1;
        return 1;
    }
    struct node *node = &t->nodes[serial];
    node->left = left;
    node->right = right;
    node->stores = stores;
    node->loads = loads;
    t->owners[serial] = t->mine;
    return serial;
}

/* Whether it is known at `head` that what these waves of a workgroup did in a serial is complete. */
static bool covered(struct thread *t, u64 head, u64 serial, u64 owner, u64 waves, u64 loads)
{
    u64 key = (owner << 33) | (waves << 1) | loads;
    struct shortcut *shortcut = &t->shortcuts[(head * 31 + owner * 7 + waves * 2 + loads) % SHORTCUTS];
    if (shortcut->head == head && shortcut->key == key && shortcut->serial > serial)
        return 1;
    if (head <= serial)
        return 0;
    u32 search = ++t->visited[0]; /* no serial is 0 */
    t->stack[0] = head;
    u64 count = 1;
    while (count) {
        u64 at = t->stack[--count];
        struct node *node = &t->nodes[at];
        if (t->owners[at] == owner) {
            u64 known = loads ? node->loads : node->stores;
            if ((known & waves) == waves) {
                shortcut->head = head;
                shortcut->key = key;
                shortcut->serial = at;
                return 1;
            }
        }
        u32 next[] = {node->left, node->right};
        for (u64 i = 0; i < 2; i++) {
            if (next[i] > serial && t->visited[next[i]] != search) {
                t->visited[next[i]] = search;
                t->stack[count++] = next[i];
            }
        }
    }
    return 0;
}

/* Whether what the cell tells of came before an access of this wave, which knows what `head` does. */
static bool in_order(struct thread *t, u64 cell, u64 wave, u64 head, u64 loads)
{
    u64 serial = cell >> SERIAL_SHIFT;
    u64 owner = t->owners[serial];
    if (owner == t->mine && (serial < t->epoch || ((cell & GLOBAL_WAVE) == wave && !(cell & FLAG))))
        return 1;
    if (!t->orders)
        return 0;
    u64 waves = cell & FLAG ? t->all_waves : BIT(cell & GLOBAL_WAVE);
    return covered(t, head, serial, owner, waves, loads);
}

/* The flag that a cell is of: where each byte has one, the first of a dword's four. */
static const u32 *flag_at(struct thread *t, const u32 *place)
{
    return t->shift ? place : (const u32 *)((u64)place & ~(u64)(4 * sizeof *place - 1));
}

/* The same of a writer's cell, and of all atomics that follow on one another there, down to what the wave read. */
static bool written_in_order(struct thread *t, struct shadow *v, const u32 *place, u64 writer, u64 wave, u64 head)
{
    u64 cell = writer;
    while (cell) {
        for (u64 i = 0; i < FLAGS_KEPT; i++) {
            if (v->kept_flags[i] == flag_at(t, place) && v->kept_stamps[i] == cell)
                return 1;
        }
        if (cell == EVERYBODY || !in_order(t, cell & ~FLAG, wave, head, 0))
            return 0;
        u64 before = t->nodes[cell >> SERIAL_SHIFT].before;
        cell = cell & before & FLAG ? before : 0;
    }
    return 1;
}

/* Whether one of the atomics that followed on one another at a place was this workgroup's. */
static bool took_part(struct thread *t, u64 writer)
{
    u64 cell = writer;
    while (cell & FLAG && cell != EVERYBODY) {
        if (t->owners[cell >> SERIAL_SHIFT] == t->mine)
            return 1;
        cell = t->nodes[cell >> SERIAL_SHIFT].before;
    }
    return 0;
}

/* What an atomic leaves where `writer` was: itself, and what it passes on. */
static u64 atomic_stamp(struct thread *t, struct shadow *v, u64 me, u64 writer)
{
    if (!t->orders) {
        if (writer == EVERYBODY || (writer & FLAG && t->owners[writer >> SERIAL_SHIFT] != t->mine))
            return EVERYBODY;
        return me | FLAG;
    }
    if (writer == 0 || writer == EVERYBODY || (writer & ~FLAG) == me)
        return me | FLAG;
    struct node *previous = &t->nodes[writer >> SERIAL_SHIFT];
    bool mine = (writer & GLOBAL_WAVE) == (me & GLOBAL_WAVE);
    if (writer & FLAG && mine && previous->before && previous->left == v->serial)
        return writer; /* this wave's own, of a moment ago */
    u64 serial = new_serial(t, v->serial, writer >> SERIAL_SHIFT, 0, 0);
    t->nodes[serial].before = writer;
    return (serial << SERIAL_SHIFT) | FLAG | (me & GLOBAL_WAVE);
}

/* A wave reads what may be a flag: what its writer knew is known when the read is complete. later: 1 if it may be
 * set again before it is read; site: where it says what set it. */
static void flag_read(struct shadow *v, u32 *place, u64 stamp, u64 later, const u16 *site)
{
    if (!later && !stamp)
        return;
    for (u64 i = 0; i < v->flags; i++) {
        if ((stamp && v->flag_stamps[i] == stamp) || (later && v->flag_places[i] == place)) {
            v->later |= later << i;
            return;
        }
    }
    if (v->flags < FLAGS_READ) {
        v->flag_places[v->flags] = place;
        v->flag_stamps[v->flags] = stamp;
        v->flag_sites[v->flags] = later ? (u64)site : *site;
        v->later |= later << v->flags++;
    }
}

/* An atomic leaves its stamp where it finds another's, and learns of what that says if it returns a value. */
static void leave_stamp(struct wave *w, struct thread *t, u32 *place, u16 *site, u64 own_site, u64 returns)
{
    struct shadow *v = shadow_of(w);
    u64 me = (v->serial << SERIAL_SHIFT) | w->index;
    u32 before;
    u16 before_site;
    do {
        before = *place;
        before_site = *site;
    } while (!changed(place, before, atomic_stamp(t, v, me, before == UNWRITTEN ? 0 : before)));
    if (returns && t->orders)
        flag_read(v, place, before, 0, &before_site);
    *site = own_site;
}

EXPORT void hook_begin_atomic(struct context *c)
{
    struct thread *t = thread_of(c);
    while (fetch_set(t->atomics, 1))
        ;
    t->stamped = 0;
}

/* The atomic is done. Where a store has left its stamp since, its value may be what the atomic read. */
EXPORT void hook_end_atomic(struct wave *w, struct context *c, u64 site, u64 returns)
{
    struct thread *t = thread_of(c);
    for (u64 i = 0; i < t->stamped; i++) {
        u32 stamp = *t->stamped_places[i];
        if (stamp & FLAG && stamp < EVERYBODY && t->owners[stamp >> SERIAL_SHIFT] != t->mine)
            leave_stamp(w, t, t->stamped_places[i], t->stamped_sites[i], site, returns);
    }
    fetch_set(t->atomics, 0);
}

/* A site that was kept, or that stands at an address. */
static u64 site_of(u64 kept)
{
    return kept > 0xFFFF ? *(const u16 *)kept : kept;
}

/* Whether who set this flag knew of what this workgroup did in a serial, complete or not. */
static bool leads(struct thread *t, u64 stamp, u64 serial, u64 owner)
{
    if (stamp == 0 || stamp == UNWRITTEN || stamp == EVERYBODY || stamp >> SERIAL_SHIFT < serial)
        return 0;
    return covered(t, stamp >> SERIAL_SHIFT, serial - 1, owner, 0, 0);
}

/* What an access to another workgroup's data lacks that is not in order, and the flag's site (+ 1), 16 bits after:
 * its stores were not complete when the flag was set; or the flag's load is not awaited; or caches are not emptied. */
static u64 missing(struct thread *t, struct shadow *v, u64 cell)
{
    if (cell == EVERYBODY || cell & FLAG || !t->orders)
        return 0;
    u64 serial = cell >> SERIAL_SHIFT;
    u64 owner = t->owners[serial];
    if (owner == t->mine)
        return 0;
    if (covered(t, v->serial, serial, owner, BIT(cell & GLOBAL_WAVE), 0))
        return NOT_EMPTIED;
    for (u64 i = 0; i < v->flags; i++) {
        if (leads(t, v->flag_stamps[i], serial, owner))
            return NOT_AWAITED | (site_of(v->flag_sites[i]) + 1) << 16;
    }
    for (u64 i = 0; i < FLAGS_KEPT; i++) {
        if (leads(t, v->kept_stamps[i], serial, owner))
            return NOT_COMPLETE | (site_of(v->kept_sites[i]) + 1) << 16;
    }
    if (leads(t, v->serial << SERIAL_SHIFT, serial, owner))
        return NOT_COMPLETE;
    return 0;
}

/* The wave's bit if its loads (its stores) are complete. */
static u64 complete(struct shadow *v, u64 bit, u64 of_loads)
{
    return (of_loads ? v->issued[VM] > v->done[VM] : v->open != 0) ? 0 : bit;
}

/* The wave has read a flag with this stamp, which was set there. */
static void learn(struct wave *w, struct thread *t, struct shadow *v, u32 *place, u64 stamp, u64 site)
{
    if (stamp == 0 || stamp == UNWRITTEN || stamp == EVERYBODY)
        return;
    for (u64 i = 0; i < FLAGS_KEPT; i++) {
        if (v->kept_stamps[i] == stamp) {
            v->kept_flags[i] = (u32 *)flag_at(t, place);
            return;
        }
    }
    u64 serial = stamp >> SERIAL_SHIFT;
    bool own = t->owners[serial] == t->mine && (serial < t->epoch || (stamp & GLOBAL_WAVE) == w->index);
    if (own && !t->nodes[serial].before)
        return; /* and it passes nothing on */
    u64 bit = BIT(w->index);
    v->serial = new_serial(t, v->serial, serial, complete(v, bit, 0), complete(v, bit, 1));
    u64 slot = v->next_kept++ % FLAGS_KEPT;
    v->kept_flags[slot] = (u32 *)flag_at(t, place);
    v->kept_stamps[slot] = stamp;
    v->kept_sites[slot] = site_of(site);
}

/* A wave has waited for its loads (vm: down to so many) and stores (vs); readiness of registers is known. */
EXPORT void hook_awaited(struct wave *w, struct context *c, u64 vm, u64 vs)
{
    struct thread *t = thread_of(c);
    struct shadow *v = shadow_of(w);
    u64 bit = BIT(w->index);
    if (vs == 0)
        v->open &= OPEN_ATOMICS;
    if (v->issued[VM] == v->done[VM]) {
        v->open &= OPEN_STORES;
        for (u64 i = 0; i < v->flags; i++) {
            learn(w, t, v, v->flag_places[i], v->flag_stamps[i], v->flag_sites[i]);
            if ((v->later >> i) & 1)
                learn(w, t, v, v->flag_places[i], *v->flag_places[i], v->flag_sites[i]);
        }
        v->flags = v->later = 0;
    }
    struct node *node = &t->nodes[v->serial];
    u64 stores = complete(v, bit, 0), loads = complete(v, bit, 1);
    bool news = v->touched;
    if (v->serial > t->epoch)
        news |= stores & ~node->stores || loads & ~node->loads;
    if (news && (vs == 0 || (vm == 0 && v->serial > t->epoch))) {
        v->serial = new_serial(t, v->serial, 0, stores, loads);
        v->touched = 0;
    }
}

/* buffer_gl1_inv (1), buffer_gl0_inv (0), s_dcache_inv (2). */
EXPORT void hook_emptied(struct wave *w, struct context *c, u64 level)
{
    struct shadow *v = shadow_of(w);
    if (level == 2) {
        u64 bit = BIT(w->index);
        v->scalar = v->serial = new_serial(thread_of(c), v->serial, 0, complete(v, bit, 0), complete(v, bit, 1));
    } else if (level) {
        v->level1 = v->serial;
    } else {
        v->level0 = v->level1;
        v->fresh = thread_of(c)->epoch;
    }
}

/* WGP mode: whether an L0 that is not that of the wave which wrote may hold what was there before, since this wave has
 * not emptied its own after the barrier between the two. */
static bool may_be_kept(struct thread *t, struct shadow *v, u64 writer, u64 wave)
{
    u64 serial = writer >> SERIAL_SHIFT;
    if (t->shares_level0 || writer == EVERYBODY || t->owners[serial] != t->mine || serial < v->fresh)
        return 0;
    return writer & FLAG || (writer & GLOBAL_WAVE) != wave;
}

/* Whether the scalar cache may hold what was there before a workgroup's own store. */
static bool may_be_kept_by_scalar(struct thread *t, struct shadow *v, u64 writer)
{
    u64 serial = writer >> SERIAL_SHIFT;
    return writer != EVERYBODY && t->owners[serial] == t->mine && serial >= v->scalar;
}

/* A serial that holds what both know. */
static u64 joined(struct thread *t, u64 a, u64 b)
{
    if (b == 0 || a == b)
        return a;
    if (a == 0)
        return b;
    return new_serial(t, a, b, 0, 0);
}

/* A workgroup begins. */
static void begin_order(struct context *c, struct thread *t)
{
    t->serial = t->epoch = t->oldest = new_serial(t, 0, 0, 0, 0);
    t->all_waves = BIT(c->wave_count) - 1;
    for (u64 i = 0; i < c->wave_count; i++) {
        struct wave *w = wave_of(c, i);
        struct shadow *v = shadow_of(w);
        v->serial = t->serial;
        v->fresh = v->scalar = t->epoch;
        v->level1 = v->level0 = v->open = v->touched = v->flags = v->later = 0;
        for (u64 slot = 0; slot < FLAGS_KEPT; slot++) {
            v->kept_flags[slot] = 0, v->kept_stamps[slot] = 0;
        }
    }
}

/* All waves are at a barrier: what each knows all do. */
static void next_order(struct context *c, struct thread *t)
{
    u64 known = t->serial, stores = 0, loads = 0, level1 = 0, level0 = 0, scalar = 0;
    for (u64 i = 0; i < c->wave_count; i++) {
        if (shadow_of(wave_of(c, i))->scalar > scalar)
            scalar = shadow_of(wave_of(c, i))->scalar;
    }
    if (t->orders) {
        for (u64 i = 0; i < c->wave_count; i++) {
            struct wave *w = wave_of(c, i);
            struct shadow *v = shadow_of(w);
            known = joined(t, known, v->serial);
            stores |= complete(v, BIT(i), 0);
            loads |= complete(v, BIT(i), 1);
            level1 = joined(t, level1, v->level1);
            level0 = joined(t, level0, v->level0);
        }
    }
    t->serial = t->epoch = new_serial(t, known, 0, stores, loads);
    for (u64 i = 0; i < c->wave_count; i++) {
        struct shadow *v = shadow_of(wave_of(c, i));
        v->serial = t->serial;
        v->scalar = scalar;
        v->touched = 0;
        if (t->orders)
            v->level1 = level1;
        if (t->orders && t->shares_level0)
            v->level0 = level0;
    }
}
