; A wait too weak, one missing on a path around the loop, one for nothing, one too strict, a store at a barrier.
k:
	s_waitcnt vmcnt(0)
	s_load_b64 s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	s_waitcnt lgkmcnt(0)
	global_load_b32 v2, v1, s[4:5]
	global_load_b32 v3, v1, s[4:5] offset:4
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v4, v2, v2
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v4, v3, v4
	global_load_b32 v2, v1, s[4:5]
	s_waitcnt vmcnt(0)
again:
	v_add_f32_e32 v4, v2, v4
	global_load_b32 v2, v1, s[4:5]
	global_load_b32 v3, v1, s[4:5] offset:4
	s_waitcnt vmcnt(1)
	s_add_i32 s2, s2, 1
	s_cmp_lg_u32 s2, 8
	v_add_f32_e32 v4, v3, v4
	s_cbranch_scc1 again
	ds_store_b32 v1, v4
	s_barrier
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
.Lfunc_end0:
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
...
	.end_amdgpu_metadata
;; expect
note: case.s:3:2: nothing that it could wait for is in flight [WAIT004 redundant wait; RDNA3 ISA guide 5.6]
    	s_waitcnt vmcnt(0)
    	^
  help: leave it out
note: case.s:9:2: vmcnt(1) is sufficient [WAIT005 wait stricter than needed; RDNA3 ISA guide 5.6]
    	s_waitcnt vmcnt(0)
    	^
  expected: vmcnt(1)
  found: vmcnt(0)
  help: a larger number lets later loads stay in flight
note: case.s:11:2: nothing that it could wait for is in flight [WAIT004 redundant wait; RDNA3 ISA guide 5.6]
    	s_waitcnt vmcnt(0)
    	^
  help: leave it out
case.s:22:2: v_add_f32_e32 reads v3 while global_load_b32 v3, v1, s[4:5] offset:4 may still be in flight [WAIT001 load not covered by a wait; RDNA3 ISA guide 5.6]
    	v_add_f32_e32 v4, v3, v4
    	^
  expected: s_waitcnt vmcnt(0) or less on every path from the load (line 18)
  found: vmcnt(1)
  help: put the wait before this instruction, or this instruction after the wait
case.s:25:2: ds_store_b32 v1, v4 (line 24) may still be in flight when the wave arrives [WAIT002 LDS store not covered before a barrier; LLVM AMDGPUUsage, memory model]
    	s_barrier
    	^
  expected: s_waitcnt lgkmcnt(0) between the store and the barrier
  help: a barrier does not wait for memory: another wave may read the old value after it
