; More conditions than there is room to keep the answers of: `right` asks the same question twice, and that no longer
; shows, so nothing is said. `wrong` asks the opposite, which a path with all answers shows; two readers, one finding.
right:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	s_cmp_lg_u32 s0, 0
	s_cselect_b32 s16, -1, 0
	s_cmp_lg_u32 s1, 0
	s_cselect_b32 s17, -1, 0
	s_cmp_lg_u32 s2, 0
	s_cselect_b32 s18, -1, 0
	s_cmp_lg_u32 s3, 0
	s_cselect_b32 s19, -1, 0
	s_cmp_lg_u32 s4, 0
	s_cselect_b32 s20, -1, 0
	s_cmp_lg_u32 s5, 0
	s_cselect_b32 s21, -1, 0
	s_cmp_lg_u32 s6, 0
	s_cselect_b32 s22, -1, 0
	s_cmp_lg_u32 s7, 0
	s_cselect_b32 s23, -1, 0
	s_cmp_lg_u32 s8, 0
	s_cselect_b32 s24, -1, 0
	v_lshlrev_b64 v[10:11], 2, v[0:1]
	s_and_b32 vcc_lo, exec_lo, s24
	s_cbranch_vccz right_float
	global_store_b32 v[10:11], v3, off          ; where s8 is not 0
	s_branch right_again
right_float:
	v_mul_f32_e32 v10, v3, v4                   ; where it is
right_again:
	s_and_not1_b32 vcc_lo, exec_lo, s24         ; the same question
	s_cbranch_vccnz right_rest
	global_store_b32 v[10:11], v3, off offset:4
	global_store_b32 v[10:11], v3, off offset:8
right_rest:
	s_and_b32 vcc_lo, exec_lo, s16
	s_cbranch_vccnz right_0
	v_add_f32_e32 v4, v4, v3
right_0:
	s_and_b32 vcc_lo, exec_lo, s17
	s_cbranch_vccnz right_1
	v_add_f32_e32 v4, v4, v3
right_1:
	s_and_b32 vcc_lo, exec_lo, s18
	s_cbranch_vccnz right_2
	v_add_f32_e32 v4, v4, v3
right_2:
	s_and_b32 vcc_lo, exec_lo, s19
	s_cbranch_vccnz right_3
	v_add_f32_e32 v4, v4, v3
right_3:
	s_and_b32 vcc_lo, exec_lo, s20
	s_cbranch_vccnz right_4
	v_add_f32_e32 v4, v4, v3
right_4:
	s_and_b32 vcc_lo, exec_lo, s21
	s_cbranch_vccnz right_5
	v_add_f32_e32 v4, v4, v3
right_5:
	s_and_b32 vcc_lo, exec_lo, s22
	s_cbranch_vccnz right_6
	v_add_f32_e32 v4, v4, v3
right_6:
	s_and_b32 vcc_lo, exec_lo, s23
	s_cbranch_vccnz right_7
	v_add_f32_e32 v4, v4, v3
right_7:
	v_add_f32_e32 v0, v4, v10
	s_setpc_b64 s[30:31]
.Lfunc_end_right:
wrong:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	s_cmp_lg_u32 s0, 0
	s_cselect_b32 s16, -1, 0
	s_cmp_lg_u32 s1, 0
	s_cselect_b32 s17, -1, 0
	s_cmp_lg_u32 s2, 0
	s_cselect_b32 s18, -1, 0
	s_cmp_lg_u32 s3, 0
	s_cselect_b32 s19, -1, 0
	s_cmp_lg_u32 s4, 0
	s_cselect_b32 s20, -1, 0
	s_cmp_lg_u32 s5, 0
	s_cselect_b32 s21, -1, 0
	s_cmp_lg_u32 s6, 0
	s_cselect_b32 s22, -1, 0
	s_cmp_lg_u32 s7, 0
	s_cselect_b32 s23, -1, 0
	s_cmp_lg_u32 s8, 0
	s_cselect_b32 s24, -1, 0
	v_lshlrev_b64 v[10:11], 2, v[0:1]
	s_and_b32 vcc_lo, exec_lo, s24
	s_cbranch_vccz wrong_float
	global_store_b32 v[10:11], v3, off          ; where s8 is not 0
	s_branch wrong_again
wrong_float:
	v_mul_f32_e32 v10, v3, v4                   ; where it is
wrong_again:
	s_and_b32 vcc_lo, exec_lo, s24              ; the opposite one
	s_cbranch_vccnz wrong_rest
	global_store_b32 v[10:11], v3, off offset:4
	global_store_b32 v[10:11], v3, off offset:8
wrong_rest:
	s_and_b32 vcc_lo, exec_lo, s16
	s_cbranch_vccnz wrong_0
	v_add_f32_e32 v4, v4, v3
wrong_0:
	s_and_b32 vcc_lo, exec_lo, s17
	s_cbranch_vccnz wrong_1
	v_add_f32_e32 v4, v4, v3
wrong_1:
	s_and_b32 vcc_lo, exec_lo, s18
	s_cbranch_vccnz wrong_2
	v_add_f32_e32 v4, v4, v3
wrong_2:
	s_and_b32 vcc_lo, exec_lo, s19
	s_cbranch_vccnz wrong_3
	v_add_f32_e32 v4, v4, v3
wrong_3:
	s_and_b32 vcc_lo, exec_lo, s20
	s_cbranch_vccnz wrong_4
	v_add_f32_e32 v4, v4, v3
wrong_4:
	s_and_b32 vcc_lo, exec_lo, s21
	s_cbranch_vccnz wrong_5
	v_add_f32_e32 v4, v4, v3
wrong_5:
	s_and_b32 vcc_lo, exec_lo, s22
	s_cbranch_vccnz wrong_6
	v_add_f32_e32 v4, v4, v3
wrong_6:
	s_and_b32 vcc_lo, exec_lo, s23
	s_cbranch_vccnz wrong_7
	v_add_f32_e32 v4, v4, v3
wrong_7:
	v_add_f32_e32 v0, v4, v10
	s_setpc_b64 s[30:31]
.Lfunc_end_wrong:
	.type	right,@function
	.type	wrong,@function
;; expect
case.s:97:2: v_mul_f32_e32 leaves a float in v10; global_store_b32 v[10:11], v3, off offset:4 (line 101) uses it as an address; 1 more with this cause [CLB001 clobbered address; data flow]
    	v_mul_f32_e32 v10, v3, v4                   ; where it is
    	^
  expected: one change here fixes all
  help: use a register other than v10 here, or restore the value
  also: line 102
