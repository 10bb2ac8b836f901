; v_readfirstlane_b32 reads a lane that is on: what the others hold is no matter to `right`, whose if has set v2 in all
; of its lanes. In `wrong` the lanes that left a float there have come back.
right:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	v_mul_f32_e32 v2, v0, v0
	global_store_b32 v[4:5], v2, off
	v_cmp_gt_u32_e32 vcc_lo, 8, v1
	s_and_saveexec_b32 s8, vcc_lo
	s_cbranch_execz right_join
	v_mov_b32_e32 v2, 60
	v_readfirstlane_b32 s9, v2
	scratch_load_b32 v3, off, s9
	s_waitcnt vmcnt(0)
	global_store_b32 v[4:5], v3, off offset:4
right_join:
	s_or_b32 exec_lo, exec_lo, s8
	s_setpc_b64 s[30:31]
.Lfunc_end0:
wrong:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	v_mov_b32_e32 v2, 60
	v_cmp_gt_u32_e32 vcc_lo, 8, v1
	s_and_saveexec_b32 s8, vcc_lo
	s_cbranch_execz wrong_join
	v_mul_f32_e32 v2, v0, v0
	global_store_b32 v[4:5], v2, off
wrong_join:
	s_or_b32 exec_lo, exec_lo, s8
	v_readfirstlane_b32 s9, v2
	scratch_load_b32 v3, off, s9
	s_waitcnt vmcnt(0)
	global_store_b32 v[4:5], v3, off offset:4
	s_setpc_b64 s[30:31]
.Lfunc_end1:
	.type	right,@function
	.type	wrong,@function
;; expect
case.s:25:2: v_mul_f32_e32 leaves a float in v2; scratch_load_b32 v3, off, s9 (line 30) uses it as an address [CLB001 clobbered address; data flow]
    	v_mul_f32_e32 v2, v0, v0
    	^
  help: use a register other than v2 here, or restore the value
