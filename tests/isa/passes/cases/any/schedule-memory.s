; Loads pass each other, and no store.
; schedule
	v_add_nc_u32_e32 v1, 4, v0
	v_exp_f32_e32 v1, v1
	ds_load_b32 v2, v1
	ds_load_b32 v3, v0
	s_waitcnt lgkmcnt(0)
	ds_store_b32 v0, v0 offset:8
	ds_load_b32 v4, v0 offset:4
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v2, v2, v3
	v_add_f32_e32 v2, v2, v4
	global_store_b32 v0, v2, s[0:1]
	s_endpgm
;; expect
	v_add_nc_u32_e32 v1, 4, v0
	ds_load_b32 v3, v0
	v_exp_f32_e32 v1, v1
	ds_load_b32 v2, v1
	ds_store_b32 v0, v0 offset:8
	ds_load_b32 v4, v0 offset:4
	s_waitcnt lgkmcnt(2)
	v_add_f32_e32 v2, v2, v3
	s_waitcnt lgkmcnt(0)
	s_delay_alu instid0(VALU_DEP_1)
	v_add_f32_e32 v2, v2, v4
	global_store_b32 v0, v2, s[0:1]
	s_endpgm
