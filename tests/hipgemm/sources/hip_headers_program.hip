#include <hip/hip_runtime.h>
#include <chrono>
#include <iostream>
#include <random>
#include <vector>
#define OK(call) if (hipError_t e = (call); e != hipSuccess) { std::cerr << hipGetErrorString(e); return 1; }
__constant__ float factors[4];
template <class T> __host__ __device__ T twice(T x) { return x + x; }
__global__ void lost(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = twice(sqrtf(x[i])) * factors[i % 4];
}
int main(int argc, char **argv) {
    hipDeviceProp_t card;
    OK(hipGetDeviceProperties(&card, 0));
    const int n = argc > 1 ? atoi(argv[1]) : 1000;
    std::mt19937 random(5);
    std::vector<float> x(n), y(n);
    for (float &v : x) v = random() % 1000;
    float *d = nullptr, host[4] = {1, 2, 3, 4}, ms = 0;
    OK(hipMalloc(&d, n * sizeof(float)));
    OK(hipMemcpyToSymbol(HIP_SYMBOL(factors), host, sizeof host));
    hipStream_t stream;
    hipEvent_t start, stop;
    OK(hipStreamCreate(&stream));
    OK(hipEventCreate(&start));
    OK(hipEventCreate(&stop));
    OK(hipMemcpyAsync(d, x.data(), n * sizeof(float), hipMemcpyHostToDevice, stream));
    OK(hipEventRecord(start, stream));
    dim3 grid((n + 255) / 256), block(256);
    lost<<<grid, block, 0, stream>>>(d, n);
    hipLaunchKernelGGL(lost, grid, block, 0, stream, d, 0);
    OK(hipGetLastError());
    OK(hipEventRecord(stop));
    OK(hipMemcpy(y.data(), d, n * sizeof(float), hipMemcpyDeviceToHost));
    OK(hipEventElapsedTime(&ms, start, stop));
    for (int i = 0; i < n; i++)
        if (y[i] != twice(sqrtf(x[i])) * host[i % 4]) { std::cout << "wrong at " << i << "\n"; return 1; }
    std::cout << n << " right on " << card.gcnArchName << ", " << (ms > 0) << min(3, 4) << std::endl;
    return hipFree(d);
}
