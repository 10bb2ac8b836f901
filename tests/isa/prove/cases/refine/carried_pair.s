; A pointer that is carried in two SGPRs: in the second text its high half goes through two XORs which leave it what it was,
; but the loop finds no form for it. The two are the same, so "different" must not be said.
original:
	s_load_b64 s[4:5], s[0:1], 0x10
	s_load_b32 s12, s[0:1], 0x18
	v_lshlrev_b32_e32 v0, 2, v0
	v_mov_b32_e32 v3, 0
	s_mov_b32 s8, 0
	s_waitcnt lgkmcnt(0)
	s_mov_b64 s[10:11], s[4:5]
.LBB0_1:
	global_load_b32 v1, v0, s[10:11]
	s_add_u32 s10, s10, 0x100
	s_addc_u32 s11, s11, 0
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v3, v3, v1
	s_add_i32 s8, s8, 1
	s_cmp_lt_u32 s8, s12
	s_cbranch_scc1 .LBB0_1
	global_store_b32 v0, v3, s[4:5]
	s_endpgm
rewritten:
	s_load_b64 s[4:5], s[0:1], 0x10
	s_load_b32 s12, s[0:1], 0x18
	v_lshlrev_b32_e32 v0, 2, v0
	v_mov_b32_e32 v3, 0
	s_mov_b32 s8, 0
	s_waitcnt lgkmcnt(0)
	s_mov_b64 s[10:11], s[4:5]
.LBB1_1:
	global_load_b32 v1, v0, s[10:11]
	s_add_u32 s10, s10, 0x100
	s_addc_u32 s11, s11, 0
	s_xor_b32 s11, s11, s12
	s_xor_b32 s11, s11, s12
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v3, v3, v1
	s_add_i32 s8, s8, 1
	s_cmp_lt_u32 s8, s12
	s_cbranch_scc1 .LBB1_1
	global_store_b32 v0, v3, s[4:5]
	s_endpgm
;; expect
proved: rewritten computes what original does, bit for bit; matched: 1 store, 0 barriers and the like, 3 pairs of blocks, 1 loop
