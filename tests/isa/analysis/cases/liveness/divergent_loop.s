; Lanes leave one by one into s1; s1 | EXEC stays full, so EXEC is full after the loop.
	s_mov_b32 s1, 0
	v_mov_b32_e32 v1, 0
again:
	v_add_nc_u32_e32 v1, 1, v1
	v_cmp_ge_u32_e32 vcc_lo, v1, v0
	s_or_b32 s1, vcc_lo, s1
	s_and_not1_b32 exec_lo, exec_lo, s1
	s_cbranch_execnz again
	s_or_b32 exec_lo, exec_lo, s1
	v_mov_b32_e32 v2, v1
	global_store_b32 v[4:5], v2, off
	s_endpgm
;; expect
 0 full s_mov_b32 s1, 0                                  v0 v[4:5]
 1 full v_mov_b32_e32 v1, 0                              v0 v[4:5] s1
 2      v_add_nc_u32_e32 v1, 1, v1                       v[0:1] v[4:5] s1
 3      v_cmp_ge_u32_e32 vcc_lo, v1, v0                  v[0:1] v[4:5] s1
 4      s_or_b32 s1, vcc_lo, s1                          v[0:1] v[4:5] s1 vcc_lo
 5      s_and_not1_b32 exec_lo, exec_lo, s1              v[0:1] v[4:5] s1
 6      s_cbranch_execnz again                           v[0:1] v[4:5] s1
 7      s_or_b32 exec_lo, exec_lo, s1                    v1 v[4:5] s1
 8 full v_mov_b32_e32 v2, v1                             v1 v[4:5]
 9 full global_store_b32 v[4:5], v2, off                 v2 v[4:5]
10 full s_endpgm
