; All destinations are even and all sources on bank 0, so nothing pairs; on other registers the products do, and the sums.
; rename-pairs
	global_load_b32 v4, v0, s[0:1]
	global_load_b32 v8, v0, s[0:1] offset:4
	global_load_b32 v12, v0, s[0:1] offset:8
	global_load_b32 v16, v0, s[0:1] offset:12
	s_waitcnt vmcnt(0)
	v_mul_f32_e32 v20, v4, v8
	v_mul_f32_e32 v22, v12, v16
	v_add_f32_e32 v24, v4, v16
	v_add_f32_e32 v26, v12, v8
	global_store_b32 v0, v20, s[0:1]
	global_store_b32 v0, v22, s[0:1] offset:4
	global_store_b32 v0, v24, s[0:1] offset:8
	global_store_b32 v0, v26, s[0:1] offset:12
	s_endpgm
;; expect
	s_clause 0x3
	global_load_b32 v4, v0, s[0:1]
	global_load_b32 v8, v0, s[0:1] offset:4
	global_load_b32 v1, v0, s[0:1] offset:8
	global_load_b32 v7, v0, s[0:1] offset:12
	s_waitcnt vmcnt(0)
	v_dual_mul_f32 v20, v4, v8 :: v_dual_mul_f32 v3, v1, v7
	v_dual_add_f32 v24, v4, v7 :: v_dual_add_f32 v1, v1, v8
	s_clause 0x3
	global_store_b32 v0, v20, s[0:1]
	global_store_b32 v0, v3, s[0:1] offset:4
	global_store_b32 v0, v24, s[0:1] offset:8
	global_store_b32 v0, v1, s[0:1] offset:12
	s_endpgm
