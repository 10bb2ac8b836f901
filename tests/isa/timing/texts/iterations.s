;; TRIANGLE
;;   Workgroup (x, y) makes y - x + 1 iterations, and none above the diagonal.

s_lshl_b32 s5, s3, 12
v_lshl_add_u32 v1, v0, 2, s5
s_cmp_gt_u32 s2, s3
s_cbranch_scc1 .Ldone
s_mov_b32 s4, s2
.Lagain:
global_load_b32 v2, v1, s[0:1]
v_add_nc_u32_e32 v1, 0x100, v1
s_add_i32 s4, s4, 1
s_cmp_le_u32 s4, s3
s_cbranch_scc1 .Lagain
global_store_b32 v1, v2, s[0:1]
.Ldone:
s_endpgm

;; EDGE

v_lshl_add_u32 v1, s2, 8, v0
v_cmp_gt_u32_e32 vcc_lo, 900, v1
s_and_saveexec_b32 s4, vcc_lo
s_cbranch_execz .Ldone
v_lshlrev_b32 v1, 2, v1
global_store_b32 v1, v0, s[0:1]
.Ldone:
s_endpgm

;; HIP
#include <hip/hip_runtime.h>
extern "C" __global__ void product(float *c, const float *a, const float *b, int n)
{
    __shared__ float as[16][17], bs[16][17];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    if (blockIdx.x > blockIdx.y) return;
    float sum = 0;
    for (int k = blockIdx.x * 16; k < (int)(blockIdx.y + 1) * 16; k += 16) {
        as[ty][tx] = a[row * n + k + tx];
        bs[ty][tx] = b[(k + ty) * n + col];
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += as[ty][i] * bs[i][tx];
        __syncthreads();
    }
    c[row * n + col] = sum;
}
extern "C" __global__ void sparse(float *y, const int *starts, const int *columns, const float *values, const float *x)
{
    int row = blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
    #pragma nounroll
    for (int k = starts[row]; k < starts[row + 1]; k++) sum += values[k] * x[columns[k]];
    y[row] = sum;
}

