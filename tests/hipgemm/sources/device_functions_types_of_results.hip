#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
#define IS(T, ...) static_assert(__is_same(decltype(__VA_ARGS__), T), #__VA_ARGS__);
__global__ void k(float f, double d, int i, unsigned u, unsigned long z, long l, long long ll, short s, char c,
                  __half h, _Float16 r, int *e, float *p) {
    IS(float, sqrt(f)) IS(double, sqrt(d)) IS(double, sqrt(i)) IS(double, exp(c)) IS(double, rsqrt(z))
    IS(double, log2(u))
    IS(float, pow(f, f)) IS(double, pow(f, d)) IS(double, pow(i, i)) IS(double, pow(d, u)) IS(double, pow(i, f))
    IS(float, fmax(f, f)) IS(double, fmax(f, d)) IS(double, fmax(f, i)) IS(double, fmin(i, u)) IS(float, fmaxf(i, d))
    IS(float, fabs(f)) IS(double, fabs(i)) IS(float, abs(f)) IS(int, abs(i)) IS(long, abs(l)) IS(long long, abs(ll))
    IS(int, abs(s)) IS(float, fma(f, f, f)) IS(double, fma(d, f, i)) IS(double, fma(f, f, i)) IS(double, hypot(f, i))
    IS(float, ldexp(f, i)) IS(double, ldexp(i, i)) IS(float, frexp(f, e)) IS(float, modf(f, p)) IS(int, ilogb(f))
    IS(float, remquo(f, f, e)) IS(long, lround(f)) IS(double, round(i)) IS(float, fmod(f, f)) IS(double, copysign(f, i))
    IS(int, min(i, i)) IS(unsigned, min(u, u)) IS(long, min(l, l)) IS(short, max(s, s)) IS(float, min(f, f))
    IS(double, max(d, d)) IS(double, min(i, u)) IS(double, max(z, i)) IS(double, max(f, 0)) IS(double, max(0.0, f))
    IS(double, min(u, 31)) IS(_Float16, max(r, r)) IS(__half, max(h, h)) IS(unsigned, max(threadIdx.x, 1u))
    IS(unsigned, hipThreadIdx_x + hipBlockIdx_y * hipBlockDim_z + hipGridDim_x)
    IS(bool, isnan(f)) IS(bool, isinf(d)) (void)isnan(i), (void)isnan((float)h), (void)signbit(f);
}
