	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.text
	.globl	padded
	.p2align	8
	.type	padded,@function
padded:
	s_load_b64 s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	s_branch .Lover
	.byte 1, 2, 3
	.balign 4, 0
	.long 0x7e040280, 0x7e0602c1
	.quad 0xffffffffffffffff
	.fill 3, 4, 0xbf800000
	.space 8, 0xff
	.org padded+128
	.p2align 6, , 32
.Lover:
	s_mov_b32 s6, 8
	s_waitcnt lgkmcnt(0)
	.p2align	6
.Lloop:
	ds_store_b32 v1, v0
	.long 0xbf89fc07
	ds_load_b32 v2, v1
	s_sub_i32 s6, s6, 1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 .Lloop
	.p2align	5
	v_add_nc_u32_e32 v3, v2, v0
	s_waitcnt lgkmcnt(0)
	.balign 64
	global_store_b32 v1, v3, s[4:5] offset:64
	s_endpgm
.Lfunc_end0:
	.size	padded, .Lfunc_end0-padded
	.section	.rodata,"a",@progbits
	.p2align	6
	.amdhsa_kernel padded
		.amdhsa_group_segment_fixed_size 128
		.amdhsa_kernarg_size 8
		.amdhsa_user_sgpr_count 15
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 16
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: padded
    .symbol: padded.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 128
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 18
    .vgpr_count: 8
    .max_flat_workgroup_size: 32
    .args:
      - {.name: out, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
...
	.end_amdgpu_metadata
