// Parts of numbers, neighbours, remainders and operations in other directions of rounding: exact, for float and double.
#pragma once

namespace __own_math {
template <class T> __own T __scalb_(T x, T n) {
    if (__nan_(x) || __nan_(n)) return __nan<T>;
    if (!__finite_(n)) return n > 0 ? (x == 0 ? __nan<T> : x * n) : (__finite_(x) ? __sign_((T)0, x) : __nan<T>);
    return __integral(n) ? __ldexp_(x, n > 9999 ? 9999 : n < -9999 ? -9999 : (int)n) : __nan<T>;
}
template <class T> __own T __logb_(T x) {
    T e = (T)(__exponent(x) - 1);
    return x == 0 ? -__infinity<T> : __finite_(x) ? e : x * x;
}
template <class T> __own int __ilogb_(T x) {
    int e = __exponent(x) - 1;
    return x == 0 || __nan_(x) ? -0x7fffffff - 1 : __finite_(x) ? e : 0x7fffffff;
}
template <class T> __own T __from_bits(typename __fp<T>::bits bits) { return __builtin_bit_cast(T, bits); }
template <class T> __own T __next_up(T x) { // the least number above; infinity and NaN stay
    return x == 0 ? __from_bits<T>(1) : __nan_(x) || x == __infinity<T> ? x
         : __from_bits<T>(x > 0 ? __bits(x) + 1 : __bits(x) - 1);
}
template <class T> __own T __next_down(T x) { return -__next_up(-x); }
template <class T> __own T __nextafter_(T x, T y) {
    return __nan_(x) || __nan_(y) ? __nan<T> : x == y ? y : x < y ? __next_up(x) : __next_down(x);
}

// x - q y for the q that x / y is rounded to, to zero or to even, and q's low bits with its sign. Long division of the
// significands, as many bits a step as a word has room for.
template <class T> __own __two<T, int> __divided(T x, T y, bool nearest) {
    constexpr int digits = __fp<T>::digits, step = 64 - digits;
    T a = __abs_(x), b = __abs_(y);
    if (!(a < __infinity<T>) || !(b > 0)) return {__nan<T>, 0};
    if (b == __infinity<T> || a == 0) return {x, 0};
    int ea = __exponent(a), eb = __exponent(b), left = ea - eb;
    unsigned long long m = (unsigned long long)__ldexp_(b, digits - eb), q = 0;
    unsigned long long r = (unsigned long long)__ldexp_(a, digits - ea);
    if (left < -1) return {x, 0};
    if (left < 0) { // half of y at least, perhaps
        if (!nearest || !(a > b - a)) return {x, 0};
        return {__sign_((T)1, x) * (a - b), __negative(x) != __negative(y) ? -1 : 1};
    }
    q = r >= m;
    r -= q ? m : 0;
    while (left > 0) {
        int now = left < step ? left : step;
        r <<= now;
        q = q << now | r / m;
        r %= m;
        left -= now;
    }
    bool up = nearest && (2 * r > m || (2 * r == m && (q & 1)));
    T rest = up ? -__ldexp_((T)(m - r), eb - digits) : __ldexp_((T)r, eb - digits);
    int low = (int)((q + up) & 0x7fffffff);
    return {rest == 0 ? __sign_((T)0, x) : __negative(x) ? -rest : rest, __negative(x) != __negative(y) ? -low : low};
}
template <class T> __own T __fmod_(T x, T y) { return __divided(x, y, false).first; }
template <class T> __own T __remainder_(T x, T y) { return __divided(x, y, true).first; }
template <class T> __own T __fdim_(T x, T y) { return x <= y ? (T)0 : x - y; }
template <class T> __own __two<T, T> __modf_(T x) {
    T whole = __trunc_(x);
    return {__sign_(__abs_(x) == __infinity<T> ? (T)0 : x - whole, x), whole};
}
template <class T> __own __two<T, int> __frexp_(T x) {
    int e = __exponent(x);
    T m = __mantissa(x);
    return __finite_(x) ? __two<T, int>{m, e} : __two<T, int>{x, 0};
}
} // namespace __own_math
