// HIP's device mathematics by its names (docs of HIP, "HIP math API"; ROCm/clr, amd_detail/amd_math_functions.h), each
// a function of the device library ocml: this project's (ocml/functions.h), or AMD's where the compiler links that.
#pragma once

#include <ocml/functions.h>

#define __hip_fn static __device__ inline __attribute__((always_inline))
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
template <class T> constexpr bool __hip_integer = __is_integral(T);
template <class T, class U> struct __hip_widest { typedef double type; };
template <> struct __hip_widest<float, _Float16> { typedef float type; };
template <> struct __hip_widest<_Float16, float> { typedef float type; };
#define __hip_integers(name)                                                                                           \
    template <class T> __hip_fn typename __hip_if<__is_integral(T), double>::type name(T x) { return name((double)x); }
#define __hip_mixed(name)                                                                                              \
    template <class T, class U>                                                                                        \
    __hip_fn typename __hip_if<__is_arithmetic(T) && __is_arithmetic(U) && !__is_same(T, U) ||                         \
                                   __is_integral(T) && __is_integral(U), double>::type name(T x, U y) {                \
        return name((double)x, (double)y);                                                                             \
    }

__hip_math_1(exp) __hip_math_1(exp2) __hip_math_1(exp10) __hip_math_1(expm1)
__hip_math_1(log) __hip_math_1(log2) __hip_math_1(log10) __hip_math_1(log1p) __hip_math_1(logb)
__hip_math_1(sqrt) __hip_math_1(rsqrt) __hip_math_1(cbrt) __hip_math_1(rcbrt)
__hip_math_1(sin) __hip_math_1(cos) __hip_math_1(tan) __hip_math_1(sinpi) __hip_math_1(cospi)
__hip_math_1(asin) __hip_math_1(acos) __hip_math_1(atan)
__hip_math_1(sinh) __hip_math_1(cosh) __hip_math_1(tanh) __hip_math_1(asinh) __hip_math_1(acosh) __hip_math_1(atanh)
__hip_math_1(fabs) __hip_math_1(ceil) __hip_math_1(floor) __hip_math_1(trunc) __hip_math_1(round) __hip_math_1(rint)
__hip_math_1(nearbyint)
__hip_math_2(pow) __hip_math_2(atan2) __hip_math_2(fmod) __hip_math_2(remainder) __hip_math_2(hypot)
__hip_math_2(rhypot) __hip_math_2(fdim) __hip_math_2(fmax) __hip_math_2(fmin) __hip_math_2(copysign)
__hip_math_2(nextafter)
__hip_overload(fma, fma, __hip_3, (x, y, z))
__hip_overload(norm3d, len3, __hip_3, (x, y, z)) __hip_overload(rnorm3d, rlen3, __hip_3, (x, y, z))
#define __hip_4(T) (T x, T y, T z, T w)
__hip_overload(norm4d, len4, __hip_4, (x, y, z, w)) __hip_overload(rnorm4d, rlen4, __hip_4, (x, y, z, w))
#undef __hip_4
#define __hip_n(T) (T x, int n)
__hip_overload(ldexp, ldexp, __hip_n, (x, n)) __hip_overload(scalbn, scalbn, __hip_n, (x, n))
__hip_math_of(powi, pown, __hip_n, (x, n))
#undef __hip_n

#define __hip_typed(T, f, w)                                                                                           \
    __hip_fn T scalbln##f(T x, long n) { return __ocml_scalb_##w(x, (T)n); }                                           \
    __hip_fn int ilogb##f(T x) { return __ocml_ilogb_##w(x); }                                                         \
    __hip_parts(T frexp##f(T x, int *e), int, __ocml_frexp_##w(x, __hip_part), e)                                      \
    __hip_parts(T modf##f(T x, T *whole), T, __ocml_modf_##w(x, __hip_part), whole)                                    \
    __hip_parts(T remquo##f(T x, T y, int *q), int, __ocml_remquo_##w(x, y, __hip_part), q)                            \
    __hip_parts(T __hip_sincos(T x, T *cos), T, __ocml_sincos_##w(x, __hip_part), cos)                                 \
    __hip_parts(T __hip_sincospi(T x, T *cos), T, __ocml_sincospi_##w(x, __hip_part), cos)                             \
    __hip_fn void sincos##f(T x, T *sin, T *cos) { *sin = __hip_sincos(x, cos); }                                      \
    __hip_fn void sincospi##f(T x, T *sin, T *cos) { *sin = __hip_sincospi(x, cos); }                                  \
    __hip_fn long lrint##f(T x) { return (long)__ocml_rint_##w(x); }                                                   \
    __hip_fn long long llrint##f(T x) { return (long long)__ocml_rint_##w(x); }                                        \
    __hip_fn long lround##f(T x) { return (long)__ocml_round_##w(x); }                                                 \
    __hip_fn long long llround##f(T x) { return (long long)__ocml_round_##w(x); }                                      \
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
__hip_typed(float, f, f32) __hip_typed(double, , f64)
#undef __hip_typed
#undef __hip_parts
