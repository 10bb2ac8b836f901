; Two LDS buffers that change places, and no barrier: the next round reads what this one writes.
k:
	s_load_b64 s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	v_xor_b32_e32 v2, 0x1fc, v1
	s_mov_b32 s2, 0
	v_mov_b32_e32 v4, 0
	s_waitcnt lgkmcnt(0)
	global_load_b32 v3, v1, s[4:5]
	s_waitcnt vmcnt(0)
	ds_store_b32 v1, v3
	v_xor_b32_e32 v1, 0x1000, v1
	s_waitcnt lgkmcnt(0)
	s_barrier
again:
	global_load_b32 v3, v0, s[4:5]
	ds_load_b32 v5, v2
	ds_load_b32 v6, v2 offset:512
	s_waitcnt vmcnt(0)
	ds_store_b32 v1, v3
	ds_store_b32 v1, v3 offset:512
	s_waitcnt lgkmcnt(0)
	v_fmac_f32_e32 v4, v5, v6
	v_xor_b32_e32 v1, 0x1000, v1
	v_xor_b32_e32 v2, 0x1000, v2
	s_add_i32 s2, s2, 1
	s_cmp_lg_u32 s2, 64
	s_cbranch_scc1 again
	global_store_b32 v0, v4, s[4:5]
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
case.s:17:2: ds_store_b32 v1, v3 (line 20) writes LDS, this reads it, and a path between them has no barrier; 1 more with this cause [LDS001 LDS access without a barrier; RDNA3 ISA guide 12; LLVM AMDGPUUsage, memory model]
    	ds_load_b32 v5, v2
    	^
  expected: s_barrier before line 17, with each wave's accesses complete, fixes all
  found: byte 4096: wave 0 writes it, then wave 3 reads it
  help: put s_barrier between them, after a wait for LDS
  also: line 18
case.s:20:2: ds_load_b32 v5, v2 (line 17) reads LDS, this writes it, and a path between them has no barrier; 1 more with this cause [LDS001 LDS access without a barrier; RDNA3 ISA guide 12; LLVM AMDGPUUsage, memory model]
    	ds_store_b32 v1, v3
    	^
  expected: s_barrier before line 20, with each wave's accesses complete, fixes all
  found: byte 0: wave 3 reads it, then wave 0 writes it
  help: put s_barrier between them, after a wait for LDS
  also: line 21
note: case.s:22:2: lgkmcnt(2) is sufficient [WAIT005 wait stricter than needed; RDNA3 ISA guide 5.6]
    	s_waitcnt lgkmcnt(0)
    	^
  expected: lgkmcnt(2)
  found: lgkmcnt(0)
  help: a larger number lets later loads stay in flight
