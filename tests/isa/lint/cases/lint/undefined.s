; Registers that nobody has written, as compilers leave them where the value does not matter: `right`. Where it does:
; `wrong`, line for line.
right:
	s_load_b64 s[4:5], s[0:1], 0x0
	v_mad_u64_u32 v[2:3], null, s2, 3, v[0:1]       ; v1: only v2 is read of the result,
	v_dual_mov_b32 v8, v2 :: v_dual_mov_b32 v9, v3  ; the high half is copied and goes nowhere
	v_mov_b32_e32 v30, v0
	v_mad_u64_u32 v[26:27], null, s2, 5, v[30:31]
	scratch_store_b64 off, v[26:27], off            ; spilled as a pair
	scratch_store_b128 off, v[2:5], off offset:32   ; a value of eight registers, of which two are written,
	scratch_store_b128 off, v[36:39], off offset:48 ; takes two stores
	v_lshlrev_b64 v[10:11], 2, v[8:9]
	s_mov_b32 s6, 0
	s_mov_b32 s22, 0
	s_waitcnt lgkmcnt(0)
next_round:
	v_cmp_eq_u32_e32 vcc_lo, s6, v0
	v_cndmask_b32_e32 v20, v20, v2, vcc_lo          ; one of many rounds chooses v2
	scratch_store_b32 off, v19, off offset:16       ; what the round before left
	v_add_nc_u32_e32 v19, s6, v2
	v_add_f32_e32 v17, v16, v2                      ; a sum that begins with its first term
	v_cndmask_b32_e32 v16, v17, v2, vcc_lo
	v_cmp_ngt_f32_e64 s20, v2, v28                  ; asked in vain as long as there is no best,
	s_and_b32 s20, s22, s20                         ; as s22 says
	v_cndmask_b32_e64 v28, v2, v28, s20
	s_mov_b32 s22, -1
	s_or_b32 s17, s17, exec_lo                        ; sets the lanes that are on, keeps the others
	s_and_not1_b32 s18, s19, exec_lo                  ; takes the lanes that are off
	s_mov_b32 s19, s18
	s_add_i32 s6, s6, 1
	s_cmp_lg_u32 s6, 32
	s_cbranch_scc1 next_round
	v_cndmask_b32_e64 v21, v20, v10, s17
	v_cndmask_b32_e64 v22, v20, v10, s19
	v_mov_b32_e32 v12, v2
	v_permlanex16_b32 v40, v2, s2, s2 op_sel:[1,0]  ; lanes that are off are fetched,
	v_permlane16_b32 v41, v2, s2, s2 op_sel:[0,1]   ; or give 0: nothing of v40 and v41 is left
	v_dual_add_f32 v12, v40, v12 :: v_dual_mov_b32 v22, v41
	global_store_b64 v0, v[12:13], s[4:5]           ; a structure with four bytes of padding
	global_store_b128 v0, v[20:23], s[4:5] offset:64
	s_endpgm
.Lfunc_end0:
wrong:
	s_load_b64 s[4:5], s[0:1], 0x0
	v_mad_u64_u32 v[2:3], null, s2, 3, v[0:1]
	v_dual_mov_b32 v8, v2 :: v_dual_mov_b32 v9, v3
	v_mov_b32_e32 v30, v0
	v_mad_u64_u32 v[26:27], null, s2, 5, v[30:31]
	scratch_store_b32 off, v27, off                 ; the high half alone
	v_lshlrev_b64 v[10:11], 2, v[8:9]
	s_mov_b32 s6, 0
	s_mov_b32 s22, 1
	s_waitcnt lgkmcnt(0)
	global_store_b64 v0, v[36:37], s[4:5]           ; which is no spill
