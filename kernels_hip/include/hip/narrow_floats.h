// The functions that HIP has for numbers of 16 bits and for pairs of them, for half (hip_fp16.h) and bfloat16 (hip_bf16.h)
// alike. H is computed with as __hip_wide(H): half's own arithmetic, bfloat16's by float; each result is rounded once.
#pragma once

#define __hip_narrow_fn static __host__ __device__ inline __attribute__((always_inline))
#define __hip_narrow_compare(H, H2, name, op)                                                                          \
    __hip_narrow_fn bool __h##name(H a, H b) { return __hip_wide(a) op __hip_wide(b); }                                \
    __hip_narrow_fn bool __h##name##u(H a, H b) { return __hisnan(a) || __hisnan(b) || __h##name(a, b); }              \
    __hip_narrow_fn H2 __h##name##2(H2 a, H2 b) { return H2(H((float)__h##name(a.x, b.x)), H((float)__h##name(a.y, b.y))); } \
    __hip_narrow_fn H2 __h##name##u2(H2 a, H2 b) { return H2(H((float)__h##name##u(a.x, b.x)), H((float)__h##name##u(a.y, b.y))); } \
    __hip_narrow_fn bool __hb##name##2(H2 a, H2 b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); }              \
    __hip_narrow_fn bool __hb##name##u2(H2 a, H2 b) { return __h##name##u(a.x, b.x) && __h##name##u(a.y, b.y); }       \
    __hip_narrow_fn bool operator op(H a, H b) { return __hip_wide(a) op __hip_wide(b); }
#define __hip_narrow_arithmetic(H, H2, name, op)                                                                       \
    __hip_narrow_fn H operator op(H a, H b) { return H(__hip_wide(a) op __hip_wide(b)); }                              \
    __hip_narrow_fn H &operator op##=(H &a, H b) { return a = a op b; }                                                \
    __hip_narrow_fn H2 operator op(H2 a, H2 b) { return H2(a.x op b.x, a.y op b.y); }                                  \
    __hip_narrow_fn H2 &operator op##=(H2 &a, H2 b) { return a = a op b; }                                             \
    __hip_narrow_fn H __h##name(H a, H b) { return a op b; }                                                           \
    __hip_narrow_fn H __h##name##_rn(H a, H b) { return a op b; }                                                      \
    __hip_narrow_fn H __h##name##_sat(H a, H b) { return __hip_saturated(a op b); }                                    \
    __hip_narrow_fn H2 __h##name##2(H2 a, H2 b) { return a op b; }                                                     \
    __hip_narrow_fn H2 __h##name##2_rn(H2 a, H2 b) { return a op b; }                                                  \
    __hip_narrow_fn H2 __h##name##2_sat(H2 a, H2 b) { return H2(__hip_saturated(a.x op b.x), __hip_saturated(a.y op b.y)); }
#define __hip_narrow_math(H, H2, name, value)                                                                          \
    __hip_narrow_fn H h##name(H a) { float x = (float)a; return H(value); }                                            \
    __hip_narrow_fn H2 h2##name(H2 a) { return H2(h##name(a.x), h##name(a.y)); }
#define __hip_narrow_choice(H, H2, name, order)                                                                        \
    __hip_narrow_fn H __h##name(H a, H b) { return __hisnan(a) ? b : __hisnan(b) ? a : order(a, b); }                  \
    __hip_narrow_fn H __h##name##_nan(H a, H b) { return __hisnan(a) ? a : __hisnan(b) ? b : order(a, b); }            \
    __hip_narrow_fn H2 __h##name##2(H2 a, H2 b) { return H2(__h##name(a.x, b.x), __h##name(a.y, b.y)); }               \
    __hip_narrow_fn H2 __h##name##2_nan(H2 a, H2 b) { return H2(__h##name##_nan(a.x, b.x), __h##name##_nan(a.y, b.y)); }
#define __hip_lesser(a, b) (__hlt(a, b) || (__heq(a, b) && __builtin_signbit((float)a)) ? a : b)
#define __hip_greater(a, b) (__hgt(a, b) || (__heq(a, b) && !__builtin_signbit((float)a)) ? a : b)

