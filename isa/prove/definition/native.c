/* What the steps of native.py do to the state of a proof, wave by wave. A function that finds something which only the
   steps themselves know how to do or to refuse gives back 1, and has changed nothing that they read. */

static bool is_on(const struct state *w, int64_t i, int lane) { return !w->mask || w->mask[i * LANES + lane]; }

static uint64_t *vgpr(const struct state *w, int64_t reg, int64_t wave)
{
    return w->v + 2 * w->plane * reg + LANES * wave;
}

static const uint64_t *sgpr(const struct state *w, int64_t reg, int64_t wave)
{
    return w->s + 2 * w->waves * reg + wave;
}

#ifndef __clang__ /* which makes good loops at once */
#pragma GCC push_options
#pragma GCC optimize("O3")
#endif

/* --- float operations: (kind, target, x, y, z), a source as native.py's `code` writes it */

struct pair { uint64_t low, high; };

static bool is_nothing(struct pair x) { return !(x.low | x.high); }
static bool is_zero(struct pair x) { return !(x.low & 0x7fffffff) && !x.high; }
static bool is_one(struct pair x) { return x.low == 0x3f800000 && !x.high; }

static uint64_t factors(const struct state *w, int half, uint64_t x, uint64_t y)
{
    return (x + w->factor[half]) * (y + w->factor[half]);
}

static uint64_t mixed(uint64_t h, uint64_t multiplier)
{
    h = (h ^ h >> 29) * multiplier;
    return h ^ h >> 32;
}

static uint64_t product_sum(const struct state *w, int half, uint64_t x, uint64_t y, uint64_t z)
{
    uint64_t h = (factors(w, half, x, y) + z) * w->fma[half];
    return h ^ h >> 32;
}

static struct pair added(const struct state *w, struct pair x, struct pair y)
{
    return (struct pair){
        mixed((x.low + w->sum[0]) * (y.low + w->sum[0]), w->add[0]),
        mixed((x.high + w->sum[1]) * (y.high + w->sum[1]), w->add[1]),
    };
}

static struct pair multiplied(const struct state *w, struct pair x, struct pair y)
{
    if (w->signless && is_one(x))
        return y;
    if (w->signless && is_one(y))
        return x;
    if (w->signless && is_zero(x) && is_zero(y))
        return (struct pair){0, 0};
    return (struct pair){
        mixed(factors(w, 0, x.low, y.low), w->mul[0]), mixed(factors(w, 1, x.high, y.high), w->mul[1]),
    };
}

static struct pair fused(const struct state *w, struct pair x, struct pair y, struct pair z)
{
    if (w->signless ? is_zero(x) && is_zero(y) : is_nothing(x) && is_nothing(y) && is_nothing(z))
        return z;
    if (w->signless && is_zero(z))
        return multiplied(w, x, y);
    return (struct pair){
        product_sum(w, 0, x.low, y.low, z.low), product_sum(w, 1, x.high, y.high, z.high),
    };
}

struct source { const uint64_t *half[2]; uint64_t copies[2][LANES]; };

static void read_source(const struct state *w, int64_t code, int64_t wave, struct source *x)
{
    if (code >= 0 && code < VGPRS) {
        x->half[0] = vgpr(w, code, wave);
        x->half[1] = x->half[0] + w->plane;
        return;
    }
    const uint64_t *scalar = sgpr(w, code - VGPRS, wave);
    for (int lane = 0; lane < LANES; lane++) {
        x->copies[0][lane] = code < 0 ? (uint64_t)~code : scalar[0];
        x->copies[1][lane] = code < 0 ? 0 : scalar[w->waves];
    }
    x->half[0] = x->copies[0];
    x->half[1] = x->copies[1];
}

static struct pair at(const struct source *x, int lane)
{
    return (struct pair){x->half[0][lane], x->half[1][lane]};
}

