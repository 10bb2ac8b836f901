k:
	s_load_b128 s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 3, v0
	v_dual_mov_b32 v4, 0 :: v_dual_mov_b32 v5, 0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	s_waitcnt vmcnt(1)
	s_waitcnt vmcnt(0)
	ds_store_2addr_b32 v1, v2, v3 offset1:1
	s_waitcnt lgkmcnt(0)
	s_barrier
	ds_load_b128 v[8:11], v1 offset:16
	s_waitcnt lgkmcnt(0)
	v_dual_fmac_f32 v4, v8, v10 :: v_dual_fmac_f32 v5, v9, v11
	v_xor_b32_e32 v6, 0x3f8, v1
	global_store_b64 v6, v[4:5], s[6:7]
	s_endpgm
.Lfunc_end0:
	.amdhsa_kernel k
		.amdhsa_group_segment_fixed_size 1024
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_next_free_vgpr 12
		.amdhsa_next_free_sgpr 8
		.amdhsa_reserve_vcc 0
	.end_amdhsa_kernel
