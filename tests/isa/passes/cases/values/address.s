; A 64-bit address in three shapes that compilers choose for p + 4 * (thread + n * 8), p in s[2:3], n in s4: one
; polynomial. Register names stand for what the registers hold at the beginning.

; sign extension, 64-bit shift, carry chain
	s_lshl_b32 s5, s4, 3
	v_add_nc_u32_e32 v1, s5, v0
	v_ashrrev_i32_e32 v2, 31, v1
	v_lshlrev_b64 v[1:2], 2, v[1:2]
	v_add_co_u32 v1, vcc_lo, s2, v1
	v_add_co_ci_u32_e32 v2, vcc_lo, s3, v2, vcc_lo
; => v[1:2] = p + 32*register(s4) + 4*thread

; a 64-bit multiply-add whose third operand's high half is anything
	s_movk_i32 s5, 0x8
	v_mad_u64_u32 v[3:4], null, s4, s5, v[0:1]
	v_ashrrev_i32_e32 v4, 31, v3
	v_lshlrev_b64 v[3:4], 2, v[3:4]
	v_add_co_u32 v3, vcc_lo, s2, v3
	v_add_co_ci_u32_e64 v4, null, s3, v4, vcc_lo
; => v[3:4] = p + 32*register(s4) + 4*thread

; the uniform part by the SALU first
	s_ashr_i32 s7, s4, 31
	s_mov_b32 s6, s4
	s_lshl_b64 s[6:7], s[6:7], 5
	s_add_u32 s6, s2, s6
	s_addc_u32 s7, s3, s7
	v_lshlrev_b32_e32 v1, 2, v0
	v_add_co_u32 v1, s8, s6, v1
	v_add_co_ci_u32_e64 v2, null, s7, 0, s8
; => v[1:2] = p + 32*register(s4) + 4*thread
