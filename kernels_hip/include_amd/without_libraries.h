// AMD's device libraries by this project, for AMD's header for hiprtc where they are not installed.
#pragma once
#pragma clang system_header
#include "../include/ocml/functions.h"
#include "../include/ocml/ockl.h"

extern "C" __device__ inline __attribute__((const)) __half __ockl_wfred_add_f16(__half x) {
    return __own_lanes::reduced(x, [](__half a, __half b) { return __hadd(a, b); });
}
extern "C" __device__ inline __attribute__((const)) __half __ockl_wfred_min_f16(__half x) {
    return __own_lanes::reduced(x, [](__half a, __half b) { return __hmin(a, b); });
}
extern "C" __device__ inline __attribute__((const)) __half __ockl_wfred_max_f16(__half x) {
    return __own_lanes::reduced(x, [](__half a, __half b) { return __hmax(a, b); });
}
