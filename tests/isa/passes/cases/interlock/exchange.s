; Each half reads what the other writes: only a wait can help.
	v_mul_f32_e32 v2, v0, v0
	v_dual_mov_b32 v2, v5 :: v_dual_mov_b32 v5, v2
	v_mul_f32_e32 v2, v0, v0
	v_dual_mul_f32 v2, v4, v5 :: v_dual_mul_f32 v5, v2, v0
	s_endpgm
;; expect
	v_mul_f32_e32 v2, v0, v0
	v_dual_mov_b32 v2, v5 :: v_dual_mov_b32 v5, v2
	v_mul_f32_e32 v2, v0, v0
	s_waitcnt_depctr depctr_va_vdst(0)
	v_dual_mul_f32 v2, v4, v5 :: v_dual_mul_f32 v5, v2, v0
	s_endpgm
