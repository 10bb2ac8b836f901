// What compilers emit beyond straight arithmetic: calls, arrays in scratch and by M0, division, shuffles, atomics,
// narrow types, wide types, branches. One small kernel each, for one workgroup of 64.
#include <hip/hip_runtime.h>

extern "C" {

__device__ __noinline__ float grow(float a, int n) {
    for (int i = 0; i < n; i++)
        a = a * 1.5f + i;
    return a;
}
__global__ void calls(float *out, const float *a, int n) {
    const int i = threadIdx.x;
    out[i] = grow(a[i], n) + grow(a[i] * 2, n + 1);
}

// The index differs between lanes: scratch.
__global__ void private_array(float *out, const float *a, int n) {
    const int i = threadIdx.x;
    float t[16], sum = 0;
    for (int k = 0; k < 16; k++)
        t[k] = a[(i + k) % 64];
    for (int k = 0; k < n; k++)
        t[(k * 7 + n) & 15] += t[(k * 3 + i) & 15];
    for (int k = 0; k < 16; k++)
        sum += t[k];
    out[i] = sum;
}

// The index is the same in all lanes: registers by M0.
__global__ void uniform_array(float *out, const float *a, int n) {
    const int i = threadIdx.x;
    float t[16], sum = 0;
#pragma unroll
    for (int k = 0; k < 16; k++)
        t[k] = a[(i + k) % 64];
    for (int k = 0; k < n; k++)
        t[(k * 7 + n) & 15] += t[(k * 3) & 15];
#pragma unroll
    for (int k = 0; k < 16; k++)
        sum += t[k];
    out[i] = sum;
}

__global__ void divide32(float *out, const float *a, const float *b) { out[threadIdx.x] = a[threadIdx.x] / b[threadIdx.x]; }
__global__ void divide64(double *out, const double *a, const double *b) {
    out[threadIdx.x] = a[threadIdx.x] / b[threadIdx.x];
}
__global__ void root32(float *out, const float *a) { out[threadIdx.x] = __builtin_sqrtf(a[threadIdx.x]); }
__global__ void divide_int(int *out, const int *a, const int *b) {
    const int i = threadIdx.x;
    const unsigned x = a[i], y = b[i];
    out[i] = a[i] / b[i];
    out[i + 64] = a[i] % b[i];
    out[i + 128] = x / y;
    out[i + 192] = x % y;
}
__global__ void divide_long(long *out, const long *a, const long *b) {
    const int i = threadIdx.x;
    out[i] = a[i] / b[i];
    out[i + 64] = a[i] % b[i];
}

__global__ void exchange(int *out, const int *a) {
    const int i = threadIdx.x;
    int v = a[i];
    for (int d = 16; d; d >>= 1)
        v += __builtin_amdgcn_ds_bpermute(((i ^ d) & 31) << 2, v);
    out[i] = v;
    out[i + 64] = __builtin_amdgcn_ds_swizzle(a[i], 0x041f);
    out[i + 128] = __builtin_amdgcn_update_dpp(0, a[i], 0x111, 0xf, 0xf, true);
    out[i + 192] = __builtin_amdgcn_mbcnt_lo(~0u, 0) + __builtin_popcount(__builtin_amdgcn_ballot_w32(a[i] & 1));
    out[i + 256] = __builtin_amdgcn_readfirstlane(a[i]);
}

__global__ void histogram(int *out, const int *a, int *total) {
    __shared__ int count[32];
    const int i = threadIdx.x;
    if (i < 32)
        count[i] = 0;
    __syncthreads();
    __hip_atomic_fetch_add(&count[a[i] & 31], 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
    __syncthreads();
    if (i < 32) {
        out[i] = count[i];
        __hip_atomic_fetch_add(total, count[i], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        __hip_atomic_fetch_max(total + 1, count[i], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    }
}

__global__ void narrow(unsigned char *bytes, unsigned short *shorts, const signed char *a, const short *b) {
    const int i = threadIdx.x;
    bytes[i] = a[i] * b[i];
    shorts[i] = a[i] + b[i];
}
__global__ void halves(_Float16 *out, const _Float16 *a, const _Float16 *b) {
    const int i = threadIdx.x;
    out[i] = a[i] * b[i];
    out[i + 64] = a[i] / b[i];
    out[i + 128] = a[i] - b[i];
}
__global__ void doubles(double *out, const double *a, const float *b) {
    const int i = threadIdx.x;
    out[i] = __builtin_floor(a[i]) + (double)b[i];
    out[i + 64] = (double)(int)a[i];
    out[i + 128] = a[i] < b[i] ? a[i] : b[i];
}

__global__ void branches(int *out, const int *a, int n) {
    const int i = threadIdx.x;
    int v = a[i];
    switch (v & 7) {
    case 0: v += n; break;
    case 1: v *= n; break;
    case 2: v -= 3; break;
    case 3: v ^= n; break;
    case 5: v = __builtin_clz(v | 1); break;
    case 6: v = __builtin_ctz(v | 256); break;
    default: v = ~v;
    }
    while (v > 100 && n > 0) {
        v -= n * 3;
        if (v & 1)
            v -= 7;
    }
    out[i] = v;
}

__global__ void conversions(int *i32, long *i64, float *f32, const float *a) {
    const int i = threadIdx.x;
    i32[i] = (int)a[i];
    i32[i + 64] = (unsigned)a[i];
    i64[i] = (long)a[i];
    f32[i] = (float)((long)a[i] * 1000003);
    f32[i + 64] = __builtin_rintf(a[i]);
    f32[i + 128] = __builtin_ceilf(a[i]);
    f32[i + 192] = __builtin_fminf(a[i], 2.f);
    f32[i + 256] = __builtin_copysignf(1.f, a[i]);
    f32[i + 320] = __builtin_ldexpf(a[i], -3);
}
}
