// Bfloat16 and pairs of it, converted by rounding to even and computed with as float. Names as in ROCm/clr,
// hipamd/include/hip/amd_detail/amd_hip_bf16.h.
#pragma once
#pragma clang system_header
#include <hip/hip_runtime.h>
#include "narrow_floats.h"

struct __hip_bfloat16_raw { unsigned short x; };
struct __hip_bfloat16 {
    unsigned short __x;
    __host__ __device__ __hip_bfloat16() = default;
    __host__ __device__ __hip_bfloat16(__hip_bfloat16_raw raw) : __x(raw.x) {}
    __host__ __device__ __hip_bfloat16(float value) {
        unsigned bits = __builtin_bit_cast(unsigned, value);
        bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
        __x = (unsigned short)(nan ? bits >> 16 | 0x40u : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
    }
    // What float drops of it is kept as a last bit that is set, so that it is rounded once.
    __host__ __device__ __hip_bfloat16(double value) {
        float narrow = (float)value;
        unsigned bits = __builtin_bit_cast(unsigned, narrow);
        bool away = __builtin_fabs((double)narrow) > __builtin_fabs(value), exact = !(narrow < value) && !(narrow > value);
        if (!exact) bits = (bits - away) | 1u;
        *this = __hip_bfloat16(__builtin_bit_cast(float, bits));
    }
    __host__ __device__ __hip_bfloat16(int value) : __hip_bfloat16((double)value) {}
    __host__ __device__ __hip_bfloat16(unsigned value) : __hip_bfloat16((double)value) {}
    __host__ __device__ __hip_bfloat16(short value) : __hip_bfloat16((float)value) {}
    __host__ __device__ __hip_bfloat16(unsigned short value) : __hip_bfloat16((float)value) {}
    __host__ __device__ operator float() const { return __builtin_bit_cast(float, (unsigned)__x << 16); }
    __host__ __device__ operator __hip_bfloat16_raw() const { return {__x}; }
};
struct __attribute__((aligned(4))) __hip_bfloat162 {
    __hip_bfloat16 x, y;
    __host__ __device__ __hip_bfloat162() = default;
    __host__ __device__ __hip_bfloat162(__hip_bfloat16 x, __hip_bfloat16 y) : x(x), y(y) {}
};

__hip_narrow_fn float __hip_wide(__hip_bfloat16 x) { return x; }
__hip_narrow(__hip_bfloat16, __hip_bfloat162)

__hip_narrow_fn __hip_bfloat16 __float2bfloat16(float x) { return x; }
__hip_narrow_fn __hip_bfloat16 __float2bfloat16_rn(float x) { return x; }
__hip_narrow_fn __hip_bfloat16 __double2bfloat16(double x) { return x; }
__hip_narrow_fn float __bfloat162float(__hip_bfloat16 x) { return x; }
__hip_narrow_fn unsigned short __bfloat16_as_ushort(__hip_bfloat16 x) { return x.__x; }
__hip_narrow_fn short __bfloat16_as_short(__hip_bfloat16 x) { return (short)x.__x; }
__hip_narrow_fn __hip_bfloat16 __ushort_as_bfloat16(unsigned short x) { return __builtin_bit_cast(__hip_bfloat16, x); }
__hip_narrow_fn __hip_bfloat16 __short_as_bfloat16(short x) { return __builtin_bit_cast(__hip_bfloat16, x); }
__hip_narrow_fn __hip_bfloat162 __floats2bfloat162_rn(float x, float y) { return {x, y}; }
__hip_narrow_fn __hip_bfloat162 __float22bfloat162_rn(float2 x) { return {x.x, x.y}; }
__hip_narrow_fn __hip_bfloat162 __float2bfloat162_rn(float x) { return {x, x}; }
__hip_narrow_fn float2 __bfloat1622float2(__hip_bfloat162 x) { return make_float2((float)x.x, (float)x.y); }
__hip_narrow_fn __hip_bfloat162 __bfloat162bfloat162(__hip_bfloat16 x) { return {x, x}; }
__hip_narrow_fn __hip_bfloat162 __halves2bfloat162(__hip_bfloat16 x, __hip_bfloat16 y) { return {x, y}; }
__hip_narrow_fn __hip_bfloat16 __low2bfloat16(__hip_bfloat162 x) { return x.x; }
__hip_narrow_fn __hip_bfloat16 __high2bfloat16(__hip_bfloat162 x) { return x.y; }
__hip_narrow_fn float __low2float(__hip_bfloat162 x) { return x.x; }
__hip_narrow_fn float __high2float(__hip_bfloat162 x) { return x.y; }
__hip_narrow_fn __hip_bfloat162 __low2bfloat162(__hip_bfloat162 x) { return {x.x, x.x}; }
__hip_narrow_fn __hip_bfloat162 __high2bfloat162(__hip_bfloat162 x) { return {x.y, x.y}; }
__hip_narrow_fn __hip_bfloat162 __lows2bfloat162(__hip_bfloat162 x, __hip_bfloat162 y) { return {x.x, y.x}; }
__hip_narrow_fn __hip_bfloat162 __highs2bfloat162(__hip_bfloat162 x, __hip_bfloat162 y) { return {x.y, y.y}; }
__hip_narrow_fn __hip_bfloat162 __lowhigh2highlow(__hip_bfloat162 x) { return {x.y, x.x}; }
