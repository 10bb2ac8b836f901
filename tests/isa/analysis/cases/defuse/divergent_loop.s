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
 0 s_mov_b32 s1, 0
 1 v_mov_b32_e32 v1, 0
 2 v_add_nc_u32_e32 v1, 1, v1               v1 <- 1,2
 3 v_cmp_ge_u32_e32 vcc_lo, v1, v0          v0 <- entry; v1 <- 2
 4 s_or_b32 s1, vcc_lo, s1                  s1 <- 0,4; vcc_lo <- 3
 5 s_and_not1_b32 exec_lo, exec_lo, s1      s1 <- 4
 6 s_cbranch_execnz again
 7 s_or_b32 exec_lo, exec_lo, s1            s1 <- 4
 8 v_mov_b32_e32 v2, v1                     v1 <- 2
 9 global_store_b32 v[4:5], v2, off         v2 <- 8; v4 <- entry; v5 <- entry
10 s_endpgm
