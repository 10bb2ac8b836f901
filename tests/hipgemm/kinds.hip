// Small kernels, each of one kind: r_ right, b_ with one bug. Above each its launch, as `hipgemm check` takes it, and of
// a broken one after -> the rule that names the bug.
#include <hip/hip_runtime.h>
#define K(n) extern "C" __global__ void __launch_bounds__(n)
typedef unsigned u32;
typedef unsigned short u16;
typedef unsigned char u8;
typedef float f4 __attribute__((ext_vector_type(4)));
__device__ __forceinline__ void __syncwarp() { __builtin_amdgcn_wave_barrier(); } // a program's own
template <class T> __device__ __forceinline__ void put(T *p, T v, int order) {
  if (order) __hip_atomic_store(p, v, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
  else __hip_atomic_store(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
template <class T> __device__ __forceinline__ T get(T *p) { return __hip_atomic_load(p, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT); }
template <class T> __device__ __forceinline__ T peek(T *p) { return __hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); }

// --- release and acquire through flags
// --grid 4 --block 64 flags=zeros:u32:4 data=unwritten:i32:256 out=unwritten:i32:64
K(64) r_flag_chain(u32 *flags, int *data, int *out) {
  int b = blockIdx.x, t = threadIdx.x, v = t;
  if (b > 0) {
    if (t == 0) while (get(&flags[b - 1]) == 0) {}
    __syncthreads();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
    v = data[(b - 1) * 64 + (t + 1) % 64] + 1;
  }
  data[b * 64 + t] = v;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  __syncthreads();
  if (t == 0) put(&flags[b], 1u, 1);
  if (b == 3) out[t] = v;
}
// --grid 2 --block 64 flag=zeros:u32:1 data=unwritten:i32:64 out=unwritten:i32:64 -> memory race
K(64) b_flag_first(u32 *flag, int *data, int *out) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    if (t == 0) put(flag, 1u, 1);
    data[t] = t;
  } else {
    if (t == 0) while (get(flag) == 0) {}
    __syncthreads();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
    out[t] = data[t];
  }
}
// --grid 3 --block 64 lock=zeros:u32:1 sum=zeros:i32:64 -> memory race
K(64) b_unlock_early(u32 *lock, int *sum) {
  int t = threadIdx.x;
  if (t == 0) while (atomicCAS(lock, 0u, 1u)) {}
  __syncthreads();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  int v = sum[t];
  if (t == 0) put(lock, 0u, 0);
  sum[t] = v + t;
}
// --grid 3 --block 64 lock=zeros:u32:1 sum=zeros:i32:64
K(64) r_lock_block(u32 *lock, int *sum) {
  int t = threadIdx.x;
  if (t == 0) while (atomicCAS(lock, 0u, 1u)) {}
  __syncthreads();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  sum[t] += t;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  __syncthreads();
  if (t == 0) put(lock, 0u, 1);
}

// --- ring buffers in LDS, one wave writes and one reads
#define RING(wait_for_room)                                                                                             \
  __shared__ int slots[4][32];                                                                                         \
  __shared__ u32 head, tail;                                                                                           \
  int t = threadIdx.x, l = t & 31;                                                                                     \
  if (t == 0) head = tail = 0;                                                                                         \
  __syncthreads();                                                                                                     \
  if (t < 32) {                                                                                                        \
    for (u32 i = 0; i < 12; i++) {                                                                                     \
      wait_for_room                                                                                                    \
      slots[i % 4][l] = in[i * 32 + l];                                                                                \
      if (l == 0) __hip_atomic_store(&head, i + 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);                     \
    }                                                                                                                  \
  } else {                                                                                                             \
    int sum = 0;                                                                                                       \
    for (u32 i = 0; i < 12; i++) {                                                                                     \
      while (__hip_atomic_load(&head, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP) <= i) {}                         \
      sum += slots[i % 4][31 - l];                                                                                     \
      if (l == 0) __hip_atomic_store(&tail, i + 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);                     \
    }                                                                                                                  \
    out[l] = sum;                                                                                                      \
  }
// --grid 1 --block 64 out=unwritten:i32:32 in=random:i32:384 -> LDS race
K(64) b_ring_overrun(int *out, const int *in) { RING() }
// --grid 1 --block 128 out=unwritten:f32:128 in=random:f32:640 -> LDS race
K(128) b_ring_two_slots(float *out, const float *in) {
  __shared__ float s[2][128];
  int t = threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 5; k++) {
    s[0][t] = in[k * 128 + t];
    __syncthreads();
    s[1][t] = s[0][127 - t] * 2;
    sum += s[1][127 - t];
  }
  out[t] = sum;
}
// --grid 1 --block 128 out=unwritten:f32:128 in=random:f32:640
K(128) r_ring_two_slots(float *out, const float *in) {
  __shared__ float s[2][128];
  int t = threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 5; k++) {
    s[k & 1][t] = in[k * 128 + t];
    __syncthreads();
    sum += s[k & 1][127 - t];
  }
  out[t] = sum;
}

