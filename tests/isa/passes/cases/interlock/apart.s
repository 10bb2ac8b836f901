; At risk: v2 and v4, both even, one just written. The second pair is not: its sources came from memory.
	v_mul_f32_e32 v2, v0, v0
	v_dual_mul_f32 v6, v2, v0 :: v_dual_add_f32 v7, v4, v1
	global_load_b64 v[8:9], v0, s[0:1]
	global_load_b64 v[10:11], v0, s[0:1] offset:8
	s_waitcnt vmcnt(0)
	v_dual_mul_f32 v12, v8, v0 :: v_dual_mul_f32 v13, v10, v1
	s_endpgm
;; expect
	v_mul_f32_e32 v2, v0, v0
	v_mul_f32_e32 v6, v2, v0
	v_add_f32_e32 v7, v4, v1
	global_load_b64 v[8:9], v0, s[0:1]
	global_load_b64 v[10:11], v0, s[0:1] offset:8
	s_waitcnt vmcnt(0)
	v_dual_mul_f32 v12, v8, v0 :: v_dual_mul_f32 v13, v10, v1
	s_endpgm
