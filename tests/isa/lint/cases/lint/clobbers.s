; An address that is a float, through a move; half of a pointer; a lost sum, also in a loop; SCC; a carry; saved EXEC.
k:
	s_load_b128 s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	v_cvt_f32_u32_e32 v2, v0
	v_mul_f32_e32 v1, v2, v2
	v_mov_b32_e32 v3, v1
	s_waitcnt lgkmcnt(0)
	global_load_b32 v4, v3, s[4:5]
	s_lshl_b32 s4, s3, 2
	s_waitcnt vmcnt(0)
	global_load_b32 v5, v0, s[4:5]
	s_waitcnt vmcnt(0)
	v_mov_b32_e32 v6, 0
	v_fmac_f32_e32 v6, v4, v5
	v_mul_f32_e32 v6, v4, v4
	s_mov_b32 s2, 0
	v_mov_b32_e32 v7, 0
	v_mov_b32_e32 v8, 0
again:
	v_fmac_f32_e32 v7, v4, v5
	global_load_b32 v8, v0, s[6:7]
	s_waitcnt vmcnt(0)
	v_fmac_f32_e32 v8, v4, v5
	s_add_i32 s2, s2, 1
	s_cmp_lg_u32 s2, 8
	s_add_i32 s8, s2, s2
	s_cbranch_scc1 again
	s_add_u32 s6, s6, s8
	s_lshl_b32 s9, s8, 1
	s_addc_u32 s7, s7, s9
	v_cmp_gt_u32_e32 vcc_lo, 8, v0
	s_and_saveexec_b32 s10, vcc_lo
	s_mul_i32 s10, s8, s8
	v_add_f32_e32 v7, s10, v7
	s_or_b32 exec_lo, exec_lo, s10
	v_add_f32_e32 v6, v6, v7
	v_add_f32_e32 v6, v6, v8
	global_store_b32 v0, v6, s[6:7]
	s_endpgm
	.section	.rodata
	.amdhsa_kernel k
		.amdhsa_group_segment_fixed_size 16384
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_count 2
		.amdhsa_next_free_vgpr 24
		.amdhsa_next_free_sgpr 16
		.amdhsa_reserve_vcc 1
	.end_amdhsa_kernel
	.text
.Lfunc_end0:
	.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - .offset:         0
        .size:           8
        .value_kind:     global_buffer
    .group_segment_fixed_size: 16384
    .max_flat_workgroup_size: 128
    .name:           k
    .private_segment_fixed_size: 0
    .sgpr_count:     18
    .vgpr_count:     24
...
	.end_amdgpu_metadata
;; expect
note: case.s:4:2: v1 is never read [VAL003 value never read; data flow]
    	v_lshlrev_b32_e32 v1, 2, v0
    	^
  help: remove it, or check which instruction was meant to read it
case.s:6:2: v_mul_f32_e32 leaves a float in v1; global_load_b32 v4, v3, s[4:5] (line 9) uses it as an address [CLB001 clobbered address; data flow]
    	v_mul_f32_e32 v1, v2, v2
    	^
  help: use a register other than v1 here, or restore the value
case.s:10:2: s_load_b128 s[4:7], s[0:1], 0x0 (line 3) made s[4:5], and this overwrites s4 alone; global_load_b32 v5, v0, s[4:5] (line 12) uses s[4:5] as an address [CLB002 clobbered half of an address; data flow]
    	s_lshl_b32 s4, s3, 2
    	^
  help: use a register other than s4 here, or restore the value
case.s:10:2: s_lshl_b32 reads s3, which nothing has written [VAL001 uninitialized register read; LLVM AMDGPUUsage, Initial Kernel Execution State]
    	s_lshl_b32 s4, s3, 2
    	^
  help: write it first
note: case.s:11:2: no instruction needs what vmcnt(0) waits for [WAIT004 redundant wait; RDNA3 ISA guide 5.6]
    	s_waitcnt vmcnt(0)
    	^
  help: leave it out
note: case.s:15:2: v6 is never read [VAL003 value never read; data flow]
    	v_fmac_f32_e32 v6, v4, v5
    	^
  help: remove it, or check which instruction was meant to read it
case.s:16:2: v_mul_f32_e32 overwrites v6, the sum of v_fmac_f32_e32 v6, v4, v5 (line 15), before anything reads the sum [CLB003 clobbered sum; data flow]
    	v_mul_f32_e32 v6, v4, v4
    	^
  help: use a register other than v6 for one of the two
note: case.s:19:2: v8 is never read [VAL003 value never read; data flow]
    	v_mov_b32_e32 v8, 0
    	^
  help: remove it, or check which instruction was meant to read it
case.s:22:2: global_load_b32 overwrites v8, the sum of v_fmac_f32_e32 v8, v4, v5 (line 24), before anything in the loop reads the sum [CLB003 clobbered sum; data flow]
    	global_load_b32 v8, v0, s[6:7]
    	^
  help: use a register other than v8 for one of the two
note: case.s:26:2: src_scc is never read [VAL003 value never read; data flow]
    	s_cmp_lg_u32 s2, 8
    	^
  help: remove it, or check which instruction was meant to read it
case.s:27:2: nothing has read the result of s_cmp_lg_u32 s2, 8 (line 26), and this overwrites src_scc; s_cbranch_scc1 again (line 28) reads it [CLB004 clobbered comparison; data flow]
    	s_add_i32 s8, s2, s2
    	^
  help: move it out from between the two, or use an instruction that does not write src_scc
case.s:30:2: nothing has read src_scc of s_add_u32 s6, s6, s8 (line 29), and this overwrites src_scc; s_addc_u32 s7, s7, s9 (line 31) adds it as a carry [CLB005 clobbered carry; data flow]
    	s_lshl_b32 s9, s8, 1
    	^
  help: move it out from between the two, or use an instruction that does not write src_scc
case.s:34:2: nothing has read s10 of s_and_saveexec_b32 s10, vcc_lo (line 33), and this overwrites s10; s_or_b32 exec_lo, exec_lo, s10 (line 36) restores EXEC from it [CLB006 clobbered EXEC; data flow]
    	s_mul_i32 s10, s8, s8
    	^
  help: use a register other than s10 here, or restore the value
