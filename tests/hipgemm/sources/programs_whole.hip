#include <hip/hip_runtime.h>
#include <cstdio>
#include <iostream>
#include <stdexcept>
#include <thread>
#include <vector>
#include "scale.h"
struct Last { ~Last() { std::cout << "destroyed" << std::endl; } } last;
static __device__ int counted;
__managed__ int shared_number = 5;
template <class T> __global__ void scale(T *x, float4 by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    x[i] = T(x[i] * by.x + by.w) + shared_number;
    atomicAdd(&counted, 1);
    if (i == 7) printf("lane %d of %d\n", i, warpSize == __AMDGCN_WAVEFRONT_SIZE ? int(warpSize) : 0);
}
int main(int argc, char **argv) {
    std::vector<double> x(N, 2.0);
    double *d;
    int count = 0;
    if (hipMalloc(&d, N * sizeof *d) || hipMemcpy(d, x.data(), N * sizeof *d, hipMemcpyHostToDevice)) return 1;
    printf("before\n");
    std::thread([&] { scale<<<dim3((N + 63) / 64), 64>>>(d, make_float4(3, 0, 0, 1), N); }).join();
    if (hipMemcpyFromSymbol(&count, counted, sizeof count)) return 2;
    if (hipMemcpy(x.data(), d, N * sizeof *d, hipMemcpyDeviceToHost)) return 3;
    printf("%g %g %d %s\n", x[0], x[N - 1], count, other(argv[1]));
    std::thread([] {}).join();
    try {
        void *wrong = nullptr;
        if (hipFree(&wrong) != hipSuccess) throw std::runtime_error(hipGetErrorName(hipGetLastError()));
    } catch (std::exception &error) {
        printf("%s\n", error.what());
    }
    return argc + 1;
}