// --- reductions of a wave by DPP
// --grid 2 --block 64 out=unwritten:i32:4 in=random:i32:128
K(64) r_dpp_reduce(int *out, const int *in) {
  int i = blockIdx.x * 64 + threadIdx.x, v = in[i];
  v += __builtin_amdgcn_update_dpp(0, v, 0x111, 0xf, 0xf, false);
  v += __builtin_amdgcn_update_dpp(0, v, 0x112, 0xf, 0xf, false);
  v += __builtin_amdgcn_update_dpp(0, v, 0x114, 0xf, 0xe, false);
  v += __builtin_amdgcn_update_dpp(0, v, 0x118, 0xf, 0xc, false);
  int low = __builtin_amdgcn_readlane(v, 15), high = __builtin_amdgcn_readlane(v, 31);
  if ((threadIdx.x & 31) == 0) out[i / 32] = low + high;
}
// --grid 2 --block 64 out=unwritten:i32:2 in=random:i32:128 last=i32:63 -> lane beyond the wave
K(64) b_dpp_reduce_64(int *out, const int *in, int last) {
  int i = blockIdx.x * 64 + threadIdx.x, v = in[i];
  v += __builtin_amdgcn_update_dpp(0, v, 0x111, 0xf, 0xf, false);
  int whole = __builtin_amdgcn_readlane(v, 31) + __builtin_amdgcn_readlane(v, last);
  if (threadIdx.x == 0) out[blockIdx.x] = whole;
}

// --- shuffles
// --grid 1 --block 64 out=unwritten:f32:64 in=random:f32:64
K(64) r_half_wave(float *out, const float *in) {
  float v = in[threadIdx.x];
  for (int m = 8; m; m >>= 1) v += __shfl_xor(v, m, 16);
  out[threadIdx.x] = v + __shfl(v, 3, 16);
}
// --grid 1 --block 64 out=unwritten:f32:64 in=random:f32:64 -> lane beyond the wave
K(64) b_half_wave_64(float *out, const float *in) {
  float v = in[threadIdx.x];
  int l = threadIdx.x & 63;
  for (int m = 32; m; m >>= 1) v += __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute((l ^ m) << 2, __builtin_bit_cast(int, v)));
  out[threadIdx.x] = v;
}

// --- grid barriers
__device__ __forceinline__ void arrive(u32 *count, u32 goal, bool ordered) {
  if (ordered) __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(count, 1u);
    while (peek(count) < goal) {}
  }
  __syncthreads();
  if (ordered) __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
}
// --grid 4 --block 64 count=zeros:u32:1 a=zeros:i32:256
K(64) r_grid_phases(u32 *count, int *a) {
  int i = blockIdx.x * 64 + threadIdx.x;
  for (u32 phase = 0; phase < 3; phase++) {
    int v = a[(i + 64) % 256];
    arrive(count, 4 * (2 * phase + 1), true);
    a[i] = v + i;
    arrive(count, 4 * (2 * phase + 2), true);
  }
}
// --grid 4 --block 64 count=zeros:u32:1 a=zeros:i32:256 -> memory race
K(64) b_grid_unordered(u32 *count, int *a) {
  int i = blockIdx.x * 64 + threadIdx.x;
  a[i] = i;
  arrive(count, 4, false);
  int v = a[(i + 64) % 256];
  arrive(count, 8, true);
  a[i] = v;
}

