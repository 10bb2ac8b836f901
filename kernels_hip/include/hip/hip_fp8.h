// Floats of 8 bits, alone, in pairs and in fours: OCP's e4m3 and e5m2, and those without a negative zero (fnuz). Names as in
// ROCm/clr, hipamd/include/hip/amd_detail/amd_hip_fp8.h, and results: to the nearest even number; what is beyond the largest
// number becomes that with __HIP_SATFINITE, else infinity, or NaN where there is none. OCP: "8-bit Floating Point
// Specification", 2023.
#pragma once
#pragma clang system_header
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
#include <hip/hip_bf16.h>

enum __hip_saturation_t { __HIP_NOSAT = 0, __HIP_SATFINITE = 1 };
enum __hip_fp8_interpretation_t { __HIP_E4M3 = 0, __HIP_E5M2 = 1, __HIP_E4M3_FNUZ = 2, __HIP_E5M2_FNUZ = 3 };
typedef unsigned char __hip_fp8_storage_t;
typedef unsigned short __hip_fp8x2_storage_t;
typedef unsigned __hip_fp8x4_storage_t;
#define __hip_fp8_fn static __host__ __device__ inline

// x = m 2^e, m in [1, 2), of a normal number of its type; x 2^n, exact here. By bits, for the host's part, too.
__hip_fp8_fn int __hip_fp8_exponent(float x) { return (int)(__builtin_bit_cast(unsigned, x) >> 23) - 127; }
__hip_fp8_fn int __hip_fp8_exponent(double x) { return (int)(__builtin_bit_cast(unsigned long long, x) >> 52) - 1023; }
__hip_fp8_fn float __hip_fp8_scaled(float x, int n) { return x * __builtin_bit_cast(float, (unsigned)(n + 127) << 23); }
__hip_fp8_fn double __hip_fp8_scaled(double x, int n) {
    return x * __builtin_bit_cast(double, (unsigned long long)(n + 1023) << 52);
}

template <class T> __hip_fp8_fn __hip_fp8_storage_t __hip_to_fp8(T x, __hip_saturation_t saturation, int kind) {
    const bool fnuz = kind >= __HIP_E4M3_FNUZ, wide = kind & 1; // wide: e5m2
    const int digits = wide ? 2 : 3, bias = (wide ? 15 : 7) + fnuz;
    const T most = wide ? 57344 : fnuz ? 240 : 448, a = x < 0 ? -x : x;
    const bool negative = __builtin_signbit(x);
    const int sign = negative ? 0x80 : 0, not_a_number = fnuz ? 0x80 : sign | 0x7f;
    if (!(a <= most)) {
        if (__builtin_isnan(x)) return (__hip_fp8_storage_t)not_a_number;
        if (__builtin_isinf(x)) return (__hip_fp8_storage_t)(wide && !fnuz ? sign | 0x7c : not_a_number);
        if (saturation == __HIP_SATFINITE) return (__hip_fp8_storage_t)(sign | (fnuz ? 0x7f : wide ? 0x7b : 0x7e));
        return (__hip_fp8_storage_t)(fnuz ? 0x80 : sign | (wide ? 0x7c : 0x7f));
    }
    int e = __hip_fp8_exponent(a);
    e = e < 1 - bias ? 1 - bias : e;
    int steps = (int)__builtin_rint(__hip_fp8_scaled(a, digits - e)); // of 2^(e - digits)
    int code = steps < 1 << digits ? steps : ((e + bias) << digits) + steps - (1 << digits);
    return (__hip_fp8_storage_t)(code == 0 && fnuz ? 0 : sign | code);
}
__hip_fp8_fn float __hip_from_fp8(__hip_fp8_storage_t x, int kind) {
    const bool fnuz = kind >= __HIP_E4M3_FNUZ, wide = kind & 1;
    const int digits = wide ? 2 : 3, bias = (wide ? 15 : 7) + fnuz, code = x & 0x7f;
    if (fnuz ? x == 0x80 : code > (wide ? 0x7c : 0x7e)) return __builtin_nanf("");
    float a = wide && !fnuz && code == 0x7c ? __builtin_inff() : 0;
    if (a == 0) {
        int e = code >> digits, m = code & ((1 << digits) - 1);
        a = __hip_fp8_scaled((float)(e ? m + (1 << digits) : m), (e ? e : 1) - bias - digits);
    }
    return x & 0x80 ? -a : a;
}

#define __hip_fp8_conversion(from, T, value)                                                                           \
    __hip_fp8_fn __hip_fp8_storage_t __hip_cvt_##from##_to_fp8(T x, __hip_saturation_t s, __hip_fp8_interpretation_t k) {\
        return __hip_to_fp8(value, s, k);                                                                              \
    }
