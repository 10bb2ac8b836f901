; The accumulator's value comes from before the loop and from the loop itself; s0 at its first read from the entry.
	v_mov_b32_e32 v1, 0
	s_mov_b32 s1, 0
again:
	v_fmac_f32_e32 v1, v2, v3
	s_add_i32 s1, s1, 1
	s_cmp_lg_u32 s1, s0
	s_cbranch_scc1 again
	s_mov_b32 s0, s1
	v_mul_f32_e32 v1, s0, v1
	global_store_b32 v[4:5], v1, off
	s_endpgm
;; expect
 0 v_mov_b32_e32 v1, 0
 1 s_mov_b32 s1, 0
 2 v_fmac_f32_e32 v1, v2, v3                v1 <- 0,2; v2 <- entry; v3 <- entry
 3 s_add_i32 s1, s1, 1                      s1 <- 1,3
 4 s_cmp_lg_u32 s1, s0                      s0 <- entry; s1 <- 3
 5 s_cbranch_scc1 again                     src_scc <- 4
 6 s_mov_b32 s0, s1                         s1 <- 3
 7 v_mul_f32_e32 v1, s0, v1                 s0 <- 6; v1 <- 2
 8 global_store_b32 v[4:5], v1, off         v1 <- 7; v4 <- entry; v5 <- entry
 9 s_endpgm
