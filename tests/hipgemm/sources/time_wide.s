.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
.text
.globl wide
.p2align 8
.type wide,@function
wide:
s_load_b128 s[0:3], s[0:1], null
s_waitcnt lgkmcnt(0)
v_dual_mov_b32 v0, 0 :: v_dual_mov_b32 v1, s2
global_store_b32 v0, v1, s[0:1]
s_endpgm
.size wide, .-wide
.rodata
.p2align 6
.amdhsa_kernel wide
.amdhsa_user_sgpr_kernarg_segment_ptr 1
.amdhsa_kernarg_size 12
.amdhsa_wavefront_size32 1
.amdhsa_next_free_vgpr 2
.amdhsa_next_free_sgpr 8
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--gfx1100
amdhsa.kernels:
  - .name: wide
    .symbol: wide.kd
    .kernarg_segment_size: 12
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 8
    .vgpr_count: 2
    .max_flat_workgroup_size: 32
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 4, .value_kind: by_value }
...
.end_amdgpu_metadata
