// Half and pairs of it. Names as in ROCm/clr, hipamd/include/hip/amd_detail/amd_hip_fp16.h.
#pragma once
#pragma clang system_header
#include <hip/hip_runtime.h>
#include <hip/narrow_floats.h>

struct __half_raw {
    union {
        _Float16 data;
        unsigned short x;
    };
};
struct __half {
    union {
        _Float16 data;
        unsigned short __x;
    };
    __host__ __device__ __half() = default;
    __host__ __device__ __half(__half_raw x) : data(x.data) {}
    __host__ __device__ __half(_Float16 x) : data(x) {}
    template <class T, class = typename __hip_if<__is_arithmetic(T), T>::type>
    __host__ __device__ __half(T x) : data((_Float16)x) {}
    __host__ __device__ operator float() const { return (float)data; }
    __host__ __device__ operator __half_raw() const { return {data}; }
};
struct __attribute__((aligned(4))) __half2 {
    __half x, y;
    __host__ __device__ __half2() = default;
    __host__ __device__ __half2(__half x, __half y) : x(x), y(y) {}
    __host__ __device__ __half2(__half both) : x(both), y(both) {}
};
typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;

__hip_narrow_fn _Float16 __hip_wide(__half x) { return x.data; }
__hip_narrow(__half, __half2)

__hip_narrow_fn __half __float2half(float x) { return x; }
__hip_narrow_fn float __half2float(__half x) { return x; }
__hip_narrow_fn __half __double2half(double x) { return x; }
__hip_narrow_fn __half __float2half_rn(float x) { return x; }
__hip_narrow_fn __half __float2half_rz(float x) { return __ocml_cvtrtz_f16_f32(x); }
__hip_narrow_fn __half __float2half_ru(float x) { return __ocml_cvtrtp_f16_f32(x); }
__hip_narrow_fn __half __float2half_rd(float x) { return __ocml_cvtrtn_f16_f32(x); }
// Of integers to the nearest by way of float or double, which have all their bits; else by what float drops.
#define __hip_half_of(name, T)                                                                                         \
    __hip_narrow_fn T __half2##name##_rn(__half x) { return (T)__builtin_rintf(x); }                                   \
    __hip_narrow_fn T __half2##name##_rz(__half x) { return (T)(float)x; }                                             \
    __hip_narrow_fn T __half2##name##_ru(__half x) { return (T)__builtin_ceilf(x); }                                   \
    __hip_narrow_fn T __half2##name##_rd(__half x) { return (T)__builtin_floorf(x); }                                  \
    __hip_narrow_fn __half __##name##2half_rn(T x) { return (_Float16)x; }                                             \
    __hip_narrow_fn __half __##name##2half_rz(T x) { return __ocml_cvtrtz_f16_f32(__hip_odd(x)); }                     \
    __hip_narrow_fn __half __##name##2half_ru(T x) { return __ocml_cvtrtp_f16_f32(__hip_odd(x)); }                     \
    __hip_narrow_fn __half __##name##2half_rd(T x) { return __ocml_cvtrtn_f16_f32(__hip_odd(x)); }
// An integer as float of 20 bits at most, of which the last is set where some are lost: on the same side of any half.
template <class T> __hip_narrow_fn float __hip_odd(T x) {
    bool negative = x < 0;
    unsigned long long a = negative ? -(unsigned long long)x : (unsigned long long)x;
    int drop = a >> 20 ? 44 - __builtin_clzll(a) : 0;
    a = a >> drop << drop | (unsigned long long)((a & ((1ull << drop) - 1)) != 0) << drop;
    return negative ? -(float)a : (float)a;
}
__hip_half_of(int, int) __hip_half_of(uint, unsigned) __hip_half_of(short, short) __hip_half_of(ushort, unsigned short)
__hip_half_of(ll, long long) __hip_half_of(ull, unsigned long long)
#undef __hip_half_of
__hip_narrow_fn short __half_as_short(__half x) { return __builtin_bit_cast(short, x); }
__hip_narrow_fn unsigned short __half_as_ushort(__half x) { return __builtin_bit_cast(unsigned short, x); }
__hip_narrow_fn __half __short_as_half(short x) { return __builtin_bit_cast(__half, x); }
__hip_narrow_fn __half __ushort_as_half(unsigned short x) { return __builtin_bit_cast(__half, x); }
__hip_narrow_fn __half2 __floats2half2_rn(float x, float y) { return {x, y}; }
__hip_narrow_fn __half2 __float22half2_rn(float2 x) { return {x.x, x.y}; }
__hip_narrow_fn __half2 __float2half2_rn(float x) { return {x, x}; }
__hip_narrow_fn float2 __half22float2(__half2 x) { return float2{(float)x.x, (float)x.y}; }
__hip_narrow_fn __half2 __half2half2(__half x) { return {x, x}; }
__hip_narrow_fn __half2 __halves2half2(__half x, __half y) { return {x, y}; }
__hip_narrow_fn __half2 make_half2(__half x, __half y) { return {x, y}; }
__hip_narrow_fn __half __low2half(__half2 x) { return x.x; }
__hip_narrow_fn __half __high2half(__half2 x) { return x.y; }
__hip_narrow_fn float __low2float(__half2 x) { return x.x; }
__hip_narrow_fn float __high2float(__half2 x) { return x.y; }
__hip_narrow_fn __half2 __low2half2(__half2 x) { return {x.x, x.x}; }
__hip_narrow_fn __half2 __high2half2(__half2 x) { return {x.y, x.y}; }
__hip_narrow_fn __half2 __lows2half2(__half2 x, __half2 y) { return {x.x, y.x}; }
__hip_narrow_fn __half2 __highs2half2(__half2 x, __half2 y) { return {x.y, y.y}; }
__hip_narrow_fn __half2 __lowhigh2highlow(__half2 x) { return {x.y, x.x}; }
