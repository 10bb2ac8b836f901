; Dwords side by side become one load where the first stands; the second's register moves beside the first's, and the
; waits count one load less. What another base or a store that may meet it parts, stays.
; widen-loads
	global_load_b32 v1, v0, s[0:1] offset:4
	v_mul_u32_u24_e32 v7, 8, v0
	global_load_b32 v4, v0, s[0:1] offset:64
	s_waitcnt vmcnt(1)
	v_mul_f32_e32 v2, v1, v1
	global_load_b32 v6, v0, s[0:1]
	global_load_b32 v3, v7, s[0:1] offset:8
	s_waitcnt vmcnt(1)
	v_add_f32_e32 v2, v2, v6
	global_store_b32 v7, v2, s[0:1]
	global_load_b32 v5, v7, s[0:1] offset:12
	s_waitcnt vmcnt(1)
	v_add_f32_e32 v2, v2, v4
	v_add_f32_e32 v2, v2, v3
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v2, v2, v5
	global_store_b32 v0, v2, s[0:1] offset:128
	s_endpgm
;; expect
	global_load_b64 v[1:2], v0, s[0:1]
	v_mul_u32_u24_e32 v7, 8, v0
	global_load_b32 v4, v0, s[0:1] offset:64
	s_waitcnt vmcnt(1)
	v_mul_f32_e32 v2, v2, v2
	global_load_b32 v3, v7, s[0:1] offset:8
	v_add_f32_e32 v2, v2, v1
	global_store_b32 v7, v2, s[0:1]
	global_load_b32 v5, v7, s[0:1] offset:12
	s_waitcnt vmcnt(2)
	v_add_f32_e32 v2, v2, v4
	s_waitcnt vmcnt(1)
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_add_f32_e32 v2, v2, v3
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v2, v2, v5
	global_store_b32 v0, v2, s[0:1] offset:128
	s_endpgm
