;; COUNTED
	v_exp_f32_e32 v1, v0
	s_getpc_b64 s[4:5]
	s_add_u32 s4, s4, table@rel32@lo+4
	s_addc_u32 s5, s5, table@rel32@hi+12
	s_load_b32 s6, s[4:5], 0x0
	v_exp_f32_e32 v2, v0
	v_add_f32_e32 v3, v1, v2
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v3, s6, v3
	global_store_b32 v4, v3, s[0:1]
	s_endpgm

