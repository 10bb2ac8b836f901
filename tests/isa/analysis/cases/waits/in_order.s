; vmcnt(1) covers the first of two loads and says nothing of the second; a write of v3 comes too early.
	global_load_b32 v2, v[4:5], off
	global_load_b32 v3, v[4:5], off offset:4
	s_waitcnt vmcnt(1)
	v_mov_b32_e32 v6, v2
	v_mov_b32_e32 v7, v3
	v_mov_b32_e32 v3, 0
	s_waitcnt vmcnt(0)
	s_endpgm
;; expect
 0 global_load_b32 v2, v[4:5], off
 1 global_load_b32 v3, v[4:5], off offset:4
 2 s_waitcnt vmcnt(1)                            vmcnt: [0]
 3 v_mov_b32_e32 v6, v2
 4 v_mov_b32_e32 v7, v3                          reads v3 of 1: needs vmcnt(0)
 5 v_mov_b32_e32 v3, 0                           writes v3 of 1: needs vmcnt(0)
 6 s_waitcnt vmcnt(0)                            vmcnt: [1]
 7 s_endpgm
