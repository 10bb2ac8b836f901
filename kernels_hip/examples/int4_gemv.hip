// y = W x for a matrix of 4-bit weights, as decoding of a language model multiplies: a weight is (q - 8) * scale, eight q
// in a word from the low bits up, one half-precision scale for each 32 columns. A wave has one row; K is a multiple of 256.
#include <hip/hip_runtime.h>

constexpr int WAVES = 4, WAVE = 32, PACKED = 8, GROUP = 32;

extern "C" __global__ void __launch_bounds__(WAVES *WAVE)
    int4_gemv(const unsigned *W, const _Float16 *scales, const float *x, float *y, int K) {
    const int lane = threadIdx.x % WAVE, row = blockIdx.x * WAVES + threadIdx.x / WAVE;
    float sum = 0;
    for (int k = lane * PACKED; k < K; k += WAVE * PACKED) {
        const unsigned word = W[(row * K + k) / PACKED];
        float part = 0;
        for (int i = 0; i < PACKED; i++) part += float(int(word >> 4 * i & 15) - 8) * x[k + i];
        sum += part * float(scales[(row * K + k) / GROUP]);
    }
    for (int step = WAVE / 2; step; step /= 2) sum += __shfl_xor(sum, step, WAVE);
    if (lane == 0) y[row] = sum;
}
