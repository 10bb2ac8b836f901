// A vector addition, c = a + b, and four sources that want more registers than it does. Set by -D:
//   WORK     0 the addition; 1 a chain of products from each; 2 values that stay in use; 3, 4 sums in 8, 12 registers
//   VGPRS    the most that the compiler may use
//   BLOCK    work-items of a workgroup
//
// n is at most 2^31 - BLOCK. Launch: blocks of BLOCK, grid ceil(n / BLOCK).
#include <hip/hip_runtime.h>

#ifndef WORK
#define WORK 0
#endif
#ifndef VGPRS
#define VGPRS 256
#endif
#ifndef BLOCK
#define BLOCK 256
#endif

constexpr int SUMS = WORK == 4 ? 12 : 8, ROUNDS = 32;

extern "C" __global__ void __attribute__((amdgpu_num_vgpr(VGPRS))) __launch_bounds__(BLOCK)
    lab_vector_add(const float *a, const float *b, float *c, int n) {
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    const float x = a[i], y = b[i];
    float result = x + y;
#if WORK == 1
    float t = x, u = y;
#pragma unroll
    for (int k = 0; k < 6; ++k)
        t *= 1.25f, u *= 0.75f;
    result = t + u;
#elif WORK == 2
    const float t0 = x * 1.25f, t1 = y * 0.75f, t2 = t0 + t1, t3 = t2 * 1.25f;
    const float t4 = t3 + t1, t5 = t4 + t0, t6 = t5 + t3, t7 = t6 + t4;
    result = t7 + x + y;
#elif WORK >= 3
    float sums[SUMS] = {};
#pragma unroll
    for (int k = 0; k < ROUNDS; ++k) {
        const float v = x * (k + 1), w = y * (k + 2);
#pragma unroll
        for (int s = 0; s < SUMS; ++s)
            sums[s] += (s % 2 ? w : v) * (1.0f + 0.125f * s);
    }
    result = 0.0f;
#pragma unroll
    for (int s = 0; s < SUMS; ++s)
        result += sums[s];
#endif
    c[i] = result;
}
