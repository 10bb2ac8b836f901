;; SAMPLE
	.text
	.globl	k ; a comment
k:                                      ; @k
; %bb.0:
	v_mov_b32_e32 v0, 0   ; keep me
.LBB0_1:
	s_endpgm
	.section .rodata
	.amdhsa_kernel k
		.amdhsa_next_free_vgpr 11
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - .offset: 0
    .name:           k
    .vgpr_count:     11
...
	.end_amdgpu_metadata

