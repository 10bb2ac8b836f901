; A kernel without SGPRs: the descriptor gives one all the same.
k:
	s_endpgm
	.section	.rodata
	.amdhsa_kernel k
		.amdhsa_next_free_vgpr 1
		.amdhsa_next_free_sgpr 1
		.amdhsa_reserve_vcc 0
	.end_amdhsa_kernel
	.text
.Lfunc_end0:
	.amdgpu_metadata
---
amdhsa.kernels:
  - .name:           k
    .sgpr_count:     0
    .vgpr_count:     0
...
	.end_amdgpu_metadata
;; expect
legal
