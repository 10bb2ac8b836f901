; The second load comes before arithmetic that does not need it, and the store stays behind both.
; schedule
	v_add_nc_u32_e32 v1, 4, v0
	global_load_b32 v2, v0, s[0:1]
	s_waitcnt vmcnt(0)
	v_mul_f32_e32 v3, v2, v2
	v_mul_f32_e32 v3, v3, v2
	global_load_b32 v4, v1, s[0:1]
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v3, v3, v4
	global_store_b32 v0, v3, s[0:1]
	s_endpgm
;; expect
	v_add_nc_u32_e32 v1, 4, v0
	s_clause 0x1
	global_load_b32 v2, v0, s[0:1]
	global_load_b32 v4, v1, s[0:1]
	s_waitcnt vmcnt(1)
	v_mul_f32_e32 v3, v2, v2
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_mul_f32_e32 v3, v3, v2
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v3, v3, v4
	global_store_b32 v0, v3, s[0:1]
	s_endpgm
