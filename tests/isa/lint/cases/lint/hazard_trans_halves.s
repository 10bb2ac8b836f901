; Halves of one register are results of their own: to fill v1.h keeps v1.l and does not read it, nor does an operation on
; v1.h. To read v1.l, or the whole register, does.
f:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	v_rcp_f16_e32 v1.l, v1.h
	v_rcp_f16_e32 v1.h, v2.l
	s_waitcnt_depctr depctr_va_vdst(0)
	v_rcp_f16_e32 v1.l, v3.l
	v_add_f16_e32 v1.h, v2.l, v1.h
	s_waitcnt_depctr depctr_va_vdst(0)
	v_rcp_f16_e32 v2.l, v3.h
	v_add_f16_e32 v4.h, v2.l, v1.h
	s_waitcnt_depctr depctr_va_vdst(0)
	v_rcp_f16_e32 v2.h, v3.h
	v_add_nc_u32_e32 v5, v2, v1
	global_store_b32 v[6:7], v4, off
	global_store_b32 v[6:7], v5, off
	s_setpc_b64 s[30:31]
;; expect
case.s:12:2: v_add_f16_e32 reads v2, which v_rcp_f16_e32 v2.l, v3.h (line 11) may not have written yet [HAZ001 transcendental result read too early; LLVM GCNHazardRecognizer.cpp, fixVALUTransUseHazard]
    	v_add_f16_e32 v4.h, v2.l, v1.h
    	^
  expected: s_waitcnt_depctr depctr_va_vdst(0) before it
  help: compilers insert this; the assembler does not
case.s:15:2: v_add_nc_u32_e32 reads v2, which v_rcp_f16_e32 v2.h, v3.h (line 14) may not have written yet [HAZ001 transcendental result read too early; LLVM GCNHazardRecognizer.cpp, fixVALUTransUseHazard]
    	v_add_nc_u32_e32 v5, v2, v1
    	^
  expected: s_waitcnt_depctr depctr_va_vdst(0) before it
  help: compilers insert this; the assembler does not
