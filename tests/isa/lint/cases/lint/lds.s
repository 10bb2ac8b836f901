; No barrier between a write and a read; none around the loop. At v1 each work-item comes back to its own bytes.
k:
	v_lshlrev_b32_e32 v1, 3, v0
	v_xor_b32_e32 v2, 0x100, v1
	ds_store_b64 v1, v[3:4]
	ds_load_b32 v5, v1 offset:4
	s_waitcnt lgkmcnt(0)
	s_barrier
again:
	ds_load_b32 v6, v2
	s_waitcnt lgkmcnt(0)
	s_barrier
	ds_store_b32 v1, v6
	s_waitcnt lgkmcnt(0)
	s_cbranch_scc1 again
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
case.s:5:2: ds_store_b64 reads v3, which nothing has written [VAL001 uninitialized register read; LLVM AMDGPUUsage, Initial Kernel Execution State]
    	ds_store_b64 v1, v[3:4]
    	^
  help: write it first
case.s:5:2: ds_store_b64 reads v4, which nothing has written [VAL001 uninitialized register read; LLVM AMDGPUUsage, Initial Kernel Execution State]
    	ds_store_b64 v1, v[3:4]
    	^
  help: write it first
case.s:10:2: ds_store_b32 v1, v6 (line 13) writes LDS, this reads it, and a path between them has no barrier [LDS001 LDS access without a barrier; RDNA3 ISA guide 12; LLVM AMDGPUUsage, memory model]
    	ds_load_b32 v6, v2
    	^
  expected: s_barrier between what one wave writes and another reads
  found: byte 0: wave 0 writes it, then wave 1 reads it
  help: put s_barrier between them, after a wait for LDS
note: case.s:14:2: no instruction needs what lgkmcnt(0) waits for [WAIT004 redundant wait; RDNA3 ISA guide 5.6]
    	s_waitcnt lgkmcnt(0)
    	^
  help: leave it out
case.s:15:2: s_cbranch_scc1 reads src_scc, which nothing has written [VAL001 uninitialized register read; LLVM AMDGPUUsage, Initial Kernel Execution State]
    	s_cbranch_scc1 again
    	^
  help: write it first
