// Kernel 2, LDS tiling: a workgroup computes a 32 x 32 tile of C; A and B pass through LDS in tiles of 32 x 32, so
// that each element is read from global memory once a workgroup and not once a thread.
//
// C = alpha * A * B + beta * C, row-major, A is M x K, B is K x N. M, N and K are multiples of 32.
// Launch: blocks of 32 x 32, grid N / 32 x M / 32.
#include <hip/hip_runtime.h>

constexpr int TILE = 32;

extern "C" __global__ void __launch_bounds__(TILE *TILE)
    kernel2(const float *A, const float *B, float *C, int M, int N, int K, float alpha, float beta) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];

    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int row = blockIdx.y * TILE + y;
    const int col = blockIdx.x * TILE + x;

    float sum = 0.0f;
    for (int tile = 0; tile < K; tile += TILE) {
        // Neighbouring threads read neighbouring columns: one 128 B line a wave.
        As[y][x] = A[(long long)row * K + (tile + x)];
        Bs[y][x] = B[(long long)(tile + y) * N + col];
        __syncthreads();

        for (int k = 0; k < TILE; ++k)
            sum += As[y][k] * Bs[k][x];
        __syncthreads();
    }

    // With beta == 0 the caller's C may hold anything, NaN included, and is not read.
    float *c = C + (long long)row * N + col;
    if (beta == 0.0f)
        *c = alpha * sum;
    else
        *c = alpha * sum + beta * *c;
}
