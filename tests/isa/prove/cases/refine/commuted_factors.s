; a*b + c and b*a + c differ at most in which NaN comes through: proved, with that said.
original:
	v_dual_mov_b32 v1, 0 :: v_dual_lshlrev_b32 v4, 2, v0
	ds_load_2addr_b32 v[2:3], v1 offset1:1
	s_waitcnt lgkmcnt(0)
	v_fmac_f32_e32 v1, v2, v3
	ds_store_b32 v4, v1
	s_endpgm
rewritten:
	v_dual_mov_b32 v1, 0 :: v_dual_lshlrev_b32 v4, 2, v0
	ds_load_2addr_b32 v[2:3], v1 offset1:1
	s_waitcnt lgkmcnt(0)
	v_fmac_f32_e32 v1, v3, v2
	ds_store_b32 v4, v1
	s_endpgm
;; expect
proved: rewritten computes what original does, bit for bit; matched: 1 store, 0 barriers and the like, 1 pair of blocks, 0 loops
