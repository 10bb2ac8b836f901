; An accumulator nobody cleared, a register nobody wrote, one that one path leaves out, a dead value, dead code.
k:
	v_mov_b32_e32 v9, 0
	s_mov_b32 s2, 0
again:
	v_fmac_f32_e32 v1, v0, v0
	s_add_i32 s2, s2, 1
	s_cmp_lg_u32 s2, 8
	s_cbranch_scc1 again
	v_add_f32_e32 v1, v7, v1
	s_cmp_lg_u32 s0, 0
	s_cbranch_scc1 skip
	v_mov_b32_e32 v2, 0
skip:
	v_add_f32_e32 v1, v1, v2
	v_mad_u64_u32 v[4:5], null, v0, v0, v[0:1]
	v_lshlrev_b32_e32 v4, 2, v4
	global_store_b32 v4, v1, s[0:1]
	s_branch end
	s_nop 0
end:
	s_endpgm
	.section	.rodata
	.amdhsa_kernel k
		.amdhsa_group_segment_fixed_size 1024
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_count 2
		.amdhsa_next_free_vgpr 16
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
    .group_segment_fixed_size: 1024
    .max_flat_workgroup_size: 128
    .name:           k
    .private_segment_fixed_size: 0
    .sgpr_count:     18
    .vgpr_count:     16
...
	.end_amdgpu_metadata
;; expect
note: case.s:3:2: v9 is never read [VAL003 value never read; data flow]
    	v_mov_b32_e32 v9, 0
    	^
  help: remove it, or check which instruction was meant to read it
case.s:6:2: v_fmac_f32_e32 reads v1, which nothing has written in the first iteration [VAL001 uninitialized register read; LLVM AMDGPUUsage, Initial Kernel Execution State]
    	v_fmac_f32_e32 v1, v0, v0
    	^
  help: write it first
case.s:10:2: v_add_f32_e32 reads v7, which nothing has written [VAL001 uninitialized register read; LLVM AMDGPUUsage, Initial Kernel Execution State]
    	v_add_f32_e32 v1, v7, v1
    	^
  help: write it first
note: case.s:15:2: v_add_f32_e32 reads v2, which nothing has written on some path [VAL002 register uninitialized on some path; LLVM AMDGPUUsage, Initial Kernel Execution State]
    	v_add_f32_e32 v1, v1, v2
    	^
  help: ignore this if that path is never taken
note: case.s:20:2: no path from the entry leads here (1 instruction) [VAL004 unreachable code; control flow]
    	s_nop 0
    	^
  help: remove it, or branch to it
