// Complex numbers as vectors of two. Names as in ROCm/clr, hipamd/include/hip/amd_detail/amd_hip_complex.h.
#pragma once
#pragma clang system_header
#include <hip/hip_runtime.h>

typedef float2 hipFloatComplex;
typedef double2 hipDoubleComplex;
typedef hipFloatComplex hipComplex;
#define __hip_complex(C, T, f)                                                                                         \
    __device__ __forceinline__ T hipCreal##f(C z) { return z.x; }                                                      \
    __device__ __forceinline__ T hipCimag##f(C z) { return z.y; }                                                      \
    __device__ __forceinline__ C make_##C(T x, T y) { return C{x, y}; }                                                \
    __device__ __forceinline__ C hipConj##f(C z) { return C{z.x, -z.y}; }                                              \
    __device__ __forceinline__ T hipCsqabs##f(C z) { return z.x * z.x + z.y * z.y; }                                   \
    __device__ __forceinline__ T hipCabs##f(C z) { return hypot(z.x, z.y); }                                           \
    __device__ __forceinline__ C hipCadd##f(C a, C b) { return C{a.x + b.x, a.y + b.y}; }                              \
    __device__ __forceinline__ C hipCsub##f(C a, C b) { return C{a.x - b.x, a.y - b.y}; }                              \
    __device__ __forceinline__ C hipCmul##f(C a, C b) { return C{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }      \
    __device__ __forceinline__ C hipCdiv##f(C a, C b) {                                                                \
        T square = hipCsqabs##f(b);                                                                                    \
        return C{(a.x * b.x + a.y * b.y) / square, (a.y * b.x - a.x * b.y) / square};                                  \
    }                                                                                                                  \
    __device__ __forceinline__ C hipCfma##f(C a, C b, C c) {                                                           \
        return C{a.x * b.x - a.y * b.y + c.x, a.x * b.y + a.y * b.x + c.y};                                            \
    }
__hip_complex(hipFloatComplex, float, f) __hip_complex(hipDoubleComplex, double, )
#undef __hip_complex
__device__ __forceinline__ hipComplex make_hipComplex(float x, float y) { return {x, y}; }
__device__ __forceinline__ hipFloatComplex hipComplexDoubleToFloat(hipDoubleComplex z) { return {(float)z.x, (float)z.y}; }
__device__ __forceinline__ hipDoubleComplex hipComplexFloatToDouble(hipFloatComplex z) { return {z.x, z.y}; }
