; A kernel that keeps every rule: nothing to say.
k:
	s_load_b64 s[2:3], s[0:1], 0x0
	v_dual_fmac_f32 v1, v2, v4 :: v_dual_fmac_f32 v6, v3, v5
	s_waitcnt lgkmcnt(0)
	global_store_b32 v0, v1, s[2:3]
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
legal
