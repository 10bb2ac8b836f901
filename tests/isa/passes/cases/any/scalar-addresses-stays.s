; An index with a sign is not 32 bits without one; a pointer that something else reads is needed; where EXEC changes in
; a loop, lanes move on that the SALU does not tell apart.
; scalar-addresses
	v_lshlrev_b32_e32 v2, 2, v0
	v_ashrrev_i32_e32 v3, 31, v2
	v_add_co_u32 v4, vcc_lo, s0, v2
	v_add_co_ci_u32_e64 v5, null, s1, v3, vcc_lo
	global_load_b32 v6, v[4:5], off
	v_add_co_u32 v7, vcc_lo, s0, v2
	v_add_co_ci_u32_e64 v8, null, s1, 0, vcc_lo
	global_load_b32 v9, v[7:8], off
	s_waitcnt vmcnt(0)
	v_add_nc_u32_e32 v9, v9, v7
	global_store_b32 v2, v9, s[0:1]
	v_add_co_u32 v10, vcc_lo, s0, v2
	v_add_co_ci_u32_e64 v11, null, s1, 0, vcc_lo
	s_mov_b32 s4, exec_lo
.Lloop:
	global_load_b32 v6, v[10:11], off
	v_add_co_u32 v10, vcc_lo, 16, v10
	v_add_co_ci_u32_e64 v11, null, 0, v11, vcc_lo
	s_waitcnt vmcnt(0)
	v_cmpx_lt_f32_e32 0, v6
	s_cbranch_execnz .Lloop
	s_mov_b32 exec_lo, s4
	global_load_b32 v6, v[10:11], off
	s_waitcnt vmcnt(0)
	global_store_b32 v2, v6, s[0:1] offset:4
	s_endpgm
;; expect
	v_lshlrev_b32_e32 v2, 2, v0
	v_ashrrev_i32_e32 v3, 31, v2
	v_add_co_u32 v4, vcc_lo, s0, v2
	v_add_co_ci_u32_e64 v5, null, s1, v3, vcc_lo
	global_load_b32 v6, v[4:5], off
	v_add_co_u32 v7, vcc_lo, s0, v2
	v_add_co_ci_u32_e64 v8, null, s1, 0, vcc_lo
	global_load_b32 v9, v[7:8], off
	s_waitcnt vmcnt(0)
	v_add_nc_u32_e32 v9, v9, v7
	global_store_b32 v2, v9, s[0:1]
	v_add_co_u32 v10, vcc_lo, s0, v2
	v_add_co_ci_u32_e64 v11, null, s1, 0, vcc_lo
	s_mov_b32 s4, exec_lo
	global_load_b32 v6, v[10:11], off
	v_add_co_u32 v10, vcc_lo, 16, v10
	v_add_co_ci_u32_e64 v11, null, 0, v11, vcc_lo
	s_waitcnt vmcnt(0)
	v_cmpx_lt_f32_e32 0, v6
	s_cbranch_execnz .Lloop
	s_mov_b32 exec_lo, s4
	global_load_b32 v6, v[10:11], off
	s_waitcnt vmcnt(0)
	global_store_b32 v2, v6, s[0:1] offset:4
	s_endpgm
