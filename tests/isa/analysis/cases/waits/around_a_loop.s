; Software pipelining: the load at the end of a round is waited for in the next. One wait too weak, in the loop only:
; at the first round one load is in flight, in later rounds two, of which vmcnt(1) leaves the younger, v2.
	global_load_b32 v1, v[4:5], off
again:
	global_load_b32 v2, v[4:5], off
	s_waitcnt vmcnt(1)
	v_add_f32_e32 v3, v1, v3
	v_add_f32_e32 v3, v2, v3
	global_load_b32 v1, v[4:5], off
	s_cbranch_scc1 again
	s_waitcnt vmcnt(0)
	s_endpgm
;; expect
 0 global_load_b32 v1, v[4:5], off
 1 global_load_b32 v2, v[4:5], off
 2 s_waitcnt vmcnt(1)                            vmcnt: [0, 5]
 3 v_add_f32_e32 v3, v1, v3
 4 v_add_f32_e32 v3, v2, v3                      reads v2 of 1: needs vmcnt(0)
 5 global_load_b32 v1, v[4:5], off
 6 s_cbranch_scc1 again
 7 s_waitcnt vmcnt(0)                            vmcnt: [1, 5]
 8 s_endpgm