/* Lane by lane, so that the target may be a source. */
static void multiply_add(const struct state *w, const struct source *x, const struct source *y, const struct source *z,
                         uint64_t *d)
{
    uint64_t any[LANES];
    for (int lane = 0; lane < LANES; lane++)
        any[lane] = x->half[0][lane] | x->half[1][lane] | y->half[0][lane] | y->half[1][lane] | z->half[0][lane] |
                    z->half[1][lane];
    for (int half = 0; half < 2; half++, d += w->plane) {
        const uint64_t *a = x->half[half], *b = y->half[half], *c = z->half[half];
        uint64_t factor = w->factor[half], multiplier = w->fma[half];
        for (int lane = 0; lane < LANES; lane++) {
            uint64_t h = ((a[lane] + factor) * (b[lane] + factor) + c[lane]) * multiplier;
            d[lane] = any[lane] ? h ^ h >> 32 : 0;
        }
    }
}

static void float_operation(const struct state *w, const int64_t *op, int64_t i)
{
    struct source x, y, z;
    uint64_t *d = vgpr(w, op[1], w->numbers[i]);
    read_source(w, op[2], w->numbers[i], &x);
    if (op[0] != MOVE)
        read_source(w, op[3], w->numbers[i], &y);
    if (op[0] == FMA)
        read_source(w, op[4], w->numbers[i], &z);
    if (op[0] == FMA && !w->signless && !w->mask) {
        multiply_add(w, &x, &y, &z, d);
        return;
    }
    if (op[0] == MOVE && !w->mask) {
        for (int half = 0; half < 2; half++, d += w->plane)
            for (int lane = 0; lane < LANES; lane++)
                d[lane] = x.half[half][lane];
        return;
    }
    for (int lane = 0; lane < LANES; lane++) {
        struct pair found = at(&x, lane);
        if (!is_on(w, i, lane))
            continue;
        if (op[0] == FMA)
            found = fused(w, found, at(&y, lane), at(&z, lane));
        else if (op[0] == MUL)
            found = multiplied(w, found, at(&y, lane));
        else if (op[0] == ADD)
            found = added(w, found, at(&y, lane));
        d[lane] = found.low;
        d[w->plane + lane] = found.high;
    }
}

EXPORT int floats(const struct state *w, const int64_t *ops, int64_t length)
{
    for (int64_t i = 0; i < w->count; i++)
        for (int64_t j = 0; j < length; j++)
            float_operation(w, ops + 5 * j, i);
    return 0;
}

/* --- products of matrix units, RDNA3's: (target, a, b, c or -1 for 0, words along k), and a number of their kind */

enum { SIDE = 16 };

EXPORT int matrix_product(const struct state *w, const int64_t *op, const uint64_t *kind)
{
    for (int64_t i = 0; i < w->count; i++)
        for (int64_t word = 0; word < 2 * op[4]; word++) {
            const uint64_t *x = vgpr(w, op[1 + (word >= op[4])] + word % op[4], w->numbers[i]);
            for (int lane = 0; lane < SIDE; lane++)
                if (x[lane] != x[lane + SIDE] || x[w->plane + lane] != x[w->plane + lane + SIDE])
                    return 1;
        }
    for (int64_t i = 0; i < w->count; i++)
        for (int row = 0; row < SIDE; row++) {
            int64_t wave = w->numbers[i], first = row % 2 * SIDE;
            uint64_t total[2][SIDE];
            for (int half = 0; half < 2; half++)
                for (int lane = 0; lane < SIDE; lane++)
                    total[half][lane] =
                        op[3] < 0 ? 0 : vgpr(w, op[3] + row / 2, wave)[half * w->plane + first + lane];
            for (int64_t word = 0; word < op[4]; word++) {
                const uint64_t *x = vgpr(w, op[1] + word, wave) + row, *y = vgpr(w, op[2] + word, wave);
                bool nothing = !(x[0] | x[w->plane]), zero[SIDE];
                for (int lane = 0; nothing && lane < SIDE; lane++)
                    zero[lane] = !(y[lane] | y[w->plane + lane] | total[0][lane] | total[1][lane]);
                for (int half = 0; half < 2; half++) {
                    uint64_t factor = w->factor[half], multiplier = w->fma[half], mark = kind[half];
                    uint64_t left = x[half * w->plane] + factor, *sum = total[half];
                    const uint64_t *right = y + half * w->plane;
                    for (int lane = 0; lane < SIDE; lane++) {
                        uint64_t h = (left * (right[lane] + factor) + sum[lane]) * multiplier;
                        sum[lane] = h ^ h >> 32 ^ mark;
                    }
                }
                for (int lane = 0; nothing && lane < SIDE; lane++)
                    if (zero[lane])
                        total[0][lane] = total[1][lane] = 0;
            }
            for (int half = 0; half < 2; half++)
                for (int lane = 0; lane < SIDE; lane++)
                    vgpr(w, op[0] + row / 2, wave)[half * w->plane + first + lane] = total[half][lane];
        }
    return 0;
}