// --- dynamic LDS, types of LDS
// --grid 1 --block 64 --dynamic-lds 768 out=unwritten:f32:64 in=random:f32:64
K(64) r_dynamic_types(float *out, const float *in) {
  extern __shared__ u8 room[];
  float *f = (float *)room;
  double *d = (double *)(room + 256);
  f[threadIdx.x] = in[threadIdx.x];
  d[threadIdx.x] = in[threadIdx.x] * 0.5;
  __syncthreads();
  out[threadIdx.x] = f[63 - threadIdx.x] + (float)d[(threadIdx.x + 7) & 63];
}
// --grid 1 --block 64 --dynamic-lds 512 out=unwritten:f32:64 in=random:f32:64 -> out-of-bounds access
K(64) b_dynamic_small(float *out, const float *in) {
  extern __shared__ u8 room[];
  float *f = (float *)room;
  double *d = (double *)(room + 256);
  f[threadIdx.x] = in[threadIdx.x];
  d[threadIdx.x] = in[threadIdx.x] * 0.5;
  __syncthreads();
  out[threadIdx.x] = f[63 - threadIdx.x] + (float)d[(threadIdx.x + 7) & 63];
}
// --grid 1 --block 64 out=unwritten:u32:64 in=random:f32:256
K(64) r_alias(u32 *out, const float *in) {
  __shared__ f4 s[64];
  s[threadIdx.x] = *(const f4 *)(in + 4 * threadIdx.x);
  __syncthreads();
  u32 sum = 0;
  for (int i = 0; i < 16; i++) sum += ((const u8 *)s)[i * 64 + threadIdx.x];
  out[threadIdx.x] = sum;
}
// --grid 1 --block 64 out=unwritten:u32:64 in=random:f32:256 -> LDS race
K(64) b_alias(u32 *out, const float *in) {
  __shared__ f4 s[64];
  s[threadIdx.x] = *(const f4 *)(in + 4 * threadIdx.x);
  u32 sum = 0;
  for (int i = 0; i < 16; i++) sum += ((const u8 *)s)[i * 64 + threadIdx.x];
  out[threadIdx.x] = sum;
}
// --grid 1 --block 256 out=unwritten:f32:1024 in=random:f32:1024
K(256) r_padded_tile(float *out, const float *in) {
  __shared__ float s[32][33];
  for (int y = threadIdx.x / 32; y < 32; y += 8) s[y][threadIdx.x & 31] = in[y * 32 + (threadIdx.x & 31)];
  __syncthreads();
  for (int y = threadIdx.x / 32; y < 32; y += 8) out[y * 32 + (threadIdx.x & 31)] = s[threadIdx.x & 31][y];
}
// --grid 1 --block 256 out=unwritten:f32:1024 in=random:f32:1024 -> uninitialized LDS read
K(256) b_padded_tile(float *out, const float *in) {
  __shared__ float s[32][33];
  for (int y = threadIdx.x / 32; y < 32; y += 8) s[y][threadIdx.x & 31] = in[y * 32 + (threadIdx.x & 31)];
  __syncthreads();
  for (int y = threadIdx.x / 32; y < 32; y += 8) out[y * 32 + (threadIdx.x & 31)] = s[threadIdx.x & 31][y + 1] * 2;
}
// --grid 1 --block 64 out=unwritten:f32:61 in=random:f32:64 -> out-of-bounds access
K(64) b_rounded_up(float *out, const float *in) { out[threadIdx.x] = in[threadIdx.x]; }

// --- structures, unions, bit fields
struct Pair { u8 kind; u16 part; double value; };
// --grid 1 --block 64 out=unwritten:f32:64 in=random:f32:64
K(64) r_struct(float *out, const float *in) {
  __shared__ Pair s[64];
  Pair p;
  p.kind = threadIdx.x & 1;
  p.value = in[threadIdx.x];
  if (p.kind) p.part = 3;
  s[threadIdx.x] = p;
  __syncthreads();
  Pair q = s[63 - threadIdx.x];
  out[threadIdx.x] = (float)(q.kind ? q.value * q.part : q.value);
}
// --grid 1 --block 64 out=unwritten:f32:64 in=random:f32:64 -> uninitialized LDS read
K(64) b_struct(float *out, const float *in) {
  __shared__ Pair s[64];
  s[threadIdx.x].kind = threadIdx.x & 1;
  s[threadIdx.x].value = in[threadIdx.x];
  __syncthreads();
  Pair q = s[63 - threadIdx.x];
  out[threadIdx.x] = (float)(q.value * q.part);
}
union Word { float f; u32 u; u16 h[2]; u8 b[4]; };
// --grid 1 --block 64 out=unwritten:u32:64 in=random:f32:64
K(64) r_union(u32 *out, const float *in) {
  __shared__ Word s[64];
  s[threadIdx.x].f = in[threadIdx.x];
  __syncthreads();
  Word w = s[63 - threadIdx.x];
  w.b[1] = threadIdx.x;
  out[threadIdx.x] = w.u + w.h[1];
}
// --grid 1 --block 64 out=unwritten:u32:64 in=random:f32:64 -> uninitialized LDS read
K(64) b_union(u32 *out, const float *in) {
  __shared__ Word s[64];
  s[threadIdx.x].h[0] = (u16)in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x].u + 1;
}
struct Bits { u32 low : 5, mid : 11, high : 16; };
// --grid 1 --block 64 out=unwritten:u32:64 in=random:i32:64
K(64) r_bits(u32 *out, const int *in) {
  __shared__ Bits s[64];
  s[threadIdx.x] = Bits{};
  s[threadIdx.x].mid = in[threadIdx.x] & 1023;
  s[threadIdx.x].low = threadIdx.x & 31;
  __syncthreads();
  Bits b = s[63 - threadIdx.x];
  b.high = b.mid + b.low;
  out[threadIdx.x] = b.high ^ b.mid;
}
// --grid 1 --block 64 out=unwritten:u32:32 in=random:i32:64 -> LDS race
K(64) b_bits(u32 *out, const int *in) {
  __shared__ Bits s[32];
  if (threadIdx.x < 32) s[threadIdx.x] = Bits{};
  __syncthreads();
  if (threadIdx.x < 32) s[threadIdx.x].low = in[threadIdx.x] & 31;
  else s[threadIdx.x - 32].high = in[threadIdx.x] & 65535;
  __syncthreads();
  if (threadIdx.x < 32) out[threadIdx.x] = s[threadIdx.x].low + s[threadIdx.x].high;
}

