; Two loads into one register take turns with another that is free, as the kernel's waves allow; the second may then go
; before the first one's use.
; spread-loads,schedule
	global_load_b32 v1, v0, s[0:1]
	s_waitcnt vmcnt(0)
	v_mul_f32_e32 v2, v1, v1
	v_mul_f32_e32 v2, v2, v1
	global_load_b32 v1, v0, s[0:1] offset:4
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v2, v2, v1
	global_store_b32 v0, v2, s[0:1]
	s_endpgm
;; expect
	s_clause 0x1
	global_load_b32 v1, v0, s[0:1]
	global_load_b32 v5, v0, s[0:1] offset:4
	s_waitcnt vmcnt(1)
	v_mul_f32_e32 v2, v1, v1
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_mul_f32_e32 v2, v2, v1
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v2, v2, v5
	global_store_b32 v0, v2, s[0:1]
	s_endpgm
