// AMD's device library ocml by this project: the functions of HIP's device mathematics under the names by which headers
// ask for them (ROCm/llvm-project, amd/device-libs, doc/OCML.md). With AMD's own library to link
// (__HIPGEMM_AMD_DEVICE_LIBRARY__) they are declared only.
#pragma once
#pragma clang system_header

#include "arithmetic.h"
#include "polynomials.h"
#include "elementary.h"
#include "manipulation.h"
#include "special.h"
#include "rounded.h"

#ifdef __HIPGEMM_AMD_DEVICE_LIBRARY__
#define __ocml extern "C" __device__
#define __is(value) ;
#else
#define __ocml extern "C" __device__ inline
#define __is(value) { using namespace __own_math; return value; }
#endif

#define __private_pointer(T) __attribute__((address_space(5))) T *
#define __ocml_of(parameters, passed, name, f32, f64)                                                                  \
    __ocml __attribute__((const)) float __ocml_##name##_f32 parameters(float) __is(f32 passed)                         \
    __ocml __attribute__((const)) double __ocml_##name##_f64 parameters(double) __is(f64 passed)
#define __ocml_x(T) (T x)
#define __ocml_xy(T) (T x, T y)
#define __ocml_xyz(T) (T x, T y, T z)
#define __ocml_xyzu(T) (T x, T y, T z, T u)
#define __ocml_xn(T) (T x, int n)
#define __ocml_1(name, f32, f64) __ocml_of(__ocml_x, (x), name, f32, f64)
#define __ocml_2(name, f32, f64) __ocml_of(__ocml_xy, (x, y), name, f32, f64)
#define __ocml_own_1(name) __ocml_1(name, __##name##_, __##name##_)
#define __ocml_own_2(name) __ocml_2(name, __##name##_, __##name##_)
#define __ocml_builtin_1(name) __ocml_1(name, __builtin_##name##f, __builtin_##name)
#define __ocml_builtin_2(name) __ocml_2(name, __builtin_##name##f, __builtin_##name)

// LLVM makes float's exponentials and logarithms of the hardware's, to one ULP.
__ocml_1(exp, __builtin_expf, __exp_) __ocml_1(exp2, __builtin_exp2f, __exp2_) __ocml_1(exp10, __builtin_exp10f, __exp10_)
__ocml_1(log, __builtin_logf, __log_) __ocml_1(log2, __builtin_log2f, __log2_) __ocml_1(log10, __builtin_log10f, __log10_)
__ocml_own_1(expm1) __ocml_own_1(log1p) __ocml_own_2(pow) __ocml_2(powr, __pow_, __pow_)
__ocml_own_1(sqrt) __ocml_own_1(rsqrt) __ocml_own_1(cbrt) __ocml_own_1(rcbrt)
__ocml_own_1(sin) __ocml_own_1(cos) __ocml_own_1(tan) __ocml_own_1(sinpi) __ocml_own_1(cospi) __ocml_own_1(tanpi)
__ocml_own_1(asin) __ocml_own_1(acos) __ocml_own_1(atan) __ocml_own_2(atan2)
__ocml_own_1(sinh) __ocml_own_1(cosh) __ocml_own_1(tanh) __ocml_own_1(asinh) __ocml_own_1(acosh) __ocml_own_1(atanh)
__ocml_own_1(erf) __ocml_own_1(erfc) __ocml_own_1(erfcx) __ocml_own_1(erfinv) __ocml_own_1(erfcinv)
__ocml_own_1(ncdf) __ocml_own_1(ncdfinv) __ocml_own_1(tgamma) __ocml_own_1(lgamma)
__ocml_own_1(j0) __ocml_own_1(j1) __ocml_own_1(y0) __ocml_own_1(y1) __ocml_own_1(i0) __ocml_own_1(i1)
__ocml_builtin_1(fabs) __ocml_builtin_1(ceil) __ocml_builtin_1(floor) __ocml_builtin_1(trunc) __ocml_builtin_1(round)
__ocml_builtin_1(rint) __ocml_builtin_1(nearbyint)
__ocml_builtin_2(copysign) __ocml_builtin_2(fmax) __ocml_builtin_2(fmin)
__ocml_2(fdim, __fdim_, __fdim_) __ocml_own_2(fmod) __ocml_own_2(remainder) __ocml_own_2(nextafter) __ocml_own_2(scalb)
__ocml_of(__ocml_xyz, (x, y, z), fma, __builtin_fmaf, __builtin_fma)
__ocml_of(__ocml_xy, (false, x, y), hypot, __length_of, __length_of)
__ocml_of(__ocml_xy, (true, x, y), rhypot, __length_of, __length_of)
__ocml_of(__ocml_xyz, (false, x, y, z), len3, __length_of, __length_of)
__ocml_of(__ocml_xyz, (true, x, y, z), rlen3, __length_of, __length_of)
__ocml_of(__ocml_xyzu, (false, x, y, z, u), len4, __length_of, __length_of)
__ocml_of(__ocml_xyzu, (true, x, y, z, u), rlen4, __length_of, __length_of)
__ocml_own_1(logb) __ocml_of(__ocml_xn, (x, n), pown, __pown_, __pown_)
__ocml_of(__ocml_xn, (x, n), ldexp, __ldexp_, __ldexp_) __ocml_of(__ocml_xn, (x, n), scalbn, __ldexp_, __ldexp_)

