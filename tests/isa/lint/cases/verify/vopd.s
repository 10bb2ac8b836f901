; Each line breaks one rule of dual issue, or two.
k:
	v_dual_fmac_f32 v1, v2, v4 :: v_dual_fmac_f32 v0, v6, v5
	v_dual_mul_f32 v1, v2, v3 :: v_dual_mul_f32 v0, v1, v7
	v_dual_mul_f32 v1, v2, v3 :: v_dual_mul_f32 v5, v1, v4
	v_dual_add_nc_u32 v1, v2, v3 :: v_dual_mul_f32 v0, v1, v4
	v_dual_mul_f32 v1, s1, v3 :: v_dual_fmaak_f32 v0, s2, v4, 0x42280000
	v_dual_mul_f32 v1, 0x42280000, v3 :: v_dual_mul_f32 v0, 0x42290000, v4
	v_dual_mul_f32 v1, v2, s3 :: v_dual_mul_f32 v0, v1, v4
	s_endpgm
	.section	.rodata
	.amdhsa_kernel k
		.amdhsa_group_segment_fixed_size 1024
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 8
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
    .name:           k
    .private_segment_fixed_size: 0
    .sgpr_count:     10
    .vgpr_count:     8
...
	.end_amdgpu_metadata
;; expect
case.s:3:2: X and Y read src0 from one bank [VOPD002 VOPD source banks; RDNA3 ISA guide 7.6]
    	v_dual_fmac_f32 v1, v2, v4 :: v_dual_fmac_f32 v0, v6, v5
    	^
  expected: registers with different numbers mod 4
  found: v2 and v6, both bank 2
  help: swap src0 and src1 of one half where that helps, or rename a register
case.s:4:2: X and Y read src1 from one bank [VOPD002 VOPD source banks; RDNA3 ISA guide 7.6]
    	v_dual_mul_f32 v1, v2, v3 :: v_dual_mul_f32 v0, v1, v7
    	^
  expected: registers with different numbers mod 4
  found: v3 and v7, both bank 3
  help: swap src0 and src1 of one half where that helps, or rename a register
case.s:5:2: the destinations of X and Y must be one even, one odd [VOPD004 VOPD destinations; RDNA3 ISA guide 7.6]
    	v_dual_mul_f32 v1, v2, v3 :: v_dual_mul_f32 v5, v1, v4
    	^
  found: v1 and v5
  help: rename a register
case.s:6:2: v_add_nc_u32 cannot be the X half of a VOPD [VOPD001 VOPD opcodes; RDNA3 ISA guide 7.6]
    	v_dual_add_nc_u32 v1, v2, v3 :: v_dual_mul_f32 v0, v1, v4
    	^
  help: write the halves as two instructions
case.s:7:2: a VOPD reads at most 2 scalar values [VOPD005 VOPD scalar sources; RDNA3 ISA guide 7.6; LLVM GCNVOPDUtils.cpp]
    	v_dual_mul_f32 v1, s1, v3 :: v_dual_fmaak_f32 v0, s2, v4, 0x42280000
    	^
  found: s1, s2, 0x42280000
  help: write the halves as two instructions
case.s:8:2: the halves of a VOPD share one literal [VOPD005 VOPD scalar sources; RDNA3 ISA guide 7.6; LLVM GCNVOPDUtils.cpp]
    	v_dual_mul_f32 v1, 0x42280000, v3 :: v_dual_mul_f32 v0, 0x42290000, v4
    	^
  found: 2 literals
  help: write the halves as two instructions
case.s:9:25: src1 of a VOPD is a VGPR [VOPD003 VOPD sources; RDNA3 ISA guide 7.6]
    	v_dual_mul_f32 v1, v2, s3 :: v_dual_mul_f32 v0, v1, v4
    	                       ^
  expected: a VGPR
  found: s3
