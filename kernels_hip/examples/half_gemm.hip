// C = A * transposed B, halves in, floats out, row-major: C is M x N, M a multiple of 16, N of 64, K of 16. A wave computes
// 16 x 16 of C with one matrix instruction for each 16 of K; a workgroup is four waves, side by side.
#include <hip/hip_runtime.h>

typedef _Float16 half16 __attribute__((ext_vector_type(16)));
typedef float float8 __attribute__((ext_vector_type(8)));

extern "C" __global__ void __launch_bounds__(128)
    half_gemm(const _Float16 *A, const _Float16 *B, float *C, int N, int K) {
    __builtin_assume(K >= 16);
    const int lane = threadIdx.x % 16, upper = threadIdx.x % 32 / 16;
    const int row = blockIdx.y * 16, column = blockIdx.x * 64 + threadIdx.x / 32 * 16;
    float8 sum = {};
    for (int k = 0; k < K; k += 16) { // lanes l and l + 16 hold row l of A and of B
        const half16 a = *(const half16 *)&A[(row + lane) * K + k];
        const half16 b = *(const half16 *)&B[(column + lane) * K + k];
        sum = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, sum);
    }
#pragma unroll
    for (int i = 0; i < 8; i++) C[(row + 2 * i + upper) * N + column + lane] = sum[i];
}
