; Four products and four sums: the compiler's neighbours cannot pair, but others can, one of them with its factors
; exchanged. The last product reads a sum.
; pair
	global_load_b128 v[4:7], v0, s[0:1]
	global_load_b128 v[8:11], v0, s[0:1] offset:16
	s_waitcnt vmcnt(0)
	v_mul_f32_e32 v12, v4, v8
	v_mul_f32_e32 v14, v5, v9
	v_mul_f32_e32 v13, v4, v9
	v_mul_f32_e32 v15, v6, v8
	v_add_f32_e32 v16, v12, v13
	v_mul_f32_e32 v17, v16, v14
	v_add_f32_e32 v18, v14, v15
	global_store_b64 v0, v[17:18], s[0:1]
	s_endpgm
;; expect
	s_clause 0x1
	global_load_b128 v[4:7], v0, s[0:1]
	global_load_b128 v[8:11], v0, s[0:1] offset:16
	s_waitcnt vmcnt(0)
	v_dual_mul_f32 v14, v5, v9 :: v_dual_mul_f32 v15, v6, v8
	v_mul_f32_e32 v12, v4, v8
	v_mul_f32_e32 v13, v4, v9
	s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_add_f32_e32 v18, v14, v15
	v_add_f32_e32 v16, v12, v13
	s_delay_alu instid0(VALU_DEP_1)
	v_mul_f32_e32 v17, v16, v14
	global_store_b64 v0, v[17:18], s[0:1]
	s_endpgm
