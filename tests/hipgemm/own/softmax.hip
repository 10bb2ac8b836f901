// out = softmax(in), one row a workgroup of 256 threads: the largest of a row, the sum of its exponentials, the quotients.
#include <hip/hip_runtime.h>

constexpr int THREADS = 256;

extern "C" __global__ void __launch_bounds__(THREADS) softmax(const float *in, float *out, int columns) {
    __shared__ float shared[THREADS];
    const float *row = in + (size_t)blockIdx.x * columns;
    float largest = -INFINITY;
    for (int i = threadIdx.x; i < columns; i += THREADS) largest = fmaxf(largest, row[i]);
    shared[threadIdx.x] = largest;
    __syncthreads();
    for (int step = THREADS / 2; step; step /= 2) {
        if (threadIdx.x < step) shared[threadIdx.x] = fmaxf(shared[threadIdx.x], shared[threadIdx.x + step]);
        __syncthreads();
    }
    largest = shared[0];
    __syncthreads();
    float sum = 0;
    for (int i = threadIdx.x; i < columns; i += THREADS) sum += expf(row[i] - largest);
    shared[threadIdx.x] = sum;
    __syncthreads();
    for (int step = THREADS / 2; step; step /= 2) {
        if (threadIdx.x < step) shared[threadIdx.x] += shared[threadIdx.x + step];
        __syncthreads();
    }
    for (int i = threadIdx.x; i < columns; i += THREADS)
        out[(size_t)blockIdx.x * columns + i] = expf(row[i] - largest) / shared[0];
}
