; Registers that a lane finds as it left them, though others write them meanwhile or a path between would: `right`. The
; same with the one thing changed that makes the clobber real: `wrong`.
right:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	s_mov_b32 s6, 0
	s_cmp_lg_u32 s2, 0
	s_cselect_b32 s7, -1, 0
	v_lshlrev_b64 v[6:7], 2, v[0:1]
right_round:
	v_add_co_u32 v6, vcc_lo, v6, 4
	v_add_co_ci_u32_e32 v7, vcc_lo, 0, v7, vcc_lo
	v_cmp_gt_u32_e32 vcc_lo, 8, v2
	s_and_saveexec_b32 s8, vcc_lo
	s_xor_b32 s8, exec_lo, s8
	s_cbranch_execz right_else
	v_mul_f32_e32 v7, v3, v4                ; in the lanes of the if
	v_add_f32_e32 v9, v7, v3
	v_mov_b32_e32 v7, 0
right_else:
	s_and_not1_saveexec_b32 s8, s8
	s_cbranch_execz right_join
	global_load_b32 v9, v[6:7], off         ; in those of the else
	s_waitcnt vmcnt(0)
right_join:
	s_or_b32 exec_lo, exec_lo, s8
	v_cmp_eq_f32_e32 vcc_lo, v9, v3
	s_or_b32 s6, vcc_lo, s6
	s_and_not1_b32 exec_lo, exec_lo, s6
	s_cbranch_execnz right_round
	s_or_b32 exec_lo, exec_lo, s6
	v_lshlrev_b64 v[10:11], 2, v[0:1]
	s_and_b32 vcc_lo, exec_lo, s7
	s_cbranch_vccz right_float
	global_store_b32 v[10:11], v9, off      ; where s2 is not 0
	s_branch right_again
right_float:
	v_mul_f32_e32 v10, v3, v4               ; where it is
	v_mul_f32_e32 v9, v10, v3
right_again:
	s_and_not1_b32 vcc_lo, exec_lo, s7
	s_cbranch_vccnz right_done
	global_store_b32 v[10:11], v9, off offset:4
right_done:
	s_mov_b64 s[4:5], src_shared_base
	v_dual_mov_b32 v4, s5 :: v_dual_add_nc_u32 v3, 0x80, v1
	flat_load_b32 v5, v[3:4]
	v_add_nc_u32_e32 v3, 64, v1             ; the halves of a VOPD are two values: only the low one moves on
	flat_load_b32 v8, v[3:4]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	s_setpc_b64 s[30:31]
.Lfunc_end0:
wrong:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	s_cmp_lg_u32 s2, 0
	s_cselect_b32 s7, -1, 0
	v_lshlrev_b64 v[6:7], 2, v[0:1]
	v_cmp_gt_u32_e32 vcc_lo, 8, v2
	s_and_saveexec_b32 s8, vcc_lo
	s_cbranch_execz wrong_join
	v_mul_f32_e32 v7, v3, v4                ; the lanes of the if come back
	v_add_f32_e32 v9, v7, v3
wrong_join:
	s_or_b32 exec_lo, exec_lo, s8
	global_load_b32 v9, v[6:7], off
	v_lshlrev_b64 v[10:11], 2, v[0:1]
	s_and_b32 vcc_lo, exec_lo, s7
	s_cbranch_vccz wrong_float
	s_waitcnt vmcnt(0)
	global_store_b32 v[10:11], v9, off
	s_branch wrong_again
wrong_float:
	v_mul_f32_e32 v10, v3, v4
wrong_again:
	s_waitcnt vmcnt(0)
	s_and_b32 vcc_lo, exec_lo, s7           ; the question is the other way round
	s_cbranch_vccnz wrong_done
	global_store_b32 v[10:11], v9, off offset:4
wrong_done:
	global_load_b64 v[3:4], v[0:1], off
	s_waitcnt vmcnt(0)
	global_load_b32 v5, v[3:4], off
	v_add_nc_u32_e32 v3, 64, v1             ; a pointer that was loaded as one
	global_load_b32 v8, v[3:4], off
	s_waitcnt vmcnt(0)
	s_setpc_b64 s[30:31]
.Lfunc_end1:
	.type	right,@function
	.type	wrong,@function
;; expect
case.s:60:2: v_mul_f32_e32 leaves a float in v7; global_load_b32 v9, v[6:7], off (line 64) uses it as an address [CLB001 clobbered address; data flow]
    	v_mul_f32_e32 v7, v3, v4                ; the lanes of the if come back
    	^
  help: use a register other than v7 here, or restore the value
note: case.s:61:2: v9 is never read [VAL003 value never read; data flow]
    	v_add_f32_e32 v9, v7, v3
    	^
  help: remove it, or check which instruction was meant to read it
case.s:72:2: v_mul_f32_e32 leaves a float in v10; global_store_b32 v[10:11], v9, off offset:4 (line 77) uses it as an address [CLB001 clobbered address; data flow]
    	v_mul_f32_e32 v10, v3, v4
    	^
  help: use a register other than v10 here, or restore the value
case.s:82:2: global_load_b64 v[3:4], v[0:1], off (line 79) made v[3:4], and this overwrites v3 alone; global_load_b32 v8, v[3:4], off (line 83) uses v[3:4] as an address [CLB002 clobbered half of an address; data flow]
    	v_add_nc_u32_e32 v3, 64, v1             ; a pointer that was loaded as one
    	^
  help: use a register other than v3 here, or restore the value
