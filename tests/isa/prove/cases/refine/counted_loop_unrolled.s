; A loop of a constant count against its unrolled text, the pointer folded into offsets.
original:
	s_load_b64 s[4:5], s[0:1], 0x10
	v_lshlrev_b32_e32 v1, 2, v0
	v_mov_b32_e32 v2, 0
	v_mov_b32_e32 v5, v1
	s_mov_b32 s6, 0
.LBB0_1:
	ds_load_b64 v[3:4], v1
	v_add_nc_u32_e32 v1, 0x200, v1
	s_addk_i32 s6, 0x1
	s_cmp_lg_u32 s6, 3
	s_waitcnt lgkmcnt(0)
	v_fmac_f32_e32 v2, v3, v4
	s_cbranch_scc1 .LBB0_1
	global_store_b32 v5, v2, s[4:5]
	s_endpgm
rewritten:
	s_load_b64 s[4:5], s[0:1], 0x10
	v_lshlrev_b32_e32 v1, 2, v0
	v_mov_b32_e32 v12, 0
	ds_load_b64 v[3:4], v1
	ds_load_b64 v[5:6], v1 offset:512
	ds_load_b64 v[7:8], v1 offset:1024
	s_waitcnt lgkmcnt(2)
	v_fmac_f32_e32 v12, v3, v4
	s_waitcnt lgkmcnt(1)
	v_fmac_f32_e32 v12, v5, v6
	s_waitcnt lgkmcnt(0)
	v_fmac_f32_e32 v12, v7, v8
	global_store_b32 v1, v12, s[4:5]
	s_endpgm
;; expect
proved: rewritten computes what original does, bit for bit; matched: 1 store, 0 barriers and the like, 1 pair of blocks, 0 loops
