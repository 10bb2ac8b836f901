/* Addresses of memory accesses -> what they cost; see isa/timing/machine/coalescing.py. A row of addresses is a wave's, 32 lanes;
 * bit k of its mask is on where lane k takes part. What one and two periods before a row moved as a whole costs the same. */

/* Whether two rows have the same lanes on, and all 32 addresses of `a` lie `*apart` bytes after those of `b`. */
static bool alike(const int64_t *addresses, const int64_t *masks, int64_t a, int64_t b, int64_t *apart)
{
    const int64_t *one = addresses + LANES * a, *other = addresses + LANES * b;
    int64_t step = one[0] - other[0], differ = masks[a] ^ masks[b];
    for (int64_t lane = 0; lane < LANES; lane++)
        differ |= (one[lane] - other[lane]) ^ step;
    *apart = step;
    return !differ;
}

/* out[n]: LDS cycles of each access of `dwords` a lane; `lanes`: all 32 in the order of phases, `group` of them each. */
EXPORT int64_t collapse_lds(const int64_t *addresses, const int64_t *masks, int64_t n, int64_t dwords, int64_t group,
                            const int64_t *lanes, int64_t period, int64_t *out)
{
    for (int64_t a = 0; a < n; a++) {
        int64_t apart, before = a - period;
        if (period && before >= 0 && alike(addresses, masks, a, before, &apart) && apart % 4 == 0) {
            out[a] = out[before];
            continue;
        }
        before -= period;
        if (period && before >= 0 && alike(addresses, masks, a, before, &apart) && apart % 4 == 0) {
            out[a] = out[before];
            continue;
        }
        int64_t total = 0;
        for (int64_t begin = 0; begin < LANES; begin += group) {
            int64_t words[LANES * 4], count = 0, load[BANKS] = {0}, worst = 0;
            for (int64_t k = begin; k < begin + group; k++) {
                if (!(masks[a] >> lanes[k] & 1))
                    continue;
                for (int64_t d = 0; d < dwords; d++) {
                    int64_t word = addresses[LANES * a + lanes[k]] / 4 + d, j = 0;
                    while (j < count && words[j] != word)
                        j++;
                    if (j < count)
                        continue; /* another lane wants the same dword */
                    words[count++] = word;
                    int64_t turns = ++load[word & (BANKS - 1)];
                    worst = most(worst, turns);
                }
            }
            total += worst;
        }
        out[a] = most(total, 1);
    }
    return 0;
}

/* counts[n] and, one after the other, the distinct sectors of each access of `bytes` a lane in ascending order.
 * Returns how many there are. */
EXPORT int64_t collapse_sectors(const int64_t *addresses, const int64_t *masks, int64_t n, int64_t bytes,
                                int64_t period, int64_t *counts, int64_t *out)
{
    int64_t total = 0, oldest = 0; /* where the sectors of row a - period begin */
    for (int64_t a = 0; a < n; a++) {
        int64_t first = total, apart;
        if (period && a > period)
            oldest += counts[a - period - 1];
        if (period && a >= period && alike(addresses, masks, a, a - period, &apart) && apart % SECTOR == 0) {
            counts[a] = counts[a - period];
            for (int64_t k = 0; k < counts[a]; k++)
                out[total++] = out[oldest + k] + apart / SECTOR;
            continue;
        }
        for (int64_t lane = 0; lane < LANES; lane++) {
            if (!(masks[a] >> lane & 1))
                continue;
            int64_t address = addresses[LANES * a + lane];
            for (int64_t sector = address / SECTOR; sector <= (address + bytes - 1) / SECTOR; sector++) {
                int64_t at = total; /* insert in order, once */
                while (at > first && out[at - 1] > sector)
                    at--;
                if (at > first && out[at - 1] == sector)
                    continue;
                for (int64_t j = total++; j > at; j--)
                    out[j] = out[j - 1];
                out[at] = sector;
            }
        }
        counts[a] = total - first;
    }
    return total;
}
