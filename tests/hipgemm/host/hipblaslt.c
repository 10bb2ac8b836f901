// hipBLASLt as far as `hipgemm bench` needs it, by its documentation, on memory that the host reaches.
#include "products.h"
#include <stdlib.h>
#include <string.h>
struct layout { int type; uint64_t rows, columns; int64_t line; };
struct matmul { int compute, scale, ta, tb; };
struct answer { uint64_t algorithm[2]; size_t workspace; char more[40]; };
static void *handle_made = &handle_made;
static uint64_t allowed;
int hipblasLtCreate(void **handle) { *handle = handle_made; return 0; }
int hipblasLtMatrixLayoutCreate(struct layout **out, int type, uint64_t rows, uint64_t columns, int64_t line) {
    struct layout made = {type, rows, columns, line};
    if (line < (int64_t)rows) return 7;
    memcpy(*out = malloc(sizeof made), &made, sizeof made);
    return 0;
}
int hipblasLtMatmulDescCreate(struct matmul **out, int compute, int scale) {
    struct matmul made = {compute, scale, 111, 111};
    memcpy(*out = malloc(sizeof made), &made, sizeof made);
    return 0;
}
int hipblasLtMatmulDescSetAttribute(struct matmul *of, int attribute, const void *value, size_t size) {
    if (size != 4 || attribute > 1) return 7;
    memcpy(attribute ? &of->tb : &of->ta, value, 4);
    return 0;
}
int hipblasLtMatmulPreferenceCreate(void **out) { *out = &allowed; return 0; }
int hipblasLtMatmulPreferenceSetAttribute(void *of, int attribute, const void *value, size_t size) {
    if (of != &allowed || attribute != 1 || size != 8) return 7;
    memcpy(of, value, 8);
    return 0;
}
static int fits(const struct matmul *of, const struct layout *a, const struct layout *b, const struct layout *c) {
    uint64_t m = of->ta == 111 ? a->rows : a->columns, k = of->ta == 111 ? a->columns : a->rows;
    uint64_t other = of->tb == 111 ? b->rows : b->columns, n = of->tb == 111 ? b->columns : b->rows;
    if (k != other || c->rows != m || c->columns != n || a->type != b->type) return 0;
    return (a->type == 2 && c->type == 0 && of->compute == 2 && of->scale == 0) ||
           (a->type == 3 && c->type == 10 && of->compute == 9 && of->scale == 10);
}
int hipblasLtMatmulAlgoGetHeuristic(void *handle, struct matmul *of, struct layout *a, struct layout *b,
                                    struct layout *c, struct layout *d, void *wanted, int most, void *out, int *count) {
    struct answer found = {{0x1234, allowed}, 0, {0}};
    if (handle != handle_made || c != d || wanted != &allowed || most < 1) return 7;
    *count = fits(of, a, b, c);
    memcpy(out, &found, sizeof found);
    return 0;
}
int hipblasLtMatmul(void *handle, struct matmul *of, const void *alpha, const void *a, struct layout *la, const void *b,
                    struct layout *lb, const void *beta, const void *c, struct layout *lc, void *d, struct layout *ld,
                    const struct answer *algorithm, void *workspace, size_t bytes, void *stream) {
    if (handle != handle_made || c != d || lc != ld || !fits(of, la, lb, lc) || !stream || !workspace) return 7;
    if (algorithm->algorithm[0] != 0x1234 || bytes != algorithm->algorithm[1]) return 7;
    int k = of->ta == 111 ? la->columns : la->rows;
    struct product p = {of->ta, of->tb, lc->rows, lc->columns, k, la->line, lb->line, lc->line};
    if (la->type == 3) return product_of_bytes(p, alpha, a, b, beta, d);
    return product_of_halves(p, alpha, a, b, beta, d);
}
