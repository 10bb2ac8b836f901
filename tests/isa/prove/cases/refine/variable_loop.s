; A loop over K, compared with and without sign; the pointer is stepped in VGPRs or in SGPRs. The two accumulators have
; changed places, which only the products tell, and a swap after the loop puts them right.
original:
	s_load_b256 s[4:11], s[0:1], 0x0
	s_load_b32 s12, s[0:1], 0x20
	v_dual_mov_b32 v2, 0 :: v_dual_mov_b32 v3, 0
	v_lshlrev_b32_e32 v1, 2, v0
	s_mov_b32 s13, 0
	s_waitcnt lgkmcnt(0)
	v_add_co_u32 v4, vcc_lo, s4, v1
	v_add_co_ci_u32_e64 v5, null, s5, 0, vcc_lo
.LBB0_1:
	global_load_b64 v[6:7], v[4:5], off
	global_load_b32 v8, v[4:5], off offset:8
	s_add_i32 s13, s13, 8
	v_add_co_u32 v4, vcc_lo, v4, 32
	v_add_co_ci_u32_e64 v5, null, 0, v5, vcc_lo
	s_waitcnt vmcnt(0)
	v_fmac_f32_e32 v2, v6, v7
	v_fmac_f32_e32 v3, v6, v8
	s_cmp_lt_u32 s13, s12
	s_cbranch_scc1 .LBB0_1
	v_lshlrev_b32_e32 v1, 3, v0
	global_store_b64 v1, v[2:3], s[8:9]
	s_endpgm
rewritten:
	s_load_b256 s[4:11], s[0:1], 0x0
	s_load_b32 s12, s[0:1], 0x20
	v_dual_mov_b32 v2, 0 :: v_dual_mov_b32 v3, 0
	v_lshlrev_b32_e32 v1, 2, v0
	s_mov_b32 s13, 0
	s_waitcnt lgkmcnt(0)
	s_mov_b32 s14, s4
	s_mov_b32 s15, s5
.LBB1_1:
	global_load_b64 v[6:7], v1, s[14:15]
	global_load_b32 v8, v1, s[14:15] offset:8
	s_add_i32 s13, s13, 8
	s_add_u32 s14, s14, 32
	s_addc_u32 s15, s15, 0
	s_waitcnt vmcnt(0)
	v_fmac_f32_e32 v3, v6, v7
	v_fmac_f32_e32 v2, v6, v8
	s_cmp_lt_i32 s13, s12
	s_cbranch_scc1 .LBB1_1
	v_swap_b32 v2, v3
	v_lshlrev_b32_e32 v1, 3, v0
	global_store_b64 v1, v[2:3], s[8:9]
	s_endpgm
;; expect
proved: rewritten computes what original does, bit for bit; matched: 1 store, 0 barriers and the like, 3 pairs of blocks, 1 loop
