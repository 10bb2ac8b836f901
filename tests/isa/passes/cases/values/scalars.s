; Counters, comparisons and choices of the SALU.

	s_mov_b32 s0, 0
	s_addk_i32 s0, 0x200
	s_cmpk_lg_i32 s0, 0x200
; => s0 = 512
; => scc = 0

	s_add_i32 s1, s4, 8
	s_cmp_lt_u32 s1, s5
	s_cselect_b32 s6, s1, s4
; => s6 = select(ult(register(s5), (register(s4) + 9)), register(s4), (register(s4) + 8))

	s_cmp_eq_u32 s4, s4
	s_cselect_b32 s6, 1, 2
; => s6 = 1

; 64-bit products of 32-bit factors are exact
	s_movk_i32 s0, 0x7f
	s_and_b32 s1, s4, 0xffff
	s_mul_hi_u32 s3, s1, 0x10000
	s_mul_i32 s2, s1, 0x10000
; => s[2:3] = 65536*and(register(s4), 65535)
