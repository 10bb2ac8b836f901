// Kernel 4, double buffering of global memory in registers: kernel 3 that reads its next tile of A and B into registers
// before it works on this one, and moves it to LDS after, so that nobody waits for global memory.
//
// C = alpha * A * B + beta * C, row-major, A is M x K, B is K x N. M and N are multiples of 128, K of 8; no matrix
// holds more than 2^31 elements (int indices).
// Launch: blocks of 256, grid N / 128 x M / 128.
#include <hip/hip_runtime.h>

constexpr int BLOCK_SIZE = 256;
// The workgroup's tile of C is BM x BN; BK columns of A and rows of B are in LDS at a time.
constexpr int BM = 128, BN = 128, BK = 8;
// A thread computes blocks of TM x TN; a wave is 4 x 8 threads, and walks over its WM x WN part of the tile in
// ITER_M x ITER_N steps.
constexpr int TM = 4, TN = 4;
constexpr int THREADS_M = 4, THREADS_N = 8;
constexpr int WN = 64, WM = BM * BN / (BLOCK_SIZE / 32) / WN;
constexpr int ITER_M = WM / (THREADS_M * TM), ITER_N = WN / (THREADS_N * TN);
constexpr int SUB_M = WM / ITER_M, SUB_N = WN / ITER_N;
// A thread moves this many elements of each tile from global memory to LDS.
constexpr int READS_A = BM * BK / BLOCK_SIZE, READS_B = BN * BK / BLOCK_SIZE;
constexpr int STRIDE_A = BLOCK_SIZE / BK, STRIDE_B = BLOCK_SIZE / BN;

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
    kernel4(const float *A, const float *B, float *C, int M, int N, int K, float alpha, float beta) {
    __shared__ float As[BK][BM]; // A transposed
    __shared__ float Bs[BK][BN];

    // The caller never asks for less: then the loop below needs no way around it.
    __builtin_assume(K >= BK);

    const int tid = threadIdx.x;
    const int a_col = tid % BK, a_row = tid / BK;
    const int b_col = tid % BN, b_row = tid / BN;

    const int wave = tid / 32, lane = tid % 32;
    const int wave_row = wave / (BN / WN) * WM, wave_col = wave % (BN / WN) * WN;
    const int lane_row = lane / THREADS_N * TM, lane_col = lane % THREADS_N * TN;

    const int block_row = blockIdx.y * BM, block_col = blockIdx.x * BN;

    float c[ITER_M * TM][ITER_N * TN] = {};
    float next_a[READS_A], next_b[READS_B];

    // The first tile.
#pragma unroll
    for (int i = 0; i < READS_B; ++i)
        Bs[b_row + i * STRIDE_B][b_col] = B[N * (b_row + i * STRIDE_B) + block_col + b_col];
#pragma unroll
    for (int i = 0; i < READS_A; ++i)
        As[a_col][a_row + i * STRIDE_A] = A[K * (block_row + a_row + i * STRIDE_A) + a_col];
    __syncthreads();

    for (int tile = 0; tile < K; tile += BK) {
        // The next tile is on its way while this one is worked on. After the last there is none: the last is read
        // again, never past the end of A and B.
        const int next = tile + BK < K ? tile + BK : tile;
#pragma unroll
        for (int i = 0; i < READS_B; ++i)
            next_b[i] = B[N * (next + b_row + i * STRIDE_B) + block_col + b_col];
#pragma unroll
        for (int i = 0; i < READS_A; ++i)
            next_a[i] = A[K * (block_row + a_row + i * STRIDE_A) + next + a_col];

        // One step: a column of As times a row of Bs. Not unrolled: in one block with these steps the compiler sinks
        // the loads above below them, and their latency is bare again.
#pragma unroll 1
        for (int k = 0; k < BK; ++k) {
            float column[ITER_M * TM], row[ITER_N * TN];
#pragma unroll
            for (int m = 0; m < ITER_M * TM; ++m)
                column[m] = As[k][wave_row + m / TM * SUB_M + lane_row + m % TM];
#pragma unroll
            for (int n = 0; n < ITER_N * TN; ++n)
                row[n] = Bs[k][wave_col + n / TN * SUB_N + lane_col + n % TN];
#pragma unroll
            for (int m = 0; m < ITER_M * TM; ++m)
#pragma unroll
                for (int n = 0; n < ITER_N * TN; ++n)
                    c[m][n] += column[m] * row[n];
        }
        __syncthreads();

#pragma unroll
        for (int i = 0; i < READS_B; ++i)
            Bs[b_row + i * STRIDE_B][b_col] = next_b[i];
#pragma unroll
        for (int i = 0; i < READS_A; ++i)
            As[a_col][a_row + i * STRIDE_A] = next_a[i];
        __syncthreads();
    }

    // With beta == 0 the caller's C may hold anything, NaN included, and is not read.
    const int row0 = block_row + wave_row + lane_row, col0 = block_col + wave_col + lane_col;
    if (beta == 0.0f) {
#pragma unroll
        for (int m = 0; m < ITER_M * TM; ++m)
#pragma unroll
            for (int n = 0; n < ITER_N * TN; ++n)
                C[N * (row0 + m / TM * SUB_M + m % TM) + col0 + n / TN * SUB_N + n % TN] = alpha * c[m][n];
    } else {
#pragma unroll
        for (int m = 0; m < ITER_M * TM; ++m)
#pragma unroll
            for (int n = 0; n < ITER_N * TN; ++n) {
                float *out = &C[N * (row0 + m / TM * SUB_M + m % TM) + col0 + n / TN * SUB_N + n % TN];
                *out = alpha * c[m][n] + beta * *out;
            }
    }
}
