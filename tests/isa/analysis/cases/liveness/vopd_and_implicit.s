; The halves of a VOPD read before either writes. VCC, SCC and EXEC are registers like others.
	v_dual_mov_b32 v1, v2 :: v_dual_mov_b32 v2, v1
	v_add_co_u32 v4, vcc_lo, v1, v2
	v_add_co_ci_u32_e64 v5, null, v6, v7, vcc_lo
	s_cmp_eq_u32 s0, 0
	s_cselect_b32 s3, s1, s2
	v_mov_b32_e32 v8, s3
	global_store_b32 v[4:5], v8, off
	s_endpgm
