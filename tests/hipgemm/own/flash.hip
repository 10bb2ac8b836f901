#include <hip/hip_runtime.h>

#define D 8

// softmax(Q K^T) V with an online softmax: a lane has one row, the sum is scaled again wherever the maximum rises.
extern "C" __global__ void __launch_bounds__(32) flash(const float* q, const float* k, const float* v, float* o, int n) {
  __shared__ float ks[32][D], vs[32][D];
  const int row = blockIdx.x * 32 + threadIdx.x;
  float a[D], sum[D] = {0}, most = -1e30f, total = 0;
  for (int d = 0; d < D; d++) a[d] = q[row * D + d];
  for (int tile = 0; tile < n; tile += 32) {
    for (int d = 0; d < D; d++) {
      ks[threadIdx.x][d] = k[(tile + threadIdx.x) * D + d];
      vs[threadIdx.x][d] = v[(tile + threadIdx.x) * D + d];
    }
    __syncthreads();
    for (int c = 0; c < 32; c++) {
      float s = 0;
      for (int d = 0; d < D; d++) s += a[d] * ks[c][d];
      if (s > most) {
        const float scale = __expf(most - s);
        total *= scale;
        for (int d = 0; d < D; d++) sum[d] *= scale;
        most = s;
      }
      const float p = __expf(s - most);
      total += p;
      for (int d = 0; d < D; d++) sum[d] += p * vs[c][d];
    }
    __syncthreads();
  }
  for (int d = 0; d < D; d++) o[row * D + d] = sum[d] / total;
}

// An address that depends on data.
extern "C" __global__ void gather(const int* index, const float* x, float* y) {
  y[threadIdx.x] = x[index[threadIdx.x]];
}