#define __hip_fp8_conversion2(from, T, first, second)                                                                  \
    __hip_fp8_fn __hip_fp8x2_storage_t __hip_cvt_##from##_to_fp8x2(T x, __hip_saturation_t s,                          \
                                                                  __hip_fp8_interpretation_t k) {                      \
        return (__hip_fp8x2_storage_t)(__hip_to_fp8(first, s, k) | __hip_to_fp8(second, s, k) << 8);                   \
    }
__hip_fp8_conversion(float, float, x) __hip_fp8_conversion(double, double, x)
__hip_fp8_conversion(halfraw, __half_raw, (float)x.data)
__hip_fp8_conversion(bfloat16raw, __hip_bfloat16_raw, (float)__hip_bfloat16(x))
__hip_fp8_conversion2(float2, float2, x.x, x.y) __hip_fp8_conversion2(double2, double2, x.x, x.y)
#undef __hip_fp8_conversion
#undef __hip_fp8_conversion2
__hip_fp8_fn __half_raw __hip_cvt_fp8_to_halfraw(__hip_fp8_storage_t x, __hip_fp8_interpretation_t k) {
    __half_raw made;
    made.data = (_Float16)__hip_from_fp8(x, k);
    return made;
}

#define __hip_fp8_type(name, two, four, kind)                                                                          \
    struct name {                                                                                                      \
        static constexpr __hip_saturation_t __default_saturation = __HIP_SATFINITE;                                    \
        static constexpr __hip_fp8_interpretation_t __default_interpret = kind;                                        \
        __hip_fp8_storage_t __x;                                                                                       \
        __host__ __device__ name() = default;                                                                          \
        __host__ __device__ name(float x) : __x(__hip_to_fp8(x, __HIP_SATFINITE, kind)) {}                             \
        __host__ __device__ name(double x) : __x(__hip_to_fp8(x, __HIP_SATFINITE, kind)) {}                            \
        __host__ __device__ name(__half x) : name((float)x) {}                                                         \
        __host__ __device__ name(__hip_bfloat16 x) : name((float)x) {}                                                 \
        __host__ __device__ name(int x) : name((double)x) {}                                                           \
        __host__ __device__ name(unsigned x) : name((double)x) {}                                                      \
        __host__ __device__ name(long x) : name((double)x) {}                                                          \
        __host__ __device__ name(unsigned long x) : name((double)x) {}                                                 \
        __host__ __device__ operator float() const { return __hip_from_fp8(__x, kind); }                               \
    };                                                                                                                 \
    struct __attribute__((aligned(2))) two {                                                                           \
        __hip_fp8x2_storage_t __x;                                                                                     \
        __host__ __device__ two() = default;                                                                           \
        __host__ __device__ two(float2 x)                                                                              \
            : __x((__hip_fp8x2_storage_t)(name(x.x).__x | name(x.y).__x << 8)) {}                                      \
        __host__ __device__ operator float2() const {                                                                  \
            return make_float2(__hip_from_fp8(__x & 0xff, kind), __hip_from_fp8((__hip_fp8_storage_t)(__x >> 8), kind));\
        }                                                                                                              \
    };                                                                                                                 \
    struct __attribute__((aligned(4))) four {                                                                          \
        __hip_fp8x4_storage_t __x;                                                                                     \
        __host__ __device__ four() = default;                                                                          \
        __host__ __device__ four(float4 x)                                                                             \
            : __x((unsigned)name(x.x).__x | name(x.y).__x << 8 | name(x.z).__x << 16 | (unsigned)name(x.w).__x << 24) {}\
        __host__ __device__ operator float4() const {                                                                  \
            return make_float4(__hip_from_fp8(__x & 0xff, kind), __hip_from_fp8(__x >> 8 & 0xff, kind),                \
                               __hip_from_fp8(__x >> 16 & 0xff, kind), __hip_from_fp8(__x >> 24, kind));               \
        }                                                                                                              \
    };
__hip_fp8_type(__hip_fp8_e4m3, __hip_fp8x2_e4m3, __hip_fp8x4_e4m3, __HIP_E4M3)
__hip_fp8_type(__hip_fp8_e5m2, __hip_fp8x2_e5m2, __hip_fp8x4_e5m2, __HIP_E5M2)
__hip_fp8_type(__hip_fp8_e4m3_fnuz, __hip_fp8x2_e4m3_fnuz, __hip_fp8x4_e4m3_fnuz, __HIP_E4M3_FNUZ)
__hip_fp8_type(__hip_fp8_e5m2_fnuz, __hip_fp8x2_e5m2_fnuz, __hip_fp8x4_e5m2_fnuz, __HIP_E5M2_FNUZ)
#undef __hip_fp8_type