#define __hip_narrow(H, H2)                                                                                            \
    __hip_narrow_fn bool __hisnan(H a) { return __builtin_isnan((float)a); }                                           \
    __hip_narrow_fn int __hisinf(H a) { return __builtin_isinf_sign((float)a); }                                       \
    __hip_narrow_fn H2 __hisnan2(H2 a) { return H2(H((float)__hisnan(a.x)), H((float)__hisnan(a.y))); }                \
    __hip_narrow_fn H __hip_saturated(H a) { return H(__builtin_fminf(__builtin_fmaxf((float)a, 0), 1)); }             \
    __hip_narrow_fn H operator-(H a) { return H(-(float)a); }                                                          \
    __hip_narrow_fn H operator+(H a) { return a; }                                                                     \
    __hip_narrow_fn H2 operator-(H2 a) { return H2(-a.x, -a.y); }                                                      \
    __hip_narrow_fn H &operator++(H &a) { return a = H((float)a + 1); }                                                \
    __hip_narrow_fn H &operator--(H &a) { return a = H((float)a - 1); }                                                \
    __hip_narrow_fn H operator++(H &a, int) { H old = a; ++a; return old; }                                            \
    __hip_narrow_fn H operator--(H &a, int) { H old = a; --a; return old; }                                            \
    __hip_narrow_fn H __hneg(H a) { return -a; }                                                                       \
    __hip_narrow_fn H2 __hneg2(H2 a) { return -a; }                                                                    \
    __hip_narrow_fn H __habs(H a) { return H(__builtin_fabsf((float)a)); }                                             \
    __hip_narrow_fn H2 __habs2(H2 a) { return H2(__habs(a.x), __habs(a.y)); }                                          \
    __hip_narrow_compare(H, H2, eq, ==) __hip_narrow_compare(H, H2, ne, !=) __hip_narrow_compare(H, H2, lt, <)         \
    __hip_narrow_compare(H, H2, le, <=) __hip_narrow_compare(H, H2, gt, >) __hip_narrow_compare(H, H2, ge, >=)         \
    __hip_narrow_fn bool operator==(H2 a, H2 b) { return __hbeq2(a, b); }                                              \
    __hip_narrow_fn bool operator<(H2 a, H2 b) { return __hblt2(a, b); }                                               \
    __hip_narrow_fn bool operator<=(H2 a, H2 b) { return __hble2(a, b); }                                              \
    __hip_narrow_fn bool operator>(H2 a, H2 b) { return __hbgt2(a, b); }                                               \
    __hip_narrow_fn bool operator>=(H2 a, H2 b) { return __hbge2(a, b); }                                              \
    __hip_narrow_fn bool operator!=(H2 a, H2 b) { return !(a == b); }                                                  \
    __hip_narrow_arithmetic(H, H2, add, +) __hip_narrow_arithmetic(H, H2, sub, -)                                      \
    __hip_narrow_arithmetic(H, H2, mul, *) __hip_narrow_arithmetic(H, H2, div, /)                                      \
    __hip_narrow_fn H __hfma(H a, H b, H c) { return H(__builtin_elementwise_fma(__hip_wide(a), __hip_wide(b), __hip_wide(c))); } \
    __hip_narrow_fn H __hfma_sat(H a, H b, H c) { return __hip_saturated(__hfma(a, b, c)); }                           \
    __hip_narrow_fn H2 __hfma2(H2 a, H2 b, H2 c) { return H2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)); }          \
    __hip_narrow_fn H2 __hfma2_sat(H2 a, H2 b, H2 c) { return H2(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)); } \
    __hip_narrow_fn H2 __h2div(H2 a, H2 b) { return a / b; }                                                           \
    __hip_narrow_choice(H, H2, min, __hip_lesser) __hip_narrow_choice(H, H2, max, __hip_greater)                       \
    __hip_narrow_math(H, H2, sqrt, __builtin_sqrtf(x)) __hip_narrow_math(H, H2, rsqrt, __ocml_rsqrt_f32(x))            \
    __hip_narrow_math(H, H2, rcp, 1 / x) __hip_narrow_math(H, H2, sin, __ocml_sin_f32(x))                              \
    __hip_narrow_math(H, H2, cos, __ocml_cos_f32(x)) __hip_narrow_math(H, H2, exp, __ocml_exp_f32(x))                  \
    __hip_narrow_math(H, H2, exp2, __ocml_exp2_f32(x)) __hip_narrow_math(H, H2, exp10, __ocml_exp10_f32(x))            \
    __hip_narrow_math(H, H2, log, __ocml_log_f32(x)) __hip_narrow_math(H, H2, log2, __ocml_log2_f32(x))                \
    __hip_narrow_math(H, H2, log10, __ocml_log10_f32(x)) __hip_narrow_math(H, H2, tanh, __ocml_tanh_f32(x))            \
    __hip_narrow_math(H, H2, ceil, __builtin_ceilf(x)) __hip_narrow_math(H, H2, floor, __builtin_floorf(x))            \
    __hip_narrow_math(H, H2, trunc, __builtin_truncf(x)) __hip_narrow_math(H, H2, rint, __builtin_rintf(x))
