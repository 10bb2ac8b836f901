store:
s_load_b64 s[0:1], s[0:1], null
v_dual_mov_b32 v0, 0 :: v_dual_mov_b32 v1, 1
s_waitcnt lgkmcnt(0)
global_store_b32 v0, v1, s[0:1]
s_endpgm
.amdhsa_kernel store
.amdhsa_user_sgpr_kernarg_segment_ptr 1
.amdhsa_wavefront_size32 1
.amdhsa_next_free_vgpr 2
.amdhsa_next_free_sgpr 2
.amdhsa_kernarg_size 8
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: store
    .symbol: store.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 4
    .vgpr_count: 2
    .max_flat_workgroup_size: 1024
    .args:
      - .name: out
        .address_space: global
        .offset: 0
        .size: 8
        .value_kind: global_buffer
...
.end_amdgpu_metadata
