// Exponentials, logarithms, powers, roots, trigonometric and hyperbolic functions, for float and double, from
// polynomials.h and the arithmetic of two numbers as one; results are rounded from some ten bits more than they have.
// Arguments are reduced as in W. J. Cody, W. Waite, Software Manual for the Elementary Functions, 1980, and J.-M. Muller,
// Elementary Functions, 2016; large ones of trigonometric functions as in M. Payne, R. Hanek, SIGNUM 18, 1983.
#pragma once

namespace __own_math {
// --- exponentials
// x = k ln 2 + the result
template <class T> __own __dd<T> __reduce_exp(__dd<T> x, int &k) {
    T n = __rint_(x.hi * __log2e<T>.hi);
    k = (int)n;
    return __sum(__fma_(-n, __ln2<T>.hi, x.hi), __fma_(-n, __ln2<T>.lo, x.lo));
}
// e^x - 1, |x| <= ln(2) / 2
template <class T> __own __dd<T> __expm1_small(__dd<T> x) {
    __dd<T> square = __product(x.hi, x.hi);
    T more = __fma_(x.hi * square.hi, __poly_exp(x.hi), square.lo / 2 + __fma_(x.lo, x.hi, x.lo));
    __dd<T> sum = __quick_sum(x.hi, square.hi / 2);
    return __quick_sum(sum.hi, sum.lo + more);
}
// e^x as hi + lo in [0.7, 1.42] times 2^k
template <class T> __own __dd<T> __exp_scaled(__dd<T> x, int &k) {
    return __add(__expm1_small(__reduce_exp(x, k)), (T)1);
}
template <class T> __own __dd<T> __within_exp(__dd<T> x) { // in a range where nothing overflows before the result does
    T most = __fp<T>::exp_range;
    return x.hi > most ? __dd<T>{most, 0} : x.hi < -most ? __dd<T>{-most, 0} : x;
}
template <class T> __own T __exp_(__dd<T> x) {
    int k;
    __dd<T> y = __exp_scaled(__within_exp(x), k);
    return __nan_(x.hi) ? x.hi : __ldexp_(y.hi + y.lo, k);
}
template <class T> __own T __exp_(T x) { return __exp_(__dd<T>{x, 0}); }
template <class T> __own __dd<T> __exp_dd(__dd<T> x) { // where no denormal is near
    int k;
    __dd<T> y = __exp_scaled(x, k);
    return __scaled(y, k);
}
// e^x - 1, x below the range of overflow
template <class T> __own __dd<T> __expm1_dd(__dd<T> x) {
    int k;
    __dd<T> e = __expm1_small(__reduce_exp(x, k));
    T power = __ldexp_((T)1, k);
    return k == 0 ? e : __add(__scaled(e, power), __sum(power, (T)-1));
}
template <class T> __own T __expm1_(T x) {
    if (x > __fp<T>::digits * (T)0.7 + 5) return __exp_(__dd<T>{x, 0});
    if (x < __fp<T>::digits * (T)-0.7 - 5) return -1;
    __dd<T> e = __expm1_dd(__dd<T>{x, 0});
    return x == 0 || __nan_(x) ? x : e.hi;
}
// base^x, log: of the base, as hi + lo; 1 / log, to one number
template <class T> __own T __exp_to(T x, __dd<T> log, __dd<T> inverse) {
    T n = __rint_(x * inverse.hi);
    T most = __fp<T>::exp_range * 2;
    n = n > most ? most : n < -most ? -most : n;
    // x log(base) - n log(2), of which the first is exact in two products
    __dd<T> p = __product(x, log.hi);
    __dd<T> r = __sum(__fma_(-n, __ln2<T>.hi, p.hi), __fma_(-n, __ln2<T>.lo, __fma_(x, log.lo, p.lo)));
    r = __abs_(n) == most ? __dd<T>{0, 0} : r;
    __dd<T> y = __add(__expm1_small(r), (T)1);
    return __nan_(x) ? x : __ldexp_(y.hi + y.lo, (int)n);
}
template <class T> __own T __exp2_(T x) {
    T most = __fp<T>::exp_range * 2, n = __rint_(x);
    n = n > most ? most : n < -most ? -most : n;
    __dd<T> y = __add(__expm1_small(__mul(__ln2<T>, __abs_(n) == most ? (T)0 : x - n)), (T)1);
    return __nan_(x) ? x : __ldexp_(y.hi + y.lo, (int)n);
}
template <class T> __own T __exp10_(T x) { return __exp_to(x, __ln10<T>, __constant<T>(0x1.a934f0979a371p+1, 0)); }

// --- logarithms
// log(m) and e, where x = m 2^e, m in [sqrt(1/2), sqrt(2)); x positive and finite
template <class T> __own __dd<T> __log_scaled(__dd<T> x, int &e) {
    T m = __mantissa(x.hi);
    bool low = m < __sqrt_half<T>.hi;
    e = __exponent(x.hi) - low;
    m = low ? m * 2 : m;
    __dd<T> f = __sum(m - 1, __ldexp_(x.lo, -e));
    __dd<T> s = __div(f, __add(f, (T)2)), z = __mul(s, s); // log(m) = 2 atanh(s)
    __dd<T> third = __mul(__mul(s, z), __third<T>);
    third.lo = __fma_(s.hi * z.hi, z.hi * __poly_atanh(z.hi), third.lo);
    return __scaled(__add(s, __quick_sum(third.hi, third.lo)), (T)2);
}
template <class T> __own __dd<T> __log_dd(__dd<T> x) {
    int e;
    __dd<T> log = __log_scaled(x, e);
    return e == 0 ? log : __add(__mul(__ln2<T>, (T)e), log);
}
template <class T> __own T __log_edges(T x, T log) {
    return x == 0 ? -__infinity<T> : !(x > 0) ? __nan<T> : x == __infinity<T> ? x : log;
}
template <class T> __own T __log_(T x) { return __log_edges(x, __log_dd(__dd<T>{x, 0}).hi); }
template <class T> __own T __log2_(T x) {
    int e;
    __dd<T> log = __mul(__log_scaled(__dd<T>{x, 0}, e), __log2e<T>);
    return __log_edges(x, __add(log, (T)e).hi);
}
template <class T> __own T __log10_(T x) {
    int e;
    __dd<T> log = __mul(__log_scaled(__dd<T>{x, 0}, e), __log10e<T>);
    return __log_edges(x, __add(__mul(__log10_2<T>, (T)e), log).hi);
}
template <class T> __own __dd<T> __log1p_dd(__dd<T> x) { return __log_dd(__add(x, (T)1)); }
template <class T> __own T __log1p_(T x) {
    T tiny = __ldexp_((T)1, -__fp<T>::digits);
    T log = x > __ldexp_((T)1, __fp<T>::digits * 2) ? __log_dd(__dd<T>{x, 0}).hi : __log1p_dd(__dd<T>{x, 0}).hi;
    return __abs_(x) < tiny ? x : __log_edges(x + 1, log);
}

// --- powers and roots
template <class T> __own T __pow_(T x, T y) {
    T a = __abs_(x);
    __dd<T> log = __log_dd(__dd<T>{a, 0});
    T p = y * log.hi;
    __dd<T> to = {p, __fma_(y, log.lo, __fma_(y, log.hi, -p))};
    T r = __exp_(to);
    bool odd = __odd(y), grows = (a > 1) == (y > 0);
    if (a == 0 || a == __infinity<T> || __abs_(y) == __infinity<T>) r = a == 1 ? (T)1 : grows ? __infinity<T> : (T)0;
    r = __negative(x) && odd && __finite_(y) ? -r : r;
    if (x < 0 && x > -__infinity<T> && !__integral(y)) r = __nan<T>;
    if (__nan_(x) || __nan_(y)) r = __nan<T>;
    return y == 0 || x == 1 ? (T)1 : r;
}
template <class T> __own T __pown_(T x, int n) { // n may have more bits than T
    T high = (T)(n & ~0xffff), low = (T)(n & 0xffff), a = __abs_(x);
    __dd<T> log = __log_dd(__dd<T>{a, 0}), y = __sum(high, low);
    T r = __exp_(__add(__mul(log, y.hi), y.lo * log.hi));
    if (a == 0 || a == __infinity<T>) r = (a > 1) == (n > 0) ? __infinity<T> : (T)0;
    r = __negative(x) && (n & 1) ? -r : r;
    return n == 0 ? (T)1 : __nan_(x) ? x : r;
}
// x^(1/3) of x in [1/8, 8)
template <class T> __own __dd<T> __cbrt_dd(T x) {
    T y = (T)__builtin_amdgcn_exp2f(__builtin_amdgcn_logf((float)x) * (1 / 3.0f));
    if constexpr (!__is_float<T>) y -= (y - x / (y * y)) / 3;
    __dd<T> cube = __mul(__product(y, y), y);
    return __quick_sum(y, -((cube.hi - x) + cube.lo) / (3 * y * y));
}
template <class T> __own T __cbrt_(T x) {
    int e = __exponent(x), third = e / 3;
    __dd<T> y = __cbrt_dd(__ldexp_(__abs_(x), -3 * third));
    return x == 0 || !__finite_(x) ? x : __sign_(__ldexp_(y.hi + y.lo, third), x);
}
template <class T> __own T __rcbrt_(T x) {
    int e = __exponent(x), third = e / 3;
    __dd<T> y = __div(__dd<T>{1, 0}, __cbrt_dd(__ldexp_(__abs_(x), -3 * third)));
    T r = __ldexp_(y.hi + y.lo, -third);
    return __nan_(x) ? x : __sign_(x == 0 ? __infinity<T> : __finite_(x) ? r : (T)0, x);
}
__own float __rsqrt_(float x) {
    bool tiny = x < 0x1p-100f;
    float y = __builtin_amdgcn_rsqf(tiny ? x * 0x1p100f : x);
    return tiny ? y * 0x1p50f : y;
}
__own double __rsqrt_(double x) {
    double y = __builtin_amdgcn_rsq(x);
    for (int i = 0; i < 2; ++i) y = __fma_(__fma_(-x * y, y, 1.0), 0.5 * y, y);
    __dd<double> p = __product(x, y);
    double left = __fma_(-p.hi, y, 1.0) - p.lo * y, better = __fma_(left, 0.5 * y, y);
    return __finite_(better) ? better : __builtin_amdgcn_rsq(x);
}
// sqrt(a[0]^2 + ... + a[n - 1]^2), or its inverse
template <class T> __own T __length(const T *a, int n, bool inverse) {
    T most = 0;
    bool nan = false;
    for (int i = 0; i < n; ++i) {
        most = __builtin_elementwise_max(most, __abs_(a[i]));
        nan |= __nan_(a[i]);
    }
    int e = __exponent(most);
    __dd<T> sum = {0, 0};
    for (int i = 0; i < n; ++i) {
        T scaled = __ldexp_(a[i], -e);
        sum = __add(sum, __product(scaled, scaled));
    }
    __dd<T> root = __sqrt_dd(sum);
    T r = inverse ? __ldexp_(__div(__dd<T>{1, 0}, root).hi, -e) : __ldexp_(root.hi, e);
    if (nan && most < __infinity<T>) return __nan<T>;
    if (most == 0 || most == __infinity<T>) return inverse == (most == 0) ? __infinity<T> : (T)0;
    return r;
}
template <class T, class... Rest> __own T __length_of(bool inverse, T x, Rest... rest) {
    const T all[] = {x, rest...};
    return __length(all, 1 + sizeof...(rest), inverse);
}

// --- trigonometric functions
static const __device__ unsigned __two_over_pi[43] = { // after a word of its whole part
    0, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561, 0xb7246e3a,
    0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41,
    0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf,
    0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08,
    0x56033046, 0xfc7b6bab, 0xf0cfbc20, 0x9af4361d, 0xa9e39161, 0x5ee61b08};

// x - q pi / 2 for a large x: of x 2 / pi only the bits that count are computed, from those words of 2 / pi on whose
// product with x is no multiple of 4.
template <class T> __own __dd<T> __reduce_far(T x, int &q) {
    constexpr int words = __is_float<T> ? 4 : 7;
    int e = __exponent(x) - __fp<T>::digits; // |x| = m 2^e
    unsigned long long m = (unsigned long long)__ldexp_(__abs_(x), -e);
    int first = (e + 30) >> 5, shift = (e + 30) & 31; // e is at least -24
    unsigned product[words] = {};
    unsigned long long carry = 0;
    for (int i = words - 1; i >= 0; --i) { // m W, modulo 2^(32 words)
        unsigned word = __two_over_pi[first + i];
        unsigned long long low = (m & 0xffffffff) * word + (carry & 0xffffffff);
        carry = (low >> 32) + (carry >> 32) + (m >> 32) * word;
        product[i] = (unsigned)low;
    }
    unsigned bits[words]; // two before the point, then the fraction
    for (int i = 0; i < words; ++i) {
        unsigned next = i + 1 < words ? product[i + 1] : 0;
        bits[i] = (unsigned)((((unsigned long long)product[i] << 32 | next) << shift) >> 32);
    }
    unsigned long long high = (unsigned long long)bits[0] << 34 | (unsigned long long)bits[1] << 2 | bits[2] >> 30;
    unsigned long long low = (unsigned long long)bits[2] << 34 | (unsigned long long)bits[3] << 2 |
                             (words > 4 ? bits[4 % words] >> 30 : 0);
    q = bits[0] >> 30;
    __int128 fraction = (__int128)((unsigned __int128)high << 64 | low); // of a quarter turn, in [-1/2, 1/2) 2^128
    q += fraction < 0;
    __dd<T> r;
    if constexpr (__is_float<T>) {
        double turned = (double)(long long)(fraction >> 64) * 0x1.921fb54442d18p-64;
        r = {(float)turned, (float)(turned - (double)(float)turned)};
    } else {
        double top = (double)fraction, rest = (double)(fraction - (__int128)top);
        r = __scaled(__mul(__quick_sum(top, rest), __half_pi<double>), 0x1p-128);
    }
    q = __negative(x) ? -q : q;
    return __negative(x) ? __neg(r) : r;
}
template <class T> __own __dd<T> __reduce(T x, int &q) {
    constexpr double c2 = 0x1.1a62633145c07p-54, c3 = -0x1.f1976b7ed8fbcp-110;
    constexpr float f1 = (float)0x1.921fb54442d18p+0, f2 = (float)(0x1.921fb54442d18p+0 - (double)f1);
    constexpr float f3 = (float)(0x1.921fb54442d18p+0 - (double)f1 - (double)f2 + c2);
    T n = __rint_(x * (T)0x1.45f306dc9c883p-1);
    if (__abs_(n) >= (__is_float<T> ? (T)0x1p15 : (T)0x1p28)) return __reduce_far(x, q);
    q = (int)n;
    T near = __fma_(-n, __is_float<T> ? (T)f1 : (T)0x1.921fb54442d18p+0, x);
    __dd<T> p = __product(n, __is_float<T> ? (T)f2 : (T)c2), s = __sum(near, -p.hi);
    return __quick_sum(s.hi, s.lo - p.lo - n * (__is_float<T> ? (T)f3 : (T)c3));
}
template <class T> __own __dd<T> __sin_small(__dd<T> x) {
    T z = x.hi * x.hi;
    return __quick_sum(x.hi, __fma_(x.hi * z, __poly_sin(z), __fma_(x.lo, z * (T)-0.5, x.lo)));
}
template <class T> __own __dd<T> __cos_small(__dd<T> x) {
    __dd<T> z = __product(x.hi, x.hi), one = __quick_sum((T)1, z.hi * (T)-0.5);
    T more = __fma_(z.hi * z.hi, __poly_cos(z.hi), -__fma_(x.hi, x.lo, z.lo * (T)0.5));
    return __quick_sum(one.hi, one.lo + more);
}
template <class T> __own __two<T, T> __turned(__dd<T> r, int q) { // sin and cos of r + q pi / 2
    T s = __sin_small(r).hi, c = __cos_small(r).hi, sin = q & 1 ? c : s, cos = q & 1 ? s : c;
    return {q & 2 ? -sin : sin, (q + 1) & 2 ? -cos : cos};
}
template <class T> __own __two<T, T> __sincos_(T x) {
    if (!__finite_(x)) return {__nan<T>, __nan<T>};
    int q;
    __dd<T> r = __reduce(x, q);
    __two<T, T> both = __turned(r, q);
    return {x == 0 ? x : both.first, both.second};
}
template <class T> __own T __sin_(T x) { return __sincos_(x).first; }
template <class T> __own T __cos_(T x) { return __sincos_(x).second; }
template <class T> __own T __tan_(T x) {
    if (!__finite_(x)) return __nan<T>;
    int q;
    __dd<T> r = __reduce(x, q), s = __sin_small(r), c = __cos_small(r);
    return x == 0 ? x : (q & 1 ? __neg(__div(c, s)) : __div(s, c)).hi;
}
// x pi = r + q pi / 2
template <class T> __own __dd<T> __reduce_pi(T x, int &q) {
    T y = x - 2 * __trunc_(x * (T)0.5), n = __rint_(y * 2);
    q = (int)n;
    return __mul(__pi<T>, y - n * (T)0.5);
}
template <class T> __own __two<T, T> __sincospi_(T x) {
    if (!__finite_(x)) return {__nan<T>, __nan<T>};
    int q;
    __dd<T> r = __reduce_pi(x, q);
    __two<T, T> both = __turned(r, q);
    if (r.hi == 0) both = {q & 1 ? both.first : __sign_((T)0, x), q & 1 ? (T)0 : both.second};
    return both;
}
template <class T> __own T __sinpi_(T x) { return __sincospi_(x).first; }
template <class T> __own T __cospi_(T x) { return __sincospi_(x).second; }
template <class T> __own T __tanpi_(T x) {
    __two<T, T> both = __sincospi_(x);
    return both.first / both.second;
}

// --- inverse trigonometric functions
// atan(y / x) of y, x >= 0, not both 0
template <class T> __own __dd<T> __atan_of(T y, T x) {
    bool steep = y > x;
    T a = steep ? x : y, b = steep ? y : x;
    int e = __exponent(b);
    a = __ldexp_(a, -e);
    b = __ldexp_(b, -e);
    bool far = a > b * (T)0.41421356;
    __dd<T> u = far ? __div(__sum(a, -b), __sum(a, b)) : __div(__dd<T>{a, 0}, __dd<T>{b, 0});
    T z = u.hi * u.hi;
    u = __quick_sum(u.hi, __fma_(u.hi * z, __poly_atan(z), u.lo));
    u = far ? __add(__quarter_pi<T>, u) : u;
    return steep ? __add(__half_pi<T>, __neg(u)) : u;
}
template <class T> __own T __atan2_(T y, T x) {
    T a = __abs_(y), b = __abs_(x), inf = __infinity<T>;
    if (a == inf && b == inf) a = b = 1;
    __dd<T> angle = a == 0 ? __dd<T>{0, 0} : b == inf ? __dd<T>{0, 0} : a == inf ? __half_pi<T> : __atan_of(a, b);
    T r = (__negative(x) ? __add(__pi<T>, __neg(angle)) : angle).hi;
    if (a != 0 && b != 0 && a < inf && b < inf && !__negative(x) && __exponent(a) - __exponent(b) < __fp<T>::least / 2)
        r = a / b; // may be denormal
    return __nan_(x) || __nan_(y) ? __nan<T> : __sign_(r, y);
}
template <class T> __own T __atan_(T x) {
    T a = __abs_(x);
    T r = a > __ldexp_((T)1, __fp<T>::digits + 10) ? __half_pi<T>.hi : __atan_of(a, (T)1).hi;
    return __nan_(x) || a < __ldexp_((T)1, -__fp<T>::digits / 2 - 3) ? x : __sign_(r, x);
}
// asin(sqrt((1 - x) / 2)), 1/2 <= x <= 1
template <class T> __own __dd<T> __asin_half(T x) {
    T t = (1 - x) / 2;
    __dd<T> s = __sqrt_dd(__dd<T>{t, 0});
    return __quick_sum(s.hi, __fma_(s.hi * t, __poly_asin(t), s.lo));
}
template <class T> __own T __asin_(T x) {
    T a = __abs_(x);
    if (a > (T)0.5) return a > 1 ? __nan<T> : __sign_(__add(__half_pi<T>, __scaled(__asin_half(a), (T)-2)).hi, x);
    return __fma_(x * (x * x), __poly_asin(x * x), x);
}
template <class T> __own T __acos_(T x) {
    T a = __abs_(x);
    if (a > (T)0.5) {
        __dd<T> twice = __scaled(__asin_half(a), (T)2);
        return a > 1 ? __nan<T> : (x < 0 ? __add(__pi<T>, __neg(twice)) : twice).hi;
    }
    return __add(__half_pi<T>, __neg(__quick_sum(x, x * (x * x) * __poly_asin(x * x)))).hi;
}

// --- hyperbolic functions
template <class T> __own T __half_exp(T x) {
    return __exp_(__add(__neg(__ln2<T>), x > __fp<T>::exp_range ? __fp<T>::exp_range : x));
}
template <class T> __own T __sinh_(T x) {
    T a = __abs_(x), r;
    if (a > __fp<T>::digits * (T)0.4 + 3) r = __half_exp(a);
    else {
        __dd<T> e = __expm1_dd(__dd<T>{a, 0});
        r = __add(e, __div(e, __add(e, (T)1))).hi / 2;
    }
    return a < __ldexp_((T)1, -__fp<T>::digits / 2 - 2) || __nan_(x) ? x : __sign_(r, x);
}
template <class T> __own T __cosh_(T x) {
    T a = __abs_(x);
    if (a > __fp<T>::digits * (T)0.4 + 3) return __half_exp(a);
    __dd<T> e = __exp_dd(__dd<T>{a, 0});
    return __nan_(x) ? x : __add(e, __div(__dd<T>{1, 0}, e)).hi / 2;
}
template <class T> __own T __tanh_(T x) {
    T a = __abs_(x), r;
    if constexpr (__is_float<T>) // to 1.5 ULPs, in fewer steps
        r = a < 0.625f ? __fma_(a * (a * a), __poly_tanh(a * a), a)
                       : 1 - 2 * __near_rcp(__builtin_expf(a < 10 ? 2 * a : 20) + 1);
    else {
        __dd<T> e = __expm1_dd(__dd<T>{a > 30 ? (T)60 : 2 * a, 0});
        r = __div(e, __add(e, (T)2)).hi;
    }
    return a < __ldexp_((T)1, -__fp<T>::digits / 2 - 2) || __nan_(x) ? x : __sign_(r, x);
}
template <class T> __own T __asinh_(T x) {
    T a = __abs_(x), r;
    if (a > __ldexp_((T)1, __fp<T>::digits / 2 + 3)) r = __add(__log_dd(__dd<T>{__finite_(a) ? a : 1, 0}), __ln2<T>).hi;
    else { // log(1 + (a + a^2 / (1 + sqrt(1 + a^2))))
        __dd<T> square = __product(a, a), root = __sqrt_dd(__add(square, (T)1));
        r = __log1p_dd(__add(__div(square, __add(root, (T)1)), a)).hi;
    }
    return a < __ldexp_((T)1, -__fp<T>::digits / 2 - 2) || !__finite_(x) ? x : __sign_(r, x);
}
template <class T> __own T __acosh_(T x) {
    if (x > __ldexp_((T)1, __fp<T>::digits / 2 + 3))
        return x == __infinity<T> ? x : __add(__log_dd(__dd<T>{x, 0}), __ln2<T>).hi;
    __dd<T> y = __sum(x, (T)-1), root = __sqrt_dd(__mul(y, __sum(x, (T)1))); // log(1 + (y + sqrt(y (x + 1))))
    return x < 1 || __nan_(x) ? __nan<T> : x == 1 ? (T)0 : __log1p_dd(__add(y, root)).hi;
}
template <class T> __own T __atanh_(T x) {
    T a = __abs_(x);
    __dd<T> log = __log1p_dd(__div(__dd<T>{2 * a, 0}, __sum((T)1, -a)));
    T r = a == 1 ? __infinity<T> : log.hi / 2;
    return a > 1 || __nan_(x) ? __nan<T> : a < __ldexp_((T)1, -__fp<T>::digits / 2 - 2) ? x : __sign_(r, x);
}
} // namespace __own_math
