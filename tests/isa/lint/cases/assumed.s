	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.text
	.globl	f
	.p2align	8
	.type	f,@function
f:
	s_load_b64 s[2:3], s[0:1], 0x0
	s_load_b32 s4, s[0:1], 0x8
	v_lshlrev_b32_e32 v0, 2, v0
	s_waitcnt lgkmcnt(0)
	global_load_b32 v1, v0, s[2:3]
	s_lshr_b32 s5, s4, 4
	s_cmp_eq_u32 s5, 0
	s_cbranch_scc1 .LEND
.LLOOP:
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v1, 1.0, v1
	s_sub_u32 s5, s5, 1
	s_cmp_lg_u32 s5, 0
	s_cbranch_scc1 .LLOOP
.LEND:
	v_add_f32_e32 v1, 1.0, v1
	global_store_b32 v0, v1, s[2:3]
	s_endpgm
.Lfunc_end0:
	.size	f, .Lfunc_end0-f
	.rodata
	.p2align	6
	.amdhsa_kernel f
		.amdhsa_kernarg_size 12
		.amdhsa_user_sgpr_count 15
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_next_free_vgpr 2
		.amdhsa_next_free_sgpr 16
		.amdhsa_wavefront_size32 1
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - .address_space: global
        .name: a
        .offset: 0
        .size: 8
        .value_kind: global_buffer
      - .name: K
        .offset: 8
        .size: 4
        .value_kind: by_value
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 12
    .max_flat_workgroup_size: 256
    .name: f
    .private_segment_fixed_size: 0
    .sgpr_count: 18
    .symbol: f.kd
    .vgpr_count: 2
    .wavefront_size: 32
amdhsa.target: amdgcn-amd-amdhsa--gfx1100
amdhsa.version:
  - 1
  - 2
...
	.end_amdgpu_metadata
