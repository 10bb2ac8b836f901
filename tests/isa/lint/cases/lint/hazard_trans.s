; A transcendental result read by the VALU: at once; after 5 VALU instructions, not after 6; after 1 transcendental
; instruction, not after 2; by one half of a VOPD; on one of two paths; in the next round of a loop. One wait settles
; all reads after it. What brings the count of VALU results to 0 is a remedy: the wait, by name or as a number, LDS and
; vector memory; a wait for another number, or of another counter, is none.
f:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	v_rcp_f32_e32 v1, v0
	v_add_f32_e32 v2, v1, v1
	v_add_f32_e32 v2, v1, v2
	v_rcp_f64_e32 v[4:5], v[6:7]
	v_add_f32_e32 v2, v2, v2
	v_add_f32_e32 v2, v2, v2
	v_add_f32_e32 v2, v2, v2
	v_add_f32_e32 v2, v2, v2
	v_nop
	v_add_f32_e32 v2, v5, v2
	v_sqrt_f32_e32 v1, v0
	v_add_f32_e32 v2, v2, v2
	v_add_f32_e32 v2, v2, v2
	v_add_f32_e32 v2, v2, v2
	v_add_f32_e32 v2, v2, v2
	v_add_f32_e32 v2, v2, v2
	v_nop
	v_add_f32_e32 v2, v1, v2
	v_exp_f32_e32 v1, v0
	v_log_f32_e32 v3, v0
	v_add_f32_e32 v2, v1, v2
	v_exp_f32_e32 v1, v0
	v_sin_f32_e32 v3, v0
	v_cos_f32_e32 v8, v0
	v_add_f32_e32 v2, v1, v2
	v_rcp_f32_e32 v9, v0
	v_dual_mul_f32 v10, v2, v2 :: v_dual_mul_f32 v11, v9, v3
	v_rsq_f32_e32 v1, v0
	s_waitcnt_depctr depctr_va_vdst(0)
	v_add_f32_e32 v2, v1, v2
	v_rsq_f32_e32 v1, v0
	s_waitcnt_depctr 0xfff
	v_add_f32_e32 v2, v1, v2
	v_rsq_f32_e32 v1, v0
	ds_store_b32 v12, v2
	v_add_f32_e32 v2, v1, v2
	v_rsq_f32_e32 v1, v0
	s_waitcnt_depctr depctr_va_vdst(1)
	s_waitcnt_depctr depctr_sa_sdst(0)
	s_nop 7
	v_readfirstlane_b32 s6, v1
	v_rcp_f32_e32 v1, v0
	s_cmp_eq_u32 s6, 0
	s_cbranch_scc1 again
	ds_store_b32 v12, v1
again:
	v_add_f32_e32 v2, v1, v2
	v_rcp_f32_e32 v1, v2
	s_add_i32 s6, s6, -1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 again
	global_store_b32 v[14:15], v1, off
	global_store_b64 v[14:15], v[10:11], off
	s_waitcnt lgkmcnt(0)
	s_setpc_b64 s[30:31]
;; expect
case.s:8:2: v_add_f32_e32 reads v1, which v_rcp_f32_e32 v1, v0 (line 7) may not have written yet; 1 more with this cause [HAZ001 transcendental result read too early; LLVM GCNHazardRecognizer.cpp, fixVALUTransUseHazard]
    	v_add_f32_e32 v2, v1, v1
    	^
  expected: s_waitcnt_depctr depctr_va_vdst(0) before line 8 fixes all
  help: compilers insert this; the assembler does not
  also: line 9
case.s:16:2: v_add_f32_e32 reads v5, which v_rcp_f64_e32 v[4:5], v[6:7] (line 10) may not have written yet [HAZ001 transcendental result read too early; LLVM GCNHazardRecognizer.cpp, fixVALUTransUseHazard]
    	v_add_f32_e32 v2, v5, v2
    	^
  expected: s_waitcnt_depctr depctr_va_vdst(0) before it
  help: compilers insert this; the assembler does not
note: case.s:26:2: v3 is never read [VAL003 value never read; data flow]
    	v_log_f32_e32 v3, v0
    	^
  help: remove it, or check which instruction was meant to read it
case.s:27:2: v_add_f32_e32 reads v1, which v_exp_f32_e32 v1, v0 (line 25) may not have written yet [HAZ001 transcendental result read too early; LLVM GCNHazardRecognizer.cpp, fixVALUTransUseHazard]
    	v_add_f32_e32 v2, v1, v2
    	^
  expected: s_waitcnt_depctr depctr_va_vdst(0) before it
  help: compilers insert this; the assembler does not
case.s:33:2: v_dual_mul_f32 :: v_dual_mul_f32 reads v9, which v_rcp_f32_e32 v9, v0 (line 32) may not have written yet [HAZ001 transcendental result read too early; LLVM GCNHazardRecognizer.cpp, fixVALUTransUseHazard]
    	v_dual_mul_f32 v10, v2, v2 :: v_dual_mul_f32 v11, v9, v3
    	^
  expected: s_waitcnt_depctr depctr_va_vdst(0) before it
  help: compilers insert this; the assembler does not
case.s:47:2: v_readfirstlane_b32 reads v1, which v_rsq_f32_e32 v1, v0 (line 43) may not have written yet [HAZ001 transcendental result read too early; LLVM GCNHazardRecognizer.cpp, fixVALUTransUseHazard]
    	v_readfirstlane_b32 s6, v1
    	^
  expected: s_waitcnt_depctr depctr_va_vdst(0) before it
  help: compilers insert this; the assembler does not
case.s:53:2: v_add_f32_e32 reads v1, which v_rcp_f32_e32 v1, v0 (line 48) may not have written yet; 1 more with this cause [HAZ001 transcendental result read too early; LLVM GCNHazardRecognizer.cpp, fixVALUTransUseHazard]
    	v_add_f32_e32 v2, v1, v2
    	^
  expected: s_waitcnt_depctr depctr_va_vdst(0) before line 53 fixes all
  help: compilers insert this; the assembler does not
  also: line 53
