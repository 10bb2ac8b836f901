#include <hip/hip_runtime.h>
#include <cstdio>
static __device__ float hidden;
float other();
__global__ void scale(float *x, float a) {
    int i = __builtin_amdgcn_workitem_id_x();  // what threadIdx is depends on AMD's libraries
    x[i] = x[i] * a + hidden;
}
int main() {
    float *x, y[64], one = 1;
    for (int i = 0; i < 64; i++) y[i] = i;
    if (hipMalloc((void **)&x, sizeof y) || hipMemcpyToSymbol(HIP_SYMBOL(hidden), &one, 4)) return 2;
    (void)hipMemcpy(x, y, sizeof y, hipMemcpyHostToDevice);
    scale<<<1, 64>>>(x, 3);
    (void)hipMemcpy(y, x, sizeof y, hipMemcpyDeviceToHost);
    for (int i = 0; i < 64; i++) if (y[i] != 3 * i + 1) return 1;
    if (other() != 5) return 3;
    std::printf("right\n");
}
