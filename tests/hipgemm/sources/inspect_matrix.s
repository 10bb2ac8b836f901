	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.text
	.globl k
	.type k,@function
k:
	s_mov_b32 s0, 4
.Lsums:
	v_fmac_f32_e32 v24, v25, v26
	s_add_i32 s0, s0, -1
	s_cmp_lg_u32 s0, 0
	s_cbranch_scc1 .Lsums
	s_mov_b32 s0, 4
.Lproducts:
	v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]
	s_add_i32 s0, s0, -1
	s_cmp_lg_u32 s0, 0
	s_cbranch_scc1 .Lproducts
	s_endpgm
	.amdhsa_kernel k
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 8
	.end_amdhsa_kernel
