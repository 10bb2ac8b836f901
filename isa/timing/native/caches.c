/* The caches of the whole chip under one round of workgroups; see isa/timing/model/caches.py. */

/* The set of a line: a hash of its number, or its low bits. */
static inline int64_t cache_set(int64_t line, int64_t sets, int64_t hashed)
{
    if (!hashed)
        return (uint32_t)(line & INT32_MAX) % (uint32_t)sets;
    return (uint32_t)((line ^ (line >> 7) ^ (line >> 14)) & INT32_MAX) % (uint32_t)sets;
}

EXPORT int64_t caches_set(int64_t line, int64_t sets, int64_t hashed)
{
    return cache_set(line, sets, hashed);
}

/* Look a line up in cache number `which` of a kind and put it there, at *place. True where it was there. A cache without
 * sets is none, and holds nothing: *place is -1. */
static bool touch_at(const struct cache *c, int64_t which, int64_t line, int64_t now, int64_t *place)
{
    *place = -1;
    if (!c->sets)
        return false;
    int64_t first = (which * c->sets + cache_set(line, c->sets, c->hashed)) * c->ways;
    int64_t *tags = c->tags + first, *used = c->used + first, victim = 0;
    for (int64_t way = 0; way < c->ways; way++) {
        if (tags[way] == line) {
            used[way] = now;
            *place = first + way;
            return true;
        }
        if (used[way] < used[victim])
            victim = way;
    }
    tags[victim] = line;
    used[victim] = now;
    *place = first + victim;
    if (c->dirty_n)
        c->dirty[*place] = 0;
    return false;
}

static bool touch(const struct cache *c, int64_t which, int64_t line, int64_t now)
{
    int64_t place;
    return touch_at(c, which, line, now, &place);
}

/* A sector is written. True where the cache holds it written already, so that this costs nothing further out. */
static bool written(const struct cache *c, int64_t sector, int64_t now)
{
    int64_t place;
    touch_at(c, 0, sector >> 2, now, &place);
    if (place < 0)
        return false;
    int64_t bit = (int64_t)1 << (sector & 3), known = c->dirty[place] & bit;
    c->dirty[place] |= bit;
    return known;
}

static inline uint64_t spread(uint64_t x)
{
    x *= 0x9E3779B97F4A7C15u;
    return x ^ x >> 32;
}

/* Whether a line was brought to L0 number `cu` before, in the same round of workgroups; it is from now on. All is
 * forgotten when there are too many. */
static bool brought_before(struct brought *set, int64_t line, int64_t cu, int64_t round)
{
    uint64_t hash = spread((uint64_t)line ^ (uint64_t)cu << 44 ^ (uint64_t)round << 52);
    uint32_t key = (uint32_t)(hash >> 32) | 1;
    for (uint64_t at = hash;; at++) {
        uint32_t *place = &set->keys[at & ((uint64_t)set->size - 1)];
        if (*place == key)
            return true;
        if (!*place) {
            *place = key;
            break;
        }
    }
    if (++set->n > set->most) {
        set->n = 0;
        for (int64_t k = 0; k < set->size; k++)
            set->keys[k] = 0;
    }
    return false;
}

enum { CROWD_LINES = 1024, CROWD_PLACES = 16, CROWD_CHANNELS = 24 };

/* Lines that came to L2 in turn, by their place in 2 KB, or to L3, by their channel. */
struct crowd {
    int64_t at[CROWD_CHANNELS], n;
};

/* The channel of a line; see isa/timing/model/caches.py. */
static int64_t channel_of(int64_t line, int64_t channels, int64_t bit)
{
    int64_t place = line >> 1, low = ((int64_t)1 << (bit - 8)) - 1;
    return (place >> (bit - 6) << (bit - 8) | (place & low)) % channels;
}

EXPORT int64_t caches_channel(int64_t line, int64_t channels, int64_t bit)
{
    return channel_of(line, channels, bit);
}

