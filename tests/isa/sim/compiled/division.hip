#include <hip/hip_runtime.h>

extern "C" __global__ void divide_f32(const float *a, const float *b, float *q) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  q[i] = a[i] / b[i];
}

extern "C" __global__ void divide_f64(const double *a, const double *b, double *q) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  q[i] = a[i] / b[i];
}
