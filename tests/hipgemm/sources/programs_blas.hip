// Both BLAS libraries from their headers: a product of two matrices by each, their first column's first words.
#include <hip/hip_runtime.h>
#include <hipblas/hipblas.h>
#include <rocblas/rocblas.h>
#include <cstdio>
__global__ void fill(float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = i % 7;
}
int main() {
    const int n = 64;
    float *a, *b, *c, one = 1, zero = 0, first[4], second[4];
    for (float **x : {&a, &b, &c})
        if (hipMalloc(x, n * n * 4)) return 1;
    fill<<<n, n>>>(a);
    fill<<<n, n>>>(b);
    hipblasHandle_t handle;
    rocblas_handle other;
    if (hipblasCreate(&handle) || rocblas_create_handle(&other)) return 3;
    auto said = hipblasSgemm(handle, HIPBLAS_OP_N, HIPBLAS_OP_T, n, n, n, &one, a, n, b, n, &zero, c, n);
    if (hipblasGetVector(4, 4, c, 1, first, 1)) return 4;
    const auto type = rocblas_datatype_f32_r;
    auto told = rocblas_gemm_ex(other, rocblas_operation_none, rocblas_operation_transpose, n, n, n, &one, a, type, n, b,
                                type, n, &zero, c, type, n, c, type, n, type, rocblas_gemm_algo_standard, 0, 0);
    if (hipMemcpy(second, c, 16, hipMemcpyDeviceToHost)) return 5;
    printf("%s %s\n", hipblasStatusToString(said), rocblas_status_to_string(told));
    printf("%g %g %g %g %g\n", first[0], first[1], first[2], first[3], second[3]);
    return hipblasDestroy(handle) || rocblas_destroy_handle(other);
}
