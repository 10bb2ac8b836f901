// HIP's device functions of integers, bits, conversions, lanes and workgroups by its names (docs of HIP, "HIP math API" and
// "HIP C++ language extensions"; ROCm/clr, amd_detail/amd_device_functions.h, amd_warp_functions.h,
// amd_warp_sync_functions.h), in waves of 32.
#pragma once
#include <hip/hip_runtime.h>
#include <ocml/functions.h>
#include <ocml/ockl.h>

#define __hip_fn static __device__ inline __attribute__((always_inline))

#ifndef __CLANG_HIP_RUNTIME_WRAPPER_H__ // hipcc reads clang's own, which has these names
#include <ocml/printf.h>
#ifdef NDEBUG
#define assert(x) ((void)0)
#else
#define assert(x)                                                                                                      \
    ((x) ? (void)0                                                                                                     \
         : (printf("%s:%d: %s: Device-side assertion `%s' failed.\n", __FILE__, __LINE__, __func__, #x), __builtin_trap()))
#endif
__hip_fn void *malloc(size_t bytes) { return (void *)__ockl_dm_alloc(bytes); }
__hip_fn void free(void *address) { __ockl_dm_dealloc((unsigned long long)address); }
#endif

// --- conversions
#define __hip_to_integer(from, T, to, U)                                                                               \
    __hip_fn U __##from##2##to##_rn(T x) { return (U)__builtin_elementwise_rint(x); }                                  \
    __hip_fn U __##from##2##to##_rz(T x) { return (U)x; }                                                              \
    __hip_fn U __##from##2##to##_ru(T x) { return (U)__builtin_elementwise_ceil(x); }                                  \
    __hip_fn U __##from##2##to##_rd(T x) { return (U)__builtin_elementwise_floor(x); }
#define __hip_to_integers(from, T)                                                                                     \
    __hip_to_integer(from, T, int, int) __hip_to_integer(from, T, uint, unsigned)                                      \
    __hip_to_integer(from, T, ll, long long) __hip_to_integer(from, T, ull, unsigned long long)
__hip_to_integers(float, float) __hip_to_integers(double, double)
#define __hip_to_float(from, T, to, U, ocml)                                                                           \
    __hip_fn U __##from##2##to##_rn(T x) { return (U)x; }                                                              \
    __hip_fn U __##from##2##to##_rz(T x) { return __ocml_cvtrtz_##ocml(x); }                                           \
    __hip_fn U __##from##2##to##_ru(T x) { return __ocml_cvtrtp_##ocml(x); }                                           \
    __hip_fn U __##from##2##to##_rd(T x) { return __ocml_cvtrtn_##ocml(x); }
__hip_to_float(int, int, float, float, f32_s32) __hip_to_float(uint, unsigned, float, float, f32_u32)
__hip_to_float(ll, long long, float, float, f32_s64) __hip_to_float(ull, unsigned long long, float, float, f32_u64)
__hip_to_float(ll, long long, double, double, f64_s64) __hip_to_float(ull, unsigned long long, double, double, f64_u64)
__hip_to_float(double, double, float, float, f32_f64)
__hip_fn double __int2double_rn(int x) { return x; }
__hip_fn double __uint2double_rn(unsigned x) { return x; }
#undef __hip_to_integer
#undef __hip_to_float
#define __hip_as(name, U, T) __hip_fn U name(T x) { return __builtin_bit_cast(U, x); }
__hip_as(__float_as_int, int, float) __hip_as(__float_as_uint, unsigned, float) __hip_as(__int_as_float, float, int)
__hip_as(__uint_as_float, float, unsigned) __hip_as(__double_as_longlong, long long, double)
__hip_as(__longlong_as_double, double, long long)
__hip_fn int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
__hip_fn int __double2loint(double x) { return (int)__double_as_longlong(x); }
__hip_fn double __hiloint2double(int hi, int lo) { return __longlong_as_double((long long)hi << 32 | (unsigned)lo); }

// --- integers
__hip_fn int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
__hip_fn int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
__hip_fn int __ffs(int x) { return __builtin_ffs(x); }
__hip_fn int __ffs(unsigned x) { return __builtin_ffs((int)x); }
__hip_fn int __ffsll(long long x) { return __builtin_ffsll(x); }
__hip_fn int __ffsll(unsigned long long x) { return __builtin_ffsll((long long)x); }
__hip_fn int __ffsll(unsigned long x) { return __builtin_ffsll((long long)x); }
__hip_fn int __popc(unsigned x) { return __builtin_popcount(x); }
__hip_fn int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
__hip_fn unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
__hip_fn unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
__hip_fn unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    unsigned long long both = (unsigned long long)y << 32 | x;
    unsigned result = 0;
    for (int i = 0; i < 4; ++i) result |= (unsigned)(both >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
    return result;
}
__hip_fn int __mul24(int x, int y) { return __ockl_mul24_i32(x, y); }
__hip_fn unsigned __umul24(unsigned x, unsigned y) { return __ockl_mul24_u32(x, y); }
__hip_fn int __mulhi(int x, int y) { return __ockl_mul_hi_i32(x, y); }
__hip_fn unsigned __umulhi(unsigned x, unsigned y) { return __ockl_mul_hi_u32(x, y); }
__hip_fn long long __mul64hi(long long x, long long y) { return (long long)((__int128)x * y >> 64); }
__hip_fn unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return (unsigned long long)((unsigned __int128)x * y >> 64);
}
__hip_fn unsigned __sad(int x, int y, unsigned z) { return z + (unsigned)(x > y ? x - y : y - x); }
__hip_fn unsigned __usad(unsigned x, unsigned y, unsigned z) { return z + (x > y ? x - y : y - x); }
__hip_fn int __hadd(int x, int y) { return (int)(((long long)x + y) >> 1); }
__hip_fn int __rhadd(int x, int y) { return (int)(((long long)x + y + 1) >> 1); }
__hip_fn unsigned __uhadd(unsigned x, unsigned y) { return (unsigned)(((unsigned long long)x + y) >> 1); }
__hip_fn unsigned __urhadd(unsigned x, unsigned y) { return (unsigned)(((unsigned long long)x + y + 1) >> 1); }
__hip_fn unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n) {
    return (unsigned)(((unsigned long long)hi << 32 | lo) << (n & 31) >> 32);
}
__hip_fn unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned n) {
    return (unsigned)((((unsigned __int128)hi << 32 | lo) << (n < 32 ? n : 32)) >> 32);
}
__hip_fn unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n) {
    return (unsigned)(((unsigned long long)hi << 32 | lo) >> (n & 31));
}
__hip_fn unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned n) {
    return (unsigned)(((unsigned long long)hi << 32 | lo) >> (n < 32 ? n : 32));
}
// The place of the bit that is the `offset`th set one from `base` on: upwards, downwards, or that bit itself for 0.
__hip_fn int __fns64(unsigned long long mask, unsigned base, int offset) {
    if (offset == 0) return mask >> base & 1 ? (int)base : -1;
    unsigned long long seen = offset > 0 ? mask >> base << base : mask & (~0ull >> (63 - base));
    for (int left = offset > 0 ? offset : -offset; seen; --left) {
        int at = offset > 0 ? __builtin_ctzll(seen) : 63 - __builtin_clzll(seen);
        if (left == 1) return at;
        seen &= ~(1ull << at);
    }
    return -1;
}
__hip_fn int __fns32(unsigned long long mask, unsigned base, int offset) { return __fns64((unsigned)mask, base, offset); }
__hip_fn int __fns(unsigned mask, unsigned base, int offset) { return __fns32(mask, base, offset); }
#define __hip_bits_of(w, T)                                                                                            \
    __hip_fn T __bitextract_u##w(T x, unsigned offset, unsigned width) {                                               \
        offset &= w - 1, width &= w - 1;                                                                               \
        return x >> offset & (((T)1 << width) - 1);                                                                    \
    }                                                                                                                  \
    __hip_fn T __bitinsert_u##w(T x, T y, unsigned offset, unsigned width) {                                           \
        offset &= w - 1, width &= w - 1;                                                                               \
        T mask = ((T)1 << width) - 1;                                                                                  \
        return (x & ~(mask << offset)) | (y & mask) << offset;                                                         \
    }
