; No longer in flight: after a wait for VALU writes, after LDS access, after 15 VALU instructions.
	v_mul_f32_e32 v2, v0, v0
	s_waitcnt_depctr depctr_va_vdst(0)
	v_dual_mul_f32 v6, v2, v0 :: v_dual_add_f32 v7, v4, v1
	v_mul_f32_e32 v2, v0, v0
	ds_store_b32 v0, v0
	v_dual_mul_f32 v6, v2, v0 :: v_dual_add_f32 v7, v4, v1
	v_mul_f32_e32 v2, v0, v0
	v_mul_f32_e32 v8, v0, v0
	s_waitcnt_depctr depctr_va_vdst(1)
	v_dual_mul_f32 v6, v2, v0 :: v_dual_add_f32 v7, v4, v1
	s_endpgm
;; expect
	v_mul_f32_e32 v2, v0, v0
	s_waitcnt_depctr depctr_va_vdst(0)
	v_dual_mul_f32 v6, v2, v0 :: v_dual_add_f32 v7, v4, v1
	v_mul_f32_e32 v2, v0, v0
	ds_store_b32 v0, v0
	v_dual_mul_f32 v6, v2, v0 :: v_dual_add_f32 v7, v4, v1
	v_mul_f32_e32 v2, v0, v0
	v_mul_f32_e32 v8, v0, v0
	s_waitcnt_depctr depctr_va_vdst(1)
	v_dual_mul_f32 v6, v2, v0 :: v_dual_add_f32 v7, v4, v1
	s_endpgm
