; The sign of a constant stays a modifier: -0 is the number 0.
; rename-banks
	v_mov_b32_e32 v1, 1.0
	v_mov_b32_e32 v5, 2.0
	v_fma_mix_f32 v2, v1, v5, neg(0) op_sel_hi:[0,0,0]
	global_store_b32 v0, v2, s[0:1]
	s_endpgm
;; expect
	v_mov_b32_e32 v2, 1.0
	v_mov_b32_e32 v5, 2.0
	v_fma_mix_f32 v2, v2, v5, neg(0) op_sel_hi:[0,0,0]
	global_store_b32 v0, v2, s[0:1]
	s_endpgm