#ifndef __clang__
#pragma GCC pop_options
#endif

/* --- bytes of words, as narrow.py packs them */

static bool unpacked(struct pair name, const struct state *w, uint64_t *bytes)
{
    if (!name.high) {
        for (int i = 0; i < 4; i++)
            bytes[i] = name.low >> 8 * i & 255;
    } else if (name.high >> 56 == BYTES_TAG && !(name.low & 0xF0000000F0000000)) {
        bytes[0] = name.low & 0xFFFFFFFF;
        bytes[1] = name.low >> 32;
        bytes[2] = name.high & 0xFFFFFFF;
        bytes[3] = name.high >> 28 & 0xFFFFFFF;
    } else if (name.low == w->open[0] && name.high == w->open[1]) {
        for (int i = 0; i < 4; i++)
            bytes[i] = UNKNOWN;
    } else {
        return false;
    }
    return true;
}

static struct pair packed(const uint64_t *bytes)
{
    if (bytes[0] < 256 && bytes[1] < 256 && bytes[2] < 256 && bytes[3] < 256)
        return (struct pair){bytes[0] | bytes[1] << 8 | bytes[2] << 16 | bytes[3] << 24, 0};
    return (struct pair){
        bytes[0] | bytes[1] << 32, bytes[2] | bytes[3] << 28 | (uint64_t)BYTES_TAG << 56,
    };
}

/* (target, first, second, selector), sources as of float operations */
EXPORT int permute(const struct state *w, const int64_t *op)
{
    for (int pass = 0; pass < 2; pass++) {
        uint64_t selector = 0;
        for (int64_t i = 0; i < w->count; i++) {
            struct source x, y, chosen;
            read_source(w, op[1], w->numbers[i], &x);
            read_source(w, op[2], w->numbers[i], &y);
            read_source(w, op[3], w->numbers[i], &chosen);
            selector = i ? selector : chosen.half[0][0];
            uint64_t *d = vgpr(w, op[0], w->numbers[i]);
            for (int lane = 0; lane < LANES; lane++) {
                uint64_t bytes[8], picked[4];
                if (chosen.half[0][lane] != selector || chosen.half[1][lane])
                    return 1;
                if (!is_on(w, i, lane))
                    continue;
                if (!unpacked(at(&y, lane), w, bytes) || !unpacked(at(&x, lane), w, bytes + 4))
                    return 1;
                for (int b = 0; b < 4; b++) {
                    uint64_t pick = selector >> 8 * b & 255;
                    if (pick > 7 && pick != ZERO_BYTE)
                        return 1;
                    picked[b] = pick < 8 ? bytes[pick] : 0;
                }
                if (pass) {
                    struct pair found = packed(picked);
                    d[lane] = found.low;
                    d[w->plane + lane] = found.high;
                }
            }
        }
    }
    return 0;
}

/* --- LDS: (address, parts), and of each part its offset, register and dwords */

static int64_t lds_at(const struct state *w, const int64_t *op, const int64_t *part, int64_t wave, int lane)
{
    const uint64_t *address = vgpr(w, op[0], wave) + lane;
    int64_t at = (int64_t)address[0] + part[0];
    if (address[w->plane] || at < 0 || at + 4 * part[2] > w->lds_bytes || at & 3)
        return -1;
    return w->group[wave] * w->lds_size + (at >> 2);
}

static bool is_foreign(const struct state *w, int64_t at, int64_t wave)
{
    int64_t written = w->lds_written[at];
    return written >= (int64_t)w->epoch[w->group[wave]] << 6 && (written & 63) != w->place[wave];
}

