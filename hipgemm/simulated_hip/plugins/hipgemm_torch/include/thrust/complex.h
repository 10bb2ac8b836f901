/* As much of thrust's complex numbers as torch's own need to be declared. */
#pragma once

namespace thrust {

template <class T> struct complex {
    T re, im;
    __host__ __device__ complex(T re = 0, T im = 0) : re(re), im(im) {}
    __host__ __device__ T real() const { return re; }
    __host__ __device__ T imag() const { return im; }
};

#define OF_ONE(name) template <class T> __host__ __device__ complex<T> name(const complex<T> &);
OF_ONE(exp) OF_ONE(log) OF_ONE(log10) OF_ONE(sqrt) OF_ONE(sin) OF_ONE(cos) OF_ONE(tan) OF_ONE(sinh) OF_ONE(cosh)
OF_ONE(tanh) OF_ONE(asin) OF_ONE(acos) OF_ONE(atan) OF_ONE(asinh) OF_ONE(acosh) OF_ONE(atanh) OF_ONE(proj)
#undef OF_ONE
template <class T, class U> __host__ __device__ complex<T> pow(const T &, const U &);
template <class T> __host__ __device__ T abs(const complex<T> &z) { return hypot(z.re, z.im); }
template <class T> __host__ __device__ T arg(const complex<T> &z) { return atan2(z.im, z.re); }
template <class T> __host__ __device__ complex<T> polar(T r, T angle = 0) { return {r * cos(angle), r * sin(angle)}; }

} // namespace thrust
