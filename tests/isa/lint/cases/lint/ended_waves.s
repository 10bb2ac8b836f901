; All waves but the first end before it reaches LDS: no race. In `w` the second one writes first, with no barrier.
k:
	s_load_b64 s[0:1], s[0:1], 0x0
	v_lshrrev_b32_e32 v1, 5, v0
	v_and_b32_e32 v2, 31, v0
	v_readfirstlane_b32 s2, v1
	v_lshlrev_b32_e32 v2, 2, v2
	s_cmp_eq_u32 s2, 0
	s_cbranch_scc1 k_first
	s_endpgm
k_first:
	ds_store_b32 v2, v0
	v_xor_b32_e32 v3, 4, v2
	ds_load_b32 v4, v3
	s_waitcnt lgkmcnt(0)
	global_store_b32 v2, v4, s[0:1]
	s_endpgm
	.section	.rodata
	.amdhsa_kernel k
		.amdhsa_group_segment_fixed_size 1024
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_count 2
		.amdhsa_next_free_vgpr 16
		.amdhsa_next_free_sgpr 16
		.amdhsa_reserve_vcc 1
	.end_amdhsa_kernel
	.text
.Lfunc_end_k:
w:
	s_load_b64 s[0:1], s[0:1], 0x0
	v_lshrrev_b32_e32 v1, 5, v0
	v_and_b32_e32 v2, 31, v0
	v_readfirstlane_b32 s2, v1
	v_lshlrev_b32_e32 v2, 2, v2
	s_cmp_eq_u32 s2, 0
	s_cbranch_scc1 w_first
	s_cmp_eq_u32 s2, 1
	s_cbranch_scc0 w_end
	ds_store_b32 v2, v0
w_end:
	s_endpgm
w_first:
	v_xor_b32_e32 v3, 4, v2
	ds_load_b32 v4, v3
	s_waitcnt lgkmcnt(0)
	global_store_b32 v2, v4, s[0:1]
	s_endpgm
	.section	.rodata
	.amdhsa_kernel w
		.amdhsa_group_segment_fixed_size 1024
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_count 2
		.amdhsa_next_free_vgpr 16
		.amdhsa_next_free_sgpr 16
		.amdhsa_reserve_vcc 1
	.end_amdhsa_kernel
	.text
.Lfunc_end_w:
	.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - .offset:         0
        .size:           8
        .value_kind:     global_buffer
    .group_segment_fixed_size: 1024
    .max_flat_workgroup_size: 128
    .name:           k
    .private_segment_fixed_size: 0
    .sgpr_count:     18
    .vgpr_count:     16
  - .args:
      - .offset:         0
        .size:           8
        .value_kind:     global_buffer
    .group_segment_fixed_size: 1024
    .max_flat_workgroup_size: 128
    .name:           w
    .private_segment_fixed_size: 0
    .sgpr_count:     18
    .vgpr_count:     16
...
	.end_amdgpu_metadata
;; expect
case.s:45:2: ds_store_b32 v2, v0 (line 40) writes LDS, this reads it, and a path between them has no barrier [LDS001 LDS access without a barrier; RDNA3 ISA guide 12; LLVM AMDGPUUsage, memory model]
    	ds_load_b32 v4, v3
    	^
  expected: s_barrier between what one wave writes and another reads
  found: byte 0: wave 1 writes it, then wave 0 reads it
  help: put s_barrier between them, after a wait for LDS
