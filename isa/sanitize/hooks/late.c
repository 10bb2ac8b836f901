/* Loads whose results appear when they are awaited: the memory of registers is put back to what it was.
 *
 * A load writes its registers when it is issued. In a launch where a register is touched before that is allowed, each
 * load first keeps what they held (`keep`). Where such a register is touched early, `postpone` exchanges what it holds
 * with what was kept, from the youngest load in flight that fills it to the oldest: so it holds again what it held
 * before them, and each load has kept its own result. When a load has completed, `arrive` puts the result in its
 * place, over whatever was written meanwhile.
 *
 * What a load keeps lies under its number in the ring of its stream: 32 lanes for each of up to 4 VGPRs, or up to 16
 * SGPRs. */

/* The address of a register, in one lane. */
static u32 *held(struct wave *w, struct shadow *v, u64 unit, u64 lane)
{
    if (unit >= 256)
        return (u32 *)w + (unit - 256);
    return (u32 *)(w + 1) + v->strip * (lane / v->strip * v->vgprs + unit) + lane % v->strip;
}

/* The address of what a load has kept of its n-th register. */
static u32 *kept(struct shadow *v, u64 slot, u64 n, u64 unit, u64 lane)
{
    return v->late + slot * KEPT_WORDS + (unit >= 256 ? n : LANES * n + lane);
}

/* The stream whose ring an access is kept in: the first of those that it counts in. */
static u64 stream_of(u64 streams)
{
    return streams == 4 ? SMEM : streams & 1 ? VM : LDS;
}

static u64 lanes_of(u64 unit)
{
    return unit >= 256 ? 1 : LANES;
}

/* A load is about to be issued. */
EXPORT void hook_keep(struct wave *w, u64 streams, u64 first, u64 count)
{
    struct shadow *v = shadow_of(w);
    u64 stream = stream_of(streams);
    u64 slot = stream * RING + v->issued[stream] % RING;
    v->swapped[slot] = 0;
    for (u64 n = 0; n < count; n++)
        for (u64 lane = 0; lane < lanes_of(first); lane++)
            *kept(v, slot, n, first + n, lane) = *held(w, v, first + n, lane);
}

static void exchange(struct wave *w, struct shadow *v, u64 entry, u64 unit)
{
    u64 n = unit - v->first[entry], slot = v->kept[entry];
    v->swapped[slot] |= BIT(n);
    for (u64 lane = 0; lane < lanes_of(unit); lane++) {
        if (unit >= 256 || (v->asked[entry] >> lane) & 1) {
            u32 *here = held(w, v, unit, lane), *there = kept(v, slot, n, unit, lane), now = *here;
            *here = *there;
            *there = now;
        }
    }
}

static bool fills(struct shadow *v, u64 entry, u64 unit)
{
    return unit >= v->first[entry] && unit < v->first[entry] + v->count[entry];
}

static bool swapped(struct shadow *v, u64 entry, u64 unit)
{
    return (v->swapped[v->kept[entry]] >> (unit - v->first[entry])) & 1;
}

/* The register holds again what it held before the loads that are in flight. */
static void postpone(struct wave *w, struct shadow *v, u64 unit)
{
    u64 below = BIT(62);
    for (;;) {
        u64 youngest = 0, found = 0;
        for (u64 stream = 0; stream < 3; stream++) {
            for (u64 i = v->done[stream]; i < v->issued[stream]; i++) {
                u64 entry = stream * RING + i % RING;
                u64 number = v->entry[entry];
                if (number < below && number > youngest && fills(v, entry, unit)) {
                    youngest = number;
                    found = entry;
                }
            }
        }
        if (youngest == 0)
            return;
        below = youngest;
        if (!swapped(v, found, unit))
            exchange(w, v, found, unit);
    }
}

/* Whether a load in flight has been put off that fills the register. */
static bool is_postponed(struct shadow *v, u64 unit)
{
    for (u64 stream = 0; stream < 3; stream++) {
        for (u64 i = v->done[stream]; i < v->issued[stream]; i++) {
            u64 entry = stream * RING + i % RING;
            if (fills(v, entry, unit) && swapped(v, entry, unit))
                return true;
        }
    }
    return false;
}

/* A load has completed. */
static void arrive_late(struct wave *w, struct shadow *v, u64 entry)
{
    u64 first = v->first[entry];
    for (u64 unit = first; unit < first + v->count[entry]; unit++) {
        if (swapped(v, entry, unit))
            exchange(w, v, entry, unit);
    }
    v->swapped[v->kept[entry]] = 0;
}
