// hipBLAS for programs that bring no header of it: what the simulated card's libhipblas has, by ROCm's names, numbers and
// signatures (ROCm/hipBLAS, library/include/hipblas.h, 7.0). Elements of a batch are told by arrays of addresses.
#pragma once
#include <hip/hip_runtime.h>
#include <stdint.h>

typedef void *hipblasHandle_t;
typedef int64_t hipblasStride;
#ifdef HIPBLAS_USE_HIP_HALF
typedef __half hipblasHalf;
#else
typedef uint16_t hipblasHalf;
#endif
typedef hipFloatComplex hipblasComplex;
typedef hipDoubleComplex hipblasDoubleComplex;

typedef enum {
    HIPBLAS_STATUS_SUCCESS, HIPBLAS_STATUS_NOT_INITIALIZED, HIPBLAS_STATUS_ALLOC_FAILED, HIPBLAS_STATUS_INVALID_VALUE,
    HIPBLAS_STATUS_MAPPING_ERROR, HIPBLAS_STATUS_EXECUTION_FAILED, HIPBLAS_STATUS_INTERNAL_ERROR,
    HIPBLAS_STATUS_NOT_SUPPORTED, HIPBLAS_STATUS_ARCH_MISMATCH, HIPBLAS_STATUS_HANDLE_IS_NULLPTR,
    HIPBLAS_STATUS_INVALID_ENUM, HIPBLAS_STATUS_UNKNOWN
} hipblasStatus_t;
typedef enum { HIPBLAS_OP_N = 111, HIPBLAS_OP_T, HIPBLAS_OP_C } hipblasOperation_t;
typedef enum { HIPBLAS_POINTER_MODE_HOST, HIPBLAS_POINTER_MODE_DEVICE } hipblasPointerMode_t;
typedef enum { HIPBLAS_FILL_MODE_UPPER = 121, HIPBLAS_FILL_MODE_LOWER, HIPBLAS_FILL_MODE_FULL } hipblasFillMode_t;
typedef enum { HIPBLAS_DIAG_NON_UNIT = 131, HIPBLAS_DIAG_UNIT } hipblasDiagType_t;
typedef enum { HIPBLAS_SIDE_LEFT = 141, HIPBLAS_SIDE_RIGHT, HIPBLAS_SIDE_BOTH } hipblasSideMode_t;
typedef enum { HIPBLAS_GEMM_DEFAULT = 160 } hipblasGemmAlgo_t;
typedef enum {
    HIPBLAS_COMPUTE_16F, HIPBLAS_COMPUTE_16F_PEDANTIC, HIPBLAS_COMPUTE_32F, HIPBLAS_COMPUTE_32F_PEDANTIC,
    HIPBLAS_COMPUTE_32F_FAST_16F, HIPBLAS_COMPUTE_32F_FAST_16BF, HIPBLAS_COMPUTE_32F_FAST_TF32, HIPBLAS_COMPUTE_64F,
    HIPBLAS_COMPUTE_64F_PEDANTIC, HIPBLAS_COMPUTE_32I, HIPBLAS_COMPUTE_32I_PEDANTIC
} hipblasComputeType_t;

// Names of hipBLAS 2, as its HIPBLAS_V2 has them.
#define hipblasDatatype_t hipDataType
#define HIPBLAS_R_16F HIP_R_16F
#define HIPBLAS_R_16B HIP_R_16BF
#define HIPBLAS_R_32F HIP_R_32F
#define HIPBLAS_R_64F HIP_R_64F
#define HIPBLAS_C_32F HIP_C_32F
#define HIPBLAS_C_64F HIP_C_64F
#define HIPBLAS_R_8I HIP_R_8I
#define HIPBLAS_R_32I HIP_R_32I

#define HIPBLAS_H hipblasHandle_t handle
#define HIPBLAS_OPS HIPBLAS_H, hipblasOperation_t opA, hipblasOperation_t opB, int m, int n, int k
#define HIPBLAS_TRI HIPBLAS_H, hipblasSideMode_t side, hipblasFillMode_t fill, hipblasOperation_t op, \
    hipblasDiagType_t diag, int m, int n
