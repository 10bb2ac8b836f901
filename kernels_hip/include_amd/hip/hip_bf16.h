// What AMD's header for hiprtc lacks: one bfloat16, converted by rounding to even, computed with as float. Names as in
// ROCm/clr, hipamd/include/hip/amd_detail/amd_hip_bf16.h; no pairs.
#pragma once
#include <hip/hip_runtime.h>

struct __hip_bfloat16 {
    unsigned short __x;
    __device__ __hip_bfloat16() = default;
    __device__ __hip_bfloat16(float value) {
        unsigned bits = __builtin_bit_cast(unsigned, value);
        bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
        __x = (unsigned short)(nan ? bits >> 16 | 0x40u : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
    }
    __device__ __hip_bfloat16(double value) : __hip_bfloat16((float)value) {}
    __device__ __hip_bfloat16(int value) : __hip_bfloat16((float)value) {}
    __device__ __hip_bfloat16(unsigned value) : __hip_bfloat16((float)value) {}
    __device__ operator float() const { return __builtin_bit_cast(float, (unsigned)__x << 16); }
};

static __device__ inline __hip_bfloat16 __float2bfloat16(float value) { return __hip_bfloat16(value); }
static __device__ inline float __bfloat162float(__hip_bfloat16 value) { return value; }
static __device__ inline unsigned short __bfloat16_as_ushort(__hip_bfloat16 value) { return value.__x; }
static __device__ inline __hip_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
    __hip_bfloat16 value;
    value.__x = bits;
    return value;
}
static __device__ inline bool __hisnan(__hip_bfloat16 value) { return (value.__x & 0x7fff) > 0x7f80; }
static __device__ inline int __hisinf(__hip_bfloat16 value) {
    return (value.__x & 0x7fff) != 0x7f80 ? 0 : value.__x & 0x8000 ? -1 : 1;
}

#define __hip_bfloat16_operator(op)                                                                                    \
    static __device__ inline __hip_bfloat16 operator op(__hip_bfloat16 a, __hip_bfloat16 b) {                          \
        return __hip_bfloat16((float)a op (float)b);                                                                   \
    }                                                                                                                  \
    static __device__ inline __hip_bfloat16 &operator op##=(__hip_bfloat16 &a, __hip_bfloat16 b) { return a = a op b; }
__hip_bfloat16_operator(+) __hip_bfloat16_operator(-) __hip_bfloat16_operator(*) __hip_bfloat16_operator(/)
#undef __hip_bfloat16_operator

#define __hip_bfloat16_comparison(op)                                                                                  \
    static __device__ inline bool operator op(__hip_bfloat16 a, __hip_bfloat16 b) { return (float)a op (float)b; }
__hip_bfloat16_comparison(==) __hip_bfloat16_comparison(!=) __hip_bfloat16_comparison(<) __hip_bfloat16_comparison(<=)
__hip_bfloat16_comparison(>) __hip_bfloat16_comparison(>=)
#undef __hip_bfloat16_comparison
