; Workgroups that there are: an offset of 32 bits is enough for 16.
;; facts n=1048576
k:
	s_load_b128 s[4:7], s[0:1], 0x0
	s_load_b32 s8, s[0:1], 0x10
	v_lshlrev_b32_e32 v1, 2, v0
	v_mov_b32_e32 v3, 0
	s_mov_b32 s9, 0
	s_waitcnt lgkmcnt(0)
	s_mov_b32 s10, 0
	s_lshl_b64 s[10:11], s[2:3], 28
	s_mov_b32 s11, 0
	s_lshr_b32 s11, s2, 4
	s_lshl_b32 s10, s2, 28
	s_add_u32 s4, s4, s10
	s_addc_u32 s5, s5, s11
	global_load_b32 v3, v1, s[4:5]
	s_waitcnt vmcnt(0)
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
	s_lshl_b32 s10, s2, 28
	v_add_nc_u32_e32 v2, s10, v1
	global_load_b32 v3, v2, s[4:5]
	s_waitcnt vmcnt(0)
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
;; proved: as many
;; facts n=1048576 grid=16
;; refused: one more
;; facts n=1048576 grid=17
;; refused: nobody knows how many
