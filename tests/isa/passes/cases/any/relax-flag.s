; A flag that another wave raises: nothing passes its wait.
; relax-waits
	global_load_b32 v1, v0, s[0:1] glc
	s_waitcnt vmcnt(0)
	global_load_b32 v2, v0, s[0:1] offset:4
	v_mov_b32_e32 v3, 0
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v3, v1, v2
	global_store_b32 v0, v3, s[0:1]
	s_endpgm
;; expect
	global_load_b32 v1, v0, s[0:1] glc
	s_waitcnt vmcnt(0)
	global_load_b32 v2, v0, s[0:1] offset:4
	v_mov_b32_e32 v3, 0
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v3, v1, v2
	global_store_b32 v0, v3, s[0:1]
	s_endpgm
