; Y reads v7, which X writes: Y must go first.
	v_mul_f32_e32 v2, v0, v0
	v_dual_mul_f32 v7, v2, v0 :: v_dual_add_f32 v6, v4, v7
	s_endpgm
;; expect
	v_mul_f32_e32 v2, v0, v0
	v_add_f32_e32 v6, v4, v7
	v_mul_f32_e32 v7, v2, v0
	s_endpgm
