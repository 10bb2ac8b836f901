; A clause with a stranger in it, one that goes beyond its block, a delay for a dependence that is not there.
k:
	v_mov_b32_e32 v1, 0
	v_mov_b32_e32 v2, 0
	s_clause 0x2
	global_load_b32 v3, v1, s[0:1]
	global_load_b32 v4, v1, s[0:1] offset:4
	global_store_b32 v1, v2, s[0:1]
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v3, v3, v4
	v_mov_b32_e32 v5, 0
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_3)
	v_add_f32_e32 v3, v3, v3
	v_add_f32_e32 v3, v3, v5
	global_store_b32 v1, v3, s[0:1]
	s_clause 0x1
	global_store_b32 v1, v3, s[0:1]
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
case.s:5:2: instruction 3 of the clause is global_store_b32 [HINT001 s_clause; RDNA3 ISA guide 5.3; LLVM SIInsertHardClauses.cpp]
    	s_clause 0x2
    	^
  expected: 3 instructions of one kind (vmem load)
  found: vmem store
  help: s_clause 0x1
note: case.s:12:14: instid0(VALU_DEP_1): v_add_f32_e32 v3, v3, v3 does not depend on v_mov_b32_e32 v5, 0 [HINT002 s_delay_alu; RDNA3 ISA guide 16.5; LLVM AMDGPUInsertDelayAlu.cpp]
    	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_3)
    	            ^
  help: leave it out, or correct the distance: it only costs time
case.s:16:2: instruction 2 of the clause is s_endpgm [HINT001 s_clause; RDNA3 ISA guide 5.3; LLVM SIInsertHardClauses.cpp]
    	s_clause 0x1
    	^
  expected: 2 instructions of one kind (vmem store)
  found: internal
  help: leave s_clause out
