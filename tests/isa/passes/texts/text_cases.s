;; FOOTER

	.amdhsa_kernel k
		.amdhsa_user_sgpr_count 2
		.amdhsa_next_free_vgpr 16
		.amdhsa_next_free_sgpr 8
	.end_amdhsa_kernel
	.amdgpu_metadata
amdhsa.kernels:
  - .name: k
    .sgpr_count: 10
    .vgpr_count: 16
	.end_amdgpu_metadata

