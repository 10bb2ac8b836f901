// Memory through buffer descriptors, raw and structured, as compilers write it; what is out of range reads 0.
#include <hip/hip_runtime.h>

typedef unsigned int u4 __attribute__((ext_vector_type(4)));
constexpr int RAW = 0x31027000;

static __device__ __amdgpu_buffer_rsrc_t raw(const void *p, unsigned bytes) {
    return __builtin_amdgcn_make_buffer_rsrc((void *)p, 0, bytes, RAW);
}

extern "C" {

__global__ void quads(unsigned *out, const unsigned *a, int n) {
    unsigned at = threadIdx.x * 16;
    u4 v = __builtin_amdgcn_raw_buffer_load_b128(raw(a, n * 4), at, 0, 0);
    for (int i = 0; i < 4; i++)
        v[i] = v[i] * 3 + i;
    __builtin_amdgcn_raw_buffer_store_b128(v, raw(out, n * 4), at, 0, 0);
}

__global__ void masked(unsigned *out, const unsigned *a, int n) {
    unsigned lane = threadIdx.x, at = lane % 3 == n ? 0x80000000u : lane * 4;
    unsigned v = __builtin_amdgcn_raw_buffer_load_b32(raw(a, 0x7ffffffe), at, 0, 0);
    unsigned short w = __builtin_amdgcn_raw_buffer_load_b16(raw(a, 0x7ffffffe), at, 8, 0);
    unsigned char x = __builtin_amdgcn_raw_buffer_load_b8(raw(a, 3), lane, 0, 0);
    out[lane] = v + w + x;
}

// A tile's rows in one VGPR and its columns in the scalar offset, as Tensile has them: the matrix ends after n words.
__global__ void columns(unsigned *out, const unsigned *a, int n) {
    for (int column = 0; column < 4; column++) {
        unsigned v = __builtin_amdgcn_raw_buffer_load_b32(raw(a, n * 4), threadIdx.x * 4, column * 256, 0);
        __builtin_amdgcn_raw_buffer_store_b32(v + 1, raw(out, n * 4), threadIdx.x * 4, column * 256, 0);
    }
}

}
