// rocBLAS for programs that bring no header of it: what the simulated card's librocblas has, by ROCm's names, numbers and
// signatures (ROCm/rocBLAS, library/include/internal, 7.0). Elements of a batch are told by arrays of addresses.
#pragma once
#include <hip/hip_runtime.h>
#include <stdint.h>

typedef struct _rocblas_handle *rocblas_handle;
typedef int32_t rocblas_int;
typedef int64_t rocblas_stride;
#ifdef ROCM_USE_FLOAT16
typedef _Float16 rocblas_half;
#else
typedef struct { uint16_t data; } rocblas_half;
#endif
typedef struct { float x, y; } rocblas_float_complex;
typedef struct { double x, y; } rocblas_double_complex;

typedef enum { rocblas_operation_none = 111, rocblas_operation_transpose, rocblas_operation_conjugate_transpose } rocblas_operation;
typedef enum { rocblas_fill_upper = 121, rocblas_fill_lower, rocblas_fill_full } rocblas_fill;
typedef enum { rocblas_diagonal_non_unit = 131, rocblas_diagonal_unit } rocblas_diagonal;
typedef enum { rocblas_side_left = 141, rocblas_side_right, rocblas_side_both } rocblas_side;
typedef enum { rocblas_pointer_mode_host, rocblas_pointer_mode_device } rocblas_pointer_mode;
typedef enum { rocblas_gemm_algo_standard, rocblas_gemm_algo_solution_index } rocblas_gemm_algo;
typedef enum { rocblas_gemm_flags_none } rocblas_gemm_flags;
typedef enum {
    rocblas_datatype_f16_r = 150, rocblas_datatype_f32_r, rocblas_datatype_f64_r, rocblas_datatype_f16_c,
    rocblas_datatype_f32_c, rocblas_datatype_f64_c, rocblas_datatype_i8_r = 160, rocblas_datatype_u8_r,
    rocblas_datatype_i32_r, rocblas_datatype_u32_r, rocblas_datatype_bf16_r = 168, rocblas_datatype_bf16_c,
    rocblas_datatype_invalid = 255
} rocblas_datatype;
typedef enum {
    rocblas_status_success, rocblas_status_invalid_handle, rocblas_status_not_implemented,
    rocblas_status_invalid_pointer, rocblas_status_invalid_size, rocblas_status_memory_error,
    rocblas_status_internal_error, rocblas_status_perf_degraded, rocblas_status_size_query_mismatch,
    rocblas_status_size_increased, rocblas_status_size_unchanged, rocblas_status_invalid_value,
    rocblas_status_continue, rocblas_status_check_numerics_fail, rocblas_status_excluded_from_build,
    rocblas_status_arch_mismatch
} rocblas_status;

#define ROCBLAS_H rocblas_handle handle
#define ROCBLAS_OPS ROCBLAS_H, rocblas_operation opA, rocblas_operation opB, rocblas_int m, rocblas_int n, rocblas_int k
#define ROCBLAS_TRI ROCBLAS_H, rocblas_side side, rocblas_fill fill, rocblas_operation op, rocblas_diagonal diag, \
    rocblas_int m, rocblas_int n
#define ROCBLAS_PRODUCTS(L, T) \
    rocblas_status rocblas_##L##gemm(ROCBLAS_OPS, const T *alpha, const T *A, rocblas_int lda, const T *B, \
        rocblas_int ldb, const T *beta, T *C, rocblas_int ldc); \
    rocblas_status rocblas_##L##gemm_batched(ROCBLAS_OPS, const T *alpha, const T *const A[], rocblas_int lda, \
        const T *const B[], rocblas_int ldb, const T *beta, T *const C[], rocblas_int ldc, rocblas_int count); \
    rocblas_status rocblas_##L##gemm_strided_batched(ROCBLAS_OPS, const T *alpha, const T *A, rocblas_int lda, \
        rocblas_stride strideA, const T *B, rocblas_int ldb, rocblas_stride strideB, const T *beta, T *C, \
        rocblas_int ldc, rocblas_stride strideC, rocblas_int count);
#define ROCBLAS_OUTER(L, T, E) \
    rocblas_status rocblas_##L##ger##E(ROCBLAS_H, rocblas_int m, rocblas_int n, const T *alpha, const T *x, \
        rocblas_int incx, const T *y, rocblas_int incy, T *A, rocblas_int lda); \
    rocblas_status rocblas_##L##dot##E(ROCBLAS_H, rocblas_int n, const T *x, rocblas_int incx, const T *y, \
        rocblas_int incy, T *result);
