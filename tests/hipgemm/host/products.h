// op(A) op(B), column-major: what the small libraries compute. 111 is an operand as it is, 112 its transpose.
#include <stddef.h>
#include <stdint.h>
struct product { int ta, tb, m, n, k, lda, ldb, ldc; };
#define PRODUCT(NAME, FACTOR, RESULT)                                                                                  \
    static int NAME(struct product p, const RESULT *alpha, const FACTOR *a, const FACTOR *b, const RESULT *beta,       \
                    RESULT *c) {                                                                                       \
        for (int j = 0; j < p.n; ++j)                                                                                  \
            for (int i = 0; i < p.m; ++i) {                                                                            \
                RESULT sum = 0, *out = c + i + (size_t)j * p.ldc;                                                      \
                for (int q = 0; q < p.k; ++q)                                                                          \
                    sum += (RESULT)a[p.ta == 111 ? i + (size_t)q * p.lda : q + (size_t)i * p.lda] *                    \
                           (RESULT)b[p.tb == 111 ? q + (size_t)j * p.ldb : j + (size_t)q * p.ldb];                     \
                *out = *beta == 0 ? *alpha * sum : *alpha * sum + *beta * *out;                                        \
            }                                                                                                          \
        return 0;                                                                                                      \
    }
PRODUCT(product_of_halves, _Float16, float)
PRODUCT(product_of_bytes, int8_t, int32_t)
