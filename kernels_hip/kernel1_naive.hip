// Kernel 1, naive: one thread computes one element of C and reads all that it needs from global memory.
//
// C = alpha * A * B + beta * C, row-major, A is M x K, B is K x N. Any size: threads outside C do nothing.
// Launch: blocks of 16 x 16, grid ceil(N / 16) x ceil(M / 16).
#include <hip/hip_runtime.h>

extern "C" __global__ void __launch_bounds__(256)
    kernel1(const float *A, const float *B, float *C, int M, int N, int K, float alpha, float beta) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N)
        return;

    // 64-bit indices: a matrix may hold more than 2^31 elements.
    const float *a = A + (long long)row * K;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k)
        sum += a[k] * B[(long long)k * N + col];

    // With beta == 0 the caller's C may hold anything, NaN included, and is not read.
    float *c = C + (long long)row * N + col;
    if (beta == 0.0f)
        *c = alpha * sum;
    else
        *c = alpha * sum + beta * *c;
}
