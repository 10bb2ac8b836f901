// Kernels with one inefficiency each, and the same without it where FIX is 1: test_gains.py says which rule is to name it.
#include <hip/hip_runtime.h>
typedef float f4 __attribute__((ext_vector_type(4)));
#define ID (blockIdx.x * blockDim.x + threadIdx.x)

#define BOTH(name, bad, good) \
  extern "C" __global__ void __launch_bounds__(bad) name##_bad(float *y, const float *x, int n) { name##_of<0>(y, x, n); } \
  extern "C" __global__ void __launch_bounds__(good) name##_good(float *y, const float *x, int n) { name##_of<1>(y, x, n); }
#define KERNEL(name) template <int FIX> __device__ __forceinline__ void name##_of(float *y, const float *x, int n)

KERNEL(column) {
  __shared__ float t[32 * (64 + FIX)];
  for (int i = threadIdx.x; i < 32 * (64 + FIX); i += 256) t[i] = x[i];
  __syncthreads();
  float s = 0;
#pragma unroll 8
  for (int r = 0; r < 128; r++) s += t[(threadIdx.x % 32) * (64 + FIX) + (r & 63)];
  y[ID] = s;
}
BOTH(column, 256, 256)

KERNEL(transpose) {
  __shared__ float t[32][32 + FIX];
  int i = threadIdx.x % 32, j = threadIdx.x / 32, at = blockIdx.x * 32;
  for (int k = j; k < 32; k += 8) t[k][i] = x[k * n + at + i];
  __syncthreads();
  for (int k = j; k < 32; k += 8) y[(at + k) * 32 + i] = t[i][k];
}
BOTH(transpose, 256, 256)

KERNEL(strided) {
  float s = 0;
  int w = gridDim.x * 256;
#pragma unroll
  for (int r = 0; r < 4; r++) s += FIX ? x[ID + r * w] : x[ID * 64 + r * 16];
  y[ID] = s;
}
BOTH(strided, 256, 256)

KERNEL(scattered) { y[FIX ? ID : ID * 32] = x[ID]; }
BOTH(scattered, 256, 256)

KERNEL(fields) {
  int w = gridDim.x * 256;
  const volatile float *p = x;
  float a = p[FIX ? ID : ID * 16], b = p[FIX ? ID + w : ID * 16 + 5], c = p[FIX ? ID + 2 * w : ID * 16 + 10];
  y[ID] = a * b + c;
}
BOTH(fields, 256, 256)

KERNEL(spilled) {
  float v[200];
#pragma unroll
  for (int i = 0; i < 200; i++) v[i] = x[i * 256 + threadIdx.x];
  for (int r = 0; r < 3; r++)
#pragma unroll
    for (int i = 0; i < 200; i++) v[i] += v[(i * 67 + 1) % 200];
  float s = 0;
#pragma unroll
  for (int i = 0; i < 200; i++) s += v[i];
  y[ID] = s;
}
BOTH(spilled, 1024, 256)

KERNEL(indexed) {
  float v[64], a = x[ID];
#pragma unroll
  for (int i = 0; i < 64; i++) v[i] = a + i;
  if (FIX) {
#pragma unroll
    for (int r = 0; r < 64; r++) v[(r * 7 + 5) & 63] += v[(r * 7 + 11) & 63];
  } else {
    for (int r = 0; r < 64; r++) v[(r * n + 5) & 63] += v[(r * n + 11) & 63];
  }
  float s = 0;
#pragma unroll
  for (int i = 0; i < 64; i++) s += v[i];
  y[ID] = s;
}
BOTH(indexed, 256, 256)

KERNEL(early) {
  float s = 1, v;
#pragma unroll 1
  for (int r = 0; r < 64; r++) {
    asm volatile("global_load_b32 %0, %1, off" : "=v"(v) : "v"(x + ((ID + r * 8192) & (n - 1))));
    if (!FIX) asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
#pragma unroll
    for (int k = 0; k < 96; k++) asm volatile("v_add_f32 %0, 0.5, %0" : "+v"(s));
    if (FIX) asm volatile("s_waitcnt vmcnt(0)" : "+v"(v));
    s += v;
  }
  y[ID] = s;
}
BOTH(early, 64, 64)

#define REGISTERS "v32", "v33", "v34", "v35", "v36", "v37", "v38", "v39", "v40", "v41", "v42", "v43", "v44", "v48"
KERNEL(single) {
#pragma unroll 4
  for (int r = 0; r < 512; r++)
    if (FIX)
      asm volatile("v_dual_fmac_f32 v32, v40, v42 :: v_dual_fmac_f32 v33, v41, v43\n"
                   "v_dual_fmac_f32 v34, v40, v42 :: v_dual_fmac_f32 v35, v41, v43\n"
                   "v_dual_fmac_f32 v36, v40, v42 :: v_dual_fmac_f32 v37, v41, v43" ::: REGISTERS);
    else
      asm volatile("v_fmac_f32 v32, v40, v42\nv_fmac_f32 v33, v41, v43\nv_fmac_f32 v34, v40, v42\n"
                   "v_fmac_f32 v35, v41, v43\nv_fmac_f32 v36, v40, v42\nv_fmac_f32 v37, v41, v43" ::: REGISTERS);
  y[ID] = x[ID];
}
BOTH(single, 256, 256)

KERNEL(banks) {
#pragma unroll 4
  for (int r = 0; r < 512; r++)
    if (FIX)
      asm volatile("v_fma_f32 v32, v33, v34, v35\nv_fma_f32 v36, v37, v38, v39\nv_fma_f32 v40, v41, v42, v43" ::: REGISTERS);
    else
      asm volatile("v_fma_f32 v32, v36, v40, v44\nv_fma_f32 v33, v37, v41, v48\nv_fma_f32 v34, v36, v40, v44" ::: REGISTERS);
  y[ID] = x[ID];
}
BOTH(banks, 256, 256)

