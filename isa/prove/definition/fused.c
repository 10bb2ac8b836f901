/* One run of multiply-adds on names, wave by wave: see fused.py. An operation is (target, x, y, z), by VGPR. */
enum { LANES = 32 };

static void names_of(uint64_t *v, int64_t plane, const int64_t *op, const uint64_t *numbers)
{
    uint64_t *d = v + 2 * plane * op[0];
    const uint64_t *x = v + 2 * plane * op[1], *y = v + 2 * plane * op[2], *z = v + 2 * plane * op[3];
    uint64_t result[2][LANES], any[LANES];
    for (int lane = 0; lane < LANES; lane++)
        any[lane] = x[lane] | x[plane + lane] | y[lane] | y[plane + lane] | z[lane] | z[plane + lane];
    for (int half = 0; half < 2; half++) {
        uint64_t factor = numbers[half], multiplier = numbers[2 + half];
        for (int lane = 0; lane < LANES; lane++) {
            int64_t at = half * plane + lane;
            uint64_t h = ((x[at] + factor) * (y[at] + factor) + z[at]) * multiplier;
            result[half][lane] = any[lane] ? h ^ h >> 32 : 0;
        }
    }
    for (int half = 0; half < 2; half++)
        for (int lane = 0; lane < LANES; lane++)
            d[half * plane + lane] = result[half][lane];
}

EXPORT void multiply_adds(uint64_t *v, int64_t plane, const int64_t *waves, int64_t count, const int64_t *ops,
                          int64_t length, const uint64_t *numbers)
{
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < length; j++)
            names_of(v + LANES * waves[i], plane, ops + 4 * j, numbers);
}
