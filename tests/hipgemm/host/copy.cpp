// Runs the kernel of SOURCE on the host, thread by thread: it has no barriers.
#include SOURCE

extern "C" void run(int grid_x, int grid_y, const float *source, long long s0, long long s1, int rows, int columns,
                    float *target, long long t0, long long t1, int to_rows, int to_columns, float scale) {
    blockDim = {32, 8, 1};
    gridDim = {(unsigned)grid_x, (unsigned)grid_y, 1};
    for (blockIdx.y = 0; blockIdx.y < gridDim.y; ++blockIdx.y)
        for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x)
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y)
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x)
                    strided_copy(source, s0, s1, rows, columns, target, t0, t1, to_rows, to_columns, scale);
}