#define HIPBLAS_PRODUCTS(L, T) \
    hipblasStatus_t hipblas##L##gemm(HIPBLAS_OPS, const T *alpha, const T *A, int lda, const T *B, int ldb, \
        const T *beta, T *C, int ldc); \
    hipblasStatus_t hipblas##L##gemmBatched(HIPBLAS_OPS, const T *alpha, const T *const A[], int lda, \
        const T *const B[], int ldb, const T *beta, T *const C[], int ldc, int count); \
    hipblasStatus_t hipblas##L##gemmStridedBatched(HIPBLAS_OPS, const T *alpha, const T *A, int lda, \
        hipblasStride strideA, const T *B, int ldb, hipblasStride strideB, const T *beta, T *C, int ldc, \
        hipblasStride strideC, int count);
#define HIPBLAS_OUTER(L, T, E) \
    hipblasStatus_t hipblas##L##ger##E(HIPBLAS_H, int m, int n, const T *alpha, const T *x, int incx, const T *y, \
        int incy, T *A, int lda); \
    hipblasStatus_t hipblas##L##dot##E(HIPBLAS_H, int n, const T *x, int incx, const T *y, int incy, T *result);
#define HIPBLAS_ROUTINES(L, T, N, R) HIPBLAS_PRODUCTS(L, T) \
    hipblasStatus_t hipblas##L##trsm(HIPBLAS_TRI, const T *alpha, const T *A, int lda, T *B, int ldb); \
    hipblasStatus_t hipblas##L##trsmBatched(HIPBLAS_TRI, const T *alpha, const T *const A[], int lda, T *const B[], \
        int ldb, int count); \
    hipblasStatus_t hipblas##L##gemv(HIPBLAS_H, hipblasOperation_t op, int m, int n, const T *alpha, const T *A, \
        int lda, const T *x, int incx, const T *beta, T *y, int incy); \
    hipblasStatus_t hipblas##L##geam(HIPBLAS_H, hipblasOperation_t opA, hipblasOperation_t opB, int m, int n, \
        const T *alpha, const T *A, int lda, const T *beta, const T *B, int ldb, T *C, int ldc); \
    hipblasStatus_t hipblas##L##axpy(HIPBLAS_H, int n, const T *alpha, const T *x, int incx, T *y, int incy); \
    hipblasStatus_t hipblas##L##copy(HIPBLAS_H, int n, const T *x, int incx, T *y, int incy); \
    hipblasStatus_t hipblas##L##scal(HIPBLAS_H, int n, const T *alpha, T *x, int incx); \
    hipblasStatus_t hipblas##N##nrm2(HIPBLAS_H, int n, const T *x, int incx, R *result);
#define HIPBLAS_GEMM_EX(V) \
    hipblasStatus_t hipblasGemmEx##V(HIPBLAS_OPS, const void *alpha, const void *A, hipDataType typeA, int lda, \
        const void *B, hipDataType typeB, int ldb, const void *beta, void *C, hipDataType typeC, int ldc, \
        hipblasComputeType_t compute, hipblasGemmAlgo_t algorithm); \
    hipblasStatus_t hipblasGemmBatchedEx##V(HIPBLAS_OPS, const void *alpha, const void *A[], hipDataType typeA, \
        int lda, const void *B[], hipDataType typeB, int ldb, const void *beta, void *C[], hipDataType typeC, int ldc, \
        int count, hipblasComputeType_t compute, hipblasGemmAlgo_t algorithm); \
    hipblasStatus_t hipblasGemmStridedBatchedEx##V(HIPBLAS_OPS, const void *alpha, const void *A, hipDataType typeA, \
        int lda, hipblasStride strideA, const void *B, hipDataType typeB, int ldb, hipblasStride strideB, \
        const void *beta, void *C, hipDataType typeC, int ldc, hipblasStride strideC, int count, \
        hipblasComputeType_t compute, hipblasGemmAlgo_t algorithm);

