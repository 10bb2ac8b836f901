; The halves of a VOPD read before either writes. VCC, SCC and EXEC are registers like others.
	v_dual_mov_b32 v1, v2 :: v_dual_mov_b32 v2, v1
	v_add_co_u32 v4, vcc_lo, v1, v2
	v_add_co_ci_u32_e64 v5, null, v6, v7, vcc_lo
	s_cmp_eq_u32 s0, 0
	s_cselect_b32 s3, s1, s2
	v_mov_b32_e32 v8, s3
	global_store_b32 v[4:5], v8, off
	s_endpgm
;; expect
 0 full v_dual_mov_b32 v1, v2 :: v_dual_mov_b32 v2, v1   v[1:2] v[6:7] s[0:2]
 1 full v_add_co_u32 v4, vcc_lo, v1, v2                  v[1:2] v[6:7] s[0:2]
 2 full v_add_co_ci_u32_e64 v5, null, v6, v7, vcc_lo     v4 v[6:7] s[0:2] vcc_lo
 3 full s_cmp_eq_u32 s0, 0                               v[4:5] s[0:2]
 4 full s_cselect_b32 s3, s1, s2                         v[4:5] s[1:2] src_scc
 5 full v_mov_b32_e32 v8, s3                             v[4:5] s3
 6 full global_store_b32 v[4:5], v8, off                 v[4:5] v8
 7 full s_endpgm
