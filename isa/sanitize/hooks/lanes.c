/* Lanes of one wave that store different values to one place by one instruction: which of them stays is not defined.
 *
 * After a store, each lane's place is read again (`stored`): where it does not hold what the lane stored, and another
 * lane stored there, too, the two stored different values. Of stores by wide moves the values are not at hand; that
 * lanes of different granules meet (`granules_meet`) is reported as unclear, and the launch is run again without such
 * moves.
 *
 * Lanes that touch nothing, outside of a buffer's range or of all allocations, have the sink for their place.
 *
 * Limits: two addresses of one instruction (ds_store_2addr) are two stores. Lanes that meet by different instructions
 * are in the order of these. */

/* Whether memory does not hold what a lane stored. words: its first register, 32 lanes of each. */
static bool lost(u64 place, const u32 *words, u64 size)
{
    const u8 *bytes = (const u8 *)place;
    for (u64 i = 0; i < size; i++)
        if (bytes[i] != (u8)(words[LANES * (i >> 2)] >> 8 * (i & 3)))
            return true;
    return false;
}

/* The lanes that stored to where this one did, as bits. */
static u64 meeting(const u64 *places, u64 lane, u64 size, u64 exec)
{
    u64 found = 0, place = places[lane];
    for (u64 other = 0; other < LANES; other++) {
        if (other != lane && (exec >> other) & 1 && places[other] - place + size - 1 < 2 * size - 1)
            found |= BIT(other);
    }
    return found;
}

/* A store is done. places: u64[32], the host's pointers; words: u32[register][32]; what: site << 8 | bytes. */
EXPORT void hook_stored(struct wave *w, struct context *c, const u64 *places, const u32 *words, u64 what, u64 exec)
{
    u64 size = what & 0xFF;
    for (u64 lane = 0; lane < LANES; lane++) {
        if ((exec >> lane) & 1) {
            u64 place = places[lane];
            if (place != (u64)c->sink && lost(place, words + lane, size)) {
                u64 others = meeting(places, lane, size, exec);
                if (others) {
                    u64 event = GLOBAL_LANES;
                    if (place - c->lds < c->lds_bytes) {
                        event = LDS_LANES;
                        place = place - c->lds;
                    }
                    report(c, event, what >> 8, w->index, others | BIT(lane), place, 0, 0);
                }
            }
        }
    }
}

/* A store by wide moves whose granules are near one another: tell whether two lanes meet. bases: u64[count], the
 * first lane of each; pattern: u64[lanes], the others' distances from it; what: as above. Granules that are as far
 * from one another as they were are not looked at again. */
EXPORT void hook_granules_meet(struct wave *w, struct context *c, const u64 *bases, u64 count, const u64 *pattern,
                               u64 lanes, u64 what)
{
    struct thread *t = thread_of(c);
    u64 size = what & 0xFF;
    u64 digest = what;
    for (u64 i = 1; i < count; i++)
        digest = (digest + bases[i] - bases[0]) * 0x9E3779B97F4A7C15;
    u64 *known = &t->apart[(what >> 8) % APART];
    if (*known == digest)
        return;
    for (u64 i = 0; i < count; i++) {
        for (u64 j = 0; j < i; j++) {
            u64 apart = bases[i] - bases[j];
            for (u64 a = 0; a < lanes; a++) {
                for (u64 b = 0; b < lanes; b++) {
                    u64 between = apart + pattern[a] - pattern[b];
                    if (between + size - 1 < 2 * size - 1) {
                        report(c, LANES_UNCLEAR, what >> 8, w->index, 0, 0, 0, 0);
                        return;
                    }
                }
            }
        }
    }
    *known = digest;
}
