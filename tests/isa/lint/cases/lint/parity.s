; The pair whose first sources are both odd: legal for the assembler.
k:
	v_mov_b32_e32 v1, v0
	v_mov_b32_e32 v3, v0
	v_dual_mul_f32 v4, v1, v0 :: v_dual_mul_f32 v5, v3, v1
	global_store_b64 v0, v[4:5], s[0:1]
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
note: case.s:5:2: src0 of X and Y are both odd, and a VALU write of v1 may be in flight: GFX11 can read the old value [VOPD006 VOPD source parity; LLVM pull request 220348, GFX11]
    	v_dual_mul_f32 v4, v1, v0 :: v_dual_mul_f32 v5, v3, v1
    	^
  expected: one even, one odd; or s_waitcnt_depctr depctr_va_vdst(0) before it
  found: v1 and v3
  help: split the pair into two instructions, as LLVM does since pull request 220348, or rename a register
