// HIP's API for the host in C++, where there is no ROCm: what HIP's own hip_runtime_api.h and amd_hip_runtime.h (ROCm/clr)
// add to the functions of C, which are in hip_host_api.h (made by hipgemm.kernels.compiling.host_api). Names and
// parameters as there.
#pragma once
#pragma clang system_header
#include <hip/hip_runtime.h>
#if __has_include(<hip_host_api.h>) && !defined(__HIPCC_RTC__)
#include <hip_host_api.h>
#include <type_traits>

// kernel<<<grid, block, lds, stream>>>(...), as clang writes it: push, then a stub that pops and calls hipLaunchKernel.
extern "C" {
hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t lds = 0, hipStream_t stream = nullptr);
hipError_t __hipPopCallConfiguration(dim3 *grid, dim3 *block, size_t *lds, hipStream_t *stream);
}
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_SYMBOL(X) X
#define hipStreamLegacy ((hipStream_t)1)
#define hipStreamPerThread ((hipStream_t)2)
// Pointers of any type.
#define __hip_of_any_pointer(name, parameters, ...)                                                                    \
    template <class T> static inline hipError_t name parameters { return name((void **)pointer, __VA_ARGS__); }
__hip_of_any_pointer(hipMalloc, (T **pointer, size_t size), size)
__hip_of_any_pointer(hipMallocHost, (T **pointer, size_t size), size)
__hip_of_any_pointer(hipHostMalloc, (T **pointer, size_t size, unsigned flags = hipHostMallocDefault), size, flags)
__hip_of_any_pointer(hipHostAlloc, (T **pointer, size_t size, unsigned flags = hipHostMallocDefault), size, flags)
__hip_of_any_pointer(hipMallocManaged, (T **pointer, size_t size, unsigned flags = hipMemAttachGlobal), size, flags)
__hip_of_any_pointer(hipExtMallocWithFlags, (T **pointer, size_t size, unsigned flags), size, flags)
__hip_of_any_pointer(hipMallocAsync, (T **pointer, size_t size, hipStream_t stream = nullptr), size, stream)
__hip_of_any_pointer(hipMallocFromPoolAsync, (T **pointer, size_t size, hipMemPool_t pool, hipStream_t stream), size,
                     pool, stream)
__hip_of_any_pointer(hipMallocPitch, (T **pointer, size_t *pitch, size_t width, size_t height), pitch, width, height)
__hip_of_any_pointer(hipHostGetDevicePointer, (T **pointer, void *host, unsigned flags = 0), host, flags)
#undef __hip_of_any_pointer
static inline hipError_t hipMallocAsync(void **pointer, size_t size, hipMemPool_t pool, hipStream_t stream) {
    return hipMallocFromPoolAsync(pointer, size, pool, stream);
}

// Variables of the device, by themselves: `symbol` is the host's shadow, whose address names the variable.
template <class T> static inline hipError_t hipGetSymbolAddress(void **address, const T &symbol) {
    return hipGetSymbolAddress(address, (const void *)&symbol);
}
template <class T> static inline hipError_t hipGetSymbolSize(size_t *size, const T &symbol) {
    return hipGetSymbolSize(size, (const void *)&symbol);
}
template <class T> static inline hipError_t hipMemcpyToSymbol(const T &symbol, const void *from, size_t size,
    size_t offset = 0, hipMemcpyKind kind = hipMemcpyHostToDevice) {
    return hipMemcpyToSymbol((const void *)&symbol, from, size, offset, kind);
}
template <class T> static inline hipError_t hipMemcpyToSymbolAsync(const T &symbol, const void *from, size_t size,
    size_t offset, hipMemcpyKind kind, hipStream_t stream = nullptr) {
    return hipMemcpyToSymbolAsync((const void *)&symbol, from, size, offset, kind, stream);
}
template <class T> static inline hipError_t hipMemcpyFromSymbol(void *to, const T &symbol, size_t size,
    size_t offset = 0, hipMemcpyKind kind = hipMemcpyDeviceToHost) {
    return hipMemcpyFromSymbol(to, (const void *)&symbol, size, offset, kind);
}
template <class T> static inline hipError_t hipMemcpyFromSymbolAsync(void *to, const T &symbol, size_t size,
    size_t offset, hipMemcpyKind kind, hipStream_t stream = nullptr) {
    return hipMemcpyFromSymbolAsync(to, (const void *)&symbol, size, offset, kind, stream);
}

