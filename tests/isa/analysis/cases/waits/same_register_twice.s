; Loads of one kind land in order, so the second may fill the same register; one of another kind may not.
	global_load_b32 v1, v[4:5], off
	global_load_b32 v1, v[4:5], off offset:4
	ds_load_b32 v1, v0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_mov_b32_e32 v2, v1
	s_endpgm
;; expect
 0 global_load_b32 v1, v[4:5], off
 1 global_load_b32 v1, v[4:5], off offset:4
 2 ds_load_b32 v1, v0                            writes v1 of 1: needs vmcnt(0)
 3 s_waitcnt vmcnt(0) lgkmcnt(0)                 vmcnt: [1]; lgkmcnt: [2]
 4 v_mov_b32_e32 v2, v1
 5 s_endpgm
