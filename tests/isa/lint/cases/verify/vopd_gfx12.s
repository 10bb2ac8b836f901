; RDNA4 allows two moves to read one bank, and both halves to read one VGPR; else the rules are the same.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1201"
k:
	v_dual_mov_b32 v3, v0 :: v_dual_mov_b32 v0, v4
	v_dual_mul_f32 v1, v2, v3 :: v_dual_mul_f32 v0, v2, v4
	v_dual_mov_b32 v1, v2 :: v_dual_mul_f32 v0, v6, v4
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
case.s:6:2: X and Y read src0 from one bank [VOPD002 VOPD source banks; RDNA3 ISA guide 7.6]
    	v_dual_mov_b32 v1, v2 :: v_dual_mul_f32 v0, v6, v4
    	^
  expected: registers with different numbers mod 4
  found: v2 and v6, both bank 2
  help: swap src0 and src1 of one half where that helps, or rename a register
