; SMEM returns in no order: only lgkmcnt(0) covers s[4:7]. LDS stays in order, even with SMEM on the same counter.
	ds_load_b32 v1, v0
	s_load_b128 s[4:7], s[0:1], 0x0
	ds_load_b32 v2, v0 offset:4
	s_waitcnt lgkmcnt(1)
	v_mov_b32_e32 v3, v1
	v_mov_b32_e32 v3, s4
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v3, s4
	s_endpgm
;; expect
 0 ds_load_b32 v1, v0
 1 s_load_b128 s[4:7], s[0:1], 0x0
 2 ds_load_b32 v2, v0 offset:4
 3 s_waitcnt lgkmcnt(1)                          lgkmcnt: [0]
 4 v_mov_b32_e32 v3, v1
 5 v_mov_b32_e32 v3, s4                          reads s4 of 1: needs lgkmcnt(0)
 6 s_waitcnt lgkmcnt(0)                          lgkmcnt: [1, 2]
 7 v_mov_b32_e32 v3, s4
 8 s_endpgm
