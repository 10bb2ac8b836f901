; Hints for the order that is there: one that is wrong goes, those that are missing come.
; delay-alu
	v_add_f32_e32 v1, 1.0, v0
	s_delay_alu instid0(VALU_DEP_4)
	v_exp_f32_e32 v2, v1
	v_add_f32_e32 v3, 1.0, v1
	v_mov_b32_e32 v4, 0
	v_add_f32_e32 v5, v2, v3
	s_mov_b32 s4, 3
	v_add_f32_e32 v5, s4, v5
	global_store_b32 v4, v5, s[0:1]
	s_endpgm
;; expect
	v_add_f32_e32 v1, 1.0, v0
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_exp_f32_e32 v2, v1
	v_add_f32_e32 v3, 1.0, v1
	v_mov_b32_e32 v4, 0
	s_delay_alu instid0(TRANS32_DEP_1) | instid1(VALU_DEP_2)
	v_add_f32_e32 v5, v2, v3
	s_mov_b32 s4, 3
	s_delay_alu instid0(VALU_DEP_1) | instid1(SALU_CYCLE_1)
	v_add_f32_e32 v5, s4, v5
	global_store_b32 v4, v5, s[0:1]
	s_endpgm