#define __ocml_typed(T, w)                                                                                             \
    __ocml T __ocml_sincos_##w(T x, __private_pointer(T) cos) __is(__parted(__sincos_(x), cos))                        \
    __ocml T __ocml_sincospi_##w(T x, __private_pointer(T) cos) __is(__parted(__sincospi_(x), cos))                    \
    __ocml T __ocml_modf_##w(T x, __private_pointer(T) whole) __is(__parted(__modf_(x), whole))                        \
    __ocml T __ocml_frexp_##w(T x, __private_pointer(int) e) __is(__parted(__frexp_(x), e))                            \
    __ocml T __ocml_remquo_##w(T x, T y, __private_pointer(int) q) __is(__parted(__divided(x, y, true), q))            \
    __ocml __attribute__((const)) int __ocml_ilogb_##w(T x) __is(__ilogb_(x))                                          \
    __ocml __attribute__((const)) int __ocml_isnan_##w(T x) __is(__nan_(x))                                            \
    __ocml __attribute__((const)) int __ocml_isinf_##w(T x) __is(__abs_(x) == __infinity<T>)                           \
    __ocml __attribute__((const)) int __ocml_isfinite_##w(T x) __is(__finite_(x))                                      \
    __ocml __attribute__((const)) int __ocml_signbit_##w(T x) __is(__negative(x))
__ocml_typed(float, f32) __ocml_typed(double, f64)
#undef __ocml_typed

#define __ocml_native(name, value) __ocml __attribute__((const)) float __ocml_native_##name##_f32(float x) __is(value)
__ocml_native(sin, __builtin_amdgcn_sinf(x * 0x1.45f306p-3f)) __ocml_native(cos, __builtin_amdgcn_cosf(x * 0x1.45f306p-3f))
__ocml_native(exp2, __builtin_amdgcn_exp2f(x)) __ocml_native(exp, __builtin_amdgcn_exp2f(x * 0x1.715476p+0f))
__ocml_native(exp10, __builtin_amdgcn_exp2f(x * 0x1.a934fp+1f)) __ocml_native(log2, __builtin_amdgcn_logf(x))
__ocml_native(log, __builtin_amdgcn_logf(x) * 0x1.62e43p-1f)
__ocml_native(log10, __builtin_amdgcn_logf(x) * 0x1.344136p-2f)
__ocml_native(sqrt, __builtin_amdgcn_sqrtf(x)) __ocml_native(rsqrt, __builtin_amdgcn_rsqf(x))
__ocml_native(rcp, __builtin_amdgcn_rcpf(x))
#undef __ocml_native

// Other directions of rounding: rte, rtp, rtn, rtz.
#define __ocml_rounded(T, w, to, d)                                                                                    \
    __ocml __attribute__((const)) T __ocml_add_##to##_##w(T x, T y) __is(__add_(x, y, d))                              \
    __ocml __attribute__((const)) T __ocml_sub_##to##_##w(T x, T y) __is(__add_(x, -y, d))                             \
    __ocml __attribute__((const)) T __ocml_mul_##to##_##w(T x, T y) __is(__mul_(x, y, d))                              \
    __ocml __attribute__((const)) T __ocml_div_##to##_##w(T x, T y) __is(__div_(x, y, d))                              \
    __ocml __attribute__((const)) T __ocml_sqrt_##to##_##w(T x) __is(__sqrt_to(x, d))                                  \
    __ocml __attribute__((const)) T __ocml_fma_##to##_##w(T x, T y, T z) __is(__fma_to(x, y, z, d))
