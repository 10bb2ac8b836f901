; v_movrels_b32 reads one register of an array: the code uses the 12 VGPRs that it names, not 256. A load in flight is
; seen at the first register of the array, here at the second v_movrels_b32.
k:
	s_load_b64 s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32 v0, 4, v0
	s_and_b32 s2, s2, 3
	s_waitcnt lgkmcnt(0)
	s_mov_b32 m0, s2
	global_load_b128 v[4:7], v0, s[4:5]
	global_load_b32 v8, v0, s[4:5] offset:256
	s_waitcnt vmcnt(1)
	v_movrels_b32_e32 v2, v4
	s_waitcnt vmcnt(0)
	v_movreld_b32_e32 v4, v8
	v_add_f32_e32 v2, v2, v4
	v_add_f32_e32 v2, v2, v11               ; nobody wrote v11: v_movreld may have, as far as can be seen
	global_load_b32 v4, v0, s[4:5] offset:512
	v_movrels_b32_e32 v3, v4
	global_store_b64 v0, v[2:3], s[4:5]
	s_endpgm
	.section	.rodata
	.amdhsa_kernel k
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_count 15
		.amdhsa_next_free_vgpr 12
		.amdhsa_next_free_sgpr 8
	.end_amdhsa_kernel
	.text
.Lfunc_end0:
;; expect
note: case.s:16:2: v_add_f32_e32 reads v11, which nothing has written on some path [VAL002 register uninitialized on some path; LLVM AMDGPUUsage, Initial Kernel Execution State]
    	v_add_f32_e32 v2, v2, v11               ; nobody wrote v11: v_movreld may have, as far as can be seen
    	^
  help: ignore this if that path is never taken
case.s:18:2: v_movrels_b32_e32 reads v4 while global_load_b32 v4, v0, s[4:5] offset:512 may still be in flight [WAIT001 load not covered by a wait; RDNA3 ISA guide 5.6]
    	v_movrels_b32_e32 v3, v4
    	^
  expected: s_waitcnt vmcnt(0) or less on every path from the load (line 17)
  found: no wait between them
  help: put the wait before this instruction, or this instruction after the wait
