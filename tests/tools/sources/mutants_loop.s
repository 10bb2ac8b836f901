k:
	s_load_b64 s[4:5], s[0:1], 0x8
	s_mul_hi_u32 s7, s15, s6
	s_lshl_b64 s[6:7], s[6:7], 2
	s_add_u32 s4, s4, s6
	s_addc_u32 s5, s5, s7
	v_cmp_gt_i32_e64 s8, s6, v0
	s_and_b32 exec_lo, exec_lo, s8
.Lloop:
	s_sub_u32 s6, s6, 1
	s_cmp_lt_u32 s6, 3
	s_cbranch_scc0 .Lloop
	v_mul_f32_e32 v1, v2, v3
	v_sub_f32_e32 v1, v2, v3
	s_endpgm
.Lfunc_end0:
	.amdhsa_kernel k
		.amdhsa_next_free_vgpr 12
		.amdhsa_next_free_sgpr 9
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - .offset:         8
        .size:           8
        .value_kind:     global_buffer
    .kernarg_segment_size: 16
    .name:           k
    .symbol:         k.kd
...
	.end_amdgpu_metadata