extern "C" {
hipblasStatus_t hipblasCreate(hipblasHandle_t *handle);
hipblasStatus_t hipblasDestroy(HIPBLAS_H);
hipblasStatus_t hipblasSetStream(HIPBLAS_H, hipStream_t stream);
hipblasStatus_t hipblasGetStream(HIPBLAS_H, hipStream_t *stream);
hipblasStatus_t hipblasSetPointerMode(HIPBLAS_H, hipblasPointerMode_t mode);
hipblasStatus_t hipblasGetPointerMode(HIPBLAS_H, hipblasPointerMode_t *mode);
HIPBLAS_ROUTINES(S, float, S, float)
HIPBLAS_ROUTINES(D, double, D, double)
HIPBLAS_ROUTINES(C, hipblasComplex, Sc, float)
HIPBLAS_ROUTINES(Z, hipblasDoubleComplex, Dz, double)
HIPBLAS_OUTER(S, float, )
HIPBLAS_OUTER(D, double, )
HIPBLAS_OUTER(C, hipblasComplex, u)
HIPBLAS_OUTER(C, hipblasComplex, c)
HIPBLAS_OUTER(Z, hipblasDoubleComplex, u)
HIPBLAS_OUTER(Z, hipblasDoubleComplex, c)
HIPBLAS_PRODUCTS(H, hipblasHalf)
HIPBLAS_GEMM_EX()
HIPBLAS_GEMM_EX(_v2)
}

static inline hipblasStatus_t hipblasMoved(int rows, int columns, size_t size, const void *from, int stepFrom, void *to,
                                           int stepTo, hipMemcpyKind kind) {
    hipError_t found = hipMemcpy2D(to, stepTo * size, from, stepFrom * size, rows * size, columns, kind);
    return found == hipSuccess ? HIPBLAS_STATUS_SUCCESS : HIPBLAS_STATUS_MAPPING_ERROR;
}
static inline hipblasStatus_t hipblasSetVector(int n, int size, const void *x, int incx, void *y, int incy) {
    return hipblasMoved(1, n, size, x, incx, y, incy, hipMemcpyHostToDevice);
}
static inline hipblasStatus_t hipblasGetVector(int n, int size, const void *x, int incx, void *y, int incy) {
    return hipblasMoved(1, n, size, x, incx, y, incy, hipMemcpyDeviceToHost);
}
static inline hipblasStatus_t hipblasSetMatrix(int m, int n, int size, const void *A, int lda, void *B, int ldb) {
    return hipblasMoved(m, n, size, A, lda, B, ldb, hipMemcpyHostToDevice);
}
static inline hipblasStatus_t hipblasGetMatrix(int m, int n, int size, const void *A, int lda, void *B, int ldb) {
    return hipblasMoved(m, n, size, A, lda, B, ldb, hipMemcpyDeviceToHost);
}
static inline const char *hipblasStatusToString(hipblasStatus_t status) {
    static const char *const names[] = {
        "HIPBLAS_STATUS_SUCCESS", "HIPBLAS_STATUS_NOT_INITIALIZED", "HIPBLAS_STATUS_ALLOC_FAILED",
        "HIPBLAS_STATUS_INVALID_VALUE", "HIPBLAS_STATUS_MAPPING_ERROR", "HIPBLAS_STATUS_EXECUTION_FAILED",
        "HIPBLAS_STATUS_INTERNAL_ERROR", "HIPBLAS_STATUS_NOT_SUPPORTED", "HIPBLAS_STATUS_ARCH_MISMATCH",
        "HIPBLAS_STATUS_HANDLE_IS_NULLPTR", "HIPBLAS_STATUS_INVALID_ENUM", "HIPBLAS_STATUS_UNKNOWN"};
    return names[status < HIPBLAS_STATUS_UNKNOWN ? status : HIPBLAS_STATUS_UNKNOWN];
}
