; One step of a binary search: what both ways write is selected, and the copies that kept them apart are gone.
; if-convert
	v_and_b32_e32 v0, 15, v0
	v_lshlrev_b32_e32 v1, 2, v0
	global_load_b32 v4, v1, s[0:1]
	global_load_b32 v5, v1, s[0:1] offset:64
	v_mov_b32_e32 v7, 1
	v_mov_b32_e32 v8, v0
	s_waitcnt vmcnt(0)
	s_mov_b32 s6, exec_lo
	v_cmpx_ngt_f32_e32 v4, v5
	s_xor_b32 s6, exec_lo, s6
	v_subrev_nc_u32_e32 v3, s2, v0
	s_or_saveexec_b32 s6, s6
	v_mov_b32_e32 v2, v0
	s_xor_b32 exec_lo, exec_lo, s6
	v_mov_b32_e32 v7, v0
	v_add_nc_u32_e32 v3, s2, v0
	v_mov_b32_e32 v2, v8
	s_or_b32 exec_lo, exec_lo, s6
	global_store_b128 v1, v[4:7], s[0:1] offset:128
	global_store_b64 v1, v[2:3], s[0:1] offset:256
	s_endpgm
;; expect
	v_and_b32_e32 v0, 15, v0
	s_delay_alu instid0(VALU_DEP_1)
	v_lshlrev_b32_e32 v1, 2, v0
	s_clause 0x1
	global_load_b32 v4, v1, s[0:1]
	global_load_b32 v5, v1, s[0:1] offset:64
	v_mov_b32_e32 v7, 1
	v_mov_b32_e32 v8, v0
	s_waitcnt vmcnt(0)
	v_cmp_ngt_f32_e32 vcc_lo, v4, v5
	v_subrev_nc_u32_e32 v9, s2, v0
	v_cndmask_b32_e32 v7, v0, v7, vcc_lo
	v_add_nc_u32_e32 v10, s2, v0
	s_delay_alu instid0(VALU_DEP_1)
	v_cndmask_b32_e32 v3, v10, v9, vcc_lo
	v_cndmask_b32_e32 v2, v8, v0, vcc_lo
	s_clause 0x1
	global_store_b128 v1, v[4:7], s[0:1] offset:128
	global_store_b64 v1, v[2:3], s[0:1] offset:256
	s_endpgm
