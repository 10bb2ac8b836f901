// out = softmax(in), one row of 1024 a workgroup of 256 threads: the largest of a row, the sum of its exponentials, the
// quotients. A thread keeps its four numbers; the threads exchange through LDS.
#include <hip/hip_runtime.h>

constexpr int THREADS = 256, EACH = 4;

extern "C" __global__ void __launch_bounds__(THREADS) softmax(const float *in, float *out) {
    __shared__ float shared[THREADS];
    const int tid = threadIdx.x, at = blockIdx.x * THREADS * EACH + tid;
    float x[EACH], largest = -INFINITY, sum = 0;
    for (int i = 0; i < EACH; i++) largest = fmaxf(largest, x[i] = in[at + THREADS * i]);
    for (int step = THREADS / 2; step; step /= 2) {
        shared[tid] = largest;
        __syncthreads();
        largest = fmaxf(largest, shared[tid ^ step]);
        __syncthreads();
    }
    for (int i = 0; i < EACH; i++) sum += x[i] = __expf(x[i] - largest);
    for (int step = THREADS / 2; step; step /= 2) {
        shared[tid] = sum;
        __syncthreads();
        sum += shared[tid ^ step];
        __syncthreads();
    }
    for (int i = 0; i < EACH; i++) out[at + THREADS * i] = x[i] / sum;
}