// Kernels by their names in the source.
template <class... T> static inline hipError_t hipFuncSetAttribute(void (*kernel)(T...), hipFuncAttribute which, int value) {
    return hipFuncSetAttribute((const void *)kernel, which, value);
}
template <class... T> static inline hipError_t hipFuncGetAttributes(hipFuncAttributes *found, void (*kernel)(T...)) {
    return hipFuncGetAttributes(found, (const void *)kernel);
}
template <class... T> static inline hipError_t hipFuncSetCacheConfig(void (*kernel)(T...), hipFuncCache_t config) {
    return hipFuncSetCacheConfig((const void *)kernel, config);
}
template <class... T> static inline hipError_t hipFuncSetSharedMemConfig(void (*kernel)(T...), hipSharedMemConfig config) {
    return hipFuncSetSharedMemConfig((const void *)kernel, config);
}
template <class... T> static inline hipError_t hipLaunchKernel(void (*kernel)(T...), dim3 grid, dim3 block,
    void **arguments, size_t lds = 0, hipStream_t stream = nullptr) {
    return hipLaunchKernel((const void *)kernel, grid, block, arguments, lds, stream);
}
template <class... T> static inline hipError_t hipLaunchCooperativeKernel(void (*kernel)(T...), dim3 grid, dim3 block,
    void **arguments, unsigned lds = 0, hipStream_t stream = nullptr) {
    return hipLaunchCooperativeKernel((const void *)kernel, grid, block, arguments, lds, stream);
}
template <class... T> static inline hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks,
    void (*kernel)(T...), int block, size_t lds) {
    return hipOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)kernel, block, lds);
}
template <class... T> static inline hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks,
    void (*kernel)(T...), int block, size_t lds, unsigned flags) {
    return hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (const void *)kernel, block, lds, flags);
}
template <class... T> static inline hipError_t hipOccupancyMaxPotentialBlockSize(int *grid, int *block,
    void (*kernel)(T...), size_t lds = 0, int most = 0) {
    return hipOccupancyMaxPotentialBlockSize(grid, block, (const void *)kernel, lds, most);
}
template <class... T> static inline hipError_t hipOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block,
    void (*kernel)(T...), size_t lds = 0, int most = 0, unsigned = 0) {
    return hipOccupancyMaxPotentialBlockSize(grid, block, (const void *)kernel, lds, most);
}
template <class... T, class... A> static inline void __hip_launch(void (*kernel)(T...), const dim3 &grid,
    const dim3 &block, unsigned lds, hipStream_t stream, A... given) {
    [&](T... typed) {
        void *arguments[] = {(void *)&typed..., nullptr};
        (void)hipLaunchKernel((const void *)kernel, grid, block, arguments, lds, stream);
    }(given...);
}
// F is what the arguments say where `kernel` is a template's name that has not all of its own.
template <class... A, class F = void (*)(A...)> static inline void hipLaunchKernelGGL(F kernel, const dim3 &grid,
    const dim3 &block, unsigned lds, hipStream_t stream, A... given) {
    __hip_launch(kernel, grid, block, lds, stream, given...);
}
// Sources that ask for that function by HIP_TEMPLATE_KERNEL_LAUNCH lose the macro where they include hip_runtime.h.
#define hipLaunchKernelGGLInternal(kernel, grid, block, lds, stream, ...)                                              \
    do {                                                                                                               \
        kernel<<<(grid), (block), (lds), (stream)>>>(__VA_ARGS__);                                                     \
    } while (0)
#define hipLaunchKernelGGL(kernel, ...) hipLaunchKernelGGLInternal((kernel), __VA_ARGS__)
template <class... T, class... A> static inline void hipExtLaunchKernelGGL(void (*kernel)(T...), const dim3 &grid,
    const dim3 &block, unsigned lds, hipStream_t stream, hipEvent_t start, hipEvent_t stop, unsigned flags, A... given) {
    [&](T... typed) {
        void *arguments[] = {(void *)&typed..., nullptr};
        (void)hipExtLaunchKernel((const void *)kernel, grid, block, arguments, lds, stream, start, stop, (int)flags);
    }(given...);
}

static inline hipExtent make_hipExtent(size_t width, size_t height, size_t depth) { return {width, height, depth}; }
static inline hipPos make_hipPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
static inline hipPitchedPtr make_hipPitchedPtr(void *pointer, size_t pitch, size_t width, size_t height) {
    return {pointer, pitch, width, height};
}

// The host's min and max of numbers, beside the device's.
#define __hip_host_choice(name, less)                                                                                  \
    template <class A, class B, class C = typename std::common_type<                                                   \
                                    typename std::enable_if<std::is_arithmetic<A>::value, A>::type,                    \
                                    typename std::enable_if<std::is_arithmetic<B>::value, B>::type>::type>             \
    static inline __host__ constexpr C name(A a, B b) { return (C)a less (C)b ? (C)a : (C)b; }
__hip_host_choice(min, <) __hip_host_choice(max, >)
#undef __hip_host_choice
#endif
