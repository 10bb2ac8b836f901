#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>
extern "C" __global__ void groups(const int *x, int *found, int *kept) {
    int i = threadIdx.x;
    int *mine = (int *)malloc(4 * (i % 5 + 1)), *other = (int *)malloc(64);
    *other = 1;
    *mine = x[i] * 7;
    found[4 * i] = __syncthreads_count(x[i] % 3 == 0);
    free(other);
    int *again = (int *)malloc(64);
    *again = 2;
    found[4 * i + 1] = __syncthreads_and(x[i] != 50);
    found[4 * i + 2] = __syncthreads_or(x[i] == 50);
    __shared__ int sum;
    if (i == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, __reduce_add_sync(~0ull >> 32, x[i]) * (i % 32 == 0));
    cooperative_groups::this_grid().sync();
    found[4 * i + 3] = sum;
    kept[i] = *mine;
    free(mine);
}
