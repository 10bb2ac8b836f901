; The same text again.
k:
	s_load_b128 s[4:7], s[0:1], 0x0
	s_load_b64 s[10:11], s[0:1], 0x10
	v_lshlrev_b32_e32 v2, 2, v0
	v_mov_b32_e32 v3, 0
	s_movk_i32 s8, 7
	v_mov_b32_e32 v6, 0
	s_waitcnt lgkmcnt(0)
	s_mov_b32 s13, exec_lo
	v_add_co_u32 v4, vcc_lo, s4, v2
	v_add_co_ci_u32_e64 v5, null, s5, 0, vcc_lo
.Lloop:
	global_load_b32 v1, v[4:5], off offset:8
	v_add_co_u32 v4, vcc_lo, v4, s10
	v_add_co_ci_u32_e64 v5, null, s11, v5, vcc_lo
	s_add_i32 s8, s8, -1
	s_cmp_lg_u32 s8, 0
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v3, v3, v1
	v_cmpx_lt_f32_e32 0, v1
	s_cbranch_execz .Lout
	s_cbranch_scc1 .Lloop
.Lout:
	s_mov_b32 exec_lo, s13
	global_load_b32 v1, v[4:5], off
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v3, v3, v1

.Lend:
	global_store_b32 v2, v3, s[6:7]
	s_endpgm
;; proved: itself
