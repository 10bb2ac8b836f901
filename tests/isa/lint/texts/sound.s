;; TEXT
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.text
	.p2align	8
	.type	scale,@function
scale:
	s_load_b64 s[0:1], s[0:1], 0x0
	v_lshlrev_b32_e32 v40, 2, v0
	s_waitcnt lgkmcnt(0)
	global_load_b32 v1, v40, s[0:1]
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v1, v1, v1
	global_store_b32 v40, v1, s[0:1]
	s_endpgm
.Lfunc_end0:
	.size	scale, .Lfunc_end0-scale
	.section	.rodata,"a",@progbits
	.p2align	6
	.amdhsa_kernel scale
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 8
		.amdhsa_next_free_vgpr 48
		.amdhsa_next_free_sgpr 32
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_count 15
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - .address_space:  global
        .offset:         0
        .size:           8
        .value_kind:     global_buffer
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 8
    .max_flat_workgroup_size: 256
    .name:           scale
    .private_segment_fixed_size: 0
    .sgpr_count:     34
    .symbol:         scale.kd
    .vgpr_count:     48
    .wavefront_size: 32
amdhsa.target:   amdgcn-amd-amdhsa--gfx1100
amdhsa.version:
  - 1
  - 2
...
	.end_amdgpu_metadata

