// C = alpha op(A) op(B) + beta C, one work-item an element, for the element types that no generated kernel takes; sums of
// matrices; and triangular systems, one work-item a column. Each matrix has a stride for its rows and one for its columns, so that a
// vector is one, too.

template <typename T> struct complex { T re, im; };
template <typename T> __device__ T conj(T x) { return x; }
template <typename T> __device__ complex<T> conj(complex<T> x) { return {x.re, -x.im}; }
template <typename T> __device__ T fused(T a, T b, T sum) { return a * b + sum; }
template <> __device__ float fused(float a, float b, float sum) { return __builtin_fmaf(a, b, sum); }
template <> __device__ double fused(double a, double b, double sum) { return __builtin_fma(a, b, sum); }
template <typename T> __device__ complex<T> fused(complex<T> a, complex<T> b, complex<T> sum) {
    return {fused(-a.im, b.im, fused(a.re, b.re, sum.re)), fused(a.im, b.re, fused(a.re, b.im, sum.im))};
}
template <typename T> __device__ T quotient(T a, T b) { return a / b; }
template <typename T> __device__ complex<T> quotient(complex<T> a, complex<T> b) { // Smith 1962
    bool wide = (b.re < 0 ? -b.re : b.re) >= (b.im < 0 ? -b.im : b.im);
    T r = wide ? b.im / b.re : b.re / b.im, d = wide ? b.re + r * b.im : b.im + r * b.re;
    return wide ? complex<T>{(a.re + a.im * r) / d, (a.im - a.re * r) / d}
                : complex<T>{(a.re * r + a.im) / d, (a.im * r - a.re) / d};
}
template <typename T> __device__ T minus(T x) { return -x; }
template <typename T> __device__ complex<T> minus(complex<T> x) { return {-x.re, -x.im}; }
template <typename T> __device__ bool zero(T x) { return x == T(0); }
template <typename T> __device__ bool zero(complex<T> x) { return x.re == 0 && x.im == 0; }

template <typename In, typename Out>
__device__ void product(long m, long n, long k, const In *a, long a_row, long a_column, long a_conjugated, const In *b,
                        long b_row, long b_column, long b_conjugated, Out *c, long c_row, long c_column, Out alpha, Out beta) {
    long at = (long)blockIdx.x * 64 + threadIdx.x, i = at % m, j = at / m;
    if (j >= n) return;
    Out sum = {};
    for (long l = 0; l < k; ++l) {
        In x = a[i * a_row + l * a_column], y = b[l * b_row + j * b_column];
        sum = fused((Out)(a_conjugated ? conj(x) : x), (Out)(b_conjugated ? conj(y) : y), sum);
    }
    Out *to = c + i * c_row + j * c_column, none = {};
    *to = fused(alpha, sum, zero(beta) ? none : fused(beta, *to, none));
}

#define PRODUCT(name, In, Out)                                                                                          \
    extern "C" __global__ __launch_bounds__(64) void name(                                                              \
        long m, long n, long k, const In *a, long a_row, long a_column, long a_conjugated, const In *b, long b_row,     \
        long b_column, long b_conjugated, Out *c, long c_row, long c_column, Out alpha, Out beta) {                     \
        product<In, Out>(m, n, k, a, a_row, a_column, a_conjugated, b, b_row, b_column, b_conjugated, c, c_row,         \
                         c_column, alpha, beta);                                                                        \
    }
PRODUCT(product_f32, float, float)
PRODUCT(product_f64, double, double)
PRODUCT(product_c32, complex<float>, complex<float>)
PRODUCT(product_c64, complex<double>, complex<double>)
PRODUCT(product_i8, signed char, int)

struct matrix { const void *at; long row, column, conjugated; };
template <typename T> __device__ T scaled(T alpha, matrix x, long i, long j) {
    T none = {}, value = none;
    if (zero(alpha)) return none;
    value = ((const T *)x.at)[i * x.row + j * x.column];
    return fused(alpha, x.conjugated ? conj(value) : value, none);
}

#define COMBINE(name, T)                                                                                               \
    extern "C" __global__ __launch_bounds__(64) void name(long m, long n, matrix a, matrix b, matrix c, T alpha, T beta) { \
        long at = (long)blockIdx.x * 64 + threadIdx.x, i = at % m, j = at / m;                                         \
        T one = {1};                                                                                                   \
        if (j < n) ((T *)c.at)[i * c.row + j * c.column] = fused(one, scaled(alpha, a, i, j), scaled(beta, b, i, j));    \
    }
COMBINE(combine_f32, float)
COMBINE(combine_f64, double)
COMBINE(combine_c32, complex<float>)
COMBINE(combine_c64, complex<double>)

template <typename T>
__device__ void solve(long n, long columns, const T *a, long a_row, long a_column, long a_conjugated, T *x, long x_row,
                      long x_column, long upper, long unit, T alpha) {
    long j = (long)blockIdx.x * 64 + threadIdx.x;
    if (j >= columns) return;
    for (long done = 0; done < n; ++done) {
        long i = upper ? n - 1 - done : done, step = upper ? -1 : 1;
        T *to = x + i * x_row + j * x_column, none = {}, sum = fused(alpha, *to, none);
        for (long k = upper ? n - 1 : 0; k != i; k += step) {
            T y = a[i * a_row + k * a_column];
            sum = fused(minus(a_conjugated ? conj(y) : y), x[k * x_row + j * x_column], sum);
        }
        T y = a[i * (a_row + a_column)];
        *to = unit ? sum : quotient(sum, a_conjugated ? conj(y) : y);
    }
}

#define SOLVE(name, T)                                                                                                 \
    extern "C" __global__ __launch_bounds__(64) void name(                                                             \
        long n, long columns, const T *a, long a_row, long a_column, long a_conjugated, T *x, long x_row,              \
        long x_column, long upper, long unit, T alpha) {                                                               \
        solve<T>(n, columns, a, a_row, a_column, a_conjugated, x, x_row, x_column, upper, unit, alpha);                \
    }
SOLVE(solve_f32, float)
SOLVE(solve_f64, double)
SOLVE(solve_c32, complex<float>)
SOLVE(solve_c64, complex<double>)