__hip_bits_of(32, unsigned) __hip_bits_of(64, unsigned long long)
#undef __hip_bits_of

// --- lanes
__hip_fn unsigned __lane_id() { return __ockl_lane_u32(); }
__hip_fn unsigned long long __ballot(int x) { return __own_lanes::ballot(x != 0); }
__hip_fn unsigned long long __activemask() { return __ballot(true); }
__hip_fn int __any(int x) { return __ballot(x) != 0; }
__hip_fn int __all(int x) { return __ballot(!x) == 0; }
__hip_fn unsigned long long __lanemask_lt() { return (1ull << __lane_id()) - 1; }
__hip_fn unsigned long long __lanemask_eq() { return 1ull << __lane_id(); }
__hip_fn unsigned long long __lanemask_gt() { return ~0ull << 1 << __lane_id() & 0xffffffff; }
__hip_fn unsigned long long __ballot64(int x) { return __ballot(x); }

template <class T> __hip_fn T __hip_lane(T x, int lane) {
    constexpr int words = (sizeof(T) + 3) / 4;
    int parts[words] = {};
    __builtin_memcpy(parts, &x, sizeof(T));
    for (int &part : parts) part = __builtin_amdgcn_ds_bpermute(lane << 2, part);
    __builtin_memcpy(&x, parts, sizeof(T));
    return x;
}
// A lane reads what the same instruction has in another lane of its group of `width` lanes.
template <class T> __hip_fn T __shfl(T x, int lane, int width = warpSize) {
    return __hip_lane(x, (lane & (width - 1)) + ((int)__lane_id() & ~(width - 1)));
}
template <class T> __hip_fn T __shfl_up(T x, unsigned delta, int width = warpSize) {
    int self = (int)__lane_id(), lane = self - (int)delta;
    return __hip_lane(x, lane < (self & ~(width - 1)) ? self : lane);
}
template <class T> __hip_fn T __shfl_down(T x, unsigned delta, int width = warpSize) {
    int self = (int)__lane_id();
    return __hip_lane(x, (self & (width - 1)) + (int)delta >= width ? self : self + (int)delta);
}
template <class T> __hip_fn T __shfl_xor(T x, int mask, int width = warpSize) {
    int self = (int)__lane_id(), lane = self ^ mask;
    return __hip_lane(x, lane >= ((self + width) & ~(width - 1)) ? self : lane);
}
// The lanes of the wave whose value is the same, bit by bit.
template <class T> __hip_fn unsigned long long __match_any(T x) {
    unsigned left = (unsigned)__activemask(), same = 0;
    while (left) {
        T first = __own_lanes::read(x, __builtin_ctz(left));
        unsigned those = (unsigned)__ballot(__own_lanes::same(first, x)) & left;
        if (__own_lanes::same(first, x)) same = those;
        left &= ~those;
    }
    return same;
}
template <class T> __hip_fn unsigned long long __match_all(T x, int *all) {
    T first = __own_lanes::read(x, __builtin_ctz((unsigned)__activemask()));
    *all = __all(__own_lanes::same(first, x));
    return *all ? __activemask() : 0;
}
// With the mask of the lanes that take part, which are those that execute it here.
template <class M> __hip_fn unsigned long long __ballot_sync(M mask, int x) { return __ballot(x) & mask; }
template <class M> __hip_fn int __any_sync(M mask, int x) { return __ballot_sync(mask, x) != 0; }
template <class M> __hip_fn int __all_sync(M mask, int x) { return __ballot_sync(mask, !x) == 0; }
template <class M, class T> __hip_fn unsigned long long __match_any_sync(M mask, T x) { return __match_any(x) & mask; }
template <class M, class T> __hip_fn unsigned long long __match_all_sync(M mask, T x, int *all) {
    return __match_all(x, all) & mask;
}
#define __hip_shuffle_sync(name, L)                                                                                    \
    template <class M, class T> __hip_fn T name##_sync(M, T x, L lane, int width = warpSize) { return name(x, lane, width); }
