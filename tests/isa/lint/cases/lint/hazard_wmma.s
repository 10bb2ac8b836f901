; A WMMA whose A, or B, is a part of the result of the one before. v_nop and unrelated VALU instructions are remedies, SALU
; is none; C needs none.
f:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]
	v_wmma_f32_16x16x16_f16 v[24:31], v[0:7], v[16:23], v[24:31]
	s_nop 7
	v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[26:33], v[0:7]
	v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]
	v_nop
	v_wmma_f32_16x16x16_f16 v[24:31], v[0:7], v[16:23], v[24:31]
	v_mov_b32_e32 v40, 0
	v_wmma_f32_16x16x16_f16 v[0:7], v[24:31], v[16:23], v[0:7]
	s_setpc_b64 s[30:31]
;; expect
case.s:6:2: v_wmma_f32_16x16x16_f16 reads v[0:7], which v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7] (line 5) may not have written yet [HAZ003 WMMA result read by the next WMMA; LLVM GCNHazardRecognizer.cpp, fixWMMAHazards]
    	v_wmma_f32_16x16x16_f16 v[24:31], v[0:7], v[16:23], v[24:31]
    	^
  expected: v_nop, or another VALU instruction, before it
  help: compilers insert this; the assembler does not
case.s:8:2: v_wmma_f32_16x16x16_f16 reads v[26:31], which v_wmma_f32_16x16x16_f16 v[24:31], v[0:7], v[16:23], v[24:31] (line 6) may not have written yet [HAZ003 WMMA result read by the next WMMA; LLVM GCNHazardRecognizer.cpp, fixWMMAHazards]
    	v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[26:33], v[0:7]
    	^
  expected: v_nop, or another VALU instruction, before it
  help: compilers insert this; the assembler does not
