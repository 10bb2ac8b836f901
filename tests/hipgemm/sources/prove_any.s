f:
	s_load_b64 s[0:1], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	s_waitcnt lgkmcnt(0)
	global_load_b32 v2, v1, s[0:1]
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v2, 1.0, v2
	v_mul_f32_e32 v2, 2.0, v2
	global_store_b32 v1, v2, s[0:1]
	s_endpgm
.Lend:
	.size f, .Lend-f
.amdhsa_kernel f
	.amdhsa_next_free_vgpr 3
	.amdhsa_next_free_sgpr 2
	.amdhsa_user_sgpr_kernarg_segment_ptr 1
.end_amdhsa_kernel
.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: f
    .symbol: f.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 2
    .vgpr_count: 3
    .max_flat_workgroup_size: 64
    .args:
      - {.name: x, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
.end_amdgpu_metadata
