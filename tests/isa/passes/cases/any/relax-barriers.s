; The next load is in flight at the barriers, around which nothing writes memory; before the last barrier something
; was written, so all is done there, as it was.
; relax-barriers
	v_lshlrev_b32_e32 v5, 2, v0
	global_load_b32 v1, v5, s[0:1]
	s_mov_b32 s4, 0
.Lloop:
	s_waitcnt vmcnt(0)
	s_barrier
	ds_store_b32 v5, v1
	global_load_b32 v1, v5, s[0:1] offset:4
	s_waitcnt vmcnt(0) lgkmcnt(0)
	s_barrier
	v_mov_b32_e32 v3, 0
	buffer_gl0_inv
	ds_load_b32 v2, v5
	s_add_i32 s4, s4, 1
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v4, v2, v3
	s_cmp_lg_u32 s4, 4
	s_cbranch_scc1 .Lloop
	s_barrier
	global_store_b32 v5, v4, s[0:1] offset:512
	global_load_b32 v2, v5, s[0:1] offset:8
	s_waitcnt vmcnt(0)
	s_waitcnt_vscnt null, 0x0
	s_barrier
	buffer_gl0_inv
	global_load_b32 v3, v5, s[0:1] offset:640
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v3, v3, v2
	v_add_f32_e32 v3, v3, v1
	global_store_b32 v5, v3, s[0:1] offset:1024
	s_endpgm
;; expect
	v_lshlrev_b32_e32 v5, 2, v0
	global_load_b32 v1, v5, s[0:1]
	s_mov_b32 s4, 0
	s_barrier
	s_waitcnt vmcnt(0)
	ds_store_b32 v5, v1
	global_load_b32 v1, v5, s[0:1] offset:4
	s_waitcnt lgkmcnt(0)
	s_barrier
	v_mov_b32_e32 v3, 0
	buffer_gl0_inv
	ds_load_b32 v2, v5
	s_add_i32 s4, s4, 1
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v4, v2, v3
	s_cmp_lg_u32 s4, 4
	s_cbranch_scc1 .Lloop
	s_waitcnt vmcnt(0)
	s_barrier
	global_store_b32 v5, v4, s[0:1] offset:512
	global_load_b32 v2, v5, s[0:1] offset:8
	s_waitcnt vmcnt(0)
	s_waitcnt_vscnt null, 0x0
	s_barrier
	buffer_gl0_inv
	global_load_b32 v3, v5, s[0:1] offset:640
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v3, v3, v2
	v_add_f32_e32 v3, v3, v1
	global_store_b32 v5, v3, s[0:1] offset:1024
	s_endpgm