__hip_shuffle_sync(__shfl, int) __hip_shuffle_sync(__shfl_up, unsigned) __hip_shuffle_sync(__shfl_down, unsigned)
__hip_shuffle_sync(__shfl_xor, int)
#undef __hip_shuffle_sync
#define __hip_reduce_sync(name, operation)                                                                             \
    template <class M, class T> __hip_fn T __reduce_##name##_sync(M, T x) {                                            \
        return __own_lanes::reduced(x, [](T a, T b) -> T { return operation; });                                       \
    }
__hip_reduce_sync(add, a + b) __hip_reduce_sync(min, b < a ? b : a) __hip_reduce_sync(max, a < b ? b : a)
__hip_reduce_sync(and, a & b) __hip_reduce_sync(or, a | b) __hip_reduce_sync(xor, a ^ b)
#undef __hip_reduce_sync
template <class = void> __hip_fn void __syncwarp() { // a template, so that a program may have its own
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
template <class M> __hip_fn void __syncwarp(M) { __syncwarp(); }

// --- workgroups, memory, counters that grow: cycles of the shader's clock, of which gfx11 has 20 bits, and of 100 MHz
__hip_fn int __syncthreads_count(int x) { return __ockl_wgred_add_i32(x != 0); }
__hip_fn int __syncthreads_and(int x) { return __ockl_wgred_and_i32(x != 0); }
__hip_fn int __syncthreads_or(int x) { return __ockl_wgred_or_i32(x != 0); }
template <class T> __hip_fn T __ldg(const T *address) { return *address; }
__hip_fn long long clock64() { return (long long)__builtin_readcyclecounter(); }
__hip_fn long long __clock64() { return clock64(); }
__hip_fn long long clock() { return clock64(); }
__hip_fn long long wall_clock64() { return (long long)__ockl_steadyctr_u64(); }
