;; SOURCE

#include <hip/hip_runtime.h>
#define KERNELS(suffix, SYNC, ACROSS) \
K tree##suffix(float *o, const float *x) { \
  __shared__ float s[128]; int t = threadIdx.x; s[t] = x[t]; __syncthreads(); \
  for (int d = 64; d; d >>= 1) { if (t < d) s[t] += s[t + d]; SYNC; } \
  if (t == 0) o[0] = s[0]; } \
K blelloch##suffix(int *o, const int *x) { \
  __shared__ int s[256]; int t = threadIdx.x, off = 1; s[2 * t] = x[2 * t]; s[2 * t + 1] = x[2 * t + 1]; \
  for (int d = 128; d; d >>= 1) { \
    SYNC; if (t < d) { int a = off * (2 * t + 1) - 1, b = off * (2 * t + 2) - 1; s[b] += s[a]; } off *= 2; } \
  __syncthreads(); o[2 * t] = s[2 * t]; o[2 * t + 1] = s[2 * t + 1]; } \
K bitonic##suffix(int *x) { \
  __shared__ int s[128]; int t = threadIdx.x; s[t] = x[t]; __syncthreads(); \
  for (int k = 2; k <= 128; k <<= 1) for (int j = k >> 1; j; j >>= 1) { int p = t ^ j; \
    if (p > t) { int a = s[t], b = s[p]; if ((a > b) == ((t & k) == 0)) { s[t] = b; s[p] = a; } } SYNC; } \
  x[t] = s[t]; } \
K exchanged##suffix(float *o, const float *x, int rounds) { \
  __shared__ float s[2][128]; int t = threadIdx.x; float sum = 0; s[0][t] = x[t]; __syncthreads(); \
  for (int r = 0; r < rounds; r++) { sum += s[r & 1][127 - t]; s[(r & 1) ^ 1][t] = sum; SYNC; } o[t] = sum; } \
K wave##suffix(float *o, const float *x) { \
  __shared__ float s[4][32]; int w = threadIdx.x >> 5, l = threadIdx.x & 31; s[w][l] = x[threadIdx.x]; \
  __builtin_amdgcn_wave_barrier(); o[threadIdx.x] = s[w ^ (ACROSS)][31 - l]; } \
K thread##suffix(int *o, const int *x) { \
  __shared__ int s[16 * 128]; int t = threadIdx.x, sum = 0; \
  for (int k = 0; k < 16; k++) s[k * 128 + t] = x[t + k]; \
  for (int k = 0; k < 16; k++) sum = sum * 31 + s[(15 - k) * 128 + (t ^ (64 * (ACROSS)))]; o[t] = sum; } \
K halves##suffix(float *o, const float *x) { \
  __shared__ float s[128]; int t = threadIdx.x; if (t < 64) s[t] = x[t]; else s[t] = 2 * x[t]; \
  SYNC; o[t] = t < 64 ? s[t + 64] : s[t - 64]; } \
K rows##suffix(float *o, const float *x) { \
  __shared__ float s[16][64]; int t = threadIdx.x, y = threadIdx.y; float sum = 0; \
  for (int k = 0; k < 8; k++) s[y][8 * k + t] = x[64 * y + 8 * k + t]; \
  __builtin_amdgcn_wave_barrier(); \
  for (int k = 0; k < 8; k++) sum = sum * 3 + s[0][(64 * y + 8 * t + k + 256 * (ACROSS)) & 1023]; \
  o[8 * y + t] = sum; } \
K handed##suffix(float *o, const float *x) { \
  __shared__ float s[32]; __shared__ int full; int w = threadIdx.x >> 5, l = threadIdx.x & 31; \
  if (threadIdx.x == 0) full = 0; __syncthreads(); \
  if (w == 0) { s[l] = x[l]; __hip_atomic_store(&full, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP); } \
  else if (w == 1) { \
    if (!(ACROSS)) while (!__hip_atomic_load(&full, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP)); \
    o[l] = s[31 - l]; } } \
K size##suffix(float *o, const float *x) { \
  __shared__ float s[1024]; int t = threadIdx.x; s[t] = x[t]; SYNC; o[t] = s[blockDim.x - 1 - t]; }
#define K extern "C" __global__ void __launch_bounds__(128)
KERNELS(, __syncthreads(), 0)
KERNELS(_race, asm volatile("" ::: "memory"), 1)

;; FEW
;;   Arrays of 24 for the first n work-items of 128. The compiler may put either array first.
#include <hip/hip_runtime.h>
#define SYNC __syncthreads()
extern "C" __global__ void {bounds} few(float *o, const float *x, int n) {{
  __shared__ float a[{first}], b[24]; int t = threadIdx.x;
  if (t < n) a[t] = x[t];
  SYNC;
  if (t < n) b[t] = x[t + n] - a[t];
  {sync};
  o[t] = b[{read}]; }}

;; WAVES

#include <hip/hip_runtime.h>
#define K(name, own) extern "C" __global__ void name(float *o, const float *x) { \
  __shared__ alignas(64) float m; own; int t = threadIdx.x; s[t] = x[t]; __builtin_amdgcn_wave_barrier(); \
  if (t == 0) m = s[31]; __builtin_amdgcn_wave_barrier(); o[t] = m; }
K(one, __shared__ float s[32])
K(two, __shared__ float s[64])
K(half, __shared__ float s[48])
K(launch, extern __shared__ float s[])

