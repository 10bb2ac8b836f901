// For waves of 64 lanes: accesses whose lanes and addresses follow from the work-item alone, in branches and loops.
#include <hip/hip_runtime.h>

extern "C" __global__ void ways(float *out, const float *a, int n) {
    __shared__ float tile[256];
    const int i = threadIdx.x;
    float sum = a[i * 3];
    if (i % 5 < 3)
        for (int k = i & 7; k < n; k += 3)
            sum += a[k * 64 + i];
    else if (i > 40)
        sum -= a[65536 - i * i];
    tile[(i * 2) & 255] = sum;
    __syncthreads();
    for (int step = n; step > 0; step /= 2) {
        if (i < step * 9)
            sum += tile[(i ^ step) & 255];
        if (i >= 32 && step == 2)
            out[i + step * 512] = sum;
    }
    out[blockIdx.x * 128 + i] = sum;
}
