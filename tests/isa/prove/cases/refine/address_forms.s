; The same element of B, C[128*x + tid] = B[N*tid + 128*x], by 64-bit arithmetic in VGPRs and by an SGPR base with a
; 32-bit offset. That the offset does not wrap follows from N*K <= 2^30 and K >= 8, not from the text.
original:
	s_clause 0x1
	s_load_b128 s[4:7], s[0:1], 0x8
	s_load_b32 s8, s[0:1], 0x1c
	v_and_b32_e32 v4, 7, v0
	s_lshl_b32 s9, s2, 7
	s_waitcnt lgkmcnt(0)
	v_mul_lo_u32 v1, v4, s8
	v_or_b32_e32 v2, s9, v0
	v_add_nc_u32_e32 v1, s9, v1
	v_ashrrev_i32_e32 v3, 31, v2
	v_lshlrev_b64 v[2:3], 2, v[2:3]
	v_add_co_u32 v6, vcc_lo, s6, v2
	v_add_co_ci_u32_e64 v7, null, s7, v3, vcc_lo
	v_ashrrev_i32_e32 v2, 31, v1
	v_lshlrev_b64 v[1:2], 2, v[1:2]
	v_add_co_u32 v1, vcc_lo, s4, v1
	v_add_co_ci_u32_e64 v2, null, s5, v2, vcc_lo
	global_load_b32 v5, v[1:2], off
	s_waitcnt vmcnt(0)
	global_store_b32 v[6:7], v5, off
	s_endpgm
rewritten:
	s_load_b256 s[4:11], s[0:1], 0x8
	v_and_b32_e32 v4, 7, v0
	v_lshlrev_b32_e32 v9, 2, v0
	s_waitcnt lgkmcnt(0)
	s_lshl_b32 s2, s2, 9
	s_mov_b32 s3, 0
	s_lshl_b32 s9, s9, 2
	s_add_u32 s4, s4, s2
	s_addc_u32 s5, s5, s3
	s_add_u32 s6, s6, s2
	s_addc_u32 s7, s7, 0
	v_mul_lo_u32 v8, s9, v4
	global_load_b32 v5, v8, s[4:5]
	s_waitcnt vmcnt(0)
	global_store_b32 v9, v5, s[6:7]
	s_endpgm
;; expect
proved: rewritten computes what original does, bit for bit; matched: 1 store, 0 barriers and the like, 1 pair of blocks, 0 loops
