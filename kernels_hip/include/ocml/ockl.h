// AMD's device library ockl by this project: what headers of HIP ask of it by these names (ROCm/llvm-project,
// amd/device-libs, ockl), for waves of 32 or 64 and launches whose workgroups are all of one size. Not here: images, global
// wave sync. A grid waits for itself by two counters of the module, so one cooperative launch of a module runs at a time.
#pragma once
#pragma clang system_header

#define __ockl extern "C" __device__ inline
#define __ockl_const __ockl __attribute__((const))
#define __ockl_convergent __ockl __attribute__((convergent))
#define __ockl_of_three(name, T, function)                                                                             \
    __ockl_const T name(unsigned i) { return i == 0 ? function(x) : i == 1 ? function(y) : function(z); }
#define __local_id(i) __builtin_amdgcn_workitem_id_##i()
#define __group_id(i) __builtin_amdgcn_workgroup_id_##i()
#define __local_size(i) __builtin_amdgcn_workgroup_size_##i()
#define __num_groups(i) (__builtin_amdgcn_grid_size_##i() / __builtin_amdgcn_workgroup_size_##i())
__ockl_of_three(__ockl_get_local_id, __SIZE_TYPE__, __local_id)
__ockl_of_three(__ockl_get_group_id, __SIZE_TYPE__, __group_id)
__ockl_of_three(__ockl_get_local_size, __SIZE_TYPE__, __local_size)
__ockl_of_three(__ockl_get_num_groups, __SIZE_TYPE__, __num_groups)

// --- lanes
namespace __own_lanes {
__device__ inline unsigned long long ballot(bool x) { return __builtin_amdgcn_ballot_w64(x); }
__device__ inline unsigned below(unsigned long long lanes) {
    return __builtin_amdgcn_mbcnt_hi((unsigned)(lanes >> 32), __builtin_amdgcn_mbcnt_lo((unsigned)lanes, 0u));
}
} // namespace __own_lanes
__ockl_const unsigned __ockl_lane_u32() { return __own_lanes::below(~0ull); }
__ockl unsigned __ockl_activelane_u32() { return __own_lanes::below(__own_lanes::ballot(true)); }
__ockl_const bool __ockl_wfany_i32(int x) { return __own_lanes::ballot(x != 0) != 0; }
__ockl_const bool __ockl_wfall_i32(int x) { return __own_lanes::ballot(x == 0) == 0; }

namespace __own_lanes {
template <class T> __device__ inline T read(T x, int lane) {
    constexpr int words = (sizeof(T) + 3) / 4;
    int parts[words] = {};
    __builtin_memcpy(parts, &x, sizeof(T));
    for (int &part : parts) part = __builtin_amdgcn_readlane(part, lane);
    __builtin_memcpy(&x, parts, sizeof(T));
    return x;
}
template <class T> __device__ inline bool same(T x, T y) {
    constexpr int words = (sizeof(T) + 3) / 4;
    int parts[2][words] = {}, apart = 0;
    __builtin_memcpy(parts[0], &x, sizeof(T));
    __builtin_memcpy(parts[1], &y, sizeof(T));
    for (int i = 0; i < words; ++i) apart |= parts[0][i] ^ parts[1][i];
    return apart == 0;
}
// One value of those of the active lanes, in their order.
template <class T, class F> __device__ inline T reduced(T x, F operation) {
    unsigned long long left = ballot(true);
    T sum = read(x, __builtin_ctzll(left));
    for (left &= left - 1; left; left &= left - 1) sum = operation(sum, read(x, __builtin_ctzll(left)));
    return sum;
}
__device__ inline void barrier(bool grid = false) {
    if (grid) __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
    else __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    if (grid) __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
    else __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
__device__ inline bool first_of_group() { return (__local_id(x) | __local_id(y) | __local_id(z)) == 0; }
} // namespace __own_lanes

#define __ockl_reduction(name, T, w, operation)                                                                        \
    __ockl_const T __ockl_wfred_##name##_##w(T x) {                                                                    \
        return __own_lanes::reduced(x, [](T a, T b) -> T { return operation; });                                       \
    }