/* Fills w->found with where each lane's parts begin, -1 for lanes that are off; false where something is refused. */
static bool find_in_lds(const struct state *w, const int64_t *op, bool loads)
{
    int64_t all = w->groups * w->lds_size, *found = w->found;
    for (int64_t i = 0; i < w->count; i++) {
        int64_t wave = w->numbers[i];
        for (int lane = 0; lane < LANES; lane++)
            for (const int64_t *part = op + 2; part < op + 2 + 3 * op[1]; part += 3) {
                int64_t first = *found++ = is_on(w, i, lane) ? lds_at(w, op, part, wave, lane) : -1;
                if (first < 0 && is_on(w, i, lane))
                    return false;
                for (int64_t at = first; first >= 0 && at < first + part[2]; at++) {
                    if (is_foreign(w, at, wave))
                        return false;
                    for (int64_t other = 0; !loads && other < w->places; other++)
                        if (other != w->place[wave] && w->lds_read[other * all + at] == w->epoch[w->group[wave]])
                            return false;
                }
            }
    }
    return true;
}

EXPORT int lds_load(const struct state *w, const int64_t *op)
{
    int64_t all = w->groups * w->lds_size, *found = w->found;
    if (!find_in_lds(w, op, true))
        return 1;
    for (int64_t i = 0; i < w->count; i++) {
        int64_t wave = w->numbers[i];
        int32_t *marks = w->lds_read + w->place[wave] * all, epoch = w->epoch[w->group[wave]];
        for (int lane = 0; lane < LANES; lane++)
            for (const int64_t *part = op + 2; part < op + 2 + 3 * op[1]; part += 3) {
                int64_t at = *found++;
                for (int64_t d = 0; at >= 0 && d < part[2]; d++) {
                    uint64_t *to = vgpr(w, part[1] + d, wave) + lane;
                    marks[at + d] = epoch;
                    to[0] = w->lds[at + d];
                    to[w->plane] = w->lds[all + at + d];
                }
            }
    }
    return 0;
}

EXPORT int lds_store(const struct state *w, const int64_t *op)
{
    int64_t all = w->groups * w->lds_size;
    if (!find_in_lds(w, op, false))
        return 1;
    for (int verify = 0; verify < 2; verify++) {
        const int64_t *found = w->found;
        for (int64_t i = 0; i < w->count; i++) {
            int64_t wave = w->numbers[i], mark = (int64_t)w->epoch[w->group[wave]] * 64 + w->place[wave];
            for (int lane = 0; lane < LANES; lane++)
                for (const int64_t *part = op + 2; part < op + 2 + 3 * op[1]; part += 3) {
                    int64_t at = *found++;
                    for (int64_t d = 0; at >= 0 && d < part[2]; d++) {
                        const uint64_t *value = vgpr(w, part[1] + d, wave) + lane;
                        uint64_t *low = w->lds + at + d, *high = low + all;
                        if (verify && (w->lds_written[at + d] != mark || *low != value[0] || *high != value[w->plane]))
                            return 1;
                        w->lds_written[at + d] = mark;
                        *low = value[0];
                        *high = value[w->plane];
                    }
                }
        }
    }
    return 0;
}

/* --- global memory: (how the address is given, address, base, offset, register, dwords, half, bytes of a half,
   caches that are passed by) */

static bool address_of(const struct state *w, const int64_t *op, int64_t wave, int lane, struct pair *low,
                       struct pair *high, uint64_t *more)
{
    const uint64_t *v = vgpr(w, op[1], wave) + lane;
    if (op[0] == BESIDE) {
        const uint64_t *first = sgpr(w, op[2], wave), *second = sgpr(w, op[2] + 1, wave);
        *low = (struct pair){first[0], first[w->waves]};
        *high = (struct pair){second[0], second[w->waves]};
        *more = v[0];
        return !v[w->plane];
    }
    const uint64_t *upper = vgpr(w, op[1] + 1, wave) + lane;
    *low = (struct pair){v[0], v[w->plane]};
    *high = (struct pair){upper[0], upper[w->plane]};
    *more = 0;
    return true;
}

