; v_permlane after v_cmpx, on each of two paths; v_nop, LDS and SALU are no remedy, another VALU instruction is, and
; EXEC written by SALU needs none.
f:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	v_cmpx_gt_u32_e32 16, v0
	v_permlane16_b32 v1, v0, s4, s5
	v_cmpx_gt_u32_e32 8, v0
	v_nop
	ds_store_b32 v2, v1
	s_mov_b32 s6, 0
	v_permlanex16_b32 v1, v0, s4, s5
	v_cmpx_gt_u32_e32 4, v0
	v_mov_b32_e32 v0, v0
	v_permlane64_b32 v1, v0
	s_mov_b32 exec_lo, 0xff
	v_permlane16_b32 v1, v0, s4, s5
	s_cmp_eq_u32 s6, 0
	v_cmpx_gt_u32_e32 2, v0
	s_cbranch_scc1 out
	v_mov_b32_e32 v0, v0
out:
	v_permlane16_b32 v1, v0, s4, s5
	ds_store_b32 v2, v1
	s_waitcnt lgkmcnt(0)
	s_setpc_b64 s[30:31]
;; expect
case.s:6:2: v_permlane16_b32 may use the EXEC from before v_cmpx_gt_u32_e32 16, v0 (line 5) [HAZ002 v_permlane after v_cmpx; LLVM GCNHazardRecognizer.cpp, fixVcmpxPermlaneHazards]
    	v_permlane16_b32 v1, v0, s4, s5
    	^
  expected: a VALU instruction other than v_nop before it
  help: compilers insert this; the assembler does not
case.s:11:2: v_permlanex16_b32 may use the EXEC from before v_cmpx_gt_u32_e32 8, v0 (line 7) [HAZ002 v_permlane after v_cmpx; LLVM GCNHazardRecognizer.cpp, fixVcmpxPermlaneHazards]
    	v_permlanex16_b32 v1, v0, s4, s5
    	^
  expected: a VALU instruction other than v_nop before it
  help: compilers insert this; the assembler does not
case.s:14:2: v_permlane64_b32 does nothing in a wave of 32 [LANE001 lane beyond the wave; RDNA3 ISA guide 7.9 and 12 (DS_BPERMUTE_B32)]
    	v_permlane64_b32 v1, v0
    	^
  expected: code for waves of 32, or wave64
case.s:22:2: v_permlane16_b32 may use the EXEC from before v_cmpx_gt_u32_e32 2, v0 (line 18) [HAZ002 v_permlane after v_cmpx; LLVM GCNHazardRecognizer.cpp, fixVcmpxPermlaneHazards]
    	v_permlane16_b32 v1, v0, s4, s5
    	^
  expected: a VALU instruction other than v_nop before it
  help: compilers insert this; the assembler does not
