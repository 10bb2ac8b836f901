; Where no lane is on, `right` counts EXEC's zeros to -1, and nobody sees what it reads; `wrong` is beyond in any wave.
right:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	s_mov_b32 s8, exec_lo
	v_cmpx_gt_u32_e32 8, v1
	s_ctz_i32_b32 s4, exec_lo
	v_readlane_b32 s5, v0, s4
	v_mov_b32_e32 v0, s5
	s_mov_b32 exec_lo, s8
	s_setpc_b64 s[30:31]
.Lfunc_end0:
wrong:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	s_mov_b32 s8, exec_lo
	v_cmpx_gt_u32_e32 8, v1
	s_movk_i32 s4, 33
	v_readlane_b32 s5, v0, s4
	v_mov_b32_e32 v0, s5
	s_mov_b32 exec_lo, s8
	s_setpc_b64 s[30:31]
.Lfunc_end1:
	.type	right,@function
	.type	wrong,@function
;; expect
case.s:17:25: lane 33 of a wave of 32: wraps to lane 1 [LANE001 lane beyond the wave; RDNA3 ISA guide 7.9 and 12 (DS_BPERMUTE_B32)]
    	v_readlane_b32 s5, v0, s4
    	                       ^
  expected: a lane from 0 to 31
  found: 33
  help: code for waves of 64 begins with steps of 32; in waves of 32 they are of 16
