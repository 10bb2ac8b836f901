// Each round, every workgroup writes a number, waits for all of them, and reads its neighbour's.
extern "C" __global__ void rounds(unsigned *arrived, unsigned *cells, unsigned *sums, int count) {
    unsigned me = blockIdx.x, all = gridDim.x, sum = 0;
    for (int wait = 0; wait < 2 * count; ++wait) {
        if (threadIdx.x == 0 && wait % 2 == 0) cells[me] = me * 100 + wait / 2;
        __syncthreads();
        if (threadIdx.x == 0) {
            __scoped_atomic_fetch_add(arrived, 1u, __ATOMIC_ACQ_REL, __MEMORY_SCOPE_DEVICE);
            while (__scoped_atomic_load_n(arrived, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_DEVICE) < (wait + 1) * all)
                ;
        }
        __syncthreads();
        if (wait % 2 == 0) sum += cells[(me + 1) % all];
    }
    if (threadIdx.x == 0) sums[me] = sum;
}
