// What kernels of other people use of HIP's device library, beside hip_runtime.h: types, math, shuffles, atomics.
//
// Each definition does what HIP's own header does with that name (ROCm/clr, hipamd/include/hip/amd_detail:
// amd_math_functions.h, amd_warp_functions.h, amd_hip_atomic.h, amd_hip_vector_types.h), in waves of 32. Not here: what
// needs AMD's libraries of bitcode (sinf, powf, erff and their like, printf, malloc).
#pragma once

typedef decltype(sizeof(0)) size_t;
typedef __INT8_TYPE__ int8_t;
typedef __INT16_TYPE__ int16_t;
typedef __INT32_TYPE__ int32_t;
typedef __INT64_TYPE__ int64_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT64_TYPE__ uint64_t;

#define __hip_vectors(type)                                                                                           \
    typedef type type##2 __attribute__((ext_vector_type(2)));                                                         \
    typedef type type##4 __attribute__((ext_vector_type(4)));                                                         \
    __device__ __forceinline__ type##2 make_##type##2(type x, type y) { return type##2{x, y}; }                       \
    __device__ __forceinline__ type##4 make_##type##4(type x, type y, type z, type w) { return type##4{x, y, z, w}; }
typedef unsigned uint;
__hip_vectors(float) __hip_vectors(int) __hip_vectors(uint)
#undef __hip_vectors

constexpr int warpSize = 32;
#ifndef __CLANG_HIP_MATH_H__ // hipcc reads clang's own, which has these names
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#include "device_math.h"

#define __hip_min_max(type)                                                                                           \
    __device__ __forceinline__ type min(type x, type y) { return x < y ? x : y; }                                     \
    __device__ __forceinline__ type max(type x, type y) { return x > y ? x : y; }
__hip_min_max(int) __hip_min_max(unsigned) __hip_min_max(long long) __hip_min_max(unsigned long long)
#undef __hip_min_max
__device__ __forceinline__ float min(float x, float y) { return __builtin_fminf(x, y); }
__device__ __forceinline__ float max(float x, float y) { return __builtin_fmaxf(x, y); }
#endif

// Counters that grow: cycles of the shader's clock, of which gfx11 has 20 bits, and of one of 100 MHz.
__device__ __forceinline__ long long clock64() { return (long long)__builtin_readcyclecounter(); }
__device__ __forceinline__ long long clock() { return clock64(); }
__device__ __forceinline__ long long wall_clock64() { return (long long)__builtin_readsteadycounter(); }

// A lane reads what the same instruction has in another lane of its group of `width` lanes.
__device__ __forceinline__ int __lane_id() { return __builtin_amdgcn_mbcnt_lo(~0u, 0u); }
template <class T> __device__ __forceinline__ T __hip_lane(T value, int lane) {
    static_assert(sizeof(T) == 4, "shuffles of 32 bits");
    return __builtin_bit_cast(T, __builtin_amdgcn_ds_bpermute(lane << 2, __builtin_bit_cast(int, value)));
}
template <class T> __device__ __forceinline__ T __shfl(T value, int lane, int width = warpSize) {
    return __hip_lane(value, (lane & (width - 1)) + (__lane_id() & ~(width - 1)));
}
template <class T> __device__ __forceinline__ T __shfl_up(T value, unsigned delta, int width = warpSize) {
    int self = __lane_id(), lane = self - (int)delta;
    return __hip_lane(value, lane < (self & ~(width - 1)) ? self : lane);
}
template <class T> __device__ __forceinline__ T __shfl_down(T value, unsigned delta, int width = warpSize) {
    int self = __lane_id();
    return __hip_lane(value, (self & (width - 1)) + (int)delta >= width ? self : self + (int)delta);
}
template <class T> __device__ __forceinline__ T __shfl_xor(T value, int mask, int width = warpSize) {
    int self = __lane_id(), lane = self ^ mask;
    return __hip_lane(value, lane >= ((self + width) & ~(width - 1)) ? self : lane);
}
#if __has_builtin(__builtin_amdgcn_ballot_w32) // clang 16
__device__ __forceinline__ unsigned long long __ballot(int predicate) {
    return __builtin_amdgcn_ballot_w32(predicate != 0);
}
__device__ __forceinline__ int __any(int predicate) { return __ballot(predicate) != 0; }
__device__ __forceinline__ int __all(int predicate) { return __ballot(!predicate) == 0; }
#endif

// Atomics are relaxed, and seen by the whole device.
#define __hip_atomic(name, operation)                                                                                 \
    template <class T, class V> __device__ __forceinline__ T name(T *address, V value) {                              \
        return operation(address, (T)value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);                              \
    }
__hip_atomic(atomicAdd, __hip_atomic_fetch_add) __hip_atomic(atomicAnd, __hip_atomic_fetch_and)
__hip_atomic(atomicOr, __hip_atomic_fetch_or) __hip_atomic(atomicXor, __hip_atomic_fetch_xor)
__hip_atomic(atomicMin, __hip_atomic_fetch_min) __hip_atomic(atomicMax, __hip_atomic_fetch_max)
__hip_atomic(atomicExch, __hip_atomic_exchange)
#undef __hip_atomic
template <class T, class V> __device__ __forceinline__ T atomicSub(T *address, V value) {
    return atomicAdd(address, -(T)value);
}
template <class T, class U, class V> __device__ __forceinline__ T atomicCAS(T *address, U expected, V value) {
    T found = expected;
    __hip_atomic_compare_exchange_strong(address, &found, (T)value, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                         __HIP_MEMORY_SCOPE_AGENT);
    return found;
}
// Templates, so that a source may have functions of these names of its own, which are preferred.
template <typename = void> __device__ __forceinline__ void __threadfence() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
template <typename = void> __device__ __forceinline__ void __threadfence_block() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); }
