; Lanes of a wave of 64, named in a wave of 32.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
f:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	v_readlane_b32 s4, v0, 63
	v_readlane_b32 s5, v0, 31
	v_writelane_b32 v1, s4, 32
	v_writelane_b32 v1, s5, 0
	v_permlane64_b32 v0, v1
	v_permlanex16_b32 v0, v1, 0, 0
	s_setpc_b64 s[30:31]
;; expect
case.s:5:25: lane 63 of a wave of 32: wraps to lane 31 [LANE001 lane beyond the wave; RDNA3 ISA guide 7.9 and 12 (DS_BPERMUTE_B32)]
    	v_readlane_b32 s4, v0, 63
    	                       ^
  expected: a lane from 0 to 31
  found: 63
case.s:7:26: lane 32 of a wave of 32: wraps to lane 0 [LANE001 lane beyond the wave; RDNA3 ISA guide 7.9 and 12 (DS_BPERMUTE_B32)]
    	v_writelane_b32 v1, s4, 32
    	                        ^
  expected: a lane from 0 to 31
  found: 32
case.s:9:2: v_permlane64_b32 does nothing in a wave of 32 [LANE001 lane beyond the wave; RDNA3 ISA guide 7.9 and 12 (DS_BPERMUTE_B32)]
    	v_permlane64_b32 v0, v1
    	^
  expected: code for waves of 32, or wave64
