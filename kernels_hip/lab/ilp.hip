// A GEMM written plainly, for what compilers make of it: each thread multiplies a TM x BK piece of A with a BK x TN piece
// of B out of LDS, in one of two ways.
//   NESTED=1   three nested loops; every multiply-add reads both factors from LDS
//   NESTED=0   for each k a column of A and a row of B into variables first, then all their products, unrolled
//
// C = alpha * A * B + beta * C, row-major, A is M x K, B is K x N. M is a multiple of 64, N of 32, K of 16. No matrix
// holds more than 2^31 elements. Launch: blocks of 256, grid N / 32 x M / 64.
#include <hip/hip_runtime.h>

#ifndef NESTED
#define NESTED 0
#endif

constexpr int BLOCK_SIZE = 256;
constexpr int BM = 64, BN = 32, BK = 16, TM = 4, TN = 2;
static_assert(BM / TM * (BN / TN) == BLOCK_SIZE, "a thread for each TM x TN elements");

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
    lab_ilp(const float *A, const float *B, float *C, int M, int N, int K, float alpha, float beta) {
    __shared__ float As[BM * BK];
    __shared__ float Bs[BK * BN];

    const int tid = threadIdx.x, ty = tid / (BN / TN), tx = tid % (BN / TN);
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;

    float c[TM][TN] = {};

    for (int tile = 0; tile < K; tile += BK) {
        for (int i = tid; i < BM * BK; i += BLOCK_SIZE)
            As[i] = A[K * (row0 + i / BK) + tile + i % BK];
        for (int i = tid; i < BK * BN; i += BLOCK_SIZE)
            Bs[i] = B[N * (tile + i / BN) + col0 + i % BN];
        __syncthreads();

#if NESTED
        for (int m = 0; m < TM; ++m)
            for (int n = 0; n < TN; ++n)
                for (int k = 0; k < BK; ++k)
                    c[m][n] += As[BK * (TM * ty + m) + k] * Bs[BN * k + TN * tx + n];
#else
        for (int k = 0; k < BK; ++k) {
            float a[TM], b[TN];
#pragma unroll
            for (int m = 0; m < TM; ++m)
                a[m] = As[BK * (TM * ty + m) + k];
#pragma unroll
            for (int n = 0; n < TN; ++n)
                b[n] = Bs[BN * k + TN * tx + n];
#pragma unroll
            for (int m = 0; m < TM; ++m)
#pragma unroll
                for (int n = 0; n < TN; ++n)
                    c[m][n] += a[m] * b[n];
        }
#endif
        __syncthreads();
    }

    // With beta == 0 the caller's C may hold anything, NaN included, and is not read.
    for (int m = 0; m < TM; ++m)
        for (int n = 0; n < TN; ++n) {
            float *out = &C[N * (row0 + TM * ty + m) + col0 + TN * tx + n];
            *out = beta == 0.0f ? alpha * c[m][n] : alpha * c[m][n] + beta * *out;
        }
}
