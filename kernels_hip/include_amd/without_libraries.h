// What AMD's header for hiprtc needs of AMD's device libraries, where they are not installed: ocml, which is this
// project's (../include/ocml), and of ockl what any kernel needs. Names and meaning as there (ROCm/llvm-project, amd/device-libs, ockl/src/workitem.cl, lane.cl, hostcall.cl), for launches whose
// workgroups are all of one size. A failed assert stops the kernel, but its text goes nowhere.
#pragma once
#include "../include/ocml/functions.h"

#define __hip_of_three(name, function)                                                                                 \
    extern "C" __device__ inline __attribute__((const)) size_t name(unsigned i) {                                      \
        return i == 0 ? function(x) : i == 1 ? function(y) : function(z);                                              \
    }
#define __hip_local_id(i) __builtin_amdgcn_workitem_id_##i()
#define __hip_group_id(i) __builtin_amdgcn_workgroup_id_##i()
#define __hip_local_size(i) __builtin_amdgcn_workgroup_size_##i()
#define __hip_num_groups(i) (__builtin_amdgcn_grid_size_##i() / __builtin_amdgcn_workgroup_size_##i())
__hip_of_three(__ockl_get_local_id, __hip_local_id) __hip_of_three(__ockl_get_group_id, __hip_group_id)
__hip_of_three(__ockl_get_local_size, __hip_local_size) __hip_of_three(__ockl_get_num_groups, __hip_num_groups)
#undef __hip_of_three

extern "C" __device__ inline __attribute__((const)) __hip_uint32_t __ockl_lane_u32() {
    const unsigned low = __builtin_amdgcn_mbcnt_lo(~0u, 0u);
    return __builtin_amdgcn_wavefrontsize() == 64 ? __builtin_amdgcn_mbcnt_hi(~0u, low) : low;
}
extern "C" __device__ inline __hip_uint64_t __ockl_steadyctr_u64() { return __builtin_readsteadycounter(); }
extern "C" __device__ inline __hip_uint64_t __ockl_fprintf_stderr_begin() { return 0; }
extern "C" __device__ inline __hip_uint64_t __ockl_fprintf_append_args(
    __hip_uint64_t, __hip_uint32_t, __hip_uint64_t, __hip_uint64_t, __hip_uint64_t, __hip_uint64_t, __hip_uint64_t,
    __hip_uint64_t, __hip_uint64_t, __hip_uint32_t) {
    return 0;
}
extern "C" __device__ inline __hip_uint64_t __ockl_fprintf_append_string_n(
    __hip_uint64_t, const char *, __hip_uint64_t, __hip_uint32_t) {
    return 0;
}
