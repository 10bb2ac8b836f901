// HIP's device mathematics by its names (docs of HIP, "HIP math API"; ROCm/clr, amd_detail/amd_math_functions.h), each
// a function of the device library ocml: this project's (ocml/functions.h), or AMD's where the compiler links that.
#pragma once

#include <hip/device_functions.h>

// name: of double; its overload for float has the same, and the suffix f.
#define __hip_math_of(name, ocml, arguments, passed)                                                                   \
    __hip_fn double name arguments(double) { return __ocml_##ocml##_f64 passed; }                                      \
    __hip_fn float name##f arguments(float) { return __ocml_##ocml##_f32 passed; }
#define __hip_overload(name, ocml, arguments, passed)                                                                  \
    __hip_math_of(name, ocml, arguments, passed)                                                                       \
    __hip_fn float name arguments(float) { return __ocml_##ocml##_f32 passed; }
#define __hip_1(T) (T x)
#define __hip_2(T) (T x, T y)
#define __hip_3(T) (T x, T y, T z)
#define __hip_math_1(name) __hip_overload(name, name, __hip_1, (x)) __hip_integers(name)
#define __hip_math_2(name) __hip_overload(name, name, __hip_2, (x, y)) __hip_mixed(name)
// Integers are taken as double, two different types as the wider of them, as C++'s <cmath> does.
template <bool, class> struct __hip_if {};
template <class T> struct __hip_if<true, T> { typedef T type; };
#define __hip_integers(name)                                                                                           \
    template <class T> __hip_fn typename __hip_if<__is_integral(T), double>::type name(T x) { return name((double)x); }
#define __hip_mixed(name)                                                                                              \
    template <class T, class U>                                                                                        \
    __hip_fn typename __hip_if<__is_arithmetic(T) && __is_arithmetic(U), double>::type name(T x, U y) {                \
        return name((double)x, (double)y);                                                                             \
    }

__hip_math_1(exp) __hip_math_1(exp2) __hip_math_1(exp10) __hip_math_1(expm1)
__hip_math_1(log) __hip_math_1(log2) __hip_math_1(log10) __hip_math_1(log1p) __hip_math_1(logb)
__hip_math_1(sqrt) __hip_math_1(rsqrt) __hip_math_1(cbrt) __hip_math_1(rcbrt)
__hip_math_1(sin) __hip_math_1(cos) __hip_math_1(tan) __hip_math_1(sinpi) __hip_math_1(cospi)
__hip_math_1(asin) __hip_math_1(acos) __hip_math_1(atan)
__hip_math_1(sinh) __hip_math_1(cosh) __hip_math_1(tanh) __hip_math_1(asinh) __hip_math_1(acosh) __hip_math_1(atanh)
__hip_math_1(erf) __hip_math_1(erfc) __hip_math_1(erfcx) __hip_math_1(erfinv) __hip_math_1(erfcinv)
__hip_math_1(tgamma) __hip_math_1(lgamma) __hip_math_1(j0) __hip_math_1(j1) __hip_math_1(y0) __hip_math_1(y1)
__hip_overload(normcdf, ncdf, __hip_1, (x)) __hip_overload(normcdfinv, ncdfinv, __hip_1, (x))
__hip_overload(cyl_bessel_i0, i0, __hip_1, (x)) __hip_overload(cyl_bessel_i1, i1, __hip_1, (x))
__hip_math_1(fabs) __hip_math_1(ceil) __hip_math_1(floor) __hip_math_1(trunc) __hip_math_1(round) __hip_math_1(rint)
__hip_math_1(nearbyint)
__hip_math_2(pow) __hip_math_2(atan2) __hip_math_2(fmod) __hip_math_2(remainder) __hip_math_2(hypot)
__hip_math_2(rhypot) __hip_math_2(fdim) __hip_math_2(fmax) __hip_math_2(fmin) __hip_math_2(copysign)
__hip_math_2(nextafter)
__hip_overload(fma, fma, __hip_3, (x, y, z))
template <class T, class U, class V>
__hip_fn typename __hip_if<__is_arithmetic(T) && __is_arithmetic(U) && __is_arithmetic(V), double>::type fma(T x, U y, V z) {
    return fma((double)x, (double)y, (double)z);
}
__hip_overload(norm3d, len3, __hip_3, (x, y, z)) __hip_overload(rnorm3d, rlen3, __hip_3, (x, y, z))
#define __hip_4(T) (T x, T y, T z, T w)
__hip_overload(norm4d, len4, __hip_4, (x, y, z, w)) __hip_overload(rnorm4d, rlen4, __hip_4, (x, y, z, w))
#undef __hip_4
#define __hip_n(T) (T x, int n)
__hip_overload(ldexp, ldexp, __hip_n, (x, n)) __hip_overload(scalbn, scalbn, __hip_n, (x, n))
template <class T> __hip_fn typename __hip_if<__is_integral(T), double>::type ldexp(T x, int n) { return ldexp((double)x, n); }
template <class T> __hip_fn typename __hip_if<__is_integral(T), double>::type scalbn(T x, int n) { return scalbn((double)x, n); }
__hip_math_of(powi, pown, __hip_n, (x, n))
__hip_fn double pow(double x, int n) { return __ocml_pown_f64(x, n); }
__hip_fn float pow(float x, int n) { return __ocml_pown_f32(x, n); }
#undef __hip_n

#define __hip_overloaded(T, f, w)                                                                                      \
    __hip_fn T scalbln##f(T x, long n) { return __ocml_scalb_##w(x, (T)n); }                                           \
    __hip_fn int ilogb##f(T x) { return __ocml_ilogb_##w(x); }                                                         \
    __hip_parts(T frexp##f(T x, int *e), int, __ocml_frexp_##w(x, __hip_part), e)                                      \
    __hip_parts(T modf##f(T x, T *whole), T, __ocml_modf_##w(x, __hip_part), whole)                                    \
    __hip_parts(T remquo##f(T x, T y, int *q), int, __ocml_remquo_##w(x, y, __hip_part), q)                            \
    __hip_fn long lrint##f(T x) { return (long)__ocml_rint_##w(x); }                                                   \
    __hip_fn long long llrint##f(T x) { return (long long)__ocml_rint_##w(x); }                                        \
    __hip_fn long lround##f(T x) { return (long)__ocml_round_##w(x); }                                                 \
    __hip_fn long long llround##f(T x) { return (long long)__ocml_round_##w(x); }
#define __hip_typed(T, f, w)                                                                                           \
    __hip_parts(T __hip_sincos(T x, T *cos), T, __ocml_sincos_##w(x, __hip_part), cos)                                 \
    __hip_parts(T __hip_sincospi(T x, T *cos), T, __ocml_sincospi_##w(x, __hip_part), cos)                             \
    __hip_fn void sincos##f(T x, T *sin, T *cos) { *sin = __hip_sincos(x, cos); }                                      \
    __hip_fn void sincospi##f(T x, T *sin, T *cos) { *sin = __hip_sincospi(x, cos); }                                  \
    __hip_fn T jn##f(int n, T x) { return __own_math::__jn_(n, x); }                                                   \
    __hip_fn T yn##f(int n, T x) { return __own_math::__yn_(n, x); }                                                   \
    __hip_fn T norm##f(int n, const T *a) { return __own_math::__length(a, n, false); }                                \
    __hip_fn T rnorm##f(int n, const T *a) { return __own_math::__length(a, n, true); }                                \
    __hip_fn bool isnan(T x) { return x != x; }                                                                        \
    __hip_fn bool isinf(T x) { return __builtin_isinf(x); }                                                            \
    __hip_fn bool isfinite(T x) { return __builtin_isfinite(x); }                                                      \
    __hip_fn bool signbit(T x) { return __ocml_signbit_##w(x); }
#define __hip_parts(declared, T, value, second)                                                                        \
    __hip_fn declared {                                                                                                \
        T part;                                                                                                        \
        auto __hip_part = (__private_pointer(T))&part;                                                                 \
        auto first = value;                                                                                            \
        *second = part;                                                                                                \
        return first;                                                                                                  \
    }
__hip_overloaded(float, f, f32) __hip_overloaded(float, , f32) __hip_overloaded(double, , f64)
__hip_typed(float, f, f32) __hip_typed(double, , f64)
__hip_integers(isnan) __hip_integers(isinf) __hip_integers(isfinite) __hip_integers(signbit) __hip_integers(ilogb)
#undef __hip_overloaded
#undef __hip_typed
#undef __hip_parts
__hip_fn double nan(const char *) { return __builtin_nan(""); }
__hip_fn float nanf(const char *) { return __builtin_nanf(""); }
__hip_fn float abs(float x) { return __builtin_fabsf(x); }
__hip_fn double abs(double x) { return __builtin_fabs(x); }
__hip_fn int abs(int x) { return x < 0 ? -x : x; }
__hip_fn long abs(long x) { return x < 0 ? -x : x; }
__hip_fn long long abs(long long x) { return x < 0 ? -x : x; }
__hip_fn long labs(long x) { return abs(x); }
__hip_fn long long llabs(long long x) { return abs(x); }

// --- fast and rounded forms of arithmetic
#define __hip_f1(name, value) __hip_fn float name(float x) { return value; }
#define __hip_f2(name, value) __hip_fn float name(float x, float y) { return value; }
__hip_f1(__sinf, __ocml_native_sin_f32(x)) __hip_f1(__cosf, __ocml_native_cos_f32(x))
__hip_f1(__tanf, __sinf(x) * __builtin_amdgcn_rcpf(__cosf(x)))
__hip_f1(__expf, __ocml_native_exp_f32(x)) __hip_f1(__exp10f, __ocml_native_exp10_f32(x))
__hip_f1(__logf, __builtin_logf(x)) __hip_f1(__log2f, __builtin_amdgcn_logf(x)) __hip_f1(__log10f, __builtin_log10f(x))
__hip_f2(__powf, __ocml_pow_f32(x, y)) __hip_f2(__fdividef, x / y) __hip_f2(fdividef, x / y)
__hip_f1(__saturatef, __builtin_fminf(__builtin_fmaxf(x, 0), 1))
__hip_f1(__frsqrt_rn, __ocml_rsqrt_f32(x))
#undef __hip_f1
#undef __hip_f2
__hip_fn void __sincosf(float x, float *sin, float *cos) { *sin = __sinf(x), *cos = __cosf(x); }

#define __hip_rounded(T, w, add, fma, to, rounding)                                                                    \
    __hip_fn T __##add##add_##to(T x, T y) { return __ocml_add_##rounding##_##w(x, y); }                               \
    __hip_fn T __##add##sub_##to(T x, T y) { return __ocml_sub_##rounding##_##w(x, y); }                               \
    __hip_fn T __##add##mul_##to(T x, T y) { return __ocml_mul_##rounding##_##w(x, y); }                               \
    __hip_fn T __##add##div_##to(T x, T y) { return __ocml_div_##rounding##_##w(x, y); }                               \
    __hip_fn T __##add##rcp_##to(T x) { return __ocml_div_##rounding##_##w((T)1, x); }                                 \
    __hip_fn T __##add##sqrt_##to(T x) { return __ocml_sqrt_##rounding##_##w(x); }                                     \
    __hip_fn T __##fma##_##to(T x, T y, T z) { return __ocml_fma_##rounding##_##w(x, y, z); }
#define __hip_nearest(T, add, fma)                                                                                     \
    __hip_fn T __##add##add_rn(T x, T y) { return x + y; }                                                             \
    __hip_fn T __##add##sub_rn(T x, T y) { return x - y; }                                                             \
    __hip_fn T __##add##mul_rn(T x, T y) { return x * y; }                                                             \
    __hip_fn T __##add##div_rn(T x, T y) { return x / y; }                                                             \
    __hip_fn T __##add##rcp_rn(T x) { return 1 / x; }                                                                  \
    __hip_fn T __##add##sqrt_rn(T x) { return __builtin_elementwise_sqrt(x); }                                         \
    __hip_fn T __##fma##_rn(T x, T y, T z) { return __builtin_elementwise_fma(x, y, z); }
__hip_nearest(float, f, fmaf) __hip_nearest(double, d, fma)
__hip_rounded(float, f32, f, fmaf, ru, rtp) __hip_rounded(double, f64, d, fma, ru, rtp)
__hip_rounded(float, f32, f, fmaf, rd, rtn) __hip_rounded(double, f64, d, fma, rd, rtn)
__hip_rounded(float, f32, f, fmaf, rz, rtz) __hip_rounded(double, f64, d, fma, rz, rtz)
#undef __hip_nearest
#undef __hip_rounded
