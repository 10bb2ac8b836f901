; Two pointers that all lanes share and a lane's offset: one moves around a loop, one is made anew in each round, of SGPRs
; that are no aligned pair.
; scalar-addresses
	v_lshlrev_b32_e32 v2, 2, v0
	s_mov_b32 s4, 8
	s_mov_b32 s5, s0
	s_mov_b32 s6, s1
	v_mov_b32_e32 v3, 0
	v_add_co_u32 v0, s2, s0, v2
	v_add_co_ci_u32_e64 v1, null, s1, 0, s2
.Lloop:
	v_add_co_u32 v6, vcc_lo, s5, v2
	v_add_co_ci_u32_e64 v7, null, s6, 0, vcc_lo
	global_load_b32 v4, v[0:1], off
	global_load_b32 v5, v[6:7], off offset:4
	v_add_co_u32 v0, vcc_lo, 0x400, v0
	v_add_co_ci_u32_e64 v1, null, 0, v1, vcc_lo
	s_add_u32 s5, s5, 16
	s_addc_u32 s6, s6, 0
	s_add_i32 s4, s4, -1
	s_cmp_eq_u32 s4, 0
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v3, v3, v4
	v_add_f32_e32 v3, v3, v5
	s_cbranch_scc0 .Lloop
	global_store_b32 v2, v3, s[0:1]
	s_endpgm
;; expect
	v_lshlrev_b32_e32 v2, 2, v0
	s_mov_b32 s4, 8
	s_mov_b32 s5, s0
	s_mov_b32 s6, s1
	v_mov_b32_e32 v3, 0
	s_mov_b64 s[8:9], s[0:1]
	s_mov_b32 s2, s5
	s_mov_b32 s3, s6
	global_load_b32 v4, v2, s[8:9]
	global_load_b32 v5, v2, s[2:3] offset:4
	s_add_u32 s8, s8, 0x400
	s_addc_u32 s9, s9, 0
	s_add_u32 s5, s5, 16
	s_addc_u32 s6, s6, 0
	s_add_i32 s4, s4, -1
	s_cmp_eq_u32 s4, 0
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v3, v3, v4
	v_add_f32_e32 v3, v3, v5
	s_cbranch_scc0 .Lloop
	global_store_b32 v2, v3, s[0:1]
	s_endpgm
