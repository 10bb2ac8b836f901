; As clobbers_forgotten.s, but no path that is kept shows it: one answer in 512 to nine questions leads to the float.
; `wrong` asks for the same answer again, and a search with all masks finds the path; `right` asks for another.
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
	s_and_b32 vcc_lo, exec_lo, s16
	s_cbranch_vccnz right_kept
	s_and_b32 vcc_lo, exec_lo, s17
	s_cbranch_vccz right_kept
	s_and_b32 vcc_lo, exec_lo, s18
	s_cbranch_vccz right_kept
	s_and_b32 vcc_lo, exec_lo, s19
	s_cbranch_vccnz right_kept
	s_and_b32 vcc_lo, exec_lo, s20
	s_cbranch_vccz right_kept
	s_and_b32 vcc_lo, exec_lo, s21
	s_cbranch_vccnz right_kept
	s_and_b32 vcc_lo, exec_lo, s22
	s_cbranch_vccnz right_kept
	s_and_b32 vcc_lo, exec_lo, s23
	s_cbranch_vccz right_kept
	s_and_b32 vcc_lo, exec_lo, s24
	s_cbranch_vccz right_kept
	v_mul_f32_e32 v10, v3, v4                   ; one answer in 512
right_kept:
	s_and_b32 vcc_lo, exec_lo, s16
	s_cbranch_vccnz right_end
	s_and_b32 vcc_lo, exec_lo, s17
	s_cbranch_vccz right_end
	s_and_b32 vcc_lo, exec_lo, s18
	s_cbranch_vccz right_end
	s_and_b32 vcc_lo, exec_lo, s19
	s_cbranch_vccnz right_end
	s_and_b32 vcc_lo, exec_lo, s20
	s_cbranch_vccz right_end
	s_and_b32 vcc_lo, exec_lo, s21
	s_cbranch_vccnz right_end
	s_and_b32 vcc_lo, exec_lo, s22
	s_cbranch_vccnz right_end
	s_and_b32 vcc_lo, exec_lo, s23
	s_cbranch_vccz right_end
	s_and_b32 vcc_lo, exec_lo, s24
	s_cbranch_vccnz right_end
	global_store_b32 v[10:11], v3, off          ; where the last answer is the other one
right_end:
	s_setpc_b64 s[30:31]
.Lfunc_end_right:
	.size right, .Lfunc_end_right-right
	.type right,@function
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
	s_and_b32 vcc_lo, exec_lo, s16
	s_cbranch_vccnz wrong_kept
	s_and_b32 vcc_lo, exec_lo, s17
	s_cbranch_vccz wrong_kept
	s_and_b32 vcc_lo, exec_lo, s18
	s_cbranch_vccz wrong_kept
	s_and_b32 vcc_lo, exec_lo, s19
	s_cbranch_vccnz wrong_kept
	s_and_b32 vcc_lo, exec_lo, s20
	s_cbranch_vccz wrong_kept
	s_and_b32 vcc_lo, exec_lo, s21
	s_cbranch_vccnz wrong_kept
	s_and_b32 vcc_lo, exec_lo, s22
	s_cbranch_vccnz wrong_kept
	s_and_b32 vcc_lo, exec_lo, s23
	s_cbranch_vccz wrong_kept
	s_and_b32 vcc_lo, exec_lo, s24
	s_cbranch_vccz wrong_kept
	v_mul_f32_e32 v10, v3, v4                   ; one answer in 512
wrong_kept:
	s_and_b32 vcc_lo, exec_lo, s16
	s_cbranch_vccnz wrong_end
	s_and_b32 vcc_lo, exec_lo, s17
	s_cbranch_vccz wrong_end
	s_and_b32 vcc_lo, exec_lo, s18
	s_cbranch_vccz wrong_end
	s_and_b32 vcc_lo, exec_lo, s19
	s_cbranch_vccnz wrong_end
	s_and_b32 vcc_lo, exec_lo, s20
	s_cbranch_vccz wrong_end
	s_and_b32 vcc_lo, exec_lo, s21
	s_cbranch_vccnz wrong_end
	s_and_b32 vcc_lo, exec_lo, s22
	s_cbranch_vccnz wrong_end
	s_and_b32 vcc_lo, exec_lo, s23
	s_cbranch_vccz wrong_end
	s_and_b32 vcc_lo, exec_lo, s24
	s_cbranch_vccz wrong_end
	global_store_b32 v[10:11], v3, off          ; where all answers are the same
wrong_end:
	s_setpc_b64 s[30:31]
.Lfunc_end_wrong:
	.size wrong, .Lfunc_end_wrong-wrong
	.type wrong,@function
;; expect
case.s:107:2: v_mul_f32_e32 leaves a float in v10; global_store_b32 v[10:11], v3, off (line 127) uses it as an address [CLB001 clobbered address; data flow]
    	v_mul_f32_e32 v10, v3, v4                   ; one answer in 512
    	^
  help: use a register other than v10 here, or restore the value
