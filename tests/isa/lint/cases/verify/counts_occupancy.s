; Fewer waves were asked for than 12 VGPRs allow: the descriptor gives more, the metadata counts what is used.
k:
	v_mov_b32_e32 v11, 0
	s_endpgm
	.section	.rodata
	.amdhsa_kernel k
		.amdhsa_next_free_vgpr 97
		.amdhsa_next_free_sgpr 4
		.amdhsa_reserve_vcc 0
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
    .name:           k
    .sgpr_count:     4
    .vgpr_count:     12
...
	.end_amdgpu_metadata
;; expect
legal
