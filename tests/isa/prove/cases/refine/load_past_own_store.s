; A load passes a store that it never meets, whichever work-item makes it: nothing says that they differ.
original:
	s_load_b64 s[4:5], s[0:1], 0x10
	v_lshlrev_b32_e32 v1, 3, v0
	v_mov_b32_e32 v3, 1.0
	s_waitcnt lgkmcnt(0)
	global_store_b32 v1, v3, s[4:5] offset:4
	global_load_b32 v2, v1, s[4:5]
	s_waitcnt vmcnt(0)
	global_store_b32 v1, v2, s[4:5] offset:2052
	s_endpgm
rewritten:
	s_load_b64 s[4:5], s[0:1], 0x10
	v_lshlrev_b32_e32 v1, 3, v0
	v_mov_b32_e32 v3, 1.0
	s_waitcnt lgkmcnt(0)
	global_load_b32 v2, v1, s[4:5]
	global_store_b32 v1, v3, s[4:5] offset:4
	s_waitcnt vmcnt(0)
	global_store_b32 v1, v2, s[4:5] offset:2052
	s_endpgm
;; expect
proved: rewritten computes what original does, bit for bit; matched: 2 stores, 0 barriers and the like, 1 pair of blocks, 0 loops
