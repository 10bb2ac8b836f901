; An instruction nobody described stops it.
k:
	v_frobnicate_b32 v0, v1
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
refused: case.s:3:2: instruction v_frobnicate_b32 is not described
    	v_frobnicate_b32 v0, v1
    	^
  help: did you mean v_fract_f32?