wrong_round:
	v_cmp_eq_u32_e32 vcc_lo, s6, v0
	v_cndmask_b32_e32 v20, v19, v2, vcc_lo          ; in no round anybody writes v19
	scratch_store_b32 off, v17, off offset:16       ; no round leaves anything
	v_add_f32_e32 v18, v18, v2                      ; a sum that nobody cleared
	v_add_f32_e32 v15, v14, v2                      ; the sum is stored, too
	v_cndmask_b32_e32 v14, v15, v2, vcc_lo
	global_store_b32 v0, v15, s[4:5]
	v_add_f32_e32 v25, v25, v2
	v_cmp_ngt_f32_e64 s20, v2, v28
	s_and_b32 s20, s22, s20                         ; s22 is not 0 at first
	v_cndmask_b32_e64 v28, v2, v28, s20
	s_mov_b32 s22, -1
	s_or_b32 s17, s17, s21
	s_and_not1_b32 s18, s19, s17
	s_mov_b32 s19, s18
	s_add_i32 s6, s6, 1
	s_cmp_lg_u32 s6, 32
	s_cbranch_scc1 wrong_round
	v_cndmask_b32_e64 v23, v2, v25, s17             ; chosen from, yet summed over all rounds
	v_add_nc_u32_e32 v11, v11, v20                  ; so v1 matters
	v_cndmask_b32_e64 v22, v20, v10, s19
	global_store_b64 v0, v[12:13], s[4:5]           ; neither half
	global_store_b128 v0, v[20:23], s[4:5] offset:64
	global_store_b64 v0, v[10:11], s[4:5]
	global_store_b32 v0, v18, s[4:5]
	v_permlanex16_b32 v40, v2, s2, s2
	global_store_b32 v0, v40, s[4:5]
	s_endpgm
.Lfunc_end1:
	.section	.rodata
	.amdhsa_kernel right
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_count 15
		.amdhsa_next_free_vgpr 24
		.amdhsa_next_free_sgpr 24
	.end_amdhsa_kernel
	.amdhsa_kernel wrong
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_count 15
		.amdhsa_next_free_vgpr 24
		.amdhsa_next_free_sgpr 24
	.end_amdhsa_kernel
	.text
;; expect
note: case.s:18:2: v_cndmask_b32_e32 reads v20, which nothing has written on some path [VAL002 register uninitialized on some path; LLVM AMDGPUUsage, Initial Kernel Execution State]
    	v_cndmask_b32_e32 v20, v20, v2, vcc_lo          ; one of many rounds chooses v2
    	^
  help: ignore this if that path is never taken
note: case.s:19:2: scratch_store_b32 reads v19, which nothing has written on some path [VAL002 register uninitialized on some path; LLVM AMDGPUUsage, Initial Kernel Execution State]
    	scratch_store_b32 off, v19, off offset:16       ; what the round before left
    	^
  help: ignore this if that path is never taken
note: case.s:25:2: v_cndmask_b32_e64 reads v28, which nothing has written on some path [VAL002 register uninitialized on some path; LLVM AMDGPUUsage, Initial Kernel Execution State]
    	v_cndmask_b32_e64 v28, v2, v28, s20
    	^
  help: ignore this if that path is never taken
note: case.s:34:2: v22 is never read [VAL003 value never read; data flow]
    	v_cndmask_b32_e64 v22, v20, v10, s19
    	^
  help: remove it, or check which instruction was meant to read it
case.s:38:2: the destinations of X and Y must be one even, one odd [VOPD004 VOPD destinations; RDNA3 ISA guide 7.6]
    	v_dual_add_f32 v12, v40, v12 :: v_dual_mov_b32 v22, v41
    	^
  found: v12 and v22
  help: rename a register
case.s:89:3: the code uses 42 VGPRs, the descriptor gives 24 [CNT001 counts; LLVM AMDGPUUsage, Code Object Kernel Descriptor]
    		.amdhsa_next_free_vgpr 24
    		^
  expected: .amdhsa_next_free_vgpr 42 or more
  found: 24
  help: set directive and metadata together; passes do it with isa.asm.emit.set_directives
case.s:45:2: v_mad_u64_u32 reads v1, which nothing has written [VAL001 uninitialized register read; LLVM AMDGPUUsage, Initial Kernel Execution State]
    	v_mad_u64_u32 v[2:3], null, s2, 3, v[0:1]
    	^
  help: write it first
case.s:48:2: v_mad_u64_u32 reads v31, which nothing has written [VAL001 uninitialized register read; LLVM AMDGPUUsage, Initial Kernel Execution State]
    	v_mad_u64_u32 v[26:27], null, s2, 5, v[30:31]
    	^
  help: write it first
case.s:54:2: global_store_b64 reads v36, which nothing has written [VAL001 uninitialized register read; LLVM AMDGPUUsage, Initial Kernel Execution State]
    	global_store_b64 v0, v[36:37], s[4:5]           ; which is no spill
    	^
  help: write it first
