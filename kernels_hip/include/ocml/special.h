// Error functions and their inverses, gamma and Bessel functions, for float and double. Methods: erfcx as one polynomial
// of (x - 4) / (x + 4) (M. Shepherd, J. Laframboise, Math. Comp. 36, 1981); inverses by Halley's steps from a polynomial;
// Stirling's series after a shift, Hankel's and the power series (NIST Handbook of Mathematical Functions, 5.11, 10.8,
// 10.17, 10.31, 10.40), whose cancellation the second number of a pair takes.
#pragma once

namespace __own_math {
// --- error functions
template <class T> __own __dd<T> __erf_small(T x) { // |x| <= 1
    T z = x * x;
    __dd<T> p = __mul(__two_over_sqrt_pi<T>, x);
    return __quick_sum(p.hi, __fma_(x * z, __poly_erf(z), p.lo));
}
template <class T> __own __dd<T> __erfcx_dd(T x) { // x >= 0
    if (x > __ldexp_((T)1, __fp<T>::digits)) return __dd<T>{(T)0x1.20dd750429b6dp-1 / x, 0};
    T t = __div(__sum(x, (T)-4), __sum(x, (T)4)).hi;
    return __div(__sum((T)1, __poly_erfcx(t)), __sum(2 * x, (T)1));
}
// e^(-x^2) erfcx(x.hi), x >= 0
template <class T> __own T __erfc_right(__dd<T> x) {
    int k;
    T most = __is_float<T> ? 12 : 30;
    x = x.hi > most ? __dd<T>{most, 0} : x;
    __dd<T> y = __exp_scaled(__neg(__mul(x, x)), k);
    y = __mul(y, __erfcx_dd(x.hi));
    return __ldexp_(y.hi + y.lo, k);
}
template <class T> __own T __erf_(T x) {
    T a = __abs_(x);
    if constexpr (__is_float<T>) { // to 1.5 ULPs, in fewer steps
        T near = __fma_(a * (a * a), __poly_erf(a * a), __fma_(a, __two_over_sqrt_pi<T>.hi, a * __two_over_sqrt_pi<T>.lo));
        T far = a < 4 ? 1 - __builtin_amdgcn_exp2f(__poly_log2_erfc(a)) : (T)1;
        return __nan_(x) ? x : __sign_(a < 1 ? near : far, x);
    }
    if (a < 1) return x == 0 ? x : __erf_small(x).hi;
    return __nan_(x) ? x : __sign_(1 - __erfc_right(__dd<T>{a, 0}), x);
}
template <class T> __own T __erfc_of(__dd<T> x) {
    __dd<T> a = x.hi < 0 ? __neg(x) : x;
    if (a.hi < (T)0.5) return __add(__neg(__erf_small(x.hi)), (T)1).hi - x.lo;
    T right = __erfc_right(a);
    return __nan_(x.hi) ? x.hi : x.hi < 0 ? 2 - right : right;
}
template <class T> __own T __erfc_(T x) { return __erfc_of(__dd<T>{x, 0}); }
template <class T> __own T __erfcx_(T x) {
    if (!(x < 0)) return __nan_(x) ? x : x == __infinity<T> ? (T)0 : __erfcx_dd(x).hi;
    if (x < (__is_float<T> ? -10 : -28)) return __infinity<T>;
    int k;
    __dd<T> y = __exp_scaled(__product(x, x), k), right = __erfcx_dd(-x);
    return k > 200 || (__is_float<T> && k > 60) ? __ldexp_(y.hi, k + 1)
                                                : __add(__scaled(y, k + 1), __neg(right)).hi;
}
template <class T> __own T __ncdf_(T x) {
    if (!__finite_(x)) return x > 0 ? (T)1 : x < 0 ? (T)0 : x;
    T most = __is_float<T> ? 20 : 60, a = x > most ? most : x < -most ? -most : x;
    __dd<T> u = __mul(__sqrt_half<T>, -a);
    if (u.hi >= (T)0.5) { // half of it may be denormal where all of it is not
        int k;
        __dd<T> y = __mul(__exp_scaled(__neg(__mul(u, u)), k), __erfcx_dd(u.hi));
        return __ldexp_(y.hi + y.lo, k - 1);
    }
    return __erfc_of(u) / 2;
}
template <class T> __own T __halley(T y, T step) { return y + step / (1 - y * step); }
template <class T> __own T __erfinv_center(T x) { // |x| <= 1/2
    T y = x * __poly_erfinv(-__log1p_(-x * x)), half = (T)0x1.c5bf891b4ef6bp-1;
    for (int i = 0; i < (__is_float<T> ? 1 : 2); ++i) {
        __dd<T> e = __erf_small(y);
        y = __halley(y, ((x - e.hi) - e.lo) * half * __exp_(y * y));
    }
    return x == 0 ? x : y;
}
template <class T> __own T __erfcinv_tail(T p) { // 0 < p <= 1/2
    T log = -__log_(p), half = (T)0x1.c5bf891b4ef6bp-1;
    T y = p > (T)0.15 ? (1 - p) * __poly_erfinv(-__log_(p * (2 - p))) : __poly_erfcinv(1 / __sqrt_(log)) * __sqrt_(log);
    for (int i = 0; i < 2; ++i) {
        int k;
        __dd<T> e = __mul(__exp_scaled(__product(y, y), k), __mantissa(p)), x = __erfcx_dd(y);
        e = __scaled(e, k + __exponent(p));
        y = __halley(y, ((x.hi - e.hi) + (x.lo - e.lo)) * half);
    }
    return y;
}
template <class T> __own T __erfinv_(T x) {
    T a = __abs_(x);
    if (a <= (T)0.5) return __erfinv_center(x);
    return a == 1 ? __sign_(__infinity<T>, x) : a < 1 ? __sign_(__erfcinv_tail(1 - a), x) : __nan<T>;
}
template <class T> __own T __erfcinv_(T p) {
    if (p == 0 || p == 2) return p == 0 ? __infinity<T> : -__infinity<T>;
    if (!(p > 0 && p < 2)) return __nan<T>;
    return p < (T)0.5 ? __erfcinv_tail(p) : p <= (T)1.5 ? __erfinv_center(1 - p) : -__erfcinv_tail(2 - p);
}
template <class T> __own T __ncdfinv_(T p) {
    T y = __erfcinv_(2 * p);
    return __finite_(y) ? __scaled(__mul(__sqrt_half<T>, y), (T)-2).hi : -y;
}

// --- gamma
template <class T> constexpr T __stirling_from = __is_float<T> ? 8 : 16;
// log(gamma(x)) of x >= __stirling_from
template <class T> __own __dd<T> __stirling(__dd<T> x) {
    T r = __near_rcp(x.hi), z = r * r;
    T series = r * __horner(z, 0x1.a41a41a41a41ap-8, -0x1.f6ab0d9993c7dp-10, 0x1.b951e2b18ff23p-11, -0x1.3813813813814p-11,
                            0x1.a01a01a01a01ap-11, -0x1.6c16c16c16c17p-9, 0x1.5555555555555p-4);
    __dd<T> main = __add(__mul(__add(x, (T)-0.5), __log_dd(x)), __neg(x));
    return __add(__add(main, __half_ln_2pi<T>), series);
}
// x (x + 1) ... up to the shifted x, 0 < x
template <class T> __own __dd<T> __shifted(T x, __dd<T> &shifted) {
    __dd<T> product = {1, 0};
    shifted = {x, 0};
#pragma nounroll
    while (shifted.hi < __stirling_from<T>) {
        product = __mul(product, shifted);
        shifted = __add(shifted, (T)1);
    }
    return product;
}
// gamma(x) = hi + lo times 2^k, x > 2^-digits
template <class T> __own __dd<T> __gamma_scaled(T x, int &k) {
    __dd<T> shifted, product = __shifted(x, shifted);
    return __div(__exp_scaled(__stirling(shifted), k), product);
}
template <class T> __own __dd<T> __sinpi_dd(T x) { // x >= 0
    int q;
    __dd<T> r = __reduce_pi(x, q), s = q & 1 ? __cos_small(r) : __sin_small(r);
    return q & 2 ? __neg(s) : s;
}
template <class T> __own T __tgamma_(T x) {
    T a = __abs_(x);
    if (__nan_(x) || x == __infinity<T>) return x;
    if (a < __ldexp_((T)1, -__fp<T>::digits - 1)) return 1 / x;
    if (x < 0 && __integral(x)) return __nan<T>;
    T most = __is_float<T> ? 45 : 190;
    if (a > most) return x > 0 ? __infinity<T> : __sign_((T)0, __sinpi_dd(a).hi * -1);
    int k;
    __dd<T> g = __gamma_scaled(a, k);
    if (x > 0) return __ldexp_(g.hi + g.lo, k);
    __dd<T> r = __div(__neg(__pi<T>), __mul(__mul(__sinpi_dd(a), a), g)); // reflected
    return __ldexp_(r.hi + r.lo, -k);
}
// log(gamma(from + z)) for from = 1, 2: its Taylor series, |z| <= 1/8; `less`: what is taken from zeta's values
template <class T> __own T __lgamma_near(T z, bool two) {
    // zeta(k) / k and (zeta(k) - 1) / k for k from 2 on, with alternating signs
    T one_sum = __horner(-z, 0x1.2496df8320c5fp-4, 0x1.3b1d971fc5985p-4, 0x1.556ad63243bc4p-4, 0x1.748c33114c6d6p-4,
        0x1.9a01e385d5f8fp-4, 0x1.c806706d57db4p-4, 0x1.010b36af86397p-3, 0x1.2703a1dcea3aep-3, 0x1.5b40cb100c306p-3,
        0x1.a8b9c17aa6149p-3, 0x1.151322ac7d848p-2, 0x1.9a4d55beab2d7p-2, 0x1.a51a6625307d3p-1);
    T two_sum = __horner(-z, 0x1.580dcee66eb02p-16, 0x1.78de5bd7c81efp-15, 0x1.a127b0f17d65ap-14, 0x1.d3fd4c76d2fc8p-13,
        0x1.0b36af86396e9p-11, 0x1.38ac5c2bf8e08p-10, 0x1.7add6eadb6c30p-9, 0x1.e404fc218f5f2p-8, 0x1.51322ac7d8483p-6,
        0x1.13e001a557607p-4, 0x1.4a34cc4a60fa6p-2);
    __dd<T> first = __mul(two ? __constant<T>(0x1.b0ee6072093cep-2, 0x1.6cb90701fbfabp-58)
                              : __constant<T>(-0x1.2788cfc6fb619p-1, 0x1.6cb90701fbfabp-58), z);
    return first.hi + __fma_(z * z, two ? two_sum : one_sum, first.lo);
}
template <class T> __own T __lgamma_(T x) {
    T a = __abs_(x), near = (T)0.0625;
    if (!__finite_(x)) return x * x;
    if (x <= 0 && __integral(x)) return __infinity<T>;
    if (__abs_(x - 1) < near) return x == 1 ? (T)0 : __lgamma_near(x - 1, false);
    if (__abs_(x - 2) < near) return x == 2 ? (T)0 : __lgamma_near(x - 2, true);
    if (a < __ldexp_((T)1, -__fp<T>::digits - 1)) return -__log_(a);
    if (x > __ldexp_((T)1, __fp<T>::digits + 10)) return x * (__log_(x) - 1);
    __dd<T> shifted, product = __shifted(a, shifted);
    __dd<T> log = __add(__stirling(shifted), __neg(__log_dd(product)));
    if (x > 0) return log.hi;
    __dd<T> s = __mul(__sinpi_dd(a), a);
    s = s.hi < 0 ? __neg(s) : s;
    return __add(__log_dd(__div(__pi<T>, s)), __neg(log)).hi;
}

// --- Bessel functions of order 0 and 1 (and of the first kind's others by recurrence)
template <class T> constexpr T __hankel_from = __is_float<T> ? 12 : 25;
// Of the power series of J (sign -1) or I (1): the sum, and the sum with each term times psi(k + 1) + psi(k + order + 1)
// + 2 gamma, of which Y is made. q = x^2 / 4.
template <class T> struct __series { __dd<T> plain, harmonic; };
template <class T> __own __series<T> __bessel_series(int order, __dd<T> q, T sign) {
    __dd<T> term = {1, 0}, plain = term, one = term, h = {(T)order, 0}, harmonic = h; // psi: H(k) + H(k + order)
#pragma nounroll
    for (int k = 1; k < 100; ++k) {
        term = __div(__mul(term, __scaled(q, sign)), __dd<T>{(T)(k * (k + order)), 0});
        h = __add(h, __add(__div(one, __dd<T>{(T)k, 0}), __div(one, __dd<T>{(T)(k + order), 0})));
        plain = __add(plain, term);
        harmonic = __add(harmonic, __mul(term, h));
        if ((T)k > __hankel_from<T> / 2 && __abs_(term.hi) < __ldexp_((T)1, -__fp<T>::digits - 30)) break;
    }
    return {plain, harmonic};
}
// The sums of even and odd terms of Hankel's expansion; sign: of every second in each; even: the first term, which is
// 1, or 0 where the caller adds that.
template <class T> __own __two<T, T> __hankel(int order, T x, T sign, T even) {
    T term = 1, odd = 0, r = 1 / (8 * x), turn = 1;
#pragma nounroll
    for (int k = 1; k < 2 * (int)__hankel_from<T> && __abs_(term) > __ldexp_((T)1, -__fp<T>::digits - 6); ++k) {
        term *= ((T)(4 * order) - (T)((2 * k - 1) * (2 * k - 1))) * r / (T)k;
        if (k & 1) odd += turn * term;
        else even += (turn *= sign) * term;
    }
    return {even, odd};
}
// J and Y of order 0 or 1, x > 0
template <class T> __own __two<T, T> __bessel(int order, T x, bool second) {
    if (x < __hankel_from<T>) {
        __dd<T> half = {x / 2, 0};
        __series<T> sums = __bessel_series(order, __product(half.hi, half.hi), (T)-1);
        __dd<T> j = order ? __mul(sums.plain, half) : sums.plain;
        if (!second) return {j.hi, 0};
        __dd<T> harmonic = order ? __mul(sums.harmonic, half) : sums.harmonic;
        __dd<T> log = __add(__log_dd(__dd<T>{x, 0}), __constant<T>(-0x1.dadb014541eb2p-4, -0x1.be095d05c0a81p-62));
        __dd<T> y = __add(__scaled(__mul(log, j), (T)2), __neg(harmonic));
        if (order && x < __ldexp_((T)1, -__fp<T>::digits)) return {j.hi, (T)-0x1.45f306dc9c883p-1 / x};
        if (order) y = __add(y, __div(__dd<T>{-2, 0}, __dd<T>{x, 0}));
        return {j.hi, __mul(y, __div(__dd<T>{1, 0}, __pi<T>)).hi};
    }
    if (x == __infinity<T>) return {0, 0};
    __two<T, T> h = __hankel(order, x, (T)-1, (T)1), turned = __sincos_(x);
    T s = turned.first, c = turned.second, sum = s + c, rest = s - c;
    T root = (T)0x1.20dd750429b6dp-1 * __rsqrt_(x);
    T cosine = order ? rest : sum, sine = order ? -sum : rest;
    return {root * (h.first * cosine - h.second * sine), root * (h.first * sine + h.second * cosine)};
}
template <class T> __own T __j0_(T x) { return __nan_(x) ? x : __bessel(0, __abs_(x), false).first; }
template <class T> __own T __j1_(T x) {
    T a = __abs_(x);
    return __nan_(x) ? x : a == __infinity<T> ? (T)0 : __sign_(T(1), x) * __bessel(1, a, false).first;
}
template <class T> __own T __y_(int order, T x) {
    return x == 0 ? -__infinity<T> : !(x > 0) ? __nan<T> : __bessel(order, x, true).second;
}
template <class T> __own T __y0_(T x) { return __y_(0, x); }
template <class T> __own T __y1_(T x) { return __y_(1, x); }
template <class T> __own T __i_(int order, T x) {
    T a = __abs_(x);
    if (!(a < __fp<T>::exp_range)) return order ? x * __infinity<T> : a * __infinity<T>;
    if (a < __hankel_from<T>) {
        __dd<T> half = {a / 2, 0}, sum = __bessel_series(order, __product(half.hi, half.hi), (T)1).plain;
        T r = (order ? __mul(sum, half) : sum).hi;
        return order ? __sign_(r, x) : r;
    }
    __two<T, T> h = __hankel(order, a, (T)1, (T)0);
    int k;
    __dd<T> e = __exp_scaled(__within_exp(__dd<T>{a, 0}), k);
    __dd<T> root = __sqrt_dd(__scaled(__mul(__pi<T>, a), (T)2));
    T r = __ldexp_(__mul(__div(e, root), __quick_sum((T)1, h.first - h.second)).hi, k);
    return order ? __sign_(r, x) : r;
}
template <class T> __own T __i0_(T x) { return __i_(0, x); }
template <class T> __own T __i1_(T x) { return __i_(1, x); }
// Orders above 1: upwards where that is stable, downwards from where the function is nothing, scaled by J0 or J1.
template <class T> __own T __jn_(int n, T x) {
    int order = n < 0 ? -n : n;
    T a = __abs_(x), r;
    bool minus = (order & 1) && (n < 0) != (__builtin_signbit(x) != 0);
    if (__nan_(x)) return x;
    T zero = __bessel(0, a, false).first, first = __bessel(1, a, false).first;
    if (order < 2) r = order ? first : zero;
    else if (a == 0 || a == __infinity<T>) r = 0;
    else if (a >= (T)order) {
        T before = zero;
        r = first;
#pragma nounroll
        for (int k = 1; k < order; ++k) {
            T next = 2 * k / a * r - before;
            before = r;
            r = next;
        }
    } else if (a < __ldexp_((T)1, -__fp<T>::digits / 2)) {
        r = 1;
#pragma nounroll
        for (int k = 1; k <= order && r > 0; ++k) r *= a / 2 / k;
    } else {
        int top = (order + (int)__sqrt_((T)(__is_float<T> ? 60 : 200) * order)) / 2 * 2;
        T above = 0, here = 1, limit = __is_float<T> ? 0x1p40f : 0x1p200, found = 0;
#pragma nounroll
        for (int k = top; k > 0; --k) {
            T below = 2 * k / a * here - above;
            if (__abs_(below) > limit) {
                below /= limit;
                here /= limit;
                found /= limit;
            }
            if (k - 1 == order) found = below;
            above = here;
            here = below;
        }
        r = __abs_(here) > __abs_(above) ? found / here * zero : found / above * first;
    }
    return minus ? -r : r;
}
template <class T> __own T __yn_(int n, T x) {
    int order = n < 0 ? -n : n;
    T before = __y0_(x), r = __y1_(x);
    if (order == 0) return before;
#pragma nounroll
    for (int k = 1; k < order && r > -__infinity<T>; ++k) {
        T next = 2 * k / x * r - before;
        before = r;
        r = next;
    }
    return (n < 0) && (order & 1) ? -r : r;
}
} // namespace __own_math
