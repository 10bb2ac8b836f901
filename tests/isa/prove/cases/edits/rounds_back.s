; The same, the other way around.
;; facts n=1048576
k:
	s_load_b128 s[4:7], s[0:1], 0x0
	s_load_b32 s8, s[0:1], 0x10
	v_lshlrev_b32_e32 v1, 2, v0
	v_mov_b32_e32 v3, 0
	s_mov_b32 s9, 0
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v7, v1
.Lloop:
	global_load_b32 v6, v7, s[4:5]
	v_add_nc_u32_e32 v7, 0x1000, v7
	s_add_i32 s9, s9, 1
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v3, v3, v6
	s_cmp_lt_u32 s9, s8
	s_cbranch_scc1 .Lloop
	global_store_b32 v1, v3, s[6:7]
	s_endpgm
.Lfunc_end0:
	.amdhsa_kernel k
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_next_free_vgpr 16
		.amdhsa_next_free_sgpr 24
	.end_amdhsa_kernel
;; rewritten
k:
	s_load_b128 s[4:7], s[0:1], 0x0
	s_load_b32 s8, s[0:1], 0x10
	v_lshlrev_b32_e32 v1, 2, v0
	v_mov_b32_e32 v3, 0
	s_mov_b32 s9, 0
	s_waitcnt lgkmcnt(0)
	v_add_co_u32 v4, vcc_lo, s4, v1
	v_add_co_ci_u32_e64 v5, null, s5, 0, vcc_lo
.Lloop:
	global_load_b32 v6, v[4:5], off
	v_add_co_u32 v4, vcc_lo, 0x1000, v4
	v_add_co_ci_u32_e64 v5, null, 0, v5, vcc_lo
	s_add_i32 s9, s9, 1
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v3, v3, v6
	s_cmp_lt_u32 s9, s8
	s_cbranch_scc1 .Lloop
	global_store_b32 v1, v3, s[6:7]
	s_endpgm
.Lfunc_end0:
	.amdhsa_kernel k
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_next_free_vgpr 16
		.amdhsa_next_free_sgpr 24
	.end_amdhsa_kernel
;; proved: itself
;; proved: a signed comparison
<s_cmp_lt_u32
>s_cmp_lt_i32
