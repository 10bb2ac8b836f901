; The loop goes round while t + 8 < K; the rewritten counter starts at 1 and asks t + 9 <= K: K is a multiple of 8.
original:
	s_load_b32 s4, s[0:1], 0x20
	v_lshlrev_b32_e32 v1, 2, v0
	v_mov_b32_e32 v2, 0
	s_mov_b32 s5, 0
	s_waitcnt lgkmcnt(0)
.LBB0_1:
	ds_load_b32 v3, v1
	s_add_i32 s5, s5, 8
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v2, v2, v3
	s_cmp_lt_u32 s5, s4
	s_cbranch_scc1 .LBB0_1
	ds_store_b32 v1, v2
	s_endpgm
rewritten:
	s_load_b32 s4, s[0:1], 0x20
	v_lshlrev_b32_e32 v1, 2, v0
	v_mov_b32_e32 v2, 0
	s_mov_b32 s5, 1
	s_waitcnt lgkmcnt(0)
.LBB1_1:
	ds_load_b32 v3, v1
	s_add_i32 s5, s5, 8
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v2, v2, v3
	s_cmp_le_u32 s5, s4
	s_cbranch_scc1 .LBB1_1
	ds_store_b32 v1, v2
	s_endpgm
;; expect
proved: rewritten computes what original does, bit for bit; matched: 1 store, 0 barriers and the like, 3 pairs of blocks, 1 loop
