; Calls that cannot be followed: a pointer from memory, a symbol of another file, one of two functions.
first:
	s_setpc_b64 s[30:31]
.Lfunc_end1:
k:
	s_load_b64 s[4:5], s[0:1], 0x0
	s_waitcnt lgkmcnt(0)
	s_swappc_b64 s[30:31], s[4:5]
	s_getpc_b64 s[2:3]
	s_add_u32 s2, s2, elsewhere@rel32@lo+4
	s_addc_u32 s3, s3, elsewhere@rel32@hi+12
	s_swappc_b64 s[30:31], s[2:3]
	s_getpc_b64 s[2:3]
	s_add_u32 s2, s2, first@rel32@lo+4
	s_addc_u32 s3, s3, first@rel32@hi+12
	s_cmp_lg_u32 s0, 0
	s_cbranch_scc1 other
	s_getpc_b64 s[2:3]
	s_add_u32 s2, s2, second@rel32@lo+4
	s_addc_u32 s3, s3, second@rel32@hi+12
other:
	s_swappc_b64 s[30:31], s[2:3]
	s_call_b64 s[30:31], first
	s_endpgm
.Lfunc_end0:
	.section	.rodata
	.amdhsa_kernel k
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_count 2
		.amdhsa_next_free_vgpr 16
		.amdhsa_next_free_sgpr 40
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
    .group_segment_fixed_size: 0
    .max_flat_workgroup_size: 128
    .name:           k
    .private_segment_fixed_size: 0
    .sgpr_count:     42
    .vgpr_count:     16
...
	.end_amdgpu_metadata
;; expect
note: case.s:8:2: what this calls was not checked: the address is not known here [CALL004 call not followed; limits of this check]
    	s_swappc_b64 s[30:31], s[4:5]
    	^
  help: check the function separately: a file without a kernel is taken to be a function
note: case.s:12:2: what this calls was not checked: elsewhere is not in this file [CALL004 call not followed; limits of this check]
    	s_swappc_b64 s[30:31], s[2:3]
    	^
  help: check the function separately: a file without a kernel is taken to be a function
note: case.s:22:2: what this calls was not checked: the address is not known here [CALL004 call not followed; limits of this check]
    	s_swappc_b64 s[30:31], s[2:3]
    	^
  help: check the function separately: a file without a kernel is taken to be a function
