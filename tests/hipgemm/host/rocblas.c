// rocBLAS as far as kernel 0 needs it, by its documentation: column-major SGEMM and gemm_ex of f16 and int8, on memory
// that the host reaches.
#include "products.h"
#include <stddef.h>
#include <string.h>
static void *handle_made = &handle_made, *stream_set;
int rocblas_get_version_string(char *out, size_t room) { strncpy(out, "4.2.0.test", room); return 0; }
int rocblas_create_handle(void **handle) { *handle = handle_made; return 0; }
int rocblas_set_stream(void *handle, void *stream) { stream_set = stream; return handle != handle_made; }
int rocblas_sgemm(void *handle, int ta, int tb, int m, int n, int k, const float *alpha, const float *a, int lda,
                  const float *b, int ldb, const float *beta, float *c, int ldc) {
    if (handle != handle_made || ta != 111 || tb != 111 || !stream_set || lda < m || ldb < k || ldc < m) return 5;
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) {
            float sum = 0;
            for (int p = 0; p < k; ++p) sum += a[i + (size_t)p * lda] * b[p + (size_t)j * ldb];
            float *out = c + i + (size_t)j * ldc;
            *out = *beta == 0 ? *alpha * sum : *alpha * sum + *beta * *out;
        }
    return 0;
}
int rocblas_gemm_ex(void *handle, int ta, int tb, int m, int n, int k, const void *alpha, const void *a, int a_type,
                    int lda, const void *b, int b_type, int ldb, const void *beta, const void *c, int c_type, int ldc,
                    void *d, int d_type, int ldd, int compute, int algo, int solution, unsigned flags) {
    if (handle != handle_made || !stream_set || a_type != b_type || c != d || c_type != d_type || ldc != ldd) return 5;
    if (algo || solution || flags || lda < (ta == 111 ? m : k) || ldb < (tb == 111 ? k : n) || ldc < m) return 5;
    struct product p = {ta, tb, m, n, k, lda, ldb, ldc};
    if (a_type == 150 && c_type == 151 && compute == 151) return product_of_halves(p, alpha, a, b, beta, d);
    if (a_type == 160 && c_type == 162 && compute == 162) return product_of_bytes(p, alpha, a, b, beta, d);
    return 1;
}
