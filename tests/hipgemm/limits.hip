// Kernels of known cause: test_limits.py says what holds each, and at which launch.
#include <hip/hip_runtime.h>
typedef float f4 __attribute__((ext_vector_type(4)));
typedef float f8 __attribute__((ext_vector_type(8)));
typedef _Float16 h16 __attribute__((ext_vector_type(16)));
typedef _Float16 h2 __attribute__((ext_vector_type(2)));
typedef short s16 __attribute__((ext_vector_type(16)));
typedef int i2 __attribute__((ext_vector_type(2)));
typedef int i4 __attribute__((ext_vector_type(4)));
typedef int i8 __attribute__((ext_vector_type(8)));
#define KERNEL(n) extern "C" __global__ void __launch_bounds__(n)
#define ID (blockIdx.x * blockDim.x + threadIdx.x)

KERNEL(256) copy(float *y, const float *x, int n) { y[ID] = x[ID]; }
KERNEL(256) copy4(f4 *y, const f4 *x, int n) { y[ID] = x[ID] * 2.0f; }
KERNEL(256) sum_l2(f4 *y, const f4 *x, int n) {
  f4 s = 0;
  for (int i = threadIdx.x; i < n; i += 256) s += x[(i + blockIdx.x * 9973 * 256) & (n - 1)];
  y[ID] = s;
}
KERNEL(256) sum_l0(f4 *y, const f4 *x, int n) {
  f4 s;
#pragma unroll 16
  for (int r = 0; r < 256; r++) asm volatile("global_load_b128 %0, %1, off" : "=v"(s) : "v"(x + threadIdx.x));
  asm volatile("s_waitcnt vmcnt(0)" : "+v"(s));
  y[ID] = s;
}
KERNEL(256) lds_read(double *y, const double *x, int n) {
  __shared__ double t[2048];
  for (int i = threadIdx.x; i < 2048; i += 256) t[i] = x[i];
  __syncthreads();
  unsigned at = threadIdx.x * 8;
  double s;
#pragma unroll 32
  for (int r = 0; r < 512; r++) asm volatile("ds_load_b64 %0, %1 offset:2048" : "=v"(s) : "v"(at));
  asm volatile("s_waitcnt lgkmcnt(0)" : "+v"(s));
  y[ID] = s + t[threadIdx.x];
}
KERNEL(256) lds_read4(f4 *y, const f4 *x, int n) {
  __shared__ f4 t[1024];
  for (int i = threadIdx.x; i < 1024; i += 256) t[i] = x[i];
  __syncthreads();
  f4 s = 0;
#pragma unroll 8
  for (int r = 0; r < 512; r++) s += t[(r * 32 + threadIdx.x) & 1023];
  y[ID] = s;
}
KERNEL(256) lds_column(float *y, const float *x, int n) {
  __shared__ float t[32 * 64];
  for (int i = threadIdx.x; i < 2048; i += 256) t[i] = x[i];
  __syncthreads();
  float s = 0;
#pragma unroll 16
  for (int r = 0; r < 256; r++) s += t[(threadIdx.x % 32) * 64 + (r & 63)];
  y[ID] = s;
}
KERNEL(256) lds_scatter(float *y, const float *x, int n) {
  __shared__ float t[32 * 64];
  float s = x[ID];
  unsigned at = (threadIdx.x % 32) * 256;
#pragma unroll 16
  for (int r = 0; r < 256; r++) asm volatile("ds_store_b32 %0, %1 offset:64" :: "v"(at), "v"(s) : "memory");
  t[threadIdx.x] = s;
  __syncthreads();
  y[ID] = t[threadIdx.x];
}
KERNEL(1024) gather(float *y, const float *x, int n) {
  float s = 0;
#pragma unroll 1
  for (int r = 0; r < 64; r++) {
    s += x[((blockIdx.x * 37 + r * 11) * 1024 + threadIdx.x) & (n - 1)];
    for (int k = 0; k < 2; k++) s = __builtin_amdgcn_rcpf(s);
  }
  y[ID] = s;
}
KERNEL(64) load_chain(float *y, const float *x, int n) {
  float s = 0;
#pragma unroll 1
  for (int r = 0; r < 256; r++) {
    s += x[((r * 769 + blockIdx.x) * 32 + threadIdx.x) % n];
    asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
  }
  y[ID] = s;
}
KERNEL(32) lds_chain(int *y, const int *x, int n) {
  __shared__ int t[1024];
  for (int i = threadIdx.x; i < 1024; i += 32) t[i] = x[i] * 0 + i;
  __syncthreads();
  int i = threadIdx.x, s = 0;
#pragma unroll 1
  for (int r = 0; r < 1024; r++) { s += t[(i + r * 4) & 1023]; asm volatile("s_waitcnt lgkmcnt(0)" ::: "memory"); }
  y[ID] = s;
}
KERNEL(256) fma32(float *y, const float *x, int n) {
  float a[8], v = x[ID];
  for (int i = 0; i < 8; i++) a[i] = i;
#pragma unroll 8
  for (int r = 0; r < 512; r++)
#pragma unroll
    for (int i = 0; i < 8; i++) a[i] = __builtin_fmaf(a[i], v, 0.5f);
  float s = 0;
  for (int i = 0; i < 8; i++) s += a[i];
  y[ID] = s;
}
KERNEL(64) fma_chain(float *y, const float *x, int n) {
  float a = x[ID], v = a;
#pragma unroll 16
  for (int r = 0; r < 4096; r++) a = __builtin_fmaf(a, v, 0.5f);
  y[ID] = a;
}
KERNEL(256) fma64(double *y, const double *x, int n) {
  double v = x[ID], s = 1;
#pragma unroll
  for (int k = 0; k < 64; k++) s = __builtin_fma(s, v, 0.5);
  y[ID] = s;
}
KERNEL(256) div64(double *y, const double *x, int n) {
  double v = x[ID], s = 1;
  for (int k = 0; k < 8; k++) s = v / (s + 0.5);
  y[ID] = s;
}
KERNEL(256) hash(unsigned *y, const unsigned *x, int n) {
  unsigned v = x[ID];
#pragma unroll
  for (int k = 0; k < 64; k++) { v ^= v >> 13; v *= 0x5bd1e995u + k; v ^= v << 7; }
  y[ID] = v;
}
KERNEL(256) bits(unsigned *y, const unsigned *x, int n) {
  unsigned v = x[ID], w = v + 1;
#pragma unroll
  for (int k = 0; k < 128; k++) { v ^= v >> 13; w += v; v += w << 7; }
  y[ID] = v;
}
KERNEL(256) exponent(float *y, const float *x, int n) {
  float v = x[ID], w = v + 1;
#pragma unroll 8
  for (int k = 0; k < 128; k++) { v = __builtin_amdgcn_exp2f(v); w = __builtin_amdgcn_exp2f(w); }
  y[ID] = v + w;
}
KERNEL(256) roots(float *y, const float *x, int n) {
  float v = x[ID], w = v + 1, u = v + 2, t = v + 3;
#pragma unroll 8
  for (int k = 0; k < 64; k++) {
    v = __builtin_amdgcn_sqrtf(v); w = __builtin_amdgcn_rcpf(w);
    u = __builtin_amdgcn_rsqf(u); t = __builtin_amdgcn_logf(t);
  }
  y[ID] = v + w + u + t;
}
KERNEL(256) doubles(float *y, const float *x, int n) {  // constants without f
  float s = x[ID];
  for (int k = 0; k < 64; k++) s = s * 1.0009765625001 + 0.1;
  y[ID] = s;
}
KERNEL(256) convert(int *y, const int *x, int n) {
  int v = x[ID], w = v + 1, u = v + 2;
#pragma unroll 8
  for (int k = 0; k < 256; k++) {
    asm volatile("v_cvt_f32_i32 %0, %1" : "=v"(w) : "v"(v));
    asm volatile("v_cvt_f32_u32 %0, %1" : "=v"(u) : "v"(v));
  }
  y[ID] = v + w + u;
}
KERNEL(128) wmma_f16(f8 *y, const h16 *x, int n) {
  h16 a = x[threadIdx.x], b = x[threadIdx.x + 128];
  f8 c[4] = {};
  for (int r = 0; r < 256; r++)
    for (int i = 0; i < 4; i++) c[i] = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, c[i]);
  y[ID] = c[0] + c[1] + c[2] + c[3];
}
KERNEL(128) wmma_bf16(f8 *y, const s16 *x, int n) {
  s16 a = x[threadIdx.x], b = x[threadIdx.x + 128];
  f8 c[4] = {};
  for (int r = 0; r < 256; r++)
    for (int i = 0; i < 4; i++) c[i] = __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(a, b, c[i]);
  y[ID] = c[0] + c[1] + c[2] + c[3];
}
KERNEL(128) wmma_i8(i8 *y, const i4 *x, int n) {
  i4 a = x[threadIdx.x], b = x[threadIdx.x + 128];
  i8 c[4] = {};
  for (int r = 0; r < 256; r++)
    for (int i = 0; i < 4; i++) c[i] = __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(true, a, true, b, c[i], false);
  y[ID] = c[0] + c[1] + c[2] + c[3];
}
KERNEL(128) wmma_i4(i8 *y, const i2 *x, int n) {
  i2 a = x[threadIdx.x], b = x[threadIdx.x + 128];
  i8 c[4] = {};
  for (int r = 0; r < 256; r++)
    for (int i = 0; i < 4; i++) c[i] = __builtin_amdgcn_wmma_i32_16x16x16_iu4_w32(true, a, true, b, c[i], false);
  y[ID] = c[0] + c[1] + c[2] + c[3];
}
KERNEL(1024) work(float *y, const float *x, int n) {
  float a = x[ID], v = a;
#pragma unroll 16
  for (int r = 0; r < 4096; r++) a = __builtin_fmaf(a, v, 0.5f);
  y[ID] = a;
}
KERNEL(32) tiny(float *y, const float *x, int n) { if (threadIdx.x == 0) y[blockIdx.x & 7] = 1; }
KERNEL(1024) spill(float *y, const float *x, int n) {
  float v[240];
#pragma unroll
  for (int i = 0; i < 240; i++) v[i] = x[i * 1024 + threadIdx.x];
  for (int r = 0; r < 4; r++)
#pragma unroll
    for (int i = 0; i < 240; i++) v[i] += v[(i * 67 + 1) % 240];
  float s = 0;
#pragma unroll
  for (int i = 0; i < 240; i++) s += v[i];
  y[ID] = s;
}
KERNEL(256) indexed(float *y, const float *x, int n) {
  float v[64];
#pragma unroll
  for (int i = 0; i < 64; i++) v[i] = x[ID] + i;
  for (int r = 0; r < 64; r++) v[(r * n + 5) & 63] += v[(r * n + 11) & 63];
  float s = 0;
#pragma unroll
  for (int i = 0; i < 64; i++) s += v[i];
  y[ID] = s;
}
KERNEL(256) strided(float *y, const float *x, int n) {
  float s = 0;
  for (int r = 0; r < 4; r++) s += x[(ID * 64 + r * 16) & (n - 1)];
  y[ID] = s;
}
KERNEL(256) column_store(float *y, const float *x, int n) { y[(ID * 32) & (n - 1)] = x[ID]; }
KERNEL(256) sum7(float *y, const float *x, int n) {  // rows of 28 bytes, of which L0 keeps what is left
  float s = 0;
#pragma unroll 1
  for (int i = 0; i < 7; i++) s += x[ID * 7 + i];
  y[ID] = s;
}
KERNEL(256) put7(volatile float *y, const float *x, int n) {  // L0 is written through
  float s = x[ID];
#pragma unroll
  for (int i = 0; i < 7; i++) y[ID * 7 + i] = s + i;
}
KERNEL(256) bytes(unsigned char *y, const unsigned char *x, int n) { y[ID] = x[ID * 16] ^ 255; }
KERNEL(256) shuffle(int *y, const int *x, int n) {
  int a = x[ID], b = a + 1, c = a + 2, d = a + 3, at = ((threadIdx.x * 5 + 3) & 31) * 4;
#pragma unroll 16
  for (int k = 0; k < 256; k++) {
    a = __builtin_amdgcn_ds_bpermute(at, a); b = __builtin_amdgcn_ds_bpermute(at, b);
    c = __builtin_amdgcn_ds_bpermute(at, c); d = __builtin_amdgcn_ds_bpermute(at, d);
  }
  y[ID] = a + b + c + d;
}
KERNEL(256) lds_counts(int *y, const int *x, int n) {
  __shared__ int t[256];
  t[threadIdx.x] = 0;
  __syncthreads();
#pragma unroll 8
  for (int k = 0; k < 512; k++) atomicAdd(&t[(threadIdx.x * 7 + k * 5) & 255], 1);
  __syncthreads();
  y[ID] = t[threadIdx.x];
}
KERNEL(64) long_loop(float *y, const float *x, int n) {
  float a = x[ID], b = a, c = a, d = a;
#pragma unroll 1
  for (int r = 0; r < 4; r++) {
#pragma unroll
    for (int k = 0; k < 1500; k++) {
      a = __builtin_fmaf(a, 1.5f + k, b); b = __builtin_fmaf(b, 2.5f + k, c);
      c = __builtin_fmaf(c, 3.5f + k, d); d = __builtin_fmaf(d, 4.5f + k, a);
    }
  }
  y[ID] = a + b + c + d;
}
KERNEL(512) barriers(float *y, const float *x, int n) {
  float s = x[ID];
#pragma unroll 8
  for (int r = 0; r < 512; r++) { s += 1.0f; __syncthreads(); }
  y[ID] = s;
}
KERNEL(64) rows(float *y, const float *x, int n) {  // of 8 KB; eight lanes load a line of each
  float s = 0;
  const float *row = x + ID / 8 * 2048 + threadIdx.x % 8 * 4;
#pragma unroll 4
  for (int r = 0; r < 2048; r += 32) s += row[r] + row[r + 1] + row[r + 2] + row[r + 3];
  y[ID] = s;
}
KERNEL(256) halves(h2 *y, const float *x, int n) {
  h2 a = (h2)(_Float16)x[ID], b[8];
  for (int i = 0; i < 8; i++) b[i] = a + (_Float16)(float)i;
#pragma unroll 4
  for (int r = 0; r < 512; r++)
    for (int i = 0; i < 8; i++) b[i] = __builtin_elementwise_fma(a, b[i], b[i]);
  for (int i = 1; i < 8; i++) b[0] += b[i];
  y[ID] = b[0];
}
KERNEL(256) dots(int *y, const float *x, int n) {
  int a = threadIdx.x * 77777, b[8];
  for (int i = 0; i < 8; i++) b[i] = a + i;
#pragma unroll 4
  for (int r = 0; r < 512; r++)
    for (int i = 0; i < 8; i++) b[i] = __builtin_amdgcn_sudot4(true, a, true, b[i], b[i], false);
  for (int i = 1; i < 8; i++) b[0] += b[i];
  y[ID] = b[0];
}
KERNEL(256) atomics(int *y, const float *x, int n) {
  for (int r = 0; r < 16; r++) atomicAdd(y + ((ID * 16 + r * 4099) & 0xFFFFF), 1);
}
KERNEL(256) in_l1(float *y, const float *x, int n) {  // 128 KB
  float s = 0;
#pragma unroll 8
  for (int r = 0; r < 512; r++) s += x[(threadIdx.x * 4 + r * 1024) & 32767];
  y[ID] = s;
}
KERNEL(256) uniform(int *y, const float *x, int n) {
  int s = blockIdx.x | 1, t = n;
#pragma unroll 1
  for (int r = 0; r < 4096; r++) { s = s * 3 + 1; t ^= s >> 3; s += t & 7; t = (t << 1) - s; }
  y[ID] = s + t;
}
KERNEL(256) scalar_chain(int *y, const int *x, int n) {  // each load of a scalar is waited for
  int v, s = 0;
#pragma unroll 1
  for (int r = 0; r < n; r++) {
    asm volatile("s_load_b32 %0, %1, 0x0\ns_waitcnt lgkmcnt(0)" : "=s"(v) : "s"(x + (r & 63) * 16));
    s ^= v;
  }
  y[ID] = s;
}
KERNEL(256) histogram(int *y, const float *x, int n) {  // all lanes of a wave count in one bank
  __shared__ int h[2048];
  for (int i = threadIdx.x; i < 2048; i += 256) h[i] = 0;
  __syncthreads();
  for (int r = 0; r < 128; r++) atomicAdd(&h[((threadIdx.x + r) & 63) * 32], 1);
  __syncthreads();
  y[ID] = h[threadIdx.x];
}
KERNEL(256) in_l3(float *y, const f4 *x, int n) {  // 32 MB, again and again
  f4 s = 0;
  for (int p = 0; p < 8; p++)
#pragma unroll 4
    for (int r = 0; r < 16; r++) s += x[(ID + r * gridDim.x * 256) & (n - 1)];
  y[ID] = s[0] + s[1] + s[2] + s[3];
}