static bool offset_in(const struct state *w, const int64_t *op, const struct buffers *b, int64_t wave, int lane,
                      int64_t *offset)
{
    struct pair low, high;
    uint64_t more;
    if (!address_of(w, op, wave, lane, &low, &high, &more) || low.high != b->low_tag || high.high != b->high_tag ||
        low.low != (high.low & 0xFFFFFFFF))
        return false;
    *offset = (int64_t)(high.low + more + (uint64_t)op[3]);
    return true;
}

/* The buffers that the first lane accesses; nothing where no lane is on. found: whether these are known. */
static const struct buffers *buffers_of(const struct state *w, const int64_t *op, bool *found)
{
    for (int64_t i = 0; i < w->count; i++)
        for (int lane = 0; lane < LANES; lane++)
            if (is_on(w, i, lane)) {
                struct pair low, high;
                uint64_t more;
                *found = address_of(w, op, w->numbers[i], lane, &low, &high, &more);
                for (int64_t kind = 0; *found && kind < w->kinds; kind++)
                    if (w->buffers[kind].low_tag == low.high)
                        return w->buffers + kind;
                *found = false;
                return 0;
            }
    *found = true;
    return 0;
}

/* Of dwords, where the first is held in memory; -1 for those that may not be accessed. */
static int64_t dword_of(const struct buffers *b, int64_t launch, int64_t place, int64_t count, bool loads)
{
    if (place < 0 || place > 4 * (b->dwords[launch] - count) || place % 4)
        return -1;
    int64_t at = place / 4, line = b->line[launch];
    if (b->whole)
        return at + b->start[launch];
    if (line != b->width[launch] && at % line + count > b->width[launch])
        return -1;
    int64_t outer = at / line, inner = at % line, left = b->left[launch], right = b->right[launch];
    int64_t top = b->top[launch], bottom = b->bottom[launch], front = b->front[launch];
    bool inside = outer >= top && outer < bottom && inner >= left && inner + count <= right;
    inside |= right - left == line && at >= top * line && at + count <= bottom * line;
    if (at + count <= front)
        return at + b->start[launch];
    if (!inside)
        return loads ? b->elsewhere : -1;
    return front + (outer - top) * (right - left) + inner - left + b->start[launch];
}

static bool bytes_at(const struct buffers *b, int64_t launch, int64_t place, int64_t count, uint64_t *bytes)
{
    int64_t element = b->element, pitch = b->line[launch], width = b->width[launch];
    if (place < 0 || place > b->dwords[launch] - count)
        return false;
    if (pitch != width && place % (pitch * element) + count > width * element)
        return false;
    for (int64_t i = 0; i < count; i++) {
        int64_t number = (place + i) / element, outer = number / pitch, inner = number % pitch;
        int64_t line = b->along_k ? outer : inner, step = b->along_k ? inner : outer;
        bytes[i] = ELSEWHERE_BYTE;
        if (line >= b->top[launch] && line < b->bottom[launch])
            bytes[i] = b->first + ((line - b->top[launch]) * b->left[launch] + step - number) * element + place + i;
    }
    return true;
}

static bool load_bytes(const struct state *w, const struct buffers *b, const int64_t *op, int64_t wave, int lane,
                       int64_t offset, bool puts)
{
    uint64_t bytes[16];
    int64_t count = op[6] ? op[7] : 4 * op[5];
    if (!bytes_at(b, w->launch[wave], offset, count, bytes))
        return false;
    uint64_t *d = vgpr(w, op[4], wave) + lane;
    if (op[6]) {
        uint64_t held[4];
        if (!unpacked((struct pair){d[0], d[w->plane]}, w, held))
            return false;
        for (int i = 0; i < 2; i++)
            held[2 * (op[6] - 1) + i] = i < count ? bytes[i] : 0;
        for (int i = 0; i < 4; i++)
            bytes[i] = held[i];
        count = 4;
    }
    for (int64_t i = 0; puts && i < count / 4; i++) {
        struct pair found = packed(bytes + 4 * i);
        d = vgpr(w, op[4] + i, wave) + lane;
        d[0] = found.low;
        d[w->plane] = found.high;
    }
    return true;
}