#define __ocml_converted(to, d)                                                                                        \
    __ocml_rounded(float, f32, to, d) __ocml_rounded(double, f64, to, d)                                               \
    __ocml __attribute__((const)) _Float16 __ocml_cvt##to##_f16_f32(float x) __is((__convert<_Float16>(x, d)))         \
    __ocml __attribute__((const)) float __ocml_cvt##to##_f32_f64(double x) __is((__convert<float>(x, d)))              \
    __ocml __attribute__((const)) float __ocml_cvt##to##_f32_s32(int x) __is((__convert<float>((double)x, d)))         \
    __ocml __attribute__((const)) float __ocml_cvt##to##_f32_u32(unsigned x) __is((__convert<float>((double)x, d)))    \
    __ocml __attribute__((const)) float __ocml_cvt##to##_f32_s64(long long x) __is((__convert_integer<float>(x, d)))   \
    __ocml __attribute__((const)) float __ocml_cvt##to##_f32_u64(unsigned long long x) __is((__convert_integer<float>(x, d)))  \
    __ocml __attribute__((const)) double __ocml_cvt##to##_f64_s64(long long x) __is((__convert_integer<double>(x, d))) \
    __ocml __attribute__((const)) double __ocml_cvt##to##_f64_u64(unsigned long long x) __is((__convert_integer<double>(x, d)))
__ocml_converted(rte, __to_nearest) __ocml_converted(rtp, __up) __ocml_converted(rtn, __down)
__ocml_converted(rtz, __to_zero)
#undef __ocml_converted
#undef __ocml_rounded

// Half, by float, and pairs of it.
typedef _Float16 __ocml_2f16 __attribute__((ext_vector_type(2)));
typedef short __ocml_2i16 __attribute__((ext_vector_type(2)));
#define __ocml_half(name)                                                                                              \
    __ocml __attribute__((const)) _Float16 __ocml_##name##_f16(_Float16 x) __is((_Float16)__ocml_##name##_f32((float)x)) \
    __ocml __attribute__((const)) __ocml_2f16 __ocml_##name##_2f16(__ocml_2f16 x)                                      \
        __is((__ocml_2f16{__ocml_##name##_f16(x.x), __ocml_##name##_f16(x.y)}))
__ocml_half(ceil) __ocml_half(cos) __ocml_half(exp) __ocml_half(exp10) __ocml_half(exp2) __ocml_half(fabs)
__ocml_half(floor) __ocml_half(log) __ocml_half(log10) __ocml_half(log2) __ocml_half(rint) __ocml_half(rsqrt)
__ocml_half(sin) __ocml_half(sqrt) __ocml_half(trunc) __ocml_half(tanh)
#undef __ocml_half
__ocml __attribute__((const)) _Float16 __ocml_fma_f16(_Float16 x, _Float16 y, _Float16 z) __is(__builtin_fmaf16(x, y, z))
__ocml __attribute__((const)) _Float16 __ocml_fmax_f16(_Float16 x, _Float16 y) __is(__builtin_fmaxf16(x, y))
__ocml __attribute__((const)) _Float16 __ocml_fmin_f16(_Float16 x, _Float16 y) __is(__builtin_fminf16(x, y))
__ocml __attribute__((const)) _Float16 __ocml_pown_f16(_Float16 x, int n) __is((_Float16)__ocml_pown_f32((float)x, n))
__ocml __attribute__((const)) int __ocml_isnan_f16(_Float16 x) __is(x != x)
__ocml __attribute__((const)) int __ocml_isinf_f16(_Float16 x) __is(__builtin_isinf(x))
__ocml __attribute__((const)) __ocml_2f16 __ocml_fma_2f16(__ocml_2f16 x, __ocml_2f16 y, __ocml_2f16 z)
    __is(__builtin_elementwise_fma(x, y, z))
__ocml __attribute__((const)) __ocml_2f16 __ocml_pown_2f16(__ocml_2f16 x, __ocml_2i16 n)
    __is((__ocml_2f16{__ocml_pown_f16(x.x, n.x), __ocml_pown_f16(x.y, n.y)}))
__ocml __attribute__((const)) __ocml_2i16 __ocml_isnan_2f16(__ocml_2f16 x) __is(x != x)
__ocml __attribute__((const)) __ocml_2i16 __ocml_isinf_2f16(__ocml_2f16 x)
    __is((__ocml_2i16{(short)-__ocml_isinf_f16(x.x), (short)-__ocml_isinf_f16(x.y)}))
