; Stores to LDS that cannot overlap may change places: 4*tid < 512.
original:
	v_lshlrev_b32_e32 v1, 2, v0
	v_lshlrev_b32_e32 v2, 3, v0
	ds_store_b32 v1, v0
	ds_store_b32 v2, v1 offset:512
	s_waitcnt lgkmcnt(0)
	s_barrier
	s_endpgm
rewritten:
	v_lshlrev_b32_e32 v1, 2, v0
	v_lshlrev_b32_e32 v2, 3, v0
	ds_store_b32 v2, v1 offset:512
	ds_store_b32 v1, v0
	s_waitcnt lgkmcnt(0)
	s_barrier
	s_endpgm
;; expect
proved: rewritten computes what original does, bit for bit; matched: 2 stores, 1 barrier and the like, 1 pair of blocks, 0 loops
