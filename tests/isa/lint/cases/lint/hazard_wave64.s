; Of waves of 64 lanes alone. v10 comes from before EXEC changed and v11 from after: with 1 VALU instruction between
; them; with 3 it is none, nor 5 after, nor after a wait. Lane masks that are read, written and read again: by SALU and
; SALU, by VALU and VALU in VCC and in another pair; with each one's wait, and by VALU and SALU, there is none.
k:
	v_cmp_gt_u32_e64 s[4:5], 9, v0
	v_mov_b32_e32 v10, v0
	v_mov_b32_e32 v12, v0
	s_and_saveexec_b64 s[6:7], s[4:5]
	v_mov_b32_e32 v11, v0
	v_add_f32_e32 v12, v10, v11
	s_waitcnt_depctr depctr_va_vdst(0)
	v_mov_b32_e32 v10, v0
	v_mov_b32_e32 v13, v0
	v_mov_b32_e32 v12, v0
	s_or_b64 exec, exec, s[6:7]
	v_mov_b32_e32 v14, v0
	v_mov_b32_e32 v11, v0
	v_add_f32_e32 v15, v10, v11
	s_waitcnt_depctr depctr_va_vdst(0)
	v_mov_b32_e32 v10, v0
	s_mov_b64 exec, s[6:7]
	v_mov_b32_e32 v11, v0
	v_nop
	v_nop
	v_nop
	v_nop
	v_nop
	v_add_f32_e32 v16, v10, v11
	v_mov_b32_e32 v10, v0
	s_mov_b64 exec, s[6:7]
	v_mov_b32_e32 v11, v0
	s_waitcnt_depctr depctr_va_vdst(0)
	v_add_f32_e32 v17, v10, v11
	v_cndmask_b32_e64 v18, v0, v12, s[4:5]
	s_mov_b64 s[4:5], 0
	s_or_b64 s[8:9], s[4:5], s[6:7]
	v_cndmask_b32_e64 v18, v0, v18, s[8:9]
	s_mov_b64 s[8:9], 0
	s_waitcnt_depctr depctr_sa_sdst(0)
	s_or_b64 s[10:11], s[8:9], s[6:7]
	v_cmp_gt_u32_e32 vcc, 9, v0
	v_cndmask_b32_e32 v18, v0, v18, vcc
	v_cmp_gt_u32_e32 vcc, 9, v18
	v_cndmask_b32_e32 v18, v0, v18, vcc
	v_cmp_gt_u32_e32 vcc, 9, v18
	s_waitcnt_depctr depctr_va_vcc(0)
	v_cndmask_b32_e32 v18, v0, v18, vcc
	v_cmp_gt_u32_e32 vcc, 9, v18
	s_or_b64 s[12:13], vcc, s[10:11]
	v_cndmask_b32_e64 v18, v0, v18, s[12:13]
	v_cmp_gt_u32_e64 s[12:13], 9, v18
	v_cndmask_b32_e64 v18, v0, v18, s[12:13]
	v_cmp_gt_u32_e64 s[12:13], 9, v18
	s_waitcnt_depctr depctr_va_sdst(0)
	v_cndmask_b32_e64 v18, v0, v18, s[12:13]
	global_store_b128 v0, v[15:18], s[0:1]
	global_store_b128 v0, v[12:15], s[0:1] offset:16
	s_endpgm
	.section	.rodata
	.amdhsa_kernel k
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_count 2
		.amdhsa_next_free_vgpr 24
		.amdhsa_next_free_sgpr 16
		.amdhsa_reserve_vcc 1
		.amdhsa_wavefront_size32 0
	.end_amdhsa_kernel
;; expect
case.s:10:2: v_add_f32_e32 reads v10, written by v_mov_b32_e32 v10, v0 (line 6) before EXEC changed, and a later result [HAZ005 sources from both sides of an EXEC write; LLVM GCNHazardRecognizer.cpp, fixVALUPartialForwardingHazard]
    	v_add_f32_e32 v12, v10, v11
    	^
  expected: s_waitcnt_depctr depctr_va_vdst(0) before it
  help: compilers insert this; the assembler does not
note: case.s:10:2: v12 is never read [VAL003 value never read; data flow]
    	v_add_f32_e32 v12, v10, v11
    	^
  help: remove it, or check which instruction was meant to read it
case.s:36:2: s_or_b64 reads s[4:5], which was written after v_cndmask_b32_e64 v18, v0, v12, s[4:5] (line 34) had read it as a lane mask [HAZ006 lane mask overwritten and read; LLVM GCNHazardRecognizer.cpp, fixVALUMaskWriteHazard]
    	s_or_b64 s[8:9], s[4:5], s[6:7]
    	^
  expected: s_waitcnt_depctr depctr_sa_sdst(0), or depctr_va_vcc(0) or depctr_va_sdst(0) where VALU wrote it, before it
  help: compilers insert this; the assembler does not
case.s:44:2: v_cndmask_b32_e32 reads vcc_lo vcc_hi, which was written after v_cndmask_b32_e32 v18, v0, v18, vcc (line 42) had read it as a lane mask [HAZ006 lane mask overwritten and read; LLVM GCNHazardRecognizer.cpp, fixVALUMaskWriteHazard]
    	v_cndmask_b32_e32 v18, v0, v18, vcc
    	^
  expected: s_waitcnt_depctr depctr_sa_sdst(0), or depctr_va_vcc(0) or depctr_va_sdst(0) where VALU wrote it, before it
  help: compilers insert this; the assembler does not
case.s:52:2: v_cndmask_b32_e64 reads s[12:13], which was written after v_cndmask_b32_e64 v18, v0, v18, s[12:13] (line 50) had read it as a lane mask [HAZ006 lane mask overwritten and read; LLVM GCNHazardRecognizer.cpp, fixVALUMaskWriteHazard]
    	v_cndmask_b32_e64 v18, v0, v18, s[12:13]
    	^
  expected: s_waitcnt_depctr depctr_sa_sdst(0), or depctr_va_vcc(0) or depctr_va_sdst(0) where VALU wrote it, before it
  help: compilers insert this; the assembler does not
