; The second product waits for a reciprocal, so the first, which could execute at once, finds no other half. Chosen before
; the order, they are a pair: the first waits, too.
; pair{first}
	global_load_b128 v[4:7], v0, s[0:1]
	global_load_b128 v[8:11], v0, s[0:1] offset:16
	s_waitcnt vmcnt(0)
	v_rcp_f32_e32 v5, v5
	v_mul_f32_e32 v12, v4, v8
	v_mul_f32_e32 v13, v5, v9
	global_store_b64 v0, v[12:13], s[0:1]
	s_endpgm
;; expect
	s_clause 0x1
	global_load_b128 v[4:7], v0, s[0:1]
	global_load_b128 v[8:11], v0, s[0:1] offset:16
	s_waitcnt vmcnt(1)
	v_rcp_f32_e32 v5, v5
	s_waitcnt vmcnt(0)
	s_waitcnt_depctr depctr_va_vdst(0)
	s_delay_alu instid0(TRANS32_DEP_1)
	v_dual_mul_f32 v12, v4, v8 :: v_dual_mul_f32 v13, v5, v9
	global_store_b64 v0, v[12:13], s[0:1]
	s_endpgm