/* Whether a wave may load a dword of the workspace: see access.py. past: caches that the load does not look into. */
static bool is_visible(const struct state *w, int64_t at, int64_t wave, int64_t past)
{
    int64_t by = w->by[at] / LANES;
    bool foreign = w->stored[at] && w->group[by] != w->group[wave];
    return !foreign || (w->nth[at] <= w->counted[by] && (w->fresh[wave] | past) == CACHES);
}

/* Fills w->found with where each lane's dwords are held, -1 for lanes that are off; false where something is refused. */
static bool find_dwords(const struct state *w, const int64_t *op, const struct buffers *b, bool loads)
{
    int64_t *found = w->found, offset;
    for (int64_t i = 0; i < w->count; i++) {
        int64_t wave = w->numbers[i], launch = w->launch[wave];
        for (int lane = 0; lane < LANES; lane++, found++) {
            *found = -1;
            if (!is_on(w, i, lane))
                continue;
            if (!offset_in(w, op, b, wave, lane, &offset) || (*found = dword_of(b, launch, offset, op[5], loads)) < 0)
                return false;
            for (int64_t d = 0; b->once && d < op[5]; d++)
                if (w->stored[*found + d] || (loads && !b->readable[launch]))
                    return false;
            for (int64_t d = 0; loads && b->shared && d < op[5]; d++)
                if (!is_visible(w, *found + d, wave, op[8]))
                    return false;
        }
    }
    return true;
}

EXPORT int global_load(const struct state *w, const int64_t *op)
{
    bool known;
    const struct buffers *b = buffers_of(w, op, &known);
    if (!b)
        return !known;
    if (!b->loads || (op[6] && !b->element) || (!b->element && !find_dwords(w, op, b, true)))
        return 1;
    for (int puts = !b->element; puts < 2; puts++) {
        const int64_t *found = w->found;
        for (int64_t i = 0; i < w->count; i++)
            for (int lane = 0; lane < LANES; lane++, found++) {
                int64_t wave = w->numbers[i], offset;
                if (!is_on(w, i, lane))
                    continue;
                if (b->element) {
                    if (!offset_in(w, op, b, wave, lane, &offset) || !load_bytes(w, b, op, wave, lane, offset, puts))
                        return 1;
                    continue;
                }
                for (int64_t d = 0; d < op[5]; d++) {
                    uint64_t *to = vgpr(w, op[4] + d, wave) + lane;
                    to[0] = w->names[*found + d];
                    to[w->plane] = w->names[w->dwords + *found + d];
                }
            }
    }
    return 0;
}

EXPORT int global_store(const struct state *w, const int64_t *op, int64_t number)
{
    bool known;
    const struct buffers *b = buffers_of(w, op, &known);
    if (!b)
        return !known;
    if (!b->stores || op[6] || !find_dwords(w, op, b, false))
        return 1;
    enum { CLAIM, VERIFY, STORE, PASSES };
    for (int pass = CLAIM; pass < PASSES; pass++) {
        const int64_t *found = w->found;
        for (int64_t i = 0; i < w->count; i++) {
            int64_t wave = w->numbers[i];
            bool any = false;
            for (int lane = 0; lane < LANES; lane++, found++) {
                int64_t by = wave * LANES + lane, at = *found;
                if (at < 0)
                    continue;
                w->stores[wave] += pass == STORE && !any;
                any = true;
                for (int64_t d = 0; d < op[5]; d++) {
                    const uint64_t *value = vgpr(w, op[4] + d, wave) + lane;
                    if (pass == CLAIM)
                        w->by[at + d] = by;
                    if (pass == VERIFY && w->by[at + d] != by)
                        return 1;
                    if (pass == STORE) {
                        w->stored[at + d] = (int32_t)number + 1;
                        w->nth[at + d] = w->stores[wave];
                        w->names[at + d] = value[0];
                        w->names[w->dwords + at + d] = value[w->plane];
                    }
                }
            }
        }
    }
    return 0;
}
