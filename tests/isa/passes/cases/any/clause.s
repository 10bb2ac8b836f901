; Loads that stand together, up to what stands between.
; clause
	global_load_b32 v1, v0, s[0:1]
	global_load_b32 v2, v0, s[0:1] offset:4
	global_load_b32 v3, v0, s[0:1] offset:8
	v_mov_b32_e32 v4, 0
	global_load_b32 v5, v0, s[0:1] offset:12
	s_waitcnt vmcnt(0)
	global_store_b32 v4, v5, s[0:1]
	global_store_b32 v4, v1, s[0:1]
	s_endpgm
;; expect
	s_clause 0x2
	global_load_b32 v1, v0, s[0:1]
	global_load_b32 v2, v0, s[0:1] offset:4
	global_load_b32 v3, v0, s[0:1] offset:8
	v_mov_b32_e32 v4, 0
	global_load_b32 v5, v0, s[0:1] offset:12
	s_waitcnt vmcnt(0)
	s_clause 0x1
	global_store_b32 v4, v5, s[0:1]
	global_store_b32 v4, v1, s[0:1]
	s_endpgm
