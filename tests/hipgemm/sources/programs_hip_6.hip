#include <hip/hip_runtime.h>
#include <cstdio>
template <class V> __host__ __device__ float f(V a, V b) {
    V r;
    r.data = {a.data + b.data};
    r.data[1] += r.x;
    return r.y + a.data.z;
}
__global__ void k(float *out, float4 a, float4 b) { *out = f(a, b); }
int main() {
    float *d, h, x = 1;
    if (hipMalloc(&d, 4)) return 1;
    auto a = make_float4(x, 2, 3, 4), b = make_float4(5, 6, 7, 8);
    k<<<1, 1>>>(d, a, b);
    if (hipMemcpy(&h, d, 4, hipMemcpyDeviceToHost)) return 2;
    printf("%g %g\n", h, f(a, b));
}