#define __ockl_reductions(T, w)                                                                                        \
    __ockl_reduction(add, T, w, a + b) __ockl_reduction(min, T, w, b < a ? b : a)                                      \
    __ockl_reduction(max, T, w, a < b ? b : a)
#define __ockl_bits(T, w)                                                                                              \
    __ockl_reductions(T, w) __ockl_reduction(and, T, w, a & b) __ockl_reduction(or, T, w, a | b)                       \
    __ockl_reduction(xor, T, w, a ^ b)
__ockl_bits(int, i32) __ockl_bits(unsigned, u32) __ockl_bits(long long, i64) __ockl_bits(unsigned long long, u64)
__ockl_reductions(float, f32) __ockl_reductions(double, f64)
#undef __ockl_bits
#undef __ockl_reductions
#undef __ockl_reduction

// Of all threads of a workgroup, which all call it: a wave's value first, then those of the waves in LDS.
#define __ockl_of_group(name, begin, of_wave, atomic)                                                                  \
    __ockl_convergent int __ockl_wgred_##name##_i32(int x) {                                                           \
        static __attribute__((shared)) int all;                                                                        \
        if (__own_lanes::first_of_group()) all = begin;                                                                \
        __own_lanes::barrier();                                                                                        \
        int wave = __ockl_wfred_##name##_i32(x);                                                                       \
        if (__ockl_activelane_u32() == 0) atomic(&all, wave, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);          \
        __own_lanes::barrier();                                                                                        \
        int result = all;                                                                                              \
        __own_lanes::barrier();                                                                                        \
        return result;                                                                                                 \
    }
__ockl_of_group(add, 0, , __hip_atomic_fetch_add) __ockl_of_group(and, -1, , __hip_atomic_fetch_and)
__ockl_of_group(or, 0, , __hip_atomic_fetch_or)
#undef __ockl_of_group

// --- integers
__ockl_const unsigned __ockl_mul24_u32(unsigned x, unsigned y) { return (x & 0xffffff) * (y & 0xffffff); }
__ockl_const int __ockl_mul24_i32(int x, int y) { return (x << 8 >> 8) * (y << 8 >> 8); }
__ockl_const unsigned __ockl_mul_hi_u32(unsigned x, unsigned y) { return (unsigned)((unsigned long long)x * y >> 32); }
__ockl_const int __ockl_mul_hi_i32(int x, int y) { return (int)((long long)x * y >> 32); }
__ockl_const unsigned __ockl_sadd_u32(unsigned x, unsigned y, unsigned z) { return z + (x > y ? x - y : y - x); }
__ockl_const unsigned char __ockl_clz_u8(unsigned char x) { return x ? __builtin_clz(x) - 24 : 8; }
__ockl_const unsigned short __ockl_clz_u16(unsigned short x) { return x ? __builtin_clz(x) - 16 : 16; }
__ockl_const unsigned __ockl_clz_u32(unsigned x) { return x ? __builtin_clz(x) : 32; }
__ockl_const unsigned long long __ockl_clz_u64(unsigned long long x) { return x ? __builtin_clzll(x) : 64; }

// c + a.b, clamped if wanted
namespace __own_lanes {
template <class T> __device__ inline T clamped(long long x, bool clamp) {
    constexpr T most = (T)-1 < 0 ? (T)0x7fffffff : (T)-1, least = (T)-1 < 0 ? -most - 1 : 0;
    return clamp ? x > (long long)most ? most : x < (long long)least ? least : (T)x : (T)x;
}
template <class T, int n, class V> __device__ inline T dot(V a, V b, T c, bool clamp) {
    long long sum = c;
    for (int i = 0; i < n; ++i) sum += (long long)a[i] * b[i];
    return clamped<T>(sum, clamp);
}
template <class T> __device__ inline T dot_of_nibbles(T a, T b, T c, bool clamp) {
    long long sum = c;
    for (int i = 28; i >= 0; i -= 4) sum += (long long)((T)(a << i) >> 28) * ((T)(b << i) >> 28);
    return clamped<T>(sum, clamp);
}
template <class T, int n> using vector = T __attribute__((ext_vector_type(n)));
} // namespace __own_lanes
#define __ockl_dot(name, T, E, n)                                                                                      \
    __ockl_const T name(__own_lanes::vector<E, n> a, __own_lanes::vector<E, n> b, T c, bool clamp) {                   \
        return __own_lanes::dot<T, n>(a, b, c, clamp);                                                                 \
    }
