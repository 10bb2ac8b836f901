// <hip/hip_runtime.h> where there is no ROCm, of AMD's own text: its header for hiprtc, which rocm-llvm-python brings, has
// all of HIP's device language but bfloat16 (hip_bf16.h, beside this). It is the first file that a compiler is given.
//
// A program that compiles with hiprtc itself gets that header alone. A source of a kernel that hipcc would compile gets
// C++'s standard headers, too, as far as the compiler has them, and does not see hiprtc's macro.
#ifndef HIPGEMM_HIP_RUNTIME_H
#define HIPGEMM_HIP_RUNTIME_H
#pragma clang system_header

#ifdef __HIPCC_RTC__
#include <hiprtc_runtime.h>
#else
#define __HIPCC_RTC__
#include <hiprtc_runtime.h>
#undef __HIPCC_RTC__
#undef __local // which C++'s headers use as a name
#define __managed__ __attribute__((managed))
#define __grid_constant__
#define HIP_INCLUDE_HIP_AMD_DETAIL_HOST_DEFINES_H // of a file that this text contains: Thrust asks for it
#ifdef __HIPGEMM_WARP_SIZE_OF_HIP_6__ // a constant
#ifdef __HIPGEMM_WAVE64__
static constexpr int __hipgemm_warp_size = 64;
#else
static constexpr int __hipgemm_warp_size = 32;
#endif
#define warpSize __hipgemm_warp_size
#endif
#include "../../include/hip/older_names.h"
__device__ inline void *operator new(__SIZE_TYPE__, void *at) noexcept { return at; }
__device__ inline void *operator new[](__SIZE_TYPE__, void *at) noexcept { return at; }
__device__ inline void operator delete(void *, void *) noexcept {}
__device__ inline void operator delete[](void *, void *) noexcept {}
#if __has_include(<cmath>)
#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <hip/hip_runtime_api.h>
#else
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#endif
#endif
#endif

#ifdef HIP_TEMPLATE_KERNEL_LAUNCH // which a source may define only now
#undef hipLaunchKernelGGL
#endif
