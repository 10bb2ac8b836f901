; The load that the reciprocal waits for is done last, so in another order it would stand last, right before the block
; that reads what it gives: too near for a transcendental result. A wait for results is added.
; pair
	global_load_b128 v[4:7], v0, s[0:1]
	global_load_b32 v8, v0, s[0:1] offset:16
	s_waitcnt vmcnt(0)
	v_rcp_f32_e32 v9, v8
	v_mul_f32_e32 v10, v4, v5
	v_mul_f32_e32 v11, v5, v6
	v_mul_f32_e32 v12, v6, v7
	v_mul_f32_e32 v13, v7, v4
	v_mul_f32_e32 v14, v4, v6
	v_mul_f32_e32 v15, v5, v7
	s_branch .Lnext
.Lnext:
	v_mul_f32_e32 v9, v9, v10
	global_store_b32 v0, v9, s[0:1]
	global_store_b128 v0, v[11:14], s[0:1]
	global_store_b32 v0, v15, s[0:1] offset:16
	s_endpgm
;; expect
	s_clause 0x1
	global_load_b128 v[4:7], v0, s[0:1]
	global_load_b32 v8, v0, s[0:1] offset:16
	s_waitcnt vmcnt(1)
	v_dual_mul_f32 v10, v4, v5 :: v_dual_mul_f32 v11, v5, v6
	s_waitcnt vmcnt(0)
	v_rcp_f32_e32 v9, v8
	v_dual_mul_f32 v12, v6, v7 :: v_dual_mul_f32 v13, v7, v4
	v_dual_mul_f32 v14, v4, v6 :: v_dual_mul_f32 v15, v5, v7
	s_waitcnt_depctr depctr_va_vdst(0)
	s_branch .Lnext
	v_mul_f32_e32 v9, v9, v10
	s_clause 0x2
	global_store_b32 v0, v9, s[0:1]
	global_store_b128 v0, v[11:14], s[0:1]
	global_store_b32 v0, v15, s[0:1] offset:16
	s_endpgm
