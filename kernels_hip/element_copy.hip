// Copies the elements of matrices, or of a batch of them, from one layout into another, for any type of 1, 2 or 4 bytes:
// target[z][i][j] = source[z][i][j].
//
// Element (z, i, j) lies at z * stride + i * row_stride + j * column_stride elements from the start.
//
// Launch: blocks of 32 x 8, as many as reach across the columns in x, any number in y and z. Lanes run along the
// columns: the caller puts the axis there whose stride in the target is 1.
#include <hip/hip_runtime.h>

template <typename T>
static __device__ __forceinline__ void copy(const T *source, long long source_stride, long long source_row_stride,
                                            long long source_column_stride, T *target, long long target_stride,
                                            long long target_row_stride, long long target_column_stride, int count,
                                            int rows, int columns) {
    const long long column = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns)
        return;
    for (long long z = blockIdx.z; z < count; z += gridDim.z)
        for (long long row = (long long)blockIdx.y * blockDim.y + threadIdx.y; row < rows;
             row += (long long)gridDim.y * blockDim.y)
            target[z * target_stride + row * target_row_stride + column * target_column_stride] =
                source[z * source_stride + row * source_row_stride + column * source_column_stride];
}

#define COPY(NAME, TYPE)                                                                                               \
    extern "C" __global__ void __launch_bounds__(256)                                                                  \
        NAME(const TYPE *source, long long s0, long long s1, long long s2, TYPE *target, long long t0, long long t1,   \
             long long t2, int count, int rows, int columns) {                                                         \
        copy(source, s0, s1, s2, target, t0, t1, t2, count, rows, columns);                                            \
    }

COPY(element_copy_1, unsigned char)
COPY(element_copy_2, unsigned short)
COPY(element_copy_4, unsigned)
