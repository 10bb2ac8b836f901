;; KERNEL
k:
	s_load_b64 s[0:1], s[0:1], 0x0
	v_and_b32_e32 v1, 31, v0
	v_bfe_u32 v2, v0, 5, 3
	v_lshlrev_b32_e32 v3, 2, v1
	v_lshl_add_u32 v4, v2, 7, v3
	v_lshlrev_b32_e32 v5, 7, v1
	v_lshl_or_b32 v6, v2, 2, v5
	s_waitcnt lgkmcnt(0)
	global_load_b32 v8, v4, s[0:1]
	global_load_b32 v9, v4, s[0:1] offset:1024
	s_movk_i32 s4, 0x3
.Lagain:
	s_waitcnt vmcnt(0)
	ds_store_b32 v4, v8
	ds_store_b32 v4, v9 offset:1024
	s_waitcnt lgkmcnt(0)
	s_barrier
	buffer_gl0_inv
	ds_load_2addr_b32 v[10:11], v6 offset1:8
	ds_load_b32 v12, v6 offset:112
	v_add_nc_u32_e32 v7, 64, v3
	ds_load_2addr_stride64_b32 v[13:14], v7 offset1:2
	s_waitcnt lgkmcnt(0)
	s_barrier
	buffer_gl0_inv
	v_add_f32_e32 v8, v10, v11
	v_add_f32_e32 v9, v12, v13
	v_add_f32_e32 v9, v9, v14
	s_add_i32 s4, s4, -1
	s_cmp_lg_u32 s4, 0
	s_cbranch_scc1 .Lagain
	global_store_b64 v6, v[8:9], s[0:1]
	s_endpgm

;; PADDED
k:
	s_load_b64 s[0:1], s[0:1], 0x0
	v_and_b32_e32 v1, 31, v0
	v_bfe_u32 v2, v0, 5, 3
	v_lshlrev_b32_e32 v3, 2, v1
	v_lshl_add_u32 v4, v2, 7, v3
	v_lshrrev_b32_e32 v15, 7, v4
	v_lshl_add_u32 v15, v15, 2, v4
	v_lshlrev_b32_e32 v5, 7, v1
	v_lshl_or_b32 v6, v2, 2, v5
	v_lshrrev_b32_e32 v16, 7, v6
	v_lshl_add_u32 v16, v16, 2, v6
	v_add_nc_u32_e32 v17, 0x70, v6
	v_lshrrev_b32_e32 v17, 7, v17
	v_lshl_add_u32 v17, v17, 2, v6
	s_waitcnt lgkmcnt(0)
	global_load_b32 v8, v4, s[0:1]
	global_load_b32 v9, v4, s[0:1] offset:1024
	s_movk_i32 s4, 0x3
.Lagain:
	s_waitcnt vmcnt(0)
	ds_store_b32 v15, v8
	ds_store_b32 v15, v9 offset:1056
	s_waitcnt lgkmcnt(0)
	s_barrier
	buffer_gl0_inv
	ds_load_2addr_b32 v[10:11], v16 offset1:8
	ds_load_b32 v12, v17 offset:112
	v_add_nc_u32_e32 v7, 64, v3
	v_lshrrev_b32_e32 v18, 7, v7
	v_lshl_add_u32 v18, v18, 2, v7
	ds_load_2addr_b32 v[13:14], v18 offset1:132
	s_waitcnt lgkmcnt(0)
	s_barrier
	buffer_gl0_inv
	v_add_f32_e32 v8, v10, v11
	v_add_f32_e32 v9, v12, v13
	v_add_f32_e32 v9, v9, v14
	s_add_i32 s4, s4, -1
	s_cmp_lg_u32 s4, 0
	s_cbranch_scc1 .Lagain
	global_store_b64 v6, v[8:9], s[0:1]
	s_endpgm

