; Two buffers of 2080 bytes after each other, their offsets kept in SGPRs and exchanged; then one barrier left out.
k:
	v_lshlrev_b32_e32 v1, 4, v0
	v_xor_b32_e32 v8, 0x7f0, v1
	s_mov_b32 s2, 0
	s_mov_b32 s3, 0
	s_movk_i32 s4, 0x820
	v_dual_mov_b32 v4, 0 :: v_dual_mov_b32 v5, 0
again:
	v_add_nc_u32_e32 v2, s3, v8
	v_add_nc_u32_e32 v3, s4, v1
	ds_load_b64 v[6:7], v2
	ds_store_b64 v3, v[4:5]
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v4, v4, v6
	v_add_f32_e32 v5, v4, v7
	s_mov_b32 s5, s3
	s_mov_b32 s3, s4
	s_mov_b32 s4, s5
	s_barrier
	s_add_i32 s2, s2, 1
	s_cmp_lg_u32 s2, 64
	s_cbranch_scc1 again
	ds_load_b32 v6, v8 offset:2080
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v4, v4, v6
	ds_store_b32 v1, v4 offset:2080
	s_endpgm
	.section	.rodata
	.amdhsa_kernel k
		.amdhsa_group_segment_fixed_size 16384
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_count 2
		.amdhsa_next_free_vgpr 16
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
    .vgpr_count:     16
...
	.end_amdgpu_metadata
;; expect
case.s:27:2: ds_load_b32 v6, v8 offset:2080 (line 24) reads LDS, this writes it, and a path between them has no barrier [LDS001 LDS access without a barrier; RDNA3 ISA guide 12; LLVM AMDGPUUsage, memory model]
    	ds_store_b32 v1, v4 offset:2080
    	^
  expected: s_barrier between what one wave writes and another reads
  found: byte 2080: wave 3 reads it, then wave 0 writes it
  help: put s_barrier between them, after a wait for LDS
