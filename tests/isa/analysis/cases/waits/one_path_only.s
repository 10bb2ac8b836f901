; The wait stands on one path; on the other v1 is still in flight at the join.
	global_load_b32 v1, v[4:5], off
	s_cbranch_scc1 join
	s_waitcnt vmcnt(0)
join:
	v_mov_b32_e32 v2, v1
	s_endpgm
;; expect
 0 global_load_b32 v1, v[4:5], off
 1 s_cbranch_scc1 join
 2 s_waitcnt vmcnt(0)                            vmcnt: [0]
 3 v_mov_b32_e32 v2, v1                          reads v1 of 0: needs vmcnt(0)
 4 s_endpgm
