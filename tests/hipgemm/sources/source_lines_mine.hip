#include <hip/hip_runtime.h>
#include "sub/helpers.h"
#define LOAD(p, i) \
  (p)[i]
__device__ float inner(const float* x, int i) {
  return LOAD(x, i);
}
extern "C" __global__ void first(const float* x, const float* y, float* z) {
  float a = pick<7>(x, threadIdx.x);
  auto f = [&](int j) {
    return a + inner(y, j);
  };
  z[threadIdx.x] = f(threadIdx.x);
}
#line 100 "generated.in"
extern "C" __global__ void second(float* z) {
  __shared__ float held[64];
  held[threadIdx.x] = z[threadIdx.x];
  z[threadIdx.x] = held[63 - threadIdx.x];
}
