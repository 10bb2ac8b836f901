// out = in convolved with 3 x 3 weights, zeros around the image, width a multiple of 32, height of 8: a workgroup of
// 32 x 8 threads has that many pixels. What lies outside is read at the edge, and counts as 0.
#include <hip/hip_runtime.h>

extern "C" __global__ void __launch_bounds__(256)
    conv3x3(const float *in, const float *weights, float *out, int width, int height) {
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float sum = 0;
#pragma unroll
    for (int dy = -1; dy <= 1; dy++)
#pragma unroll
        for (int dx = -1; dx <= 1; dx++) {
            const int from_x = min(max(x + dx, 0), width - 1), from_y = min(max(y + dy, 0), height - 1);
            const bool inside = from_x == x + dx && from_y == y + dy;
            sum += weights[3 * dy + dx + 4] * (inside ? 1.0f : 0.0f) * in[from_y * width + from_x];
        }
    out[y * width + x] = sum;
}
