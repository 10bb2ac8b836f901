k:
	s_load_b64 s[0:1], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	s_movk_i32 s2, 0x10
	v_dual_mov_b32 v3, 0 :: v_dual_mov_b32 v4, 1.0
	s_waitcnt lgkmcnt(0)
.Lloop:
	ds_load_b32 v5, v1
	global_load_b32 v6, v1, s[0:1]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_mul_f32_e32 v7, v5, v6
	v_fmac_f32_e32 v3, v7, v5
	ds_load_b32 v5, v1 offset:4
	global_load_b32 v6, v1, s[0:1] offset:4
	v_add_nc_u32_e32 v1, 8, v1
	s_addk_i32 s2, 0xffff
	s_cmp_lg_u32 s2, 0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_mul_f32_e32 v8, v5, v6
	v_fmac_f32_e32 v4, v8, v6
	s_cbranch_scc1 .Lloop
	v_lshlrev_b32_e32 v1, 2, v0
	v_add_f32_e32 v2, v3, v4
	v_mul_f32_e32 v9, v3, v4
	global_store_b32 v1, v2, s[0:1]
	global_store_b32 v1, v9, s[0:1] offset:4
	s_endpgm