/* Another line, at a place. After CROWD_LINES of them the commonest place's are added to found[0], all to found[1]. */
static void crowds(struct crowd *c, int64_t place, int64_t *found)
{
    c->at[place]++;
    if (++c->n < CROWD_LINES)
        return;
    int64_t commonest = 0;
    for (int64_t k = 0; k < CROWD_CHANNELS; k++) {
        commonest = most(commonest, c->at[k]);
        c->at[k] = 0;
    }
    found[0] += commonest;
    found[1] += c->n;
    c->n = 0;
}

/* Fills found[2][n][5]: line loads of each instruction that L0, L1, L2, L3 and VRAM serve, first of lines that this L0
 * is brought for the first time, as one line of `one_of` tells; of a store, sectors that were written before and lie in
 * L2 or L3, and those that go to VRAM in the end. An atomic that returns is a load which L2 serves at the nearest. op:
 * the instruction of each access of the recording. keys[size]: room for lines that were brought. crowded[4]: of lines
 * loaded from L2 and beyond, those on the commonest place of each CROWD_LINES in turn, and all; the same of L3 and
 * channels. Returns how many accesses of a wave were played. */
EXPORT int64_t caches_play(const struct code *code, const struct recorded *rec, const int64_t *op,
                           const struct round *r, const struct cache *l0, const struct cache *l1,
                           const struct cache *l2, const struct cache *l3, int64_t *keys, int64_t size,
                           int64_t *found, int64_t *crowded)
{
    struct brought brought = {(uint32_t *)keys, 2 * size, size * 3 / 2, 0};
    int64_t now = 0, index = 0;
    struct crowd crowd = {0}, channel = {0};
    for (bool going = true; going && now < r->limit; index++) {
        going = false;
        for (int64_t g = r->first; g < least(r->first + r->resident, r->workgroups); g++) {
            int64_t unit = g % r->units;
            const int64_t *distance = &r->distance[(g - r->first) * r->columns];
            for (int64_t w = 0; w < r->waves; w++) {
                int64_t row = r->record[g - r->first] * r->waves + w, access = rec->mem_at[row] + index;
                if (access >= rec->mem_at[row + 1])
                    continue;
                going = true;
                int64_t i = op[access], cu = unit * r->cus_a_unit + w % r->cus_a_unit, previous = -1;
                int64_t shift = distance[r->column[w * code->kind_n + i]];
                if (code->private[i])
                    shift = (1LL << SCRATCH_BIT) + ((g - r->first) * r->waves + w) * r->scratch;
                for (int64_t k = rec->sector_at[access]; k < rec->sector_at[access + 1]; k++) {
                    int64_t sector = rec->sectors[k] + shift, line = sector >> 2;
                    if (code->kind[i] == STORE) {
                        now += line != previous;
                        previous = line;
                        found[5 * i + (written(l2, sector, now) ? 2 : written(l3, sector, now) ? 3 : 4)]++;
                        continue;
                    }
                    if (line == previous)
                        continue;
                    previous = line;
                    now++;
                    bool near = code->value[i] != ATOMIC;
                    int level = near && touch(l0, cu, line, now)                 ? 0
                                : near && touch(l1, unit % r->arrays, line, now) ? 1
                                : touch(l2, 0, line, now)                        ? 2
                                : touch(l3, 0, line, now)                        ? 3
                                                                                 : 4;
                    if (!(spread((uint64_t)line) >> 32 & (uint64_t)(r->one_of - 1))) {
                        bool again = !level || brought_before(&brought, line, cu, 0);
                        found[5 * (again * code->kind_n + i) + level] += r->one_of;
                    }
                    if (level > 1)
                        crowds(&crowd, line & (CROWD_PLACES - 1), crowded);
                    if (level > 2 && r->channels)
                        crowds(&channel, channel_of(line, r->channels, r->channel_bit), crowded + 2);
                }
            }
        }
    }
    return index;
}
