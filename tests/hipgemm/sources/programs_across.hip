#include <hip/hip_runtime.h>
#include <cstdio>
extern __device__ int scaled(int);
extern __device__ int added;
__constant__ int factor = 3;
static __device__ int own = 1000;
void other();
__global__ void k(int *out) { out[threadIdx.x] = scaled(threadIdx.x) + added + own; }
int main() {
    int *d, h[4];
    if (hipMalloc(&d, 16)) return 1;
    other();
    k<<<1, 4>>>(d);
    if (hipMemcpy(h, d, 16, hipMemcpyDeviceToHost)) return 2;
    printf("%d %d %d %d\n", h[0], h[1], h[2], h[3]);
}
