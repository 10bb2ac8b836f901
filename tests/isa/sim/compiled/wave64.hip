// For waves of 64 lanes (-mwavefrontsize64): the kernels of features.hip, and what lanes of both halves tell each other.
#define __builtin_amdgcn_ballot_w32(x) ((unsigned)__builtin_amdgcn_ballot_w64(x))
#include "features.hip"

extern "C" {

__global__ void across(int *out, const int *a, int n) {
    const int i = threadIdx.x;
    int v = a[i];
    unsigned long odd = __builtin_amdgcn_ballot_w64(v & 1);
    out[i] = __builtin_amdgcn_mbcnt_hi(odd >> 32, __builtin_amdgcn_mbcnt_lo((unsigned)odd, 0));
    out[i + 64] = __builtin_popcountl(odd);
    out[i + 128] = __builtin_amdgcn_readlane(v, n) + __builtin_amdgcn_readlane(v, n - 37);
    int w = v, at = __builtin_amdgcn_readfirstlane(n);
    asm("v_writelane_b32 %0, %1, %1" : "+v"(w) : "s"(at));
    out[i + 192] = w;
    out[i + 256] = __builtin_amdgcn_permlane64(v);
    for (int d = 16; d; d >>= 1)
        v += __builtin_amdgcn_ds_bpermute(((i ^ d) & 31) << 2, v);
    out[i + 320] = v + __builtin_amdgcn_permlane64(v);
    out[i + 384] = __builtin_amdgcn_update_dpp(7, a[i], 0x111, 0xa, 0xf, false);
    if (i > 40)
        out[i + 448] = __builtin_amdgcn_readfirstlane(a[i]);
    else
        out[i + 448] = __builtin_amdgcn_permlanex16(0, a[i], 0x76543210, 0xfedcba98, false, false);
}

__global__ void spilled(int *out, const int *a, int n) {
    volatile int t[4];
    const int i = threadIdx.x;
    for (int k = 0; k < 4; k++)
        t[k] = a[(i + k) & 63];
    __shared__ int all[64];
    all[63 - i] = t[n & 3];
    __syncthreads();
    out[i] = all[i] + t[(i + n) & 3];
    if (i >= 32 && a[i] > 500)
        __hip_atomic_fetch_add(&out[64], a[i], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

}
