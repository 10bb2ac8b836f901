; Functions are looked into: a missing wait in one; loads in flight at its call, at its return; a register too high.
waits:
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b32 v2, v0, s[4:5]
	v_add_nc_u32_e32 v0, v0, v2
	s_setpc_b64 s[30:31]
.Lfunc_end1:
careless:
	v_add_nc_u32_e32 v0, v0, v1
	global_load_b32 v1, v0, s[4:5]
	s_setpc_b64 s[30:31]
.Lfunc_end2:
lost:
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_mov_b32_e32 v20, v0
	s_getpc_b64 s[2:3]
	s_add_u32 s2, s2, careless@rel32@lo+4
	s_addc_u32 s3, s3, careless@rel32@hi+12
	s_swappc_b64 s[30:31], s[2:3]
	v_add_nc_u32_e32 v0, v0, v20
	s_setpc_b64 s[30:31]
.Lfunc_end3:
k:
	s_load_b64 s[4:5], s[0:1], 0x0
	s_waitcnt lgkmcnt(0)
	global_load_b32 v1, v0, s[4:5]
	s_getpc_b64 s[2:3]
	s_add_u32 s2, s2, waits@rel32@lo+4
	s_addc_u32 s3, s3, waits@rel32@hi+12
	s_swappc_b64 s[30:31], s[2:3]
	global_load_b32 v1, v0, s[4:5]
	s_getpc_b64 s[2:3]
	s_add_u32 s2, s2, careless@rel32@lo+4
	s_addc_u32 s3, s3, careless@rel32@hi+12
	s_swappc_b64 s[30:31], s[2:3]
	v_add_nc_u32_e32 v0, v0, v1
	s_waitcnt vmcnt(0)
	s_getpc_b64 s[2:3]
	s_add_u32 s2, s2, lost@rel32@lo+4
	s_addc_u32 s3, s3, lost@rel32@hi+12
	s_swappc_b64 s[30:31], s[2:3]
	global_store_b32 v0, v1, s[4:5]
	s_endpgm
.Lfunc_end0:
	.section	.rodata
	.amdhsa_kernel k
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_count 2
		.amdhsa_next_free_vgpr 16
		.amdhsa_next_free_sgpr 40
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
    .group_segment_fixed_size: 0
    .max_flat_workgroup_size: 128
    .name:           k
    .private_segment_fixed_size: 0
    .sgpr_count:     42
    .vgpr_count:     16
...
	.end_amdgpu_metadata
;; expect
case.s:5:2: v_add_nc_u32_e32 reads v2 while global_load_b32 v2, v0, s[4:5] may still be in flight [WAIT001 load not covered by a wait; RDNA3 ISA guide 5.6]
    	v_add_nc_u32_e32 v0, v0, v2
    	^
  expected: s_waitcnt vmcnt(0) or less on every path from the load (line 4)
  found: no wait between them
  help: put the wait before this instruction, or this instruction after the wait
case.s:6:2: global_load_b32 v2, v0, s[4:5] (line 4) may still be in flight when the function returns [CALL002 load in flight at a return; RDNA3 ISA guide 5.6; LLVM SIInsertWaitcnts.cpp]
    	s_setpc_b64 s[30:31]
    	^
  expected: a wait for it before the return
  help: the caller cannot know what to wait for
case.s:11:2: global_load_b32 v1, v0, s[4:5] (line 10) may still be in flight when the function returns [CALL002 load in flight at a return; RDNA3 ISA guide 5.6; LLVM SIInsertWaitcnts.cpp]
    	s_setpc_b64 s[30:31]
    	^
  expected: a wait for it before the return
  help: the caller cannot know what to wait for
case.s:21:2: s[30:31] holds the return address of s_swappc_b64 s[30:31], s[2:3] (line 19) [CALL003 return address overwritten; LLVM AMDGPUUsage, Function Call Convention]
    	s_setpc_b64 s[30:31]
    	^
  expected: the address that the function was entered with
  help: save it before the call, in a register that calls preserve or in memory, and restore it
case.s:35:2: global_load_b32 v1, v0, s[4:5] (line 31) may still be in flight when careless reaches v_add_nc_u32_e32 v0, v0, v1 (line 9) [CALL001 register in flight at a call; RDNA3 ISA guide 5.6; LLVM SIInsertWaitcnts.cpp]
    	s_swappc_b64 s[30:31], s[2:3]
    	^
  expected: s_waitcnt vmcnt(0) before the call, or as the function begins
  help: LLVM's functions begin with a wait for all loads
case.s:36:2: v_add_nc_u32_e32 reads v1 while global_load_b32 v1, v0, s[4:5] may still be in flight [WAIT001 load not covered by a wait; RDNA3 ISA guide 5.6]
    	v_add_nc_u32_e32 v0, v0, v1
    	^
  expected: s_waitcnt vmcnt(0) or less on every path from the load (line 31)
  found: a path without one
  help: put the wait before this instruction, or this instruction after the wait
note: case.s:37:2: no instruction needs what vmcnt(0) waits for [WAIT004 redundant wait; RDNA3 ISA guide 5.6]
    	s_waitcnt vmcnt(0)
    	^
  help: leave it out
case.s:51:3: the code uses 21 VGPRs, the descriptor gives 16 [CNT001 counts; LLVM AMDGPUUsage, Code Object Kernel Descriptor]
    		.amdhsa_next_free_vgpr 16
    		^
  expected: .amdhsa_next_free_vgpr 21 or more
  found: 16
  help: set directive and metadata together; passes do it with isa.asm.emit.set_directives