case.s:54:2: global_store_b64 reads v37, which nothing has written [VAL001 uninitialized register read; LLVM AMDGPUUsage, Initial Kernel Execution State]
    	global_store_b64 v0, v[36:37], s[4:5]           ; which is no spill
    	^
  help: write it first
case.s:57:2: v_cndmask_b32_e32 reads v19, which nothing has written [VAL001 uninitialized register read; LLVM AMDGPUUsage, Initial Kernel Execution State]
    	v_cndmask_b32_e32 v20, v19, v2, vcc_lo          ; in no round anybody writes v19
    	^
  help: write it first
case.s:58:2: scratch_store_b32 reads v17, which nothing has written [VAL001 uninitialized register read; LLVM AMDGPUUsage, Initial Kernel Execution State]
    	scratch_store_b32 off, v17, off offset:16       ; no round leaves anything
    	^
  help: write it first
case.s:59:2: v_add_f32_e32 reads v18, which nothing has written in the first iteration [VAL001 uninitialized register read; LLVM AMDGPUUsage, Initial Kernel Execution State]
    	v_add_f32_e32 v18, v18, v2                      ; a sum that nobody cleared
    	^
  help: write it first
case.s:60:2: v_add_f32_e32 reads v14, which nothing has written in the first iteration [VAL001 uninitialized register read; LLVM AMDGPUUsage, Initial Kernel Execution State]
    	v_add_f32_e32 v15, v14, v2                      ; the sum is stored, too
    	^
  help: write it first
case.s:63:2: v_add_f32_e32 reads v25, which nothing has written in the first iteration [VAL001 uninitialized register read; LLVM AMDGPUUsage, Initial Kernel Execution State]
    	v_add_f32_e32 v25, v25, v2
    	^
  help: write it first
case.s:64:2: v_cmp_ngt_f32_e64 reads v28, which nothing has written in the first iteration [VAL001 uninitialized register read; LLVM AMDGPUUsage, Initial Kernel Execution State]
    	v_cmp_ngt_f32_e64 s20, v2, v28
    	^
  help: write it first
note: case.s:66:2: v_cndmask_b32_e64 reads v28, which nothing has written on some path [VAL002 register uninitialized on some path; LLVM AMDGPUUsage, Initial Kernel Execution State]
    	v_cndmask_b32_e64 v28, v2, v28, s20
    	^
  help: ignore this if that path is never taken
case.s:68:2: s_or_b32 reads s17, which nothing has written in the first iteration [VAL001 uninitialized register read; LLVM AMDGPUUsage, Initial Kernel Execution State]
    	s_or_b32 s17, s17, s21
    	^
  help: write it first
case.s:68:2: s_or_b32 reads s21, which nothing has written [VAL001 uninitialized register read; LLVM AMDGPUUsage, Initial Kernel Execution State]
    	s_or_b32 s17, s17, s21
    	^
  help: write it first
case.s:69:2: s_and_not1_b32 reads s19, which nothing has written in the first iteration [VAL001 uninitialized register read; LLVM AMDGPUUsage, Initial Kernel Execution State]
    	s_and_not1_b32 s18, s19, s17
    	^
  help: write it first
case.s:77:2: global_store_b64 reads v12, which nothing has written [VAL001 uninitialized register read; LLVM AMDGPUUsage, Initial Kernel Execution State]
    	global_store_b64 v0, v[12:13], s[4:5]           ; neither half
    	^
  help: write it first
case.s:77:2: global_store_b64 reads v13, which nothing has written [VAL001 uninitialized register read; LLVM AMDGPUUsage, Initial Kernel Execution State]
    	global_store_b64 v0, v[12:13], s[4:5]           ; neither half
    	^
  help: write it first
case.s:81:2: v_permlanex16_b32 reads v40, which nothing has written [VAL001 uninitialized register read; LLVM AMDGPUUsage, Initial Kernel Execution State]
    	v_permlanex16_b32 v40, v2, s2, s2
    	^
  help: write it first
case.s:95:3: the code uses 41 VGPRs, the descriptor gives 24 [CNT001 counts; LLVM AMDGPUUsage, Code Object Kernel Descriptor]
    		.amdhsa_next_free_vgpr 24
    		^
  expected: .amdhsa_next_free_vgpr 41 or more
  found: 24
  help: set directive and metadata together; passes do it with isa.asm.emit.set_directives
