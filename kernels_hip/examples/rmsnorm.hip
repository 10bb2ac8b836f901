// out = in / sqrt(mean of in^2 + epsilon) * weight, in half precision, one row of 1024 a workgroup of 256 threads. Sums
// are in float: lanes add theirs by shuffles, the eight waves through LDS.
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

constexpr int THREADS = 256, WAVE = 32, EACH = 4, COLUMNS = THREADS * EACH;

extern "C" __global__ void __launch_bounds__(THREADS)
    rmsnorm(const __half *in, const __half *weight, __half *out, float epsilon) {
    __shared__ float sums[THREADS / WAVE];
    const int tid = threadIdx.x, row = blockIdx.x * COLUMNS;
    float x[EACH], sum = 0;
    for (int i = 0; i < EACH; i++) {
        x[i] = __half2float(in[row + THREADS * i + tid]);
        sum += x[i] * x[i];
    }
    for (int step = WAVE / 2; step; step /= 2) sum += __shfl_xor(sum, step, WAVE);
    if (tid % WAVE == 0) sums[tid / WAVE] = sum;
    __syncthreads();
    sum = 0;
    for (int i = 0; i < THREADS / WAVE; i++) sum += sums[i];
    const float scale = rsqrtf(sum / COLUMNS + epsilon);
    for (int i = 0; i < EACH; i++) {
        const int column = THREADS * i + tid;
        out[row + column] = __float2half(x[i] * scale * __half2float(weight[column]));
    }
}
