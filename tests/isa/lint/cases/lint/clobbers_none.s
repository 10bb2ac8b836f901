; What looks like a clobber and is none: see each line.
k:
	s_load_b128 s[4:7], s[0:1], 0x0
	v_cvt_f32_u32_e32 v2, v0
	v_mul_f32_e32 v2, v2, v2
	v_cvt_u32_f32_e32 v1, v2                ; a number again
	s_waitcnt lgkmcnt(0)
	s_add_u32 s4, s4, s2                    ; both halves of a pointer, by a carry
	s_addc_u32 s5, s5, 0
	global_load_b32 v4, v1, s[4:5]
	s_lshl_b64 s[8:9], s[6:7], 2
	s_ashr_i32 s9, s8, 31                   ; the sign of the other half
	s_getpc_b64 s[10:11]
	s_mov_b32 s10, s6                       ; a short address with the high half of this code's
	s_load_b32 s12, s[10:11], 0x0
	s_mov_b32 s7, 0                         ; a number made wide
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b32 v5, v1, s[8:9]
	global_load_b32 v9, v1, s[6:7]
	s_mov_b32 s2, 0
	s_waitcnt vmcnt(0)
again:
	v_mov_b32_e32 v7, 0                     ; a new sum each round, stored in the round
	v_fmac_f32_e32 v7, v4, v5
	v_fmac_f32_e32 v7, v9, v5
	global_store_b32 v1, v7, s[4:5]
	s_add_i32 s2, s2, s12
	s_cmp_lg_u32 s2, 8
	s_cselect_b32 s13, s2, 0                ; the comparison is read twice
	s_cbranch_scc1 again
	s_cmp_gt_u32 s13, 3
	s_addc_u32 s13, s13, 0                  ; a condition added
	v_cmp_gt_u32_e32 vcc_lo, 8, v0
	s_and_saveexec_b32 s10, vcc_lo
	v_add_f32_e32 v7, s13, v7
	s_mov_b32 s14, s10                      ; saved EXEC elsewhere
	s_mul_i32 s10, s13, s13
	v_add_f32_e32 v7, s10, v7
	s_or_b32 exec_lo, exec_lo, s14
	global_store_b32 v1, v7, s[4:5]
	s_endpgm
	.section	.rodata
	.amdhsa_kernel k
		.amdhsa_group_segment_fixed_size 16384
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_count 2
		.amdhsa_next_free_vgpr 24
		.amdhsa_next_free_sgpr 16
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
    .group_segment_fixed_size: 16384
    .max_flat_workgroup_size: 128
    .name:           k
    .private_segment_fixed_size: 0
    .sgpr_count:     18
    .vgpr_count:     24
...
	.end_amdgpu_metadata
;; expect
note: case.s:17:2: no instruction needs what vmcnt(0) waits for [WAIT004 redundant wait; RDNA3 ISA guide 5.6]
    	s_waitcnt vmcnt(0) lgkmcnt(0)
    	^
  help: leave it out