// --- atomics
// --grid 3 --block 64 a=zeros:i32:16 in=random:i32:192
K(64) r_atomics(int *a, const int *in) {
  __shared__ int s[8];
  int t = threadIdx.x, v = in[blockIdx.x * 64 + t];
  if (t < 8) s[t] = t == 3 ? -1 : 0;
  __syncthreads();
  atomicAdd(&s[0], v); atomicMax(&s[1], v); atomicMin(&s[2], v); atomicAnd(&s[3], v); atomicOr(&s[4], v); atomicXor(&s[5], v);
  atomicSub(&s[6], v); atomicExch(&s[7], 5);
  __syncthreads();
  if (t < 8) {
    if (t == 1) atomicMax(&a[t], s[t]);
    else if (t == 2) atomicMin(&a[t], s[t]);
    else atomicXor(&a[t], s[t]);
    atomicAdd((u32 *)&a[8 + t], 1u);
  }
}
// --grid 3 --block 64 a=zeros:i32:1 -> memory race
K(64) b_atomic_plain(int *a) {
  if (threadIdx.x == 0) {
    if (blockIdx.x == 1) a[0] = a[0] + 1;
    else atomicAdd(a, 1);
  }
}
// --grid 2 --block 64 a=unwritten:i32:1 in=random:i32:128 -> uninitialized memory read
K(64) b_atomic_unwritten(int *a, const int *in) { atomicMax(a, in[blockIdx.x * 64 + threadIdx.x]); }

// --- waves without barriers
// --grid 1 --block 64 out=unwritten:i32:64 in=random:i32:64
K(64) r_wave_steps(int *out, const int *in) {
  __shared__ int s[64];
  int t = threadIdx.x, l = t & 31;
  volatile int *mine = s + (t & ~31);
  mine[l] = in[t];
  for (int d = 1; d < 32; d *= 2) {
    int v = l >= d ? mine[l - d] : 0;
    __syncwarp();
    mine[l] = mine[l] + v;
    __syncwarp();
  }
  out[t] = mine[l];
}
// --grid 1 --block 64 out=unwritten:i32:64 in=random:i32:64 -> LDS race
K(64) b_wave_steps(int *out, const int *in) {
  __shared__ int s[64];
  int t = threadIdx.x;
  volatile int *mine = s;
  mine[t] = in[t];
  for (int d = 1; d < 64; d *= 2) {
    int v = t >= d ? mine[t - d] : 0;
    __builtin_amdgcn_wave_barrier();
    mine[t] = mine[t] + v;
    __builtin_amdgcn_wave_barrier();
  }
  out[t] = mine[t];
}
// --grid 1 --block 128 out=unwritten:i32:128 in=random:i32:128 -> waves missing at a barrier
K(128) b_uneven_barriers(int *out, const int *in) {
  __shared__ int s[128];
  int t = threadIdx.x, v = in[t];
  for (int k = 0; k <= t / 64; k++) {
    s[t] = v;
    __syncthreads();
    v += s[(t & ~63) + 63 - (t & 63)];
    __syncthreads();
  }
  out[t] = v;
}

// --- what compilers compute ahead
// --grid 1 --block 64 out=unwritten:f32:64 in=random:f32:640 n=i32:10
K(64) r_first_or_more(float *out, const float *in, int n) {
  float best;
  bool have = false;
  for (int k = 0; k < n; k++) {
    float v = in[k * 64 + threadIdx.x];
    if (v > -0.5f && (!have || v > best)) best = v, have = true;
  }
  out[threadIdx.x] = have ? best : -1.0f;
}
// --grid 1 --block 64 out=unwritten:u16:64 in=random:i32:64
K(64) r_short(u16 *out, const int *in) {
  __shared__ u16 s[128];
  s[2 * threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  u16 v = s[2 * (63 - threadIdx.x)];
  v = v * v + 3 * v;
  out[threadIdx.x] = v ^ (v << 3);
}
// --grid 1 --block 64 out=unwritten:i32:64 in=unwritten:i32:64 -> uninitialized memory read
K(64) b_branch(int *out, const int *in) {
  int v = 0;
  for (int k = 0; k < (in[threadIdx.x] & 3); k++) v += threadIdx.x * k;
  out[threadIdx.x] = v;
}
