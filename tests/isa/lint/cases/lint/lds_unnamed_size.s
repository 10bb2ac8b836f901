; Tensile says 256 work-items of kernels that are started with 64. In the first kernel each wave of these reads what it
; wrote itself, and only waves after them would write it, too; in the second each of the two waves reads what the other wrote.
own:
	s_load_b64 s[4:5], s[0:1], 0x0
	v_and_b32_e32 v1, 63, v0
	v_lshlrev_b32_e32 v1, 2, v1
	v_xor_b32_e32 v2, 4, v1
	ds_store_b32 v1, v0
	s_waitcnt lgkmcnt(0)
	ds_load_b32 v3, v2
	s_waitcnt lgkmcnt(0)
	global_store_b32 v1, v3, s[4:5]
	s_endpgm
.Lfunc_end_own:
	.section	.rodata
	.amdhsa_kernel own
		.amdhsa_group_segment_fixed_size 256
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_count 2
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 8
		.amdhsa_reserve_vcc 1
	.end_amdhsa_kernel
	.text
across:
	s_load_b64 s[4:5], s[0:1], 0x0
	v_and_b32_e32 v1, 63, v0
	v_lshlrev_b32_e32 v1, 2, v1
	v_xor_b32_e32 v2, 0x80, v1
	ds_store_b32 v1, v0
	s_waitcnt lgkmcnt(0)
	ds_load_b32 v3, v2
	s_waitcnt lgkmcnt(0)
	global_store_b32 v1, v3, s[4:5]
	s_endpgm
.Lfunc_end_across:
	.section	.rodata
	.amdhsa_kernel across
		.amdhsa_group_segment_fixed_size 256
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_count 2
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 8
		.amdhsa_reserve_vcc 1
	.end_amdhsa_kernel
	.text
	.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - .offset:         0
        .size:           8
        .value_kind:     global_buffer
    .group_segment_fixed_size: 256
    .max_flat_workgroup_size: 256
    .name:           own
    .symbol:         own.kd
  - .args:
      - .offset:         0
        .size:           8
        .value_kind:     global_buffer
    .group_segment_fixed_size: 256
    .max_flat_workgroup_size: 256
    .name:           across
    .symbol:         across.kd
...
	.end_amdgpu_metadata
;; expect
note: case.s:9:2: no instruction needs what lgkmcnt(0) waits for [WAIT004 redundant wait; RDNA3 ISA guide 5.6]
    	s_waitcnt lgkmcnt(0)
    	^
  help: leave it out
note: case.s:31:2: no instruction needs what lgkmcnt(0) waits for [WAIT004 redundant wait; RDNA3 ISA guide 5.6]
    	s_waitcnt lgkmcnt(0)
    	^
  help: leave it out
case.s:32:2: ds_store_b32 v1, v0 (line 30) writes LDS, this reads it, and a path between them has no barrier [LDS001 LDS access without a barrier; RDNA3 ISA guide 12; LLVM AMDGPUUsage, memory model]
    	ds_load_b32 v3, v2
    	^
  expected: s_barrier between what one wave writes and another reads
  found: byte 0: wave 0 writes it, then wave 1 reads it
  help: put s_barrier between them, after a wait for LDS
