;; SOURCE

#define GLOBAL extern "C" __attribute__((global))
GLOBAL __attribute__((amdgpu_flat_work_group_size(1, 64))) void two(float *out, int n, float x) {
    __attribute__((shared)) static float lds[100];
    lds[__builtin_amdgcn_workitem_id_x()] = x;
    __builtin_amdgcn_s_barrier();
    out[n + __builtin_amdgcn_workgroup_id_z() * __builtin_amdgcn_workgroup_size_y()] = lds[__builtin_amdgcn_workitem_id_y()];
}
GLOBAL void one(volatile int *out) {
    volatile int here[16];
    here[*out] = 1;
    *out = here[*out + 1];
}

;; TABLE

.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
.data
.globl x
.type x,@object
x: .quad 5
.size x, 8
.globl table
.type table,@object
table: .quad x, x+8
.size table, 16
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels: []
...
.end_amdgpu_metadata

;; UNSIZED

.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
.text
.macro kernel name
.globl \name
.p2align 8
.type \name,@function
\name:
  v_mov_b32 v0, 0
  s_endpgm
.endm
kernel first
kernel second
.p2align 8, 0
.globl empty
.type empty,@function
empty:
.rodata
.macro descriptor name
.amdhsa_kernel \name
.amdhsa_next_free_vgpr 1
.amdhsa_next_free_sgpr 1
.end_amdhsa_kernel
.endm
descriptor first
descriptor second
descriptor empty
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:

;; DIRECTIVES

        .amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
        .amdhsa_kernel k
            .amdhsa_next_free_vgpr 200
            .amdhsa_next_free_sgpr 32
            .amdhsa_group_segment_fixed_size 1234
            .amdhsa_private_segment_fixed_size 16
            .amdhsa_kernarg_size 40
            .amdhsa_user_sgpr_kernarg_segment_ptr 1
            .amdhsa_user_sgpr_dispatch_ptr 1
            .amdhsa_user_sgpr_count 7
            .amdhsa_system_sgpr_workgroup_id_x 1
            .amdhsa_system_sgpr_workgroup_id_y 0
            .amdhsa_system_sgpr_workgroup_id_z 1
            .amdhsa_system_sgpr_workgroup_info 1
            .amdhsa_system_vgpr_workitem_id 2
            .amdhsa_float_round_mode_32 1
            .amdhsa_float_denorm_mode_32 0
            .amdhsa_dx10_clamp 0
            .amdhsa_ieee_mode 0
            .amdhsa_fp16_overflow 1
            .amdhsa_workgroup_processor_mode 1
            .amdhsa_exception_fp_ieee_div_zero 1
            .amdhsa_wavefront_size32 1
        .end_amdhsa_kernel
    