KERNEL(gather) {
  float s = 0;
#pragma unroll 1
  for (int r = 0; r < 64; r++) {
    s += x[((blockIdx.x * 37 + r * 11) * 1024 + threadIdx.x) & (n - 1)];
    s = __builtin_amdgcn_rcpf(s);
  }
  y[ID] = s;
}
BOTH(gather, 1024, 1024)

KERNEL(work) {
  float a = x[ID], b = a;
#pragma unroll 16
  for (int r = 0; r < 2048; r++) { a = __builtin_fmaf(a, a, 0.5f); b = __builtin_fmaf(b, a, 0.25f); }
  y[ID] = a + b;
}
BOTH(work, 1024, 1024)

KERNEL(narrow) {
  f4 s;
  float a, b, c, d;
  const float *at = x + threadIdx.x % 64 * (FIX ? 4 : 1);
#pragma unroll 4
  for (int r = 0; r < 256; r++)
    if (FIX) asm volatile("global_load_b128 %0, %1, off" : "=v"(s) : "v"(at));
    else
      asm volatile("global_load_b32 %0, %4, off\nglobal_load_b32 %1, %4, off offset:256\n"
                   "global_load_b32 %2, %4, off offset:512\nglobal_load_b32 %3, %4, off offset:768"
                   : "=&v"(a), "=&v"(b), "=&v"(c), "=&v"(d) : "v"(at));
  asm volatile("s_waitcnt vmcnt(0)" : "+v"(s), "+v"(a), "+v"(b), "+v"(c), "+v"(d));
  y[ID] = FIX ? s[0] + s[1] + s[2] + s[3] : a + b + c + d;
}
BOTH(narrow, 256, 256)

KERNEL(rows) {  // eight lanes load a line of each
  float s = 0;
  const float *row = x + ID / 8 * (2048 + 32 * FIX) + threadIdx.x % 8 * 4;
#pragma unroll 4
  for (int r = 0; r < 2048; r += 32) s += row[r] + row[r + 1] + row[r + 2] + row[r + 3];
  y[ID] = s;
}
BOTH(rows, 64, 64)

KERNEL(lanes) {
  float a = x[ID], b = a;
  if (threadIdx.x & (FIX ? 32 : 1))
#pragma unroll 16
    for (int r = 0; r < 512; r++) { a = __builtin_fmaf(a, a, 0.5f); b = __builtin_fmaf(b, a, 0.25f); }
  else
#pragma unroll 16
    for (int r = 0; r < 512; r++) { a = a * b; b = b * a; }
  y[ID] = a + b;
}
BOTH(lanes, 256, 256)

KERNEL(trips) {
  float a = x[ID], b = a;
  int trips = FIX ? threadIdx.x / 32 * 64 + 24 : threadIdx.x % 32 * 16;
#pragma unroll 1
  for (int r = 0; r < trips; r++) { a = __builtin_fmaf(a, a, 0.5f); b = __builtin_fmaf(b, a, 0.25f); }
  y[ID] = a + b;
}
BOTH(trips, 256, 256)

KERNEL(layout) {
  float s = 0;
#pragma unroll 4
  for (int k = 0; k < 256; k++) s += FIX ? x[k * n + ID] * x[k] : x[ID * n + k] * x[k];
  y[ID] = s;
}
BOTH(layout, 256, 256)

KERNEL(sevens) {  // rows of 28 bytes, of which L0 keeps what is left
  float s = 0;
#pragma unroll 1
  for (int i = 0; i < 7; i++) s += x[FIX ? ID + i * gridDim.x * 256 : ID * 7 + i];
  y[ID] = s;
}
BOTH(sevens, 256, 256)

KERNEL(exact) {  // a wait for the load that was just made, where the one before it would do
  float s = 1, v, w;
  asm volatile("global_load_b32 %0, %1, off" : "=v"(v) : "v"(x + ID));
#pragma unroll 1
  for (int r = 0; r < 64; r++) {
    asm volatile("global_load_b32 %0, %1, off" : "=v"(w) : "v"(x + ((ID + r * 8192) & (n - 1))));
    if (FIX) asm volatile("s_waitcnt vmcnt(1)" : "+v"(v));
    else asm volatile("s_waitcnt vmcnt(0)" : "+v"(v));
    asm volatile("v_mov_b32 %0, %1" : "=v"(s) : "v"(v));
#pragma unroll
    for (int k = 0; k < 200; k++) asm volatile("v_add_f32 %0, 0.5, %0" : "+v"(s));
    asm volatile("s_waitcnt vmcnt(0)\nv_mov_b32 %0, %1" : "=v"(v) : "v"(w));
  }
  y[ID] = s + v;
}
BOTH(exact, 64, 64)

KERNEL(each) {  // a wait behind each load
  float s = 0, v[8];
#pragma unroll 1
  for (int r = 0; r < 16; r++) {
#pragma unroll
    for (int i = 0; i < 8; i++) {
      asm volatile("global_load_b32 %0, %1, off" : "=&v"(v[i]) : "v"(x + ((ID + (r * 8 + i) * 8192) & (n - 1))));
      if (!FIX) asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
    }
    asm volatile("s_waitcnt vmcnt(0)" : "+v"(v[0]), "+v"(v[1]), "+v"(v[2]), "+v"(v[3]), "+v"(v[4]), "+v"(v[5]),
                 "+v"(v[6]), "+v"(v[7]));
#pragma unroll
    for (int i = 0; i < 8; i++) s = s * 0.5f + v[i];
  }
  y[ID] = s;
}
BOTH(each, 64, 64)
