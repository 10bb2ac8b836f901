; Each load is waited for where it is needed; before the barrier LDS is, as it was.
; relax-waits
	global_load_b32 v1, v0, s[0:1]
	global_load_b32 v2, v0, s[0:1] offset:4
	s_waitcnt vmcnt(0)
	v_lshlrev_b32_e32 v5, 2, v0
	v_add_f32_e32 v3, 1.0, v1
	v_add_f32_e32 v4, v3, v2
	ds_store_b32 v5, v4
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v6, 0
	s_barrier
	ds_load_b32 v7, v5
	s_waitcnt lgkmcnt(0)
	global_store_b32 v0, v7, s[0:1]
	s_endpgm
;; expect
	s_clause 0x1
	global_load_b32 v1, v0, s[0:1]
	global_load_b32 v2, v0, s[0:1] offset:4
	v_lshlrev_b32_e32 v5, 2, v0
	s_waitcnt vmcnt(1)
	v_add_f32_e32 v3, 1.0, v1
	s_waitcnt vmcnt(0)
	s_delay_alu instid0(VALU_DEP_1)
	v_add_f32_e32 v4, v3, v2
	ds_store_b32 v5, v4
	v_mov_b32_e32 v6, 0
	s_waitcnt lgkmcnt(0)
	s_barrier
	ds_load_b32 v7, v5
	s_waitcnt lgkmcnt(0)
	global_store_b32 v0, v7, s[0:1]
	s_endpgm
