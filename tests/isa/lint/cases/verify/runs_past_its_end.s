; No s_endpgm.
k:
	s_cbranch_scc1 k2
	s_endpgm
k2:
	v_mov_b32_e32 v0, 0
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
refused: case.s:6:2: the code runs on after its last instruction
    	v_mov_b32_e32 v0, 0
    	^
  expected: s_endpgm, s_branch or s_setpc_b64
