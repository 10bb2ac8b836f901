// Brings a matrix into another layout: target[i][j] = scale * source[i][j] where the source has an element, 0 elsewhere.
//
// Element (i, j) of a matrix lies at i * row_stride + j * column_stride floats from its start. Padding to a tile,
// cutting the padding off again, transposing, and scaling a matrix in place (source and target the same) are all this.
// With scale == 0 the source may hold anything, NaN included, and is not read.
//
// Launch: blocks of 32 x 8, as many as reach across the columns in x, any number in y. Lanes run along the columns:
// the caller puts the axis there whose stride in the target is 1.
#include <hip/hip_runtime.h>

extern "C" __global__ void __launch_bounds__(256)
    strided_copy(const float *source, long long source_row_stride, long long source_column_stride, int source_rows,
                 int source_columns, float *target, long long target_row_stride, long long target_column_stride,
                 int target_rows, int target_columns, float scale) {
    const long long column = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= target_columns)
        return;
    const bool inside = column < source_columns && scale != 0.0f;
    for (long long row = (long long)blockIdx.y * blockDim.y + threadIdx.y; row < target_rows;
         row += (long long)gridDim.y * blockDim.y) {
        float value = 0.0f;
        if (inside && row < source_rows)
            value = scale * source[row * source_row_stride + column * source_column_stride];
        target[row * target_row_stride + column * target_column_stride] = value;
    }
}
