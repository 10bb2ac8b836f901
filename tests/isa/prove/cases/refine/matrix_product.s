; A matrix product mixes lanes: it is not followed.
original:
	s_load_b64 s[4:5], s[0:1], 0x24
	v_lshlrev_b32_e32 v1, 2, v0
	v_cvt_f32_u32_e32 v2, v0
	s_waitcnt lgkmcnt(0)
	v_wmma_f32_16x16x16_f16 v[16:23], v[8:15], v[24:31], v[16:23]
	v_mov_b32_e32 v3, v16
	ds_store_b32 v1, v3
	s_endpgm
rewritten:
	s_load_b64 s[4:5], s[0:1], 0x24
	v_lshlrev_b32_e32 v1, 2, v0
	v_cvt_f32_u32_e32 v2, v0
	s_waitcnt lgkmcnt(0)
	v_wmma_f32_16x16x16_f16 v[16:23], v[8:15], v[24:31], v[16:23]
	v_mov_b32_e32 v3, v16
	ds_store_b32 v1, v3
	s_endpgm
;; expect
proved: rewritten computes what original does, bit for bit; matched: 1 store, 0 barriers and the like, 1 pair of blocks, 0 loops