__ockl_dot(__ockl_sdot2, int, short, 2) __ockl_dot(__ockl_udot2, unsigned, unsigned short, 2)
__ockl_dot(__ockl_sdot4, int, char, 4) __ockl_dot(__ockl_udot4, unsigned, unsigned char, 4)
#undef __ockl_dot
__ockl_const int __ockl_sdot8(int a, int b, int c, bool clamp) { return __own_lanes::dot_of_nibbles(a, b, c, clamp); }
__ockl_const unsigned __ockl_udot8(unsigned a, unsigned b, unsigned c, bool clamp) {
    return __own_lanes::dot_of_nibbles(a, b, c, clamp);
}
__ockl_const float __ockl_fdot2(__own_lanes::vector<_Float16, 2> a, __own_lanes::vector<_Float16, 2> b, float c, bool clamp) {
    float sum = __builtin_fmaf((float)a.x, (float)b.x, __builtin_fmaf((float)a.y, (float)b.y, c));
    return clamp ? __builtin_fminf(__builtin_fmaxf(sum, 0), 1) : sum;
}
__ockl void __ockl_atomic_add_noret_f32(float *address, float x) {
    __hip_atomic_fetch_add(address, x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
__ockl unsigned long long __ockl_steadyctr_u64() { return __builtin_readsteadycounter(); }

// --- a whole grid of a cooperative launch
static __attribute__((device)) unsigned __ockl_arrived, __ockl_turn;
__ockl_const int __ockl_grid_is_valid() { return 1; }
__ockl_convergent void __ockl_grid_sync() {
    __own_lanes::barrier(true);
    if (__own_lanes::first_of_group()) {
        unsigned all = __num_groups(x) * __num_groups(y) * __num_groups(z);
        unsigned turn = __hip_atomic_load(&__ockl_turn, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        unsigned before = __hip_atomic_fetch_add(&__ockl_arrived, 1u, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
        if (before == all - 1) {
            __hip_atomic_store(&__ockl_arrived, 0u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
            __hip_atomic_fetch_add(&__ockl_turn, 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
        } else
            while (__hip_atomic_load(&__ockl_turn, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) == turn)
                __builtin_amdgcn_s_sleep(1);
    }
    __own_lanes::barrier(true);
}
__ockl_const unsigned __ockl_multi_grid_num_grids() { return 1; }
__ockl_const unsigned __ockl_multi_grid_grid_rank() { return 0; }
__ockl_const unsigned __ockl_multi_grid_size() {
    return __builtin_amdgcn_grid_size_x() * __builtin_amdgcn_grid_size_y() * __builtin_amdgcn_grid_size_z();
}
__ockl_const unsigned __ockl_multi_grid_thread_rank() {
    unsigned group = (__group_id(z) * __num_groups(y) + __group_id(y)) * __num_groups(x) + __group_id(x);
    unsigned local = (__local_id(z) * __local_size(y) + __local_id(y)) * __local_size(x) + __local_id(x);
    return group * (__local_size(x) * __local_size(y) * __local_size(z)) + local;
}
__ockl_const int __ockl_multi_grid_is_valid() { return 1; }
__ockl_convergent void __ockl_multi_grid_sync() { __ockl_grid_sync(); }

// --- malloc and free in kernels: blocks of powers of two, of each size a stack of free ones, from a heap of the module
namespace __own_lanes {
constexpr unsigned heap_bytes = 16 << 20, unit = 16;
static __attribute__((device)) __attribute__((aligned(16))) char heap[heap_bytes];
static __attribute__((device)) unsigned heap_used;
static __attribute__((device)) unsigned long long heap_free[32]; // turn << 32 | unit of the first block; a block's first
} // namespace __own_lanes                                        // word is its size, its second the unit of the next
__ockl unsigned long long __ockl_dm_alloc(unsigned long long bytes) {
    using namespace __own_lanes;
    if (bytes == 0 || bytes > heap_bytes / 2) return 0;
    unsigned order = 32 - __builtin_clz((unsigned)bytes + unit - 1);
    unsigned long long *list = &heap_free[order], head = __hip_atomic_load(list, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
    while ((unsigned)head) {
        unsigned *block = (unsigned *)&heap[(unsigned)head * unit];
        unsigned next = __hip_atomic_load(block + 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        if (__hip_atomic_compare_exchange_strong(list, &head, ((head >> 32) + 1) << 32 | next, __ATOMIC_ACQ_REL,
                                                 __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT))
            return (unsigned long long)&heap[(unsigned)head * unit + unit];
    }
    unsigned size = 1u << order, at = __hip_atomic_fetch_add(&heap_used, size, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) + unit;
    if (at > heap_bytes - size) {
        __hip_atomic_fetch_add(&heap_used, -size, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        return 0;
    }
    *(unsigned *)&heap[at] = order;
    return (unsigned long long)&heap[at + unit];
}
__ockl void __ockl_dm_dealloc(unsigned long long address) {
    using namespace __own_lanes;
    if (!address) return;
    unsigned *block = (unsigned *)(address - unit);
    unsigned long long *list = &heap_free[*block], head = __hip_atomic_load(list, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    unsigned long long here = ((char *)block - heap) / unit;
    do
        __hip_atomic_store(block + 1, (unsigned)head, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    while (!__hip_atomic_compare_exchange_strong(list, &head, ((head >> 32) + 1) << 32 | here, __ATOMIC_ACQ_REL,
                                                 __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT));
}

#ifndef __CLANG_HIP_RUNTIME_WRAPPER_H__ // as device_functions.h
// --- the text of a failed assert, as a record of printf.h: a descriptor is the record's address, and from bit 48 on how
// much of it is written. What does not fit is left out.
#include "printf.h"
namespace __own_lanes {
constexpr unsigned message_bytes = 1024;
constexpr unsigned long long message_at = 1ull << 48;
__device__ inline unsigned long long appended(unsigned long long message, const char *data, unsigned long long bytes) {
    unsigned at = message >> 48, padded = (bytes + 7) / 8 * 8;
    if (!message || at + padded > message_bytes)
        return message;
    __printf_global to = (__printf_global)(message % message_at + at);
    for (unsigned i = 0; i < padded; i++)
        to[i] = i < bytes ? ((const volatile char *)data)[i] : 0;
    return message + padded * message_at;
}
}
__ockl unsigned long long __ockl_fprintf_stderr_begin() {
    unsigned never = 0;
    if (never)
        printf("an assertion\n"); // for which clang gives the kernel a buffer
    __printf_global record = __printf_alloc(__own_lanes::message_bytes);
    if (!record)
        return 0;
    *(__attribute__((address_space(1))) unsigned *)record = __own_lanes::message_bytes << 2 | 1;
    return (unsigned long long)record + 4 * __own_lanes::message_at;
}
__ockl unsigned long long __ockl_fprintf_append_args(unsigned long long message, unsigned count, unsigned long long a,
    unsigned long long b, unsigned long long c, unsigned long long d, unsigned long long e, unsigned long long f,
    unsigned long long g, unsigned) {
    unsigned long long words[] = {a, b, c, d, e, f, g};
    return __own_lanes::appended(message, (const char *)words, 8 * count);
}
__ockl unsigned long long __ockl_fprintf_append_string_n(unsigned long long message, const char *text,
    unsigned long long bytes, unsigned) {
    return __own_lanes::appended(message, text, bytes);
}
#endif
