; Y may write what X reads: both read first.
; pair
	global_load_b128 v[4:7], v0, s[0:1]
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v8, v4, v5
	v_mov_b32_e32 v5, v6
	global_store_b32 v0, v8, s[0:1]
	global_store_b32 v0, v5, s[0:1] offset:4
	s_endpgm
;; expect
	global_load_b128 v[4:7], v0, s[0:1]
	s_waitcnt vmcnt(0)
	v_dual_add_f32 v8, v4, v5 :: v_dual_mov_b32 v5, v6
	s_clause 0x1
	global_store_b32 v0, v8, s[0:1]
	global_store_b32 v0, v5, s[0:1] offset:4
	s_endpgm
