.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
.text
.globl spin
.p2align 8
.type spin,@function
spin:
    s_mov_b32 s4, 0
.Lround:
    s_add_i32 s4, s4, 1
    s_branch .Lround
.Lend:
.size spin, .Lend-spin
.amdhsa_kernel spin
  .amdhsa_next_free_vgpr 1
  .amdhsa_next_free_sgpr 8
  .amdhsa_wavefront_size32 1
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: spin
    .symbol: spin.kd
    .kernarg_segment_size: 0
    .kernarg_segment_align: 4
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 8
    .vgpr_count: 1
    .max_flat_workgroup_size: 1024
...
.end_amdgpu_metadata
