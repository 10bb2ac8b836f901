// printf. With -mprintf-kind=buffered clang turns each printf into stores to memory that
// it asks __printf_alloc for, as AMD's device libraries define it (llvm-project, amd/device-libs, ockl/src/printf.cl): the
// buffer is a hidden argument (offset 72 from code object version 5 on) and begins with two dwords, bytes used and room.
#pragma once
#pragma clang system_header

extern "C" __device__ int printf(const char *format, ...);

typedef __attribute__((address_space(1))) char *__printf_global;

extern "C" __device__ __attribute__((weak)) __printf_global __printf_alloc(unsigned bytes) {
    typedef const __attribute__((address_space(4))) __printf_global *hidden;
    __printf_global buffer = *(hidden)((const __attribute__((address_space(4))) char *)__builtin_amdgcn_implicitarg_ptr() + 72);
    if (!buffer)
        return (__printf_global)0;
    __attribute__((address_space(1))) unsigned *used = (__attribute__((address_space(1))) unsigned *)buffer;
    unsigned at = __scoped_atomic_fetch_add(used, bytes, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
    return at + bytes <= used[1] ? buffer + 8 + at : (__printf_global)0;
}
