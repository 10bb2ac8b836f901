// HIP's device language as plain C++ for the host: a thread is a thread, a workgroup is as many as it has, LDS is a
// static array. Only good for testing that a kernel's source says what it should, without any compiler for the card.
#pragma once
#include <pthread.h>

#define __global__
#define __launch_bounds__(...)
#define __shared__ static
#ifndef __clang__
#define __builtin_assume(condition)
#endif

struct Coordinate {
    unsigned x, y, z;
};
static thread_local Coordinate threadIdx, blockIdx;
static Coordinate blockDim, gridDim;
static pthread_barrier_t all_threads;

static inline void __syncthreads() { pthread_barrier_wait(&all_threads); }
