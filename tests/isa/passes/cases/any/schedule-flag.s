; A flag that another wave raises: the loads and the waits keep their order, and what uses a load its wait; the products,
; which need neither, fill the time.
; schedule
	global_load_b32 v2, v0, s[0:1] glc
	s_waitcnt vmcnt(0)
	global_load_b32 v3, v0, s[0:1] offset:4
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v2, v2, v3
	v_mul_f32_e32 v4, v0, v0
	v_mul_f32_e32 v5, v4, v4
	v_mul_f32_e32 v4, v5, v5
	v_add_f32_e32 v5, v5, v2
	global_store_b64 v0, v[4:5], s[0:1] offset:8
	s_endpgm
;; expect
	global_load_b32 v2, v0, s[0:1] glc
	s_waitcnt vmcnt(0)
	global_load_b32 v3, v0, s[0:1] offset:4
	v_mul_f32_e32 v4, v0, v0
	s_waitcnt vmcnt(0)
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_mul_f32_e32 v5, v4, v4
	v_mul_f32_e32 v4, v5, v5
	v_add_f32_e32 v2, v2, v3
	s_delay_alu instid0(VALU_DEP_1)
	v_add_f32_e32 v5, v5, v2
	global_store_b64 v0, v[4:5], s[0:1] offset:8
	s_endpgm
