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