#define ROCBLAS_ROUTINES(L, T, N, R) ROCBLAS_PRODUCTS(L, T) \
    rocblas_status rocblas_##L##trsm(ROCBLAS_TRI, const T *alpha, const T *A, rocblas_int lda, T *B, rocblas_int ldb); \
    rocblas_status rocblas_##L##trsm_batched(ROCBLAS_TRI, const T *alpha, const T *const A[], rocblas_int lda, \
        T *const B[], rocblas_int ldb, rocblas_int count); \
    rocblas_status rocblas_##L##gemv(ROCBLAS_H, rocblas_operation op, rocblas_int m, rocblas_int n, const T *alpha, \
        const T *A, rocblas_int lda, const T *x, rocblas_int incx, const T *beta, T *y, rocblas_int incy); \
    rocblas_status rocblas_##L##geam(ROCBLAS_H, rocblas_operation opA, rocblas_operation opB, rocblas_int m, \
        rocblas_int n, const T *alpha, const T *A, rocblas_int lda, const T *beta, const T *B, rocblas_int ldb, T *C, \
        rocblas_int ldc); \
    rocblas_status rocblas_##L##axpy(ROCBLAS_H, rocblas_int n, const T *alpha, const T *x, rocblas_int incx, T *y, \
        rocblas_int incy); \
    rocblas_status rocblas_##L##copy(ROCBLAS_H, rocblas_int n, const T *x, rocblas_int incx, T *y, rocblas_int incy); \
    rocblas_status rocblas_##L##scal(ROCBLAS_H, rocblas_int n, const T *alpha, T *x, rocblas_int incx); \
    rocblas_status rocblas_##N##nrm2(ROCBLAS_H, rocblas_int n, const T *x, rocblas_int incx, R *result);
#define ROCBLAS_LAST rocblas_datatype compute, rocblas_gemm_algo algorithm, int32_t solution, uint32_t flags

extern "C" {
rocblas_status rocblas_create_handle(rocblas_handle *handle);
rocblas_status rocblas_destroy_handle(ROCBLAS_H);
rocblas_status rocblas_set_stream(ROCBLAS_H, hipStream_t stream);
rocblas_status rocblas_get_stream(ROCBLAS_H, hipStream_t *stream);
rocblas_status rocblas_set_pointer_mode(ROCBLAS_H, rocblas_pointer_mode mode);
rocblas_status rocblas_get_pointer_mode(ROCBLAS_H, rocblas_pointer_mode *mode);
ROCBLAS_ROUTINES(s, float, s, float)
ROCBLAS_ROUTINES(d, double, d, double)
ROCBLAS_ROUTINES(c, rocblas_float_complex, sc, float)
ROCBLAS_ROUTINES(z, rocblas_double_complex, dz, double)
ROCBLAS_OUTER(s, float, )
ROCBLAS_OUTER(d, double, )
ROCBLAS_OUTER(c, rocblas_float_complex, u)
ROCBLAS_OUTER(c, rocblas_float_complex, c)
ROCBLAS_OUTER(z, rocblas_double_complex, u)
ROCBLAS_OUTER(z, rocblas_double_complex, c)
ROCBLAS_PRODUCTS(h, rocblas_half)
rocblas_status rocblas_gemm_ex(ROCBLAS_OPS, const void *alpha, const void *A, rocblas_datatype typeA, rocblas_int lda,
    const void *B, rocblas_datatype typeB, rocblas_int ldb, const void *beta, const void *C, rocblas_datatype typeC,
    rocblas_int ldc, void *D, rocblas_datatype typeD, rocblas_int ldd, ROCBLAS_LAST);
rocblas_status rocblas_gemm_batched_ex(ROCBLAS_OPS, const void *alpha, const void *A, rocblas_datatype typeA,
    rocblas_int lda, const void *B, rocblas_datatype typeB, rocblas_int ldb, const void *beta, const void *C,
    rocblas_datatype typeC, rocblas_int ldc, void *D, rocblas_datatype typeD, rocblas_int ldd, rocblas_int count,
    ROCBLAS_LAST);
rocblas_status rocblas_gemm_strided_batched_ex(ROCBLAS_OPS, const void *alpha, const void *A, rocblas_datatype typeA,
    rocblas_int lda, rocblas_stride strideA, const void *B, rocblas_datatype typeB, rocblas_int ldb,
    rocblas_stride strideB, const void *beta, const void *C, rocblas_datatype typeC, rocblas_int ldc,
    rocblas_stride strideC, void *D, rocblas_datatype typeD, rocblas_int ldd, rocblas_stride strideD, rocblas_int count,
    ROCBLAS_LAST);
}

static inline const char *rocblas_status_to_string(rocblas_status status) {
    static const char *const names[] = {
        "rocblas_status_success", "rocblas_status_invalid_handle", "rocblas_status_not_implemented",
        "rocblas_status_invalid_pointer", "rocblas_status_invalid_size", "rocblas_status_memory_error",
        "rocblas_status_internal_error", "rocblas_status_perf_degraded", "rocblas_status_size_query_mismatch",
        "rocblas_status_size_increased", "rocblas_status_size_unchanged", "rocblas_status_invalid_value",
        "rocblas_status_continue", "rocblas_status_check_numerics_fail", "rocblas_status_excluded_from_build",
        "rocblas_status_arch_mismatch"};
    return status <= rocblas_status_arch_mismatch ? names[status] : "<undefined rocblas_status value>";
}
