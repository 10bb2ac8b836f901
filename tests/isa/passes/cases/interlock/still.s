; Under way still: after a wait that leaves it out, after a scalar load, round a loop, beside a transcendental one.
	v_mul_f32_e32 v2, v0, v0
	v_mul_f32_e32 v8, v0, v0
	s_load_b32 s4, s[0:1], 0x0
	s_waitcnt_depctr depctr_va_vdst(2)
	v_dual_mul_f32 v6, v2, v0 :: v_dual_add_f32 v7, v4, v1
	ds_store_b32 v0, v0
again:
	v_dual_mul_f32 v6, v2, v0 :: v_dual_add_f32 v7, v4, v1
	v_mul_f32_e32 v4, v0, v0
	s_cbranch_scc1 again
	ds_store_b32 v0, v0
	v_rcp_f32_e32 v2, v0
	v_mul_f32_e32 v8, v0, v0
	v_mul_f32_e32 v8, v0, v0
	v_mul_f32_e32 v8, v0, v0
	v_mul_f32_e32 v8, v0, v0
	v_mul_f32_e32 v8, v0, v0
	v_mul_f32_e32 v8, v0, v0
	v_mul_f32_e32 v8, v0, v0
	v_mul_f32_e32 v8, v0, v0
	v_mul_f32_e32 v8, v0, v0
	v_mul_f32_e32 v8, v0, v0
	v_mul_f32_e32 v8, v0, v0
	v_mul_f32_e32 v8, v0, v0
	v_mul_f32_e32 v8, v0, v0
	v_mul_f32_e32 v8, v0, v0
	v_mul_f32_e32 v8, v0, v0
	v_dual_mul_f32 v6, v2, v0 :: v_dual_add_f32 v7, v4, v1
	s_endpgm
;; expect
	v_mul_f32_e32 v2, v0, v0
	v_mul_f32_e32 v8, v0, v0
	s_load_b32 s4, s[0:1], 0x0
	s_waitcnt_depctr depctr_va_vdst(2)
	v_mul_f32_e32 v6, v2, v0
	v_add_f32_e32 v7, v4, v1
	ds_store_b32 v0, v0
	v_mul_f32_e32 v6, v2, v0
	v_add_f32_e32 v7, v4, v1
	v_mul_f32_e32 v4, v0, v0
	s_cbranch_scc1 again
	ds_store_b32 v0, v0
	v_rcp_f32_e32 v2, v0
	v_mul_f32_e32 v8, v0, v0
	v_mul_f32_e32 v8, v0, v0
	v_mul_f32_e32 v8, v0, v0
	v_mul_f32_e32 v8, v0, v0
	v_mul_f32_e32 v8, v0, v0
	v_mul_f32_e32 v8, v0, v0
	v_mul_f32_e32 v8, v0, v0
	v_mul_f32_e32 v8, v0, v0
	v_mul_f32_e32 v8, v0, v0
	v_mul_f32_e32 v8, v0, v0
	v_mul_f32_e32 v8, v0, v0
	v_mul_f32_e32 v8, v0, v0
	v_mul_f32_e32 v8, v0, v0
	v_mul_f32_e32 v8, v0, v0
	v_mul_f32_e32 v8, v0, v0
	v_mul_f32_e32 v6, v2, v0
	v_add_f32_e32 v7, v4, v1
	s_endpgm
