; In a wave of 64 a lane has half as many elements of C and D; a branch may say how far it goes instead of a label.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.globl	k
	.p2align	8
k:
	s_cmp_eq_u32 s4, 0
	s_cbranch_scc1 5
	v_wmma_f16_16x16x16_f16 v[0:3], v[8:15], v[16:23], 0
	v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], 0
	s_cbranch_scc1 1
	s_endpgm
	s_code_end
	.rodata
	.amdhsa_kernel k
		.amdhsa_next_free_vgpr 24
		.amdhsa_next_free_sgpr 8
		.amdhsa_wavefront_size32 0
	.end_amdhsa_kernel
;; expect
case.s:9:26: operand 1 of v_wmma_f32_16x16x16_f16 takes 4 registers [OPD002 operand width; RDNA3 ISA guide 16]
    	v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], 0
    	                        ^
  expected: v[0:3]
  found: v[0:7]
case.s:10:17: the branch leaves the function [ANA001 cannot be analysed]
    	s_cbranch_scc1 1
    	               ^
  expected: a label or an address inside it
  found: 1
