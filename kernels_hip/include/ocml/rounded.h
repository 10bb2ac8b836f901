// Operations and conversions in other directions of rounding than to the nearest, exact. Products and sums are the
// hardware's in its other modes; quotients, roots and conversions are those to the nearest, moved by what is left over.
#pragma once

namespace __own_math {
enum __direction { __to_nearest, __up, __down, __to_zero }; // as s_round_mode numbers them
template <> struct __fp<_Float16> { typedef unsigned short bits; };

// `near` moved where it is not yet on the right side of the exact value; more: exact - near, or its sign
template <class T, class U> __own T __directed(T near, U more, __direction d) {
    if (d == __to_zero) d = __negative(near) ? __up : __down;
    return d == __up && more > 0 ? __next_up(near) : d == __down && more < 0 ? __next_down(near) : near;
}
template <class To, class From> __own To __convert(From x, __direction d) { // of numbers
    To near = (To)x;
    if (!__finite_(x) || d == __to_nearest) return near;
    return __directed(near, (From)near < x ? 1 : (From)near > x ? -1 : 0, d);
}
template <class To, class From> __own To __convert_integer(From x, __direction d) {
    To near = (To)x;
    __int128 back = (__int128)near, wide = (__int128)x;
    return __directed(near, back < wide ? 1 : back > wide ? -1 : 0, d);
}
template <class T> __own T __div_(T a, T b, __direction d) {
    T q = a / b;
    if (d == __to_nearest || !__finite_(a) || !__finite_(b) || a == 0 || b == 0) return q;
    int ea = __exponent(a), eb = __exponent(b);
    T left = __finite_(q) ? __fma_(-__ldexp_(q, eb - ea), __mantissa(b), __mantissa(a)) : -q * b;
    return __directed(q, __negative(b) ? -left : left, d);
}
template <class T> __own T __sqrt_to(T x, __direction d) {
    if (!(x > 0) || !__finite_(x) || d == __to_nearest) return __sqrt_(x);
    int half = __exponent(x) >> 1;
    T m = __ldexp_(x, -2 * half), root = __sqrt_(m);
    return __ldexp_(__directed(root, __fma_(-root, root, m), d), half);
}
#define __in_mode(T, instruction, mode, ...)                                                                           \
    T r;                                                                                                               \
    asm volatile("s_round_mode " mode "\n\t" instruction "\n\ts_round_mode 0x0" : "=v"(r) : __VA_ARGS__);              \
    return r;
#define __hardware(name, T, parameters, instruction, ...)                                                              \
    __own T name parameters {                                                                                          \
        if (d == __up) { __in_mode(T, instruction, "0x5", __VA_ARGS__) }                                               \
        if (d == __down) { __in_mode(T, instruction, "0xa", __VA_ARGS__) }                                             \
        if (d == __to_zero) { __in_mode(T, instruction, "0xf", __VA_ARGS__) }                                          \
        __in_mode(T, instruction, "0x0", __VA_ARGS__)                                                                  \
    }
__hardware(__add_, float, (float a, float b, __direction d), "v_add_f32 %0, %1, %2", "v"(a), "v"(b))
__hardware(__add_, double, (double a, double b, __direction d), "v_add_f64 %0, %1, %2", "v"(a), "v"(b))
__hardware(__mul_, float, (float a, float b, __direction d), "v_mul_f32 %0, %1, %2", "v"(a), "v"(b))
__hardware(__mul_, double, (double a, double b, __direction d), "v_mul_f64 %0, %1, %2", "v"(a), "v"(b))
__hardware(__fma_to, float, (float a, float b, float c, __direction d), "v_fma_f32 %0, %1, %2, %3", "v"(a), "v"(b), "v"(c))
__hardware(__fma_to, double, (double a, double b, double c, __direction d), "v_fma_f64 %0, %1, %2, %3", "v"(a), "v"(b),
           "v"(c))
#undef __hardware
#undef __in_mode
} // namespace __own_math
