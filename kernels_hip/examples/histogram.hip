// bins[b] += how many of n bytes are b: each workgroup counts in LDS, and adds its 256 counts to those of all.
#include <hip/hip_runtime.h>

constexpr int BINS = 256;

extern "C" __global__ void __launch_bounds__(BINS) histogram(const unsigned char *in, unsigned *bins, int n) {
    __shared__ unsigned counts[BINS];
    counts[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * BINS + threadIdx.x; i < n; i += gridDim.x * BINS) atomicAdd(&counts[in[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}
