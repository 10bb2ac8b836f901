// The part of HIP's device language that these kernels use, for machines without ROCm.
//
// ROCm's own <hip/hip_runtime.h> wins wherever there is a ROCm: hipcc finds that one and never sees this folder.
// Here clang compiles HIP with -nogpuinc -nogpulib, so that no ROCm header and no device library is needed, and this
// header maps HIP's names to clang's AMDGPU builtins. Each definition does what HIP's own header does with that name
// (ROCm/clr, hipamd/include/hip/amd_detail: amd_hip_runtime.h, amd_device_functions.h, host_defines.h).
#pragma once
#pragma clang system_header

#if !defined(__HIP__) || !defined(__AMDGCN__)
#error "This header serves only the device side: clang -x hip --cuda-device-only --offload-arch=gfx1100"
#endif

// What HIP's header says of the platform and of itself (hip_common.h, hip_version.h); hiprtc gives its own version.
#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__
#endif
#ifndef HIP_VERSION_MAJOR
#define HIP_VERSION_MAJOR 7
#define HIP_VERSION_MINOR 2
#define HIP_VERSION_PATCH 0
#endif
#define HIP_VERSION (HIP_VERSION_MAJOR * 10000000 + HIP_VERSION_MINOR * 100000 + HIP_VERSION_PATCH)

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))

// __launch_bounds__(threads[, waves per execution unit]): how large a workgroup may be launched decides how many
// VGPRs the register allocator may spend before it spills. A workgroup may always be smaller, hence (1, threads).
#define __hip_launch_bounds_1(threads) __attribute__((amdgpu_flat_work_group_size(1, threads)))
#define __hip_launch_bounds_2(threads, waves)                                                                         \
    __attribute__((amdgpu_flat_work_group_size(1, threads), amdgpu_waves_per_eu(waves)))
#define __hip_launch_bounds_pick(one, two, name, ...) name
#define __launch_bounds__(...)                                                                                        \
    __hip_launch_bounds_pick(__VA_ARGS__, __hip_launch_bounds_2, __hip_launch_bounds_1, )(__VA_ARGS__)

// threadIdx, blockIdx, blockDim and gridDim read like variables; each member read calls a builtin, so they cost
// nothing and need no initialisation. The objects themselves are only declared: nobody ever takes their address.
#define __hip_coordinate(name, function) __declspec(property(get = __##name)) unsigned name;                          \
    __device__ __forceinline__ unsigned __##name() const { return function; }

struct __hip_threadIdx {
    __hip_coordinate(x, __builtin_amdgcn_workitem_id_x())
    __hip_coordinate(y, __builtin_amdgcn_workitem_id_y())
    __hip_coordinate(z, __builtin_amdgcn_workitem_id_z())
};
struct __hip_blockIdx {
    __hip_coordinate(x, __builtin_amdgcn_workgroup_id_x())
    __hip_coordinate(y, __builtin_amdgcn_workgroup_id_y())
    __hip_coordinate(z, __builtin_amdgcn_workgroup_id_z())
};
struct __hip_blockDim {
    __hip_coordinate(x, __builtin_amdgcn_workgroup_size_x())
    __hip_coordinate(y, __builtin_amdgcn_workgroup_size_y())
    __hip_coordinate(z, __builtin_amdgcn_workgroup_size_z())
};
struct __hip_gridDim {
    __hip_coordinate(x, __builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x())
    __hip_coordinate(y, __builtin_amdgcn_grid_size_y() / __builtin_amdgcn_workgroup_size_y())
    __hip_coordinate(z, __builtin_amdgcn_grid_size_z() / __builtin_amdgcn_workgroup_size_z())
};
#undef __hip_coordinate

extern const __device__ __attribute__((weak)) __hip_threadIdx threadIdx;
extern const __device__ __attribute__((weak)) __hip_blockIdx blockIdx;
extern const __device__ __attribute__((weak)) __hip_blockDim blockDim;
extern const __device__ __attribute__((weak)) __hip_gridDim gridDim;

// All waves of the workgroup meet; what each wrote before (LDS and global memory) the others see after. The fences
// order memory, s_barrier makes the waves meet: without the fences the compiler may move an LDS access across.
__device__ __forceinline__ void __syncthreads() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

#include "older_names.h"
#include "device_library.h"
