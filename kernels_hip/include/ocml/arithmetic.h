// Arithmetic with two numbers as one, hi + lo with |lo| at most half an ULP of hi, for float and double alike: what the
// functions beside this are computed with. Sums and products are exact (T. J. Dekker, Numerische Mathematik 18, 1971;
// D. E. Knuth, TAOCP 2, 4.2.2), products by FMA. Contraction and reassociation would break them, and are off in them.
#pragma once

#define __own static __device__ inline
#define __exact _Pragma("clang fp contract(off) reassociate(off)") // at the beginning of a function

namespace __own_math {
template <class T> struct __dd { T hi, lo; };
template <class T, class U> struct __two { T first; U second; };
template <class T, class U, class P> __own T __parted(__two<T, U> both, P second) { return *second = both.second, both.first; }

template <class T> struct __fp;
template <> struct __fp<float> {
    typedef unsigned bits;
    static constexpr int digits = 24, most = 128, least = -149; // of the significand; exponents of infinity, of the least
    static constexpr float exp_range = 120; // more than any |x| of which exp(x) is neither 0 nor infinite
};
template <> struct __fp<double> {
    typedef unsigned long long bits;
    static constexpr int digits = 53, most = 1024, least = -1074;
    static constexpr double exp_range = 800;
};
template <class T> constexpr bool __is_float = sizeof(T) == 4;

// --- one instruction each
template <class T> __own T __fma_(T a, T b, T c) { return __builtin_elementwise_fma(a, b, c); }
template <class T> __own T __abs_(T x) { return __builtin_elementwise_abs(x); }
template <class T> __own T __rint_(T x) { return __builtin_elementwise_roundeven(x); }
template <class T> __own T __trunc_(T x) { return __builtin_elementwise_trunc(x); }
template <class T> __own T __floor_(T x) { return __builtin_elementwise_floor(x); }
template <class T> __own T __sign_(T x, T sign) { return __builtin_elementwise_copysign(x, sign); }
__own float __ldexp_(float x, int n) { return __builtin_ldexpf(x, n); }
__own double __ldexp_(double x, int n) { return __builtin_ldexp(x, n); }
__own float __mantissa(float x) { return __builtin_amdgcn_frexp_mantf(x); } // in [1/2, 1)
__own double __mantissa(double x) { return __builtin_amdgcn_frexp_mant(x); }
__own int __exponent(float x) { return __builtin_amdgcn_frexp_expf(x); }
__own int __exponent(double x) { return __builtin_amdgcn_frexp_exp(x); }
__own float __sqrt_(float x) { return __builtin_sqrtf(x); }
__own double __sqrt_(double x) { return __builtin_sqrt(x); }
template <class T> __own bool __nan_(T x) { return x != x; }
template <class T> constexpr T __infinity = (T)__builtin_inf();
template <class T> constexpr T __nan = (T)__builtin_nan("");
template <class T> __own bool __finite_(T x) { return __abs_(x) < __infinity<T>; }
template <class T> __own typename __fp<T>::bits __bits(T x) { return __builtin_bit_cast(typename __fp<T>::bits, x); }
template <class T> __own bool __negative(T x) { return __bits(x) >> (8 * sizeof(T) - 1); }
template <class T> __own bool __integral(T x) { return __trunc_(x) == x; }
template <class T> __own bool __odd(T x) { return __integral(x) && !__integral(x / 2); }

// 1/x to a few ULPs, x neither huge nor tiny
__own float __near_rcp(float x) { return __builtin_amdgcn_rcpf(x); }
__own double __near_rcp(double x) {
    double y = __builtin_amdgcn_rcp(x);
    y = __fma_(__fma_(-x, y, 1.0), y, y);
    return __fma_(__fma_(-x, y, 1.0), y, y);
}

// --- hi + lo
template <class T> constexpr __device__ __dd<T> __constant(double hi, double lo) {
    if constexpr (__is_float<T>) return {(float)hi, (float)((hi - (double)(float)hi) + lo)};
    else return {hi, lo};
}
#define __constant_dd(name, hi, lo) template <class T> constexpr __dd<T> name = __constant<T>(hi, lo)
__constant_dd(__ln2, 0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56);
__constant_dd(__log2e, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56);
__constant_dd(__log10e, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57);
__constant_dd(__log10_2, 0x1.34413509f79ffp-2, -0x1.9dc1da994fd21p-59);
__constant_dd(__ln10, 0x1.26bb1bbb55516p+1, -0x1.f48ad494ea3e9p-53);
__constant_dd(__pi, 0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53);
__constant_dd(__half_pi, 0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54);
__constant_dd(__quarter_pi, 0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55);
__constant_dd(__half_ln_2pi, 0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55);
__constant_dd(__third, 0x1.5555555555555p-2, 0x1.5555555555555p-56);
__constant_dd(__sqrt_half, 0x1.6a09e667f3bcdp-1, -0x1.bdd3413b26456p-55);
__constant_dd(__two_over_sqrt_pi, 0x1.20dd750429b6dp+0, 0x1.1ae3a914fed80p-56);
#undef __constant_dd

template <class T> __own __dd<T> __quick_sum(T a, T b) { __exact // |a| >= |b|, or a = 0
    T s = a + b;
    return {s, b - (s - a)};
}
template <class T> __own __dd<T> __sum(T a, T b) { __exact
    T s = a + b, t = s - a;
    return {s, (a - (s - t)) + (b - t)};
}
template <class T> __own __dd<T> __product(T a, T b) { __exact
    T p = a * b;
    return {p, __fma_(a, b, -p)};
}
template <class T> __own __dd<T> __neg(__dd<T> a) { return {-a.hi, -a.lo}; }
template <class T> __own __dd<T> __scaled(__dd<T> a, T power) { return {a.hi * power, a.lo * power}; }
template <class T> __own __dd<T> __scaled(__dd<T> a, int n) { return {__ldexp_(a.hi, n), __ldexp_(a.lo, n)}; }
template <class T> __own __dd<T> __add(__dd<T> a, T b) { __exact
    __dd<T> s = __sum(a.hi, b);
    return __quick_sum(s.hi, s.lo + a.lo);
}
template <class T> __own __dd<T> __add(__dd<T> a, __dd<T> b) { __exact
    __dd<T> s = __sum(a.hi, b.hi), t = __sum(a.lo, b.lo);
    s = __quick_sum(s.hi, s.lo + t.hi);
    return __quick_sum(s.hi, s.lo + t.lo);
}
template <class T> __own __dd<T> __mul(__dd<T> a, T b) { __exact
    __dd<T> p = __product(a.hi, b);
    return __quick_sum(p.hi, __fma_(a.lo, b, p.lo));
}
template <class T> __own __dd<T> __mul(__dd<T> a, __dd<T> b) { __exact
    __dd<T> p = __product(a.hi, b.hi);
    return __quick_sum(p.hi, p.lo + __fma_(a.hi, b.lo, a.lo * b.hi));
}
template <class T> __own __dd<T> __div(__dd<T> a, __dd<T> b) { __exact // b neither huge nor tiny
    T r = __near_rcp(b.hi), q = a.hi * r;
    __dd<T> rest = __product(q, b.hi);
    T left = ((a.hi - rest.hi) - rest.lo) + __fma_(-q, b.lo, a.lo);
    return __quick_sum(q, left * r);
}
template <class T> __own __dd<T> __sqrt_dd(__dd<T> a) { __exact
    T s = __sqrt_(a.hi);
    __dd<T> square = __product(s, s);
    T left = ((a.hi - square.hi) - square.lo) + a.lo;
    return s == 0 ? __dd<T>{s, s} : __quick_sum(s, left / (2 * s));
}

// c0 x^n + c1 x^(n-1) + ...
template <class T> __own T __horner(T, double c) { return (T)c; }
template <class T, class... Rest> __own T __horner(T x, double c, double d, Rest... rest) {
    T sum = (T)c;
    sum = __fma_(sum, x, (T)d);
    ((sum = __fma_(sum, x, (T)rest)), ...);
    return sum;
}
} // namespace __own_math
