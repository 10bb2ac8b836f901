; A FLAT load is done when both its counters say so. Stores count in vscnt and hold no register.
	flat_load_b32 v1, v[4:5]
	s_waitcnt vmcnt(0)
	v_mov_b32_e32 v2, v1
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v2, v1
	global_store_b32 v[4:5], v2, off
	v_mov_b32_e32 v2, 0
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	s_endpgm
;; expect
 0 flat_load_b32 v1, v[4:5]
 1 s_waitcnt vmcnt(0)                            vmcnt: [0]
 2 v_mov_b32_e32 v2, v1                          reads v1 of 0: needs lgkmcnt(0)
 3 s_waitcnt lgkmcnt(0)                          lgkmcnt: [0]
 4 v_mov_b32_e32 v2, v1
 5 global_store_b32 v[4:5], v2, off
 6 v_mov_b32_e32 v2, 0
 7 s_waitcnt_vscnt null, 0x0                     vscnt: [5]
 8 s_waitcnt vmcnt(0) lgkmcnt(0)                 vmcnt: []; lgkmcnt: []
 9 s_endpgm
