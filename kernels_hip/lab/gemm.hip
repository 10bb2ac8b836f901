// A tiled GEMM whose every choice is a number: the subject of the lab's experiments. Not meant to be fast.
//
// 16 x 16 threads compute a tile of C; A (transposed) and B pass through LDS, BK columns and rows at a time. Set by -D:
//   TM, TN   what a thread computes, TM x TN elements of C
//   BK       the depth of a tile of A and B in LDS
//   GW, LW   floats (1, 2 or 4) that one access moves: from global memory; from LDS to registers
//   PAD      floats after each row of As: with 4 rows keep their 16-byte alignment, and writes spread over banks
//   GUARD    any size: what lies outside of a matrix is read as 0 and not written (N and K multiples of GW)
//
// C = alpha * A * B + beta * C, row-major, A is M x K, B is K x N. Without GUARD M is a multiple of 16 TM, N of 16 TN,
// K of BK. No matrix holds more than 2^31 elements. Launch: blocks of 256, grid ceil(N / 16 TN) x ceil(M / 16 TM).
#include <hip/hip_runtime.h>

#ifndef TM
#define TM 4
#endif
#ifndef TN
#define TN 4
#endif
#ifndef BK
#define BK 16
#endif
#ifndef GW
#define GW 1
#endif
#ifndef LW
#define LW 1
#endif
#ifndef PAD
#define PAD 4
#endif
#ifndef GUARD
#define GUARD 0
#endif

constexpr int SIDE = 16, BLOCK_SIZE = SIDE * SIDE;
constexpr int BM = SIDE * TM, BN = SIDE * TN;
static_assert(TM % LW == 0 && TN % LW == 0 && BK % GW == 0 && BN % GW == 0, "an access must divide what it moves");

typedef float global_vector __attribute__((ext_vector_type(GW)));
typedef float lds_vector __attribute__((ext_vector_type(LW)));

// The i-th of a thread's elements along one side of the tile: accesses of LW, those of neighbour threads side by side.
__device__ __forceinline__ int place(int thread, int i) { return i / LW * (SIDE * LW) + thread * LW + i % LW; }

// The workgroup moves a tile of so many elements in so many rounds; in the last one some threads may have nothing to do.
constexpr int STEP = BLOCK_SIZE * GW;
__device__ __forceinline__ constexpr int rounds(int count) { return (count + STEP - 1) / STEP; }
__device__ __forceinline__ constexpr bool beyond(int i, int count) { return count % STEP != 0 && i >= count; }

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
    lab_gemm(const float *A, const float *B, float *C, int M, int N, int K, float alpha, float beta) {
    __shared__ __attribute__((aligned(16))) float As[BK][BM + PAD];
    __shared__ __attribute__((aligned(16))) float Bs[BK][BN];

    const int tid = threadIdx.x, ty = tid / SIDE, tx = tid % SIDE;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;

    float c[TM][TN] = {};

    for (int tile = 0; tile < K; tile += BK) {
        // All loads first, then all stores: else compilers wait for each load before they begin the next.
        global_vector a[rounds(BM * BK)], b[rounds(BK * BN)];
#pragma unroll
        for (int round = 0; round < rounds(BK * BN); ++round) {
            const int i = (round * BLOCK_SIZE + tid) * GW, k = i / BN, n = i % BN;
            b[round] = 0.0f;
            if (!beyond(i, BK * BN) && (!GUARD || (tile + k < K && col0 + n < N)))
                b[round] = *(const global_vector *)&B[N * (tile + k) + col0 + n];
        }
#pragma unroll
        for (int round = 0; round < rounds(BM * BK); ++round) {
            const int i = (round * BLOCK_SIZE + tid) * GW, m = i / BK, k = i % BK;
            a[round] = 0.0f;
            if (!beyond(i, BM * BK) && (!GUARD || (row0 + m < M && tile + k < K)))
                a[round] = *(const global_vector *)&A[K * (row0 + m) + tile + k];
        }
#pragma unroll
        for (int round = 0; round < rounds(BK * BN); ++round) {
            const int i = (round * BLOCK_SIZE + tid) * GW, k = i / BN, n = i % BN;
            if (!beyond(i, BK * BN))
                *(global_vector *)&Bs[k][n] = b[round];
        }
#pragma unroll
        for (int round = 0; round < rounds(BM * BK); ++round) {
            const int i = (round * BLOCK_SIZE + tid) * GW, m = i / BK, k = i % BK;
            if (!beyond(i, BM * BK))
#pragma unroll
                for (int j = 0; j < GW; ++j)
                    As[k + j][m] = a[round][j];
        }
        __syncthreads();

        for (int k = 0; k < BK; ++k) {
            float column[TM], row[TN];
#pragma unroll
            for (int m = 0; m < TM; m += LW) {
                const lds_vector a = *(const lds_vector *)&As[k][place(ty, m)];
#pragma unroll
                for (int j = 0; j < LW; ++j)
                    column[m + j] = a[j];
            }
#pragma unroll
            for (int n = 0; n < TN; n += LW) {
                const lds_vector b = *(const lds_vector *)&Bs[k][place(tx, n)];
#pragma unroll
                for (int j = 0; j < LW; ++j)
                    row[n + j] = b[j];
            }
#pragma unroll
            for (int m = 0; m < TM; ++m)
#pragma unroll
                for (int n = 0; n < TN; ++n)
                    c[m][n] += column[m] * row[n];
        }
        __syncthreads();
    }

    // With beta == 0 the caller's C may hold anything, NaN included, and is not read.
#pragma unroll
    for (int m = 0; m < TM; ++m)
#pragma unroll
        for (int n = 0; n < TN; ++n) {
            const int row = row0 + place(ty, m), col = col0 + place(tx, n);
            if (GUARD && (row >= M || col >= N))
                continue;
            float *out = &C[N * row + col];
            float sum = alpha * c[m][n];
            if (beta != 0.0f)
                sum += beta * *out;
            *out = sum;
        }
}
