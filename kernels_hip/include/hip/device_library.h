// What kernels of other people use of HIP's device language, beside hip_runtime.h: types, vectors, atomics.
//
// Each definition does what HIP's own header does with that name (ROCm/clr, hipamd/include/hip/amd_detail:
// amd_hip_atomic.h, amd_hip_vector_types.h). Mathematics: device_math.h; integers, lanes, workgroups: device_functions.h.
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

// Vectors of 2 and 4 are LLVM's, so that they are loaded at once; those of 3 have no fourth number, as in HIP.
#define __hip_vectors(T, name)                                                                                         \
    typedef T name##2 __attribute__((ext_vector_type(2)));                                                             \
    typedef T name##4 __attribute__((ext_vector_type(4)));                                                             \
    struct name##1 { T x; };                                                                                           \
    struct name##3 { T x, y, z; };                                                                                     \
    __host__ __device__ __forceinline__ name##1 make_##name##1(T x) { return name##1{x}; }                             \
    __host__ __device__ __forceinline__ name##2 make_##name##2(T x, T y) { return name##2{x, y}; }                     \
    __host__ __device__ __forceinline__ name##3 make_##name##3(T x, T y, T z) { return name##3{x, y, z}; }             \
    __host__ __device__ __forceinline__ name##4 make_##name##4(T x, T y, T z, T w) { return name##4{x, y, z, w}; }
typedef unsigned uint;
__hip_vectors(char, char) __hip_vectors(unsigned char, uchar) __hip_vectors(short, short)
__hip_vectors(unsigned short, ushort) __hip_vectors(int, int) __hip_vectors(uint, uint) __hip_vectors(long, long)
__hip_vectors(unsigned long, ulong) __hip_vectors(long long, longlong) __hip_vectors(unsigned long long, ulonglong)
__hip_vectors(float, float) __hip_vectors(double, double)
#undef __hip_vectors

constexpr int warpSize = 32;
#if __clang_major__ >= 19 // older ones, which a distribution's hipcc may drive, lack builtins and read C++14
#include <hip/device_functions.h>
#endif
#ifndef __CLANG_HIP_MATH_H__ // hipcc reads clang's own, which has these names
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#include "device_math.h"

// Of two types: as double, as in HIP.
#define __hip_choice(name, less)                                                                                       \
    template <class T> __hip_fn T name(T x, T y) { return x less y ? x : y; }                                          \
    __hip_fn float name(float x, float y) { return f##name(x, y); }                                                    \
    __hip_fn double name(double x, double y) { return f##name(x, y); }                                                 \
    __hip_mixed(name)
__hip_choice(min, <) __hip_choice(max, >)
#undef __hip_choice
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
